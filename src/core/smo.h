/*
 * smo.h: the quadratic program of support vector machines, by sequential
 * minimal optimisation with second-order working sets (Fan, Chen, Lin 2005).
 *
 *   minimise  1/2 b'Kb + p'b   subject to  sum b = given by the start,  lower <= b <= upper
 *
 * in signed variables b (b_i = y_i alpha_i for classification, with p = -y), over rows of K made on first use.
 * Variable v sits on row row[v] of K (several variables may share a row, as in regression).
 */
#ifndef KM_SMO_H
#define KM_SMO_H

#include "context.h"
#include "rows.h"

typedef struct KmQuadratic
{
    size_t n;                   /* variables */
    const uint32_t *row;        /* n row numbers, or NULL: variable v is row v */
    const double *p;            /* n: linear term */
    const double *lower, *upper;        /* n: box; may be infinite (hard margin) */
    double tol;                 /* stop when the violation m - M < tol */
    uint64_t max_iter;          /* pair steps; 0: no limit is not offered, callers pass a finite one */
} KmQuadratic;

typedef struct KmSolution
{
    double *b;                  /* n; in: the start (feasible), out: the optimum; bounds exact */
    double *gradient;           /* n: Kb + p, freshly computed at the end */
    double objective;           /* 1/2 b'Kb + p'b */
    double gap;                 /* final violation by the fresh gradient */
    double bias;                /* -(mean of gradient over free variables), else -(midpoint): decision = Kb + bias */
    uint64_t iterations;
    bool converged;
    size_t rows_used;           /* rows of K that were made */
} KmSolution;

extern KmStatus km_smo_solve(KmContext *ctx, const KmQuadratic *problem, KmRows *rows, KmSolution *solution);

#endif
