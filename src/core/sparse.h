/*
 * sparse.h: rows of which most elements equal their column's usual value, as lists of the others' differences
 * to it; for float32 rows of K.
 */
#ifndef KM_SPARSE_H
#define KM_SPARSE_H

#include "context.h"
#include "thin.h"

/* Lists of n rows. */
typedef struct KmSparse
{
    size_t *first;              /* n + 1: where row i's list begins */
    uint32_t *place;
    float *value;
} KmSparse;

/* The usual value of each column, by a sample of n > 0 rows (n x d); *share: of the elements in it that have
 * another. */
extern KmStatus km_usual_values(KmContext *ctx, size_t n, size_t d, const double *rows, double *usual,
                                double *share);

/* The lists of rows (n x d) of which few elements are not zero. */
extern KmStatus km_sparse_create(KmContext *ctx, size_t n, size_t d, const float *rows, KmSparse **out);
extern void km_sparse_free(KmContext *ctx, KmSparse *sparse);

static inline KmThinList
km_sparse_row(const KmSparse *sparse, size_t i)
{
    size_t first = sparse->first[i];

    return (KmThinList) {sparse->first[i + 1] - first, sparse->place + first, sparse->value + first};
}

#endif
