/*
 * data.c: missing values, and the canonical order of rows.
 *
 * Rows are sorted by content, so that a fit sees the same table whatever order the scan gave.
 * The first column is sorted by a least-significant-digit radix sort of (key, index) pairs;
 * runs of equal keys go on with the next column, short runs by insertion.  Only indices move.
 */
#include "data.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "bits.h"

#define SHORT_RUN 32            /* sorted by insertion */
#define POLL_WORK 65536         /* elements between polls: a cache miss each, about 6 ms */

typedef struct Pair
{
    uint64_t key;
    size_t index;
} Pair;

/* Rows that are equal in all columns before `column`. */
typedef struct Run
{
    size_t start, n, column;
} Run;

typedef struct Sorter
{
    KmContext *ctx;
    size_t width;
    KmRowOf row;
    const void *state;
    Pair *pair, *scratch;
    Run *waiting;               /* disjoint runs longer than SHORT_RUN */
    size_t n_waiting;
    size_t work;                /* elements since the last poll */
} Sorter;

double
km_missing(void)
{
    return km_from_bits(KM_MISSING_BITS);
}

bool
km_is_missing(double value)
{
    return km_bits_of(value) == KM_MISSING_BITS;
}

uint64_t
km_row_hash(size_t d, const double *x)
{
    uint64_t hash = UINT64_C(0x6b65726e656c6d6c);

    for (size_t k = 0; k < d; k++)
    {
        hash = (hash ^ km_bits_of(x[k] + 0.0)) * UINT64_C(0x9e3779b97f4a7c15);
        hash = (hash ^ (hash >> 32)) * UINT64_C(0xd6e8feb86659fd93);
        hash ^= hash >> 32;
    }
    return hash;
}

KmStatus
km_fail_missing(KmContext *ctx, size_t j)
{
    km_fail(ctx, KM_NULL, "element %zu is NULL", j + 1);
    return km_hint(ctx, KM_NULL, "Begin the learner with the impute step, which fills NULL elements.");
}

KmStatus
km_row_check(KmContext *ctx, size_t d, const double *x, bool takes_missing)
{
    for (size_t j = 0; j < d; j++)
    {
        if (isfinite(x[j]) || (takes_missing && km_is_missing(x[j])))
            continue;
        if (km_is_missing(x[j]))
            return km_fail_missing(ctx, j);
        return km_fail(ctx, KM_DATA, "element %zu is %s", j + 1, isnan(x[j]) ? "NaN" : "infinite");
    }
    return KM_OK;
}

double
km_table_weights(const KmTable *table)
{
    double sum = 0;

    for (size_t i = 0; i < table->n; i++)
        sum += km_table_weight(table, i);
    return sum;
}

KmStatus
km_blame_weights(KmContext *ctx, const KmTable *table, KmStatus status)
{
    double least = INFINITY, most = 0;

    if ((status != KM_RANGE && status != KM_SINGULAR) || table->w == NULL)
        return status;
    for (size_t i = 0; i < table->n; i++)
    {
        least = fmin(least, table->w[i]);
        most = fmax(most, table->w[i]);
    }
    if (most * DBL_EPSILON <= fmin(least, 1))
        return status;
    km_fail(ctx, KM_RANGE,
            "weights from %g to %g are too far from each other, or from 1, for double precision", least,
            most);
    return km_hint(ctx, KM_RANGE,
                   "Divide the weights by their mean, and leave rows of negligible weight out.");
}

/* Unsigned integers in the order of the doubles; -0 becomes 0, missing comes after infinity. */
static uint64_t
ordered_key(double value)
{
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t bits = km_bits_of(value + 0.0);

    return bits & sign ? ~bits : bits | sign;
}

static KmStatus
worked(Sorter *sorter, size_t amount)
{
    sorter->work += amount;
    if (sorter->work < POLL_WORK)
        return KM_OK;
    sorter->work = 0;
    return km_poll(sorter->ctx);
}

/* Rows i and j from a column on: does i come after j? */
static bool
comes_after(Sorter *sorter, size_t i, size_t j, size_t column)
{
    const double *a = sorter->row(sorter->state, i);
    const double *b = sorter->row(sorter->state, j);

    for (; column < sorter->width; column++)
    {
        uint64_t ka = ordered_key(a[column]);
        uint64_t kb = ordered_key(b[column]);

        sorter->work++;
        if (ka != kb)
            return ka > kb;
    }
    return false;
}

static KmStatus
sort_short(Sorter *sorter, const Run *run)
{
    Pair *pair = sorter->pair + run->start;

    for (size_t i = 1; i < run->n; i++)
    {
        size_t index = pair[i].index;
        size_t k = i;

        for (; k > 0 && comes_after(sorter, pair[k - 1].index, index, run->column); k--)
            pair[k].index = pair[k - 1].index;
        pair[k].index = index;
        KM_TRY(worked(sorter, 1));
    }
    return KM_OK;
}

/* Keys of the run's column; *differing: the bits in which any two of them differ. */
static KmStatus
load_keys(Sorter *sorter, const Run *run, uint64_t *differing)
{
    Pair *pair = sorter->pair + run->start;

    *differing = 0;
    for (size_t i = 0; i < run->n; i++)
    {
        pair[i].key = ordered_key(sorter->row(sorter->state, pair[i].index)[run->column]);
        *differing |= pair[i].key ^ pair[0].key;
        KM_TRY(worked(sorter, 1));
    }
    return KM_OK;
}

/* One stable counting pass over a byte of the keys. */
static KmStatus
radix_pass(Sorter *sorter, size_t n, const Pair *from, Pair *to, unsigned shift)
{
    size_t place[256] = {0};
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        place[from[i].key >> shift & 255]++;
    for (size_t byte = 0; byte < 256; byte++)
    {
        size_t count = place[byte];

        place[byte] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n;)
    {
        size_t end = n - i > POLL_WORK ? i + POLL_WORK : n;

        KM_TRY(worked(sorter, end - i));
        for (; i < end; i++)
            to[place[from[i].key >> shift & 255]++] = from[i];
    }
    return KM_OK;
}

static KmStatus
sort_keys(Sorter *sorter, const Run *run, uint64_t differing)
{
    Pair *from = sorter->pair + run->start;
    Pair *to = sorter->scratch + run->start;

    for (unsigned shift = 0; shift < 64; shift += 8)
    {
        Pair *swap = from;

        if ((differing >> shift & 255) == 0)
            continue;
        KM_TRY(radix_pass(sorter, run->n, from, to, shift));
        from = to;
        to = swap;
    }
    if (from != sorter->pair + run->start)
        memcpy(to, from, run->n * sizeof(Pair));
    return KM_OK;
}

/* Sort a run from its column on: now if it is short, else later. */
static KmStatus
add_run(Sorter *sorter, size_t start, size_t n, size_t column)
{
    Run run = {start, n, column};

    if (n < 2 || column == sorter->width)
        return KM_OK;
    if (n <= SHORT_RUN)
        return sort_short(sorter, &run);
    sorter->waiting[sorter->n_waiting++] = run;
    return KM_OK;
}

static KmStatus
sort_long(Sorter *sorter, const Run *run)
{
    const Pair *pair = sorter->pair + run->start;
    uint64_t differing;
    size_t start = 0;

    KM_TRY(load_keys(sorter, run, &differing));
    KM_TRY(sort_keys(sorter, run, differing));
    for (size_t i = 1; i <= run->n; i++)
    {
        if (i < run->n && pair[i].key == pair[start].key)
            continue;
        KM_TRY(add_run(sorter, run->start + start, i - start, run->column + 1));
        start = i;
    }
    return KM_OK;
}

KmStatus
km_rows_order(KmContext *ctx, size_t n, size_t width, KmRowOf row, const void *state, size_t *order)
{
    Sorter sorter = {.ctx = ctx, .width = width, .row = row, .state = state};

    KM_TRY(km_alloc(ctx, n, &sorter.pair));
    KM_TRY(km_alloc(ctx, n, &sorter.scratch));
    KM_TRY(km_alloc(ctx, n / SHORT_RUN + 1, &sorter.waiting));
    for (size_t i = 0; i < n; i++)
        sorter.pair[i].index = i;

    KM_TRY(add_run(&sorter, 0, n, 0));
    while (sorter.n_waiting > 0)
    {
        Run run = sorter.waiting[--sorter.n_waiting];

        KM_TRY(sort_long(&sorter, &run));
    }

    for (size_t i = 0; i < n; i++)
        order[i] = sorter.pair[i].index;
    km_free(ctx, sorter.waiting);
    km_free(ctx, sorter.scratch);
    km_free(ctx, sorter.pair);
    return KM_OK;
}
