/*
 * krr_scores.c: leave-one-out error and generalised cross-validation of kernel
 * ridge regression in closed form.
 *
 * Leave-one-out residuals with ybar held fixed are alpha_i / (C^-1)_ii for C = K + lambda W^-1 (Rasmussen and
 * Williams 2006, section 5.4.2), C^-1 = S A^-1 S; effective degrees of freedom are
 * tr K C^-1 = n - lambda tr A^-1; GCV = (RSS/n) / (1 - df/n)^2 with n the sum of the weights (Golub, Heath,
 * Wahba 1979).  A weighted row is left out whole.
 */
#include <math.h>

#include "cholesky.h"
#include "krr.h"

/* alpha_i / w_i, alpha = S beta; the residual of row i is lambda times that. */
static double
scaled_coefficient(const KmKrr *krr, size_t i, double beta)
{
    return krr->root == NULL ? beta : beta / krr->root[i];
}

KmKrrScores
km_krr_scores(const KmKrr *krr, double lambda, const double *beta, const double *inverse_diagonal)
{
    size_t n = krr->table->n, targets = krr->table->n_targets;
    double weight = 0.0, trace = 0.0, rss = 0.0, loo = 0.0, df, left;

    for (size_t i = 0; i < n; i++)
    {
        double w = km_table_weight(krr->table, i);

        weight += w;
        trace += inverse_diagonal[i];
        for (size_t t = 0; t < targets; t++)
        {
            double scaled = scaled_coefficient(krr, i, beta[i * targets + t]);

            rss += w * (lambda * scaled) * (lambda * scaled);
            loo += w * (scaled / inverse_diagonal[i]) * (scaled / inverse_diagonal[i]);
        }
    }
    df = (double) n - lambda * trace;
    left = 1.0 - df / weight;
    return (KmKrrScores) {
        .effective_df = df,
        .loo_mse = loo / weight / (double) targets,
        .gcv = left > 0.0 ? rss / weight / (double) targets / (left * left) : INFINITY,
    };
}

KmStatus
km_krr_scores_of_factor(KmContext *ctx, const KmKrr *krr, KmKrrScores *out)
{
    size_t n = krr->table->n;
    double *inverse_diagonal;

    KM_TRY(km_alloc(ctx, n, &inverse_diagonal));
    KM_TRY(km_cholesky_inverse_diagonal(ctx, n, n, krr->a, inverse_diagonal));
    *out = km_krr_scores(krr, krr->lambda + krr->jitter, krr->beta, inverse_diagonal);
    km_free(ctx, inverse_diagonal);
    return KM_OK;
}
