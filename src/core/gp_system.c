/*
 * gp_system.c: the covariance matrix of a Gaussian process's rows, its factor and the marginal likelihood;
 * what its models keep.
 */
#include "gp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blas.h"
#include "cholesky.h"
#include "columns.h"
#include "gram.h"

/* ---- the system ---- */

KmStatus
km_gp_open(KmContext *ctx, const KmTable *table, bool center, KmGpSystem *out)
{
    size_t n = table->n;
    KmColumns columns;

    *out = (KmGpSystem) {.table = table};
    if (center)
    {
        KM_TRY(km_columns_summarise(ctx, n, 1, table->y, table->w, &columns));
        out->intercept = columns.mean[0];
    }
    KM_TRY(km_alloc(ctx, n, &out->residual));
    KM_TRY(km_alloc(ctx, n, &out->alpha));
    KM_TRY(km_alloc_bytes(ctx, n, n * sizeof *out->a, (void **) &out->a));
    for (size_t i = 0; i < n; i++)
        out->residual[i] = table->y[i] - out->intercept;
    return KM_OK;
}

/* A, also to write it again for more jitter (KmRefill).  A white kernel is in K once already. */
static KmStatus
fill(KmContext *ctx, void *state, double *a)
{
    const KmGpSystem *system = state;
    size_t n = system->table->n;
    double white = km_kernel_white(system->kernel);

    KM_TRY(km_gram_fill(ctx, system->kernel, system->points, false, n, a));
    for (size_t i = 0; i < n; i++)
    {
        double w = km_table_weight(system->table, i);

        a[i * n + i] += system->noise / w + (white / w - white);
    }
    return KM_OK;
}

static KmStatus
factor(KmContext *ctx, KmGpSystem *system)
{
    size_t n = system->table->n;
    KmStatus status;

    system->jitter = 0.0;
    KM_TRY(fill(ctx, system, system->a));
    if (system->noise + km_kernel_white(system->kernel) > 0.0)
        return km_cholesky_factor_jitter(ctx, n, n, system->a, fill, system, &system->jitter);
    status = km_cholesky_factor_strict(ctx, n, n, system->a);
    if (status != KM_SINGULAR)
        return status;
    km_detail(ctx, KM_SINGULAR,
              "Rows that repeat, or that the kernel cannot tell apart, cannot have values without noise.");
    return km_hint(ctx, KM_SINGULAR, "Use noise > 0.");
}

KmStatus
km_gp_solve(KmContext *ctx, KmGpSystem *system)
{
    size_t n = system->table->n;

    km_points_free(ctx, system->points);
    system->points = NULL;
    KM_TRY(km_points_create(ctx, system->kernel, n, system->table->d, system->table->x, NULL,
                            &system->points));
    KM_TRY(factor(ctx, system));
    memcpy(system->alpha, system->residual, n * sizeof *system->alpha);
    KM_TRY(km_cholesky_solve(ctx, n, n, system->a, 1, 1, system->alpha));
    KM_TRY(km_matrix_check_finite(ctx, n, 1, 1, system->alpha, "gaussian process: the coefficients"));
    system->likelihood = -0.5 * cblas_ddot(n, system->residual, 1, system->alpha, 1) -
        0.5 * km_cholesky_logdet(n, n, system->a) - 0.5 * (double) n * KM_LOG_2PI;
    return KM_OK;
}

/* ---- sizes, models ---- */

KmStatus
km_gp_check_size(KmContext *ctx, const KmTable *table, const KmGpSize *size)
{
    double n = (double) table->n, d = (double) table->d;
    double model_bytes = 8.0 * n * (d + 2.0 + (size->factor ? (n + 1.0) / 2.0 : 0.0));
    char what[64];

    if (model_bytes > (double) KM_MODEL_MAX_BYTES)
    {
        km_fail(ctx, KM_LIMIT,
                "a Gaussian process model of %zu rows and %zu features would have %.0f bytes, the limit "
                "is %zu", table->n, table->d, model_bytes, KM_MODEL_MAX_BYTES);
        return km_hint(ctx, KM_LIMIT, "%s", size->model_hint);
    }
    snprintf(what, sizeof what, "a Gaussian process on %zu rows", table->n);
    return km_reserve(ctx, 8.0 * n * (3.0 * d + size->work), what, size->memory_hint);
}

KmStatus
km_gp_add_arrays(KmContext *ctx, const KmTable *table, double *coef, double *factor, KmModel *model)
{
    size_t n = table->n;
    double *rows;

    KM_TRY(km_alloc_bytes(ctx, n, table->d * sizeof *rows, (void **) &rows));
    memcpy(rows, table->x, n * table->d * sizeof *rows);
    KM_TRY(km_model_add_array(ctx, model, "rows", n, table->d, rows));
    KM_TRY(km_model_add_array(ctx, model, "coef", n, 1, coef));
    if (factor == NULL)
        return KM_OK;
    km_triangle_pack(n, factor);
    km_shrink(ctx, factor, n * (n + 1) / 2 * sizeof *factor);
    return km_model_add_tail(ctx, model, "factor", 1, n * (n + 1) / 2, factor);
}
