/*
 * kernel_metric.c: the factor of metric=[[…]]: M = LL' by Cholesky with complete pivoting, so that a
 * singular positive semidefinite M is taken, and anything else refused.  |L'(x - z)|^2 = (x - z)'M(x - z).
 */
#include "kernel_types.h"

#include <math.h>
#include <string.h>

/* a: the Schur complement, n x n.  l: L, whose rows keep their order, so that it is triangular only after
 * a permutation. */
typedef struct Metric
{
    size_t n;
    double *a;
    double *l;
    double tolerance;           /* of rounding: n eps times the largest element */
} Metric;

static KmStatus
check_symmetric(KmContext *ctx, const KmValue *value, Metric *metric)
{
    size_t n = metric->n;
    double largest = 0;

    for (size_t i = 0; i < n * n; i++)
        largest = fmax(largest, fabs(value->list[i]));
    metric->tolerance = 8 * DBL_EPSILON * (double) n * largest;
    for (size_t i = 0; i < n; i++)
    {
        for (size_t j = 0; j < i; j++)
        {
            if (!(fabs(value->list[i * n + j] - value->list[j * n + i]) <= metric->tolerance))
                return km_fail(ctx, KM_INVALID,
                               "metric is not symmetric: element (%zu, %zu) is %g, (%zu, %zu) is %g", i + 1,
                               j + 1, value->list[i * n + j], j + 1, i + 1, value->list[j * n + i]);
        }
    }
    return KM_OK;
}

static size_t
largest_pivot(const Metric *metric)
{
    size_t best = 0;

    for (size_t i = 1; i < metric->n; i++)
    {
        if (metric->a[i * metric->n + i] > metric->a[best * metric->n + best])
            best = i;
    }
    return best;
}

/* Column `step` of L from pivot p, taken out of the complement. */
static void
eliminate(Metric *metric, size_t p, size_t step)
{
    size_t n = metric->n;
    double root = sqrt(metric->a[p * n + p]);

    for (size_t i = 0; i < n; i++)
        metric->l[i * n + step] = metric->a[i * n + p] / root;
    for (size_t i = 0; i < n; i++)
    {
        for (size_t j = 0; j < n; j++)
            metric->a[i * n + j] -= metric->l[i * n + step] * metric->l[j * n + step];
    }
    for (size_t i = 0; i < n; i++)
        metric->a[i * n + p] = metric->a[p * n + i] = 0;
}

static KmStatus
check_remainder(KmContext *ctx, const Metric *metric)
{
    for (size_t i = 0; i < metric->n * metric->n; i++)
    {
        if (!(fabs(metric->a[i]) <= metric->tolerance))
            return km_fail(ctx, KM_INVALID, "metric is not positive semidefinite");
    }
    return KM_OK;
}

KmStatus
km_leaf_set_metric(KmContext *ctx, KmLeaf *leaf, const KmValue *value)
{
    Metric metric = {.n = value->rows};

    if (value->rows != value->columns)
        return km_fail(ctx, KM_INVALID, "metric must be a square matrix, not %zu x %zu", value->rows,
                       value->columns);
    KM_TRY(check_symmetric(ctx, value, &metric));
    KM_TRY(km_alloc(ctx, metric.n * metric.n, &metric.a));
    KM_TRY(km_alloc_zero(ctx, metric.n * metric.n, &metric.l));
    memcpy(metric.a, value->list, metric.n * metric.n * sizeof *metric.a);
    for (size_t step = 0; step < metric.n; step++)
    {
        size_t p = largest_pivot(&metric);

        KM_TRY(km_poll(ctx));
        if (!(metric.a[p * metric.n + p] > metric.tolerance))
            break;
        eliminate(&metric, p, step);
    }
    KM_TRY(check_remainder(ctx, &metric));
    km_free(ctx, metric.a);
    leaf->n_factor = leaf->width = metric.n;
    leaf->width_of = "metric";
    leaf->factor = metric.l;
    return KM_OK;
}
