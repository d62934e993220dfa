/*
 * smo.c: SMO over all variables (see smo.h).
 *
 * A step moves b_i up and b_j down.  i violates most; j gains most with it, by the second-order
 * rule of Fan, Chen and Lin (2005).  Two passes over the variables a step: one chooses j, one
 * updates the gradient and already finds the next i and the gap.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "simd.h"
#include "sizes.h"
#include "smo_state.h"

#define POLL_WORK ((size_t) 1 << 22)    /* elements between polls: a few milliseconds */
#define MAX_STALLS 5            /* fresh gradients in a row that find no progress */
#define WHOLE_ALWAYS 2048       /* variables: fewer than this need no blocks while their rows fit … */
#define WHOLE_MOST 8192         /* … and more than this begin with them */
#define PATIENCE 10             /* pair steps per variable before all free ones are moved at once */
#define DIVERGENCE_STEPS 256    /* steps between looks at whether b diverges */
#define DIVERGENCE 1e-12        /* squared distance of the hulls over the largest k(x,x): none if smaller */

const KmSmoPasses *
km_smo_passes(bool single)
{
    const KmSmoOps *ops = KM_PICK(km_smo_ops);

    return single ? &ops->single : &ops->wide;
}

uint64_t
km_smo_default_steps(size_t n)
{
    return n > 100000 ? 100 * (uint64_t) n : 10000000;
}

/* ---- state ---- */

KmStatus
km_smo_allocate(KmContext *ctx, size_t n_groups, size_t stride, KmSmo *smo)
{
    smo->n_groups = n_groups;
    smo->worst = smo->group;
    for (size_t k = 0; k < n_groups; k++)
    {
        KM_TRY(km_alloc(ctx, stride, &smo->group[k].lower));
        KM_TRY(km_alloc(ctx, stride, &smo->group[k].upper));
        KM_TRY(km_alloc(ctx, stride, &smo->group[k].up));
        KM_TRY(km_alloc(ctx, stride, &smo->group[k].low));
    }
    KM_TRY(km_alloc(ctx, stride, &smo->g));
    return km_alloc(ctx, stride, &smo->diagonal);
}

void
km_smo_free(KmContext *ctx, KmSmo *smo)
{
    for (size_t k = 0; k < smo->n_groups; k++)
    {
        km_free(ctx, smo->group[k].lower);
        km_free(ctx, smo->group[k].upper);
        km_free(ctx, smo->group[k].up);
        km_free(ctx, smo->group[k].low);
    }
    km_free(ctx, smo->g);
    km_free(ctx, smo->diagonal);
}

/* Lengths, and padding that is never chosen. */
void
km_smo_begin(KmSmo *smo, size_t n, size_t stride)
{
    smo->n = n;
    smo->stride = stride;
    for (size_t v = n; v < stride; v++)
    {
        smo->g[v] = smo->diagonal[v] = 0;
        for (size_t k = 0; k < smo->n_groups; k++)
        {
            smo->group[k].up[v] = INFINITY;
            smo->group[k].low[v] = -INFINITY;
        }
    }
}

/* The slopes of kink |b| to either side, infinite at a bound. */
void
km_smo_status(const KmSmo *smo, KmSmoGroup *group, size_t v)
{
    double b = group->b[v];

    group->up[v] = b >= group->upper[v] ? INFINITY : b >= 0 ? smo->kink : -smo->kink;
    group->low[v] = b <= group->lower[v] ? -INFINITY : b > 0 ? smo->kink : -smo->kink;
}

static void
choose_in(KmSmo *smo, KmSmoGroup *group)
{
    smo->passes->choose(smo->stride, smo->g, group->up, group->low, &group->choice);
}

static double
gap_of(const KmSmoGroup *group)
{
    return group->choice.greatest - group->choice.least;
}

/* A gap that is no number is the worst. */
static void
compare_groups(KmSmo *smo)
{
    smo->worst = smo->group;
    if (smo->n_groups == 2 && !(gap_of(&smo->group[1]) <= gap_of(&smo->group[0])) &&
        !isnan(gap_of(&smo->group[0])))
        smo->worst = &smo->group[1];
}

void
km_smo_choose(KmSmo *smo)
{
    for (size_t k = 0; k < smo->n_groups; k++)
        choose_in(smo, &smo->group[k]);
    compare_groups(smo);
}

/* The gap falls about as a power of the steps, so progress is that of its logarithm. */
KmStatus
km_smo_report(KmContext *ctx, const KmSmo *smo)
{
    double all = log(smo->widest / smo->tol), left = log(fmax(km_smo_gap(smo) / smo->tol, 1));

    if (!(all > 0 && isfinite(all)))
        return km_poll(ctx);
    return km_progress(ctx, "support vector machine", fmin(fmax(all - left, 0), all), all);
}

static KmStatus
poll_after(KmContext *ctx, KmSmo *smo, size_t elements)
{
    smo->work += elements;
    if (smo->work < POLL_WORK)
        return KM_OK;
    smo->work = 0;
    return km_smo_report(ctx, smo);
}

/* g += sum of coef * row for kept rows. */
static KmStatus
add_kept(KmContext *ctx, KmSmo *smo, size_t m, const void *const *row, const double *coef)
{
    smo->passes->accumulate(smo->stride, m, row, coef, smo->g);
    return poll_after(ctx, smo, m * smo->stride);
}

/* The same for rows that are made now, strip by strip, and not kept. */
static KmStatus
add_made(KmContext *ctx, KmSmo *smo, KmRows *rows, size_t m, const size_t *i, const double *coef)
{
    size_t row_bytes = KM_ROWS_STRIDE * (km_rows_source(rows)->single ? sizeof(float) : sizeof(double));
    const void *strip, *row[KM_ROWS_BATCH];

    for (size_t j = 0; j < smo->stride; j += KM_ROWS_STRIP)
    {
        size_t columns = min_size(smo->stride - j, KM_ROWS_STRIP);

        KM_TRY(km_rows_strip(ctx, rows, m, i, j, &strip));
        for (size_t r = 0; r < m; r++)
            row[r] = (const char *) strip + r * row_bytes;
        smo->passes->accumulate(columns, m, row, coef, smo->g + j);
    }
    return KM_OK;
}

KmStatus
km_smo_accumulate(KmContext *ctx, KmSmo *smo, KmRows *rows, size_t m, const size_t *i, const double *coef)
{
    const void *row[KM_ROWS_BATCH];
    size_t missing[KM_ROWS_BATCH], n_kept = 0, n_missing = 0;
    double kept_coef[KM_ROWS_BATCH], missing_coef[KM_ROWS_BATCH];

    for (size_t r = 0; r < m; r++)
    {
        const void *kept = km_rows_find(rows, i[r]);

        if (kept != NULL)
        {
            row[n_kept] = kept;
            kept_coef[n_kept++] = coef[r];
        }
        else
        {
            missing[n_missing] = i[r];
            missing_coef[n_missing++] = coef[r];
        }
        if (n_kept == KM_ROWS_BATCH || (r + 1 == m && n_kept > 0))
        {
            KM_TRY(add_kept(ctx, smo, n_kept, row, kept_coef));
            n_kept = 0;
        }
        if (n_missing == KM_ROWS_BATCH || (r + 1 == m && n_missing > 0))
        {
            KM_TRY(add_made(ctx, smo, rows, n_missing, missing, missing_coef));
            n_missing = 0;
        }
    }
    return KM_OK;
}

/* ---- one pair ---- */

/* Move b_i up and b_j down to the minimum between them or the nearest bound, which is then met
 * exactly; returns the step. */
static double
move_pair(const KmSmo *smo, KmSmoGroup *group, size_t i, size_t j, double kij)
{
    double *b = group->b, curve = fmax(smo->diagonal[i] + smo->diagonal[j] - 2 * kij, KM_SMO_TAU);
    double t = (smo->g[j] + group->low[j] - group->choice.least) / curve;
    double top = km_smo_ceiling(smo, group, i), bottom = km_smo_floor(smo, group, j);
    double room_i = top - b[i], room_j = b[j] - bottom;

    t = fmin(t, fmin(room_i, room_j));
    b[i] = t == room_i ? top : fmin(b[i] + t, top);
    b[j] = t == room_j ? bottom : fmax(b[j] - t, bottom);
    km_smo_status(smo, group, i);
    km_smo_status(smo, group, j);
    return t;
}

/* The gradient after such a step, and the choices that follow. */
static void
follow_step(KmSmo *smo, KmSmoGroup *group, double t, const void *ki, const void *kj)
{
    smo->passes->update(smo->stride, t, ki, kj, smo->g, group->up, group->low, &group->choice);
    if (smo->n_groups == 1)
        return;
    choose_in(smo, &smo->group[group == smo->group]);
    compare_groups(smo);
}

/* With infinite boxes the dual has an optimum only if the convex hulls of the classes are apart.
 * b / sum of its positive part is a difference of points of the two hulls, b'Kb its squared length. */
bool
km_smo_diverges(const KmSmo *smo)
{
    double square = 0, positive = 0;

    if (smo->reach == 0)
        return false;
    for (size_t v = 0; v < smo->n; v++)
    {
        square += smo->group[0].b[v] * (smo->g[v] - smo->p[v]);
        positive += fmax(smo->group[0].b[v], 0);
    }
    return positive > 0 && !(square > DIVERGENCE * smo->reach * positive * positive);
}

KmStatus
km_smo_steps(KmContext *ctx, KmSmo *smo, double tol, uint64_t limit, KmSmoRow row_of, void *state)
{
    uint64_t next = smo->iterations + PATIENCE * smo->n, wait;

    while (km_smo_gap(smo) >= tol && smo->iterations < limit)
    {
        KmSmoGroup *group = smo->worst;
        size_t i = group->choice.i, j;
        const void *ki, *kj;

        KM_TRY(row_of(ctx, smo, state, i, &ki));
        if (ki == NULL)
            break;
        j = smo->passes->partner(smo->stride, group->choice.least, smo->diagonal[i], ki, smo->g, group->low,
                                 smo->diagonal);
        if (j == KM_SMO_NONE)
            break;
        KM_TRY(row_of(ctx, smo, state, j, &kj));
        if (kj == NULL)
            break;
        follow_step(smo, group, move_pair(smo, group, i, j, km_smo_element(smo, ki, j)), ki, kj);
        smo->iterations++;
        if (smo->iterations >= next)
        {
            KM_TRY(km_smo_newton(ctx, smo, tol, row_of, state, &wait));
            next = smo->iterations + wait;
        }
        if (smo->iterations % DIVERGENCE_STEPS == 0 && km_smo_diverges(smo))
            break;
        KM_TRY(poll_after(ctx, smo, smo->stride));
    }
    return KM_OK;
}

size_t
km_smo_violators(const KmSmo *smo, const KmSmoGroup *group, int sign, size_t m,
                 bool (*skip)(const void *state, size_t v), const void *state, double *keys, size_t *out)
{
    size_t found = 0;

    for (size_t v = 0; v < smo->n; v++)
    {
        double key = sign > 0 ? smo->g[v] + group->up[v] : -smo->g[v] - group->low[v];
        size_t at;

        if (!(key < INFINITY) || (found == m && key >= keys[m - 1]) || skip(state, v))
            continue;
        for (at = found < m ? found++ : m - 1; at > 0 && keys[at - 1] > key; at--)
        {
            keys[at] = keys[at - 1];
            out[at] = out[at - 1];
        }
        keys[at] = key;
        out[at] = v;
    }
    return found;
}

/* ---- the whole problem ---- */

static bool
is_kept(const void *rows, size_t v)
{
    return km_rows_find(rows, v) != NULL;
}

/* Make the row of v, and with it those of the worst violators where the source makes several as cheaply. */
static KmStatus
make_row(KmContext *ctx, const KmSmo *smo, KmRows *rows, size_t v)
{
    size_t wanted[KM_ROWS_BATCH + 1], n_wanted, m = 1, batch = km_rows_source(rows)->batch;
    double keys[KM_ROWS_BATCH];

    wanted[0] = v;
    if (batch > 1)
    {
        n_wanted = km_smo_violators(smo, smo->worst, v == smo->worst->choice.i ? 1 : -1, batch, is_kept, rows,
                                    keys, wanted + 1);
        for (size_t r = 1; r <= n_wanted && m < batch; r++)
            if (wanted[r] != v)
                wanted[m++] = wanted[r];
    }
    return km_rows_keep(ctx, rows, m, wanted);
}

/* The row of v, made now if there is room. */
static KmStatus
kept_row(KmContext *ctx, const KmSmo *smo, void *state, size_t v, const void **row)
{
    KmRows *rows = state;

    *row = km_rows_find(rows, v);
    if (*row != NULL || km_rows_full(rows))
        return KM_OK;
    KM_TRY(make_row(ctx, smo, rows, v));
    *row = km_rows_find(rows, v);
    return KM_OK;
}

/* g = Kb + p from the rows of nonzero b, and the choice that follows. */
static KmStatus
refresh_gradient(KmContext *ctx, KmSmo *smo, KmRows *rows)
{
    size_t *member, m = 0;
    double *coef;

    KM_TRY(km_alloc(ctx, smo->n, &member));
    KM_TRY(km_alloc(ctx, smo->n, &coef));
    memcpy(smo->g, smo->p, smo->n * sizeof *smo->g);
    for (size_t v = 0; v < smo->n; v++)
        if (km_smo_total(smo, v) != 0)
        {
            coef[m] = km_smo_total(smo, v);
            member[m++] = v;
        }
    KM_TRY(km_smo_accumulate(ctx, smo, rows, m, member, coef));
    km_free(ctx, coef);
    km_free(ctx, member);
    km_smo_choose(smo);
    return KM_OK;
}

double
km_largest(size_t n, const double *values)
{
    double most = 0;

    for (size_t v = 0; v < n; v++)
        most = fmax(most, values[v]);
    return most;
}

static void
load_group(KmSmo *smo, const double *lower, const double *upper, double *b, KmSmoGroup *group)
{
    bool bounded = true;

    group->b = b;
    memcpy(group->lower, lower, smo->n * sizeof *lower);
    memcpy(group->upper, upper, smo->n * sizeof *upper);
    for (size_t v = 0; v < smo->n; v++)
    {
        bounded &= isfinite(lower[v]) && isfinite(upper[v]);
        km_smo_status(smo, group, v);
    }
    if (!bounded)
        smo->reach = km_largest(smo->n, smo->diagonal);
}

static KmStatus
too_large(KmContext *ctx)
{
    km_fail(ctx, KM_RANGE, "kernel values are too large for double precision");
    return km_hint(ctx, KM_RANGE, "Scale the features first: scale | svc(...).");
}

static KmStatus
start(KmContext *ctx, const KmQuadratic *problem, KmRows *rows, double *b, KmSmo *smo)
{
    KmRowSource *source = km_rows_source(rows);
    size_t n = problem->n;

    for (size_t v = 0; v < n; v++)
        if (!isfinite(4 * source->diagonal[v]))      /* nor k_ii + k_jj - 2 k_ij */
            return too_large(ctx);
    memset(smo, 0, sizeof *smo);
    KM_TRY(km_smo_allocate(ctx, problem->split ? 2 : 1, km_rows_stride(rows), smo));
    km_smo_begin(smo, n, km_rows_stride(rows));
    smo->passes = km_smo_passes(source->single);
    smo->kink = problem->kink;
    smo->max_iter = problem->max_iter;
    smo->p = problem->p;
    smo->tol = problem->tol;
    memcpy(smo->diagonal, source->diagonal, n * sizeof *smo->diagonal);
    for (size_t k = 0; k < smo->n_groups; k++)
        load_group(smo, problem->lower + k * n, problem->upper + k * n, b + k * n, &smo->group[k]);
    KM_TRY(refresh_gradient(ctx, smo, rows));
    smo->widest = km_smo_gap(smo);
    return km_smo_report(ctx, smo);
}

static bool
goes_on(const KmSmo *smo, double tol)
{
    return km_smo_gap(smo) >= tol && smo->iterations < smo->max_iter && !km_smo_diverges(smo);
}

/* Steps over all variables lead fastest to the rows that matter, but each passes over all of them, and keeps
 * its rows; where that is many bytes, blocks that stay in the cache take over, or begin at once. */
static uint64_t
whole_limit(const KmSmo *smo)
{
    if (smo->n < WHOLE_ALWAYS || smo->n > smo->max_iter)
        return smo->max_iter;
    return smo->n <= WHOLE_MOST ? smo->n : 0;
}

/* Rounding can leave a variable a hair off a bound or kink, where it would count as free and set the bias
 * alone.  The sum of b is known to epsilon sum |b|: what is closer than that is there. */
static void
settle(KmSmo *smo, KmSmoGroup *group)
{
    double hair = 0;

    for (size_t v = 0; v < smo->n; v++)
        hair += DBL_EPSILON * fabs(group->b[v]);
    for (size_t v = 0; v < smo->n; v++)
    {
        double b = group->b[v], top = km_smo_ceiling(smo, group, v), bottom = km_smo_floor(smo, group, v);

        if (!(fmin(top - b, b - bottom) <= hair))
            continue;
        group->b[v] = top - b < b - bottom ? top : bottom;
        km_smo_status(smo, group, v);
    }
}

/* Steps and fresh gradients in turn, until a fresh one confirms the optimum.  A fresh gradient that keeps
 * finding the same gap shows that rounding allows no more. */
static KmStatus
optimise(KmContext *ctx, KmSmo *smo, const KmQuadratic *problem, KmRows *rows)
{
    double smallest = INFINITY;
    int stalls = 0;

    while (goes_on(smo, problem->tol) && stalls < MAX_STALLS)
    {
        KM_TRY(km_smo_steps(ctx, smo, problem->tol, whole_limit(smo), kept_row, rows));
        if (goes_on(smo, problem->tol))
            KM_TRY(km_smo_blocks(ctx, smo, problem->tol, rows));
        for (size_t k = 0; k < smo->n_groups; k++)
            settle(smo, &smo->group[k]);
        KM_TRY(refresh_gradient(ctx, smo, rows));
        KM_TRY(km_smo_report(ctx, smo));
        stalls = km_smo_gap(smo) < smallest ? 0 : stalls + 1;
        smallest = fmin(smallest, km_smo_gap(smo));
    }
    for (size_t v = 0; v < smo->n; v++)
        if (!isfinite(smo->g[v]))
            return too_large(ctx);
    return KM_OK;
}

/* The multiplier of a group's sum: g + slope of its free variables (neither at a bound nor at the kink), else
 * the middle of what its bounds allow, or the only end of it. */
static double
level_of(const KmSmo *smo, const KmSmoGroup *group)
{
    double sum = 0, least = group->choice.least, greatest = group->choice.greatest;
    size_t n_free = 0;

    for (size_t v = 0; v < smo->n; v++)
        if (group->up[v] == group->low[v])
        {
            sum += smo->g[v] + group->up[v];
            n_free++;
        }
    if (n_free > 0)
        return sum / (double) n_free;
    return isinf(least) ? greatest : isinf(greatest) ? least : (least + greatest) / 2;
}

static void
set_levels(const KmSmo *smo, KmSolution *solution)
{
    double first = level_of(smo, &smo->group[0]), second = level_of(smo, &smo->group[smo->n_groups - 1]);

    solution->bias = -(first + second) / 2;
    solution->margin = (first - second) / 2;
}

static double
objective_of(const KmSmo *smo)
{
    double sum = 0;

    for (size_t v = 0; v < smo->n; v++)
        sum += km_smo_total(smo, v) * (smo->g[v] + smo->p[v]) / 2 + smo->kink * fabs(smo->group[0].b[v]);
    return sum;
}

KmStatus
km_smo_solve(KmContext *ctx, const KmQuadratic *problem, KmRows *rows, KmSolution *solution)
{
    KmSmo smo;

    KM_TRY(start(ctx, problem, rows, solution->b, &smo));
    KM_TRY(optimise(ctx, &smo, problem, rows));
    solution->gap = fmax(km_smo_gap(&smo), 0);
    solution->converged = km_smo_gap(&smo) < problem->tol;
    solution->objective = objective_of(&smo);
    set_levels(&smo, solution);
    if (solution->gradient != NULL)
        memcpy(solution->gradient, smo.g, smo.n * sizeof *smo.g);
    solution->iterations = smo.iterations;
    solution->rows_made = km_rows_made(rows);
    solution->limited = !solution->converged && smo.iterations >= problem->max_iter;
    solution->unbounded = !solution->converged && km_smo_diverges(&smo);
    km_smo_free(ctx, &smo);
    return KM_OK;
}
