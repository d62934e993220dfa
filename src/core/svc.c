/*
 * svc.c: support vector classification, the estimator svc.
 *
 * A machine for each pair of classes (Cortes, Vapnik 1995; one-vs-one), or for each class against the rest:
 *   maximise  sum alpha - 1/2 alpha'Q alpha,   0 <= alpha_i <= C_i,   y'alpha = 0,
 * with C_i = c times the row's weight times its class's; in signed form b_i = y_i alpha_i (smo.h).
 * decision(x) = sum_i b_i k(x_i, x) + intercept.
 */
#include <math.h>
#include <string.h>

#include "learner_types.h"
#include "multiclass.h"
#include "pairs.h"

/* ---- one machine ---- */

/* C_i, where an infinite c does not revive a class of weight 0. */
static KmStatus
make_boxes(KmContext *ctx, const KmArgs *args, const KmTable *table, double **out)
{
    double *weight, c = km_arg_number(args, "c");

    KM_TRY(km_alloc(ctx, table->classes->n, &weight));
    KM_TRY(km_alloc(ctx, table->n, out));
    KM_TRY(km_class_weights(ctx, args, table, weight));
    for (size_t i = 0; i < table->n; i++)
    {
        double w = weight[table->label[i]] * km_table_weight(table, i);

        (*out)[i] = w > 0 ? c * w : 0;
    }
    return KM_OK;
}

/* Variable v of a row that stands on the positive or negative side. */
static void
set_variable(double box, bool positive, size_t v, double *linear, double *lower, double *upper, double *b)
{
    linear[v] = positive ? -1 : 1;
    lower[v] = positive ? 0 : -box;
    upper[v] = positive ? box : 0;
    b[v] = 0;
}

static KmStatus
hint_finite(KmContext *ctx)
{
    return km_hint(ctx, KM_DATA, "Use a finite c.");
}

/* ---- pairs ---- */

static void
load_pair(const KmPairs *pairs, KmPair *pair)
{
    for (size_t v = 0; v < pair->n; v++)
    {
        size_t i = pair->member[v];

        set_variable(pairs->box[i], pairs->machine->table->label[i] == pair->q, v, pair->linear, pair->lower,
                     pair->upper, pair->b);
    }
}

static KmStatus
finish_pair(KmContext *ctx, const KmPairs *pairs, KmPair *pair, KmSolution *solution)
{
    const char **text = pairs->machine->table->classes->text;
    char first[KM_QUOTE_SIZE], second[KM_QUOTE_SIZE];

    if (!solution->unbounded)
        return KM_OK;
    km_fail(ctx, KM_DATA, "svc with c = inf: this kernel does not separate the classes \"%s\" and \"%s\"",
            km_quote(text[pair->p], first), km_quote(text[pair->q], second));
    return hint_finite(ctx);
}

/* ---- one against the rest ---- */

/* Machine c of all classes over all rows; those left out have a box of 0.  A class without rows is never the
 * answer. */
static KmStatus
solve_class(KmContext *ctx, const KmPairs *pairs, size_t c, KmPair *all)
{
    KmMachine *machine = pairs->machine;
    const KmTable *table = machine->table;
    KmSolution solution = {.b = all->b};
    KmQuadratic problem = {.n = table->n, .p = all->linear, .lower = all->lower, .upper = all->upper};
    char quoted[KM_QUOTE_SIZE];

    machine->intercept[c] = -1;
    if (pairs->size[c] == 0)
        return KM_OK;
    for (size_t i = 0; i < table->n; i++)
        set_variable(pairs->box[i], table->label[i] == c, i, all->linear, all->lower, all->upper, all->b);
    KM_TRY(km_machine_solve(ctx, machine, &problem, &solution));
    if (solution.unbounded)
    {
        km_fail(ctx, KM_DATA,
                "svc with c = inf: this kernel does not separate the class \"%s\" from the rest",
                km_quote(table->classes->text[c], quoted));
        return hint_finite(ctx);
    }
    for (size_t i = 0; i < table->n; i++)
        machine->coef[i * machine->columns + c] = all->b[i];
    machine->intercept[c] = solution.bias;
    return KM_OK;
}

/* All machines share the rows of K. */
static KmStatus
solve_classes(KmContext *ctx, const KmPairs *pairs)
{
    KmMachine *machine = pairs->machine;
    size_t n = machine->table->n;
    KmPair all;

    KM_TRY(km_alloc(ctx, n, &all.linear));
    KM_TRY(km_alloc(ctx, n, &all.lower));
    KM_TRY(km_alloc(ctx, n, &all.upper));
    KM_TRY(km_alloc(ctx, n, &all.b));
    KM_TRY(km_machine_reserve_rows(ctx, machine, n, km_largest(n, pairs->box)));
    KM_TRY(km_machine_open(ctx, machine, machine->points));
    for (size_t c = 0; c < machine->columns; c++)
        KM_TRY(solve_class(ctx, pairs, c, &all));
    return KM_OK;
}

/* ---- the estimator ---- */

/* With probability=true. */
static KmStatus
begin_calibration(KmContext *ctx, const KmArgs *args, const KmTable *table, KmPairs *pairs)
{
    size_t k = table->classes->n;

    if (km_arg_number(args, "probability") == 0)
        return KM_OK;
    if (km_is_one_vs_rest(args, k))
    {
        km_fail(ctx, KM_UNSUPPORTED,
                "svc has probabilities of pairs of classes only, not with multiclass=ovr");
        return km_hint(ctx, KM_UNSUPPORTED, "Fit with multiclass=ovo.");
    }
    KM_TRY(km_alloc(ctx, k * (k - 1) / 2, &pairs->sigmoid));
    return km_calibration_create(ctx, args, table, pairs->box, &pairs->calibration);
}

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    size_t k = table->classes->n;
    bool rest = km_is_one_vs_rest(args, k);
    KmMachine machine = {.args = args};
    KmPairs pairs = {.machine = &machine, .n_groups = 1, .load = load_pair, .finish = finish_pair};
    double *box;

    KM_TRY(km_table_merge(ctx, args, &table));
    machine.table = table;
    KM_TRY(make_boxes(ctx, args, table, &box));
    pairs.box = box;
    KM_TRY(km_pairs_count(ctx, &pairs));
    KM_TRY(begin_calibration(ctx, args, table, &pairs));
    KM_TRY(km_machine_begin(ctx, args, node, table, rest ? k : k - 1, rest ? k : k * (k - 1) / 2, &machine));
    KM_TRY(rest ? solve_classes(ctx, &pairs) : km_pairs_solve(ctx, &pairs));
    KM_TRY(km_machine_end(ctx, &machine, model));
    return pairs.calibration == NULL ? KM_OK :
        km_model_add_array(ctx, model, "sigmoid", machine.n_intercepts, 2, &pairs.sigmoid->a);
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    if (!km_is_one_vs_rest(args, model->classes.n))
        return km_machine_prepare_pairs(ctx, args, model, d, out);
    KM_TRY(km_machine_prepare_columns(ctx, args, model, d, out));
    out->decision = KM_DECISION_CLASSES;
    return KM_OK;
}

const KmEstimatorType km_estimator_svc = {
    .signature = {
        .name = "svc",
        .what = "estimator",
        .params = {
            KM_PARAM_MACHINE_KERNEL,
            KM_PARAM_C(INFINITY),
            KM_PARAM_CLASS_WEIGHT,
            {.name = "probability", .kinds = KM_KIND_BOOL, .standard = "false"},
            KM_PARAM_TOL,
            KM_PARAM_MAX_ITER,
            KM_PARAM_MULTICLASS,
            {.name = "seed", .kinds = KM_KIND_INTEGER, .standard = "0", .min = 0, .max = 0x1p53},
        },
    },
    .target = KM_TARGET_LABEL,
    .fit = fit,
    .prepare = prepare,
};
