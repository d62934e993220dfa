/*
 * rows.h: rows of K on demand, the seam between solvers and kernels.
 *
 * Solvers ask for rows and the diagonal and do not know kernels; a source makes
 * several rows at once (one small GEMM and the elementwise map).  Rows are kept
 * in slots in order of first use, float32 or float64, until a memory budget is used up.
 */
#ifndef KM_ROWS_H
#define KM_ROWS_H

#include "kernel.h"

#define KM_ROWS_PAD 16          /* rows are zero from n up to the next multiple of this */
#define KM_ROWS_BATCH 64        /* rows made at once, at most */
#define KM_ROWS_STRIP ((size_t) 1024)   /* columns that are made of rows which are not kept, in one go */
#define KM_ROWS_STRIDE (KM_ROWS_STRIP + 16)     /* between their rows: no power of two, or all would share few
                                                 * places of the cache */
#define KM_ROWS_CORNER ((size_t) 2048)  /* rows of the largest corner of K */

typedef struct KmRowSource KmRowSource;
struct KmRowSource
{
    size_t n;                   /* rows and columns of K */
    bool single;                /* rows are float32 */
    size_t batch;               /* rows that cost hardly more than one to make; <= KM_ROWS_BATCH */
    const double *diagonal;     /* n */
    void *state;
    /* Rows i[0..m-1], m <= KM_ROWS_BATCH, of them `columns` columns from j0 on, a multiple of KM_ROWS_STRIP,
     * into out with stride ld elements (float or double by `single`). */
    KmStatus (*make)(KmContext *ctx, KmRowSource *source, size_t m, const size_t *i, size_t j0,
                     size_t columns, size_t ld, void *out);
    /* K between i[0..m-1], m <= KM_ROWS_CORNER. */
    KmStatus (*corner)(KmContext *ctx, KmRowSource *source, size_t m, const size_t *i, size_t ld, void *out);
};

/* The rows of a kernel over at most n_max points of d columns; single: float32 rows (only where
 * km_kernel_has_f32()). */
extern KmStatus km_row_source_create(KmContext *ctx, const KmKernel *kernel, size_t n_max, size_t d,
                                     bool single, const KmPoints *like, KmRowSource **out);
/* Set the points, which must outlive the source's use; again for others that are like them. */
extern KmStatus km_row_source_open(KmContext *ctx, KmRowSource *source, const KmPoints *points);

typedef struct KmRows KmRows;

/* Room for rows of up to n_max columns.  budget: bytes for kept rows (one batch, or all n rows, is always
 * kept). */
extern KmStatus km_rows_create(KmContext *ctx, size_t n_max, bool single, size_t budget, KmRows **out);
/* Begin with another source of n <= n_max rows; nothing is kept, the memory stays. */
extern void km_rows_open(KmRows *rows, KmRowSource *source);
extern void km_rows_destroy(KmContext *ctx, KmRows *rows);

extern KmRowSource *km_rows_source(const KmRows *rows);
extern size_t km_rows_stride(const KmRows *rows);       /* elements */
extern size_t km_rows_capacity(const KmRows *rows);     /* rows that can be kept */
extern uint64_t km_rows_made(const KmRows *rows);
extern size_t km_rows_kept(const KmRows *rows);         /* the most of any source so far */
extern bool km_rows_full(const KmRows *rows);

/* Row i if it is kept, else NULL.  Kept rows stay where they are. */
extern const void *km_rows_find(const KmRows *rows, size_t i);
/* Keep the distinct rows i[0..m-1], m <= KM_ROWS_BATCH, none of them kept yet: as many from the front as
 * there is room for. */
extern KmStatus km_rows_keep(KmContext *ctx, KmRows *rows, size_t m, const size_t *i);
/* Columns j0 … of rows i[0..m-1], m <= KM_ROWS_BATCH, that are not kept: KM_ROWS_STRIP of them or up to the
 * stride, zero beyond n; *strip holds them with stride KM_ROWS_STRIDE until the next call. */
extern KmStatus km_rows_strip(KmContext *ctx, KmRows *rows, size_t m, const size_t *i, size_t j0,
                              const void **strip);

#endif
