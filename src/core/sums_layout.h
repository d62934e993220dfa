/*
 * sums_layout.h: where things lie in the flat value of an accumulator.
 *
 *   KmSums | int32 top[targets] | learner text | triangle of doubles | waiting rows of doubles
 *
 * each part padded to 8 bytes.  Row i of the packed lower triangle has i + 1 elements and begins at
 * i (i + 1) / 2; its columns are D features, the one, and of each target its slices, or itself where
 * KM_SUMS_PLAIN.  A waiting row is x, y, weight.
 * Internal to accumulator*.c.
 */
#ifndef KM_SUMS_LAYOUT_H
#define KM_SUMS_LAYOUT_H

#include "slices.h"

#define KM_SUMS_MAGIC 0x414c4d4bu       /* "KMLA" */
#define KM_SUMS_MAJOR 1
#define KM_SUMS_MINOR 0

static inline size_t
km_sums_pad(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* Columns of each target. */
static inline size_t
km_sums_parts(const KmSums *sums)
{
    return sums->flags & KM_SUMS_PLAIN ? 1 : KM_SLICES;
}

/* Columns of an augmented row; 0 while the map is not known. */
static inline size_t
km_sums_columns(const KmSums *sums)
{
    return sums->d == 0 ? 0 : sums->features + 1 + km_sums_parts(sums) * sums->targets;
}

/* Elements of the triangle. */
static inline size_t
km_sums_elements(const KmSums *sums)
{
    size_t columns = km_sums_columns(sums);

    return columns * (columns + 1) / 2;
}

/* First column of target t. */
static inline size_t
km_sums_target(const KmSums *sums, size_t t)
{
    return sums->features + 1 + km_sums_parts(sums) * t;
}

/* Bytes before the waiting rows: all there is in the stored form. */
static inline size_t
km_sums_fixed_bytes(const KmSums *sums)
{
    return sizeof *sums + km_sums_pad(sums->targets * sizeof(int32_t)) + km_sums_pad(sums->learner_bytes)
        + km_sums_elements(sums) * sizeof(double);
}

/* These give writable pointers, to be used as the value may be. */
static inline int32_t *
km_sums_top(const KmSums *sums)
{
    return (int32_t *) (sums + 1);
}

static inline char *
km_sums_text(const KmSums *sums)
{
    return (char *) (sums + 1) + km_sums_pad(sums->targets * sizeof(int32_t));
}

static inline double *
km_sums_triangle(const KmSums *sums)
{
    return (double *) (km_sums_text(sums) + km_sums_pad(sums->learner_bytes));
}

static inline double *
km_sums_row(const KmSums *sums, size_t i)
{
    return km_sums_triangle(sums) + i * (i + 1) / 2;
}

static inline double *
km_sums_waiting(const KmSums *sums)
{
    return km_sums_triangle(sums) + km_sums_elements(sums);
}

/* Doubles in a waiting row. */
static inline size_t
km_sums_row_width(const KmSums *sums)
{
    return (size_t) sums->d + sums->targets + 1;
}

/* Sum of all squares: how large the sums are. */
static inline double
km_sums_trace(const KmSums *sums)
{
    double trace = 0;

    for (size_t i = 0; i < km_sums_columns(sums); i++)
        trace += km_sums_row(sums, i)[i];
    return trace;
}

/* Copy or clear a part of a value, which may be hundreds of megabytes: polled. */
extern KmStatus km_sums_copy(KmContext *ctx, size_t bytes, const void *from, void *to);
extern KmStatus km_sums_clear(KmContext *ctx, size_t bytes, void *to);

/* KM_RANGE if sums of features of any size have passed what double precision holds. */
extern KmStatus km_sums_check_finite(KmContext *ctx, const KmSums *sums);

/* Shift the windows of slices so that the top of target t becomes top[t], and drop what no longer fits,
 * setting KM_SUMS_CLIPPED if it is not 0.  All tops rise, or all fall. */
extern KmStatus km_sums_move_tops(KmContext *ctx, KmSums *sums, const int32_t *top);

#endif
