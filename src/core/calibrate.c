/* calibrate.c: sigmoids from decision values out of fold (see calibrate.h). */
#include "calibrate.h"

#include <math.h>

#include "folds.h"

#define FOLDS 5

struct KmCalibration
{
    const KmTable *table;
    unsigned char *fold;        /* table->n */
    /* Of the problem at hand, by variable: room for table->n. */
    double *lower, *upper, *b, *gradient;
    double *value;              /* decision of a machine that has not seen the row */
    double *w;                  /* NULL: ones */
    bool *positive;
};

/* ---- folds ---- */

static KmStatus
check_distinct(KmContext *ctx, const KmArgs *args, const KmTable *table, const size_t *distinct)
{
    char quoted[KM_QUOTE_SIZE];

    for (size_t c = 0; c < table->classes->n; c++)
        if (distinct[c] < FOLDS)
        {
            km_fail(ctx, KM_DATA,
                    "%s with probability=true needs at least %d different rows of each class, "
                    "class \"%s\" has %zu",
                    args->signature->name, FOLDS, km_quote(table->classes->text[c], quoted), distinct[c]);
            return km_hint(ctx, KM_DATA, "Fit without probability, or to more rows.");
        }
    return KM_OK;
}

KmStatus
km_calibration_create(KmContext *ctx, const KmArgs *args, const KmTable *table, const double *box,
                      KmCalibration **out)
{
    uint64_t seed = (uint64_t) km_arg_number(args, "seed");
    KmCalibration *calibration;
    size_t *distinct;

    KM_TRY(km_alloc_zero(ctx, 1, &calibration));
    calibration->table = table;
    KM_TRY(km_alloc(ctx, table->n, &calibration->fold));
    KM_TRY(km_alloc(ctx, table->classes->n, &distinct));
    KM_TRY(km_folds_by_class(ctx, table, box, FOLDS, seed, calibration->fold, distinct));
    KM_TRY(check_distinct(ctx, args, table, distinct));
    KM_TRY(km_alloc(ctx, table->n, &calibration->lower));
    KM_TRY(km_alloc(ctx, table->n, &calibration->upper));
    KM_TRY(km_alloc(ctx, table->n, &calibration->b));
    KM_TRY(km_alloc(ctx, table->n, &calibration->gradient));
    KM_TRY(km_alloc(ctx, table->n, &calibration->value));
    KM_TRY(km_alloc(ctx, table->n, &calibration->positive));
    if (table->w != NULL)
        KM_TRY(km_alloc(ctx, table->n, &calibration->w));
    *out = calibration;
    return KM_OK;
}

/* ---- one machine ---- */

/* Take what the sum of b is off from variables of the sign that weighs too much, the first ones first. */
static void
balance(size_t n, double off, double *b)
{
    for (size_t v = 0; v < n && off != 0; v++)
    {
        double part = copysign(fmin(fabs(b[v]), fabs(off)), off);

        if ((b[v] > 0) != (off > 0) || b[v] == 0)
            continue;
        b[v] -= part;
        off -= part;
    }
}

/* The rows of a fold have boxes of 0; the others start from the whole problem's solution. */
static void
load_fold(KmCalibration *calibration, const KmQuadratic *problem, const size_t *member, const double *b,
          size_t f)
{
    double off = 0;

    for (size_t v = 0; v < problem->n; v++)
    {
        bool held_out = calibration->fold[member[v]] == f;

        calibration->lower[v] = held_out ? 0 : problem->lower[v];
        calibration->upper[v] = held_out ? 0 : problem->upper[v];
        calibration->b[v] = held_out ? 0 : b[v];
        off += calibration->b[v];
    }
    balance(problem->n, off, calibration->b);
}

/* A machine without the fold's rows gives them their decision values. */
static KmStatus
solve_fold(KmContext *ctx, KmCalibration *calibration, KmMachine *machine, const KmQuadratic *problem,
           const size_t *member, size_t f)
{
    KmSolution solution = {.b = calibration->b, .gradient = calibration->gradient};
    KmQuadratic part = *problem;

    part.lower = calibration->lower;
    part.upper = calibration->upper;
    KM_TRY(km_smo_solve(ctx, &part, machine->rows, &solution));
    for (size_t v = 0; v < problem->n; v++)
        if (calibration->fold[member[v]] == f)
            calibration->value[v] = calibration->gradient[v] - problem->p[v] + solution.bias;
    if (solution.converged)
        return KM_OK;
    machine->facts.unfinished++;
    machine->facts.limited += solution.limited;
    machine->facts.gap = fmax(machine->facts.gap, solution.gap);
    return KM_OK;
}

KmStatus
km_calibrate(KmContext *ctx, KmCalibration *calibration, KmMachine *machine, const KmQuadratic *problem,
             const size_t *member, const double *b, KmSigmoid *out)
{
    for (size_t f = 0; f < FOLDS; f++)
    {
        load_fold(calibration, problem, member, b, f);
        KM_TRY(solve_fold(ctx, calibration, machine, problem, member, f));
    }
    for (size_t v = 0; v < problem->n; v++)
    {
        calibration->positive[v] = problem->p[v] < 0;
        if (calibration->w != NULL)
            calibration->w[v] = calibration->table->w[member[v]];
    }
    return km_sigmoid_fit(ctx, problem->n, calibration->value, calibration->positive, calibration->w, out);
}
