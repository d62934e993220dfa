/*
 * slices.h: a target cut into whole numbers of 12 bits on absolute grids (accumulator.h).
 */
#ifndef KM_SLICES_H
#define KM_SLICES_H

#include "accumulator.h"

#define KM_NO_SLICE INT32_MIN   /* top of targets that were all 0 */
#define KM_SLICE_LOWEST (-90)   /* of the least denormal, 2^-1074 */
#define KM_SLICE_HIGHEST 85     /* of DBL_MAX */

/* The highest slice of a finite y: 2^(12 e) <= |y| < 2^(12 (e + 1)). */
extern int32_t km_slice_top(double y);
/* q[0..KM_SLICES-1] with y = sum_b q_b 2^(12 (top - b)), |q_b| < 2^12; top >= km_slice_top(y).
 * False if low bits of y were dropped. */
extern bool km_slice_cut(double y, int32_t top, double *q);

#endif
