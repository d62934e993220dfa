/*
 * posterior.h: the distribution of a Gaussian process at new rows, given what its model keeps.
 *
 * For stored rows X with coefficients c, a packed factor L and scales s (ones when absent):
 *   mean(x) = intercept + k(x, X) c,   variance(x) = k(x, x) - |v|^2,   L v = s k(X, x)
 * (Rasmussen and Williams 2006, algorithms 2.1 and 3.2).  Arrays of the model: rows (n x d), coef
 * (n x 1), and, those that apply, intercept (1 x 1), factor (1 x n(n+1)/2: rows of the lower
 * triangle), scales (n x 1).  The variance is that of the latent value: no noise, no white kernel.
 */
#ifndef KM_POSTERIOR_H
#define KM_POSTERIOR_H

#include "model.h"
#include "kernel.h"

typedef struct KmPosterior KmPosterior;

/* Checks the model's arrays; d: features after the steps. */
extern KmStatus km_posterior_create(KmContext *ctx, const KmKernel *kernel, const KmModel *model, size_t d,
                                    KmPosterior **out);

/* ---- scoring, m <= KM_SCORE_ROWS: fixed order, no BLAS ---- */

extern KmStatus km_posterior_mean(KmContext *ctx, const KmPosterior *posterior, size_t m, const double *z,
                                  double *mean);
/* out: m pairs (mean, variance), the variance at least 0.  KM_UNSUPPORTED without a factor. */
extern KmStatus km_posterior_moments(KmContext *ctx, const KmPosterior *posterior, size_t m, const double *z,
                                     double *out);

/* ---- many rows at once, by BLAS: within 1e-10 of the above; z finite ---- */

extern KmStatus km_posterior_batch(KmContext *ctx, const KmPosterior *posterior, size_t m, const double *z,
                                   double *out);
/* mean (m) and the lower triangle of the covariance (m x m); *scale: the largest prior variance, from which
 * it was subtracted. */
extern KmStatus km_posterior_covariance(KmContext *ctx, const KmPosterior *posterior, size_t m,
                                        const double *z, double *mean, double *covariance, double *scale);

/* ---- packed lower triangles, row by row ---- */

/* Move the lower triangle of an n x n matrix to its front. */
extern void km_triangle_pack(size_t n, double *a);

#endif
