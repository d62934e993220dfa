/*
 * kernel_spectrum.c: frequencies drawn from the spectral density of stationary kernels, k(r) = E cos<w, r>
 * (Rahimi, Recht 2007; matern: Rasmussen, Williams 2006, section 4.2.1).
 *
 * Frequencies belong to the leaf's own rows (km_leaf_rows), so lengths for single columns and metrics need
 * nothing here.  Number i of a leaf's stream depends on seed and leaf only, and vmath.h makes the same bits
 * everywhere.
 */
#include "kernel_types.h"
#include "random.h"
#include "sizes.h"
#include "vmath.h"

#include <math.h>

#define PI 3.14159265358979323846
#define CHUNK 1024              /* numbers between polls */

/* Streams of a seed, some for each leaf, away from the small numbers that others use. */
typedef enum Stream { STREAM_COORDINATES, STREAM_GAMMA_NORMALS, STREAM_GAMMA_UNIFORMS } Stream;

uint64_t
km_leaf_stream(const KmLeaf *leaf, unsigned s)
{
    return (UINT64_C(0x73706563) << 32) + KM_STREAMS * leaf->index + s;
}

KmStatus
km_leaf_normals(KmContext *ctx, const KmLeaf *leaf, unsigned s, uint64_t seed, size_t n, double *out)
{
    for (size_t i = 0; i < n; i += CHUNK)
    {
        KM_TRY(km_poll(ctx));
        km_random_normal(seed, km_leaf_stream(leaf, s), i, min_size(n - i, CHUNK), out + i);
    }
    return KM_OK;
}

/* ---- gamma variates (Marsaglia, Tsang 2000) ---- */

#define ATTEMPTS 64             /* each succeeds with probability > 0.95 */

/* Number i of shape >= 1. */
static double
gamma_variate(const KmLeaf *leaf, uint64_t seed, double shape, size_t i)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);

    for (uint64_t t = i * ATTEMPTS; t < (i + 1) * ATTEMPTS; t++)
    {
        double normal, u = km_random_uniform(seed, km_leaf_stream(leaf, STREAM_GAMMA_UNIFORMS), t), root, v;

        km_random_normal(seed, km_leaf_stream(leaf, STREAM_GAMMA_NORMALS), t, 1, &normal);
        root = 1 + c * normal;
        v = root * root * root;
        if (root > 0 && km_log1(u) < normal * normal / 2 + d - d * v + d * km_log1(v))
            return d * v;
    }
    return d;
}

/* A root of a gamma variate for each row.  The shape below 1 is one more, times uniform^(1/shape). */
static double
gamma_root(const KmLeaf *leaf, uint64_t seed, double shape, size_t i)
{
    uint64_t last = (i + 1) * ATTEMPTS - 1;
    double u;

    if (shape >= 1)
        return sqrt(gamma_variate(leaf, seed, shape, i));
    u = km_random_uniform(seed, km_leaf_stream(leaf, STREAM_GAMMA_UNIFORMS), last);
    return sqrt(gamma_variate(leaf, seed, shape + 1, i)) * km_exp1(km_log1(u) / (2 * shape));
}

/* ---- samplers ---- */

/* exp(-gamma |r|^2): normal of variance 2 gamma in each coordinate. */
KmStatus
km_sample_normal(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d, double *w)
{
    double deviation = sqrt(2 * leaf->p[0]);

    KM_TRY(km_leaf_normals(ctx, leaf, STREAM_COORDINATES, seed, m * d, w));
    for (size_t i = 0; i < m * d; i++)
        w[i] *= deviation;
    return KM_OK;
}

/* exp(-gamma |r|_1): Cauchy of scale gamma in each coordinate, gamma tan(pi (u - 1/2)). */
KmStatus
km_sample_cauchy(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d, double *w)
{
    double cosine[CHUNK];

    for (size_t i = 0; i < m * d; i += CHUNK)
    {
        size_t n = min_size(m * d - i, CHUNK);

        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j < n; j++)
            w[i + j] = PI * (km_random_uniform(seed, km_leaf_stream(leaf, STREAM_COORDINATES), i + j) - 0.5);
        km_sincos(n, w + i, w + i, cosine);
        for (size_t j = 0; j < n; j++)
            w[i + j] *= leaf->p[0] / cosine[j];
    }
    return KM_OK;
}

/* Normal rows, each times the factor and times (or divided by) the root of a gamma variate. */
static KmStatus
sample_scaled(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, double shape, double factor, bool divide,
              size_t m, size_t d, double *w)
{
    KM_TRY(km_leaf_normals(ctx, leaf, STREAM_COORDINATES, seed, m * d, w));
    for (size_t i = 0; i < m; i++)
    {
        double root = gamma_root(leaf, seed, shape, i);

        if (i % CHUNK == 0)
            KM_TRY(km_poll(ctx));
        for (size_t k = 0; k < d; k++)
            w[i * d + k] *= factor * (divide ? 1 / root : root);
    }
    return KM_OK;
}

/* exp(-u G) averaged over a gamma variate G of shape alpha is (1 + u)^-alpha. */
KmStatus
km_sample_mixed(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d, double *w)
{
    return sample_scaled(ctx, leaf, seed, leaf->p[1], sqrt(2 * leaf->p[0]), false, m, d, w);
}

/* matern and exponential: multivariate t of 2 nu degrees of freedom, a normal vector over the root of a
 * chi-square, which is twice a gamma variate of shape nu. */
KmStatus
km_sample_student(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d, double *w)
{
    return sample_scaled(ctx, leaf, seed, leaf->p[3], leaf->p[0] * sqrt(0.5), true, m, d, w);
}
