/*
 * gp.c: Gaussian process regression, the estimator gp (Rasmussen and Williams 2006, algorithm 2.1).
 *
 * Leave-one-out with ybar held fixed (their section 5.4.2): row i has mean y_i - alpha_i / c_i and variance
 * 1 / c_i given the others, c_i = (A^-1)_ii.
 */
#include "gp.h"

#include <math.h>
#include <string.h>

#include "cholesky.h"
#include "krr.h"
#include "learner_types.h"

#define ROWS_HINT "Fit fewer rows, or put nystroem or rff before ridge."
#define SAMPLE_HINT \
    "Optimize on a sample of the rows, then fit all with the kernel and noise that learner(model) shows, " \
    "and method=cg, variance=false"

/* ---- options ---- */

static bool
optimizes(const KmArgs *args)
{
    return km_arg_number(args, "optimize") != 0.0;
}

static const char *const search_options[] = {"bounds", "restarts", "seed"};
#define N_SEARCH_OPTIONS (sizeof search_options / sizeof *search_options)

/* Is a parameter other than its default, which the learner of a model has written out? */
static KmStatus
is_changed(KmContext *ctx, const KmArgs *args, const char *name, bool *out)
{
    KmText value = {0}, standard = {0};
    KmNode *node;

    KM_TRY(km_arg_standard(ctx, args, name, &node));
    KM_TRY(km_spec_print(ctx, node, &standard));
    KM_TRY(km_spec_print(ctx, km_arg(args, name)->node, &value));
    *out = strcmp(value.data, standard.data) != 0;
    return KM_OK;
}

static KmStatus
refuse_search_options(KmContext *ctx, const KmArgs *args)
{
    for (size_t i = 0; i < N_SEARCH_OPTIONS; i++)
    {
        bool changed;

        KM_TRY(is_changed(ctx, args, search_options[i], &changed));
        if (changed)
            return km_fail(ctx, KM_INVALID, "gp: %s goes with optimize=true only", search_options[i]);
    }
    return KM_OK;
}

static KmStatus
check_search(KmContext *ctx, const KmArgs *args)
{
    const KmValue *bounds = km_arg(args, "bounds");

    if (!optimizes(args))
        return refuse_search_options(ctx, args);
    if (bounds->rows != 2 || !(bounds->list[0] < bounds->list[1]))
        return km_fail(ctx, KM_INVALID, "gp: bounds must be two numbers, the lower one first");
    if (km_arg(args, "noise")->grid)
        return km_fail(ctx, KM_INVALID, "gp: optimize=true finds the noise, and takes no grid of it");
    return KM_OK;
}

/* Options of the other method are errors, not silence. */
static KmStatus
check_method(KmContext *ctx, const KmArgs *args)
{
    static const char *const iterative[] = {"tol", "max_iter", "rank"};

    for (size_t i = 0; i < sizeof iterative / sizeof *iterative; i++)
        KM_TRY(km_krr_check_iterative(ctx, args, iterative[i]));
    if (!km_krr_is_iterative(args))
        return KM_OK;
    if (optimizes(args))
    {
        km_fail(ctx, KM_INVALID, "gp: optimize goes with method=exact only");
        return km_hint(ctx, KM_INVALID, SAMPLE_HINT ".");
    }
    if (km_arg_number(args, "loo") != 0.0)
        return km_fail(ctx, KM_INVALID, "gp: loo goes with method=exact only");
    if (km_arg_number(args, "variance") == 0.0)
        return KM_OK;
    km_fail(ctx, KM_INVALID, "gp: method=cg makes no factor, and so no variances");
    return km_hint(ctx, KM_INVALID, "Write gp(..., method=cg, variance=false).");
}

static KmStatus
check(KmContext *ctx, const KmArgs *args)
{
    KM_TRY(check_search(ctx, args));
    return check_method(ctx, args);
}

/* ---- fitting ---- */

/* loo_log_density: sum of the log densities of the rows, each given the others; loo_mse, weighted. */
static KmStatus
add_leave_one_out(KmContext *ctx, const KmGpSystem *system, KmModel *model)
{
    const KmTable *table = system->table;
    double *inverse_diagonal, density = 0.0, squares = 0.0, weight = 0.0;

    KM_TRY(km_alloc(ctx, table->n, &inverse_diagonal));
    KM_TRY(km_cholesky_inverse_diagonal(ctx, table->n, table->n, system->a, inverse_diagonal));
    for (size_t i = 0; i < table->n; i++)
    {
        double c = inverse_diagonal[i], residual = system->alpha[i] / c;
        double w = km_table_weight(table, i);

        density += 0.5 * (log(c) - KM_LOG_2PI - c * residual * residual);
        squares += w * residual * residual;
        weight += w;
    }
    km_free(ctx, inverse_diagonal);
    KM_TRY(km_model_add_number(ctx, model, "gaussian process", "loo_log_density", density));
    return km_model_add_number(ctx, model, "gaussian process", "loo_mse", squares / weight);
}

static KmStatus
add_facts(KmContext *ctx, const KmArgs *args, const KmGpSystem *system, KmModel *model)
{
    KM_TRY(km_model_add_number(ctx, model, "gaussian process", "log_marginal_likelihood",
                               system->likelihood));
    KM_TRY(km_model_add_number(ctx, model, "gaussian process", "jitter", system->jitter));
    if (system->jitter > 0.0)
        km_warn(ctx, "covariance matrix of %zu rows is singular to working precision: %g was added to the "
                "noise", system->table->n, system->jitter);
    return km_arg_number(args, "loo") == 0.0 ? KM_OK : add_leave_one_out(ctx, system, model);
}

static KmStatus
set_standard(KmContext *ctx, const KmArgs *args, KmNode *node, const char *name)
{
    KmNode *standard;

    KM_TRY(km_arg_standard(ctx, args, name, &standard));
    return km_node_set(ctx, node, name, standard);
}

/* What was found goes into the learner, which then says how to fit this model without a search. */
static KmStatus
optimise(KmContext *ctx, const KmArgs *args, KmNode *node, KmGpSystem *system, KmModel *model)
{
    KmNode *noise;

    KM_TRY(km_gp_optimise(ctx, args, system, model));
    KM_TRY(km_node_number(ctx, system->noise, &noise));
    KM_TRY(km_node_set(ctx, node, "noise", noise));
    KM_TRY(set_standard(ctx, args, node, "optimize"));
    for (size_t i = 0; i < N_SEARCH_OPTIONS; i++)
        KM_TRY(set_standard(ctx, args, node, search_options[i]));
    return km_model_add_number(ctx, model, "gaussian process", "noise", system->noise);
}

static KmStatus
fit_exactly(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    bool keep_factor = km_arg_number(args, "variance") != 0.0;
    double *intercept;
    KmGpSystem system;

    KM_TRY(km_gp_check_size(ctx, table, &(KmGpSize) {
        .factor = keep_factor, .work = (double) table->n + 4.0,
        .model_hint = keep_factor ? "Use variance=false, which keeps no factor, or fit fewer rows."
                      : ROWS_HINT,
        .memory_hint = optimizes(args) ? SAMPLE_HINT ", or raise kernelml.max_memory."
                       : "Use gp(..., method=cg, variance=false), put nystroem or rff before ridge, or raise "
                       "kernelml.max_memory."}));
    KM_TRY(km_gp_open(ctx, table, km_arg_number(args, "center") != 0.0, &system));
    KM_TRY(km_estimator_kernel(ctx, args, node, table, &system.kernel));
    system.noise = km_arg_number(args, "noise");
    if (optimizes(args))
        KM_TRY(optimise(ctx, args, node, &system, model));
    KM_TRY(km_gp_solve(ctx, &system));
    KM_TRY(add_facts(ctx, args, &system, model));
    KM_TRY(km_alloc(ctx, 1, &intercept));
    *intercept = system.intercept;
    KM_TRY(km_model_add_array(ctx, model, "intercept", 1, 1, intercept));
    return km_gp_add_arrays(ctx, table, system.alpha, keep_factor ? system.a : NULL, model);
}

/* The mean alone: it is that of kernel ridge regression with lambda = noise, a white kernel being noise
 * too. */
static KmStatus
fit_iteratively(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    double lambda;
    KmKernel *kernel;
    KmKrr krr;

    KM_TRY(km_gp_check_size(ctx, table, &(KmGpSize) {
        .work = km_krr_iterative_work(args, table->n, 1), .model_hint = ROWS_HINT,
        .memory_hint = "Use a lower rank, put nystroem or rff before ridge, or raise kernelml.max_memory."}));
    KM_TRY(km_estimator_kernel(ctx, args, node, table, &kernel));
    lambda = km_arg_number(args, "noise") + km_kernel_white(kernel);
    if (lambda == 0.0)
        return km_fail(ctx, KM_INVALID, "gp: method=cg needs noise > 0");
    km_kernel_clear_white(kernel);
    KM_TRY(km_krr_open(ctx, table, kernel, lambda, km_arg_number(args, "center") != 0.0, &krr));
    KM_TRY(km_krr_iterate(ctx, args, &krr, model));
    KM_TRY(km_krr_coefficients(ctx, &krr));
    KM_TRY(km_model_add_array(ctx, model, "intercept", 1, 1, krr.intercept));
    return km_gp_add_arrays(ctx, table, krr.beta, NULL, model);
}

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    if (table->n_targets != 1)
        return km_fail(ctx, KM_INVALID, "gp takes one target, got %zu", table->n_targets);
    return (km_krr_is_iterative(args) ? fit_iteratively : fit_exactly)(ctx, args, node, table, model);
}

/* ---- scoring ---- */

static KmStatus
run(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    return km_posterior_mean(ctx, score->posterior, m, z, out);
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    KmPosterior *posterior;
    KmKernel *kernel;

    KM_TRY(km_kernel_of(ctx, args, &kernel));
    KM_TRY(km_posterior_create(ctx, kernel, model, d, &posterior));
    *out = (KmScore) {.d = d, .n_out = 1, .decision = KM_DECISION_VALUES, .run = run, .posterior = posterior,
                      .noise = km_arg_number(args, "noise") + km_kernel_white(kernel)};
    return KM_OK;
}

const KmEstimatorType km_estimator_gp = {
    .signature = {
        .name = "gp",
        .what = "estimator",
        .params = {
            {.name = "kernel", .kinds = KM_KIND_KERNEL, .standard = "rbf", .positional = true},
            {.name = "noise", .kinds = KM_KIND_NUMBER, .standard = "0.1", .min = 0, .max = 1e300,
             .grid = true, .positional = true},
            {.name = "center", .kinds = KM_KIND_BOOL, .standard = "true"},
            {.name = "loo", .kinds = KM_KIND_BOOL, .standard = "false"},
            {.name = "optimize", .kinds = KM_KIND_BOOL, .standard = "false"},
            {.name = "bounds", .kinds = KM_KIND_LIST, .standard = "[1e-05, 100000]", .min = 0, .max = 1e300,
             .open = true},
            {.name = "restarts", .kinds = KM_KIND_INTEGER, .standard = "0", .min = 0, .max = 1000},
            {.name = "seed", .kinds = KM_KIND_INTEGER, .standard = "0", .min = 0, .max = 0x1p53},
            {.name = "variance", .kinds = KM_KIND_BOOL, .standard = "true"},
            KM_CG_PARAMS,
        },
    },
    .target = KM_TARGET_NUMBER,
    .check = check,
    .fit = fit,
    .prepare = prepare,
};
