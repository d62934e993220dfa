/*
 * rows.h: rows of K on demand, the seam between solvers and kernels.
 *
 * Solvers ask for rows and the diagonal and do not know kernels; a source makes
 * several rows at once (one small GEMM and the elementwise map).  Rows are kept
 * in slots in order of first use, float32 or float64, within a memory budget.
 */
#ifndef KM_ROWS_H
#define KM_ROWS_H

#include "kernel.h"

typedef struct KmRowSource KmRowSource;
struct KmRowSource
{
    size_t n;                   /* rows and columns of K */
    bool single;                /* rows are float32 */
    const double *diagonal;     /* n */
    void *state;
    /* Rows i[0..m-1], all n columns, into out with stride ld (elements float or double by `single`). */
    KmStatus (*make)(KmContext *ctx, KmRowSource *source, size_t m, const size_t *i, size_t ld, void *out);
};

/* The rows of a kernel over n x d points; single: float32 rows where the kernel has them.
 * K may be restricted later: subset != NULL gives the n rows of points that take part. */
extern KmStatus km_row_source_kernel(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d, const double *x,
                                     bool single, KmRowSource **out);

typedef struct KmRows KmRows;
/* budget: bytes for kept rows (at least two rows and one batch are always kept). */
extern KmStatus km_rows_create(KmContext *ctx, KmRowSource *source, size_t budget, KmRows **out);
/* Pointer to row i, made now if it was not kept; wanted[0..n_wanted-1] are rows likely to be
 * needed next, made in the same batch if they fit.  The pointer stays valid until `i2`'s row is
 * asked for twice more (two rows are in use at a time). */
extern KmStatus km_rows_get(KmContext *ctx, KmRows *rows, size_t i, size_t n_wanted, const size_t *wanted,
                            const void **out);

#endif
