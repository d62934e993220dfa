/*
 * hinge.c: linear support vector machines by a primal-dual interior-point method with Mehrotra's
 * predictor and corrector (Mehrotra 1992; Ferris, Munson 2003).
 *
 * The dual is  maximise e'a - 1/2 |w|^2,  w = sum_t a_t s_t x_t,  s'a = 0,  0 <= a <= C.  With multipliers z,
 * u of the bounds, and theta_t = 1 / (z_t/a_t + u_t/(C_t - a_t)), a Newton step is a system in (w, b) alone:
 *   [ I + X'TX   X'T1 ] [dw]      T = diag of the sums of theta over the terms of a row,
 *   [   1'TX     1'T1 ] [db],
 * so that neither the Gram matrix nor its rows are ever made: a few weighted products X'TX, however large C.
 * The intercept at the end is not the method's own but the middle of the interval of best ones for w, as the
 * machines with kernels have it.
 *
 * Near the end theta of a free support vector grows without bound, and the rounding of its da with it: a then
 * leaves w = sum a s x behind, while w itself, which the step finds first, does not suffer.  So the primal is
 * taken at w, the dual at a made feasible, and the best of each so far are the bounds.
 */
#include "hinge.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "cholesky.h"

#define TO_BOUNDARY 0.995       /* share of the way to the nearest bound */
#define FLAT 1e-12              /* slopes of the loss, relative to the largest, that are 0 */
#define CYCLING 3               /* steps without a smaller gap: the corrector may go in circles */
#define CENTRED 0.3             /* the plain step's aim, of the products as they are */
#define STALLED 20              /* steps without a smaller gap: rounding has the last word */
#define FINE 1e-6               /* a gap, relative to the objective, that is good enough then */

typedef struct Solver
{
    const KmDesign *design;
    const KmHinge *problem;
    size_t n, d;                /* terms, features */
    double *a, *room;           /* n: variables, C - a kept apart, for its digits */
    double *z, *u;              /* n: multipliers of 0 <= a and 0 <= room */
    double *w, b;               /* d */
    double *theta;              /* n */
    double *target;             /* n: right side of the terms */
    double *da, *dz, *du;       /* n: the step */
    double *dw, db;             /* d + 1: of w, then of b */
    double *system;             /* (d + 1) x (d + 1) */
    double *right;              /* d + 1 */
    double *rows;               /* design->n */
    double *scores;             /* design->n: Xw of the present w */
    double *pulled, sum;        /* d: sum_t a_t s_t x_t; s'a */
    double primal, dual;        /* the least and the largest objective so far */
    double scale;               /* the primal at w = 0, for where the best objective is 0 */
    size_t stalled;             /* steps since the gap became smaller */
} Solver;

double
km_hinge_bytes(size_t n, size_t d)
{
    double width = (double) d + 1;

    return 8.0 * (width * width + 256 * width + 16.0 * (double) n);
}

static KmStatus
create(KmContext *ctx, const KmDesign *design, const KmHinge *problem, Solver *solver)
{
    double **const terms[] = {&solver->a, &solver->room, &solver->z, &solver->u, &solver->theta,
                              &solver->target, &solver->da, &solver->dz, &solver->du};
    size_t width = design->d + 1;

    *solver = (Solver) {.design = design, .problem = problem, .n = problem->n, .d = design->d,
                        .primal = INFINITY};   /* and the dual is 0 at a = 0 */
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        KM_TRY(km_alloc_zero(ctx, solver->n, terms[i]));
    KM_TRY(km_alloc_zero(ctx, width, &solver->w));
    KM_TRY(km_alloc_zero(ctx, width, &solver->dw));
    KM_TRY(km_alloc(ctx, width, &solver->right));
    KM_TRY(km_alloc(ctx, width, &solver->pulled));
    KM_TRY(km_alloc(ctx, design->n, &solver->rows));
    KM_TRY(km_alloc_zero(ctx, design->n, &solver->scores));
    return km_alloc_bytes(ctx, width, width * sizeof(double), (void **) &solver->system);
}

static void
release(KmContext *ctx, Solver *solver)
{
    km_free_all(ctx, solver->a, solver->room, solver->z, solver->u, solver->theta, solver->target, solver->da,
                solver->dz, solver->du, solver->w, solver->dw, solver->right, solver->pulled, solver->rows,
                solver->scores, solver->system);
}

/* The middle of the box, multipliers that fit the hinges there. */
static void
start(Solver *solver)
{
    const KmHinge *problem = solver->problem;

    for (size_t t = 0; t < solver->n; t++)
    {
        double slack = problem->offset[t];

        solver->a[t] = solver->room[t] = problem->cost[t] / 2;
        solver->u[t] = fmax(slack, 0) + 1;
        solver->z[t] = fmax(-slack, 0) + 1;
    }
}

/* ---- products with rows ---- */

/* rows[i] = sum of s_t v_t over the terms of row i. */
static void
gather(const Solver *solver, const double *v, bool signs)
{
    const KmHinge *problem = solver->problem;

    memset(solver->rows, 0, solver->design->n * sizeof *solver->rows);
    for (size_t t = 0; t < solver->n; t++)
        solver->rows[problem->row[t]] += (signs ? problem->sign[t] : 1) * v[t];
}

/* out (d) = sum_t s_t v_t x_t; returns sum_t s_t v_t. */
static KmStatus
pull_back(KmContext *ctx, const Solver *solver, const double *v, double *out, double *sum)
{
    gather(solver, v, true);
    *sum = 0;
    for (size_t i = 0; i < solver->design->n; i++)
        *sum += solver->rows[i];
    return km_design_transposed(ctx, solver->design, 1, solver->rows, out);
}

/* s_t (<w, x_t> + b) - e_t: positive beyond the hinge. */
static double
margin(const Solver *solver, size_t t)
{
    const KmHinge *problem = solver->problem;

    return problem->sign[t] * (solver->scores[problem->row[t]] + solver->b) - problem->offset[t];
}

/* ---- one step ---- */

/* Factor the system for the present theta. */
static KmStatus
factor(KmContext *ctx, Solver *solver, bool *ok)
{
    size_t d = solver->d, ld = d + 1, pivot;
    double *last = solver->system + d * ld;

    for (size_t t = 0; t < solver->n; t++)
        solver->theta[t] = 1 / (solver->z[t] / solver->a[t] + solver->u[t] / solver->room[t]);
    gather(solver, solver->theta, false);
    KM_TRY(km_design_squares(ctx, solver->design, solver->rows, ld, solver->system));
    KM_TRY(km_design_transposed(ctx, solver->design, 1, solver->rows, last));
    last[d] = 0;
    for (size_t i = 0; i < solver->design->n; i++)
        last[d] += solver->rows[i];
    for (size_t j = 0; j < d; j++)
        solver->system[j * ld + j] += 1;
    *ok = true;
    for (size_t j = 0; j < ld; j++)
        *ok &= isfinite(solver->system[j * ld + j]) != 0;
    if (!*ok)
        return KM_OK;
    KM_TRY(km_cholesky_factor(ctx, ld, ld, solver->system, &pivot));
    *ok = pivot == ld;
    return KM_OK;
}

/* The step towards products mu of variables and multipliers, corrected by those of the step before. */
static KmStatus
find_step(KmContext *ctx, Solver *solver, double mu, bool corrected)
{
    const KmHinge *problem = solver->problem;
    size_t n = solver->n, d = solver->d;
    double sum_target;

    for (size_t t = 0; t < n; t++)
    {
        double low = mu - (corrected ? solver->da[t] * solver->dz[t] : 0);
        double high = mu + (corrected ? solver->da[t] * solver->du[t] : 0);

        solver->dz[t] = low / solver->a[t];         /* z + dz + (z/a) da */
        solver->du[t] = high / solver->room[t];    /* u + du - (u/room) da */
        solver->target[t] = solver->theta[t] * (solver->dz[t] - solver->du[t] - margin(solver, t));
    }
    KM_TRY(pull_back(ctx, solver, solver->target, solver->right, &sum_target));
    for (size_t j = 0; j < d; j++)
        solver->right[j] += solver->pulled[j] - solver->w[j];
    solver->right[d] = sum_target + solver->sum;
    memcpy(solver->dw, solver->right, (d + 1) * sizeof *solver->dw);
    KM_TRY(km_cholesky_solve(ctx, d + 1, d + 1, solver->system, 1, 1, solver->dw));
    solver->db = solver->dw[d];
    KM_TRY(km_design_times(ctx, solver->design, 1, solver->dw, solver->rows));
    for (size_t t = 0; t < n; t++)
    {
        double moved = problem->sign[t] * (solver->rows[problem->row[t]] + solver->db);

        solver->da[t] = solver->target[t] - solver->theta[t] * moved;
        solver->dz[t] -= solver->z[t] * (1 + solver->da[t] / solver->a[t]);
        solver->du[t] -= solver->u[t] * (1 - solver->da[t] / solver->room[t]);
    }
    return KM_OK;
}

static double
limit(double value, double change, double length)
{
    return change < 0 && -change * length > value ? -value / change : length;
}

/* How far all can go, at most 1. */
static double
step_length(const Solver *solver)
{
    double length = 1 / TO_BOUNDARY;

    for (size_t t = 0; t < solver->n; t++)
    {
        length = limit(solver->a[t], solver->da[t], length);
        length = limit(solver->room[t], -solver->da[t], length);
        length = limit(solver->z[t], solver->dz[t], length);
        length = limit(solver->u[t], solver->du[t], length);
    }
    return fmin(1, TO_BOUNDARY * length);
}

/* Mean product of variables and multipliers after a step of this length. */
static double
complementarity(const Solver *solver, double length)
{
    double sum = 0;

    for (size_t t = 0; t < solver->n; t++)
        sum += (solver->a[t] + length * solver->da[t]) * (solver->z[t] + length * solver->dz[t]) +
            (solver->room[t] - length * solver->da[t]) * (solver->u[t] + length * solver->du[t]);
    return sum / (2.0 * (double) solver->n);
}

static void
move(Solver *solver, double length)
{
    for (size_t t = 0; t < solver->n; t++)
    {
        solver->a[t] += length * solver->da[t];
        solver->room[t] -= length * solver->da[t];
        solver->z[t] += length * solver->dz[t];
        solver->u[t] += length * solver->du[t];
    }
    cblas_daxpy((int) solver->d, length, solver->dw, 1, solver->w, 1);
    solver->b += length * solver->db;
}

/* A predictor, which says how far to aim, and a corrector; plain steps towards the central path where those
 * go in circles, as they can; false: the system could not be factored. */
static KmStatus
advance(KmContext *ctx, Solver *solver, bool *ok)
{
    double mu, ahead;

    KM_TRY(factor(ctx, solver, ok));
    if (!*ok)
        return KM_OK;
    mu = complementarity(solver, 0);
    KM_TRY(find_step(ctx, solver, solver->stalled < CYCLING ? 0 : CENTRED * mu, false));
    if (solver->stalled < CYCLING)
    {
        ahead = complementarity(solver, step_length(solver)) / mu;
        KM_TRY(find_step(ctx, solver, mu * ahead * ahead * ahead, true));
    }
    move(solver, step_length(solver));
    return KM_OK;
}

/* ---- the intercept, and the gap ---- */

static const double *
place_of(const void *places, size_t t)
{
    return (const double *) places + t;
}

/* Middle of the minimisers over b of sum_t C_t max(0, e_t - s_t (f_t + b)), f = Xw: the slope is -sum of C
 * over s = 1 far to the left, and rises by C_t at each b_t = s_t e_t - f_t. */
static KmStatus
best_intercept(KmContext *ctx, const Solver *solver, double *out)
{
    const KmHinge *problem = solver->problem;
    double *place, slope = 0, total = 0, low = 0;
    size_t *order, i = 0;

    KM_TRY(km_alloc(ctx, solver->n, &place));
    KM_TRY(km_alloc(ctx, solver->n, &order));
    for (size_t t = 0; t < solver->n; t++)
    {
        place[t] = problem->sign[t] * problem->offset[t] - solver->scores[problem->row[t]];
        slope -= problem->sign[t] > 0 ? problem->cost[t] : 0;
        total += problem->cost[t];
    }
    KM_TRY(km_rows_order(ctx, solver->n, 1, place_of, place, order));
    for (; i < solver->n && slope < -FLAT * total; i++)
    {
        low = place[order[i]];
        slope += problem->cost[order[i]];
    }
    *out = slope > FLAT * total || i == solver->n ? low : (low + place[order[i]]) / 2;
    km_free(ctx, order);
    km_free(ctx, place);
    return KM_OK;
}

/* Objective at w and its best intercept; the best w so far becomes the solution. */
static KmStatus
measure_primal(KmContext *ctx, Solver *solver, KmHingeSolution *solution)
{
    const KmHinge *problem = solver->problem;
    double own = solver->b, best, primal = cblas_ddot((int) solver->d, solver->w, 1, solver->w, 1) / 2;

    KM_TRY(km_design_times(ctx, solver->design, 1, solver->w, solver->scores));
    KM_TRY(best_intercept(ctx, solver, &best));
    solver->b = best;
    for (size_t t = 0; t < solver->n; t++)
        primal += problem->cost[t] * fmax(0, -margin(solver, t));
    solver->b = own;
    if (!(primal < solver->primal))
        return KM_OK;
    solver->primal = primal;
    solution->b = best;
    memcpy(solution->w, solver->w, solver->d * sizeof *solver->w);
    return KM_OK;
}

/* Objective of the dual at a, with the terms of one sign scaled down until s'a = 0, so that it is a bound at
 * every step. */
static KmStatus
measure_dual(KmContext *ctx, Solver *solver)
{
    const KmHinge *problem = solver->problem;
    double *feasible = solver->target, *w = solver->right, half = 0, rest, dual = 0;

    KM_TRY(pull_back(ctx, solver, solver->a, solver->pulled, &solver->sum));
    for (size_t t = 0; t < solver->n; t++)
        half += problem->sign[t] * solver->sum > 0 ? solver->a[t] : 0;
    for (size_t t = 0; t < solver->n; t++)
    {
        bool down = problem->sign[t] * solver->sum > 0;

        feasible[t] = down ? solver->a[t] * fmax(0, 1 - fabs(solver->sum) / half) : solver->a[t];
        dual += problem->offset[t] * feasible[t];
    }
    KM_TRY(pull_back(ctx, solver, feasible, w, &rest));
    dual -= cblas_ddot((int) solver->d, w, 1, w, 1) / 2;
    solver->dual = fmax(solver->dual, dual);
    return KM_OK;
}

/* The bounds at hand, and whether the gap between them is small enough. */
static KmStatus
measure(KmContext *ctx, Solver *solver, KmHingeSolution *solution)
{
    double tol = solver->problem->tol, before = solver->primal - solver->dual;

    KM_TRY(measure_primal(ctx, solver, solution));
    KM_TRY(measure_dual(ctx, solver));
    solution->objective = solver->dual;
    solution->gap = solver->primal - solver->dual;
    if (solution->iterations == 0)
        solver->scale = solver->primal;
    solver->stalled = solution->gap < before ? 0 : solver->stalled + 1;
    solution->relative_gap = solution->gap > 0
        ? solution->gap / (fabs(solution->objective) + tol * solver->scale) : 0;
    solution->converged = solution->relative_gap <= tol;
    return KM_OK;
}

KmStatus
km_hinge_solve(KmContext *ctx, const KmDesign *design, const KmHinge *problem, KmHingeSolution *solution)
{
    Solver solver;
    bool ok = true;

    KM_TRY(create(ctx, design, problem, &solver));
    start(&solver);
    for (solution->iterations = 0;; solution->iterations++)
    {
        KM_TRY(measure(ctx, &solver, solution));
        solution->limited = solution->iterations == problem->max_iter && !solution->converged;
        if (solution->converged || solution->limited)
            break;
        if (solver.stalled < STALLED)
            KM_TRY(advance(ctx, &solver, &ok));
        if (!ok || solver.stalled == STALLED)
        {
            solution->converged = solution->relative_gap <= FINE;
            break;
        }
    }
    release(ctx, &solver);
    return KM_OK;
}
