/*
 * svr.c: support vector regression: the estimators svr and nu_svr.
 *
 *   svr     maximise  y'beta - epsilon sum |beta| - 1/2 beta'K beta,   sum beta = 0,   |beta_i| <= C_i
 *           (Vapnik 1995; Smola, Schoelkopf 2004)
 *   nu_svr  maximise  y'beta - 1/2 beta'K beta  for beta = alpha - alpha*,   0 <= alpha, alpha* <= C_i,
 *           sum alpha = sum alpha* = c nu sum w / 2   (Schoelkopf, Smola, Williamson, Bartlett 2000)
 * with C_i = c times the row's weight; f(x) = sum_i beta_i k(x_i, x) + intercept.  The tube that nu_svr finds
 * is half of the distance between the levels of its two groups of variables.  Several targets share rows of
 * K.
 */
#include <math.h>
#include <string.h>

#include "learner_types.h"
#include "machines.h"

typedef struct Fit
{
    KmMachine machine;
    double c;
    double *linear;             /* n */
    double *lower, *upper, *b;  /* n, or 2 x n */
    KmQuadratic problem;
} Fit;

static KmStatus
begin(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, bool split, Fit *fit)
{
    size_t n = table->n, groups = split ? 2 : 1;
    double largest = table->w == NULL ? 1 : km_largest(n, table->w);

    fit->c = km_arg_number(args, "c");
    KM_TRY(km_machine_begin(ctx, args, node, table, table->n_targets, table->n_targets, &fit->machine));
    KM_TRY(km_alloc(ctx, n, &fit->linear));
    KM_TRY(km_alloc(ctx, groups * n, &fit->lower));
    KM_TRY(km_alloc(ctx, groups * n, &fit->upper));
    KM_TRY(km_alloc(ctx, groups * n, &fit->b));
    fit->problem = (KmQuadratic) {.n = n, .p = fit->linear, .lower = fit->lower, .upper = fit->upper,
                                  .split = split};
    KM_TRY(km_machine_reserve_rows(ctx, &fit->machine, n, fit->c * largest));
    return km_machine_open(ctx, &fit->machine, fit->machine.points);
}

/* Solve for target t from the start b. */
static KmStatus
solve_target(KmContext *ctx, Fit *fit, size_t t, KmSolution *solution)
{
    KmMachine *machine = &fit->machine;
    const KmTable *table = machine->table;

    for (size_t i = 0; i < table->n; i++)
        fit->linear[i] = -table->y[i * table->n_targets + t];
    *solution = (KmSolution) {.b = fit->b};
    KM_TRY(km_machine_solve(ctx, machine, &fit->problem, solution));
    for (size_t i = 0; i < table->n; i++)
        machine->coef[i * machine->columns + t] = fit->b[i] + (fit->problem.split ? fit->b[table->n + i] : 0);
    machine->intercept[t] = solution->bias;
    return KM_OK;
}

/* ---- svr ---- */

static KmStatus
fit_svr(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    KmSolution solution;
    Fit fit;

    KM_TRY(km_table_merge(ctx, args, &table));
    KM_TRY(begin(ctx, args, node, table, false, &fit));
    fit.problem.kink = km_arg_number(args, "epsilon");
    for (size_t t = 0; t < table->n_targets; t++)
    {
        for (size_t i = 0; i < table->n; i++)
        {
            fit.upper[i] = fit.c * km_table_weight(table, i);
            fit.lower[i] = -fit.upper[i];
            fit.b[i] = 0;
        }
        KM_TRY(solve_target(ctx, &fit, t, &solution));
        if (!solution.unbounded)
            continue;
        km_fail(ctx, KM_DATA,
                "svr with c = inf: no function of this kernel stays within epsilon = %g of all rows",
                fit.problem.kink);
        return km_hint(ctx, KM_DATA, "Use a finite c.");
    }
    return km_machine_end(ctx, &fit.machine, model);
}

/* ---- nu_svr ---- */

/* Boxes of both groups, and a start: the first rows as full as their boxes allow. */
static void
load_groups(const KmTable *table, double nu, Fit *fit)
{
    size_t n = table->n;
    double left = fit->c * nu * km_table_weights(table) / 2;

    for (size_t i = 0; i < n; i++)
    {
        double box = fit->c * km_table_weight(table, i), b = fmin(box, left);

        left -= b;
        fit->lower[i] = fit->upper[n + i] = 0;
        fit->upper[i] = box;
        fit->lower[n + i] = -box;
        fit->b[i] = b;
        fit->b[n + i] = -b;
    }
}

static KmStatus
fit_nu_svr(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    KmSolution solution;
    Fit fit;

    KM_TRY(km_table_merge(ctx, args, &table));
    KM_TRY(begin(ctx, args, node, table, true, &fit));
    for (size_t t = 0; t < table->n_targets; t++)
    {
        load_groups(table, km_arg_number(args, "nu"), &fit);
        KM_TRY(solve_target(ctx, &fit, t, &solution));
    }
    KM_TRY(km_machine_end(ctx, &fit.machine, model));
    if (table->n_targets > 1)
        return KM_OK;
    return km_model_add_fact(ctx, model, "epsilon", KM_FACT_NUMBER, fmax(-solution.margin, 0));
}

/* ---- the estimators ---- */

const KmEstimatorType km_estimator_svr = {
    .signature = {
        .name = "svr",
        .what = "estimator",
        .params = {
            KM_PARAM_MACHINE_KERNEL,
            KM_PARAM_C(INFINITY),
            {.name = "epsilon", .kinds = KM_KIND_NUMBER, .standard = "0.1", .min = 0, .max = 1e300,
             .grid = true,
             .positional = true},
            KM_PARAM_TOL,
            KM_PARAM_MAX_ITER,
        },
    },
    .target = KM_TARGET_NUMBER,
    .fit = fit_svr,
    .prepare = km_machine_prepare_columns,
};

const KmEstimatorType km_estimator_nu_svr = {
    .signature = {
        .name = "nu_svr",
        .what = "estimator",
        .params = {
            KM_PARAM_MACHINE_KERNEL,
            KM_PARAM_C(1e300),
            KM_PARAM_NU,
            KM_PARAM_TOL,
            KM_PARAM_MAX_ITER,
        },
    },
    .target = KM_TARGET_NUMBER,
    .fit = fit_nu_svr,
    .prepare = km_machine_prepare_columns,
};
