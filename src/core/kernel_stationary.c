/*
 * kernel_stationary.c: kernels of a distance: rbf, laplacian, exponential, matern.
 *
 * Column-wise length scales and metrics are a change of the rows (KmLeaf scale and factor), so the
 * maps know one plain distance.  All are exactly 1 at distance 0.
 */
#include "kernel_types.h"
#include "vmath.h"

#include <math.h>

#define CHUNK 256               /* values at a time in local buffers */

const char *const km_data_words[] = {"auto", "scale", "median", NULL};

/* ---- numbers from arguments ---- */

/* A rate must be a positive number that double precision holds; a word still waits for data. */
static KmStatus set_rate(KmContext *ctx, KmLeaf *leaf, const char *name, double rate)
{
    const KmValue *value = km_arg(&leaf->args, name);

    if (value->kind == KM_KIND_NUMBER && !(rate > 0 && rate <= DBL_MAX))
        return km_fail(ctx, KM_INVALID, "%s: %s = %g is too far from 1 for double precision",
                       leaf->type->signature.name, name, value->number);
    leaf->p[0] = rate;
    return KM_OK;
}

/* length_scale=[…]: column k is multiplied by 1 / list[k]. */
static KmStatus set_scale(KmContext *ctx, KmLeaf *leaf, const KmValue *lengths)
{
    leaf->n_scale = lengths->rows;
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

/* ---- rbf: exp(-gamma |r|^2) ---- */

/* A gamma, one length, a length for each column, or a metric. */
static KmStatus rbf_compile(KmContext *ctx, KmLeaf *leaf)
{
    const KmValue *length = km_arg(&leaf->args, "length_scale");
    const KmValue *metric = km_arg(&leaf->args, "metric");

    leaf->p[0] = 0.5;
    if (metric->given)
        return km_leaf_set_metric(ctx, leaf, metric);
    if (length->given && length->kind == KM_KIND_LIST)
        return set_scale(ctx, leaf, length);
    if (length->given)
        return set_rate(ctx, leaf, "length_scale", 0.5 / (length->number * length->number));
    return set_rate(ctx, leaf, "gamma", km_arg_number(&leaf->args, "gamma"));
}

/* exp(-p[0] v), of a squared or a 1-norm distance. */
static void decay_map(const KmLeaf *leaf, size_t n, double *v)
{
    km_exp_rate(n, -leaf->p[0], v, v);
}

static void decay_map_f32(const KmLeaf *leaf, size_t n, float *v)
{
    km_exp_f32(n, (float) -leaf->p[0], v, v);
}

const KmKernelType km_kernel_rbf = {
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
    .sample = km_sample_normal,
};

/* ---- laplacian: exp(-gamma |r|_1) ---- */

static KmStatus laplacian_compile(KmContext *ctx, KmLeaf *leaf)
{
    return set_rate(ctx, leaf, "gamma", km_arg_number(&leaf->args, "gamma"));
}

const KmKernelType km_kernel_laplacian = {
    .signature = {.name = "laplacian", .what = "kernel",
                  .params = {KM_PARAM_GAMMA("auto", true, 0), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_L1,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = laplacian_compile,
    .map = decay_map,
    .map_f32 = decay_map_f32,
    .sample = km_sample_cauchy,
};

/* ---- matern: (1 + a s + b s^2) exp(-s), s = sqrt(2 nu) |r| / length; exponential is nu = 1/2 ---- */

static const struct
{
    double nu, a, b;
} closed_forms[] = {{0.5, 0, 0}, {1.5, 1, 0}, {2.5, 1, 1.0 / 3}};

/* p = {sqrt(2 nu) / length, a, b, 2 nu}. */
static KmStatus half_integer_compile(KmContext *ctx, KmLeaf *leaf, size_t form)
{
    const KmValue *length = km_arg(&leaf->args, "length_scale");
    double root = sqrt(2 * closed_forms[form].nu);

    leaf->p[0] = root;
    leaf->p[1] = closed_forms[form].a;
    leaf->p[2] = closed_forms[form].b;
    leaf->p[3] = 2 * closed_forms[form].nu;
    if (length->kind == KM_KIND_LIST)
        return set_scale(ctx, leaf, length);
    return set_rate(ctx, leaf, "length_scale", root / length->number);
}

static KmStatus exponential_compile(KmContext *ctx, KmLeaf *leaf)
{
    return half_integer_compile(ctx, leaf, 0);
}

static KmStatus matern_compile(KmContext *ctx, KmLeaf *leaf)
{
    double nu = km_arg_number(&leaf->args, "nu");

    for (size_t form = 0; form < sizeof closed_forms / sizeof closed_forms[0]; form++)
    {
        if (closed_forms[form].nu == nu)
            return half_integer_compile(ctx, leaf, form);
    }
    return km_fail(ctx, KM_UNSUPPORTED, "matern: nu = %g is not available, only 0.5, 1.5 and 2.5", nu);
}

/* Where exp(-s) is 0 so is the kernel, even if s is infinite. */
static void matern_chunk(const KmLeaf *leaf, size_t n, double *v)
{
    double decay[CHUNK];

    for (size_t j = 0; j < n; j++)
    {
        v[j] = leaf->p[0] * sqrt(v[j]);
        decay[j] = -v[j];
    }
    km_exp(n, decay, decay);
    for (size_t j = 0; j < n; j++)
        v[j] = decay[j] == 0 ? 0 : (1 + v[j] * (leaf->p[1] + leaf->p[2] * v[j])) * decay[j];
}

static void matern_map(const KmLeaf *leaf, size_t n, double *v)
{
    for (size_t j = 0; j < n; j += CHUNK)
        matern_chunk(leaf, n - j < CHUNK ? n - j : CHUNK, v + j);
}

static void matern_chunk_f32(const KmLeaf *leaf, size_t n, float *v)
{
    float rate = (float) leaf->p[0], a = (float) leaf->p[1], b = (float) leaf->p[2];
    float decay[CHUNK];

    for (size_t j = 0; j < n; j++)
        v[j] = rate * sqrtf(v[j]);
    km_exp_f32(n, -1, v, decay);
    for (size_t j = 0; j < n; j++)
        v[j] = decay[j] == 0 ? 0 : (1 + v[j] * (a + b * v[j])) * decay[j];
}

static void matern_map_f32(const KmLeaf *leaf, size_t n, float *v)
{
    for (size_t j = 0; j < n; j += CHUNK)
        matern_chunk_f32(leaf, n - j < CHUNK ? n - j : CHUNK, v + j);
}

const KmKernelType km_kernel_exponential = {
    .signature = {.name = "exponential", .what = "kernel",
                  .params = {KM_PARAM_LENGTH_SCALE("1", true, 0), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_SQDIST,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = exponential_compile,
    .map = matern_map,
    .map_f32 = matern_map_f32,
    .sample = km_sample_student,
};

const KmKernelType km_kernel_matern = {
    .signature = {.name = "matern", .what = "kernel",
                  .params = {{.name = "nu", .kinds = KM_KIND_NUMBER, .standard = "1.5", .min = 0,
                              .max = DBL_MAX, .open = true, .grid = true, .positional = true},
                             KM_PARAM_LENGTH_SCALE("1", true, 0), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_SQDIST,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = matern_compile,
    .map = matern_map,
    .map_f32 = matern_map_f32,
    .sample = km_sample_student,
};
