/*
 * landmarks.h: rows that stand for all of a table, for the step nystroem.
 */
#ifndef KM_LANDMARKS_H
#define KM_LANDMARKS_H

#include "kernel.h"

/* Distinct rows: equal neighbours of a table in canonical order counted once, their weights added up, so
 * that a whole-number weight and repeated rows are the same here. */
typedef struct KmDistinct
{
    size_t n, d;
    const double *x;            /* n x d; the caller's own rows where none repeats */
    double *weight;             /* n */
} KmDistinct;

extern KmStatus km_distinct_rows(KmContext *ctx, size_t n, size_t d, const double *x, const double *w,
                                 KmDistinct *out);

/* `count` of the rows drawn without replacement, by weight: their numbers. */
extern KmStatus km_draw_rows(KmContext *ctx, const KmDistinct *rows, size_t count, uint64_t seed,
                             size_t *row);

/* A way to choose at most k landmarks (k <= rows->n) into out (k x d); *chosen: how many there are. */
typedef KmStatus (*KmChooseLandmarks)(KmContext *ctx, const KmKernel *kernel, const KmDistinct *rows,
                                      size_t k, uint64_t seed, double *out, size_t *chosen);

/* Pivots of a randomly pivoted Cholesky factorisation, of a sample where there are very many rows; fewer
 * than k where they span the kernel. */
extern KmStatus km_landmarks_rpcholesky(KmContext *ctx, const KmKernel *kernel, const KmDistinct *rows,
                                        size_t k, uint64_t seed, double *out, size_t *chosen);
/* Rows drawn by weight. */
extern KmStatus km_landmarks_uniform(KmContext *ctx, const KmKernel *kernel, const KmDistinct *rows, size_t k,
                                     uint64_t seed, double *out, size_t *chosen);
/* Centres of k-means, begun by k-means++. */
extern KmStatus km_landmarks_kmeans(KmContext *ctx, const KmKernel *kernel, const KmDistinct *rows, size_t k,
                                    uint64_t seed, double *out, size_t *chosen);

#endif
