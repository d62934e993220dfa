/*
 * krr.h: what the ways of solving kernel ridge regression share.
 *
 *   minimise  sum_i w_i (y_i - ybar - f(x_i))^2 + lambda |f|^2,   f = sum_i alpha_i k(., x_i),
 * is solved by (K + lambda W^-1) alpha = y - ybar; with S = W^1/2 and A = S K S + lambda I,
 *   A beta = S (y - ybar),   alpha = S beta
 * (Saunders, Gammerman, Vovk 1998).  A whole-number weight counts as repeated rows.
 */
#ifndef KM_KRR_H
#define KM_KRR_H

#include "learner.h"

typedef struct KmKrr
{
    const KmKernel *kernel;     /* with numbers for gamma=scale */
    const KmTable *table;
    KmPoints *points;
    double *root;               /* n: square roots of the weights; NULL for ones */
    double *intercept;          /* n_targets */
    double lambda;
    double *beta;               /* n x n_targets: the right sides S (y - intercept), then the solution */
    double *a;                  /* n x n, lower triangle: A, then its factor (exact method) */
    double jitter;              /* what was added to lambda (exact method) */
} KmKrr;

/* S K S into the lower triangle of a (n x n), and into the upper one if `full`. */
extern KmStatus km_krr_fill(KmContext *ctx, const KmKrr *krr, bool full, double *a);

/* How well a solution does. */
typedef struct KmKrrScores
{
    double effective_df, loo_mse;
    double gcv;                 /* infinite where the degrees of freedom use up the rows */
} KmKrrScores;

/* From beta for this lambda and the diagonal of A^-1 (see krr_scores.c). */
extern KmKrrScores km_krr_scores(const KmKrr *krr, double lambda, const double *beta,
                                 const double *inverse_diagonal);
/* The same for the factor in krr->a. */
extern KmStatus km_krr_scores_of_factor(KmContext *ctx, const KmKrr *krr, KmKrrScores *out);

/* Set krr->lambda to the best value of lambda's grid by the criterion in select=, and report the path in the
 * model.  krr->a is work space. */
extern KmStatus km_krr_choose_lambda(KmContext *ctx, const KmArgs *args, KmKrr *krr, KmModel *model);
/* krr->beta by preconditioned conjugate gradients; facts about the iteration. */
extern KmStatus km_krr_iterate(KmContext *ctx, const KmArgs *args, KmKrr *krr, KmModel *model);
/* Rank of the preconditioner for n rows. */
extern size_t km_krr_rank(const KmArgs *args, size_t n);

#endif
