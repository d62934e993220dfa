/*
 * triangle.h: forward substitution with a packed lower triangle L: row by row in the fixed order of scoring,
 * and with many right-hand sides at once.
 */
#ifndef KM_TRIANGLE_H
#define KM_TRIANGLE_H

#include "context.h"

#define KM_TRIANGLE_ROWS ((size_t) 8)

/* L (n x n), row i from rows[i (i + 1) / 2] on; the corner of each 8 rows, their block on the diagonal, once
 * more by columns, 8 x 8 numbers: -L_rc / L_rr for r > c, in the last column 1 / L_rr, elsewhere 0. */
typedef struct KmTriangle
{
    size_t n;
    const double *rows;
    double *corners;
} KmTriangle;

/* rows stays the caller's, and must last. */
extern KmStatus km_triangle_create(KmContext *ctx, size_t n, const double *rows, KmTriangle *out);

static inline const double *
km_triangle_row(const KmTriangle *triangle, size_t i)
{
    return triangle->rows + i * (i + 1) / 2;
}

/* Scoring: forward substitution, L v = b in place for m rows v, ld apart, elements first .. last-1 of v, those
 * before being done; first and last are multiples of 8, or last is n.  Row r of a corner begins with
 * (b_r - s) / L_rr, s in the order of km_dot_fixed over what is before the corner, and goes on by fma with each
 * v_c of the corner.  Beside divisions at the end each number of L counts as changed by an ulp or two more. */
extern void km_triangle_substitute(const KmTriangle *triangle, size_t first, size_t last, size_t m, size_t ld,
                                   double *v);

/* Many right-hand sides: L V = B in place for the m columns of V (n x m, rows ld apart), to rounding.  ld is
 * km_triangle_stride(m) or more; the columns from m on are worked on too. */
extern size_t km_triangle_stride(size_t m);
extern KmStatus km_triangle_solve(KmContext *ctx, const KmTriangle *triangle, size_t m, size_t ld, double *v);

#endif
