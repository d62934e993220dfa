/*
 * nu_svc.c: support vector classification with nu, one-vs-one: the estimator nu_svc.
 *
 *   maximise  -1/2 alpha'Q alpha,   0 <= alpha_i <= w_i,   y'alpha = 0,   sum alpha = nu sum w
 * (Schoelkopf, Smola, Williamson, Bartlett 2000), so that each class has half of the sum: in signed form its
 * rows are a group of variables.  Coefficients and intercept are divided by the margin r, as LIBSVM does, so
 * that the decision is +-1 on it.
 */
#include <math.h>

#include "learner_types.h"
#include "pairs.h"

#define LARGEST_EXPONENT 20     /* weights below 2^20 are solved as they are */
#define LEAST_MARGIN 1e-12      /* of the levels that it is the difference of; less is rounding */

/* ---- the largest nu ---- */

/* A pair has a solution up to nu = 2 min(w_p, w_q) / (w_p + w_q), w the weights of its classes. */
static double
largest_nu(double wp, double wq)
{
    return 2 * fmin(wp, wq) / (wp + wq);
}

static KmStatus
check_nu(KmContext *ctx, const KmArgs *args, const KmTable *table)
{
    size_t k = table->classes->n, worst[2] = {0, 0};
    double nu = km_arg_number(args, "nu"), least = 1, *weight;
    char first[KM_QUOTE_SIZE], second[KM_QUOTE_SIZE];

    KM_TRY(km_alloc_zero(ctx, k, &weight));
    for (size_t i = 0; i < table->n; i++)
        weight[table->label[i]] += km_table_weight(table, i);
    for (size_t p = 0; p + 1 < k; p++)
        for (size_t q = p + 1; q < k; q++)
            if (weight[p] > 0 && weight[q] > 0 && largest_nu(weight[p], weight[q]) < least)
            {
                least = largest_nu(weight[p], weight[q]);
                worst[0] = p;
                worst[1] = q;
            }
    if (nu <= least)
        return KM_OK;
    km_fail(ctx, KM_INVALID, "nu = %.15g is infeasible, the largest here is %.15g", nu, least);
    km_detail(ctx, KM_INVALID,
              "Classes \"%s\" and \"%s\" weigh %g and %g; nu is at most twice the smaller over their sum.",
              km_quote(table->classes->text[worst[0]], first),
              km_quote(table->classes->text[worst[1]], second), weight[worst[0]], weight[worst[1]]);
    return km_hint(ctx, KM_INVALID, "Use a smaller nu, or svc with class_weight=balanced.");
}

/* Only the ratios of the weights count, because decisions are divided by r, but the tolerance is for weights
 * about 1: others are solved in units of a power of two. */
static double
unit_of_weights(const KmTable *table)
{
    double largest = 0;
    int exponent;

    for (size_t i = 0; i < table->n; i++)
        largest = fmax(largest, km_table_weight(table, i));
    frexp(largest, &exponent);
    return exponent < 1 || exponent > LARGEST_EXPONENT ? ldexp(1, exponent - 1) : 1;
}

/* ---- pairs ---- */

/* Class q is the first group, class p the second; the first rows of each start as full as their boxes
 * allow. */
static void
load_pair(const KmPairs *pairs, KmPair *pair)
{
    const KmTable *table = pairs->machine->table;
    size_t n = pair->n;
    double total = 0, left[2];

    for (size_t v = 0; v < n; v++)
        total += pairs->box[pair->member[v]];
    left[0] = left[1] = km_arg_number(pairs->machine->args, "nu") * total / 2;
    for (size_t v = 0; v < n; v++)
    {
        size_t i = pair->member[v], group = table->label[i] == pair->q ? 0 : 1;
        double box = pairs->box[i], b = fmin(box, left[group]);

        left[group] -= b;
        pair->linear[v] = 0;
        pair->lower[v] = pair->upper[n + v] = 0;
        pair->upper[v] = group == 0 ? box : 0;
        pair->lower[n + v] = group == 1 ? -box : 0;
        pair->b[v] = group == 0 ? b : 0;
        pair->b[n + v] = group == 1 ? -b : 0;
    }
}

/* Where the reduced hulls of the classes meet there is no margin: all decisions are about 0, and stay so. */
static KmStatus
finish_pair(KmContext *ctx, const KmPairs *pairs, KmPair *pair, KmSolution *solution)
{
    double r = solution->margin;

    (void) ctx;
    if (!(r > LEAST_MARGIN * fabs(solution->bias)))
        return KM_OK;
    for (size_t v = 0; v < pairs->n_groups * pair->n; v++)
        pair->b[v] /= r;
    solution->bias /= r;
    return KM_OK;
}

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    size_t k = table->classes->n;
    KmMachine machine = {.args = args};
    KmPairs pairs = {.machine = &machine, .n_groups = 2, .load = load_pair, .finish = finish_pair};
    double *box, unit;

    KM_TRY(km_table_merge(ctx, args, &table));
    machine.table = table;
    KM_TRY(km_alloc(ctx, table->n, &box));
    unit = unit_of_weights(table);
    for (size_t i = 0; i < table->n; i++)
        box[i] = km_table_weight(table, i) / unit;
    pairs.box = box;
    KM_TRY(km_pairs_count(ctx, &pairs));
    KM_TRY(check_nu(ctx, args, table));
    KM_TRY(km_machine_begin(ctx, args, node, table, k - 1, k * (k - 1) / 2, &machine));
    KM_TRY(km_pairs_solve(ctx, &pairs));
    machine.facts.objective *= unit * unit;
    return km_machine_end(ctx, &machine, model);
}

const KmEstimatorType km_estimator_nu_svc = {
    .signature = {
        .name = "nu_svc",
        .what = "estimator",
        .params = {
            KM_PARAM_MACHINE_KERNEL,
            KM_PARAM_NU,
            KM_PARAM_TOL,
            KM_PARAM_MAX_ITER,
        },
    },
    .target = KM_TARGET_LABEL,
    .fit = fit,
    .prepare = km_machine_prepare_pairs,
};
