/*
 * kernel_stationary.c: kernels of a distance: rbf, laplacian, rational_quadratic, cauchy,
 * inverse_multiquadric.
 *
 * Column-wise length scales and metrics are a change of the rows (KmLeaf scale and factor), so the
 * maps know one plain distance.  All but the last are exactly 1 at distance 0.
 */
#include "kernel_types.h"
#include "vmath.h"

#include <math.h>
#include <string.h>

const char *const km_data_words[] = {"auto", "scale", "median", NULL};

/* ---- numbers from arguments ---- */

KmStatus
km_leaf_set_rate(KmContext *ctx, KmLeaf *leaf, const char *name, double rate)
{
    const KmValue *value = km_arg(&leaf->args, name);

    if (value->kind == KM_KIND_NUMBER && !(rate > 0 && rate <= DBL_MAX))
        return km_fail(ctx, KM_INVALID, "%s: %s = %g is too far from 1 for double precision",
                       leaf->type->signature.name, name, value->number);
    leaf->p[0] = rate;
    return KM_OK;
}

KmStatus
km_leaf_set_scale(KmContext *ctx, KmLeaf *leaf, const KmValue *lengths)
{
    leaf->n_scale = leaf->width = lengths->rows;
    leaf->width_of = "length_scale";
    KM_TRY(km_alloc(ctx, leaf->n_scale, &leaf->scale));
    for (size_t k = 0; k < leaf->n_scale; k++)
    {
        leaf->scale[k] = 1 / lengths->list[k];
        if (!(leaf->scale[k] <= DBL_MAX))
            return km_fail(ctx, KM_INVALID, "%s: length_scale %zu = %g is too small",
                           leaf->type->signature.name, k + 1, lengths->list[k]);
    }
    return KM_OK;
}

/* p[0] = factor / length^2, or factor alone where each column has its length. */
static KmStatus
set_squared_length(KmContext *ctx, KmLeaf *leaf, double factor)
{
    const KmValue *length = km_arg(&leaf->args, "length_scale");

    leaf->p[0] = factor;
    if (length->kind == KM_KIND_LIST)
        return km_leaf_set_scale(ctx, leaf, length);
    return km_leaf_set_rate(ctx, leaf, "length_scale", factor / (length->number * length->number));
}

/* ---- rbf: exp(-gamma |r|^2) ---- */

/* A gamma, one length, a length for each column, or a metric. */
static KmStatus
rbf_compile(KmContext *ctx, KmLeaf *leaf)
{
    const KmValue *length = km_arg(&leaf->args, "length_scale");
    const KmValue *metric = km_arg(&leaf->args, "metric");

    leaf->p[0] = 0.5;
    if (metric->given)
        return km_leaf_set_metric(ctx, leaf, metric);
    if (length->given)
        return set_squared_length(ctx, leaf, 0.5);
    return km_leaf_set_rate(ctx, leaf, "gamma", km_arg_number(&leaf->args, "gamma"));
}

/* exp(-p[0] v), of a squared or a 1-norm distance. */
static void
decay_map(const KmLeaf *leaf, size_t n, double *v)
{
    km_exp_rate(n, -leaf->p[0], v, v);
}

static void
decay_map_f32(const KmLeaf *leaf, size_t n, float *v)
{
    km_exp_f32(n, (float) -leaf->p[0], v, v);
}

static void
decay_slope(const KmLeaf *leaf, size_t n, const double *v, const double *k, double *out)
{
    (void) v;
    for (size_t j = 0; j < n; j++)
        out[j] = -leaf->p[0] * k[j];
}

static const KmKernelType rbf = {
    .signature = {.name = "rbf", .aliases = {"gaussian"}, .what = "kernel",
                  .params = {KM_PARAM_GAMMA("scale", true, 1), KM_PARAM_LENGTH_SCALE(NULL, false, 1),
                             {.name = "metric", .kinds = KM_KIND_MATRIX, .min = -DBL_MAX, .max = DBL_MAX,
                              .group = 1},
                             KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_SQDIST,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = rbf_compile,
    .map = decay_map,
    .map_f32 = decay_map_f32,
    .free = {{.name = "gamma", .power = 1}, {.name = "length_scale", .power = -2}},
    .slope = decay_slope,
    .sample = km_sample_normal,
};

/* ---- laplacian: exp(-gamma |r|_1) ---- */

static KmStatus
laplacian_compile(KmContext *ctx, KmLeaf *leaf)
{
    return km_leaf_set_rate(ctx, leaf, "gamma", km_arg_number(&leaf->args, "gamma"));
}

static const KmKernelType laplacian = {
    .signature = {.name = "laplacian", .what = "kernel",
                  .params = {KM_PARAM_GAMMA("auto", true, 0), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_L1,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = laplacian_compile,
    .map = decay_map,
    .map_f32 = decay_map_f32,
    .free = {{.name = "gamma", .power = 1}},
    .slope = decay_slope,
    .sample = km_sample_cauchy,
};

/* ---- rational_quadratic: (1 + u)^-alpha, u = |r|^2 / (2 alpha length^2) ---- */

/* p = {1 / (2 alpha length^2), alpha} */
static KmStatus
rational_quadratic_compile(KmContext *ctx, KmLeaf *leaf)
{
    leaf->p[1] = km_arg_number(&leaf->args, "alpha");
    if (!(0.5 / leaf->p[1] > 0 && 0.5 / leaf->p[1] <= DBL_MAX))
        return km_fail(ctx, KM_INVALID, "%s: alpha = %g is too far from 1 for double precision",
                       leaf->type->signature.name, leaf->p[1]);
    return set_squared_length(ctx, leaf, 0.5 / leaf->p[1]);
}

static void
rational_quadratic_map(const KmLeaf *leaf, size_t n, double *v)
{
    for (size_t j = 0; j < n; j++)
        v[j] *= leaf->p[0];
    km_log1p(n, v, v);
    for (size_t j = 0; j < n; j++)
        v[j] *= -leaf->p[1];
    km_exp(n, v, v);
}

static void
rational_quadratic_slope(const KmLeaf *leaf, size_t n, const double *v, const double *k, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = -leaf->p[1] * leaf->p[0] * k[j] / (1 + leaf->p[0] * v[j]);
}

/* k (u / (1 + u) - log(1 + u)), because u goes as 1 / alpha. */
static void
rational_quadratic_alpha(const KmLeaf *leaf, size_t n, const double *v, const double *k, const double *a,
                         double *g)
{
    double logs[KM_MAX_PAIRS];

    memcpy(logs, v, n * sizeof *logs);
    for (size_t j = 0; j < n; j++)
        logs[j] *= leaf->p[0];
    km_log1p(n, logs, logs);
    for (size_t j = 0; j < n; j++)
    {
        double u = leaf->p[0] * v[j];

        *g += a[j] * k[j] * (u / (1 + u) - logs[j]);
    }
}

static const KmKernelType rational_quadratic = {
    .signature = {.name = "rational_quadratic", .what = "kernel",
                  .params = {KM_PARAM_POSITIVE("alpha", "1"), KM_PARAM_LENGTH_SCALE("1", true, 0),
                             KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_SQDIST,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = rational_quadratic_compile,
    .map = rational_quadratic_map,
    .free = {{.name = "alpha", .shape = rational_quadratic_alpha}, {.name = "length_scale", .power = -2}},
    .slope = rational_quadratic_slope,
    .sample = km_sample_mixed,
};

/* ---- cauchy: 1 / (1 + |r|^2 / length^2), the rational quadratic with alpha = 1 and length / sqrt 2 ---- */

static KmStatus
cauchy_compile(KmContext *ctx, KmLeaf *leaf)
{
    leaf->p[1] = 1;
    return set_squared_length(ctx, leaf, 1);
}

static void
cauchy_map(const KmLeaf *leaf, size_t n, double *v)
{
    for (size_t j = 0; j < n; j++)
        v[j] = 1 / (1 + leaf->p[0] * v[j]);
}

static void
cauchy_slope(const KmLeaf *leaf, size_t n, const double *v, const double *k, double *out)
{
    (void) v;
    for (size_t j = 0; j < n; j++)
        out[j] = -leaf->p[0] * k[j] * k[j];
}

static const KmKernelType cauchy = {
    .signature = {.name = "cauchy", .what = "kernel",
                  .params = {KM_PARAM_LENGTH_SCALE("1", true, 0), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_SQDIST,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = cauchy_compile,
    .map = cauchy_map,
    .free = {{.name = "length_scale", .power = -2}},
    .slope = cauchy_slope,
    .sample = km_sample_mixed,
};

/* ---- inverse_multiquadric: 1 / sqrt(|r|^2 + c^2); p = {c^2, c} ---- */

static KmStatus
inverse_multiquadric_compile(KmContext *ctx, KmLeaf *leaf)
{
    leaf->p[1] = km_arg_number(&leaf->args, "c");
    return km_leaf_set_rate(ctx, leaf, "c", leaf->p[1] * leaf->p[1]);
}

static void
inverse_multiquadric_map(const KmLeaf *leaf, size_t n, double *v)
{
    for (size_t j = 0; j < n; j++)
        v[j] = 1 / sqrt(v[j] + leaf->p[0]);
}

static void
inverse_multiquadric_slope(const KmLeaf *leaf, size_t n, const double *v, const double *k, double *out)
{
    (void) leaf;
    (void) v;
    for (size_t j = 0; j < n; j++)
        out[j] = -0.5 * k[j] * k[j] * k[j];
}

static void
inverse_multiquadric_c(const KmLeaf *leaf, size_t n, const double *v, const double *k, const double *a,
                       double *g)
{
    (void) v;
    for (size_t j = 0; j < n; j++)
        *g -= a[j] * leaf->p[1] * k[j] * k[j] * k[j];
}

static const KmKernelType inverse_multiquadric = {
    .signature = {.name = "inverse_multiquadric", .what = "kernel",
                  .params = {KM_PARAM_POSITIVE("c", "1"), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_SQDIST,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = inverse_multiquadric_compile,
    .map = inverse_multiquadric_map,
    .free = {{.name = "c", .shape = inverse_multiquadric_c}},
    .slope = inverse_multiquadric_slope,
};

const KmKernelType *const km_kernels_stationary[] = {
    &rbf, &laplacian, &rational_quadratic, &cauchy, &inverse_multiquadric, NULL};
