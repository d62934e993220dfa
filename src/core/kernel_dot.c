/*
 * kernel_dot.c: kernels that are functions of the dot product <x,z>: linear, poly, sigmoid, cosine,
 * geometric; and constant, a function of nothing.
 */
#include "kernel_eval.h"
#include "kernel_types.h"
#include "vmath.h"

/* ---- linear ---- */

static const KmKernelType linear = {
    .signature = {.name = "linear", .what = "kernel", .params = {KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_DOT,
    .flags = KM_PSD | KM_PLANE,
};

/* ---- constant(value); a bare number in an expression is this too ---- */

static KmStatus
constant_compile(KmContext *ctx, KmLeaf *leaf)
{
    (void) ctx;
    leaf->p[0] = km_arg_number(&leaf->args, "value");
    if (leaf->p[0] < 0)
        leaf->flags &= ~(unsigned) (KM_PSD | KM_BOUNDED);
    return KM_OK;
}

static void
constant_map(const KmLeaf *leaf, size_t n, double *v)
{
    for (size_t j = 0; j < n; j++)
        v[j] = leaf->p[0];
}

static void
constant_shape(const KmLeaf *leaf, size_t n, const double *v, const double *k, const double *a, double *g)
{
    (void) leaf;
    (void) v;
    (void) k;
    for (size_t j = 0; j < n; j++)
        *g += a[j];
}

static const KmKernelType constant = {
    .signature = {.name = "constant", .what = "kernel",
                  .params = {KM_PARAM_REAL("value", "1"), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_NONE,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = constant_compile,
    .map = constant_map,
    .free = {{.name = "value", .shape = constant_shape}},
};

/* ---- poly: (gamma <x,z> + coef0)^degree; PSD unless coef0 < 0 ---- */

static KmStatus
affine_compile(KmContext *ctx, KmLeaf *leaf)
{
    (void) ctx;
    leaf->p[0] = km_arg_number(&leaf->args, "gamma");
    leaf->p[1] = km_arg_number(&leaf->args, "coef0");
    return KM_OK;
}

static KmStatus
poly_compile(KmContext *ctx, KmLeaf *leaf)
{
    leaf->p[2] = km_arg_number(&leaf->args, "degree");
    KM_TRY(affine_compile(ctx, leaf));
    if (leaf->p[1] < 0 && leaf->p[2] > 0)
        leaf->flags &= ~(unsigned) KM_PSD;
    return KM_OK;
}

static void
poly_map(const KmLeaf *leaf, size_t n, double *v)
{
    km_power(n, leaf->p[0], leaf->p[1], leaf->p[2], v, v);
}

/* By coef0. */
static double
poly_derivative(const KmLeaf *leaf, double v)
{
    double degree = leaf->p[2];

    return degree > 0 ? degree * km_power_whole(leaf->p[0] * v + leaf->p[1], degree - 1) : 0;
}

static void
poly_slope(const KmLeaf *leaf, size_t n, const double *v, const double *k, double *out)
{
    (void) k;
    for (size_t j = 0; j < n; j++)
        out[j] = leaf->p[0] * poly_derivative(leaf, v[j]);
}

static void
poly_coef0(const KmLeaf *leaf, size_t n, const double *v, const double *k, const double *a, double *g)
{
    (void) k;
    for (size_t j = 0; j < n; j++)
        *g += a[j] * poly_derivative(leaf, v[j]);
}

static const KmKernelType poly = {
    .signature = {.name = "poly", .aliases = {"polynomial"}, .what = "kernel",
                  .params = {{.name = "degree", .kinds = KM_KIND_INTEGER, .standard = "3", .min = 0,
                              .max = 1e6, .grid = true, .positional = true},
                             KM_PARAM_GAMMA("1", false, 0), KM_PARAM_REAL("coef0", "1"), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_DOT,
    .flags = KM_PSD,
    .compile = poly_compile,
    .map = poly_map,
    .free = {{.name = "gamma", .power = 1}, {.name = "coef0", .plain = true, .shape = poly_coef0}},
    .slope = poly_slope,
};

/* ---- sigmoid: tanh(gamma <x,z> + coef0), not PSD ---- */

static void
sigmoid_map(const KmLeaf *leaf, size_t n, double *v)
{
    for (size_t j = 0; j < n; j++)
        v[j] = leaf->p[0] * v[j] + leaf->p[1];
    km_tanh(n, v, v);
}

static void
sigmoid_slope(const KmLeaf *leaf, size_t n, const double *v, const double *k, double *out)
{
    (void) v;
    for (size_t j = 0; j < n; j++)
        out[j] = leaf->p[0] * (1 - k[j] * k[j]);
}

static void
sigmoid_coef0(const KmLeaf *leaf, size_t n, const double *v, const double *k, const double *a, double *g)
{
    (void) leaf;
    (void) v;
    for (size_t j = 0; j < n; j++)
        *g += a[j] * (1 - k[j] * k[j]);
}

static const KmKernelType sigmoid = {
    .signature = {.name = "sigmoid", .aliases = {"tanh"}, .what = "kernel",
                  .params = {KM_PARAM_GAMMA("auto", false, 0), KM_PARAM_REAL("coef0", "0"), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_DOT,
    .compile = affine_compile,
    .map = sigmoid_map,
    .free = {{.name = "gamma", .power = 1}, {.name = "coef0", .plain = true, .shape = sigmoid_coef0}},
    .slope = sigmoid_slope,
};

/* ---- cosine: <x,z> / (|x||z|), 0 for a zero row ---- */

/* Rounding can leave [-1, 1]. */
static void
cosine_map(const KmLeaf *leaf, size_t n, double *v)
{
    (void) leaf;
    km_clip(n, 1, v, v);
}

static const KmKernelType cosine = {
    .signature = {.name = "cosine", .what = "kernel", .params = {KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_COSINE,
    .flags = KM_BOUNDED | KM_PSD | KM_PLANE,
    .map = cosine_map,
};

/* ---- geometric: 1 / (1 - <x,z>), the sum of all powers of <x,z> < 1 ---- */

static void
geometric_map(const KmLeaf *leaf, size_t n, double *v)
{
    (void) leaf;
    for (size_t j = 0; j < n; j++)
        v[j] = 1 / (1 - v[j]);
}

static const KmKernelType geometric = {
    .signature = {.name = "geometric", .what = "kernel", .params = {KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_DOT,
    .flags = KM_PSD,
    .map = geometric_map,
    .below = 1,
};

const KmKernelType *const km_kernels_dot[] = {&linear, &constant, &poly, &sigmoid, &cosine, &geometric, NULL};
