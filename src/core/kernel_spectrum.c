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
#include "vmath.h"

#include <math.h>

#define PI 3.14159265358979323846
#define CHUNK 1024              /* numbers between polls */

/* Streams of a seed, two for each leaf, away from the small numbers that others use. */
typedef enum Stream { STREAM_COORDINATES, STREAM_LENGTHS } Stream;

static uint64_t stream_of(const KmLeaf *leaf, Stream stream)
{
    return (UINT64_C(0x73706563) << 32) + 2 * leaf->index + stream;
}

static KmStatus normals(KmContext *ctx, const KmLeaf *leaf, Stream stream, uint64_t seed, size_t n,
                        double *out)
{
    for (size_t i = 0; i < n; i += CHUNK)
    {
        KM_TRY(km_poll(ctx));
        km_random_normal(seed, stream_of(leaf, stream), i, n - i < CHUNK ? n - i : CHUNK, out + i);
    }
    return KM_OK;
}

/* exp(-gamma |r|^2): normal of variance 2 gamma in each coordinate. */
KmStatus km_sample_normal(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d, double *w)
{
    double deviation = sqrt(2 * leaf->p[0]);

    KM_TRY(normals(ctx, leaf, STREAM_COORDINATES, seed, m * d, w));
    for (size_t i = 0; i < m * d; i++)
        w[i] *= deviation;
    return KM_OK;
}

/* exp(-gamma |r|_1): Cauchy of scale gamma in each coordinate, gamma tan(pi (u - 1/2)). */
KmStatus km_sample_cauchy(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d, double *w)
{
    double cosine[CHUNK];

    for (size_t i = 0; i < m * d; i += CHUNK)
    {
        size_t n = m * d - i < CHUNK ? m * d - i : CHUNK;

        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j < n; j++)
            w[i + j] = PI * (km_random_uniform(seed, stream_of(leaf, STREAM_COORDINATES), i + j) - 0.5);
        km_sincos(n, w + i, w + i, cosine);
        for (size_t j = 0; j < n; j++)
            w[i + j] *= leaf->p[0] / cosine[j];
    }
    return KM_OK;
}

/* matern and exponential: multivariate t of 2 nu degrees of freedom, a normal vector over the root of a
 * chi-square, itself a sum of 2 nu squared normals. p[0] holds the root of the degrees over the length. */
KmStatus km_sample_student(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d, double *w)
{
    size_t degrees = (size_t) leaf->p[3];
    double *z;

    KM_TRY(km_alloc(ctx, m * degrees, &z));
    KM_TRY(normals(ctx, leaf, STREAM_COORDINATES, seed, m * d, w));
    KM_TRY(normals(ctx, leaf, STREAM_LENGTHS, seed, m * degrees, z));
    for (size_t i = 0; i < m; i++)
    {
        double chi2 = 0;

        for (size_t j = 0; j < degrees; j++)
            chi2 += z[i * degrees + j] * z[i * degrees + j];
        for (size_t k = 0; k < d; k++)
            w[i * d + k] *= leaf->p[0] / sqrt(chi2);
    }
    km_free(ctx, z);
    return KM_OK;
}
