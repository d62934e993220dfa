/*
 * context.c: memory under a cap, one formatted error, and a context on malloc.
 *
 * Each block carries a 64-byte header with its size, so that used_bytes stays
 * right without asking the hooks, which deal in raw blocks only.
 */
#include "context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ascii.h"
#include "sizes.h"

#define ALIGNMENT 64
#define PAGE 4096
#define POLL_ELEMENTS 65536     /* each in memory not touched before: some milliseconds */
#define HUGE_BLOCK ((size_t) 4 << 20)   /* from here on huge pages pay */

typedef struct BlockHeader
{
    _Alignas(ALIGNMENT) size_t bytes;   /* of the raw block, header included */
} BlockHeader;

/* ---- errors ---- */

/* The most bytes, at most `most` of text[length], that do not end inside a UTF-8 character. */
static size_t
whole_characters(const char *text, size_t length, size_t most)
{
    if (length <= most)
        return length;
    while (most > 0 && km_is_continuation(text[most]))
        most--;
    return most;
}

const char *
km_quote_part(size_t length, const char *text, size_t size, char *out)
{
    size_t shown = strnlen(text, min_size(length, size));
    size_t kept = shown < size ? shown : whole_characters(text, shown, size - sizeof "...");

    memcpy(out, text, kept);
    strcpy(out + kept, kept < shown ? "..." : "");
    return out;
}

/* Format into field[size], never ending inside a UTF-8 character.  By way of a
 * local buffer, because the arguments may point into the field itself. */
static void
format_field(size_t size, char *field, const char *format, va_list args)
{
    char text[sizeof((KmContext *) 0)->detail + 8];
    size_t length;

    vsnprintf(text, sizeof text, format, args);
    length = whole_characters(text, strlen(text), size - 1);
    memcpy(field, text, length);
    field[length] = '\0';
}

KmStatus
km_fail(KmContext *ctx, KmStatus status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    format_field(sizeof ctx->message, ctx->message, format, args);
    va_end(args);
    ctx->detail[0] = '\0';
    ctx->hint[0] = '\0';
    return status;
}

KmStatus
km_detail(KmContext *ctx, KmStatus status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    format_field(sizeof ctx->detail, ctx->detail, format, args);
    va_end(args);
    return status;
}

KmStatus
km_hint(KmContext *ctx, KmStatus status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    format_field(sizeof ctx->hint, ctx->hint, format, args);
    va_end(args);
    return status;
}

void
km_warn(KmContext *ctx, const char *format, ...)
{
    char text[sizeof ctx->message];
    va_list args;

    if (ctx->warn == NULL)
        return;
    va_start(args, format);
    format_field(sizeof text, text, format, args);
    va_end(args);
    ctx->warn(ctx, text);
}

void
km_notice(KmContext *ctx, const char *format, ...)
{
    char text[sizeof ctx->message];
    va_list args;

    if (ctx->notice == NULL)
        return;
    va_start(args, format);
    format_field(sizeof text, text, format, args);
    va_end(args);
    ctx->notice(ctx, text);
}

const char *
km_status_text(KmStatus status)
{
    static const char *const texts[] = {
#define KM_STATUS_TEXT(code, text) text,
        KM_STATUS_LIST(KM_STATUS_TEXT)
#undef KM_STATUS_TEXT
    };

    return (unsigned) status < KM_STATUS_COUNT ? texts[status] : "unknown status";
}

KmStatus
km_poll(KmContext *ctx)
{
    if (ctx->poll != NULL && ctx->poll(ctx))
        return km_fail(ctx, KM_CANCELLED, "computation stopped on request");
    return KM_OK;
}

KmStatus
km_poll_row(KmContext *ctx, size_t row, size_t width)
{
    return row % (1 + POLL_ELEMENTS / (width + 1)) == 0 ? km_poll(ctx) : KM_OK;
}

KmStatus
km_progress(KmContext *ctx, const char *stage, double done, double total)
{
    if (ctx->progress != NULL)
        ctx->progress(ctx, stage, done, total);
    return km_poll(ctx);
}

/* ---- memory ---- */

void
km_advise_huge_pages(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    size_t skip = (PAGE - (uintptr_t) block % PAGE) % PAGE;

    if (bytes >= HUGE_BLOCK)
        madvise((char *) block + skip, (bytes - skip) / PAGE * PAGE, MADV_HUGEPAGE);
#else
    (void) block;
    (void) bytes;
#endif
}

static size_t
bytes_left(const KmContext *ctx)
{
    return ctx->used_bytes < ctx->max_bytes ? ctx->max_bytes - ctx->used_bytes : 0;
}

/* What to do, a sentence or NULL, or to raise the cap: the user's setting. */
static KmStatus
hint_memory(KmContext *ctx, const char *hint)
{
    const char *setting = "raise kernelml.max_memory.";

    if (hint == NULL)
        return km_hint(ctx, KM_MEMORY, "R%s", setting + 1);
    if (strstr(hint, setting) != NULL)
        return km_hint(ctx, KM_MEMORY, "%s", hint);
    return km_hint(ctx, KM_MEMORY, "%.*s, or %s", (int) strlen(hint) - 1, hint, setting);
}

KmStatus
km_alloc_bytes(KmContext *ctx, size_t count, size_t size, void **out)
{
    size_t bytes;
    BlockHeader *header;

    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, sizeof(BlockHeader), &bytes))
        return km_fail(ctx, KM_MEMORY, "%zu elements of %zu bytes are more than memory can hold", count,
                       size);
    if (bytes > bytes_left(ctx))
    {
        km_fail(ctx, KM_MEMORY, "%zu more bytes of memory would pass the limit of %zu, with %zu in use",
                bytes, ctx->max_bytes, ctx->used_bytes);
        return hint_memory(ctx, NULL);
    }
    header = ctx->allocate(ctx, bytes);
    if (header == NULL)
        return km_fail(ctx, KM_MEMORY, "out of memory allocating %zu bytes", bytes);
    km_advise_huge_pages(header, bytes);
    header->bytes = bytes;
    ctx->used_bytes += bytes;
    if (ctx->used_bytes > ctx->peak_bytes)
        ctx->peak_bytes = ctx->used_bytes;
    *out = header + 1;
    return KM_OK;
}

KmStatus
km_alloc_zero_bytes(KmContext *ctx, size_t count, size_t size, void **out)
{
    KM_TRY(km_alloc_bytes(ctx, count, size, out));
    memset(*out, 0, count * size);
    return KM_OK;
}

void
km_free(KmContext *ctx, void *block)
{
    BlockHeader *header;

    if (block == NULL)
        return;
    header = (BlockHeader *) block - 1;
    ctx->used_bytes -= header->bytes;
    ctx->release(ctx, header);
}

void
km_free_blocks(KmContext *ctx, size_t count, void *const *blocks)
{
    for (size_t i = 0; i < count; i++)
        km_free(ctx, blocks[i]);
}

void
km_shrink(KmContext *ctx, void *block, size_t bytes)
{
    BlockHeader *header = (BlockHeader *) block - 1;
    char *end = (char *) header + header->bytes, *rest = (char *) block + bytes;

#ifdef MADV_DONTNEED
    rest += (PAGE - (uintptr_t) rest % PAGE) % PAGE;
    end -= (uintptr_t) end % PAGE;
    if (rest < end)
        madvise(rest, end - rest, MADV_DONTNEED);
#else
    (void) rest;
    (void) end;
#endif
    ctx->used_bytes -= header->bytes - sizeof *header - bytes;
    header->bytes = sizeof *header + bytes;
}

KmStatus
km_reserve(KmContext *ctx, double bytes, const char *what, const char *hint)
{
    if (bytes <= (double) bytes_left(ctx))
        return KM_OK;
    km_fail(ctx, KM_MEMORY, "%s needs %.0f bytes of memory, over the limit of %zu", what, bytes,
            ctx->max_bytes);
    if (ctx->used_bytes > 0)
        km_detail(ctx, KM_MEMORY, "%zu bytes are in use.", ctx->used_bytes);
    return hint_memory(ctx, hint);
}

/* ---- a context on malloc ---- */

/* In front of each raw block: a ring, so that reset finds all of them. */
typedef struct MallocLink
{
    _Alignas(ALIGNMENT) struct MallocLink *next;
    struct MallocLink *previous;
} MallocLink;

typedef struct MallocContext
{
    MallocLink ring;            /* first, so that the struct is aligned as a whole */
    KmContext base;
} MallocContext;

static MallocContext *
malloc_context(KmContext *ctx)
{
    return (MallocContext *) ((char *) ctx - offsetof(MallocContext, base));
}

static void *
malloc_allocate(KmContext *ctx, size_t bytes)
{
    MallocLink *ring = &malloc_context(ctx)->ring;
    MallocLink *link;

    if (bytes > SIZE_MAX - 2 * ALIGNMENT)
        return NULL;
    link = aligned_alloc(ALIGNMENT, round_up(sizeof *link + bytes, ALIGNMENT));
    if (link == NULL)
        return NULL;
    link->next = ring->next;
    link->previous = ring;
    ring->next->previous = link;
    ring->next = link;
    return link + 1;
}

static void
malloc_release(KmContext *ctx, void *block)
{
    MallocLink *link = (MallocLink *) block - 1;

    (void) ctx;
    link->previous->next = link->next;
    link->next->previous = link->previous;
    free(link);
}

KmContext *
km_context_create(size_t max_bytes)
{
    MallocContext *self = aligned_alloc(ALIGNMENT, sizeof *self);

    if (self == NULL)
        return NULL;
    memset(self, 0, sizeof *self);
    self->ring.next = self->ring.previous = &self->ring;
    self->base.allocate = malloc_allocate;
    self->base.release = malloc_release;
    self->base.max_bytes = max_bytes;
    return &self->base;
}

void
km_context_reset(KmContext *ctx)
{
    MallocLink *ring = &malloc_context(ctx)->ring;

    while (ring->next != ring)
        malloc_release(ctx, ring->next + 1);
    ctx->used_bytes = 0;
}

void
km_context_destroy(KmContext *ctx)
{
    if (ctx == NULL)
        return;
    km_context_reset(ctx);
    free(malloc_context(ctx));
}
