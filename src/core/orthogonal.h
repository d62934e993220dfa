/* orthogonal.h: rows made orthogonal, for frequencies that repeat each other less than independent ones. */
#ifndef KM_ORTHOGONAL_H
#define KM_ORTHOGONAL_H

#include "context.h"

/* Turn the rows of w (m x d) so that in every block of d of them they are orthogonal; each keeps its
 * length.  Fixed order, the same bits everywhere.  Rows must be independent within their block. */
extern KmStatus km_orthogonalise(KmContext *ctx, size_t m, size_t d, double *w);

#endif
