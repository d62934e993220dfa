/*
 * kernel_periodic.c: kernels of the phases of x - z: periodic (MacKay 1998), wave, spectral_mixture (Wilson,
 * Adams 2013).  pairs() goes column by column over many rows z, for the sake of km_sincos.
 */
#include "kernel_types.h"
#include "random.h"
#include "vmath.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* out[j] = factor (x - z_jk), column k of rows of d columns. */
static void
phases(double factor, size_t d, double x, size_t n, const double *z, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = factor * (x - z[j * d]);
}

/* ---- periodic: exp(-2 v), v = sum_k sin^2(pi r_k / period) / length_k^2; p[0] = pi / period ---- */

/* own: one length for all columns, or one for each. */
static KmStatus
periodic_compile(KmContext *ctx, KmLeaf *leaf)
{
    const KmValue *length = km_arg(&leaf->args, "length_scale");
    bool is_list = length->kind == KM_KIND_LIST;
    size_t n = is_list ? length->rows : 1;
    double *rate;

    KM_TRY(km_alloc(ctx, n, &rate));
    for (size_t k = 0; k < n; k++)
    {
        double value = is_list ? length->list[k] : length->number;

        rate[k] = 1 / (value * value);
        if (!(rate[k] > 0 && rate[k] <= DBL_MAX))
            return km_fail(ctx, KM_INVALID, "%s: length_scale = %g is too far from 1 for double precision",
                           leaf->type->signature.name, value);
    }
    leaf->own = rate;
    leaf->width = is_list ? n : 0;
    leaf->width_of = "length_scale";
    return km_leaf_set_rate(ctx, leaf, "period", PI / km_arg_number(&leaf->args, "period"));
}

static double
periodic_rate(const KmLeaf *leaf, size_t k)
{
    return ((const double *) leaf->own)[leaf->width > 0 ? k : 0];
}

static void
periodic_pairs(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, double *out)
{
    double sine[KM_MAX_PAIRS], cosine[KM_MAX_PAIRS];

    memset(out, 0, n * sizeof *out);
    for (size_t k = 0; k < d; k++)
    {
        phases(leaf->p[0], d, x[k], n, z + k, sine);
        km_sincos(n, sine, sine, cosine);
        for (size_t j = 0; j < n; j++)
            out[j] += sine[j] * sine[j] * periodic_rate(leaf, k);
    }
}

static void
periodic_map(const KmLeaf *leaf, size_t n, double *v)
{
    (void) leaf;
    km_exp_rate(n, -2, v, v);
}

static void
periodic_slope(const KmLeaf *leaf, size_t n, const double *v, const double *k, double *out)
{
    (void) leaf;
    (void) v;
    for (size_t j = 0; j < n; j++)
        out[j] = -2 * k[j];
}

/* -sin(2 phase) phase / (length^2 period) */
static void
periodic_period(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, const double *a,
                double *g)
{
    double phase[KM_MAX_PAIRS], sine[KM_MAX_PAIRS], cosine[KM_MAX_PAIRS];
    double period = km_arg_number(&leaf->args, "period");

    for (size_t k = 0; k < d; k++)
    {
        phases(leaf->p[0], d, x[k], n, z + k, phase);
        km_sincos(n, phase, sine, cosine);
        for (size_t j = 0; j < n; j++)
            *g -= a[j] * 2 * sine[j] * cosine[j] * phase[j] * periodic_rate(leaf, k) / period;
    }
}

/* -2 sin^2(phase) / length^3 */
static void
periodic_length(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, const double *a,
                double *g)
{
    double sine[KM_MAX_PAIRS], cosine[KM_MAX_PAIRS];

    for (size_t k = 0; k < d; k++)
    {
        double rate = periodic_rate(leaf, k), sum = 0;

        phases(leaf->p[0], d, x[k], n, z + k, sine);
        km_sincos(n, sine, sine, cosine);
        for (size_t j = 0; j < n; j++)
            sum += a[j] * sine[j] * sine[j];
        g[leaf->width > 0 ? k : 0] -= 2 * sum * rate * sqrt(rate);
    }
}

static const KmKernelType periodic = {
    .signature = {.name = "periodic", .what = "kernel",
                  .params = {KM_PARAM_POSITIVE("period", "1"),
                             {.name = "length_scale", .kinds = KM_KIND_NUMBER | KM_KIND_LIST, .standard = "1",
                              .min = 0, .max = DBL_MAX, .open = true, .grid = true, .positional = true},
                             KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_ROWS,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = periodic_compile,
    .pairs = periodic_pairs,
    .map = periodic_map,
    .free = {{.name = "period", .rows = periodic_period}, {.name = "length_scale", .rows = periodic_length}},
    .slope = periodic_slope,
};

/* ---- wave: cos(2 pi sum_k r_k / period); p[0] = 2 pi / period.  The cosine of |r| is indefinite. ---- */

static KmStatus
wave_compile(KmContext *ctx, KmLeaf *leaf)
{
    return km_leaf_set_rate(ctx, leaf, "period", 2 * PI / km_arg_number(&leaf->args, "period"));
}

static void
sum_differences(size_t d, const double *x, size_t n, const double *z, double *out)
{
    for (size_t j = 0; j < n; j++)
    {
        out[j] = 0;
        for (size_t k = 0; k < d; k++)
            out[j] += x[k] - z[j * d + k];
    }
}

static void
wave_pairs(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, double *out)
{
    double sine[KM_MAX_PAIRS];

    sum_differences(d, x, n, z, out);
    for (size_t j = 0; j < n; j++)
        out[j] *= leaf->p[0];
    km_sincos(n, out, sine, out);
}

/* sin(phase) phase / period */
static void
wave_period(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, const double *a,
            double *g)
{
    double phase[KM_MAX_PAIRS], sine[KM_MAX_PAIRS], cosine[KM_MAX_PAIRS];

    sum_differences(d, x, n, z, phase);
    for (size_t j = 0; j < n; j++)
        phase[j] *= leaf->p[0];
    km_sincos(n, phase, sine, cosine);
    for (size_t j = 0; j < n; j++)
        *g += a[j] * sine[j] * phase[j] / km_arg_number(&leaf->args, "period");
}

static const KmKernelType wave = {
    .signature = {.name = "wave", .what = "kernel",
                  .params = {KM_PARAM_POSITIVE("period", "1"), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_ROWS,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = wave_compile,
    .pairs = wave_pairs,
    .free = {{.name = "period", .rows = wave_period}},
};

/* ---- spectral_mixture: sum_q w_q prod_k exp(-2 pi^2 r_k^2 v_qk) cos(2 pi r_k mu_qk) ---- */

/* own: q components of d columns. */
typedef struct Mixture
{
    size_t q, d;
    const double *weight, *mean, *variance;     /* q; q x d; q x d */
} Mixture;

static KmStatus
mixture_compile(KmContext *ctx, KmLeaf *leaf)
{
    const KmValue *weights = km_arg(&leaf->args, "weights"), *means = km_arg(&leaf->args, "means");
    const KmValue *variances = km_arg(&leaf->args, "variances");
    Mixture *mixture;

    if (means->rows != weights->rows || variances->rows != weights->rows ||
        variances->columns != means->columns)
        return km_fail(ctx, KM_INVALID,
                       "spectral_mixture has %zu weights, means of %zu x %zu and variances of %zu x %zu",
                       weights->rows, means->rows, means->columns, variances->rows, variances->columns);
    KM_TRY(km_alloc(ctx, 1, &mixture));
    *mixture = (Mixture) {weights->rows, means->columns, weights->list, means->list, variances->list};
    leaf->own = mixture;
    leaf->width = mixture->d;
    leaf->width_of = "means";
    return KM_OK;
}

/* What the factor of column k in component q and its derivatives are made of: c = cos and, in s, the sine of
 * 2 pi r mu, e = exp(-2 pi^2 r^2 v), r. */
typedef struct Factor
{
    double r[KM_MAX_PAIRS], e[KM_MAX_PAIRS], s[KM_MAX_PAIRS], c[KM_MAX_PAIRS];
} Factor;

static void
factor_fill(const Mixture *mixture, size_t q, size_t k, const double *x, size_t n, const double *z, Factor *f)
{
    double mean = mixture->mean[q * mixture->d + k], variance = mixture->variance[q * mixture->d + k];

    phases(1, mixture->d, x[k], n, z + k, f->r);
    for (size_t j = 0; j < n; j++)
    {
        f->s[j] = 2 * PI * mean * f->r[j];
        f->e[j] = -2 * PI * PI * variance * f->r[j] * f->r[j];
    }
    km_sincos(n, f->s, f->s, f->c);
    km_exp(n, f->e, f->e);
}

/* out *= the factors of all columns but one (skip; SIZE_MAX: of all). */
static void
multiply_factors(const Mixture *mixture, size_t q, size_t skip, const double *x, size_t n, const double *z,
                 double *out)
{
    Factor f;

    for (size_t k = 0; k < mixture->d; k++)
    {
        if (k == skip)
            continue;
        factor_fill(mixture, q, k, x, n, z, &f);
        for (size_t j = 0; j < n; j++)
            out[j] *= f.e[j] * f.c[j];
    }
}

static void
fill(size_t n, double value, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = value;
}

static void
mixture_pairs(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, double *out)
{
    const Mixture *mixture = leaf->own;
    double part[KM_MAX_PAIRS];

    (void) d;
    fill(n, 0, out);
    for (size_t q = 0; q < mixture->q; q++)
    {
        fill(n, mixture->weight[q], part);
        multiply_factors(mixture, q, SIZE_MAX, x, n, z, part);
        for (size_t j = 0; j < n; j++)
            out[j] += part[j];
    }
}

static void
mixture_weights(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, const double *a,
                double *g)
{
    const Mixture *mixture = leaf->own;
    double part[KM_MAX_PAIRS];

    (void) d;
    for (size_t q = 0; q < mixture->q; q++)
    {
        memcpy(part, a, n * sizeof *part);
        multiply_factors(mixture, q, SIZE_MAX, x, n, z, part);
        for (size_t j = 0; j < n; j++)
            g[q] += part[j];
    }
}

/* Derivatives of each factor, times the others. */
static void
mixture_factors(const KmLeaf *leaf, bool by_mean, const double *x, size_t n, const double *z, const double *a,
                double *g)
{
    const Mixture *mixture = leaf->own;
    double part[KM_MAX_PAIRS];
    Factor f;

    for (size_t q = 0; q < mixture->q; q++)
    {
        for (size_t k = 0; k < mixture->d; k++)
        {
            fill(n, mixture->weight[q], part);
            multiply_factors(mixture, q, k, x, n, z, part);
            factor_fill(mixture, q, k, x, n, z, &f);
            for (size_t j = 0; j < n; j++)
                g[q * mixture->d + k] -= a[j] * part[j] * f.e[j] * 2 * PI * f.r[j] *
                    (by_mean ? f.s[j] : PI * f.r[j] * f.c[j]);
        }
    }
}

static void
mixture_means(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, const double *a,
              double *g)
{
    (void) d;
    mixture_factors(leaf, true, x, n, z, a, g);
}

static void
mixture_variances(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, const double *a,
                  double *g)
{
    (void) d;
    mixture_factors(leaf, false, x, n, z, a, g);
}

/* A component drawn by its weight; cosines of single columns multiply, so each column has a sign of its
 * own: w_k = 2 pi (+-mu_k + sqrt(v_k) normal). */
static KmStatus
mixture_sample(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d, double *w)
{
    const Mixture *mixture = leaf->own;
    double total = 0;

    for (size_t q = 0; q < mixture->q; q++)
        total += mixture->weight[q];
    KM_TRY(km_leaf_normals(ctx, leaf, 0, seed, m * d, w));
    for (size_t i = 0; i < m; i++)
    {
        double left = total * km_random_uniform(seed, km_leaf_stream(leaf, 1), i);
        size_t q = 0;

        while (q + 1 < mixture->q && left > mixture->weight[q])
            left -= mixture->weight[q++];
        for (size_t k = 0; k < d; k++)
        {
            double mean = mixture->mean[q * d + k];
            bool negative = km_random_bits(seed, km_leaf_stream(leaf, 2), i * d + k) & 1;

            w[i * d + k] *= sqrt(mixture->variance[q * d + k]);
            w[i * d + k] = 2 * PI * (w[i * d + k] + (negative ? -mean : mean));
        }
    }
    return KM_OK;
}

#define PARAM_TABLE(title, forms, least) \
    {.name = title, .kinds = forms, .min = least, .max = DBL_MAX, .positional = true, .required = true}

static const KmKernelType spectral_mixture = {
    .signature = {.name = "spectral_mixture", .what = "kernel",
                  .params = {PARAM_TABLE("weights", KM_KIND_LIST, 0),
                             PARAM_TABLE("means", KM_KIND_LIST | KM_KIND_MATRIX, -DBL_MAX),
                             PARAM_TABLE("variances", KM_KIND_LIST | KM_KIND_MATRIX, 0), KM_PARAM_DIMS}},
    .geometry = KM_GEOMETRY_ROWS,
    .flags = KM_STATIONARY | KM_BOUNDED | KM_PSD,
    .compile = mixture_compile,
    .pairs = mixture_pairs,
    .free = {{.name = "weights", .rows = mixture_weights},
             {.name = "means", .plain = true, .rows = mixture_means},
             {.name = "variances", .rows = mixture_variances}},
    .sample = mixture_sample,
};

const KmKernelType *const km_kernels_periodic[] = {&periodic, &wave, &spectral_mixture, NULL};
