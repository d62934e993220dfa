/* sums_products.c: products of true features and targets out of an accumulator. */
#include "sums_products.h"

#include <float.h>
#include <math.h>

#include "feature_map.h"
#include "sums_layout.h"

/* The sums' own map, after a check that it is one of these dimensions. */
static KmStatus
read_map(KmContext *ctx, const KmSums *sums, KmProducts *out)
{
    KmLearner *learner;
    KmFeatureMap *map;

    KM_TRY(km_feature_map_parse(ctx, km_sums_learner(sums), sums->learner_bytes, &learner));
    KM_TRY(km_feature_map_create(ctx, learner, sums->d, sums->targets, &map));
    if (map->features != sums->features || map->exact != !(sums->flags & KM_SUMS_PLAIN))
        return km_fail(ctx, KM_CORRUPT, "accumulator of %u features, but its map makes %zu", sums->features,
                       map->features);
    out->steps = learner;
    out->map = map;
    out->factor = map->factor;
    return KM_OK;
}

/* A power of two u with u n near 1. */
static double
power_near_inverse(double n)
{
    int exponent = ilogb(n);

    return ldexp(1, exponent < -1000 ? 1000 : -exponent);
}

KmStatus
km_products_open(KmContext *ctx, const KmSums *sums, KmProducts *out)
{
    *out = (KmProducts) {.sums = sums, .n = km_sums_row(sums, sums->features)[sums->features]};
    if (!(out->n > 0))
        return km_fail(ctx, KM_CORRUPT, "accumulator of rows whose weights sum to %g", out->n);
    out->unit = power_near_inverse(out->n);
    return read_map(ctx, sums, out);
}

/* ---- columns of the sums ---- */

static double
sum_of_products(const KmProducts *products, size_t i, size_t j)
{
    return i >= j ? km_sums_row(products->sums, i)[j] : km_sums_row(products->sums, j)[i];
}

static double
sum_of(const KmProducts *products, size_t i)
{
    return sum_of_products(products, products->sums->features, i);
}

/* a b - c d. */
static double
difference_of_products(double a, double b, double c, double d)
{
    double cd = c * d;

    return fma(a, b, -cd) - fma(c, d, -cd);
}

/* Centred: (n p - s_i s_j) / n with n and s_j times the unit, lest tiny weights make products underflow. */
static double
column_product(const KmProducts *products, size_t i, size_t j)
{
    double p = sum_of_products(products, i, j), n = products->unit * products->n;

    if (!products->centred)
        return p;
    return difference_of_products(p, n, sum_of(products, i), products->unit * sum_of(products, j)) / n;
}

/* ---- targets, joined from their slices, the smallest first ---- */

static double
join(double y, double slice)
{
    return y * 0x1p-12 + slice;
}

static double
column_with_target(const KmProducts *products, size_t column, size_t t)
{
    size_t first = km_sums_target(products->sums, t);
    double y = 0;

    for (size_t b = km_sums_parts(products->sums); b-- > 0;)
        y = join(y, column_product(products, first + b, column));
    return y;
}

double
km_product_with_target(const KmProducts *products, size_t j, size_t t)
{
    return products->factor * column_with_target(products, j, t);
}

double
km_product_of_target(const KmProducts *products, size_t t)
{
    size_t first = km_sums_target(products->sums, t);
    double y = 0;

    for (size_t b = km_sums_parts(products->sums); b-- > 0;)
        y = join(y, column_with_target(products, first + b, t));
    return y;
}

double
km_target_mean(const KmProducts *products, size_t t)
{
    size_t first = km_sums_target(products->sums, t);
    double y = 0;

    for (size_t b = km_sums_parts(products->sums); b-- > 0;)
        y = join(y, sum_of(products, first + b));
    return y / products->n;
}

int
km_target_exponent(const KmProducts *products, size_t t)
{
    int32_t top = km_sums_top(products->sums)[t];

    return top == KM_NO_SLICE ? 0 : KM_SLICE_BITS * top;
}

/* ---- features ---- */

double
km_product(const KmProducts *products, size_t i, size_t j)
{
    return products->factor * products->factor * column_product(products, i, j);
}

double
km_feature_mean(const KmProducts *products, size_t j)
{
    return products->factor * sum_of(products, j) / products->n;
}

/* ---- rounding ---- */

/* Each sum was made with errors of half an ulp of what it then was: relative to what it is now, larger by as
 * much as was taken away since. */
double
km_products_error(const KmProducts *products)
{
    const KmSums *sums = products->sums;
    double lost = sums->magnitude / km_sums_trace(sums);

    return sums->flags & KM_SUMS_EXACT ? 0 : DBL_EPSILON * (lost > 1 ? lost : 1);
}
