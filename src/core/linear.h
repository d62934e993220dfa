/*
 * linear.h: what linear models on features share: their arrays "coef" (d x m) and "intercept" (1 x m), and
 * their scores Z coef + intercept.
 */
#ifndef KM_LINEAR_H
#define KM_LINEAR_H

#include "learner.h"

/* Put w (d x m) and the intercepts (m) into the model; KM_RANGE where they are not finite. */
extern KmStatus km_linear_store(KmContext *ctx, const char *what, size_t d, size_t m, double *w,
                                double *intercept, KmModel *model);
/* Check the arrays and make ready; how many values there are is for the decision to check. */
extern KmStatus km_linear_prepare(KmContext *ctx, const KmModel *model, size_t d, KmDecision decision,
                                  KmScore *out);
/* Where the features are U a of plainer ones (learner.h), keep "plain" (d x m) = U' coef too, … */
extern KmStatus km_linear_store_plain(KmContext *ctx, const KmStep *last, KmModel *model);
/* … and score a instead of z: the same values but for rounding, without the work of U.  *used: there is
 * "plain". */
extern KmStatus km_linear_use_plain(KmContext *ctx, const KmModel *model, const KmStep *steps, KmScore *score,
                                    bool *used);
extern bool km_is_finite(size_t n, const double *v);
/* intercept[t] -= <mean, column t of w>: from centred features to features as they are. */
extern void km_linear_uncentre(size_t d, size_t m, const double *mean, const double *w, double *intercept);

#endif
