/*
 * ridge_path.c: the choice of ridge's lambda from a grid by generalised cross-validation (Golub, Heath,
 * Wahba 1979), from the normal equations alone.
 *
 *   GCV(lambda) = (RSS/n) / (1 - df/n)^2,   df = tr A (A + lambda I)^-1, and 1 for an intercept,
 *   RSS = y'y - w'b - lambda w'w            where (A + lambda I) w = b,
 * with a Cholesky factorisation for each value: cheaper than an eigendecomposition up to some sixteen of
 * them.  n is the total weight; several targets share lambda, and their squared errors add up.
 */
#include "ridge.h"

#include <math.h>
#include <string.h>

#include "cholesky.h"

typedef struct Path
{
    const KmRidge *ridge;
    KmRidge trial;              /* the ridge's equations, anew for each lambda */
    double *inverse_diagonal;   /* d */
} Path;

static KmStatus
create(KmContext *ctx, const KmRidge *ridge, Path *path)
{
    size_t d = ridge->d;

    KM_TRY(km_reserve(ctx, 8.0 * (double) d * ((double) d + (double) ridge->m),
                      "the choice of lambda for ridge",
                      "Give one value of lambda."));
    path->ridge = ridge;
    path->trial = *ridge;
    KM_TRY(km_alloc(ctx, d, &path->inverse_diagonal));
    KM_TRY(km_alloc(ctx, d * d, &path->trial.a));
    return km_alloc(ctx, d * ridge->m, &path->trial.b);
}

/* Residual sum of squares of target t. */
static double
residual_square(const Path *path, size_t t, double lambda)
{
    size_t m = path->ridge->m;
    double square = path->ridge->square[t];

    for (size_t j = 0; j < path->ridge->d; j++)
    {
        double w = path->trial.b[j * m + t];

        square -= w * (path->ridge->b[j * m + t] + lambda * w);
    }
    return ldexp(fmax(square, 0), path->ridge->exponent == NULL ? 0 : 2 * path->ridge->exponent[t]);
}

/* Infinite where lambda leaves a singular matrix, or no degrees of freedom. */
static KmStatus
try_lambda(KmContext *ctx, Path *path, double lambda, KmRidgeChoice *out)
{
    const KmRidge *ridge = path->ridge;
    size_t d = ridge->d;
    double rss = 0, left;
    KmStatus status;

    *out = (KmRidgeChoice) {.lambda = lambda, .effective_df = (double) d + ridge->centred, .gcv = INFINITY};
    memcpy(path->trial.a, ridge->a, d * d * sizeof *ridge->a);
    memcpy(path->trial.b, ridge->b, d * ridge->m * sizeof *ridge->b);
    status = km_ridge_solve(ctx, &path->trial, lambda);
    if (status == KM_SINGULAR)
        return KM_OK;
    KM_TRY(status);
    KM_TRY(km_cholesky_inverse_diagonal(ctx, d, d, path->trial.a, path->inverse_diagonal));
    for (size_t j = 0; j < d; j++)
        out->effective_df -= lambda * path->inverse_diagonal[j];
    for (size_t t = 0; t < ridge->m; t++)
        rss += residual_square(path, t, lambda);
    left = 1 - out->effective_df / ridge->n;
    if (left > 0)
        out->gcv = rss / ridge->n / (double) ridge->m / (left * left);
    return KM_OK;
}

static KmStatus
choose_from(KmContext *ctx, const KmValue *grid, const KmRidge *ridge, KmRidgeChoice *best)
{
    size_t n_tried = 0;
    double *tried;
    Path path;

    best->gcv = INFINITY;
    KM_TRY(km_alloc(ctx, 3 * grid->rows, &tried));
    KM_TRY(create(ctx, ridge, &path));
    for (size_t i = 0; i < grid->rows; i++)
    {
        KmRidgeChoice choice;

        KM_TRY(try_lambda(ctx, &path, grid->list[i], &choice));
        if (!isfinite(choice.gcv))
            continue;
        memcpy(tried + 3 * n_tried++, (double[]) {choice.lambda, choice.gcv, choice.effective_df},
               3 * sizeof *tried);
        if (choice.gcv < best->gcv)
            *best = choice;
    }
    best->n_tried = n_tried;
    best->tried = tried;
    km_free(ctx, path.inverse_diagonal);
    km_free(ctx, path.trial.a);
    km_free(ctx, path.trial.b);
    if (isfinite(best->gcv))
        return KM_OK;
    km_fail(ctx, KM_SINGULAR, "ridge: none of the %zu values of lambda leaves degrees of freedom",
            grid->rows);
    return km_hint(ctx, KM_SINGULAR, "Give larger values.");
}

KmStatus
km_ridge_choose(KmContext *ctx, const KmArgs *args, const KmRidge *ridge, KmRidgeChoice *choice)
{
    const KmValue *lambda = km_arg(args, "lambda");

    *choice = (KmRidgeChoice) {.lambda = lambda->number};
    return lambda->grid ? choose_from(ctx, lambda, ridge, choice) : KM_OK;
}

KmStatus
km_ridge_write_choice(KmContext *ctx, const KmArgs *args, const KmRidgeChoice *choice, KmNode *node)
{
    KmNode *value;

    if (!km_arg(args, "lambda")->grid)
        return KM_OK;
    KM_TRY(km_node_number(ctx, choice->lambda, &value));
    km_node_unset(node, "select");
    return km_node_set(ctx, node, "lambda", value);
}

KmStatus
km_ridge_add_facts(KmContext *ctx, const KmArgs *args, const KmRidgeChoice *choice, KmModel *model)
{
    if (!km_arg(args, "lambda")->grid)
        return KM_OK;
    KM_TRY(km_model_add_fact(ctx, model, "gcv", KM_FACT_NUMBER, choice->gcv));
    KM_TRY(km_model_add_fact(ctx, model, "effective_df", KM_FACT_NUMBER, choice->effective_df));
    return km_model_add_array(ctx, model, "lambda_path", choice->n_tried, 3, choice->tried);
}
