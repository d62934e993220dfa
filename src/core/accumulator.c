/*
 * accumulator.c: rows into an accumulator.
 *
 * Raw rows wait in the value until a block is full; then they are mapped, augmented with the one and
 * the slices of y (or y itself), and added by GEMM, a band of the triangle at a time.  Where all terms are
 * whole numbers (accumulator.h), the sums do not depend on the size of a block.  Narrow sums are added row
 * by row: a state of a few features stays under 2 kB, cheap in tens of thousands of groups.
 */
#include "accumulator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blas.h"
#include "feature_map.h"
#include "sizes.h"
#include "sums_layout.h"

#define NARROW 64               /* columns up to which GEMM does not pay */
#define FEW_ROWS 4              /* waiting rows that a new value has room for */
#define SLICE_BYTES ((size_t) 8 << 20)  /* copied or cleared between polls: a few ms */
#define MAX_WEIGHT 1e100        /* of a row: no sum can overflow */

/* ---- sizes ---- */

/* Waiting rows worth having: a block, as long as they take no more than the sums themselves. */
static size_t
most_waiting(const KmSums *sums)
{
    size_t rows = km_sums_elements(sums) / km_sums_row_width(sums);

    return rows < FEW_ROWS ? FEW_ROWS : rows > KM_BLOCK_ROWS ? KM_BLOCK_ROWS : rows;
}

static size_t
bytes_with_rows(const KmSums *sums, size_t rows)
{
    return km_sums_fixed_bytes(sums) + rows * km_sums_row_width(sums) * sizeof(double);
}

static void
set_bytes(KmSums *sums, size_t bytes)
{
    size_t most = most_waiting(sums);
    size_t room = (bytes - km_sums_fixed_bytes(sums)) / (km_sums_row_width(sums) * sizeof(double));

    sums->bytes = bytes;
    sums->waiting_capacity = (uint32_t) (room < most ? room : most);
}

static KmSums
new_header(const KmFeatureMap *map)
{
    return (KmSums) {
        .magic = KM_SUMS_MAGIC, .major = KM_SUMS_MAJOR, .minor = KM_SUMS_MINOR,
        .flags = map->exact ? KM_SUMS_EXACT : KM_SUMS_PLAIN,
        .d = (uint32_t) map->d, .features = (uint32_t) map->features, .targets = (uint32_t) map->targets,
        .learner_bytes = (uint32_t) map->learner.length,
    };
}

size_t
km_sums_initial_bytes(const KmFeatureMap *map)
{
    KmSums sums = new_header(map);

    return bytes_with_rows(&sums, FEW_ROWS);
}

size_t
km_sums_full_bytes(const KmFeatureMap *map)
{
    KmSums sums = new_header(map);

    return bytes_with_rows(&sums, most_waiting(&sums));
}

KmStatus
km_sums_copy(KmContext *ctx, size_t bytes, const void *from, void *to)
{
    for (size_t i = 0; i < bytes; i += SLICE_BYTES)
    {
        if (i > 0)
            KM_TRY(km_poll(ctx));
        memcpy((char *) to + i, (const char *) from + i, min_size(SLICE_BYTES, bytes - i));
    }
    return KM_OK;
}

KmStatus
km_sums_clear(KmContext *ctx, size_t bytes, void *to)
{
    for (size_t i = 0; i < bytes; i += SLICE_BYTES)
    {
        if (i > 0)
            KM_TRY(km_poll(ctx));
        memset((char *) to + i, 0, min_size(SLICE_BYTES, bytes - i));
    }
    return KM_OK;
}

KmStatus
km_sums_reserve(KmContext *ctx, const KmFeatureMap *map)
{
    char what[60];

    snprintf(what, sizeof what, "a Gram accumulator of %zu features", map->features);
    return km_reserve(ctx, (double) km_sums_full_bytes(map), what,
                      "Use fewer components.");
}

KmStatus
km_sums_init(KmContext *ctx, const KmFeatureMap *map, size_t bytes, KmSums *sums)
{
    KmSums header = new_header(map);

    KM_TRY(km_sums_clear(ctx, km_sums_fixed_bytes(&header), sums));
    *sums = header;
    set_bytes(sums, bytes);
    memcpy(km_sums_text(sums), map->learner.data, map->learner.length);
    for (size_t t = 0; t < map->targets; t++)
        km_sums_top(sums)[t] = KM_NO_SLICE;
    return KM_OK;
}

size_t
km_sums_wanted_bytes(const KmFeatureMap *map, const KmSums *sums)
{
    size_t most = most_waiting(sums), capacity = sums->waiting_capacity;

    (void) map;
    if (sums->waiting < capacity || capacity >= most)
        return sums->bytes;
    capacity = capacity == 0 ? FEW_ROWS : 2 * capacity;
    return bytes_with_rows(sums, capacity < most ? capacity : most);
}

KmStatus
km_sums_grow(KmContext *ctx, const KmSums *from, size_t bytes, KmSums *to)
{
    KM_TRY(km_sums_copy(ctx, bytes_with_rows(from, from->waiting), from, to));
    set_bytes(to, bytes);
    return KM_OK;
}

size_t
km_sums_empty_bytes(size_t learner_bytes)
{
    return sizeof(KmSums) + km_sums_pad(learner_bytes);
}

void
km_sums_init_empty(size_t learner_bytes, const char *learner, KmSums *sums)
{
    memset(sums, 0, km_sums_empty_bytes(learner_bytes));
    *sums = (KmSums) {
        .magic = KM_SUMS_MAGIC, .major = KM_SUMS_MAJOR, .minor = KM_SUMS_MINOR, .flags = KM_SUMS_EXACT,
        .bytes = km_sums_empty_bytes(learner_bytes), .learner_bytes = (uint32_t) learner_bytes,
    };
    memcpy(km_sums_text(sums), learner, learner_bytes);
}

const char *
km_sums_learner(const KmSums *sums)
{
    return km_sums_text(sums);
}

/* ---- one row ---- */

static KmStatus
check_row(KmContext *ctx, const KmFeatureMap *map, const double *x, const double *y, double weight)
{
    for (size_t j = 0; j < map->d; j++)
    {
        if (!isfinite(x[j]) && !(map->takes_missing && km_is_missing(x[j])))
            return km_fail(ctx, KM_DATA, "feature %zu is %s", j + 1, isnan(x[j]) ? "NaN" : "infinite");
    }
    for (size_t t = 0; t < map->targets; t++)
    {
        if (!isfinite(y[t]))
            return km_fail(ctx, KM_DATA, "target %zu is %s", t + 1, isnan(y[t]) ? "NaN" : "infinite");
    }
    if (!(weight >= 0 && weight <= MAX_WEIGHT))
        return km_fail(ctx, KM_INVALID, "weight must be a number from 0 to %g, got %g", MAX_WEIGHT, weight);
    return KM_OK;
}

/* A value from outside may say other dimensions than the map it names makes. */
static KmStatus
check_map(KmContext *ctx, const KmFeatureMap *map, const KmSums *sums)
{
    if (sums->features == map->features && map->exact == !(sums->flags & KM_SUMS_PLAIN))
        return KM_OK;
    return km_fail(ctx, KM_CORRUPT, "accumulator of %u features, but its map makes %zu", sums->features,
                   map->features);
}

static void
append_waiting(KmSums *sums, const double *x, const double *y, double weight)
{
    double *row = km_sums_waiting(sums) + sums->waiting++ * km_sums_row_width(sums);

    memcpy(row, x, sums->d * sizeof *x);
    memcpy(row + sums->d, y, sums->targets * sizeof *y);
    row[sums->d + sums->targets] = weight;
}

KmStatus
km_sums_add(KmContext *ctx, KmFeatureMap *map, KmSums *sums, const double *x, const double *y, double weight)
{
    KM_TRY(check_map(ctx, map, sums));
    KM_TRY(check_row(ctx, map, x, y, weight));
    if (weight == 0)
        return KM_OK;
    if (sums->waiting == sums->waiting_capacity)
        KM_TRY(km_sums_flush(ctx, map, sums));
    if (sums->waiting_capacity == 0)
        return km_fail(ctx, KM_INTERNAL, "accumulator without room for a row");
    append_waiting(sums, x, y, weight);
    sums->n_rows++;
    sums->total_weight += weight;
    if (weight != floor(weight) || sums->total_weight > KM_SUMS_MAX_WEIGHT)
        sums->flags &= ~(uint32_t) KM_SUMS_EXACT;
    return KM_OK;
}

/* ---- a block of rows: m augmented rows, their weights w with stride ldw ---- */

typedef struct Block
{
    size_t m;
    const double *rows;
    const double *w;
    size_t ldw;
    bool weighted;              /* some weight is not 1 */
} Block;

static void
add_narrow(const KmFeatureMap *map, const Block *block, KmSums *sums)
{
    for (size_t r = 0; r < block->m; r++)
    {
        const double *a = block->rows + r * map->columns;
        double *row = km_sums_triangle(sums);

        for (size_t i = 0; i < map->columns; row += ++i)
        {
            double factor = block->w[r * block->ldw] * a[i];

            if (factor == 0)    /* most slices are */
                continue;
            for (size_t j = 0; j <= i; j++)
                row[j] += factor * a[j];
        }
    }
}

/* Columns i0 … i0+n-1 of the rows, times their weights. */
static void
scale_columns(const KmFeatureMap *map, const Block *block, size_t i0, size_t n)
{
    for (size_t r = 0; r < block->m; r++)
    {
        const double *a = block->rows + r * map->columns + i0;
        double *scaled = map->scaled + r * KM_TILE_ROWS;

        for (size_t i = 0; i < n; i++)
            scaled[i] = block->w[r * block->ldw] * a[i];
    }
}

/* tile (n x i0+n) = rows i0 … i0+n-1 of the block's triangle. */
static void
multiply_band(const KmFeatureMap *map, const Block *block, size_t i0, size_t n)
{
    int ld = (int) map->columns, m = (int) block->m, rows = (int) n, width = (int) (i0 + n);
    const double *left = block->rows + i0;

    if (block->weighted)
    {
        scale_columns(map, block, i0, n);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, width, m, 1, map->scaled, KM_TILE_ROWS,
                    block->rows, ld, 0, map->tile, width);
        return;
    }
    if (i0 > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, (int) i0, m, 1, left, ld, block->rows, ld,
                    0, map->tile, width);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, rows, m, 1, left, ld, 0, map->tile + i0, width);
}

static void
add_band(const KmFeatureMap *map, const Block *block, size_t i0, size_t n, KmSums *sums)
{
    multiply_band(map, block, i0, n);
    for (size_t i = 0; i < n; i++)
    {
        const double *tile = map->tile + i * (i0 + n);
        double *row = km_sums_row(sums, i0 + i);

        for (size_t j = 0; j <= i0 + i; j++)
            row[j] += tile[j];
    }
}

static KmStatus
add_block(KmContext *ctx, const KmFeatureMap *map, const Block *block, KmSums *sums)
{
    if (map->columns <= NARROW)
    {
        add_narrow(map, block, sums);
        return KM_OK;
    }
    for (size_t i0 = 0; i0 < map->columns; i0 += KM_TILE_ROWS)
    {
        KM_TRY(km_poll(ctx));
        add_band(map, block, i0, min_size(map->columns - i0, KM_TILE_ROWS), sums);
    }
    return KM_OK;
}

/* ---- flush ---- */

/* Raise the windows of slices to the largest targets among the waiting rows. */
static KmStatus
raise_tops(KmContext *ctx, KmFeatureMap *map, KmSums *sums)
{
    const double *y = km_sums_waiting(sums) + sums->d;
    size_t width = km_sums_row_width(sums);
    bool rises = false;

    memcpy(map->top, km_sums_top(sums), map->targets * sizeof *map->top);
    for (size_t r = 0; r < sums->waiting; r++, y += width)
    {
        for (size_t t = 0; t < map->targets; t++)
        {
            int32_t top = km_slice_top(y[t]);

            if (top <= map->top[t])
                continue;
            map->top[t] = top;
            rises = true;
        }
    }
    return rises ? km_sums_move_tops(ctx, sums, map->top) : KM_OK;
}

static void
cut_targets(const double *y, KmSums *sums, double *row)
{
    for (size_t t = 0; t < sums->targets; t++)
        if (!km_slice_cut(y[t], km_sums_top(sums)[t], row + km_sums_target(sums, t)))
            sums->flags |= KM_SUMS_CLIPPED;
}

/* What follows the features in each augmented row, from raw rows: the one and the targets. */
static void
augment_rows(const KmFeatureMap *map, size_t m, const double *raw, KmSums *sums)
{
    for (size_t r = 0; r < m; r++, raw += km_sums_row_width(sums))
    {
        double *row = map->rows + r * map->columns;

        row[map->features] = 1;
        if (map->exact)
            cut_targets(raw + map->d, sums, row);
        else
            memcpy(row + map->features + 1, raw + map->d, map->targets * sizeof *row);
    }
}

static bool
any_weight(const Block *block)
{
    for (size_t r = 0; r < block->m; r++)
        if (block->w[r * block->ldw] != 1)
            return true;
    return false;
}

/* No sum of products is larger than the largest sum of squares. */
KmStatus
km_sums_check_finite(KmContext *ctx, const KmSums *sums)
{
    if (!(sums->flags & KM_SUMS_PLAIN) || isfinite(km_sums_trace(sums)))
        return KM_OK;
    km_fail(ctx, KM_RANGE, "sums of squares of features and targets overflow");
    return km_hint(ctx, KM_RANGE, "Scale them before.");
}

KmStatus
km_sums_flush(KmContext *ctx, KmFeatureMap *map, KmSums *sums)
{
    size_t width = km_sums_row_width(sums);
    const double *raw = km_sums_waiting(sums);
    Block block = {.m = sums->waiting, .w = raw + width - 1, .ldw = width};

    if (sums->waiting == 0)
        return KM_OK;
    KM_TRY(km_feature_map_reserve(ctx, map));
    KM_TRY(km_feature_map_rows(ctx, map, block.m, width, raw, map->rows));
    if (map->exact)
        KM_TRY(raise_tops(ctx, map, sums));
    augment_rows(map, block.m, raw, sums);
    block.rows = map->rows;
    block.weighted = any_weight(&block);
    KM_TRY(add_block(ctx, map, &block, sums));
    sums->waiting = 0;
    return km_sums_check_finite(ctx, sums);
}
