/*
 * posterior.c: mean and variance of a Gaussian process at new rows.
 */
#include "posterior.h"

#include <math.h>
#include <string.h>

#include "blas.h"
#include "gram.h"
#include "sizes.h"
#include "triangle.h"

/* Rows of the factor between two polls: 24 query rows against 64 rows of 10,000 are 15 Mflop. */
#define ROWS_PER_POLL ((size_t) 64)
/* New rows in one triangular solve with many right-hand sides. */
#define BATCH ((size_t) 512)
/* Edge of the tiles in which a covariance is updated. */
#define TILE ((size_t) 1024)

struct KmPosterior
{
    const KmKernel *kernel;
    KmTarget *target;
    size_t n, d, stride;
    const double *rows;         /* n x d */
    const double *coef;         /* n */
    double intercept;
    KmTriangle factor;          /* no rows: no variances */
    const double *scales;       /* n; NULL: ones */
    double *values;             /* KM_SCORE_ROWS x stride */
    double *self;               /* KM_SCORE_ROWS */
};

/* ---- packed triangles ---- */

static size_t
packed_row(size_t i)
{
    return i * (i + 1) / 2;
}

void
km_triangle_pack(size_t n, double *a)
{
    for (size_t i = 1; i < n; i++)
        memmove(a + packed_row(i), a + i * n, (i + 1) * sizeof *a);
}

/* ---- making ready ---- */

static KmStatus
check_factor(KmContext *ctx, size_t n, const double *factor)
{
    for (size_t i = 0; i < n; i++)
        if (!(factor[packed_row(i) + i] > 0.0))
            return km_fail(ctx, KM_CORRUPT, "diagonal element %zu of its factor is not positive", i + 1);
    return KM_OK;
}

static KmStatus
load(KmContext *ctx, const KmModel *model, size_t d, KmPosterior *posterior)
{
    const KmArray *rows, *coef, *intercept, *factor, *scales;
    size_t n;

    KM_TRY(km_model_expect(ctx, model, "rows", SIZE_MAX, d, &rows));
    n = rows->rows;
    if (n == 0)
        return km_fail(ctx, KM_CORRUPT, "model has no rows");
    KM_TRY(km_model_expect(ctx, model, "coef", n, 1, &coef));
    *posterior = (KmPosterior) {.n = n, .d = d, .rows = rows->data, .coef = coef->data};
    if (km_model_array(model, "intercept") != NULL)
    {
        KM_TRY(km_model_expect(ctx, model, "intercept", 1, 1, &intercept));
        posterior->intercept = intercept->data[0];
    }
    if (km_model_array(model, "scales") != NULL)
    {
        KM_TRY(km_model_expect(ctx, model, "scales", n, 1, &scales));
        posterior->scales = scales->data;
    }
    if (km_model_array(model, "factor") == NULL)
        return KM_OK;
    KM_TRY(km_model_expect(ctx, model, "factor", 1, packed_row(n), &factor));
    KM_TRY(check_factor(ctx, n, factor->data));
    return km_triangle_create(ctx, n, factor->data, &posterior->factor);
}

KmStatus
km_posterior_create(KmContext *ctx, const KmKernel *kernel, const KmModel *model, size_t d, KmPosterior **out)
{
    KmPosterior *posterior;

    KM_TRY(km_alloc(ctx, 1, &posterior));
    KM_TRY(load(ctx, model, d, posterior));
    posterior->kernel = kernel;
    KM_TRY(km_target_create(ctx, kernel, posterior->n, d, posterior->rows, &posterior->target));
    posterior->stride = km_target_stride(posterior->target);
    KM_TRY(km_alloc_bytes(ctx, posterior->stride, KM_SCORE_ROWS * sizeof(double),
                          (void **) &posterior->values));
    KM_TRY(km_alloc(ctx, KM_SCORE_ROWS, &posterior->self));
    *out = posterior;
    return KM_OK;
}

static KmStatus
require_factor(KmContext *ctx, const KmPosterior *posterior)
{
    if (posterior->factor.rows != NULL)
        return KM_OK;
    km_fail(ctx, KM_UNSUPPORTED, "the model keeps no factor, so it has no variances");
    return km_hint(ctx, KM_UNSUPPORTED,
                   posterior->scales == NULL ? "Fit it with variance=true." : "Fit it again.");
}

/* A variance that rounding made negative is 0; NaN stays NaN. */
static double
clamp(double variance)
{
    return variance < 0.0 ? 0.0 : variance;
}

/* ---- scoring ---- */

static double
mean_of(const KmPosterior *posterior, const double *values)
{
    return posterior->intercept + km_dot_fixed(posterior->n, values, posterior->coef);
}

KmStatus
km_posterior_mean(KmContext *ctx, const KmPosterior *posterior, size_t m, const double *z, double *mean)
{
    KM_TRY(km_target_values(ctx, posterior->target, m, z, posterior->stride, posterior->values));
    for (size_t i = 0; i < m; i++)
        mean[i] = mean_of(posterior, posterior->values + i * posterior->stride);
    return KM_OK;
}

/* L v = s k in place, for the m rows of values. */
static KmStatus
substitute(KmContext *ctx, const KmPosterior *posterior, size_t m)
{
    const size_t n = posterior->n, stride = posterior->stride;

    for (size_t i = 0; i < m && posterior->scales != NULL; i++)
        for (size_t j = 0; j < n; j++)
            posterior->values[i * stride + j] *= posterior->scales[j];
    for (size_t first = 0; first < n; first += ROWS_PER_POLL)
    {
        KM_TRY(km_poll(ctx));
        km_triangle_substitute(&posterior->factor, first, min_size(n, first + ROWS_PER_POLL), m, stride,
                               posterior->values);
    }
    return KM_OK;
}

KmStatus
km_posterior_moments(KmContext *ctx, const KmPosterior *posterior, size_t m, const double *z, double *out)
{
    const size_t n = posterior->n, stride = posterior->stride;

    KM_TRY(require_factor(ctx, posterior));
    KM_TRY(km_target_self(ctx, posterior->target, m, z, posterior->self));
    KM_TRY(km_target_values(ctx, posterior->target, m, z, stride, posterior->values));
    for (size_t i = 0; i < m; i++)
        out[2 * i] = mean_of(posterior, posterior->values + i * stride);
    KM_TRY(substitute(ctx, posterior, m));
    for (size_t i = 0; i < m; i++)
    {
        const double *v = posterior->values + i * stride;

        out[2 * i + 1] = clamp(posterior->self[i] - km_dot_fixed(n, v, v));
    }
    return KM_OK;
}

/* ---- many rows at once ---- */

/* What the solves of one call share. */
typedef struct Batch
{
    const KmPosterior *posterior;
    KmPoints *stored, *points;  /* the model's rows, and the new ones */
} Batch;

/* For m rows z, `columns` at a time. */
static KmStatus
batch_open(KmContext *ctx, const KmPosterior *posterior, size_t m, const double *z, size_t columns,
           Batch *batch)
{
    size_t n = posterior->n, d = posterior->d;

    KM_TRY(require_factor(ctx, posterior));
    KM_TRY(km_reserve(ctx, 8.0 * (double) n * (double) km_triangle_stride(columns),
                      "the triangular solves for many rows", "Use predict_dist, row by row."));
    *batch = (Batch) {.posterior = posterior};
    KM_TRY(km_points_create(ctx, posterior->kernel, n, d, posterior->rows, NULL, &batch->stored));
    return km_points_create(ctx, posterior->kernel, m, d, z, batch->stored, &batch->points);
}

/* v (n x m, rows ld apart) = L^-1 s k(X, Z) for m rows of points from row j on; their means. */
static KmStatus
batch_solve(KmContext *ctx, const Batch *batch, size_t j, size_t m, size_t ld, double *mean, double *v)
{
    const KmPosterior *posterior = batch->posterior;
    size_t n = posterior->n;

    KM_TRY(km_kernel_tile(ctx, posterior->kernel, batch->stored, 0, n, batch->points, j, m, ld, v));
    for (size_t i = 0; i < n; i++)
        memset(v + i * ld + m, 0, (ld - m) * sizeof *v);
    for (size_t i = 0; i < m; i++)
        mean[i] = posterior->intercept;
    cblas_dgemv(CblasRowMajor, CblasTrans, n, m, 1.0, v, ld, posterior->coef, 1, 1.0, mean, 1);
    for (size_t i = 0; i < n && posterior->scales != NULL; i++)
        cblas_dscal(m, posterior->scales[i], v + i * ld, 1);
    return km_triangle_solve(ctx, &posterior->factor, m, ld, v);
}

/* k(z, z) of any number of rows, as in scoring: without a white kernel. */
static KmStatus
fill_self(KmContext *ctx, const KmPosterior *posterior, size_t m, const double *z, double *out)
{
    for (size_t i = 0; i < m; i += KM_SCORE_ROWS)
        KM_TRY(km_target_self(ctx, posterior->target, min_size(KM_SCORE_ROWS, m - i), z + i * posterior->d,
                              out + i));
    return KM_OK;
}

/* variance[j] -= |column j of v|^2. */
static void
subtract_squares(size_t n, size_t m, size_t ld, const double *v, double *variance)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            variance[j] -= v[i * ld + j] * v[i * ld + j];
}

/* Of m new rows from row j on; z and out are those of row j, workspace has n + 2 rows of ld numbers. */
static KmStatus
batch_moments(KmContext *ctx, const Batch *batch, size_t j, size_t m, size_t ld, const double *z,
              double *workspace, double *out)
{
    const KmPosterior *posterior = batch->posterior;
    double *mean = workspace, *variance = mean + ld, *v = variance + ld;

    KM_TRY(batch_solve(ctx, batch, j, m, ld, mean, v));
    KM_TRY(fill_self(ctx, posterior, m, z, variance));
    subtract_squares(posterior->n, m, ld, v, variance);
    for (size_t i = 0; i < m; i++)
    {
        out[2 * i] = mean[i];
        out[2 * i + 1] = clamp(variance[i]);
    }
    return KM_OK;
}

KmStatus
km_posterior_batch(KmContext *ctx, const KmPosterior *posterior, size_t m, const double *z, double *out)
{
    size_t columns = min_size(BATCH, m), ld = km_triangle_stride(columns);
    double *workspace;
    Batch batch;

    KM_TRY(batch_open(ctx, posterior, m, z, columns, &batch));
    KM_TRY(km_alloc_bytes(ctx, posterior->n + 2, ld * sizeof(double), (void **) &workspace));
    for (size_t j = 0; j < m; j += BATCH)
        KM_TRY(batch_moments(ctx, &batch, j, min_size(BATCH, m - j), ld, z + j * posterior->d, workspace,
                             out + 2 * j));
    km_free(ctx, workspace);
    return KM_OK;
}

/* c (m x m, lower triangle) -= v'v, by tiles short enough to be cancelled in between. */
static KmStatus
subtract_products(KmContext *ctx, size_t n, size_t m, size_t ld, const double *v, double *c)
{
    for (size_t k = 0; k < n; k += TILE)
        for (size_t i = 0; i < m; i += TILE)
        {
            size_t depth = min_size(TILE, n - k), rows = min_size(TILE, m - i);
            const double *left = v + k * ld + i;

            for (size_t j = 0; j < i; j += TILE)
            {
                KM_TRY(km_poll(ctx));
                cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, TILE, depth, -1.0, left, ld,
                            v + k * ld + j, ld, 1.0, c + i * m + j, m);
            }
            KM_TRY(km_poll(ctx));
            cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, rows, depth, -1.0, left, ld, 1.0,
                        c + i * m + i, m);
        }
    return KM_OK;
}

KmStatus
km_posterior_covariance(KmContext *ctx, const KmPosterior *posterior, size_t m, const double *z, double *mean,
                        double *covariance, double *scale)
{
    size_t n = posterior->n, ld = km_triangle_stride(m);
    double *v, *self;
    Batch batch;

    KM_TRY(batch_open(ctx, posterior, m, z, m, &batch));
    KM_TRY(km_alloc_bytes(ctx, n, ld * sizeof *v, (void **) &v));
    KM_TRY(km_alloc(ctx, m, &self));
    KM_TRY(batch_solve(ctx, &batch, 0, m, ld, mean, v));
    KM_TRY(km_gram_fill(ctx, posterior->kernel, batch.points, false, m, covariance));
    KM_TRY(fill_self(ctx, posterior, m, z, self));
    cblas_dcopy(m, self, 1, covariance, m + 1);
    *scale = fabs(self[cblas_idamax(m, self, 1)]);
    KM_TRY(subtract_products(ctx, n, m, ld, v, covariance));
    km_free(ctx, self);
    km_free(ctx, v);
    return KM_OK;
}
