/*
 * kernel_gradient.h: the free parameters of a kernel, and derivatives of weighted sums of its Gram matrix, as
 * optimisation of a Gaussian process needs them.
 *
 * Free are the numbers, and elements of lists, that the table names (KmFree), leaf by leaf; a scalar in front
 * of a kernel is one.  Positive ones move by their logarithm and stay fixed at 0; those that may be <= 0 (and
 * negative scalars) move themselves.  Powers, degrees, matern's nu, metrics and white noise are fixed.
 */
#ifndef KM_KERNEL_GRADIENT_H
#define KM_KERNEL_GRADIENT_H

#include "kernel.h"

typedef struct KmParameter
{
    const KmLeaf *leaf;
    const KmFree *free;
    size_t element;             /* of a list or matrix, row by row */
    bool log;                   /* its logarithm moves; value > 0 */
    double value;               /* itself, not its logarithm */
} KmParameter;

/* The n free parameters, in the order of the text. */
extern KmStatus km_kernel_parameters(KmContext *ctx, const KmKernel *kernel, size_t *n, KmParameter **out);
/* Adds "length_scale[2] of rbf"; where the kernel has several leaves, "length_scale of rbf (part 3)". */
extern KmStatus km_parameter_name(KmContext *ctx, const KmKernel *kernel, const KmParameter *parameter,
                                  KmText *out);
/* Give the parameters other values (themselves, in the same order): rewrites kernel->node, works the leaves
 * out again.  Points made before are of the old kernel. */
extern KmStatus km_kernel_set_parameters(KmContext *ctx, KmKernel *kernel, size_t n, const double *value);

/* out[p] = sum_ij W_ij dK_ij/dtheta_p for all parameters at once, theta_p the value or its logarithm; K is
 * the Gram matrix of the points, W symmetric, n x n with row stride ld, its lower triangle read.  By tiles:
 * nothing of the size of K is made, and it polls.  One pass in reverse through the expression; the lengths
 * of single columns together cost one product of matrices. */
extern KmStatus km_kernel_gradient(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, size_t ld,
                                   const double *W, double *out);

#endif
