/*
 * smo_state.h: the working state of SMO, shared by the solver over all
 * variables and the one over a block of them.
 */
#ifndef KM_SMO_STATE_H
#define KM_SMO_STATE_H

#include "smo.h"
#include "smo_ops.h"

/* Variables whose sum is kept: one for each row of K. */
typedef struct KmSmoGroup
{
    double *b;                  /* n */
    double *lower, *upper;      /* n */
    double *up, *low;           /* stride */
    KmSmoChoice choice;         /* current, with g */
} KmSmoGroup;

/* A problem over n rows, stored with `stride` >= n elements (see smo_ops.h for the padding). */
typedef struct KmSmo
{
    size_t n, stride;
    const KmSmoPasses *passes;
    size_t n_groups;
    KmSmoGroup group[2];
    KmSmoGroup *worst;          /* the group of the largest violation */
    double *g;                  /* stride: gradient of the smooth part, Kb + p; the same for all groups */
    double *diagonal;           /* stride */
    double kink;
    const double *p;            /* n */
    double reach;               /* largest diagonal element if some box is infinite, else 0 */
    uint64_t iterations, max_iter;
    double tol, widest;         /* wanted gap and that of the start, for progress; 0 in a block */
    size_t work;                /* elements passed over since the last poll */
} KmSmo;

/* Rows of K for a pair step; *row == NULL ends the pair steps early. */
typedef KmStatus (*KmSmoRow)(KmContext *ctx, const KmSmo *smo, void *state, size_t i, const void **row);

/* Arrays of stride elements for n_groups groups, all but b. */
extern KmStatus km_smo_allocate(KmContext *ctx, size_t n_groups, size_t stride, KmSmo *smo);
extern void km_smo_free(KmContext *ctx, KmSmo *smo);
/* Set the lengths, and the padding. */
extern void km_smo_begin(KmSmo *smo, size_t n, size_t stride);
/* After b[v] of a group changed. */
extern void km_smo_status(const KmSmo *smo, KmSmoGroup *group, size_t v);
/* g += sum over r < m of coef[r] times row i[r] of K. */
extern KmStatus km_smo_accumulate(KmContext *ctx, KmSmo *smo, KmRows *rows, size_t m, const size_t *i,
                                  const double *coef);
/* After g changed. */
extern void km_smo_choose(KmSmo *smo);
/* Poll, and report how far the gap of the whole problem has come. */
extern KmStatus km_smo_report(KmContext *ctx, const KmSmo *smo);

/* b_v, whatever its groups. */
static inline double
km_smo_total(const KmSmo *smo, size_t v)
{
    return smo->n_groups == 1 ? smo->group[0].b[v] : smo->group[0].b[v] + smo->group[1].b[v];
}

/* The next bound or kink above and below b_v: the objective is quadratic up to there. */
static inline double
km_smo_ceiling(const KmSmo *smo, const KmSmoGroup *group, size_t v)
{
    return smo->kink > 0 && group->b[v] < 0 ? 0 : group->upper[v];
}

static inline double
km_smo_floor(const KmSmo *smo, const KmSmoGroup *group, size_t v)
{
    return smo->kink > 0 && group->b[v] > 0 ? 0 : group->lower[v];
}

static inline double
km_smo_element(const KmSmo *smo, const void *row, size_t j)
{
    return smo->passes == km_smo_passes(true) ? ((const float *) row)[j] : ((const double *) row)[j];
}

static inline double
km_smo_gap(const KmSmo *smo)
{
    return smo->worst->choice.greatest - smo->worst->choice.least;
}

/* Pair steps until the gap is below tol, there were `limit` iterations, a row cannot be had, or b
 * diverges. */
extern KmStatus km_smo_steps(KmContext *ctx, KmSmo *smo, double tol, uint64_t limit, KmSmoRow row_of,
                             void *state);

/* True if boxes are infinite and the objective falls without end. */
extern bool km_smo_diverges(const KmSmo *smo);

/* The (at most m) variables of a group that most want to rise (sign 1) or fall (sign -1), best first, ties
 * to the lowest, leaving out those that skip() names; returns how many.  keys: room for m. */
extern size_t km_smo_violators(const KmSmo *smo, const KmSmoGroup *group, int sign, size_t m,
                               bool (*skip)(const void *state, size_t v), const void *state, double *keys,
                               size_t *out);

/* The minimum over the free variables of all groups at once, or some way to it, where they are few
 * enough and their rows are at hand; *steps: pair steps that should come before the next time, so that these
 * cost as much (smo_newton.c). */
extern KmStatus km_smo_newton(KmContext *ctx, KmSmo *smo, double tol, KmSmoRow row_of, void *state,
                              uint64_t *steps);

/* Rounds over blocks of variables (smo_blocks.c). */
extern KmStatus km_smo_blocks(KmContext *ctx, KmSmo *smo, double tol, KmRows *rows);

#endif
