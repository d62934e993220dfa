/*
 * kernel_index.c: precomputed: rows are [row number, k(x,1), …, k(x,n)], as LIBSVM has them, so that
 * k(x, z) is the element of x's row at z's number.
 *
 * Only stored rows need a number that means something; a new row is compared with them, never they with it.
 */
#include "kernel_eval.h"
#include "kernel_types.h"

#include <math.h>

#define ASYMMETRY 1e-8          /* of the largest element, what rounding may make of symmetric matrices */

/* NaN where z has no number within x's row. */
static void
precomputed_pairs(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, double *out)
{
    (void) leaf;
    for (size_t j = 0; j < n; j++, z += d)
        out[j] = z[0] >= 1 && z[0] < (double) d ? x[(size_t) z[0]] : NAN;
}

static const KmKernelType precomputed = {
    .signature = {.name = "precomputed", .what = "kernel"},
    .domain = KM_DOMAIN_INDEX,
    .geometry = KM_GEOMETRY_ROWS,
    .pairs = precomputed_pairs,
};

const KmKernelType *const km_kernels_index[] = {&precomputed, NULL};

/* ---- rows to be fitted ---- */

static KmStatus
check_number(KmContext *ctx, size_t d, const double *x)
{
    if (d < 2)
        return km_fail(ctx, KM_DIMENSION,
                       "a row of precomputed has a number and kernel values, got %zu element", d);
    if (x[0] >= 1 && x[0] < (double) d && x[0] == floor(x[0]))
        return KM_OK;
    return km_fail(ctx, KM_INVALID, "a row of precomputed begins with its number, 1 to %zu, got %g", d - 1,
                   x[0]);
}

static KmStatus
check_symmetry(KmContext *ctx, const double *x, const double *z, double largest)
{
    size_t i = (size_t) x[0], j = (size_t) z[0];

    if (fabs(x[j] - z[i]) <= ASYMMETRY * largest)
        return KM_OK;
    km_fail(ctx, KM_INVALID, "precomputed kernel is not symmetric: k(%zu,%zu) is %g, k(%zu,%zu) is %g", i, j,
            x[j], j, i, z[i]);
    return km_hint(ctx, KM_INVALID, "Use (K + K') / 2 if the difference is an error of rounding.");
}

KmStatus
km_kernel_check_index(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d, const double *x)
{
    double largest = 0;

    if (!km_kernel_is_index(kernel))
        return KM_OK;
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_poll(ctx));
        KM_TRY(check_number(ctx, d, x + i * d));
        for (size_t j = 1; j < d; j++)
            largest = fmax(largest, fabs(x[i * d + j]));
    }
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j < i; j++)
            KM_TRY(check_symmetry(ctx, x + i * d, x + j * d, largest));
    }
    return KM_OK;
}
