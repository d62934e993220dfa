/*
 * gp.h: what the Gaussian process estimators share: the covariance matrix of the rows, its factor and the
 * marginal likelihood.  Internal to gp*.c.
 *
 *   A = K + noise W^-1,   A alpha = y - ybar,
 *   log p(y) = -1/2 (y - ybar)' alpha - 1/2 log det A - n/2 log 2 pi
 * (Rasmussen and Williams 2006, equation 2.30): a row of weight w has noise / w.
 */
#ifndef KM_GP_H
#define KM_GP_H

#include "learner.h"

#define KM_LOG_2PI 1.8378770664093453

typedef struct KmGpSystem
{
    const KmTable *table;
    KmKernel *kernel;           /* every value a number */
    KmPoints *points;
    double noise;
    double intercept;           /* ybar, or 0 */
    double *residual;           /* n: y - ybar */
    double *alpha;              /* n */
    double *a;                  /* n x n, lower triangle: A, then its factor */
    double jitter;              /* what was added to the diagonal */
    double likelihood;
} KmGpSystem;

/* Room for the rows of a table; the kernel and noise are to be set. */
extern KmStatus km_gp_open(KmContext *ctx, const KmTable *table, bool center, KmGpSystem *out);
/* Factor and solve for the kernel and noise.  Without noise a singular matrix is KM_SINGULAR, else a little
 * is added to the diagonal. */
extern KmStatus km_gp_solve(KmContext *ctx, KmGpSystem *system);

/* Raise the likelihood over the free parameters of the kernel and the noise, as args (optimize's bounds,
 * restarts, seed) say, from the system's kernel and noise and from starts of the data's scale; leaves the
 * best kernel and noise in the system, to be solved again, and says in the model how it went. */
extern KmStatus km_gp_optimise(KmContext *ctx, const KmArgs *args, KmGpSystem *system, KmModel *model);

/* What a fit is to be refused for before any of it. */
typedef struct KmGpSize
{
    bool factor;                /* the model keeps one */
    double work;                /* doubles per row that the method needs beside the rows */
    const char *model_hint;     /* what to do about a model of more than KM_MODEL_MAX_BYTES */
    const char *memory_hint;    /* about work over the memory cap */
} KmGpSize;

extern KmStatus km_gp_check_size(KmContext *ctx, const KmTable *table, const KmGpSize *size);
/* Add the rows of the table, coefficients (n) and, unless it is NULL, the factor in the lower triangle of an
 * n x n matrix, which is packed in its place. */
extern KmStatus km_gp_add_arrays(KmContext *ctx, const KmTable *table, double *coef, double *factor,
                                 KmModel *model);

#endif
