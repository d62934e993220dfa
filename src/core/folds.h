/* folds.h: rows in folds, class by class, by their content alone. */
#ifndef KM_FOLDS_H
#define KM_FOLDS_H

#include "data.h"

#define KM_FOLD_NONE 255        /* of a row that is left out */

/* fold[i] < n_folds for each row of a table with labels; takes_part: NULL, or > 0 for the rows that are not
 * left out. Rows equal in features and label share a fold, so that a weight counts as repeated rows do; the
 * weight of each class is spread as evenly as that allows.  Neither the order of the rows nor other rows'
 * folds matter to the draw.  distinct[c]: different rows of class c; with n_folds of them or more no fold is
 * without the class. */
extern KmStatus km_folds_by_class(KmContext *ctx, const KmTable *table, const double *takes_part,
                                  size_t n_folds, uint64_t seed, unsigned char *fold, size_t *distinct);

#endif
