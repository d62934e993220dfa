/*
 * machines.h: what the support vector machines share: kernel, rows of K within the memory that is
 * left, facts about the solution.
 */
#ifndef KM_MACHINES_H
#define KM_MACHINES_H

#include "learner.h"
#include "smo.h"

/* Fail with KM_MEMORY if a machine on n rows of d columns cannot be had, however few rows of K are kept. */
extern KmStatus km_machine_reserve(KmContext *ctx, const char *what, size_t n, size_t d);

/* The estimator's kernel with numbers for gamma=scale, written back into its syntax. */
extern KmStatus km_machine_kernel(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table,
                                  KmKernel **out);

/* Rows of K for problems over at most n_max of the points, in the precision that tol and the largest
 * box allow. */
typedef struct KmMachineRows
{
    KmRowSource *source;
    KmRows *rows;
} KmMachineRows;

extern KmStatus km_machine_rows(KmContext *ctx, const KmKernel *kernel, const KmPoints *points,
                                size_t n_max, size_t d, double tol, double box, KmMachineRows *out);
extern KmStatus km_machine_open(KmContext *ctx, KmMachineRows *rows, const KmPoints *points);

/* Sums over the problems of one model. */
typedef struct KmMachineFacts
{
    double objective;           /* of the dual, maximised */
    double gap;                 /* the largest */
    uint64_t iterations;
    size_t unfinished;          /* problems that did not converge */
} KmMachineFacts;

extern void km_machine_count(KmMachineFacts *facts, const KmSolution *solution);
/* Into the model; a warning if some problem did not converge. */
extern KmStatus km_machine_add_facts(KmContext *ctx, const KmArgs *args, const KmMachineFacts *facts,
                                     size_t n_sv, KmModel *model);

#endif
