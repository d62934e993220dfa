/*
 * kernel_matern.c: matern and exponential, its case nu = 1/2: with s = sqrt(2 nu) |r| / length,
 *   k = 2^(1-nu) / Gamma(nu) s^nu K_nu(s),
 * (1 + a s + b s^2) exp(-s) at nu = 1/2, 3/2, 5/2 (Rasmussen, Williams 2006, section 4.2.1).
 */
#include "bessel.h"
#include "kernel_types.h"
#include "sizes.h"
#include "vmath.h"

#include <math.h>
#include <string.h>

static const struct
{
    double nu, a, b;
} closed_forms[] = {{0.5, 0, 0}, {1.5, 1, 0}, {2.5, 1, 1.0 / 3}};

/* p = {sqrt(2 nu) / length, a, b, nu}. */
static KmStatus
set_numbers(KmContext *ctx, KmLeaf *leaf, double nu, double a, double b)
{
    const KmValue *length = km_arg(&leaf->args, "length_scale");
    double root = sqrt(2 * nu);

    leaf->p[0] = root;
    leaf->p[1] = a;
    leaf->p[2] = b;
    leaf->p[3] = nu;
    if (length->kind == KM_KIND_LIST)
        return km_leaf_set_scale(ctx, leaf, length);
    return km_leaf_set_rate(ctx, leaf, "length_scale", root / length->number);
}

static KmStatus
exponential_compile(KmContext *ctx, KmLeaf *leaf)
{
    return set_numbers(ctx, leaf, 0.5, 0, 0);
}

static KmStatus
matern_compile(KmContext *ctx, KmLeaf *leaf)
{
    double nu = km_arg_number(&leaf->args, "nu");
    KmMatern *matern;

    leaf->own = NULL;
    for (size_t form = 0; form < sizeof closed_forms / sizeof closed_forms[0]; form++)
    {
        if (closed_forms[form].nu == nu)
            return set_numbers(ctx, leaf, nu, closed_forms[form].a, closed_forms[form].b);
    }
    KM_TRY(km_matern_create(ctx, nu, &matern));
    leaf->own = matern;
    return set_numbers(ctx, leaf, nu, 0, 0);
}

/* ---- values ---- */

static void
matern_map(const KmLeaf *leaf, size_t n, double *v)
{
    if (leaf->own == NULL)
    {
        km_matern(n, leaf->p, v, v, NULL);
        return;
    }
    for (size_t j = 0; j < n; j++)
        v[j] = leaf->p[0] * sqrt(v[j]);
    km_matern_values(leaf->own, n, v, v);
}

static void
closed_form_f32(const KmLeaf *leaf, size_t n, float *v)
{
    float rate = (float) leaf->p[0], a = (float) leaf->p[1], b = (float) leaf->p[2];
    float decay[KM_MAX_PAIRS];

    for (size_t j = 0; j < n; j++)
        v[j] = rate * sqrtf(v[j]);
    km_exp_f32(n, -1, v, decay);
    for (size_t j = 0; j < n; j++)
        v[j] = decay[j] == 0 ? 0 : (1 + v[j] * (a + b * v[j])) * decay[j];
}

static void
general_f32(const KmLeaf *leaf, size_t n, float *v)
{
    double wide[KM_MAX_PAIRS];

    for (size_t j = 0; j < n; j++)
        wide[j] = v[j];
    matern_map(leaf, n, wide);
    for (size_t j = 0; j < n; j++)
        v[j] = (float) wide[j];
}

static void
matern_map_f32(const KmLeaf *leaf, size_t n, float *v)
{
    for (size_t j = 0; j < n; j += KM_MAX_PAIRS)
        (leaf->own != NULL ? general_f32 : closed_form_f32)(leaf, min_size(n - j, KM_MAX_PAIRS), v + j);
}

/* ---- values and dk/d|r|^2 ---- */

static void
general_slope(const KmLeaf *leaf, size_t n, const double *v, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = leaf->p[0] * sqrt(v[j]);
    km_matern_slopes(leaf->own, n, out, out);
    for (size_t j = 0; j < n; j++)
        out[j] = v[j] == 0 ? 0 : out[j] / v[j];
}

static void
matern_both(const KmLeaf *leaf, size_t n, const double *v, double *k, double *slope)
{
    if (leaf->own == NULL)
    {
        km_matern(n, leaf->p, v, k, slope);
        return;
    }
    general_slope(leaf, n, v, slope);
    memcpy(k, v, n * sizeof *k);
    matern_map(leaf, n, k);
}

/* ---- the table ---- */

static const KmKernelType exponential = {
    .signature = {.name = "exponential", .what = "kernel",
                  .params = {KM_PARAM_LENGTH_SCALE("1", true, 0), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_SQDIST,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = exponential_compile,
    .map = matern_map,
    .map_f32 = matern_map_f32,
    .free = {{.name = "length_scale", .power = -2}},
    .both = matern_both,
    .sample = km_sample_student,
};

static const KmKernelType matern = {
    .signature = {.name = "matern", .what = "kernel",
                  .params = {KM_PARAM_POSITIVE("nu", "1.5"), KM_PARAM_LENGTH_SCALE("1", true, 0),
                             KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_SQDIST,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = matern_compile,
    .map = matern_map,
    .map_f32 = matern_map_f32,
    .free = {{.name = "length_scale", .power = -2}},
    .both = matern_both,
    .sample = km_sample_student,
};

const KmKernelType *const km_kernels_matern[] = {&exponential, &matern, NULL};
