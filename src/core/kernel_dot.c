/*
 * kernel_dot.c: kernels that are functions of the dot product <x,z>: linear, poly, sigmoid, cosine; and
 * constant, a function of nothing.
 */
#include "kernel_eval.h"
#include "kernel_types.h"
#include "vmath.h"

/* ---- linear ---- */

static void keep(const KmLeaf *leaf, size_t n, double *v)
{
    (void) leaf;
    (void) n;
    (void) v;
}

const KmKernelType km_kernel_linear = {
    .signature = {.name = "linear", .what = "kernel", .params = {KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_DOT,
    .flags = KM_PSD,
    .map = keep,
};

/* ---- constant(value); a bare number in an expression is this too ---- */

static KmStatus constant_compile(KmContext *ctx, KmLeaf *leaf)
{
    (void) ctx;
    leaf->p[0] = km_arg_number(&leaf->args, "value");
    if (leaf->p[0] < 0)
        leaf->flags &= ~(unsigned) (KM_PSD | KM_BOUNDED);
    return KM_OK;
}

static void constant_map(const KmLeaf *leaf, size_t n, double *v)
{
    for (size_t j = 0; j < n; j++)
        v[j] = leaf->p[0];
}

const KmKernelType km_kernel_constant = {
    .signature = {.name = "constant", .what = "kernel",
                  .params = {KM_PARAM_REAL("value", "1"), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_NONE,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = constant_compile,
    .map = constant_map,
};

/* ---- poly: (gamma <x,z> + coef0)^degree; PSD unless coef0 < 0 ---- */

static KmStatus affine_compile(KmContext *ctx, KmLeaf *leaf)
{
    (void) ctx;
    leaf->p[0] = km_arg_number(&leaf->args, "gamma");
    leaf->p[1] = km_arg_number(&leaf->args, "coef0");
    return KM_OK;
}

static KmStatus poly_compile(KmContext *ctx, KmLeaf *leaf)
{
    leaf->p[2] = km_arg_number(&leaf->args, "degree");
    KM_TRY(affine_compile(ctx, leaf));
    if (leaf->p[1] < 0 && leaf->p[2] > 0)
        leaf->flags &= ~(unsigned) KM_PSD;
    return KM_OK;
}

static void poly_map(const KmLeaf *leaf, size_t n, double *v)
{
    for (size_t j = 0; j < n; j++)
        v[j] = km_power_whole(leaf->p[0] * v[j] + leaf->p[1], leaf->p[2]);
}

const KmKernelType km_kernel_poly = {
    .signature = {.name = "poly", .aliases = {"polynomial"}, .what = "kernel",
                  .params = {{.name = "degree", .kinds = KM_KIND_INTEGER, .standard = "3", .min = 0,
                              .max = 1e6, .grid = true, .positional = true},
                             KM_PARAM_GAMMA("1", false, 0), KM_PARAM_REAL("coef0", "1"), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_DOT,
    .flags = KM_PSD,
    .compile = poly_compile,
    .map = poly_map,
};

/* ---- sigmoid: tanh(gamma <x,z> + coef0), not PSD ---- */

static void sigmoid_map(const KmLeaf *leaf, size_t n, double *v)
{
    for (size_t j = 0; j < n; j++)
        v[j] = leaf->p[0] * v[j] + leaf->p[1];
    km_tanh(n, v, v);
}

const KmKernelType km_kernel_sigmoid = {
    .signature = {.name = "sigmoid", .aliases = {"tanh"}, .what = "kernel",
                  .params = {KM_PARAM_GAMMA("auto", false, 0), KM_PARAM_REAL("coef0", "0"), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_DOT,
    .compile = affine_compile,
    .map = sigmoid_map,
};

/* ---- cosine: <x,z> / (|x||z|), 0 for a zero row ---- */

/* Rounding can leave [-1, 1]; NaN stays. */
static void cosine_map(const KmLeaf *leaf, size_t n, double *v)
{
    (void) leaf;
    for (size_t j = 0; j < n; j++)
        v[j] = v[j] > 1 ? 1 : v[j] < -1 ? -1 : v[j];
}

const KmKernelType km_kernel_cosine = {
    .signature = {.name = "cosine", .what = "kernel", .params = {KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_COSINE,
    .flags = KM_BOUNDED | KM_PSD,
    .map = cosine_map,
};
