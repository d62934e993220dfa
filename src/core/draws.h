/*
 * draws.h: samples of the values of a Gaussian process at given rows, all together.
 *
 * A draw is mean + L u for a pivoted Cholesky factor L of the covariance, which stops where nothing but
 * rounding is left, so that covariances may be singular (rows that repeat, smooth kernels).  u are standard
 * normals of the seeded generator, a stream for each draw: draw number s at the same rows is always the
 * same; at a part of the rows it is another one.
 */
#ifndef KM_DRAWS_H
#define KM_DRAWS_H

#include "learner.h"

/* From the prior with mean 0: out is draws x m; x is m x d, finite. */
extern KmStatus km_draws_prior(KmContext *ctx, const KmKernel *kernel, size_t m, size_t d, const double *x,
                               size_t draws, uint64_t seed, double *out);
/* From the posterior of a Gaussian process: latent values, without noise.  x: raw rows, not NaN. */
extern KmStatus km_draws_posterior(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x,
                                   size_t draws, uint64_t seed, double *out);

#endif
