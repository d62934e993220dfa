/*
 * rows.c: slots of kept rows, and the row source of a kernel (see rows.h).
 *
 * Slots lie in chunks that are allocated when first needed, so that memory is
 * touched only by rows that are used; a chunk is large enough for huge pages.
 */
#include <string.h>

#include "rows.h"

#include "sizes.h"

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
    size_t most;                /* slots ever in use */
    size_t chunk_bytes, rows_per_chunk;
    size_t n_chunks;            /* that the budget allows */
    char **chunk;               /* NULL until needed */
    uint32_t *slot;             /* n_max: slot of a row, or NO_SLOT */
    char *strip;                /* KM_ROWS_BATCH x KM_ROWS_STRIDE elements; NULL until needed */
    uint64_t made;
};

/* Chunks for `capacity` rows of n_max columns, none larger than all of them. */
static KmStatus
plan_chunks(KmContext *ctx, KmRows *rows)
{
    size_t row_bytes = round_up(rows->n_max, KM_ROWS_PAD) * rows->element;
    size_t most = min_size(rows->n_max, max_size(rows->budget / row_bytes, KM_ROWS_BATCH));

    rows->rows_per_chunk = min_size(max_size(CHUNK_BYTES / row_bytes, 1), most);
    rows->chunk_bytes = rows->rows_per_chunk * row_bytes;
    rows->n_chunks = (most + rows->rows_per_chunk - 1) / rows->rows_per_chunk;
    rows->budget = most * row_bytes;
    /* Room for them all, so that the memory taken does not depend on a budget that is not reached. */
    return km_alloc_zero(ctx, rows->n_max, &rows->chunk);
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
    *out = rows;
    return KM_OK;
}

void
km_rows_open(KmRows *rows, KmRowSource *source)
{
    rows->source = source;
    rows->stride = round_up(source->n, KM_ROWS_PAD);
    rows->rows_per_chunk = rows->chunk_bytes / (rows->stride * rows->element);
    rows->capacity = min_size(source->n, min_size(rows->rows_per_chunk * rows->n_chunks,
                                                  rows->budget / (rows->stride * rows->element)));
    rows->count = 0;
    rows->made = 0;
    memset(rows->slot, 0xff, source->n * sizeof *rows->slot);
}

void
km_rows_destroy(KmContext *ctx, KmRows *rows)
{
    for (size_t c = 0; c < rows->n_chunks; c++)
        km_free(ctx, rows->chunk[c]);
    km_free(ctx, rows->chunk);
    km_free(ctx, rows->slot);
    km_free(ctx, rows->strip);
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

size_t
km_rows_kept(const KmRows *rows)
{
    return rows->most;
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
assign_slot(KmContext *ctx, KmRows *rows, size_t i)
{
    size_t c = rows->count / rows->rows_per_chunk;

    if (rows->chunk[c] == NULL)
        KM_TRY(km_alloc(ctx, rows->chunk_bytes, &rows->chunk[c]));
    rows->slot[i] = (uint32_t) rows->count++;
    rows->most = max_size(rows->most, rows->count);
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
    size_t n = rows->source->n, done = 0;

    while (done < m)
    {
        size_t first = rows->slot[i[done]], run = 1;

        while (done + run < m && (first + run) % rows->rows_per_chunk != 0)
            run++;
        KM_TRY(km_poll(ctx));
        KM_TRY(rows->source->make(ctx, rows->source, run, i + done, 0, n, rows->stride,
                                  slot_address(rows, first)));
        done += run;
    }
    rows->made += m;
    for (size_t r = 0; r < m; r++)
        zero_padding(rows, i[r]);
    return KM_OK;
}

KmStatus
km_rows_keep(KmContext *ctx, KmRows *rows, size_t m, const size_t *i)
{
    m = min_size(m, rows->capacity - rows->count);
    for (size_t r = 0; r < m; r++)
        KM_TRY(assign_slot(ctx, rows, i[r]));
    return fill_slots(ctx, rows, m, i);
}

KmStatus
km_rows_strip(KmContext *ctx, KmRows *rows, size_t m, const size_t *i, size_t j0, const void **strip)
{
    size_t left = rows->source->n - j0, columns = min_size(left, KM_ROWS_STRIP);
    size_t row_bytes = KM_ROWS_STRIDE * rows->element;

    if (rows->strip == NULL)
        KM_TRY(km_alloc(ctx, KM_ROWS_BATCH * row_bytes, &rows->strip));
    KM_TRY(km_poll(ctx));
    KM_TRY(rows->source->make(ctx, rows->source, m, i, j0, columns, KM_ROWS_STRIDE, rows->strip));
    for (size_t r = 0; r < m && columns < KM_ROWS_STRIP; r++)
        memset(rows->strip + r * row_bytes + columns * rows->element, 0,
               (round_up(columns, KM_ROWS_PAD) - columns) * rows->element);
    rows->made += j0 == 0 ? m : 0;
    *strip = rows->strip;
    return KM_OK;
}

/* ---- the rows of a kernel ---- */

typedef struct KernelRows
{
    const KmKernel *kernel;
    const KmPoints *points;
    size_t n_max, d;
    KmPoints *batch;            /* the rows being made, gathered */
    KmPoints *corner;           /* those of a corner; NULL until needed */
    double *diagonal;
} KernelRows;

static KmStatus
gather(KmContext *ctx, const KmRowSource *source, size_t m, const size_t *i, KmPoints *into)
{
    const KernelRows *state = source->state;

    if (source->single)
        return km_points_gather_f32(ctx, state->points, m, i, into);
    km_points_gather(state->points, m, i, into);
    return KM_OK;
}

/* K between all of `left` and `columns` points from j0 on. */
static KmStatus
make_tile(KmContext *ctx, const KmRowSource *source, KmPoints *left, const KmPoints *right, size_t j0,
          size_t columns, size_t ld, void *out)
{
    const KernelRows *state = source->state;
    size_t m = km_points_count(left);

    if (source->single)
        return km_kernel_tile_f32(ctx, state->kernel, left, 0, m, right, j0, columns, ld, out);
    return km_kernel_tile(ctx, state->kernel, left, 0, m, right, j0, columns, ld, out);
}

static void
set_element(const KmRowSource *source, size_t at, double value, void *out)
{
    if (source->single)
        ((float *) out)[at] = (float) value;
    else
        ((double *) out)[at] = value;
}

static KmStatus
make_kernel_rows(KmContext *ctx, KmRowSource *source, size_t m, const size_t *i, size_t j0, size_t columns,
                 size_t ld, void *out)
{
    KernelRows *state = source->state;

    KM_TRY(gather(ctx, source, m, i, state->batch));
    KM_TRY(make_tile(ctx, source, state->batch, state->points, j0, columns, ld, out));
    for (size_t r = 0; r < m; r++)
        if (i[r] >= j0 && i[r] - j0 < columns)
            set_element(source, r * ld + i[r] - j0, state->diagonal[i[r]], out);
    return KM_OK;
}

static KmStatus
make_kernel_corner(KmContext *ctx, KmRowSource *source, size_t m, const size_t *i, size_t ld, void *out)
{
    KernelRows *state = source->state;

    if (state->corner == NULL)
        KM_TRY(km_points_reserve(ctx, state->points, min_size(state->n_max, KM_ROWS_CORNER), &state->corner));
    KM_TRY(gather(ctx, source, m, i, state->corner));
    KM_TRY(make_tile(ctx, source, state->corner, state->corner, 0, m, ld, out));
    for (size_t r = 0; r < m; r++)
        set_element(source, r * ld + r, state->diagonal[i[r]], out);
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
    if (single)
        KM_TRY(km_points_sparse(ctx, like));
    KM_TRY(km_points_reserve(ctx, like, KM_ROWS_BATCH, &state->batch));
    state->kernel = kernel;
    state->n_max = n_max;
    state->d = d;
    source->single = single;
    source->diagonal = state->diagonal;
    source->state = state;
    source->make = make_kernel_rows;
    source->corner = make_kernel_corner;
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
