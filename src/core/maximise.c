/*
 * maximise.c: SLSQP (Kraft, ACM TOMS 20, 1994) of NLopt: steps of a quasi-Newton model within bounds.
 *
 * NLopt minimises; it is given -f / s, s the size of the gradient at the start, so that its first step, along
 * the gradient itself, has length 1.
 */
#include "maximise.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

#define MOST_EVALUATIONS 500
#define VALUE_TOLERANCE 1e-9    /* relative */
#define THETA_TOLERANCE 1e-7    /* absolute */

typedef struct Climb
{
    KmContext *ctx;
    const KmObjective *objective;
    KmMaximum *maximum;
    nlopt_opt opt;
    double *start, *gradient;   /* n: the start and its gradient */
    double scale;
    double worst;               /* the least value seen */
    KmStatus status;
} Climb;

static void
keep_best(Climb *climb, const double *theta, double value)
{
    climb->worst = fmin(climb->worst, value);
    if (!(value > climb->maximum->value))
        return;
    climb->maximum->value = value;
    memcpy(climb->maximum->theta, theta, climb->objective->n * sizeof *theta);
}

/* Where there is no value, one below all of those seen turns the line search back. */
static double
refuse(Climb *climb, double *gradient)
{
    if (gradient != NULL)
        memset(gradient, 0, climb->objective->n * sizeof *gradient);
    climb->worst -= 10.0 * (1.0 + fabs(climb->worst));
    return -climb->worst / climb->scale;
}

/* The start has been evaluated. */
static KmStatus
evaluate(Climb *climb, const double *theta, double *value, double *gradient)
{
    const KmObjective *objective = climb->objective;
    size_t bytes = objective->n * sizeof *theta;

    if (climb->maximum->evaluations == 1 && memcmp(theta, climb->start, bytes) == 0)
    {
        *value = climb->maximum->value;
        if (gradient != NULL)
            memcpy(gradient, climb->gradient, bytes);
        return KM_OK;
    }
    climb->maximum->evaluations++;
    return objective->evaluate(climb->ctx, objective->state, theta, value, gradient);
}

/* gradient: NULL where NLopt wants none. */
static double
minus_value(unsigned n, const double *theta, double *gradient, void *state)
{
    Climb *climb = state;
    double value;
    KmStatus status = evaluate(climb, theta, &value, gradient);

    if (status == KM_SINGULAR || status == KM_RANGE || (status == KM_OK && !isfinite(value)))
        return refuse(climb, gradient);
    if (status != KM_OK)
    {
        climb->status = status;
        nlopt_force_stop(climb->opt);
        return 0.0;
    }
    keep_best(climb, theta, value);
    for (unsigned i = 0; i < n && gradient != NULL; i++)
        gradient[i] /= -climb->scale;
    return -value / climb->scale;
}

/* The start's own value, and from its gradient the scale. */
static KmStatus
begin(Climb *climb)
{
    KmMaximum *maximum = climb->maximum;
    double value, *gradient = climb->gradient;

    maximum->evaluations++;
    KM_TRY(climb->objective->evaluate(climb->ctx, climb->objective->state, maximum->theta, &value, gradient));
    climb->worst = maximum->value = value;
    for (size_t i = 0; i < climb->objective->n; i++)
        climb->scale = fmax(climb->scale, fabs(gradient[i]));
    if (!isfinite(value) || !isfinite(climb->scale))
        return km_fail(climb->ctx, KM_RANGE, "the objective is too large for double precision");
    return KM_OK;
}

static nlopt_result
run(Climb *climb, double *theta)
{
    const KmObjective *objective = climb->objective;
    double least;

    nlopt_set_lower_bounds(climb->opt, objective->lower);
    nlopt_set_upper_bounds(climb->opt, objective->upper);
    nlopt_set_min_objective(climb->opt, minus_value, climb);
    nlopt_set_ftol_rel(climb->opt, VALUE_TOLERANCE);
    nlopt_set_xtol_abs1(climb->opt, THETA_TOLERANCE);
    nlopt_set_maxeval(climb->opt, MOST_EVALUATIONS);
    return nlopt_optimize(climb->opt, theta, &least);
}

/* A step that rounding stops is an end like the others: the best point is kept here. */
static bool
has_converged(nlopt_result result)
{
    return (result > 0 && result != NLOPT_MAXEVAL_REACHED) || result == NLOPT_ROUNDOFF_LIMITED;
}

KmStatus
km_maximise(KmContext *ctx, const KmObjective *objective, KmMaximum *maximum)
{
    Climb climb = {.ctx = ctx, .objective = objective, .maximum = maximum, .scale = 1.0};
    nlopt_result result = NLOPT_OUT_OF_MEMORY;
    double *theta;

    *maximum = (KmMaximum) {.theta = maximum->theta, .value = -INFINITY};
    KM_TRY(km_alloc(ctx, objective->n, &climb.start));
    KM_TRY(km_alloc(ctx, objective->n, &climb.gradient));
    KM_TRY(km_alloc(ctx, objective->n, &theta));
    memcpy(theta, maximum->theta, objective->n * sizeof *theta);
    memcpy(climb.start, theta, objective->n * sizeof *theta);
    KM_TRY(begin(&climb));
    climb.opt = nlopt_create(NLOPT_LD_SLSQP, (unsigned) objective->n);
    if (climb.opt != NULL)
        result = run(&climb, theta);
    nlopt_destroy(climb.opt);
    KM_TRY(climb.status);
    if (result == NLOPT_OUT_OF_MEMORY)
        return km_fail(ctx, KM_MEMORY, "out of memory in NLopt");
    maximum->converged = has_converged(result);
    km_free(ctx, theta);
    km_free(ctx, climb.gradient);
    km_free(ctx, climb.start);
    return KM_OK;
}
