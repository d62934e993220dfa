/*
 * smo.h: the quadratic program of support vector machines, by sequential
 * minimal optimisation with second-order working sets (Fan, Chen, Lin 2005).
 *
 *   minimise  1/2 b'Kb + p'b + kink sum |b_i|   subject to  sum b = that of the start,  lower <= b <= upper
 *
 * in signed variables b, one per row of K, over rows made on first use.
 * Classification: b_i = y_i alpha_i, p = -y, kink = 0.  Regression: b_i = alpha_i - alpha_i*, p = -y,
 * kink = epsilon: one variable where others keep two.
 *
 * The machines with nu have a second sum to keep: there two groups of variables, b = b1 + b2, stand over the
 * same rows, each with its own boxes and its own sum; steps take pairs within a group.
 */
#ifndef KM_SMO_H
#define KM_SMO_H

#include "context.h"
#include "rows.h"

typedef struct KmQuadratic
{
    size_t n;                   /* variables: the rows of the source */
    const double *p;            /* n: linear term */
    bool split;                 /* two groups: lower, upper and the solution's b are 2 x n; no kink */
    const double *lower, *upper;        /* n: box, may be infinite; lower <= 0 <= upper where kink > 0 */
    double kink;                /* slope of |b|, >= 0 */
    double tol;                 /* stop when the largest violation of a pair is below */
    uint64_t max_iter;          /* pair steps; km_smo_default_steps(n) is the usual limit */
} KmQuadratic;

typedef struct KmSolution
{
    double *b;                  /* n, 2 x n; in: the start (feasible), out: the optimum; bounds exact */
    double objective;           /* of the minimisation */
    double gap;                 /* final violation, by a gradient computed afresh */
    double bias;                /* decision = Kb + bias: from free variables, else the interval's midpoint;
                                 * with two groups the mean of theirs */
    double *gradient;           /* NULL, or room for n: Kb + p */
    double margin;              /* with two groups: half of what the first one's gradient is above */
    uint64_t iterations;
    uint64_t rows_made;
    bool converged;             /* false: unbounded, limited, or rounding allows no smaller gap */
    bool limited;               /* max_iter was reached before */
    bool unbounded;             /* the objective falls without end (infinite boxes, classes that overlap) */
} KmSolution;

/* Variables of a block, where it goes by blocks: their square is its matrix. */
extern size_t km_smo_block_size(size_t n);
/* Free variables that are moved at once, at most: so many rows and columns has a matrix of float64. */
extern size_t km_smo_most_free(size_t n);
extern double km_largest(size_t n, const double *values);       /* at least 0 */
/* LIBSVM's limit: max(1e7, 100 n). */
extern uint64_t km_smo_default_steps(size_t n);

/* Goes on by blocks of variables after many steps, or once the rows no longer fit; the optimum is the same.
 * KM_RANGE if values of K are not finite. */
extern KmStatus km_smo_solve(KmContext *ctx, const KmQuadratic *problem, KmRows *rows, KmSolution *solution);

#endif
