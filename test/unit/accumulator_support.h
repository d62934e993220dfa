/*
 * accumulator_support.h: rows of D columns, and accumulators of them in any order.
 */
#ifndef KM_TEST_ACCUMULATOR_SUPPORT_H
#define KM_TEST_ACCUMULATOR_SUPPORT_H

#include "sums_support.h"

#define D 3                     /* columns of raw rows */

/* ---- rows and values ---- */

typedef struct Rows
{
    size_t n, targets;
    const double *x, *y, *w;    /* w: NULL for ones */
} Rows;

static inline KmSums *
block_of(KmContext *ctx, size_t bytes)
{
    KmSums *sums;

    ok(km_alloc_bytes(ctx, bytes, 1, (void **) &sums));
    memset(sums, 0x5a, bytes);
    return sums;
}

static inline void
add_row(KmContext *ctx, KmFeatureMap *map, const Rows *rows, size_t i, KmSums **sums)
{
    size_t wanted = km_sums_wanted_bytes(map, *sums);

    if (wanted > (*sums)->bytes)
    {
        KmSums *larger = block_of(ctx, wanted);

        ok(km_sums_grow(ctx, *sums, wanted, larger));
        *sums = larger;
    }
    ok(km_sums_add(ctx, map, *sums, rows->x + i * D, rows->y + i * rows->targets, rows->w ? rows->w[i] : 1));
}

/* Rows i with first <= i < last, in steps that visit each once: (first + (i * stride) mod count). */
static inline KmSums *
sums_of(KmContext *ctx, KmFeatureMap *map, const Rows *rows, size_t first, size_t last, size_t stride)
{
    size_t bytes = km_sums_initial_bytes(map);
    KmSums *sums = block_of(ctx, bytes);

    ok(km_sums_init(ctx, map, bytes, sums));
    for (size_t i = 0; i < last - first; i++)
        add_row(ctx, map, rows, first + i * stride % (last - first), &sums);
    ok(km_sums_flush(ctx, map, sums));
    return sums;
}

static inline KmSums *
stored(KmContext *ctx, const KmSums *sums)
{
    size_t bytes = km_sums_stored_bytes(sums);
    KmSums *to = block_of(ctx, bytes);

    ok(km_sums_store(ctx, sums, to));
    ok(km_sums_check(ctx, to, bytes));
    return to;
}

static inline void
assert_same(KmContext *ctx, const KmSums *a, const KmSums *b)
{
    KmSums *p = stored(ctx, a), *q = stored(ctx, b);

    assert_int_equal(p->bytes, q->bytes);
    assert_memory_equal(p, q, p->bytes);
}

static inline KmFeatureMap *
map_of(KmContext *ctx, const char *text, size_t targets)
{
    KmFeatureMap *map;

    ok(km_feature_map_create(ctx, learner_of(ctx, text), D, targets, &map));
    return map;
}

/* Targets of every size that a double has, or whole numbers. */
static inline Rows
make_rows(KmContext *ctx, size_t n, size_t targets, bool wild)
{
    double *y = random_numbers(ctx, 77, n * targets);
    uint64_t seed = 5;

    for (size_t i = 0; i < n * targets; i++)
        y[i] = wild ? ldexp(y[i], (int) (next_bits(&seed) % 2040) - 1020) : nearbyint(y[i] * 1000);
    return (Rows) {.n = n, .targets = targets, .x = random_numbers(ctx, 78, n * D), .y = y};
}

#endif
