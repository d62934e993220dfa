/*
 * one_class.c: the support of a distribution: the estimator one_class.
 *
 *   maximise  -1/2 alpha'K alpha,   0 <= alpha_i <= w_i,   sum alpha = nu sum w
 * (Schoelkopf, Platt, Shawe-Taylor, Smola, Williamson 2001); value(x) = sum_i alpha_i k(x_i, x) - rho,
 * positive for inliers.  rho is set so that support rows on the boundary itself count as inliers: then at
 * most a share nu of the rows is outside but for the tolerance.
 */
#include <math.h>
#include <string.h>

#include "learner_types.h"
#include "machines.h"
#include "sizes.h"

/* The start: the first rows as full as their boxes allow.  Returns sum alpha. */
static double
load(const KmTable *table, double nu, double *linear, double *lower, double *upper, double *b)
{
    double sum = nu * km_table_weights(table), left = sum;

    for (size_t i = 0; i < table->n; i++)
    {
        linear[i] = lower[i] = 0;
        upper[i] = km_table_weight(table, i);
        b[i] = fmin(upper[i], left);
        left -= b[i];
    }
    return sum;
}

/* ---- the boundary ---- */

/* Rows on the boundary, whose alpha is strictly between its bounds, out of the table's. */
static KmStatus
list_boundary(KmContext *ctx, const KmTable *table, const double *alpha, const double *upper, double **rows,
              size_t *n)
{
    size_t d = table->d;

    *n = 0;
    KM_TRY(km_alloc_bytes(ctx, table->n, d * sizeof **rows, (void **) rows));
    for (size_t i = 0; i < table->n; i++)
    {
        KM_TRY(km_poll_row(ctx, i, d));
        if (alpha[i] > 0 && alpha[i] < upper[i])
            memcpy(*rows + (*n)++ * d, table->x + i * d, d * sizeof **rows);
    }
    return KM_OK;
}

/* The intercept for which the least value of the rows on the boundary, summed as scoring does, is just above
 * 0. */
static KmStatus
place_boundary(KmContext *ctx, const KmMachine *machine, const KmModel *model, size_t n, const double *rows)
{
    double values[KM_SCORE_ROWS], least = INFINITY;
    KmScore score;

    if (n == 0)
        return KM_OK;
    machine->intercept[0] = 0;
    KM_TRY(km_machine_prepare_columns(ctx, machine->args, model, machine->table->d, &score));
    for (size_t i = 0; i < n; i += KM_SCORE_ROWS)
    {
        size_t m = min_size(n - i, KM_SCORE_ROWS);

        KM_TRY(km_poll(ctx));
        KM_TRY(score.run(ctx, &score, m, rows + i * machine->table->d, values));
        for (size_t r = 0; r < m; r++)
            least = fmin(least, values[r]);
    }
    machine->intercept[0] = nextafter(-least, INFINITY);
    return KM_OK;
}

/* ---- the estimator ---- */

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    double *linear, *lower, *upper, *boundary;
    KmMachine machine;
    KmQuadratic problem;
    KmSolution solution = {0};
    size_t n, n_boundary;

    KM_TRY(km_table_merge(ctx, args, &table));
    n = table->n;
    KM_TRY(km_machine_begin(ctx, args, node, table, 1, 1, &machine));
    KM_TRY(km_alloc(ctx, n, &linear));
    KM_TRY(km_alloc(ctx, n, &lower));
    KM_TRY(km_alloc(ctx, n, &upper));
    /* Values are of the size of sum alpha, so where that is below 1 the tolerance shrinks with it. */
    machine.tol *= fmin(1, load(table, km_arg_number(args, "nu"), linear, lower, upper, machine.coef));
    problem = (KmQuadratic) {.n = n, .p = linear, .lower = lower, .upper = upper};
    solution.b = machine.coef;
    KM_TRY(km_machine_reserve_rows(ctx, &machine, n, km_largest(n, upper)));
    KM_TRY(km_machine_open(ctx, &machine, machine.points));
    KM_TRY(km_machine_solve(ctx, &machine, &problem, &solution));
    machine.intercept[0] = solution.bias;
    KM_TRY(list_boundary(ctx, table, machine.coef, upper, &boundary, &n_boundary));
    KM_TRY(km_machine_end(ctx, &machine, model));
    return place_boundary(ctx, &machine, model, n_boundary, boundary);
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    KM_TRY(km_machine_prepare_columns(ctx, args, model, d, out));
    out->decision = KM_DECISION_SIGN;
    return KM_OK;
}

const KmEstimatorType km_estimator_one_class = {
    .signature = {
        .name = "one_class",
        .what = "estimator",
        .params = {
            KM_PARAM_MACHINE_KERNEL,
            KM_PARAM_NU,
            KM_PARAM_TOL,
            KM_PARAM_MAX_ITER,
        },
    },
    .target = KM_TARGET_NONE,
    .fit = fit,
    .prepare = prepare,
};
