/*
 * linear_svm.c: support vector machines on features that keep w, the estimators linear_svc and linear_svr.
 *
 * The same optimum as svc and svr with the linear kernel: for two classes and each pair of more,
 *   minimise 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i f(x_i)),
 * for each target 1/2 |w|^2 + sum_i C_i max(0, |y_i - f(x_i)| - epsilon), f(x) = <w, x> + b, C_i = c times
 * the row's weight.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hinge.h"
#include "learner_types.h"
#include "linear.h"
#include "machines.h"
#include "multiclass.h"

/* A model being fitted: m machines. */
typedef struct Fit
{
    const KmArgs *args;
    const KmTable *table;
    KmDesign design;            /* of all rows; of those of a pair while it is at hand */
    double *subset;             /* rows of a pair of more than two classes */
    size_t n_terms, *row;       /* of the machine at hand */
    double *sign, *offset, *cost;
    size_t m;
    double *column;             /* d: the machine's w */
    double *w;                  /* d x m */
    double *intercept;          /* m */
    KmMachineFacts facts;       /* objectives and gaps are sums */
    double widest_gap;          /* of machines that did not converge, relative to their objectives */
} Fit;

/* Room for a solution and the planes of m machines. */
static KmStatus
check_memory(KmContext *ctx, const char *name, const KmTable *table, size_t m, size_t most_terms)
{
    double bytes = km_hinge_bytes(most_terms, table->d) + 8.0 * (double) m * ((double) table->d + 1);
    char what[100];

    if (table->label == NULL || table->classes->n <= 2)
        snprintf(what, sizeof what, "%s on %zu features", name, table->d);
    else
        snprintf(what, sizeof what, "%s on %zu features and %zu classes", name, table->d, table->classes->n);
    return km_reserve(ctx, bytes, what, "Use fewer features, or svc or svr with the linear kernel.");
}

static KmStatus
begin(KmContext *ctx, const KmArgs *args, const KmTable *table, size_t m, size_t most_terms, Fit *fit)
{
    *fit = (Fit) {.args = args, .table = table, .m = m};
    KM_TRY(check_memory(ctx, args->signature->name, table, m, most_terms));
    KM_TRY(km_design_create(ctx, table, true, &fit->design));
    KM_TRY(km_alloc(ctx, most_terms, &fit->row));
    KM_TRY(km_alloc(ctx, most_terms, &fit->sign));
    KM_TRY(km_alloc(ctx, most_terms, &fit->offset));
    KM_TRY(km_alloc(ctx, most_terms, &fit->cost));
    KM_TRY(km_alloc(ctx, table->d, &fit->column));
    KM_TRY(km_alloc(ctx, m, &fit->intercept));
    return km_alloc_bytes(ctx, table->d, m * sizeof *fit->w, (void **) &fit->w);
}

/* A term of the table's row i, row `row` of the design. */
static void
add_term(Fit *fit, size_t i, size_t row, double sign, double offset)
{
    size_t t = fit->n_terms++;

    fit->row[t] = row;
    fit->sign[t] = sign;
    fit->offset[t] = offset;
    fit->cost[t] = km_arg_number(fit->args, "c") * km_table_weight(fit->table, i);
}

/* Machine number `machine` of the terms at hand. */
static KmStatus
solve(KmContext *ctx, Fit *fit, size_t machine)
{
    KmHinge problem = {.n = fit->n_terms, .row = fit->row, .sign = fit->sign, .offset = fit->offset,
                       .cost = fit->cost, .tol = km_arg_number(fit->args, "tol"),
                       .max_iter = (size_t) km_arg_number(fit->args, "max_iter")};
    KmHingeSolution solution = {.w = fit->column};

    KM_TRY(km_hinge_solve(ctx, &fit->design, &problem, &solution));
    if (!isfinite(solution.gap))
        return km_fail(ctx, KM_RANGE, "%s: the objective is too large for double precision",
                       fit->args->signature->name);
    for (size_t j = 0; j < fit->table->d; j++)
        fit->w[j * fit->m + machine] = fit->column[j];
    fit->intercept[machine] = solution.b;
    fit->facts.objective += solution.objective;
    fit->facts.gap += solution.gap;
    fit->facts.iterations += solution.iterations;
    fit->facts.unfinished += !solution.converged;
    fit->facts.limited += solution.limited;
    if (!solution.converged)
        fit->widest_gap = fmax(fit->widest_gap, solution.relative_gap);
    fit->n_terms = 0;
    return KM_OK;
}

static void
warn_unfinished(KmContext *ctx, const Fit *fit)
{
    const char *name = fit->args->signature->name;
    double tol = km_arg_number(fit->args, "tol");

    if (fit->facts.limited > 0)
        km_warn(ctx, "%s did not converge: after %zu iterations the relative gap is %g, tol is %g; "
                "raise max_iter, or begin the learner with the step \"scale\"", name,
                (size_t) fit->facts.iterations, fit->widest_gap, tol);
    else if (fit->facts.unfinished > 0)
        km_warn(ctx, "%s did not converge: rounding leaves a relative gap of %g, tol is %g; a smaller c, or "
                "features of smaller values, leave less", name, fit->widest_gap, tol);
}

static KmStatus
end(KmContext *ctx, Fit *fit, KmModel *model)
{
    const char *name = fit->args->signature->name;
    const KmMachineFacts *facts = &fit->facts;

    warn_unfinished(ctx, fit);
    km_linear_uncentre(fit->table->d, fit->m, fit->design.mean, fit->w, fit->intercept);
    KM_TRY(km_linear_store(ctx, name, fit->table->d, fit->m, fit->w, fit->intercept, model));
    KM_TRY(km_model_add_fact(ctx, model, "objective", KM_FACT_NUMBER, facts->objective));
    KM_TRY(km_model_add_fact(ctx, model, "gap", KM_FACT_NUMBER, facts->gap));
    KM_TRY(km_model_add_fact(ctx, model, "iterations", KM_FACT_COUNT, (double) facts->iterations));
    return km_model_add_fact(ctx, model, "converged", KM_FACT_BOOL, facts->unfinished == 0);
}

/* ---- linear_svc ---- */

/* The rows of classes p and q, and their terms. */
static KmStatus
load_pair(KmContext *ctx, Fit *fit, size_t p, size_t q)
{
    const KmTable *table = fit->table;
    size_t d = table->d;

    if (table->classes->n > 2 && fit->subset == NULL)
        KM_TRY(km_alloc_bytes(ctx, table->n, d * sizeof *fit->subset, (void **) &fit->subset));
    for (size_t i = 0; i < table->n; i++)
    {
        size_t row = fit->n_terms;

        if (table->label[i] != p && table->label[i] != q)
            continue;
        if (fit->subset != NULL)
            memcpy(fit->subset + row * d, table->x + i * d, d * sizeof *fit->subset);
        add_term(fit, i, row, table->label[i] == q ? 1 : -1, 1);
    }
    fit->design.n = fit->n_terms;
    fit->design.x = fit->subset != NULL ? fit->subset : table->x;
    return KM_OK;
}

static KmStatus
fit_pairs(KmContext *ctx, Fit *fit)
{
    size_t k = fit->table->classes->n, machine = 0;

    for (size_t p = 0; p + 1 < k; p++)
        for (size_t q = p + 1; q < k; q++)
        {
            KM_TRY(load_pair(ctx, fit, p, q));
            KM_TRY(solve(ctx, fit, machine++));
        }
    return KM_OK;
}

/* Each class against the rest, positive for it. */
static KmStatus
fit_each(KmContext *ctx, Fit *fit)
{
    for (size_t c = 0; c < fit->table->classes->n; c++)
    {
        for (size_t i = 0; i < fit->table->n; i++)
            add_term(fit, i, i, fit->table->label[i] == c ? 1 : -1, 1);
        KM_TRY(solve(ctx, fit, c));
    }
    return KM_OK;
}

static KmStatus
fit_classes(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    size_t k = table->classes->n;
    bool rest = km_is_one_vs_rest(args, k);
    KmTable weighted;
    Fit fit;

    (void) node;
    KM_TRY(km_classes_check(ctx, "linear_svc", table));
    KM_TRY(km_class_weights_apply(ctx, args, table, &weighted));
    KM_TRY(begin(ctx, args, &weighted, rest ? k : k * (k - 1) / 2, table->n, &fit));
    KM_TRY(rest ? fit_each(ctx, &fit) : fit_pairs(ctx, &fit));
    return end(ctx, &fit, model);
}

static KmStatus
prepare_classes(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    bool rest = km_is_one_vs_rest(args, model->classes.n);

    return km_linear_prepare(ctx, model, d, rest ? KM_DECISION_CLASSES : KM_DECISION_PAIRS, out);
}

/* ---- linear_svr ---- */

static KmStatus
fit_targets(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    double epsilon = km_arg_number(args, "epsilon");
    size_t m = table->n_targets;
    Fit fit;

    (void) node;
    KM_TRY(begin(ctx, args, table, m, 2 * table->n, &fit));
    for (size_t t = 0; t < m; t++)
    {
        for (size_t i = 0; i < table->n; i++)
        {
            add_term(&fit, i, i, 1, table->y[i * m + t] - epsilon);
            add_term(&fit, i, i, -1, -table->y[i * m + t] - epsilon);
        }
        KM_TRY(solve(ctx, &fit, t));
    }
    return end(ctx, &fit, model);
}

static KmStatus
prepare_targets(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    (void) args;
    return km_linear_prepare(ctx, model, d, KM_DECISION_VALUES, out);
}

/* ---- the table's entries ---- */

/* Of the gap, relative to the objective; it is squared by each of the last iterations. */
#define PARAM_TOL \
    {.name = "tol", .kinds = KM_KIND_NUMBER, .standard = "1e-8", .min = 0, .max = 1, .open = true}
#define PARAM_MAX_ITER {.name = "max_iter", .kinds = KM_KIND_INTEGER, .standard = "200", .min = 1, .max = 1e9}

const KmEstimatorType km_estimator_linear_svc = {
    .signature = {
        .name = "linear_svc",
        .what = "estimator",
        .params = {KM_PARAM_C(1e100), KM_PARAM_POSITIVE_CLASS_WEIGHT, KM_PARAM_MULTICLASS, PARAM_TOL,
                   PARAM_MAX_ITER},
    },
    .target = KM_TARGET_LABEL,
    .linear = true,
    .fit = fit_classes,
    .prepare = prepare_classes,
};

const KmEstimatorType km_estimator_linear_svr = {
    .signature = {
        .name = "linear_svr",
        .what = "estimator",
        .params = {
            KM_PARAM_C(1e100),
            {.name = "epsilon", .kinds = KM_KIND_NUMBER, .standard = "0.1", .min = 0, .max = 1e300,
             .grid = true, .positional = true},
            PARAM_TOL,
            PARAM_MAX_ITER,
        },
    },
    .target = KM_TARGET_NUMBER,
    .linear = true,
    .fit = fit_targets,
    .prepare = prepare_targets,
};
