/*
 * rff.h: random Fourier features on a grid, as the accumulator wants them.
 *
 * A row's features are [cos(w_1'x) … cos(w_h'x), sin(w_1'x) … sin(w_h'x)], h = D/2, each rounded to a
 * multiple of 2^-14, times a common factor.
 */
#ifndef KM_RFF_H
#define KM_RFF_H

#include "learner.h"

#define KM_RFF_GRID 16384.0     /* 2^14 */

/* out (m x 2h, stride ld): cosines, then sines, of the rows' projections, before rounding.  phases: room for
 * m times h rounded up to a multiple of KM_PANEL_WIDTH. */
extern void km_fourier_waves(const KmPanel *frequencies, size_t m, const double *x, double *phases, size_t ld,
                             double *out);

/* Of a step made ready by a type whose `exact` is true: the features over their factor, as whole
 * numbers up to KM_RFF_GRID, with stride ld; m <= KM_SCORE_ROWS.  NaN where a projection is not finite. */
extern KmStatus km_rff_grid(KmContext *ctx, const KmStep *step, size_t m, const double *x, size_t ld,
                            double *k);
/* True features over those whole numbers. */
extern double km_rff_factor(const KmStep *step);

#endif
