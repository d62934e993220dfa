/*
 * rows.c: slots of kept rows, and the row source of a kernel (see rows.h).
 *
 * Slots lie in chunks that are allocated when first needed, so that memory is
 * touched only by rows that are used; a chunk is large enough for huge pages.
 */
#include <string.h>

#include "rows.h"

#define CHUNK_BYTES ((size_t) 32 << 20)
#define NO_SLOT UINT32_MAX
#define CACHED_POINTS ((size_t) 256 << 10)      /* elements of float32 points that stay in the L2 cache */
#define BATCH 4                 /* rows made at once of points that do not */

struct KmRows
{
    KmRowSource *source;
    size_t element;             /* bytes */
    size_t n_max;
    size_t stride;              /* elements */
    size_t budget, capacity, count;     /* bytes; slots, slots in use */
    size_t chunk_bytes, rows_per_chunk;
    size_t n_chunks;            /* length of chunk */
    char **chunk;               /* NULL until needed */
    uint32_t *slot;             /* n_max: slot of a row, or NO_SLOT */
    uint32_t *owner;            /* per slot: its row */
    unsigned char *recent;      /* per slot: used since the hand last passed */
    unsigned char *pinned;      /* per slot: part of the request being served */
    size_t hand;                /* of the clock */
    uint64_t made;
};

static size_t
padded(size_t n)
{
    return (n + KM_ROWS_PAD - 1) / KM_ROWS_PAD * KM_ROWS_PAD;
}

static size_t
size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t
size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Chunks for `capacity` rows of n_max columns, none larger than all of them. */
static KmStatus
plan_chunks(KmContext *ctx, KmRows *rows)
{
    size_t row_bytes = padded(rows->n_max) * rows->element;
    size_t most = size_min(rows->n_max, size_max(rows->budget / row_bytes, KM_ROWS_BATCH));

    rows->rows_per_chunk = size_min(size_max(CHUNK_BYTES / row_bytes, 1), most);
    rows->chunk_bytes = rows->rows_per_chunk * row_bytes;
    rows->n_chunks = (most + rows->rows_per_chunk - 1) / rows->rows_per_chunk;
    rows->budget = most * row_bytes;
    return km_alloc_zero(ctx, rows->n_chunks, &rows->chunk);
}

KmStatus
km_rows_create(KmContext *ctx, size_t n_max, bool single, size_t budget, KmRows **out)
{
    KmRows *rows;

    KM_TRY(km_alloc_zero(ctx, 1, &rows));
    rows->element = single ? sizeof(float) : sizeof(double);
    rows->n_max = n_max;
    rows->budget = budget;
    KM_TRY(plan_chunks(ctx, rows));
    KM_TRY(km_alloc(ctx, n_max, &rows->slot));
    KM_TRY(km_alloc(ctx, n_max, &rows->owner));
    KM_TRY(km_alloc(ctx, n_max, &rows->recent));
    KM_TRY(km_alloc(ctx, n_max, &rows->pinned));
    *out = rows;
    return KM_OK;
}

void
km_rows_open(KmRows *rows, KmRowSource *source)
{
    rows->source = source;
    rows->stride = padded(source->n);
    rows->rows_per_chunk = rows->chunk_bytes / (rows->stride * rows->element);
    rows->capacity = size_min(source->n, size_min(rows->rows_per_chunk * rows->n_chunks,
                                                  rows->budget / (rows->stride * rows->element)));
    rows->count = 0;
    rows->hand = 0;
    rows->made = 0;
    memset(rows->slot, 0xff, source->n * sizeof *rows->slot);
    memset(rows->pinned, 0, source->n);
}

void
km_rows_destroy(KmContext *ctx, KmRows *rows)
{
    for (size_t c = 0; c < rows->n_chunks; c++)
        km_free(ctx, rows->chunk[c]);
    km_free(ctx, rows->chunk);
    km_free(ctx, rows->slot);
    km_free(ctx, rows->owner);
    km_free(ctx, rows->recent);
    km_free(ctx, rows->pinned);
    km_free(ctx, rows);
}

KmRowSource *
km_rows_source(const KmRows *rows)
{
    return rows->source;
}

size_t
km_rows_stride(const KmRows *rows)
{
    return rows->stride;
}

size_t
km_rows_capacity(const KmRows *rows)
{
    return rows->capacity;
}

uint64_t
km_rows_made(const KmRows *rows)
{
    return rows->made;
}

bool
km_rows_full(const KmRows *rows)
{
    return rows->count == rows->capacity;
}

static char *
slot_address(const KmRows *rows, size_t slot)
{
    return rows->chunk[slot / rows->rows_per_chunk] +
        slot % rows->rows_per_chunk * rows->stride * rows->element;
}

const void *
km_rows_find(const KmRows *rows, size_t i)
{
    return rows->slot[i] == NO_SLOT ? NULL : slot_address(rows, rows->slot[i]);
}

/* The next slot never used, with its memory. */
static KmStatus
fresh_slot(KmContext *ctx, KmRows *rows, size_t *out)
{
    size_t c = rows->count / rows->rows_per_chunk;

    if (rows->chunk[c] == NULL)
        KM_TRY(km_alloc(ctx, rows->chunk_bytes, &rows->chunk[c]));
    *out = rows->count++;
    return KM_OK;
}

/* The slot that the clock's hand stops at: not part of this request, not used since the hand last passed. */
static size_t
stale_slot(KmRows *rows)
{
    for (;; rows->hand = (rows->hand + 1) % rows->capacity)
    {
        if (rows->pinned[rows->hand])
            continue;
        if (!rows->recent[rows->hand])
            break;
        rows->recent[rows->hand] = 0;
    }
    rows->slot[rows->owner[rows->hand]] = NO_SLOT;
    return rows->hand;
}

static KmStatus
assign_slot(KmContext *ctx, KmRows *rows, size_t i)
{
    size_t slot;

    if (rows->count < rows->capacity)
        KM_TRY(fresh_slot(ctx, rows, &slot));
    else
        slot = stale_slot(rows);
    rows->slot[i] = (uint32_t) slot;
    rows->owner[slot] = (uint32_t) i;
    rows->recent[slot] = 1;
    rows->pinned[slot] = 1;
    return KM_OK;
}

static void
zero_padding(const KmRows *rows, size_t i)
{
    size_t n = rows->source->n;

    memset(slot_address(rows, rows->slot[i]) + n * rows->element, 0, (rows->stride - n) * rows->element);
}

/* Make rows whose slots are assigned: one call to the source for each run of adjacent slots in one chunk. */
static KmStatus
fill_slots(KmContext *ctx, KmRows *rows, size_t m, const size_t *i)
{
    size_t done = 0;

    while (done < m)
    {
        size_t first = rows->slot[i[done]], run = 1;

        while (done + run < m && run < KM_ROWS_BATCH && rows->slot[i[done + run]] == first + run &&
               (first + run) % rows->rows_per_chunk != 0)
            run++;
        KM_TRY(km_poll(ctx));
        KM_TRY(rows->source->make(ctx, rows->source, run, i + done, rows->stride, slot_address(rows, first)));
        done += run;
        rows->made += run;
    }
    for (size_t r = 0; r < m; r++)
    {
        zero_padding(rows, i[r]);
        rows->pinned[rows->slot[i[r]]] = 0;
    }
    return KM_OK;
}

KmStatus
km_rows_keep(KmContext *ctx, KmRows *rows, size_t m, const size_t *i)
{
    m = size_min(m, rows->capacity - rows->count);
    for (size_t r = 0; r < m; r++)
        KM_TRY(assign_slot(ctx, rows, i[r]));
    return fill_slots(ctx, rows, m, i);
}

/* Pin the rows that are kept, so that making the others does not give their slots away. */
static void
pin_kept(KmRows *rows, size_t m, const size_t *i, bool pin)
{
    for (size_t r = 0; r < m; r++)
        if (rows->slot[i[r]] != NO_SLOT)
        {
            rows->pinned[rows->slot[i[r]]] = pin;
            rows->recent[rows->slot[i[r]]] = 1;
        }
}

KmStatus
km_rows_take(KmContext *ctx, KmRows *rows, size_t m, const size_t *i, const void **row)
{
    size_t missing[KM_ROWS_BATCH], n_missing = 0;

    pin_kept(rows, m, i, true);
    for (size_t r = 0; r < m; r++)
    {
        if (rows->slot[i[r]] == NO_SLOT)
            missing[n_missing++] = i[r];
        if (n_missing == KM_ROWS_BATCH || (r + 1 == m && n_missing > 0))
        {
            for (size_t k = 0; k < n_missing; k++)
                KM_TRY(assign_slot(ctx, rows, missing[k]));
            KM_TRY(fill_slots(ctx, rows, n_missing, missing));
            pin_kept(rows, n_missing, missing, true);
            n_missing = 0;
        }
    }
    pin_kept(rows, m, i, false);
    for (size_t r = 0; r < m; r++)
        row[r] = km_rows_find(rows, i[r]);
    return KM_OK;
}

/* ---- the rows of a kernel ---- */

typedef struct KernelRows
{
    const KmKernel *kernel;
    const KmPoints *points;
    size_t d;
    KmPoints *batch;            /* the rows being made, gathered */
    double *diagonal;
} KernelRows;

static KmStatus
make_kernel_rows(KmContext *ctx, KmRowSource *source, size_t m, const size_t *i, size_t ld, void *out)
{
    KernelRows *state = source->state;

    km_points_gather(state->points, m, i, state->batch);
    if (source->single)
        KM_TRY(km_kernel_tile_f32(ctx, state->kernel, state->batch, 0, m, state->points, 0, source->n, ld,
                                  out));
    else
        KM_TRY(km_kernel_tile(ctx, state->kernel, state->batch, 0, m, state->points, 0, source->n, ld, out));
    for (size_t r = 0; r < m; r++)
        if (source->single)
            ((float *) out)[r * ld + i[r]] = (float) state->diagonal[i[r]];
        else
            ((double *) out)[r * ld + i[r]] = state->diagonal[i[r]];
    return KM_OK;
}

/* A float32 row costs a pass over the points; where they lie beyond the cache, or a call to GEMM packs
 * them, a few rows cost the same. */
static size_t
batch_of(size_t n, size_t d, bool single)
{
    return single && n * d <= CACHED_POINTS ? 1 : BATCH;
}

KmStatus
km_row_source_create(KmContext *ctx, const KmKernel *kernel, size_t n_max, size_t d, bool single,
                     const KmPoints *like, KmRowSource **out)
{
    KmRowSource *source;
    KernelRows *state;

    KM_TRY(km_alloc_zero(ctx, 1, &source));
    KM_TRY(km_alloc_zero(ctx, 1, &state));
    KM_TRY(km_alloc(ctx, n_max, &state->diagonal));
    KM_TRY(km_points_reserve(ctx, like, KM_ROWS_BATCH, &state->batch));
    state->kernel = kernel;
    state->d = d;
    source->single = single;
    source->diagonal = state->diagonal;
    source->state = state;
    source->make = make_kernel_rows;
    *out = source;
    return KM_OK;
}

KmStatus
km_row_source_open(KmContext *ctx, KmRowSource *source, const KmPoints *points)
{
    KernelRows *state = source->state;

    state->points = points;
    source->n = km_points_count(points);
    source->batch = batch_of(source->n, state->d, source->single);
    return km_kernel_diagonal(ctx, state->kernel, points, state->diagonal);
}
