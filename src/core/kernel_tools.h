/*
 * kernel_tools.h: geometry of the feature space of a kernel: distances, centring,
 * norms, degrees of freedom.
 */
#ifndef KM_KERNEL_TOOLS_H
#define KM_KERNEL_TOOLS_H

#include "kernel.h"
#include "learner.h"

/* A kernel made ready for distances. */
typedef struct KmDistance KmDistance;
extern KmStatus km_distance_create(KmContext *ctx, const KmKernel *kernel, KmDistance **out);
/* |phi(x) - phi(z)| = sqrt(k(x,x) - 2 k(x,z) + k(z,z)), never NaN for a positive semidefinite kernel.
 * Without cancellation for linear, rbf, laplacian, exponential and cauchy, and for sums, products, powers,
 * exp and normalize of them; others to about 1e-8 of sqrt(k(x,x)).  KM_RANGE if the result is not finite,
 * KM_SINGULAR where an indefinite kernel has no distance. */
extern KmStatus km_distance_value(KmContext *ctx, const KmDistance *distance, size_t d, const double *x,
                                  const double *z, double *out);

/* G becomes H G H, H = I - 11'/n: the Gram matrix of points less their mean.  n x n, symmetric, both
 * triangles. */
extern KmStatus km_gram_center(KmContext *ctx, size_t n, double *g);
/* G_ij becomes G_ij / sqrt(G_ii G_jj), exactly 1 on the diagonal; 0 where a diagonal element is not
 * positive. */
extern KmStatus km_gram_normalize(KmContext *ctx, size_t n, double *g);
/* out[i] = sum_j e_j / (e_j + lambda_i), e the eigenvalues of G, those that are negative or only rounding as
 * 0. Reads the lower triangle, destroys g. */
extern KmStatus km_gram_effective_df(KmContext *ctx, size_t n, double *g, size_t m, const double *lambda,
                                     double *out);

/* sqrt(sum over columns a of coef of a'K a): the norm of the model's functions less their intercepts,
 * together. KM_UNSUPPORTED for a model without rows and a kernel, or with one function per class. */
extern KmStatus km_model_rkhs_norm(KmContext *ctx, const KmModel *model, double *out);

#endif
