/*
 * hinge.h: linear support vector machines in their primal form, by an interior-point method:
 *
 *   minimise over w, b   1/2 |w|^2 + sum_t C_t max(0, e_t - s_t (<w, x_row(t)> + b)),   s_t = +1 or -1.
 *
 * A row has one term (classification: e = 1, s = y) or two (regression: e = y - epsilon with s = 1 and
 * e = -y - epsilon with s = -1).
 */
#ifndef KM_HINGE_H
#define KM_HINGE_H

#include "design.h"

typedef struct KmHinge
{
    size_t n;                   /* terms */
    const size_t *row;          /* n: row of the design */
    const double *sign;         /* n */
    const double *offset;       /* n: e */
    const double *cost;         /* n: C > 0, finite */
    double tol;                 /* stop when the duality gap is this fraction of the objective */
    size_t max_iter;
} KmHinge;

typedef struct KmHingeSolution
{
    double *w;                  /* d, for the centred design */
    double b;                   /* the middle of the interval of best ones */
    double objective;           /* of the dual: a lower bound */
    double gap;                 /* objective of w, b less that */
    double relative_gap;        /* the fraction of the objective that it is */
    size_t iterations;
    bool converged;             /* to tol, or to 1e-6 where rounding ends the way there */
    bool limited;               /* by max_iter */
} KmHingeSolution;

/* Bytes of a solution of n terms and d features. */
extern double km_hinge_bytes(size_t n, size_t d);
/* solution->w has room for d numbers. */
extern KmStatus km_hinge_solve(KmContext *ctx, const KmDesign *design, const KmHinge *problem,
                               KmHingeSolution *solution);

#endif
