/*
 * platt.h: probabilities from decision values: a sigmoid for two classes (Platt 1999), coupling of
 * pairs for more (Wu, Lin, Weng 2004, second method).
 */
#ifndef KM_PLATT_H
#define KM_PLATT_H

#include "context.h"

/* P(positive | f) = 1 / (1 + exp(a f + b)) */
typedef struct KmSigmoid
{
    double a, b;
} KmSigmoid;

/* The sigmoid of greatest likelihood for n decision values, by the targets (N+ + 1) / (N+ + 2) and
 * 1 / (N- + 2) instead of 1 and 0.  w: weights, NULL for ones; counts are sums of weights. */
extern KmStatus km_sigmoid_fit(KmContext *ctx, size_t n, const double *f, const bool *positive,
                               const double *w, KmSigmoid *out);

/* Scoring: km_exp1, sqrt and arithmetic in a fixed order. */
extern double km_sigmoid_value(const KmSigmoid *sigmoid, double f);
/* p (k) from second[pair] = P(j | i or j) of the pairs i < j, (0,1), (0,2), ...: the p >= 0 of sum 1 that
 * minimises sum_i sum_j!=i (r_ji p_i - r_ij p_j)^2, r_ij = P(i | i or j).  work: k x k. */
extern void km_couple_pairs(size_t k, const double *second, double *work, double *p);

#endif
