/*
 * machines.h: what the support vector machines share: kernel, rows of K within the memory that is
 * left, solving, the model.
 *
 * What their models keep of n_sv support rows with d features; the rows stand class by class where there are
 * classes, in table order within:
 *   "rows"       n_sv x d
 *   "counts"     1 x k: support rows of each class; only with k classes
 * Pairs of classes (svc, nu_svc), (p, q), p < q, positive for q:
 *   "coef"       n_sv x (k-1): a row of class c has its coefficient against class e in column e - (e > c)
 *   "intercept"  1 x k(k-1)/2, pairs (0,1), (0,2), …
 *   "sigmoid"    k(k-1)/2 x 2, where there are probabilities: a and b of each pair (platt.h)
 * Columns, of which each is a machine on all support rows (svr and nu_svr: one a target; one_class: one; svc
 * with multiclass=ovr and k > 2: one a class):
 *   "coef"       n_sv x columns
 *   "intercept"  1 x columns
 * A machine's value is sum_i coef_i k(x_i, x) + intercept.  Equal rows of equal target are one row, whose
 * coefficient is the sum of theirs.
 */
#ifndef KM_MACHINES_H
#define KM_MACHINES_H

#include "learner.h"
#include "smo.h"

/* Column of coef for a row of class c in its machine against class e. */
static inline size_t
km_pair_column(size_t c, size_t e)
{
    return e - (e > c);
}

/* Sums over the problems of one model. */
typedef struct KmMachineFacts
{
    double objective;           /* of the dual, maximised */
    double gap;                 /* the largest */
    uint64_t iterations;
    uint64_t variables;
    size_t unfinished;          /* problems that did not converge … */
    size_t limited;             /* … of them, for want of iterations */
} KmMachineFacts;

/* A model being fitted. */
typedef struct KmMachine
{
    const KmArgs *args;
    const KmTable *table;
    double tol;                 /* the estimator's */
    KmKernel *kernel;
    KmPoints *points;           /* all rows of the table */
    KmRowSource *source;
    KmRows *rows;
    size_t columns;
    double *coef;               /* table->n x columns */
    size_t n_intercepts;
    double *intercept;
    size_t used_before;         /* bytes of the context when it began: what was parsed, however spelt */
    KmMachineFacts facts;
} KmMachine;

/* Begin: the estimator's kernel with numbers for gamma=scale, written back into its syntax; coef all zero.
 * Fails with KM_MEMORY if the machine cannot be had, however few rows of K are kept. */
extern KmStatus km_machine_begin(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table,
                                 size_t columns, size_t n_intercepts, KmMachine *out);
/* Room for rows of K over at most n_max points, in the precision that tol and the largest box allow. */
extern KmStatus km_machine_reserve_rows(KmContext *ctx, KmMachine *machine, size_t n_max, double box);
/* The problems from here on are over these points. */
extern KmStatus km_machine_open(KmContext *ctx, KmMachine *machine, const KmPoints *points);
/* Solve with the machine's tol and the estimator's max_iter, and count the facts. */
extern KmStatus km_machine_solve(KmContext *ctx, KmMachine *machine, KmQuadratic *problem,
                                 KmSolution *solution);
/* Arrays and facts into the model; a warning if some problem did not converge. */
extern KmStatus km_machine_end(KmContext *ctx, KmMachine *machine, KmModel *model);

/* Equal rows of equal target, adjacent in canonical order, become one with the sum of their weights: the
 * problem is the same, and smaller.  *table is replaced by a new one if there are any.  Not with white noise,
 * for which equal rows are different ones. */
extern KmStatus km_table_merge(KmContext *ctx, const KmArgs *args, const KmTable **table);

/* Parameters of all machines. */
#define KM_PARAM_MACHINE_KERNEL \
    {.name = "kernel", .kinds = KM_KIND_KERNEL, .standard = "rbf", .positional = true}
#define KM_PARAM_C(largest) \
    {.name = "c", .alias = "cost", .kinds = KM_KIND_NUMBER, .standard = "1", .min = 0, .max = largest, \
     .open = true, .grid = true, .positional = true}
#define KM_PARAM_NU \
    {.name = "nu", .kinds = KM_KIND_NUMBER, .standard = "0.5", .min = 0, .max = 1, .open = true, \
     .grid = true, .positional = true}
#define KM_PARAM_TOL \
    {.name = "tol", .kinds = KM_KIND_NUMBER, .standard = "1e-3", .min = 0, .max = 1, .open = true}
#define KM_PARAM_MAX_ITER {.name = "max_iter", .kinds = KM_KIND_INTEGER, .min = 1, .max = 1e15}

/* Scoring (machine_score.c). */
extern KmStatus km_machine_prepare_pairs(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d,
                                         KmScore *out);
extern KmStatus km_machine_prepare_columns(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d,
                                           KmScore *out);

#endif
