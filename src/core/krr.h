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

/* Points, weights, intercept and right sides of a system for the rows of a table; a kernel with numbers. */
extern KmStatus km_krr_open(KmContext *ctx, const KmTable *table, const KmKernel *kernel, double lambda,
                            bool center, KmKrr *out);
/* alpha = S beta in place of beta. */
extern KmStatus km_krr_coefficients(KmContext *ctx, const KmKrr *krr);

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

/* ---- method=cg, of krr and gp ---- */

/* The parameters that the method adds to an estimator's. */
#define KM_CG_PARAMS \
    {.name = "method", .kinds = KM_KIND_WORD, .standard = "exact", .words = km_krr_methods}, \
    {.name = "tol", .kinds = KM_KIND_NUMBER, .min = 0, .max = 1, .open = true}, \
    {.name = "max_iter", .kinds = KM_KIND_INTEGER, .min = 1, .max = 1e9}, \
    {.name = "rank", .kinds = KM_KIND_INTEGER, .min = 0, .max = 1e6}
extern const char *const km_krr_methods[];

extern bool km_krr_is_iterative(const KmArgs *args);
/* Options of the other method are errors, not silence: refuse the option if it was given without
 * method=cg. */
extern KmStatus km_krr_check_iterative(KmContext *ctx, const KmArgs *args, const char *option);
/* krr->beta by preconditioned conjugate gradients; facts about the iteration. */
extern KmStatus km_krr_iterate(KmContext *ctx, const KmArgs *args, KmKrr *krr, KmModel *model);
/* Doubles per row that this takes for n rows and so many targets, beside the rows themselves. */
extern double km_krr_iterative_work(const KmArgs *args, size_t n, size_t targets);

#endif
