/*
 * approximation.h: how well features approximate a kernel, on rows spread over a table: facts for
 * model_info.
 */
#ifndef KM_APPROXIMATION_H
#define KM_APPROXIMATION_H

#include "learner.h"

/* kernel_error: |ZZ' - K| / |K| in the Frobenius norm, over at most 200 rows x of n. */
extern KmStatus km_approximation_error(KmContext *ctx, const KmKernel *kernel, const KmStep *step, size_t n,
                                       const double *x, KmModel *model);
/* residual_trace: the share of the kernel's trace that is not in the features, over at most 300 rows. */
extern KmStatus km_approximation_residual(KmContext *ctx, const KmKernel *kernel, const KmStep *step,
                                          size_t n, const double *x, KmModel *model);

#endif
