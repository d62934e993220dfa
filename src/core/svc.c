/*
 * svc.c: support vector classification, the estimator svc.
 *
 * A machine for each pair of classes (Cortes, Vapnik 1995; one-vs-one):
 *   maximise  sum alpha - 1/2 alpha'Q alpha,   0 <= alpha_i <= C_i,   y'alpha = 0,
 * with C_i = c times the row's weight times its class's; in signed form b_i = y_i alpha_i (smo.h).
 * decision(x) = sum_i b_i k(x_i, x) + intercept.
 */
#include "svc.h"

#include <math.h>
#include <string.h>

#include "learner_types.h"
#include "machines.h"

typedef struct Fit
{
    const KmArgs *args;
    const KmTable *table;
    const KmKernel *kernel;
    size_t k;                   /* classes */
    double *box;                /* table->n: C_i; 0: left out */
    size_t *size;               /* k: rows that take part */
    KmPoints *points;           /* all rows */
    KmPoints *subset;           /* those of a pair; NULL for two classes without rows left out */
    KmMachineRows rows;
    double *coef;               /* table->n x (k-1), columns as in svc.h */
    double *intercept;          /* one for each pair */
    KmMachineFacts facts;
} Fit;

/* One pair's problem, over its rows in table order. */
typedef struct Pair
{
    size_t p, q;                /* classes, p < q */
    size_t n;
    size_t *member;             /* n row numbers */
    double *linear, *lower, *upper, *b;
} Pair;

static double
weight_of(const KmTable *table, size_t i)
{
    return table->w == NULL ? 1 : table->w[i];
}

/* ---- class weights ---- */

/* The class that a key of class_weight names: by its text, or by its number (1.0 is 1). */
static KmStatus
find_class(KmContext *ctx, const KmClasses *classes, const char *key, size_t *out)
{
    KmNode *node;

    for (*out = 0; *out < classes->n; ++*out)
        if (strcmp(classes->text[*out], key) == 0)
            return KM_OK;
    if (classes->kind == KM_LABEL_NUMBER && km_spec_parse(ctx, key, strlen(key), &node) == KM_OK &&
        node->kind == KM_NODE_NUMBER)
        for (*out = 0; *out < classes->n; ++*out)
            if (classes->number[*out] == node->number)
                return KM_OK;
    km_fail(ctx, KM_INVALID, "class_weight names \"%s\", which is none of the classes", key);
    return km_hint(ctx, KM_INVALID, "Write labels as they are printed, the first of them here is \"%s\".",
                   classes->text[0]);
}

/* n / (k n_c), rows counted by weight. */
static void
balance_classes(const KmTable *table, size_t k, double *weight)
{
    double total = 0;

    memset(weight, 0, k * sizeof *weight);
    for (size_t i = 0; i < table->n; i++)
    {
        weight[table->label[i]] += weight_of(table, i);
        total += weight_of(table, i);
    }
    for (size_t c = 0; c < k; c++)
        weight[c] = total / ((double) k * weight[c]);
}

static KmStatus
class_weights(KmContext *ctx, const Fit *fit, double *weight)
{
    const KmValue *value = km_arg(fit->args, "class_weight");
    size_t c;

    for (c = 0; c < fit->k; c++)
        weight[c] = 1;
    if (value->kind == KM_KIND_WORD)
        balance_classes(fit->table, fit->k, weight);
    for (size_t r = 0; value->kind == KM_KIND_MAP && r < value->rows; r++)
    {
        KM_TRY(find_class(ctx, fit->table->classes, value->label[r], &c));
        weight[c] = value->list[r];
    }
    return KM_OK;
}

/* ---- boxes ---- */

/* C_i, where an infinite c does not revive a class of weight 0. */
static KmStatus
set_boxes(KmContext *ctx, Fit *fit)
{
    const KmTable *table = fit->table;
    double *weight, c = km_arg_number(fit->args, "c");

    KM_TRY(km_alloc(ctx, fit->k, &weight));
    KM_TRY(km_alloc(ctx, table->n, &fit->box));
    KM_TRY(km_alloc_zero(ctx, fit->k, &fit->size));
    KM_TRY(class_weights(ctx, fit, weight));
    for (size_t i = 0; i < table->n; i++)
    {
        double w = weight[table->label[i]] * weight_of(table, i);

        fit->box[i] = w > 0 ? c * w : 0;
        fit->size[table->label[i]] += fit->box[i] > 0;
    }
    return KM_OK;
}

static double
largest_box(const Fit *fit)
{
    double most = 0;

    for (size_t i = 0; i < fit->table->n; i++)
        most = fmax(most, fit->box[i]);
    return most;
}

/* At least two classes, and none so small a problem that no pair is left. */
static KmStatus
check_classes(KmContext *ctx, const Fit *fit)
{
    size_t present = 0, last = 0;

    for (size_t c = 0; c < fit->k; c++)
        if (fit->size[c] > 0)
        {
            present++;
            last = c;
        }
    if (present >= 2)
        return KM_OK;
    if (present == 0)
        return km_fail(ctx, KM_DATA, "svc needs at least two classes, all have weight 0");
    return km_fail(ctx, KM_DATA, "svc needs at least two classes, found only \"%s\"",
                   fit->table->classes->text[last]);
}

/* Rows of the largest pair. */
static size_t
largest_pair(const Fit *fit)
{
    size_t first = 0, second = 0;

    for (size_t c = 0; c < fit->k; c++)
        if (fit->size[c] > first)
        {
            second = first;
            first = fit->size[c];
        }
        else if (fit->size[c] > second)
            second = fit->size[c];
    return first + second;
}

/* ---- one pair ---- */

static KmStatus
pair_create(KmContext *ctx, size_t n_max, Pair *pair)
{
    KM_TRY(km_alloc(ctx, n_max, &pair->member));
    KM_TRY(km_alloc(ctx, n_max, &pair->linear));
    KM_TRY(km_alloc(ctx, n_max, &pair->lower));
    KM_TRY(km_alloc(ctx, n_max, &pair->upper));
    return km_alloc(ctx, n_max, &pair->b);
}

static void
pair_load(const Fit *fit, size_t p, size_t q, Pair *pair)
{
    pair->p = p;
    pair->q = q;
    pair->n = 0;
    for (size_t i = 0; i < fit->table->n; i++)
    {
        size_t v = pair->n, c = fit->table->label[i];

        if ((c != p && c != q) || fit->box[i] == 0)
            continue;
        pair->member[v] = i;
        pair->linear[v] = c == q ? -1 : 1;
        pair->lower[v] = c == q ? 0 : -fit->box[i];
        pair->upper[v] = c == q ? fit->box[i] : 0;
        pair->b[v] = 0;
        pair->n++;
    }
}

static KmStatus
pair_rows(KmContext *ctx, Fit *fit, const Pair *pair)
{
    if (fit->subset == NULL)
        return km_machine_open(ctx, &fit->rows, fit->points);
    km_points_gather(fit->points, pair->n, pair->member, fit->subset);
    return km_machine_open(ctx, &fit->rows, fit->subset);
}

static KmStatus
inseparable(KmContext *ctx, const Fit *fit, const Pair *pair)
{
    const char **text = fit->table->classes->text;

    km_fail(ctx, KM_DATA, "svc with c = inf: this kernel does not separate the classes \"%s\" and \"%s\"",
            text[pair->p], text[pair->q]);
    return km_hint(ctx, KM_DATA, "Use a finite c.");
}

static void
pair_store(Fit *fit, const Pair *pair)
{
    for (size_t v = 0; v < pair->n; v++)
    {
        size_t i = pair->member[v], c = fit->table->label[i];

        fit->coef[i * (fit->k - 1) + km_svc_column(c, c == pair->p ? pair->q : pair->p)] = pair->b[v];
    }
}

/* A class without rows loses to any other: its pairs decide by their intercept alone. */
static KmStatus
solve_pair(KmContext *ctx, Fit *fit, Pair *pair, double *intercept)
{
    const KmValue *limit = km_arg(fit->args, "max_iter");
    KmSolution solution = {.b = pair->b};
    KmQuadratic problem = {.n = pair->n, .p = pair->linear, .lower = pair->lower, .upper = pair->upper,
                           .tol = km_arg_number(fit->args, "tol")};

    if (fit->size[pair->p] == 0 || fit->size[pair->q] == 0)
    {
        *intercept = fit->size[pair->q] > 0 ? 1 : -1;
        return KM_OK;
    }
    problem.max_iter = limit->kind == 0 ? km_smo_default_steps(pair->n) : (uint64_t) limit->number;
    KM_TRY(pair_rows(ctx, fit, pair));
    KM_TRY(km_smo_solve(ctx, &problem, fit->rows.rows, &solution));
    if (solution.unbounded)
        return inseparable(ctx, fit, pair);
    pair_store(fit, pair);
    km_machine_count(&fit->facts, &solution);
    *intercept = solution.bias;
    return KM_OK;
}

static KmStatus
solve_pairs(KmContext *ctx, Fit *fit)
{
    size_t n_max = largest_pair(fit), done = 0;
    Pair pair;

    KM_TRY(pair_create(ctx, n_max, &pair));
    if (n_max < fit->table->n)
        KM_TRY(km_points_reserve(ctx, fit->points, n_max, &fit->subset));
    KM_TRY(km_machine_rows(ctx, fit->kernel, fit->points, n_max, fit->table->d,
                           km_arg_number(fit->args, "tol"), largest_box(fit), &fit->rows));
    for (size_t p = 0; p + 1 < fit->k; p++)
        for (size_t q = p + 1; q < fit->k; q++)
        {
            pair_load(fit, p, q, &pair);
            KM_TRY(solve_pair(ctx, fit, &pair, &fit->intercept[done++]));
        }
    km_rows_destroy(ctx, fit->rows.rows);
    return KM_OK;
}

/* ---- the model ---- */

static bool
is_support(const Fit *fit, size_t i)
{
    for (size_t e = 0; e + 1 < fit->k; e++)
        if (fit->coef[i * (fit->k - 1) + e] != 0)
            return true;
    return false;
}

/* Support rows class by class, in table order within; counts: k. */
static KmStatus
list_support(KmContext *ctx, const Fit *fit, size_t **member, double *counts, size_t *n_sv)
{
    KM_TRY(km_alloc(ctx, fit->table->n, member));
    *n_sv = 0;
    for (size_t c = 0; c < fit->k; c++)
    {
        size_t before = *n_sv;

        for (size_t i = 0; i < fit->table->n; i++)
            if (fit->table->label[i] == c && is_support(fit, i))
                (*member)[(*n_sv)++] = i;
        counts[c] = (double) (*n_sv - before);
    }
    return KM_OK;
}

static KmStatus
add_arrays(KmContext *ctx, const Fit *fit, KmModel *model, size_t *n_sv)
{
    size_t d = fit->table->d, columns = fit->k - 1, *member;
    double *rows, *coef, *counts;

    KM_TRY(km_alloc(ctx, fit->k, &counts));
    KM_TRY(list_support(ctx, fit, &member, counts, n_sv));
    KM_TRY(km_alloc_bytes(ctx, *n_sv, d * sizeof *rows, (void **) &rows));
    KM_TRY(km_alloc_bytes(ctx, *n_sv, columns * sizeof *coef, (void **) &coef));
    for (size_t s = 0; s < *n_sv; s++)
    {
        memcpy(rows + s * d, fit->table->x + member[s] * d, d * sizeof *rows);
        memcpy(coef + s * columns, fit->coef + member[s] * columns, columns * sizeof *coef);
    }
    KM_TRY(km_model_add_array(ctx, model, "rows", *n_sv, d, rows));
    KM_TRY(km_model_add_array(ctx, model, "coef", *n_sv, columns, coef));
    KM_TRY(km_model_add_array(ctx, model, "intercept", 1, fit->k * columns / 2, fit->intercept));
    return km_model_add_array(ctx, model, "counts", 1, fit->k, counts);
}

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    Fit fit = {.args = args, .table = table, .k = table->classes->n};
    KmKernel *kernel;
    size_t n_sv;

    KM_TRY(km_machine_reserve(ctx, "svc", table->n, table->d));
    KM_TRY(set_boxes(ctx, &fit));
    KM_TRY(check_classes(ctx, &fit));
    KM_TRY(km_machine_kernel(ctx, args, node, table, &kernel));
    fit.kernel = kernel;
    KM_TRY(km_points_create(ctx, kernel, table->n, table->d, table->x, NULL, &fit.points));
    KM_TRY(km_alloc_zero_bytes(ctx, table->n, (fit.k - 1) * sizeof *fit.coef, (void **) &fit.coef));
    KM_TRY(km_alloc_bytes(ctx, fit.k, (fit.k - 1) * sizeof *fit.intercept, (void **) &fit.intercept));
    KM_TRY(solve_pairs(ctx, &fit));
    KM_TRY(add_arrays(ctx, &fit, model, &n_sv));
    return km_machine_add_facts(ctx, args, &fit.facts, n_sv, model);
}

static const char *const weight_words[] = {"balanced", NULL};
static const char *const multiclass_words[] = {"ovo", NULL};

const KmEstimatorType km_estimator_svc = {
    .signature = {
        .name = "svc",
        .what = "estimator",
        .params = {
            {.name = "kernel", .kinds = KM_KIND_KERNEL, .standard = "rbf", .positional = true},
            {.name = "c", .alias = "cost", .kinds = KM_KIND_NUMBER, .standard = "1", .min = 0,
             .max = INFINITY, .open = true, .grid = true, .positional = true},
            {.name = "class_weight", .kinds = KM_KIND_WORD | KM_KIND_MAP, .min = 0, .max = 1e300,
             .words = weight_words},
            {.name = "tol", .kinds = KM_KIND_NUMBER, .standard = "1e-3", .min = 0, .max = 1, .open = true},
            {.name = "max_iter", .kinds = KM_KIND_INTEGER, .min = 1, .max = 1e15},
            {.name = "multiclass", .kinds = KM_KIND_WORD, .standard = "ovo", .words = multiclass_words},
        },
    },
    .target = KM_TARGET_LABEL,
    .fit = fit,
    .prepare = km_svc_prepare,
};
