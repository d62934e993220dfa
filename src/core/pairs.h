/*
 * pairs.h: one-vs-one: a machine for each pair of classes, shared by svc and nu_svc.
 */
#ifndef KM_PAIRS_H
#define KM_PAIRS_H

#include "calibrate.h"

/* One pair's problem, over its rows in table order; arrays by variable are groups x n (smo.h). */
typedef struct KmPair
{
    size_t p, q;                /* classes, p < q, positive for q */
    size_t n;
    size_t *member;             /* n row numbers */
    double *linear;             /* n */
    double *lower, *upper, *b;  /* groups x n */
} KmPair;

typedef struct KmPairs KmPairs;
struct KmPairs
{
    KmMachine *machine;
    size_t n_groups;            /* of variables: 2 splits the problem (smo.h) */
    const double *box;          /* table->n: C_i; 0: left out */
    size_t *size;               /* k: rows that take part (km_pairs_count) … */
    size_t *row, *first;        /* … and which: row[first[c] … first[c + 1] - 1], in table order */
    /* Set linear, lower, upper and the start b of a pair whose classes and members are known. */
    void (*load)(const KmPairs *pairs, KmPair *pair);
    /* After solving, before b becomes coefficients and the solution's bias the intercept. */
    KmStatus (*finish)(KmContext *ctx, const KmPairs *pairs, KmPair *pair, KmSolution *solution);
    KmCalibration *calibration; /* NULL: no probabilities */
    KmSigmoid *sigmoid;         /* then one for each pair */
    KmPoints *subset;           /* the rows of a pair; NULL for two classes without rows left out */
};

/* Fill size; fail with KM_DATA unless two classes have rows that take part. */
extern KmStatus km_pairs_count(KmContext *ctx, KmPairs *pairs);
/* Solve all pairs into the machine's coef and intercept, and sigmoid. */
extern KmStatus km_pairs_solve(KmContext *ctx, KmPairs *pairs);

#endif
