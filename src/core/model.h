/*
 * model.h: a fitted model as a value: a resolved learner and named arrays, and
 * its bytes.
 *
 * Bytes (all little-endian): magic "KMLM", u16 major, u16 minor, u64 total length, u32 CRC-32C of the head
 * after this header, u32 CRC-32C of the tail, u64 length of the head with this header; then sections
 * {4 letters, u32 zero, u64 length, payload, zeros up to a multiple of 8}.  A newer minor version may add
 * sections, and fields at the end of sections: readers skip both.  A newer major one is refused.
 * Sections: LRNR (text), SIZE (fixed counts), CLAS (labels), ARRY (name, rows, columns, float64s),
 * FACT (name, kind, value: for model_info).  The tail is of arrays that few functions want and that may be
 * far larger than the rest, as a factor is; the others read the head alone.
 */
#ifndef KM_MODEL_H
#define KM_MODEL_H

#include "crc32c.h"
#include "data.h"
#include "text.h"

#define KM_MODEL_MAX_BYTES ((size_t) 500 << 20)
#define KM_MODEL_MAX_ITEMS 4096                 /* arrays, and facts */
#define KM_MODEL_MAX_NAME 64                    /* bytes of an array's or fact's name */
#define KM_MODEL_MAX_FEATURES ((size_t) 1 << 27)        /* more than PostgreSQL's arrays hold */
#define KM_MODEL_HEADER_BYTES 32
#define KM_FORMAT_MAJOR 1
#define KM_FORMAT_MINOR 0

typedef struct KmArray
{
    const char *name;           /* "rows", "coef", "intercept", … */
    size_t rows, columns;
    double *data;               /* row-major; in a decoded model among its bytes */
    bool tail;                  /* only distributions read it */
} KmArray;

typedef enum KmFactKind { KM_FACT_NUMBER, KM_FACT_COUNT, KM_FACT_BOOL, KM_FACT_TEXT } KmFactKind;

/* Something for model_info: n_sv, objective, gap, iterations, converged, … */
typedef struct KmFact
{
    const char *name;
    KmFactKind kind;
    double number;              /* NUMBER, COUNT (whole), BOOL */
    const char *text;           /* TEXT */
} KmFact;

typedef struct KmModel
{
    const char *learner;        /* canonical text, every value resolved */
    uint64_t n_rows;            /* rows fitted, whole-number weights not multiplied */
    uint64_t n_skipped;
    size_t n_features;          /* of the raw input rows */
    KmClasses classes;          /* n = 0: not a classifier */
    size_t n_arrays, n_facts;
    KmArray *array;
    KmFact *fact;
} KmModel;

extern KmStatus km_model_create(KmContext *ctx, KmModel **out);
/* Add an array; data is referred to, not copied. */
extern KmStatus km_model_add_array(KmContext *ctx, KmModel *model, const char *name, size_t rows,
                                   size_t columns, double *data);
/* The same in the tail. */
extern KmStatus km_model_add_tail(KmContext *ctx, KmModel *model, const char *name, size_t rows,
                                  size_t columns, double *data);
extern KmStatus km_model_add_fact(KmContext *ctx, KmModel *model, const char *name, KmFactKind kind,
                                  double number);
/* A number that must be finite, else KM_RANGE in the name of `what`. */
extern KmStatus km_model_add_number(KmContext *ctx, KmModel *model, const char *what, const char *name,
                                    double value);
extern KmStatus km_model_add_text(KmContext *ctx, KmModel *model, const char *name, const char *text);
/* NULL when absent. */
extern const KmArray *km_model_array(const KmModel *model, const char *name);
extern const KmFact *km_model_fact(const KmModel *model, const char *name);
/* The array, checked to be rows x columns (SIZE_MAX: any), else KM_CORRUPT naming it. */
extern KmStatus km_model_expect(KmContext *ctx, const KmModel *model, const char *name, size_t rows,
                                size_t columns, const KmArray **out);

extern size_t km_model_encoded_size(const KmModel *model);
extern KmStatus km_model_encode(KmContext *ctx, const KmModel *model, unsigned char *out);
/* The model's arrays stay in the bytes, which must be aligned as doubles are and last as long as it; the rest
 * are copies.  Every length, count and offset is checked.  All array values must be finite. KM_CORRUPT
 * otherwise, KM_UNSUPPORTED naming both versions for a newer major.  Whether labels are valid in some
 * encoding, and the learner's text means anything, is not checked here. */
extern KmStatus km_model_decode(KmContext *ctx, unsigned char *bytes, size_t length, KmModel **out);
/* The same without the tail, from the head of a model of total bytes. */
extern KmStatus km_model_decode_head(KmContext *ctx, unsigned char *head, size_t total, KmModel **out);
/* How many bytes of a model of total bytes are its head; of those, its header must be there. */
extern KmStatus km_model_head_bytes(KmContext *ctx, const unsigned char *bytes, size_t total, size_t *out);

#endif
