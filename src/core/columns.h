/*
 * columns.h: weighted statistics of columns, for the steps that learn constants.
 *
 * Sums are kept in twice the precision, so that a whole-number weight gives the same mean as
 * repeated rows, and columns with a large mean keep their small deviations.
 */
#ifndef KM_COLUMNS_H
#define KM_COLUMNS_H

#include "context.h"

/* Of the values that are not missing; d each.  A column without any has weight 0, the rest unset. */
typedef struct KmColumns
{
    double *weight;             /* total */
    double *mean;
    double *min, *max;
} KmColumns;

/* x: n x d; w: n weights, or NULL for ones. KM_RANGE naming the feature whose sum overflows. */
extern KmStatus km_columns_summarise(KmContext *ctx, size_t n, size_t d, const double *x, const double *w,
                                     KmColumns *out);
/* Population standard deviations (d) of columns without missing values; 0 for a column that is constant
 * but for rounding. KM_RANGE naming the feature whose range overflows. */
extern KmStatus km_columns_deviation(KmContext *ctx, size_t n, size_t d, const double *x, const double *w,
                                     const KmColumns *columns, double *out);
/* Population variance of all entries, none missing, together; infinite or NaN where they overflow. */
extern KmStatus km_entries_variance(KmContext *ctx, size_t n, size_t d, const double *x, const double *w,
                                    double *out);

#endif
