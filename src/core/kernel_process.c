/*
 * kernel_process.c: covariances of processes that are not stationary: brownian, gibbs (Gibbs 1997; Rasmussen,
 * Williams 2006, equation 4.32); and white noise.
 */
#include "kernel_types.h"
#include "vmath.h"

#include <math.h>

/* ---- brownian: prod_k min(x_k, z_k), elements >= 0 ---- */

static void
brownian_pairs(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, double *out)
{
    (void) leaf;
    for (size_t j = 0; j < n; j++, z += d)
    {
        out[j] = 1;
        for (size_t k = 0; k < d; k++)
            out[j] *= x[k] < z[k] ? x[k] : z[k] <= x[k] ? z[k] : x[k] + z[k];
    }
}

static const KmKernelType brownian = {
    .signature = {.name = "brownian", .what = "kernel", .params = {KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_ROWS,
    .flags = KM_PSD,
    .pairs = brownian_pairs,
    .nonnegative = true,
};

/* ---- gibbs: with l(x) = exp(a + b'x), u = log l(x), u' = log l(z),
 *   (2 l l' / (l^2 + l'^2))^(d/2) exp(-|x - z|^2 / (l^2 + l'^2)) = exp(v),
 *   v = d/2 log(2 / (exp(u - u') + exp(u' - u))) - |x - z|^2 / (exp 2u + exp 2u').
 * The power d/2 is what makes it positive semidefinite for d > 1. ---- */

static KmStatus
gibbs_compile(KmContext *ctx, KmLeaf *leaf)
{
    const KmValue *value = km_arg(&leaf->args, "log_length");

    if (value->rows < 2)
        return km_fail(ctx, KM_INVALID, "log_length of gibbs needs a and at least one b, as in [0, 0.5]");
    leaf->own = value->list;
    leaf->width = value->rows - 1;
    leaf->width_of = "log_length";
    return KM_OK;
}

static double
log_length(const KmLeaf *leaf, size_t d, const double *x)
{
    const double *coefficient = leaf->own;
    double sum = coefficient[0];

    for (size_t k = 0; k < d; k++)
        sum += coefficient[k + 1] * x[k];
    return sum;
}

/* Of x with each z_j: squared distance over l^2 + l'^2, and exponentials of u - u', u' - u, 2u, 2u'. */
typedef struct Gibbs
{
    double distance[KM_MAX_PAIRS], ratio[KM_MAX_PAIRS], inverse[KM_MAX_PAIRS];
    double x_square, z_square[KM_MAX_PAIRS];
} Gibbs;

static void
gibbs_fill(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, Gibbs *g)
{
    double u = log_length(leaf, d, x);

    g->x_square = km_exp1(2 * u);
    for (size_t j = 0; j < n; j++)
    {
        double other = log_length(leaf, d, z + j * d);

        g->ratio[j] = u - other;
        g->inverse[j] = other - u;
        g->z_square[j] = 2 * other;
        g->distance[j] = 0;
        for (size_t k = 0; k < d; k++)
            g->distance[j] += (x[k] - z[j * d + k]) * (x[k] - z[j * d + k]);
    }
    km_exp(n, g->ratio, g->ratio);
    km_exp(n, g->inverse, g->inverse);
    km_exp(n, g->z_square, g->z_square);
    for (size_t j = 0; j < n; j++)
        g->distance[j] = g->distance[j] == 0 ? 0 : g->distance[j] / (g->x_square + g->z_square[j]);
}

static void
gibbs_pairs(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, double *out)
{
    Gibbs g;

    gibbs_fill(leaf, d, x, n, z, &g);
    for (size_t j = 0; j < n; j++)
        out[j] = 2 / (g.ratio[j] + g.inverse[j]);
    km_log(n, out, out);
    for (size_t j = 0; j < n; j++)
        out[j] = 0.5 * (double) d * out[j] - g.distance[j];
}

static void
gibbs_map(const KmLeaf *leaf, size_t n, double *v)
{
    (void) leaf;
    km_exp(n, v, v);
}

static void
gibbs_slope(const KmLeaf *leaf, size_t n, const double *v, const double *k, double *out)
{
    (void) leaf;
    (void) v;
    for (size_t j = 0; j < n; j++)
        out[j] = k[j];
}

/* dv/da = 2 D; dv/db_k = -(d/2) tanh(u - u') (x_k - z_k) + 2 D (share x_k + (1 - share) z_k), D the scaled
 * distance, share = l^2 / (l^2 + l'^2). */
static void
gibbs_coefficients(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, const double *a,
                   double *g)
{
    Gibbs pair;

    gibbs_fill(leaf, d, x, n, z, &pair);
    for (size_t j = 0; j < n; j++)
    {
        double slope = (pair.ratio[j] - pair.inverse[j]) / (pair.ratio[j] + pair.inverse[j]);
        double share = pair.ratio[j] / (pair.ratio[j] + pair.inverse[j]);

        g[0] += a[j] * 2 * pair.distance[j];
        for (size_t k = 0; k < d; k++)
            g[k + 1] += a[j] * (2 * pair.distance[j] * (share * x[k] + (1 - share) * z[j * d + k]) -
                                0.5 * (double) d * slope * (x[k] - z[j * d + k]));
    }
}

static const KmKernelType gibbs = {
    .signature = {.name = "gibbs", .what = "kernel",
                  .params = {{.name = "log_length", .kinds = KM_KIND_LIST, .min = -DBL_MAX, .max = DBL_MAX,
                              .positional = true, .required = true},
                             KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_ROWS,
    .flags = KM_BOUNDED | KM_PSD,
    .compile = gibbs_compile,
    .pairs = gibbs_pairs,
    .map = gibbs_map,
    .free = {{.name = "log_length", .plain = true, .rows = gibbs_coefficients}},
    .slope = gibbs_slope,
};

/* ---- white(variance): noise of single rows, so 0 for different rows even if their values agree.  Not free:
 * a Gaussian process has its noise for that. ---- */

static KmStatus
white_compile(KmContext *ctx, KmLeaf *leaf)
{
    (void) ctx;
    leaf->p[0] = km_arg_number(&leaf->args, "variance");
    return KM_OK;
}

static void
white_map(const KmLeaf *leaf, size_t n, double *v)
{
    for (size_t j = 0; j < n; j++)
        v[j] *= leaf->p[0];
}

static const KmKernelType white = {
    .signature = {.name = "white", .what = "kernel",
                  .params = {{.name = "variance", .kinds = KM_KIND_NUMBER, .standard = "1", .min = 0,
                              .max = DBL_MAX, .grid = true, .positional = true}}},
    .geometry = KM_GEOMETRY_SAME,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = white_compile,
    .map = white_map,
};

const KmKernelType *const km_kernels_process[] = {&brownian, &gibbs, &white, NULL};
