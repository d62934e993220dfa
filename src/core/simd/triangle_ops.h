/*
 * triangle_ops.h: the inner loops of triangle.h with many right-hand sides, one table per instruction set.
 */
#ifndef KM_TRIANGLE_OPS_H
#define KM_TRIANGLE_OPS_H

#include "../triangle.h"

/* For up to KM_TRIANGLE_ROWS rows of L from row i on, and m columns of V, rounded up to whole vectors. */
typedef struct KmTriangleOps
{
    /* V_i -= L_ik V_k, summed over first <= k < last. */
    void (*subtract)(const KmTriangle *triangle, size_t i, size_t first, size_t last, size_t m, size_t ld,
                     double *v);
    /* V_i = L_ii^-1 V_i. */
    void (*solve)(const KmTriangle *triangle, size_t i, size_t m, size_t ld, double *v);
} KmTriangleOps;

extern const KmTriangleOps km_triangle_ops_base, km_triangle_ops_avx2, km_triangle_ops_avx512;

#endif
