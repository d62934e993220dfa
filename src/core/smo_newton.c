/*
 * smo_newton.c: the minimum over all free variables at once, for problems on which pair steps crawl.
 *
 * Large boxes leave many variables free, and pairs then walk along the narrow valleys of an ill-conditioned
 * K.  Once the right variables are free, the minimum over them is one linear system away (active-set methods:
 * Scheinberg 2006):
 *   (K_FF + shift I) d = r - level 1,   1'd = 0,   r = -(gradient of the free variables F)
 * by Cholesky; with two groups of variables each has its own level and sum.  A step that meets a bound or
 * kink stops there, the variable leaves the factor (Golub, Van Loan, 6.5.4) and the rest goes on; a full one
 * is repeated, because the shift makes it fall short where K is flat.  The objective falls with every step.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "sizes.h"
#include "smo_state.h"

#define MOST_FREE 1024
#define MOST_MOVES 64
#define ARRAYS 32               /* of n elements, beside the factor, with room to spare */
#define SHIFT 4096              /* in units of the rounding of K's elements */
#define SHIFT_SINGLE 4
#define FLOPS_PER_ELEMENT 16    /* of BLAS, in the time that a pair step takes for one variable */

typedef struct Variable
{
    size_t v;
    KmSmoGroup *group;
} Variable;

typedef struct Newton
{
    KmSmo *smo;
    size_t n, m;                /* free variables at the start, and now */
    Variable *start, *now;      /* which; those of now in order of the factor */
    double *before;             /* n: b of start */
    double *factor;             /* n x n: lower triangle L of K_FF + shift I, row-major */
    double *r, *step;           /* m; r up to levels */
    double *ones[2];            /* m: L^-1 1, of each group, made orthogonal */
    double *cosine, *sine;      /* n: rotations */
    double shift;
} Newton;

size_t
km_smo_most_free(size_t n)
{
    return min_size(n, MOST_FREE);
}

static bool
is_free(const KmSmoGroup *group, size_t v)
{
    return group->up[v] == group->low[v];
}

static double *
b_of(Variable one)
{
    return one.group->b + one.v;
}

static size_t
count_free(const KmSmo *smo)
{
    size_t n = 0;

    for (size_t k = 0; k < smo->n_groups; k++)
        for (size_t v = 0; v < smo->n; v++)
            n += is_free(&smo->group[k], v);
    return n;
}

/* Have the rows of all free variables made; *complete is false if one cannot be had. */
static KmStatus
make_rows(KmContext *ctx, const KmSmo *smo, KmSmoRow row_of, void *state, bool *complete)
{
    const void *row;

    *complete = true;
    for (size_t k = 0; k < smo->n_groups; k++)
        for (size_t v = 0; v < smo->n && *complete; v++)
            if (is_free(&smo->group[k], v))
            {
                KM_TRY(row_of(ctx, smo, state, v, &row));
                *complete = row != NULL;
            }
    return KM_OK;
}

static bool
has_room(const KmContext *ctx, size_t n)
{
    return 8 * n * (n + ARRAYS) < ctx->max_bytes - ctx->used_bytes;
}

static KmStatus
newton_create(KmContext *ctx, KmSmo *smo, size_t n, Newton *newton)
{
    *newton = (Newton) {.smo = smo, .n = n, .m = n};
    KM_TRY(km_alloc(ctx, n, &newton->start));
    KM_TRY(km_alloc(ctx, n, &newton->now));
    KM_TRY(km_alloc(ctx, n, &newton->before));
    KM_TRY(km_alloc(ctx, n * n, &newton->factor));
    KM_TRY(km_alloc(ctx, n, &newton->r));
    KM_TRY(km_alloc(ctx, n, &newton->step));
    for (size_t k = 0; k < smo->n_groups; k++)
        KM_TRY(km_alloc(ctx, n, &newton->ones[k]));
    KM_TRY(km_alloc(ctx, n, &newton->cosine));
    return km_alloc(ctx, n, &newton->sine);
}

static void
newton_free(KmContext *ctx, Newton *newton)
{
    km_free_all(ctx, newton->start, newton->now, newton->before, newton->factor, newton->r, newton->step,
                newton->ones[0], newton->ones[1], newton->cosine, newton->sine);
}

/* ---- the factor ---- */

/* The free variables, their residuals and their part of K. */
static KmStatus
load(KmContext *ctx, KmSmoRow row_of, void *state, Newton *newton)
{
    KmSmo *smo = newton->smo;
    size_t n = 0;

    for (size_t k = 0; k < smo->n_groups; k++)
        for (size_t v = 0; v < smo->n; v++)
            if (is_free(&smo->group[k], v))
                newton->start[n++] = (Variable) {v, &smo->group[k]};
    for (size_t i = 0; i < n; i++)
    {
        Variable one = newton->start[i];
        const void *row;

        newton->now[i] = one;
        newton->before[i] = one.group->b[one.v];
        newton->r[i] = -(smo->g[one.v] + one.group->up[one.v]);
        KM_TRY(row_of(ctx, smo, state, one.v, &row));
        for (size_t j = 0; j <= i; j++)
            newton->factor[i * n + j] = km_smo_element(smo, row, newton->start[j].v);
    }
    return KM_OK;
}

/* False if K_FF is not positive definite, even so. */
static bool
factorise(Newton *newton)
{
    bool single = newton->smo->passes == km_smo_passes(true);
    int n = (int) newton->n, info;
    double most = 0;

    for (size_t i = 0; i < newton->n; i++)
        most = fmax(most, newton->factor[i * newton->n + i]);
    newton->shift = most * (single ? SHIFT_SINGLE * FLT_EPSILON : SHIFT * DBL_EPSILON);
    for (size_t i = 0; i < newton->n; i++)
        newton->factor[i * newton->n + i] += newton->shift;
    dpotrf_("U", &n, newton->factor, &n, &info);
    return info == 0 && isfinite(newton->shift);
}

/* Variable k leaves: the rows of L below move up, and rotations of adjacent columns make them a triangle
 * again. */
static void
leave(Newton *newton, size_t k)
{
    double *c = newton->cosine, *s = newton->sine;

    for (size_t i = k; i + 1 < newton->m; i++)
    {
        double *row = newton->factor + i * newton->n, left, length;

        memmove(row, row + newton->n, (i + 2) * sizeof *row);
        left = row[k];
        for (size_t j = k; j < i; j++)
        {
            double right = row[j + 1];

            row[j] = c[j] * left + s[j] * right;
            left = c[j] * right - s[j] * left;
        }
        length = sqrt(left * left + row[i + 1] * row[i + 1]);
        c[i] = left / length;
        s[i] = row[i + 1] / length;
        row[i] = length;
        newton->now[i] = newton->now[i + 1];
        newton->r[i] = newton->r[i + 1];
    }
    newton->m--;
}

/* ---- moving ---- */

static void
solve_lower(const Newton *newton, enum CBLAS_TRANSPOSE transpose, double *x)
{
    cblas_dtrsv(CblasRowMajor, CblasLower, transpose, CblasNonUnit, (int) newton->m, newton->factor,
                (int) newton->n, x, 1);
}

/* Take out of x what lies along a. */
static void
remove_along(size_t m, const double *a, double *x)
{
    double square = cblas_ddot(m, a, 1, a, 1);

    if (square > 0)
        cblas_daxpy(m, -cblas_ddot(m, a, 1, x, 1) / square, a, 1, x, 1);
}

/* The direction d. */
static void
find_step(Newton *newton)
{
    size_t m = newton->m;

    memcpy(newton->step, newton->r, m * sizeof *newton->step);
    solve_lower(newton, CblasNoTrans, newton->step);
    for (size_t k = 0; k < newton->smo->n_groups; k++)
    {
        for (size_t i = 0; i < m; i++)
            newton->ones[k][i] = newton->now[i].group == &newton->smo->group[k];
        solve_lower(newton, CblasNoTrans, newton->ones[k]);
        if (k == 1)
            remove_along(m, newton->ones[0], newton->ones[1]);
        remove_along(m, newton->ones[k], newton->step);
    }
    solve_lower(newton, CblasTrans, newton->step);
}

/* The bound or kink that the i-th variable moves towards. */
static double
end_of(const Newton *newton, size_t i)
{
    Variable one = newton->now[i];

    return newton->step[i] > 0 ? km_smo_ceiling(newton->smo, one.group, one.v)
        : km_smo_floor(newton->smo, one.group, one.v);
}

/* Move as far as bounds and kinks allow, at most by all of d. */
static void
move(Newton *newton)
{
    double part = 1;

    for (size_t i = 0; i < newton->m; i++)
        if (newton->step[i] != 0)
            part = fmin(part, (end_of(newton, i) - *b_of(newton->now[i])) / newton->step[i]);
    for (size_t i = 0; i < newton->m; i++)
    {
        double *b = b_of(newton->now[i]), end = end_of(newton, i), step = newton->step[i];

        if (step != 0 && (end - *b) / step <= part)
            *b = end;
        else
            *b = step > 0 ? fmin(*b + part * step, end) : fmax(*b + part * step, end);
        newton->r[i] = (1 - part) * newton->r[i] + part * newton->shift * step;
        km_smo_status(newton->smo, newton->now[i].group, newton->now[i].v);
    }
}

/* Those that met a bound or kink leave; returns whether there were any. */
static bool
leave_met(Newton *newton)
{
    size_t m = newton->m;

    for (size_t i = m; i > 0; i--)
        if (!is_free(newton->now[i - 1].group, newton->now[i - 1].v))
            leave(newton, i - 1);
    return newton->m < m;
}

/* The largest violation of a pair of a group's. */
static double
spread_of(const Newton *newton, const KmSmoGroup *group)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < newton->m; i++)
        if (newton->now[i].group == group)
        {
            least = fmin(least, newton->r[i]);
            most = fmax(most, newton->r[i]);
        }
    return most - least;
}

static bool
is_solved(const Newton *newton, double tol)
{
    for (size_t k = 0; k < newton->smo->n_groups; k++)
        if (spread_of(newton, &newton->smo->group[k]) >= tol)
            return false;
    return true;
}

static KmStatus
move_all(KmContext *ctx, double tol, Newton *newton)
{
    for (size_t moves = 0; moves < MOST_MOVES && newton->m >= 2; moves++)
    {
        KM_TRY(km_poll(ctx));
        find_step(newton);
        move(newton);
        if (!leave_met(newton) && is_solved(newton, tol))
            break;
    }
    return KM_OK;
}

/* The gradient and the choices after the moves. */
static KmStatus
follow(KmContext *ctx, KmSmoRow row_of, void *state, Newton *newton)
{
    KmSmo *smo = newton->smo;

    for (size_t i = 0; i < newton->n; i++)
    {
        double change = *b_of(newton->start[i]) - newton->before[i];
        const void *row;

        KM_TRY(km_poll_row(ctx, i, smo->stride));
        KM_TRY(row_of(ctx, smo, state, newton->start[i].v, &row));
        smo->passes->accumulate(smo->stride, 1, &row, &change, smo->g);
    }
    km_smo_choose(smo);
    return KM_OK;
}

KmStatus
km_smo_newton(KmContext *ctx, KmSmo *smo, double tol, KmSmoRow row_of, void *state, uint64_t *steps)
{
    size_t n = count_free(smo);
    Newton newton;
    bool complete;

    *steps = smo->n;
    if (n < 2 || n > MOST_FREE)
        return KM_OK;
    KM_TRY(make_rows(ctx, smo, row_of, state, &complete));
    if (!complete || !has_room(ctx, n))
        return KM_OK;
    *steps += n + n * n / FLOPS_PER_ELEMENT * (n / 3 + MOST_MOVES) / smo->stride;
    KM_TRY(newton_create(ctx, smo, n, &newton));
    KM_TRY(load(ctx, row_of, state, &newton));
    if (factorise(&newton))
    {
        KM_TRY(move_all(ctx, tol, &newton));
        KM_TRY(follow(ctx, row_of, state, &newton));
    }
    newton_free(ctx, &newton);
    return KM_OK;
}
