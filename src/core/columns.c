/* columns.c: weighted means, extremes and standard deviations of columns. */
#include "columns.h"

#include <float.h>
#include <math.h>

#include "compensated.h"
#include "data.h"

#define POLL_WORK 65536         /* elements between polls */

static size_t
rows_between_polls(size_t d)
{
    return POLL_WORK / d + 1;
}

static KmStatus
allocate(KmContext *ctx, size_t d, KmColumns *out)
{
    KM_TRY(km_alloc(ctx, d, &out->weight));
    KM_TRY(km_alloc(ctx, d, &out->mean));
    KM_TRY(km_alloc(ctx, d, &out->min));
    KM_TRY(km_alloc(ctx, d, &out->max));
    for (size_t j = 0; j < d; j++)
    {
        out->min[j] = INFINITY;
        out->max[j] = -INFINITY;
    }
    return KM_OK;
}

static void
add_row(size_t d, const double *x, double w, KmCompensated *sum, KmCompensated *weight, KmColumns *out)
{
    for (size_t j = 0; j < d; j++)
    {
        if (km_is_missing(x[j]))
            continue;
        km_compensated_add_product(&sum[j], w, x[j]);
        km_compensated_add(&weight[j], w);
        if (x[j] < out->min[j])
            out->min[j] = x[j];
        if (x[j] > out->max[j])
            out->max[j] = x[j];
    }
}

/* The mean of a constant column is its value, and no mean leaves the range by rounding. */
static KmStatus
finish_mean(KmContext *ctx, size_t j, const KmCompensated *sum, const KmCompensated *weight, KmColumns *out)
{
    out->weight[j] = weight->high + weight->low;
    if (out->weight[j] == 0)
        return KM_OK;
    if (!isfinite(sum->high + sum->low) || !isfinite(out->weight[j]))
        return km_fail(ctx, KM_RANGE, "the sum of feature %zu is too large for double precision", j + 1);
    out->mean[j] = fmin(fmax(km_compensated_quotient(sum, out->weight[j]), out->min[j]), out->max[j]);
    return KM_OK;
}

KmStatus
km_columns_summarise(KmContext *ctx, size_t n, size_t d, const double *x, const double *w, KmColumns *out)
{
    KmCompensated *sum, *weight;

    KM_TRY(allocate(ctx, d, out));
    KM_TRY(km_alloc_zero(ctx, d, &sum));
    KM_TRY(km_alloc_zero(ctx, d, &weight));
    for (size_t i = 0; i < n; i++)
    {
        if (i % rows_between_polls(d) == 0)
            KM_TRY(km_poll(ctx));
        add_row(d, x + i * d, w ? w[i] : 1, sum, weight, out);
    }
    for (size_t j = 0; j < d; j++)
        KM_TRY(finish_mean(ctx, j, &sum[j], &weight[j], out));
    km_free(ctx, sum);
    km_free(ctx, weight);
    return KM_OK;
}

/* A power of two that brings the largest deviation of the column near 1, so that no square
 * overflows or vanishes. */
static KmStatus
deviation_scale(KmContext *ctx, size_t j, const KmColumns *columns, double *out)
{
    double largest = fmax(columns->max[j] - columns->mean[j], columns->mean[j] - columns->min[j]);
    int exponent;

    if (!isfinite(largest))
        return km_fail(ctx, KM_RANGE, "the range of feature %zu is too large for double precision", j + 1);
    frexp(largest, &exponent);
    *out = ldexp(1, exponent < -1000 ? 1000 : -exponent);
    return KM_OK;
}

static double
finish_deviation(size_t j, const KmCompensated *squares, double scale, const KmColumns *columns)
{
    double deviation = sqrt(km_compensated_quotient(squares, columns->weight[j])) / scale;
    double magnitude = fmax(fabs(columns->min[j]), fabs(columns->max[j]));

    if (columns->min[j] == columns->max[j] || deviation <= 4 * DBL_EPSILON * magnitude)
        return 0;
    return deviation;
}

KmStatus
km_columns_deviation(KmContext *ctx, size_t n, size_t d, const double *x, const double *w,
                     const KmColumns *columns, double *out)
{
    KmCompensated *squares;
    double *scale;

    KM_TRY(km_alloc_zero(ctx, d, &squares));
    KM_TRY(km_alloc(ctx, d, &scale));
    for (size_t j = 0; j < d; j++)
        KM_TRY(deviation_scale(ctx, j, columns, &scale[j]));
    for (size_t i = 0; i < n; i++)
    {
        if (i % rows_between_polls(d) == 0)
            KM_TRY(km_poll(ctx));
        for (size_t j = 0; j < d; j++)
        {
            double t = (x[i * d + j] - columns->mean[j]) * scale[j];

            km_compensated_add_product(&squares[j], w ? w[i] : 1, t * t);
        }
    }
    for (size_t j = 0; j < d; j++)
        out[j] = finish_deviation(j, &squares[j], scale[j], columns);
    km_free(ctx, squares);
    km_free(ctx, scale);
    return KM_OK;
}

/* *out: the weighted mean over all entries of (x - centre)^power, power 1 or 2. */
static KmStatus
mean_of_entries(KmContext *ctx, size_t n, size_t d, const double *x, const double *w, double centre,
                int power, double *out)
{
    KmCompensated sum = {0}, weight = {0};

    for (size_t i = 0; i < n; i++)
    {
        if (i % rows_between_polls(d) == 0)
            KM_TRY(km_poll(ctx));
        for (size_t j = 0; j < d; j++)
        {
            double t = x[i * d + j] - centre;

            km_compensated_add_product(&sum, w ? w[i] : 1, power == 2 ? t * t : t);
        }
        km_compensated_add_product(&weight, w ? w[i] : 1, (double) d);
    }
    *out = km_compensated_quotient(&sum, weight.high + weight.low);
    return KM_OK;
}

KmStatus
km_entries_variance(KmContext *ctx, size_t n, size_t d, const double *x, const double *w, double *out)
{
    double mean;

    KM_TRY(mean_of_entries(ctx, n, d, x, w, 0, 1, &mean));
    return mean_of_entries(ctx, n, d, x, w, mean, 2, out);
}
