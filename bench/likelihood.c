/*
 * likelihood.c: seconds of one log marginal likelihood of a Gaussian process with its gradient, as the search
 * of gp(…, optimize=true) asks for it.
 *
 *   likelihood wall|cpu LEARNER < rows        LEARNER: gp(…), every length a number
 *   rows: n d, then n lines of x (d numbers) and y
 *
 * Its km_maximise takes the place of core's (maximise.c), so that km_gp_optimise hands over the very function
 * that a search would climb.
 */
#include "clock.h"
#include "gp.h"
#include "maximise.h"

#include <stdio.h>

/* The first evaluation, not timed, uses up the factor that the search already has at its start. */
KmStatus km_maximise(KmContext *ctx, const KmObjective *objective, KmMaximum *maximum)
{
    double *gradient, start = 0;

    KM_TRY(km_alloc(ctx, objective->n, &gradient));
    for (int i = 0; i < 2; i++)
    {
        start = seconds();
        KM_TRY(objective->evaluate(ctx, objective->state, maximum->theta, &maximum->value, gradient));
    }
    printf("%.6f\n", seconds() - start);
    return KM_OK;
}

/* The rows, as a table of one target. */
static KmStatus read_rows(KmContext *ctx, KmTable *table)
{
    size_t n, d;
    double *x, *y;

    if (scanf("%zu %zu", &n, &d) != 2)
        return km_fail(ctx, KM_DATA, "no sizes");
    KM_TRY(km_alloc_bytes(ctx, n, d * sizeof *x, (void **) &x));
    KM_TRY(km_alloc(ctx, n, &y));
    for (size_t i = 0; i < n * (d + 1); i++)
    {
        size_t row = i / (d + 1), column = i % (d + 1);

        if (scanf("%lf", column < d ? x + row * d + column : y + row) != 1)
            return km_fail(ctx, KM_DATA, "row %zu of %zu is not complete", row + 1, n);
    }
    *table = (KmTable) {.n = n, .d = d, .x = x, .n_targets = 1, .y = y};
    return KM_OK;
}

static KmStatus run(KmContext *ctx, const char *text)
{
    KmTable table;
    KmLearner *learner;
    KmGpSystem system;
    KmModel *model;

    KM_TRY(km_learner_parse(ctx, text, strlen(text), &learner));
    KM_TRY(read_rows(ctx, &table));
    KM_TRY(km_model_create(ctx, &model));
    KM_TRY(km_gp_open(ctx, &table, true, &system));
    KM_TRY(km_estimator_kernel(ctx, &learner->args, learner->estimator_node, &table, &system.kernel));
    system.noise = km_arg_number(&learner->args, "noise");
    return km_gp_optimise(ctx, &learner->args, &system, model);
}

int main(int count, char **arguments)
{
    KmContext *ctx = km_context_create(SIZE_MAX);

    if (count != 3 || ctx == NULL)
        return 2;
    choose_clock(arguments[1]);
    if (run(ctx, arguments[2]) == KM_OK)
        return 0;
    fprintf(stderr, "likelihood: %s\n", ctx->message);
    return 1;
}
