/*
 * draws.c: samples of Gaussian processes, by a pivoted Cholesky factorisation (Higham, Accuracy and
 * Stability of Numerical Algorithms, 2nd ed., section 10.3).
 */
#include "draws.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blas.h"
#include "gram.h"
#include "random.h"

/* A covariance of m rows and its factor: C = L L' with rank <= m columns, rows in the order given. */
typedef struct Covariance
{
    size_t m, rank;
    double *c;                  /* m x m, lower triangle */
    double *left;               /* m: what is left of the diagonal */
    double *factor;             /* m x m: column k at factor + k m */
} Covariance;

/* ---- the factor ---- */

static double
element(const Covariance *covariance, size_t i, size_t j)
{
    return covariance->c[i >= j ? i * covariance->m + j : j * covariance->m + i];
}

/* The next column, for pivot p: (C_ip - sum_k L_ik L_pk) / sqrt(left_p). */
static void
add_column(Covariance *covariance, size_t p)
{
    size_t m = covariance->m, rank = covariance->rank;
    double *column = covariance->factor + rank * m, root = sqrt(covariance->left[p]);

    for (size_t i = 0; i < m; i++)
        column[i] = element(covariance, i, p);
    if (rank > 0)
        cblas_dgemv(CblasRowMajor, CblasTrans, rank, m, -1.0, covariance->factor, m,
                    covariance->factor + p, m, 1.0, column, 1);
    for (size_t i = 0; i < m; i++)
    {
        column[i] = covariance->left[i] > 0.0 ? column[i] / root : 0.0;
        covariance->left[i] -= column[i] * column[i];
    }
    column[p] = root;
    covariance->left[p] = 0.0;
    covariance->rank++;
}

static size_t
largest(size_t m, const double *values)
{
    size_t best = 0;

    for (size_t i = 1; i < m; i++)
        if (values[i] > values[best])
            best = i;
    return best;
}

/* What is left of the diagonal may be less than nothing by rounding only. */
static KmStatus
check_semidefinite(KmContext *ctx, double scale, const Covariance *covariance)
{
    for (size_t i = 0; i < covariance->m; i++)
        if (!(covariance->left[i] >= -1e-8 * scale))
            return km_fail(ctx, KM_SINGULAR, "the covariance of the %zu rows is not positive semidefinite",
                           covariance->m);
    return KM_OK;
}

/* scale: of the numbers that the covariance was computed from; what is left below their rounding is noise. */
static KmStatus
factor(KmContext *ctx, double scale, Covariance *covariance)
{
    size_t m = covariance->m;
    double least = (double) m * DBL_EPSILON * scale;

    for (size_t i = 0; i < m; i++)
        covariance->left[i] = covariance->c[i * m + i];
    while (covariance->rank < m)
    {
        size_t pivot = largest(m, covariance->left);

        KM_TRY(km_poll(ctx));
        if (!(covariance->left[pivot] > least))
            break;
        add_column(covariance, pivot);
    }
    return check_semidefinite(ctx, scale, covariance);
}

static KmStatus
covariance_create(KmContext *ctx, size_t m, Covariance *out)
{
    char what[64];

    snprintf(what, sizeof what, "sampling at %zu rows", m);
    KM_TRY(km_reserve(ctx, 16.0 * (double) m * (double) m, what, "Sample at fewer rows."));
    *out = (Covariance) {.m = m};
    KM_TRY(km_alloc_bytes(ctx, m, m * sizeof(double), (void **) &out->c));
    KM_TRY(km_alloc_bytes(ctx, m, m * sizeof(double), (void **) &out->factor));
    return km_alloc(ctx, m, &out->left);
}

/* ---- draws ---- */

/* out (draws x m) = mean + draws; mean may be NULL. */
static KmStatus
draw(KmContext *ctx, const Covariance *covariance, const double *mean, size_t draws, uint64_t seed,
     double *out)
{
    size_t m = covariance->m, rank = covariance->rank;
    double *normals;

    KM_TRY(km_alloc(ctx, m, &normals));
    for (size_t s = 0; s < draws; s++)
    {
        double *row = out + s * m;

        KM_TRY(km_poll(ctx));
        km_random_normal(seed, s, 0, rank, normals);
        for (size_t i = 0; i < m; i++)
            row[i] = mean == NULL ? 0.0 : mean[i];
        if (rank > 0)
            cblas_dgemv(CblasRowMajor, CblasTrans, rank, m, 1.0, covariance->factor, m, normals, 1, 1.0,
                        row, 1);
    }
    km_free(ctx, normals);
    return KM_OK;
}

static double
largest_diagonal(const Covariance *covariance)
{
    double most = 0.0;

    for (size_t i = 0; i < covariance->m; i++)
        most = fmax(most, covariance->c[i * covariance->m + i]);
    return most;
}

KmStatus
km_draws_prior(KmContext *ctx, const KmKernel *kernel, size_t m, size_t d, const double *x, size_t draws,
               uint64_t seed, double *out)
{
    Covariance covariance;
    KmPoints *points;

    KM_TRY(covariance_create(ctx, m, &covariance));
    KM_TRY(km_points_create(ctx, kernel, m, d, x, NULL, &points));
    KM_TRY(km_gram_fill(ctx, kernel, points, false, m, covariance.c));
    KM_TRY(factor(ctx, largest_diagonal(&covariance), &covariance));
    return draw(ctx, &covariance, NULL, draws, seed, out);
}

KmStatus
km_draws_posterior(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x, size_t draws,
                   uint64_t seed, double *out)
{
    size_t d = scorer->steps.d_out;
    double *z, *mean, scale;
    Covariance covariance;

    if (scorer->score.posterior == NULL)
        return km_fail(ctx, KM_UNSUPPORTED, "%s has no draws; a Gaussian process has",
                       km_learner_name(scorer->learner));
    KM_TRY(covariance_create(ctx, m, &covariance));
    KM_TRY(km_alloc_bytes(ctx, m, d * sizeof *z, (void **) &z));
    KM_TRY(km_alloc(ctx, m, &mean));
    KM_TRY(km_scorer_transform(ctx, scorer, m, x, z));
    KM_TRY(km_posterior_covariance(ctx, scorer->score.posterior, m, z, mean, covariance.c, &scale));
    KM_TRY(factor(ctx, scale, &covariance));
    return draw(ctx, &covariance, mean, draws, seed, out);
}
