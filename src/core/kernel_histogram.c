/*
 * kernel_histogram.c: kernels of rows of counts or shares, all elements >= 0: chi2, additive_chi2 (Zhang et
 * al. 2007), chi2_mercer (Vedaldi, Zisserman 2012), min (histogram intersection; Swain, Ballard 1991).
 * The sums are those of simd/histogram_ops.h.
 */
#include "kernel_types.h"
#include "simd.h"
#include "simd/histogram_ops.h"
#include "vmath.h"

static void
chi2_pairs(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, double *out)
{
    (void) leaf;
    KM_PICK(km_histogram_ops)->chi2(d, x, n, z, out);
}

/* ---- chi2: exp(-gamma sum (x - z)^2 / (x + z)) ---- */

static KmStatus
chi2_compile(KmContext *ctx, KmLeaf *leaf)
{
    return km_leaf_set_rate(ctx, leaf, "gamma", km_arg_number(&leaf->args, "gamma"));
}

static void
chi2_map(const KmLeaf *leaf, size_t n, double *v)
{
    km_exp_rate(n, -leaf->p[0], v, v);
}

static void
chi2_slope(const KmLeaf *leaf, size_t n, const double *v, const double *k, double *out)
{
    (void) v;
    for (size_t j = 0; j < n; j++)
        out[j] = -leaf->p[0] * k[j];
}

static const KmKernelType chi2 = {
    .signature = {.name = "chi2", .what = "kernel",
                  .params = {KM_PARAM_POSITIVE("gamma", "1"), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_ROWS,
    .flags = KM_BOUNDED | KM_PSD,
    .compile = chi2_compile,
    .pairs = chi2_pairs,
    .map = chi2_map,
    .nonnegative = true,
    .free = {{.name = "gamma", .power = 1}},
    .slope = chi2_slope,
};

/* ---- additive_chi2: -sum (x - z)^2 / (x + z), conditionally positive definite ---- */

static void
negate(const KmLeaf *leaf, size_t n, double *v)
{
    (void) leaf;
    for (size_t j = 0; j < n; j++)
        v[j] = 0 - v[j];
}

static const KmKernelType additive_chi2 = {
    .signature = {.name = "additive_chi2", .what = "kernel", .params = {KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_ROWS,
    .pairs = chi2_pairs,
    .map = negate,
    .nonnegative = true,
};

/* ---- chi2_mercer: sum 2 x z / (x + z) ---- */

static void
mercer_pairs(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, double *out)
{
    (void) leaf;
    KM_PICK(km_histogram_ops)->mercer(d, x, n, z, out);
}

static const KmKernelType chi2_mercer = {
    .signature = {.name = "chi2_mercer", .what = "kernel", .params = {KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_ROWS,
    .flags = KM_PSD,
    .pairs = mercer_pairs,
    .nonnegative = true,
};

/* ---- min: sum min(x, z) ---- */

static void
min_pairs(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, double *out)
{
    (void) leaf;
    KM_PICK(km_histogram_ops)->smaller(d, x, n, z, out);
}

static const KmKernelType intersection = {
    .signature = {.name = "min", .what = "kernel", .params = {KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_ROWS,
    .flags = KM_PSD,
    .pairs = min_pairs,
    .nonnegative = true,
};

const KmKernelType *const km_kernels_histogram[] = {
    &chi2, &additive_chi2, &chi2_mercer, &intersection, NULL};
