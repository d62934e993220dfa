/*
 * krr_path.c: the choice of lambda for kernel ridge regression, by closed-form
 * leave-one-out error or generalised cross-validation.
 *
 * For few values A = S K S + lambda I is factored for each.  For more, one reduction S K S = Q T Q' with a
 * tridiagonal T serves all (Elden 1977): with T + lambda I = L D L',
 *   beta = Q (T + lambda I)^-1 Q' S (y - ybar),   (A^-1)_ii = sum_j r_ij^2 / D_j,   r_i = L^-1 (row i of Q),
 * O(n^2) for a lambda; Q is made by blocks of columns and never kept.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "cholesky.h"
#include "gram.h"
#include "krr.h"
#include "sizes.h"
#include "tridiagonal.h"

/* A reduction with Q costs as much as about this many factorisations with their inverse diagonals
 * (measured: 4.5 at n = 1,000, 5 at 2,000, 7 at 4,000). */
#define FEW_LAMBDAS 5
#define BLOCK ((size_t) 256)    /* columns of Q */

typedef struct Path
{
    KmKrr *krr;
    size_t count;
    const double *lambda;
    bool *usable;               /* A is positive definite, not by luck */
    KmKrrScores *scores;        /* where usable */
} Path;

/* ---- a factorisation for each lambda ---- */

/* Factor S K S + lambda I from the upper triangle and the diagonal. */
static KmStatus
factor(KmContext *ctx, KmKrr *krr, const double *diagonal, bool *usable)
{
    size_t n = krr->table->n, pivot;

    KM_TRY(km_triangle_to_lower(ctx, n, n, krr->a));
    for (size_t i = 0; i < n; i++)
        krr->a[i * n + i] = diagonal[i] + krr->lambda;
    KM_TRY(km_cholesky_factor(ctx, n, n, krr->a, &pivot));
    *usable = pivot == n && km_cholesky_weak_pivot(n, n, krr->a) == n;
    return KM_OK;
}

static KmStatus
score_by_factors(KmContext *ctx, Path *path)
{
    KmKrr trial = *path->krr;
    size_t n = trial.table->n, targets = trial.table->n_targets;
    double *diagonal;

    KM_TRY(km_alloc(ctx, n, &diagonal));
    KM_TRY(km_alloc(ctx, n * targets, &trial.beta));
    cblas_dcopy(n, trial.a, n + 1, diagonal, 1);
    for (size_t g = 0; g < path->count; g++)
    {
        trial.lambda = path->lambda[g];
        KM_TRY(factor(ctx, &trial, diagonal, &path->usable[g]));
        if (!path->usable[g])
            continue;
        memcpy(trial.beta, path->krr->beta, n * targets * sizeof *trial.beta);
        KM_TRY(km_cholesky_solve(ctx, n, n, trial.a, targets, targets, trial.beta));
        KM_TRY(km_krr_scores_of_factor(ctx, &trial, &path->scores[g]));
    }
    km_free(ctx, trial.beta);
    km_free(ctx, diagonal);
    return KM_OK;
}

/* ---- one reduction for all ---- */

/* What one lambda needs: n elements each, vectors of targets one after the other. */
typedef struct Pencil
{
    double *d, *l;              /* of T + lambda I = L D L': D, and L below its diagonal */
    double *last;               /* r_ij of the last column j, for every row i */
    double *inverse_diagonal;   /* of A, summed up to that column */
    double *u;                  /* targets x n: (T + lambda I)^-1 Q' S (y - ybar) */
    double *beta;               /* targets x n */
} Pencil;

/* An upper bound of |T|: the largest sum of absolute values in a row. */
static double
bound_norm(const KmTridiagonal *t)
{
    double bound = 0.0;

    for (size_t j = 0; j < t->n; j++)
    {
        double before = j > 0 ? fabs(t->e[j - 1]) : 0.0, after = j + 1 < t->n ? fabs(t->e[j]) : 0.0;

        bound = fmax(bound, before + fabs(t->d[j]) + after);
    }
    return bound;
}

/* False where a pivot is no more than the rounding that the reduction brings into T. */
static bool
factor_pencil(const KmTridiagonal *t, double lambda, Pencil *pencil)
{
    double noise = DBL_EPSILON * fmax(8.0, sqrt((double) t->n)) * (bound_norm(t) + lambda), taken = 0.0;

    for (size_t j = 0; j < t->n; j++)
    {
        pencil->d[j] = t->d[j] + lambda - taken;
        if (!(pencil->d[j] > noise))
            return false;
        if (j + 1 == t->n)
            break;
        pencil->l[j] = t->e[j] / pencil->d[j];
        taken = pencil->l[j] * t->e[j];
    }
    return true;
}

/* u = (T + lambda I)^-1 u. */
static void
solve_pencil(size_t n, const Pencil *pencil, double *u)
{
    for (size_t j = 1; j < n; j++)
        u[j] -= pencil->l[j - 1] * u[j - 1];
    u[n - 1] /= pencil->d[n - 1];
    for (size_t j = n - 1; j-- > 0;)
        u[j] = u[j] / pencil->d[j] - pencil->l[j] * u[j + 1];
}

static KmStatus
create_pencil(KmContext *ctx, const KmTridiagonal *t, double lambda, size_t targets, const double *rotated,
              Pencil *out, bool *usable)
{
    size_t n = t->n;

    KM_TRY(km_alloc(ctx, 2 * n, &out->d));
    out->l = out->d + n;
    *usable = factor_pencil(t, lambda, out);
    if (!*usable)
        return KM_OK;
    KM_TRY(km_alloc_zero(ctx, 2 * n, &out->last));
    out->inverse_diagonal = out->last + n;
    KM_TRY(km_alloc(ctx, targets * n, &out->u));
    KM_TRY(km_alloc_zero(ctx, targets * n, &out->beta));
    memcpy(out->u, rotated, targets * n * sizeof *out->u);
    for (size_t k = 0; k < targets; k++)
        solve_pencil(n, out, out->u + k * n);
    return KM_OK;
}

/* Q' S (y - ybar), a row for each target. */
static KmStatus
rotate_targets(KmContext *ctx, const KmKrr *krr, const KmTridiagonal *t, double **out)
{
    size_t n = t->n, targets = krr->table->n_targets;

    KM_TRY(km_alloc(ctx, targets * n, out));
    for (size_t k = 0; k < targets; k++)
        cblas_dcopy(n, krr->beta + k, targets, *out + k * n, 1);
    return km_tridiagonal_apply(ctx, t, true, 0, targets, *out);
}

/* Column j of Q joins the sums of the inverse's diagonal. */
static void
add_column(size_t n, size_t j, const double *q, const Pencil *pencil)
{
    double *restrict last = pencil->last, *restrict sum = pencil->inverse_diagonal;
    double l = j > 0 ? pencil->l[j - 1] : 0.0, inverse = 1.0 / pencil->d[j];

    for (size_t i = 0; i < n; i++)
    {
        last[i] = q[i] - l * last[i];
        sum[i] += last[i] * last[i] * inverse;
    }
}

/* Columns j0 .. j0+m-1 of Q, as rows of q, join the sums of a lambda. */
static KmStatus
add_columns(KmContext *ctx, size_t n, size_t targets, size_t j0, size_t m, const double *q,
            const Pencil *pencil)
{
    KM_TRY(km_poll(ctx));
    for (size_t j = 0; j < m; j++)
        add_column(n, j0 + j, q + j * n, pencil);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, targets, n, m, 1.0, pencil->u + j0, n, q, n, 1.0,
                pencil->beta, n);
    return KM_OK;
}

/* All columns of Q, by blocks, into the sums of all usable values of lambda. */
static KmStatus
sum_columns(KmContext *ctx, const Path *path, const KmTridiagonal *t, const Pencil *pencil)
{
    size_t n = t->n;
    double *q;

    KM_TRY(km_alloc(ctx, BLOCK * n, &q));
    for (size_t j = 0; j < n; j += BLOCK)
    {
        size_t m = min_size(n - j, BLOCK);

        memset(q, 0, m * n * sizeof *q);
        for (size_t c = 0; c < m; c++)
            q[c * n + j + c] = 1.0;
        KM_TRY(km_tridiagonal_apply(ctx, t, false, j, m, q));
        for (size_t g = 0; g < path->count; g++)
            if (path->usable[g])
                KM_TRY(add_columns(ctx, n, path->krr->table->n_targets, j, m, q, &pencil[g]));
    }
    km_free(ctx, q);
    return KM_OK;
}

/* Scores of a lambda from its sums; beta is transposed into u, which is not needed any more. */
static void
score_pencil(Path *path, size_t g, const Pencil *pencil)
{
    size_t n = path->krr->table->n, targets = path->krr->table->n_targets;

    for (size_t k = 0; k < targets; k++)
        cblas_dcopy(n, pencil->beta + k * n, 1, pencil->u + k, targets);
    path->scores[g] = km_krr_scores(path->krr, path->lambda[g], pencil->u, pencil->inverse_diagonal);
}

static KmStatus
score_by_reduction(KmContext *ctx, Path *path)
{
    KmKrr *krr = path->krr;
    KmTridiagonal t;
    Pencil *pencil;
    double *rotated;

    KM_TRY(km_tridiagonal_reduce(ctx, krr->table->n, krr->a, &t));
    KM_TRY(rotate_targets(ctx, krr, &t, &rotated));
    KM_TRY(km_alloc_zero(ctx, path->count, &pencil));
    for (size_t g = 0; g < path->count; g++)
        KM_TRY(create_pencil(ctx, &t, path->lambda[g], krr->table->n_targets, rotated, &pencil[g],
                             &path->usable[g]));
    KM_TRY(sum_columns(ctx, path, &t, pencil));
    for (size_t g = 0; g < path->count; g++)
    {
        if (path->usable[g])
            score_pencil(path, g, &pencil[g]);
        km_free(ctx, pencil[g].d);
        km_free(ctx, pencil[g].last);
        km_free(ctx, pencil[g].u);
        km_free(ctx, pencil[g].beta);
    }
    km_free(ctx, pencil);
    km_free(ctx, rotated);
    km_tridiagonal_free(ctx, &t);
    return KM_OK;
}

/* ---- the choice ---- */

/* The array lambda_path of the model: lambda, the criterion, effective degrees of freedom, of the values that
 * have a score.  The least score wins, the first of equal ones. */
static KmStatus
choose(KmContext *ctx, const Path *path, bool by_gcv, KmModel *model)
{
    double *report, best = INFINITY;
    size_t rows = 0;

    KM_TRY(km_alloc(ctx, 3 * path->count, &report));
    for (size_t g = 0; g < path->count; g++)
    {
        double score = by_gcv ? path->scores[g].gcv : path->scores[g].loo_mse;

        if (!path->usable[g] || !isfinite(score))
            continue;
        memcpy(report + 3 * rows++, (double[]) {path->lambda[g], score, path->scores[g].effective_df},
               3 * sizeof *report);
        if (score >= best)
            continue;
        best = score;
        path->krr->lambda = path->lambda[g];
    }
    if (rows == 0)
    {
        km_fail(ctx, KM_SINGULAR, "no lambda of %zu leaves a kernel matrix of %zu rows that can be solved",
                path->count, path->krr->table->n);
        return km_hint(ctx, KM_SINGULAR, "Give larger values of lambda, or a positive definite kernel.");
    }
    return km_model_add_array(ctx, model, "lambda_path", rows, 3, report);
}

KmStatus
km_krr_choose_lambda(KmContext *ctx, const KmArgs *args, KmKrr *krr, KmModel *model)
{
    const KmValue *grid = km_arg(args, "lambda");
    Path path = {.krr = krr, .count = grid->rows, .lambda = grid->list};
    bool few = path.count <= FEW_LAMBDAS;

    KM_TRY(km_alloc_zero(ctx, path.count, &path.usable));
    KM_TRY(km_alloc_zero(ctx, path.count, &path.scores));
    KM_TRY(km_krr_fill(ctx, krr, few, krr->a));
    KM_TRY(few ? score_by_factors(ctx, &path) : score_by_reduction(ctx, &path));
    KM_TRY(choose(ctx, &path, km_arg_is(args, "select", "gcv"), model));
    km_free(ctx, path.usable);
    km_free(ctx, path.scores);
    return KM_OK;
}
