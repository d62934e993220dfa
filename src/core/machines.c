/* machines.c: what the support vector machines share (see machines.h). */
#include "machines.h"

#include "columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SINGLE_TOL 1e-4         /* float32 rows for tolerances from here on … */
#define SINGLE_BOX 1e4          /* … and boxes up to here: rounding times the box stays below them */
#define CRAWL 10                /* iterations per variable that are many … */
#define WIDE 100                /* … and ratios of widths that explain them */
#define WORK_ARRAYS 24          /* float64 arrays of a solver over all variables, and its caller's */
#define WORK_BYTES ((size_t) 4 << 20)   /* tiles */
#define BLOCK_ARRAYS 4          /* copies of the rows of a block of variables */
#define POINT_ARRAYS 4          /* copies of the rows: points, in float32 and in panels, in the model */

/* ---- equal rows ---- */

static bool
are_equal(size_t n, const double *a, const double *b)
{
    size_t j = 0;

    while (j < n && a[j] == b[j])
        j++;
    return j == n;
}

static bool
repeats(const KmTable *table, size_t i)
{
    size_t d = table->d, targets = table->y == NULL ? 0 : table->n_targets;

    return i > 0 && (table->label == NULL || table->label[i] == table->label[i - 1]) &&
        are_equal(d, table->x + i * d, table->x + (i - 1) * d) &&
        are_equal(targets, table->y + i * targets, table->y + (i - 1) * targets);
}

/* Arrays of n rows. */
static KmStatus
allocate_table(KmContext *ctx, const KmTable *like, size_t n, double **x, double **y, uint32_t **label,
               double **w)
{
    KM_TRY(km_alloc_bytes(ctx, n, like->d * sizeof **x, (void **) x));
    KM_TRY(km_alloc(ctx, n, w));
    if (like->y != NULL)
        KM_TRY(km_alloc_bytes(ctx, n, like->n_targets * sizeof **y, (void **) y));
    return like->label == NULL ? KM_OK : km_alloc(ctx, n, label);
}

KmStatus
km_table_merge(KmContext *ctx, const KmArgs *args, const KmTable **table)
{
    KmKernel *kernel;
    const KmTable *from = *table;
    double *x, *y = NULL, *w;
    uint32_t *label = NULL;
    size_t n = 0, to = 0;
    KmTable *merged;

    KM_TRY(km_kernel_of(ctx, args, &kernel));
    for (size_t i = 0; i < from->n; i++)
    {
        KM_TRY(km_poll_row(ctx, i, from->d));
        n += !repeats(from, i);
    }
    if (n == from->n || km_kernel_white(kernel) > 0)
        return KM_OK;
    KM_TRY(km_alloc(ctx, 1, &merged));
    KM_TRY(allocate_table(ctx, from, n, &x, &y, &label, &w));
    for (size_t i = 0; i < from->n; i++)
    {
        KM_TRY(km_poll_row(ctx, i, from->d));
        if (repeats(from, i))
        {
            w[to - 1] += km_table_weight(from, i);
            continue;
        }
        memcpy(x + to * from->d, from->x + i * from->d, from->d * sizeof *x);
        if (y != NULL)
            memcpy(y + to * from->n_targets, from->y + i * from->n_targets, from->n_targets * sizeof *y);
        if (label != NULL)
            label[to] = from->label[i];
        w[to++] = km_table_weight(from, i);
    }
    *merged = *from;
    merged->n = n;
    merged->x = x;
    merged->y = y;
    merged->label = label;
    merged->w = w;
    *table = merged;
    return KM_OK;
}

/* ---- beginning ---- */

/* Bytes of a block of variables and its points. */
static size_t
block_bytes(size_t n, size_t d)
{
    size_t size = km_smo_block_size(n);

    return 8 * size * (size + BLOCK_ARRAYS * d);
}

static KmStatus
check_memory(KmContext *ctx, const char *what, const KmTable *table, size_t columns, size_t n_intercepts)
{
    size_t n = table->n, d = table->d;
    double rows = 8.0 * (double) (n + KM_ROWS_PAD) * KM_ROWS_BATCH;
    double arrays = 8.0 * (double) n * (WORK_ARRAYS + POINT_ARRAYS * (double) d + (double) columns) +
        8.0 * (double) n_intercepts;
    char text[100];

    if (table->label == NULL || table->classes->n <= 2)
        snprintf(text, sizeof text, "%s on %zu rows", what, n);
    else
        snprintf(text, sizeof text, "%s on %zu rows of %zu classes", what, n, table->classes->n);
    return km_reserve(ctx, WORK_BYTES + block_bytes(n, d) + arrays + rows, text,
                      "Use a sample of the rows.");
}

KmStatus
km_machine_begin(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, size_t columns,
                 size_t n_intercepts, KmMachine *out)
{
    *out = (KmMachine) {.args = args, .table = table, .tol = km_arg_number(args, "tol"), .columns = columns,
                        .n_intercepts = n_intercepts, .used_before = ctx->used_bytes};
    KM_TRY(check_memory(ctx, args->signature->name, table, columns, n_intercepts));
    KM_TRY(km_estimator_kernel(ctx, args, node, table, &out->kernel));
    KM_TRY(km_points_create(ctx, out->kernel, table->n, table->d, table->x, NULL, &out->points));
    KM_TRY(km_alloc_zero_bytes(ctx, table->n, columns * sizeof *out->coef, (void **) &out->coef));
    return km_alloc(ctx, n_intercepts, &out->intercept);
}

/* ---- solving ---- */

KmStatus
km_machine_reserve_rows(KmContext *ctx, KmMachine *machine, size_t n_max, double box)
{
    const KmKernel *kernel = machine->kernel;
    size_t d = machine->table->d, left, most_free = km_smo_most_free(n_max);
    size_t arrays = n_max * (WORK_ARRAYS + 2 * d) + most_free * most_free;
    size_t work = WORK_BYTES + block_bytes(n_max, d) + 8 * arrays;
    bool single = km_kernel_has_f32(kernel) && (kernel->flags & KM_BOUNDED) &&
        machine->tol >= SINGLE_TOL && box <= SINGLE_BOX;

    KM_TRY(km_row_source_create(ctx, kernel, n_max, d, single, machine->points, &machine->source));
    left = ctx->max_bytes - ctx->used_bytes;
    return km_rows_create(ctx, n_max, single, left > work ? left - work : 0, &machine->rows);
}

KmStatus
km_machine_open(KmContext *ctx, KmMachine *machine, const KmPoints *points)
{
    KM_TRY(km_row_source_open(ctx, machine->source, points));
    km_rows_open(machine->rows, machine->source);
    return KM_OK;
}

KmStatus
km_machine_solve(KmContext *ctx, KmMachine *machine, KmQuadratic *problem, KmSolution *solution)
{
    const KmValue *limit = km_arg(machine->args, "max_iter");
    KmMachineFacts *facts = &machine->facts;

    problem->tol = machine->tol;
    problem->max_iter = limit->kind == 0 ? km_smo_default_steps(problem->n) : (uint64_t) limit->number;
    KM_TRY(km_smo_solve(ctx, problem, machine->rows, solution));
    facts->objective -= solution->objective;
    facts->gap = fmax(facts->gap, solution->gap);
    facts->iterations += solution->iterations;
    facts->variables += problem->n;
    facts->unfinished += !solution->converged;
    facts->limited += solution->limited;
    return KM_OK;
}

/* ---- slow progress ---- */

static void
warn_unfinished(KmContext *ctx, const KmMachine *machine)
{
    const KmMachineFacts *facts = &machine->facts;
    const char *name = machine->args->signature->name;

    if (facts->limited > 0)
        km_warn(ctx, "%s did not converge: after %" PRIu64 " iterations the gap is %g, tol is %g", name,
                facts->iterations, facts->gap, machine->tol);
    else if (facts->unfinished > 0)
        km_warn(ctx, "%s did not converge: rounding leaves a gap of %g, tol is %g; a smaller c, or features "
                "of smaller values, leave less", name, facts->gap, machine->tol);
}

/* Standard deviation of the widest column over that of the narrowest that is not constant. */
static KmStatus
scale_ratio(KmContext *ctx, const KmTable *table, double *out)
{
    double *sd, narrowest = INFINITY;
    KmColumns columns;

    KM_TRY(km_alloc(ctx, table->d, &sd));
    KM_TRY(km_columns_summarise(ctx, table->n, table->d, table->x, table->w, &columns));
    KM_TRY(km_columns_deviation(ctx, table->n, table->d, table->x, table->w, &columns, sd));
    for (size_t j = 0; j < table->d; j++)
        if (sd[j] > 0)
            narrowest = fmin(narrowest, sd[j]);
    *out = km_largest(table->d, sd) / narrowest;
    return KM_OK;
}

/* Columns of very different widths make a kernel that is nearly constant, or nearly the identity, along some
 * of them: the usual reason for a solver that crawls. */
static KmStatus
advise(KmContext *ctx, const KmMachine *machine)
{
    const KmMachineFacts *facts = &machine->facts;
    double ratio;

    if (facts->iterations < CRAWL * facts->variables || km_kernel_is_index(machine->kernel))
        return KM_OK;
    KM_TRY(scale_ratio(ctx, machine->table, &ratio));
    if (ratio >= WIDE)
        km_notice(ctx, "%s took %" PRIu64 " iterations: the widest feature is %.3g times wider than the "
                  "narrowest; begin the learner with the step \"scale\"", machine->args->signature->name,
                  facts->iterations, ratio);
    return KM_OK;
}

/* ---- the model ---- */

static bool
is_support(const KmMachine *machine, size_t i)
{
    for (size_t c = 0; c < machine->columns; c++)
        if (machine->coef[i * machine->columns + c] != 0)
            return true;
    return false;
}

/* Add the support rows of a class, or of all where there are none; returns how many. */
static size_t
list_class(const KmMachine *machine, size_t class, size_t *member)
{
    const KmTable *table = machine->table;
    size_t found = 0;

    for (size_t i = 0; i < table->n; i++)
        if ((table->label == NULL || table->label[i] == class) && is_support(machine, i))
            member[found++] = i;
    return found;
}

static KmStatus
list_support(KmContext *ctx, const KmMachine *machine, KmModel *model, size_t **member, size_t *n_sv)
{
    const KmTable *table = machine->table;
    size_t k = table->label == NULL ? 1 : table->classes->n;
    double *counts;

    KM_TRY(km_alloc(ctx, table->n, member));
    KM_TRY(km_alloc(ctx, k, &counts));
    *n_sv = 0;
    for (size_t c = 0; c < k; c++)
    {
        size_t found = list_class(machine, c, *member + *n_sv);

        counts[c] = (double) found;
        *n_sv += found;
    }
    return table->label == NULL ? KM_OK : km_model_add_array(ctx, model, "counts", 1, k, counts);
}

/* The share of the support rows, by weight: leaving out any other row changes nothing, so that no larger
 * share of the rows can be wrong when each is left out in turn (Luntz, Brailovsky 1969). */
static double
support_share(const KmMachine *machine, size_t n_sv, const size_t *member)
{
    double sum = 0;

    for (size_t s = 0; s < n_sv; s++)
        sum += km_table_weight(machine->table, member[s]);
    return sum / km_table_weights(machine->table);
}

static KmStatus
add_arrays(KmContext *ctx, const KmMachine *machine, KmModel *model)
{
    size_t d = machine->table->d, columns = machine->columns, *member, n_sv;
    double *rows, *coef;

    KM_TRY(list_support(ctx, machine, model, &member, &n_sv));
    KM_TRY(km_alloc_bytes(ctx, n_sv, d * sizeof *rows, (void **) &rows));
    KM_TRY(km_alloc_bytes(ctx, n_sv, columns * sizeof *coef, (void **) &coef));
    for (size_t s = 0; s < n_sv; s++)
    {
        KM_TRY(km_poll_row(ctx, s, d));
        memcpy(rows + s * d, machine->table->x + member[s] * d, d * sizeof *rows);
        memcpy(coef + s * columns, machine->coef + member[s] * columns, columns * sizeof *coef);
    }
    KM_TRY(km_model_add_array(ctx, model, "rows", n_sv, d, rows));
    KM_TRY(km_model_add_array(ctx, model, "coef", n_sv, columns, coef));
    KM_TRY(km_model_add_array(ctx, model, "intercept", 1, machine->n_intercepts, machine->intercept));
    KM_TRY(km_model_add_fact(ctx, model, "n_sv", KM_FACT_COUNT, (double) n_sv));
    if (machine->table->label == NULL && machine->table->y != NULL)
        return KM_OK;           /* regression: numbers are not right or wrong */
    return km_model_add_fact(ctx, model, "loo_bound", KM_FACT_NUMBER, support_share(machine, n_sv, member));
}

KmStatus
km_machine_end(KmContext *ctx, KmMachine *machine, KmModel *model)
{
    const KmMachineFacts *facts = &machine->facts;
    size_t kept = km_rows_kept(machine->rows), memory = ctx->peak_bytes - machine->used_before;

    km_rows_destroy(ctx, machine->rows);
    warn_unfinished(ctx, machine);
    KM_TRY(advise(ctx, machine));
    KM_TRY(add_arrays(ctx, machine, model));
    KM_TRY(km_model_add_fact(ctx, model, "objective", KM_FACT_NUMBER, facts->objective));
    KM_TRY(km_model_add_fact(ctx, model, "gap", KM_FACT_NUMBER, facts->gap));
    KM_TRY(km_model_add_fact(ctx, model, "iterations", KM_FACT_COUNT, (double) facts->iterations));
    KM_TRY(km_model_add_fact(ctx, model, "rows_kept", KM_FACT_COUNT, (double) kept));
    KM_TRY(km_model_add_fact(ctx, model, "memory", KM_FACT_COUNT, (double) memory));
    return km_model_add_fact(ctx, model, "converged", KM_FACT_BOOL, facts->unfinished == 0);
}
