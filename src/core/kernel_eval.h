/*
 * kernel_eval.h: evaluating a compiled kernel, shared by the two paths that make values:
 * tiles (points.c, tile.c) and scoring in fixed order (target.c).
 *
 * Both do the same three things: give each leaf its own rows (km_leaf_rows), turn pairs of them
 * into leaf values (geometry, then type->map), and combine the leaf values by the operations of the tree.
 * Internal to the kernel modules.
 */
#ifndef KM_KERNEL_EVAL_H
#define KM_KERNEL_EVAL_H

#include "kernel.h"

/* out[0..n_leaves-1]: the leaves, by their index. */
extern void km_kernel_leaves(const KmKernel *kernel, const KmLeaf **out);

/* Fail unless every value is a number: no gamma=scale left to resolve, no grid(…). */
extern KmStatus km_kernel_check_ready(KmContext *ctx, const KmKernel *kernel);

/* ---- rows of one leaf ---- */

/* Columns of a leaf's own rows, for rows of d columns; 0 for KM_GEOMETRY_NONE. */
extern size_t km_leaf_dimension(const KmLeaf *leaf, size_t d);
/* out (n x km_leaf_dimension) from x (n x d): columns chosen, scaled, turned by the factor, and for
 * KM_GEOMETRY_COSINE scaled to length 1 (zero rows stay zero).  Fixed order, same bits everywhere.  Fails on
 * rows outside the kernel's domain.  The dimension must have been checked (km_kernel_check_dimension). */
extern KmStatus km_leaf_rows(KmContext *ctx, const KmLeaf *leaf, size_t n, size_t d, const double *x,
                             double *out);
/* The same without a copy where the leaf takes rows as they come: *rows is x, and *made NULL; else both are
 * new memory. */
extern KmStatus km_leaf_own_rows(KmContext *ctx, const KmLeaf *leaf, size_t n, size_t d, const double *x,
                                 const double **rows, double **made);
/* out[i] = the leaf's k(x_i, x_i), from rows (n x d_leaf) made by km_leaf_rows: exactly map(0) for
 * distances, 1 (zero rows: 0) for cosine, sums in the order of panel.h for dot products. */
extern void km_leaf_self(const KmLeaf *leaf, size_t n, size_t d_leaf, const double *rows, double *out);
/* The geometry values that it maps. */
extern void km_leaf_self_geometry(const KmLeaf *leaf, size_t n, size_t d_leaf, const double *rows,
                                  double *out);
/* Fail on a row (its number for the message from 0) outside the leaf's domain: x, d_leaf columns. */
extern KmStatus km_leaf_check_row(KmContext *ctx, const KmLeaf *leaf, size_t row, size_t d_leaf,
                                  const double *x);
/* Fail on a geometry value outside the leaf's domain, of row i with rows j .. j+n-1 (from 0). */
extern KmStatus km_leaf_check_values(KmContext *ctx, const KmLeaf *leaf, size_t i, size_t j, size_t n,
                                     const double *v);

/* ---- combining leaf values ---- */

/* Pairs (x, z_0) … (x, z_{n-1}) of one row x. */
typedef struct KmPairs
{
    size_t n;
    double *leaf;               /* values of leaf l at leaf[l * leaf_stride + j]; overwritten */
    size_t leaf_stride;
    /* What normalize() divides by, for normalize number q < kernel->n_normals of the tree: its child's
     * k(x, x) at x_self[q * x_stride], k(z_j, z_j) at z_self[q * z_stride + j].  NULL when there is none. */
    const double *x_self;
    size_t x_stride;
    double *z_self;
    size_t z_stride;
    double *tape;               /* values of node number t are copied to tape[t * tape_stride]; NULL: not */
    size_t tape_stride;
} KmPairs;

/* k(x, z_j) from the leaf values.  Works in place, without memory of its own: the result lies in the
 * buffer of the first leaf, pairs->leaf, which is returned. */
extern double *km_kernel_combine(const KmKernel *kernel, const KmPairs *pairs);
/* The diagonal k(z_j, z_j) from the leaves' own (km_leaf_self), in the same way; x_self is not used, and
 * z_self is filled in, for later calls of km_kernel_combine. */
extern double *km_kernel_combine_self(const KmKernel *kernel, const KmPairs *pairs);

/* base^exponent by repeated squaring, in one fixed order; exponent whole, 0 <= exponent < 2^53. */
extern double km_power_whole(double base, double exponent);

#endif
