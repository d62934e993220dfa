/*
 * histogram_ops.h: sums over the columns of two rows of elements >= 0, which kernel_histogram.c is made of.
 *
 * out[j] = sum over k < d of term(x_k, z_jk) for n rows z, row-major, in the order of km_dot_fixed: eight
 * chains of k modulo 8.  Terms 0/0 are 0; NaN stays.
 */
#ifndef KM_HISTOGRAM_OPS_H
#define KM_HISTOGRAM_OPS_H

#include <stddef.h>

typedef void KmHistogramSum(size_t d, const double *x, size_t n, const double *z, double *out);

typedef struct KmHistogramOps
{
    KmHistogramSum *chi2;       /* (x - z)^2 / (x + z) */
    KmHistogramSum *mercer;     /* 2 x z / (x + z) */
    KmHistogramSum *smaller;    /* min(x, z) */
} KmHistogramOps;

extern const KmHistogramOps km_histogram_ops_base, km_histogram_ops_avx2, km_histogram_ops_avx512;

#endif
