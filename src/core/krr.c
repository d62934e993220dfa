/*
 * krr.c: kernel ridge regression.
 *
 *   minimise  sum_i w_i (y_i - ybar - f(x_i))^2 + lambda |f|^2,   f = sum_i alpha_i k(., x_i),
 * is solved by (K + lambda W^-1) alpha = y - ybar; with S = W^1/2 and A = S K S + lambda I,
 *   A beta = S (y - ybar),   alpha = S beta
 * (Saunders, Gammerman, Vovk 1998).  A whole-number weight counts as repeated rows.
 *
 * Leave-one-out residuals with ybar held fixed are alpha_i / (C^-1)_ii for C = K + lambda W^-1 (Rasmussen and
 * Williams 2006, section 5.4.2), C^-1 = S A^-1 S; effective degrees of freedom are
 * tr K C^-1 = n - lambda tr A^-1; GCV = (RSS/n) / (1 - df/n)^2 with n the sum of the weights (Golub, Heath,
 * Wahba 1979).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cholesky.h"
#include "columns.h"
#include "gram.h"
#include "learner_types.h"

#define MEMORY_HINT "Use rff before ridge, or raise kernelml.max_memory."

/* ---- the system ---- */

typedef struct System
{
    const KmKernel *kernel;
    const KmTable *table;
    KmPoints *points;
    double lambda;
    double *root;               /* n: square roots of the weights; NULL for ones */
    double *a;                  /* n x n, lower triangle: A, then its factor */
    double jitter;              /* what was added to lambda */
} System;

/* A, also to write it again for more jitter (KmRefill). */
static KmStatus
fill_system(KmContext *ctx, void *state, double *a)
{
    const System *system = state;
    size_t n = system->table->n;

    KM_TRY(km_gram_fill(ctx, system->kernel, system->points, false, n, a));
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j <= i && system->root != NULL; j++)
            a[i * n + j] *= system->root[i] * system->root[j];
        a[i * n + i] += system->lambda;
    }
    return KM_OK;
}

static KmStatus
set_roots(KmContext *ctx, System *system)
{
    const KmTable *table = system->table;

    if (table->w == NULL)
        return KM_OK;
    KM_TRY(km_alloc(ctx, table->n, &system->root));
    for (size_t i = 0; i < table->n; i++)
        system->root[i] = sqrt(table->w[i]);
    return KM_OK;
}

/* Without lambda nothing may be added in silence: what the user asked for has no solution. */
static KmStatus
factor_unregularised(KmContext *ctx, System *system)
{
    size_t n = system->table->n, pivot;

    KM_TRY(km_cholesky_factor(ctx, n, n, system->a, &pivot));
    if (pivot == n)
        pivot = km_cholesky_weak_pivot(n, n, system->a);
    if (pivot == n)
        return KM_OK;
    km_fail(ctx, KM_SINGULAR, "kernel matrix of %zu rows is singular: pivot number %zu is not positive", n,
            pivot + 1);
    km_detail(ctx, KM_SINGULAR,
              "Rows that repeat, or that the kernel cannot tell apart, leave no unique solution.");
    return km_hint(ctx, KM_SINGULAR, "Use lambda > 0.");
}

static KmStatus
factor_system(KmContext *ctx, System *system)
{
    size_t n = system->table->n;

    KM_TRY(km_alloc_bytes(ctx, n, n * sizeof *system->a, (void **) &system->a));
    KM_TRY(set_roots(ctx, system));
    KM_TRY(fill_system(ctx, system, system->a));
    if (system->lambda == 0.0)
        return factor_unregularised(ctx, system);
    KM_TRY(km_cholesky_factor_jitter(ctx, n, n, system->a, fill_system, system, &system->jitter));
    if (system->jitter > 0.0)
        km_warn(ctx, "kernel matrix of %zu rows is singular to working precision: %g was added to lambda", n,
                system->jitter);
    return KM_OK;
}

/* ---- the solution ---- */

/* coef (n x n_targets) = W^1/2 A^-1 W^1/2 (y - intercept). */
static KmStatus
solve_targets(KmContext *ctx, const System *system, const double *intercept, double *coef)
{
    const KmTable *table = system->table;
    size_t n = table->n, targets = table->n_targets;

    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < targets; t++)
            coef[i * targets + t] = (table->y[i * targets + t] - intercept[t]) *
                (system->root == NULL ? 1.0 : system->root[i]);
    KM_TRY(km_cholesky_solve(ctx, n, n, system->a, targets, targets, coef));
    for (size_t i = 0; i < n && system->root != NULL; i++)
        for (size_t t = 0; t < targets; t++)
            coef[i * targets + t] *= system->root[i];
    return km_matrix_check_finite(ctx, n, targets, targets, coef, "kernel ridge: the coefficients");
}

static KmStatus
find_intercept(KmContext *ctx, const KmTable *table, bool center, double **out)
{
    KmColumns columns;

    if (!center)
        return km_alloc_zero(ctx, table->n_targets, out);
    KM_TRY(km_columns_summarise(ctx, table->n, table->n_targets, table->y, table->w, &columns));
    *out = columns.mean;
    return KM_OK;
}

/* ---- leave-one-out ---- */

/* Sums over rows and targets, weighted. */
typedef struct Residuals
{
    double weight;              /* of all rows */
    double trace;               /* of A^-1 */
    double rss, loo;            /* of squared residuals, and of those without the row itself */
} Residuals;

/* The residual of row i is lambda alpha_i / w_i. */
static Residuals
sum_residuals(const System *system, const double *coef, const double *inverse_diagonal)
{
    const KmTable *table = system->table;
    double lambda = system->lambda + system->jitter;
    Residuals sums = {0};

    for (size_t i = 0; i < table->n; i++)
    {
        double w = table->w == NULL ? 1.0 : table->w[i];

        sums.weight += w;
        sums.trace += inverse_diagonal[i];
        for (size_t t = 0; t < table->n_targets; t++)
        {
            double scaled = coef[i * table->n_targets + t] / w;

            sums.rss += w * (lambda * scaled) * (lambda * scaled);
            sums.loo += w * (scaled / inverse_diagonal[i]) * (scaled / inverse_diagonal[i]);
        }
    }
    return sums;
}

static KmStatus
add_number(KmContext *ctx, KmModel *model, const char *name, double value)
{
    if (!isfinite(value))
        return km_fail(ctx, KM_RANGE, "kernel ridge: %s is too large for double precision", name);
    return km_model_add_fact(ctx, model, name, KM_FACT_NUMBER, value);
}

/* GCV has no value where the degrees of freedom use up the rows (lambda = 0). */
static KmStatus
add_leave_one_out(KmContext *ctx, const System *system, const double *coef, KmModel *model)
{
    size_t n = system->table->n;
    double *inverse_diagonal, df, left, targets = (double) system->table->n_targets;
    Residuals sums;

    KM_TRY(km_alloc(ctx, n, &inverse_diagonal));
    KM_TRY(km_cholesky_inverse_diagonal(ctx, n, n, system->a, inverse_diagonal));
    sums = sum_residuals(system, coef, inverse_diagonal);
    df = (double) n - (system->lambda + system->jitter) * sums.trace;
    left = 1.0 - df / sums.weight;
    KM_TRY(add_number(ctx, model, "effective_df", df));
    KM_TRY(add_number(ctx, model, "loo_mse", sums.loo / sums.weight / targets));
    if (left > 0.0)
        KM_TRY(add_number(ctx, model, "gcv", sums.rss / sums.weight / targets / (left * left)));
    km_free(ctx, inverse_diagonal);
    return KM_OK;
}

/* ---- fitting ---- */

/* Refuse what would not fit before any work: the model's bytes, then memory. */
static KmStatus
check_size(KmContext *ctx, const KmTable *table)
{
    double n = (double) table->n, d = (double) table->d, targets = (double) table->n_targets;
    double model_bytes = 8.0 * n * (d + targets);
    char what[64];

    if (model_bytes > (double) KM_MODEL_MAX_BYTES)
    {
        km_fail(ctx, KM_LIMIT,
                "a kernel ridge model of %zu rows and %zu features would have %.0f bytes, the limit is %zu",
                table->n, table->d, model_bytes, KM_MODEL_MAX_BYTES);
        return km_hint(ctx, KM_LIMIT, "Fit fewer rows, or put rff before ridge.");
    }
    snprintf(what, sizeof what, "kernel ridge on %zu rows", table->n);
    return km_reserve(ctx, 8.0 * n * (n + 3.0 * d + 2.0 * targets), what, MEMORY_HINT);
}

/* The kernel with numbers for gamma=scale, written back into the estimator's syntax. */
static KmStatus
resolve_kernel(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmKernel **out)
{
    const KmValue *value = km_arg(args, "kernel");
    KmArgs again;

    KM_TRY(km_kernel_compile(ctx, value->node, out));
    KM_TRY(km_kernel_resolve(ctx, *out, table->n, table->d, table->x, table->w));
    if (value->given)
        return KM_OK;
    KM_TRY(km_node_set(ctx, node, "kernel", (*out)->node));
    return km_signature_bind(ctx, args->signature, node, &again);
}

static KmStatus
add_arrays(KmContext *ctx, const KmTable *table, double *intercept, double *coef, KmModel *model)
{
    double *rows;

    KM_TRY(km_alloc_bytes(ctx, table->n, table->d * sizeof *rows, (void **) &rows));
    memcpy(rows, table->x, table->n * table->d * sizeof *rows);
    KM_TRY(km_model_add_array(ctx, model, "rows", table->n, table->d, rows));
    KM_TRY(km_model_add_array(ctx, model, "coef", table->n, table->n_targets, coef));
    return km_model_add_array(ctx, model, "intercept", 1, table->n_targets, intercept);
}

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    System system = {.table = table, .lambda = km_arg_number(args, "lambda")};
    double *intercept, *coef;
    KmKernel *kernel;

    KM_TRY(check_size(ctx, table));
    KM_TRY(resolve_kernel(ctx, args, node, table, &kernel));
    system.kernel = kernel;
    KM_TRY(km_points_create(ctx, kernel, table->n, table->d, table->x, NULL, &system.points));
    KM_TRY(factor_system(ctx, &system));
    KM_TRY(find_intercept(ctx, table, km_arg_number(args, "center") != 0.0, &intercept));
    KM_TRY(km_alloc_bytes(ctx, table->n, table->n_targets * sizeof *coef, (void **) &coef));
    KM_TRY(solve_targets(ctx, &system, intercept, coef));
    KM_TRY(add_arrays(ctx, table, intercept, coef, model));
    if (km_arg_number(args, "loo") != 0.0)
        KM_TRY(add_leave_one_out(ctx, &system, coef, model));
    km_free(ctx, system.a);
    return add_number(ctx, model, "jitter", system.jitter);
}

/* ---- scoring ---- */

typedef struct Scorer
{
    KmTarget *target;
    size_t n, stride;
    const double *intercept;
    double *coef;               /* n_targets x n */
    double *values;             /* KM_SCORE_ROWS x stride */
} Scorer;

static KmStatus
run(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    const Scorer *scorer = score->state;

    KM_TRY(km_target_values(ctx, scorer->target, m, z, scorer->stride, scorer->values));
    for (size_t i = 0; i < m; i++)
        for (size_t t = 0; t < score->n_out; t++)
            out[i * score->n_out + t] = scorer->intercept[t] +
                km_dot_fixed(scorer->n, scorer->values + i * scorer->stride, scorer->coef + t * scorer->n);
    return KM_OK;
}

static KmStatus
transpose_coefficients(KmContext *ctx, const KmArray *coef, Scorer *scorer)
{
    KM_TRY(km_alloc_bytes(ctx, coef->columns, coef->rows * sizeof *scorer->coef, (void **) &scorer->coef));
    for (size_t t = 0; t < coef->columns; t++)
        for (size_t i = 0; i < coef->rows; i++)
            scorer->coef[t * coef->rows + i] = coef->data[i * coef->columns + t];
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    const KmArray *rows, *coef, *intercept;
    KmKernel *kernel;
    Scorer *scorer;

    KM_TRY(km_model_expect(ctx, model, "rows", SIZE_MAX, d, &rows));
    KM_TRY(km_model_expect(ctx, model, "coef", rows->rows, SIZE_MAX, &coef));
    KM_TRY(km_model_expect(ctx, model, "intercept", 1, coef->columns, &intercept));
    if (rows->rows == 0 || coef->columns == 0)
        return km_fail(ctx, KM_CORRUPT, "model has %zu rows and %zu targets", rows->rows, coef->columns);
    KM_TRY(km_alloc_zero(ctx, 1, &scorer));
    KM_TRY(km_kernel_compile(ctx, km_arg(args, "kernel")->node, &kernel));
    KM_TRY(km_target_create(ctx, kernel, rows->rows, d, rows->data, &scorer->target));
    scorer->n = rows->rows;
    scorer->stride = km_target_stride(scorer->target);
    scorer->intercept = intercept->data;
    KM_TRY(transpose_coefficients(ctx, coef, scorer));
    KM_TRY(km_alloc_bytes(ctx, scorer->stride, KM_SCORE_ROWS * sizeof *scorer->values,
                          (void **) &scorer->values));
    *out = (KmScore) {.d = d, .n_out = coef->columns, .state = scorer, .run = run};
    return KM_OK;
}

const KmEstimatorType km_estimator_krr = {
    .signature = {
        .name = "krr",
        .what = "estimator",
        .params = {
            {.name = "kernel", .kinds = KM_KIND_KERNEL, .standard = "rbf", .positional = true},
            {.name = "lambda", .alias = "alpha", .kinds = KM_KIND_NUMBER, .standard = "1", .min = 0,
             .max = 1e300,
             .grid = true},
            {.name = "center", .kinds = KM_KIND_BOOL, .standard = "true"},
            {.name = "loo", .kinds = KM_KIND_BOOL, .standard = "false"},
        },
    },
    .target = KM_TARGET_NUMBER,
    .fit = fit,
    .prepare = prepare,
};
