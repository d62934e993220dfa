/*
 * expansion.h: kernel expansions, f_o(x) = intercept_o + sum_j b_jo k(z_j, x), which support vector machines
 * and kernel ridge regression are made of.
 *
 * Stored rows z_j may stand in groups, each with several columns of coefficients; an output is a sum of
 * terms, each of which is one column of one group.  They go in blocks, whose kernel values are used while
 * they are in cache and not kept.  One column is summed in the order of km_dot_fixed; of several, each is one
 * chain of fused multiply-adds in the order of the stored rows, begun anew in each group, and terms are added
 * as they stand.
 *
 * Where the kernel is the dot product of rows that it makes, f_o(x) = <w_o, x> + intercept_o; w_o is added up
 * once, in the order of the stored rows, and these are not kept.
 */
#ifndef KM_EXPANSION_H
#define KM_EXPANSION_H

#include "kernel.h"

typedef struct KmTerm
{
    size_t group, column;
} KmTerm;

/* What an expansion is made from, and does not keep. */
typedef struct KmExpansionParts
{
    size_t n, d, columns;
    const double *rows;         /* n x d */
    const double *coef;         /* n x columns */
    size_t groups;              /* more than one only of several columns */
    const size_t *first;        /* groups + 1: where each group begins, and their end */
    size_t n_out, n_terms;      /* outputs, terms of each */
    const KmTerm *term;         /* n_out x n_terms */
} KmExpansionParts;

typedef struct KmExpansion KmExpansion;

/* The kernel must stay, and the intercepts (n_out). */
extern KmStatus km_expansion_create(KmContext *ctx, const KmKernel *kernel, const KmExpansionParts *parts,
                                    const double *intercept, KmExpansion **out);
/* One group, each of whose columns is an output. */
extern KmStatus km_expansion_create_columns(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d,
                                            const double *rows, size_t columns, const double *coef,
                                            const double *intercept, KmExpansion **out);
/* out (m x n_out): the values of m <= KM_SCORE_ROWS rows. */
extern KmStatus km_expansion_run(KmContext *ctx, KmExpansion *expansion, size_t m, const double *x,
                                 double *out);

#endif
