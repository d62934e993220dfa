/*
 * context.h: how core talks to whoever runs it.
 *
 * Every entry point of core takes a KmContext.  It allocates (under a cap),
 * asks whether to stop, reports progress, and keeps one formatted error.
 * Core has no mutable globals and prints nothing.
 *
 * Ownership: everything core allocates belongs to the context and ends with
 * it.  km_free() gives memory back early, for large temporaries only; a
 * function that fails frees nothing, because the owner of the context drops
 * everything.  Hooks return: memory of other libraries (NLopt) ends with the
 * functions that took it, also when poll says stop.
 */
#ifndef KM_CONTEXT_H
#define KM_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One list of what can go wrong; the glue maps each code to a SQLSTATE. */
#define KM_STATUS_LIST(X) \
    X(KM_OK, "no error") \
    X(KM_SYNTAX, "text that does not parse") \
    X(KM_INVALID, "parameter or argument out of its range") \
    X(KM_DIMENSION, "wrong number of features, rows or components") \
    X(KM_NULL, "a NULL element where none is allowed") \
    X(KM_DATA, "unusable value in the data: NaN, infinity, too few classes") \
    X(KM_RANGE, "a result that double precision cannot hold") \
    X(KM_LIMIT, "over a fixed limit of sizes") \
    X(KM_MEMORY, "over the memory cap, or out of memory") \
    X(KM_CORRUPT, "bytes that are no valid model or accumulator") \
    X(KM_UNSUPPORTED, "not possible for this learner, model or kernel") \
    X(KM_SINGULAR, "a matrix that cannot be factored") \
    X(KM_CANCELLED, "stopped by poll") \
    X(KM_INTERNAL, "a defect of the library")

typedef enum KmStatus
{
#define KM_STATUS_ENUM(code, text) code,
    KM_STATUS_LIST(KM_STATUS_ENUM)
#undef KM_STATUS_ENUM
    KM_STATUS_COUNT
} KmStatus;

typedef struct KmContext KmContext;

struct KmContext
{
    /* Hooks of the owner.  allocate returns NULL when there is no memory (or
     * does not return); memory is 64-byte aligned, not zeroed. */
    void *(*allocate)(KmContext *ctx, size_t bytes);
    void (*release)(KmContext *ctx, void *block);
    /* Called at least every ~20 ms of work; true means stop. */
    bool (*poll)(KmContext *ctx);       /* may be NULL */
    /* May be NULL. done of total, in the units of the stage named. */
    void (*progress)(KmContext *ctx, const char *stage, double done, double total);
    /* May be NULL. A WARNING to the user, and a NOTICE. */
    void (*warn)(KmContext *ctx, const char *message);
    void (*notice)(KmContext *ctx, const char *message);
    void *owner;                /* free for the owner's use */

    size_t max_bytes;           /* cap on bytes in use; SIZE_MAX for none */
    size_t used_bytes;          /* in use now */
    size_t peak_bytes;          /* most ever in use */

    /* The error, valid after a function returned other than KM_OK. */
    char message[512];
    char detail[1024];          /* "" when there is none */
    char hint[512];             /* "" when there is none */
};

#define KM_TRY(expression) \
    do { KmStatus km_try_ = (expression); if (km_try_ != KM_OK) return km_try_; } while (0)

/* A context on malloc, for unit tests and tools: counts, honours max_bytes. */
extern KmContext *km_context_create(size_t max_bytes);
extern void km_context_destroy(KmContext *ctx);
/* Free all memory taken from a km_context_create() context, keep the context. */
extern void km_context_reset(KmContext *ctx);

/* Fail with a message; returns status so that one can "return km_fail(...)".
 * Clears detail and hint; set those after it.  Messages follow PostgreSQL's
 * style: lower case, no full stop, the numbers in them. */
extern KmStatus km_fail(KmContext *ctx, KmStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Add DETAIL or HINT to the error just set; return the status given. */
extern KmStatus km_detail(KmContext *ctx, KmStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
extern KmStatus km_hint(KmContext *ctx, KmStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A user's text as a message shows it: the first of its bytes up to a NUL, cut between UTF-8 characters to
 * fit into out[size], then "..."; no more of it is read.  Returns out. */
#define KM_QUOTE_SIZE 64
#define km_quote(text, out) km_quote_part(SIZE_MAX, text, KM_QUOTE_SIZE, out)
extern const char *km_quote_part(size_t length, const char *text, size_t size, char *out);
/* A warning to the user, not an error; and advice. */
extern void km_warn(KmContext *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
extern void km_notice(KmContext *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
extern const char *km_status_text(KmStatus status);
/* The ending of a noun after a number: "1 feature", "2 features". */
#define km_plural(n) ((n) == 1 ? "" : "s")

/* count * size bytes, 64-byte aligned, checked for overflow and the cap.
 * Zero counts give a valid pointer. */
extern KmStatus km_alloc_bytes(KmContext *ctx, size_t count, size_t size, void **out);
#define km_alloc(ctx, count, out) \
    km_alloc_bytes((ctx), (count), sizeof **(out), (void **) (out))
/* The same, zero-filled. */
extern KmStatus km_alloc_zero_bytes(KmContext *ctx, size_t count, size_t size, void **out);
#define km_alloc_zero(ctx, count, out) \
    km_alloc_zero_bytes((ctx), (count), sizeof **(out), (void **) (out))
extern void km_free(KmContext *ctx, void *block);      /* NULL is fine */
extern void km_free_blocks(KmContext *ctx, size_t count, void *const *blocks);
#define km_free_all(ctx, ...) \
    km_free_blocks((ctx), sizeof((void *[]) {__VA_ARGS__}) / sizeof(void *), (void *[]) {__VA_ARGS__})
/* Keep the first `bytes` of a block; whole pages behind them are the system's again. */
extern void km_shrink(KmContext *ctx, void *block, size_t bytes);
/* Ask for large pages under a large block of fresh memory: fewer faults while it is first written. */
extern void km_advise_huge_pages(void *block, size_t bytes);

/* Fail with KM_MEMORY if `bytes` more would pass the cap: the estimate that
 * comes before the work.  what: "kernel ridge on 60000 rows"; hint: another
 * way out, a sentence, or NULL; raising kernelml.max_memory is added to it. */
extern KmStatus km_reserve(KmContext *ctx, double bytes, const char *what, const char *hint);

extern KmStatus km_poll(KmContext *ctx);
/* km_poll in a loop that touches `width` elements in each turn: once in some 65,536 of them. */
extern KmStatus km_poll_row(KmContext *ctx, size_t row, size_t width);
/* km_poll, and a report that `stage` ("Gram matrix") is done to the fraction done / total. */
extern KmStatus km_progress(KmContext *ctx, const char *stage, double done, double total);

/* Shortest decimal text that reads back as the same double ("0.1", "1e-05",
 * "inf", "-inf", "nan"); always a point, whatever the locale.  Needs
 * KM_NUMBER_SIZE bytes; returns the length. */
#define KM_NUMBER_SIZE 32
extern size_t km_number_print(double value, char *out);
/* Read the number at the start of text[length]: decimal with optional sign, point
 * and exponent, or inf, infinity.  Returns the bytes used, 0 if there is none.
 * Correctly rounded whatever the locale; too large gives infinity. */
extern size_t km_number_read(const char *text, size_t length, double *out);

#endif
