/*
 * krr.c: the estimator krr, kernel ridge regression (krr.h has the mathematics): options, the exact method,
 * models, scoring.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cholesky.h"
#include "columns.h"
#include "expansion.h"
#include "gram.h"
#include "krr.h"
#include "learner_types.h"

#define MEMORY_HINT "Use krr(..., method=cg), put nystroem or rff before ridge, or raise kernelml.max_memory."
#define ITERATIVE_HINT "Use a lower rank, put nystroem or rff before ridge, or raise kernelml.max_memory."

/* ---- options ---- */

static bool
is_given(const KmArgs *args, const char *name)
{
    return km_arg(args, name)->kind != 0;
}

/* Options of the other method are errors, not silence. */
static KmStatus
check_method(KmContext *ctx, const KmArgs *args)
{
    static const char *const iterative[] = {"tol", "max_iter", "rank", "seed"};

    for (size_t i = 0; i < sizeof iterative / sizeof *iterative; i++)
        KM_TRY(km_krr_check_iterative(ctx, args, iterative[i]));
    if (!km_krr_is_iterative(args))
        return KM_OK;
    if (is_given(args, "select") || km_arg_number(args, "loo") != 0.0)
        return km_fail(ctx, KM_INVALID, "krr: %s goes with method=exact only",
                       is_given(args, "select") ? "select" : "loo");
    if (km_arg_number(args, "lambda") == 0.0)
        return km_fail(ctx, KM_INVALID, "krr: method=cg needs lambda > 0");
    return KM_OK;
}

static KmStatus
check(KmContext *ctx, const KmArgs *args)
{
    if (is_given(args, "select") && !km_arg(args, "lambda")->grid)
    {
        km_fail(ctx, KM_INVALID, "krr: select=%s has no values of lambda to choose from",
                km_arg(args, "select")->word);
        return km_hint(ctx, KM_INVALID,
                       "Give several, as in lambda=logspace(-6, 2, 9), or leave select out.");
    }
    return check_method(ctx, args);
}

/* ---- the system ---- */

KmStatus
km_krr_fill(KmContext *ctx, const KmKrr *krr, bool full, double *a)
{
    size_t n = krr->table->n;

    KM_TRY(km_gram_fill(ctx, krr->kernel, krr->points, full, n, a));
    for (size_t i = 0; i < n && krr->root != NULL; i++)
    {
        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j < (full ? n : i + 1); j++)
            a[i * n + j] *= krr->root[i] * krr->root[j];
    }
    return KM_OK;
}

/* A, also to write it again for more jitter (KmRefill). */
static KmStatus
fill_system(KmContext *ctx, void *state, double *a)
{
    const KmKrr *krr = state;
    size_t n = krr->table->n;

    KM_TRY(km_krr_fill(ctx, krr, false, a));
    for (size_t i = 0; i < n; i++)
        a[i * n + i] += krr->lambda;
    return KM_OK;
}

static KmStatus
set_roots(KmContext *ctx, KmKrr *krr)
{
    const KmTable *table = krr->table;

    if (table->w == NULL)
        return KM_OK;
    KM_TRY(km_alloc(ctx, table->n, &krr->root));
    for (size_t i = 0; i < table->n; i++)
        krr->root[i] = sqrt(table->w[i]);
    return KM_OK;
}

static KmStatus
set_intercept(KmContext *ctx, KmKrr *krr, bool center)
{
    const KmTable *table = krr->table;
    KmColumns columns;

    if (!center)
        return km_alloc_zero(ctx, table->n_targets, &krr->intercept);
    KM_TRY(km_columns_summarise(ctx, table->n, table->n_targets, table->y, table->w, &columns));
    krr->intercept = columns.mean;
    return KM_OK;
}

/* beta = S (y - intercept), to be solved in place. */
static KmStatus
set_right_sides(KmContext *ctx, KmKrr *krr)
{
    const KmTable *table = krr->table;
    size_t targets = table->n_targets;

    KM_TRY(km_alloc_bytes(ctx, table->n, targets * sizeof *krr->beta, (void **) &krr->beta));
    for (size_t i = 0; i < table->n; i++)
        for (size_t t = 0; t < targets; t++)
            krr->beta[i * targets + t] = (table->y[i * targets + t] - krr->intercept[t]) *
                (krr->root == NULL ? 1.0 : krr->root[i]);
    return KM_OK;
}

KmStatus
km_krr_open(KmContext *ctx, const KmTable *table, const KmKernel *kernel, double lambda, bool center,
            KmKrr *out)
{
    *out = (KmKrr) {.kernel = kernel, .table = table, .lambda = lambda};
    KM_TRY(km_points_create(ctx, kernel, table->n, table->d, table->x, NULL, &out->points));
    KM_TRY(set_roots(ctx, out));
    KM_TRY(set_intercept(ctx, out, center));
    return set_right_sides(ctx, out);
}

KmStatus
km_krr_coefficients(KmContext *ctx, const KmKrr *krr)
{
    size_t n = krr->table->n, targets = krr->table->n_targets;

    for (size_t i = 0; i < n && krr->root != NULL; i++)
        for (size_t t = 0; t < targets; t++)
            krr->beta[i * targets + t] *= krr->root[i];
    return km_matrix_check_finite(ctx, n, targets, targets, krr->beta, "the coefficients");
}

/* ---- the exact method ---- */

/* Without lambda nothing may be added in silence: what the user asked for has no solution. */
static KmStatus
factor_unregularised(KmContext *ctx, KmKrr *krr)
{
    size_t n = krr->table->n;
    KmStatus status = km_cholesky_factor_strict(ctx, n, n, krr->a);

    if (status != KM_SINGULAR)
        return status;
    km_detail(ctx, KM_SINGULAR,
              "Rows that repeat, or that the kernel cannot tell apart, leave no unique solution.");
    return km_hint(ctx, KM_SINGULAR, "Use lambda > 0.");
}

static KmStatus
factor_system(KmContext *ctx, KmKrr *krr)
{
    size_t n = krr->table->n;

    KM_TRY(fill_system(ctx, krr, krr->a));
    if (krr->lambda == 0.0)
        return factor_unregularised(ctx, krr);
    KM_TRY(km_cholesky_factor_jitter(ctx, n, n, krr->a, fill_system, krr, &krr->jitter));
    if (krr->jitter > 0.0)
        km_warn(ctx, "kernel matrix of %zu rows is singular to working precision: %g was added to lambda", n,
                krr->jitter);
    return KM_OK;
}

/* GCV has no value where the degrees of freedom use up the rows (lambda = 0). */
static KmStatus
add_scores(KmContext *ctx, const KmKrr *krr, KmModel *model)
{
    KmKrrScores scores;

    KM_TRY(km_krr_scores_of_factor(ctx, krr, &scores));
    KM_TRY(km_model_add_number(ctx, model, "kernel ridge", "effective_df", scores.effective_df));
    KM_TRY(km_model_add_number(ctx, model, "kernel ridge", "loo_mse", scores.loo_mse));
    return isinf(scores.gcv) ? KM_OK : km_model_add_number(ctx, model, "kernel ridge", "gcv", scores.gcv);
}

static KmStatus
solve_exactly(KmContext *ctx, const KmArgs *args, KmKrr *krr, KmModel *model)
{
    size_t n = krr->table->n, targets = krr->table->n_targets;

    KM_TRY(km_alloc_bytes(ctx, n, n * sizeof *krr->a, (void **) &krr->a));
    if (is_given(args, "select"))
        KM_TRY(km_krr_choose_lambda(ctx, args, krr, model));
    KM_TRY(factor_system(ctx, krr));
    KM_TRY(km_cholesky_solve(ctx, n, n, krr->a, targets, targets, krr->beta));
    if (is_given(args, "select") || km_arg_number(args, "loo") != 0.0)
        KM_TRY(add_scores(ctx, krr, model));
    km_free(ctx, krr->a);
    return km_model_add_number(ctx, model, "kernel ridge", "jitter", krr->jitter);
}

/* ---- fitting ---- */

/* Doubles per row that the method needs, beside the rows themselves. */
static double
work_per_row(const KmArgs *args, const KmTable *table)
{
    double targets = (double) table->n_targets, n = (double) table->n;

    if (km_krr_is_iterative(args))
        return km_krr_iterative_work(args, table->n, table->n_targets);
    if (is_given(args, "select"))
        return n + 2.0 * targets + 300.0 + 2.0 * (double) km_arg(args, "lambda")->rows * (targets + 2.0);
    return n + 2.0 * targets;
}

/* Refuse what would not fit before any work: the model's bytes, then memory. */
static KmStatus
check_size(KmContext *ctx, const KmArgs *args, const KmTable *table)
{
    double n = (double) table->n, d = (double) table->d, targets = (double) table->n_targets;
    double model_bytes = 8.0 * n * (d + targets);
    char what[64];

    if (model_bytes > (double) KM_MODEL_MAX_BYTES)
    {
        km_fail(ctx, KM_LIMIT,
                "a kernel ridge model of %zu rows and %zu features would have %.0f bytes, the limit is %zu",
                table->n, table->d, model_bytes, KM_MODEL_MAX_BYTES);
        return km_hint(ctx, KM_LIMIT, "Fit fewer rows, or put nystroem or rff before ridge.");
    }
    snprintf(what, sizeof what, "kernel ridge on %zu rows", table->n);
    return km_reserve(ctx, 8.0 * n * (3.0 * d + work_per_row(args, table)), what,
                      km_krr_is_iterative(args) ? ITERATIVE_HINT : MEMORY_HINT);
}

/* The chosen lambda instead of the grid, and as a fact. */
static KmStatus
write_lambda(KmContext *ctx, KmNode *node, double lambda, KmModel *model)
{
    KmNode *value;

    KM_TRY(km_node_number(ctx, lambda, &value));
    km_node_unset(node, "select");
    KM_TRY(km_node_set(ctx, node, "lambda", value));
    return km_model_add_number(ctx, model, "kernel ridge", "lambda", lambda);
}

static KmStatus
add_arrays(KmContext *ctx, const KmKrr *krr, KmModel *model)
{
    const KmTable *table = krr->table;
    size_t n = table->n, targets = table->n_targets;
    double *rows;

    KM_TRY(km_krr_coefficients(ctx, krr));
    KM_TRY(km_alloc_bytes(ctx, n, table->d * sizeof *rows, (void **) &rows));
    memcpy(rows, table->x, n * table->d * sizeof *rows);
    KM_TRY(km_model_add_array(ctx, model, "rows", n, table->d, rows));
    KM_TRY(km_model_add_array(ctx, model, "coef", n, targets, krr->beta));
    return km_model_add_array(ctx, model, "intercept", 1, targets, krr->intercept);
}

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    KmKernel *kernel;
    KmKrr krr;

    KM_TRY(check_size(ctx, args, table));
    KM_TRY(km_estimator_kernel(ctx, args, node, table, &kernel));
    KM_TRY(km_krr_open(ctx, table, kernel, km_arg_number(args, "lambda"),
                       km_arg_number(args, "center") != 0.0, &krr));
    if (km_krr_is_iterative(args))
        KM_TRY(km_krr_iterate(ctx, args, &krr, model));
    else
        KM_TRY(solve_exactly(ctx, args, &krr, model));
    if (is_given(args, "select"))
        KM_TRY(write_lambda(ctx, node, krr.lambda, model));
    return add_arrays(ctx, &krr, model);
}

/* ---- scoring ---- */

static KmStatus
run(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    return km_expansion_run(ctx, score->state, m, z, out);
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    const KmArray *rows, *coef, *intercept;
    KmExpansion *expansion;
    KmKernel *kernel;

    KM_TRY(km_model_expect(ctx, model, "rows", SIZE_MAX, d, &rows));
    KM_TRY(km_model_expect(ctx, model, "coef", rows->rows, SIZE_MAX, &coef));
    KM_TRY(km_model_expect(ctx, model, "intercept", 1, coef->columns, &intercept));
    if (rows->rows == 0 || coef->columns == 0)
        return km_fail(ctx, KM_CORRUPT, "model has %zu rows and %zu targets", rows->rows, coef->columns);
    KM_TRY(km_kernel_of(ctx, args, &kernel));
    KM_TRY(km_expansion_create_columns(ctx, kernel, rows->rows, d, rows->data, coef->columns, coef->data,
                                       intercept->data, &expansion));
    *out = (KmScore) {.d = d, .n_out = coef->columns, .state = expansion, .run = run};
    return KM_OK;
}

static const char *const criteria[] = {"loo", "gcv", NULL};

const KmEstimatorType km_estimator_krr = {
    .signature = {
        .name = "krr",
        .what = "estimator",
        .params = {
            {.name = "kernel", .kinds = KM_KIND_KERNEL, .standard = "rbf", .positional = true},
            {.name = "lambda", .alias = "alpha", .kinds = KM_KIND_NUMBER, .standard = "1", .min = 0,
             .max = 1e300, .grid = true, .positional = true},
            {.name = "center", .kinds = KM_KIND_BOOL, .standard = "true"},
            {.name = "loo", .kinds = KM_KIND_BOOL, .standard = "false"},
            {.name = "select", .kinds = KM_KIND_WORD, .words = criteria},
            KM_CG_PARAMS,
            {.name = "seed", .kinds = KM_KIND_INTEGER, .min = 0, .max = 9007199254740991},
        },
    },
    .target = KM_TARGET_NUMBER,
    .path = "lambda",
    .check = check,
    .fit = fit,
    .prepare = prepare,
};
