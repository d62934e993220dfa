/*
 * maximise.h: a local maximum of a smooth function within bounds, by NLopt.
 */
#ifndef KM_MAXIMISE_H
#define KM_MAXIMISE_H

#include "context.h"

typedef struct KmObjective
{
    size_t n;
    const double *lower, *upper;        /* n */
    void *state;
    /* Value and gradient (n, or NULL: not wanted) at theta.  KM_SINGULAR and KM_RANGE: there is none; other
     * errors end the search. */
    KmStatus (*evaluate)(KmContext *ctx, void *state, const double *theta, double *value, double *gradient);
} KmObjective;

/* The best point seen. */
typedef struct KmMaximum
{
    double *theta;              /* n, the caller's: the start goes in */
    double value;               /* -inf: no value anywhere */
    size_t evaluations;
    bool converged;
} KmMaximum;

/* Climb from maximum->theta.  NLopt's memory is not the context's, so evaluate and poll must return. */
extern KmStatus km_maximise(KmContext *ctx, const KmObjective *objective, KmMaximum *maximum);

#endif
