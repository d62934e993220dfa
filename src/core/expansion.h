/*
 * expansion.h: kernel expansions f_gc(x) = sum over the stored rows z_j of group g of
 * coef_jc k(z_j, x), which support vector machines are made of.
 *
 * Stored rows go in blocks, whose kernel values are used while they are in cache and not kept.  One
 * column is summed in the order of km_dot_fixed; of several, each is one chain of fused multiply-adds
 * in the order of the stored rows, begun anew in each group.
 */
#ifndef KM_EXPANSION_H
#define KM_EXPANSION_H

#include "kernel.h"

typedef struct KmExpansion KmExpansion;

/* n rows of d columns with coef (n x columns); group g is the rows first[g] .. first[g+1]-1.  There
 * may be several groups of several columns only.  Copies rows, coef and first. */
extern KmStatus km_expansion_create(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d,
                                    const double *rows, size_t groups, const size_t *first, size_t columns,
                                    const double *coef, KmExpansion **out);
/* *sum: the values of m <= KM_SCORE_ROWS rows, valid until the next call: row i's of group g and
 * column c at (*sum)[i * km_expansion_stride(expansion) + km_expansion_at(expansion, g, c)]. */
extern KmStatus km_expansion_run(KmContext *ctx, KmExpansion *expansion, size_t m, const double *x,
                                 const double **sum);
extern size_t km_expansion_at(const KmExpansion *expansion, size_t group, size_t column);
extern size_t km_expansion_stride(const KmExpansion *expansion);

#endif
