/*
 * svc.h: the layout of a support vector classifier's arrays, shared by fitting and scoring.
 *
 * Classes 0 … k-1; support rows stand class by class.  Pair (p, q), p < q, is positive for q.
 *   "rows"       n_sv x d
 *   "coef"       n_sv x (k-1): a row of class c has its coefficient against class e in column e - (e > c)
 *   "intercept"  1 x k(k-1)/2, pairs (0,1), (0,2), …
 *   "counts"     1 x k: support rows of each class
 */
#ifndef KM_SVC_H
#define KM_SVC_H

#include "learner.h"

/* Column of coef for a row of class c in its machine against class e. */
static inline size_t
km_svc_column(size_t c, size_t e)
{
    return e - (e > c);
}

extern KmStatus km_svc_prepare(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d,
                               KmScore *out);

#endif
