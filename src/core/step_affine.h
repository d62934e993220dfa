/*
 * step_affine.h: steps that map each column by z = (x - origin) / size, from two lists among their arguments:
 * scale and minmax.
 */
#ifndef KM_STEP_AFFINE_H
#define KM_STEP_AFFINE_H

#include "step.h"

/* KmStepType's is_resolved: both of the step's lists are given. */
extern KmStatus km_affine_is_resolved(KmContext *ctx, const KmArgs *args, bool *out);
/* Fail if one of them was given without the other. */
extern KmStatus km_affine_refuse_half(KmContext *ctx, const KmArgs *args);
/* The lists, checked to have d numbers; and write them into the step's syntax. */
extern KmStatus km_affine_lists(KmContext *ctx, const KmArgs *args, size_t d, const double **first,
                                const double **second);
extern KmStatus km_affine_set_lists(KmContext *ctx, const KmArgs *args, KmNode *node, size_t d,
                                    const double *first, const double *second);
/* The step made ready; it keeps the arrays. A size of 0 maps the column to 0. */
extern KmStatus km_affine_prepare(KmContext *ctx, size_t d, const double *origin, const double *size,
                                  KmStep *out);

#endif
