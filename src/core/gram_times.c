/*
 * gram_times.c: products of a Gram matrix that is never kept.
 */
#include <string.h>

#include "blas.h"
#include "gram.h"
#include "sizes.h"

/* A tile of K, 512 KB, stays in the L2 cache while it is used twice. */
#define TILE_ROWS ((size_t) 128)
#define TILE_COLUMNS ((size_t) 512)

/* y += op(T) x for a tile of rows x columns: x and y have m columns. */
static void
add_product(CBLAS_TRANSPOSE op, size_t rows, size_t columns, const double *tile, size_t m, const double *x,
            double *y)
{
    size_t out = op == CblasNoTrans ? rows : columns, in = op == CblasNoTrans ? columns : rows;

    if (m == 1)
        cblas_dgemv(CblasRowMajor, op, rows, columns, 1.0, tile, TILE_COLUMNS, x, 1, 1.0, y, 1);
    else
        cblas_dgemm(CblasRowMajor, op, CblasNoTrans, out, m, in, 1.0, tile, TILE_COLUMNS, x, m, 1.0, y, m);
}

KmStatus
km_gram_times(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, size_t m, const double *x,
              double *y)
{
    size_t n = km_points_count(points);
    double *tile;

    KM_TRY(km_alloc(ctx, TILE_ROWS * TILE_COLUMNS, &tile));
    memset(y, 0, n * m * sizeof *y);
    for (size_t i = 0; i < n; i += TILE_ROWS)
    {
        size_t rows = min_size(TILE_ROWS, n - i);

        for (size_t j = 0; j < i; j += TILE_COLUMNS)
        {
            size_t columns = min_size(TILE_COLUMNS, i - j);

            KM_TRY(km_kernel_tile(ctx, kernel, points, i, rows, points, j, columns, TILE_COLUMNS, tile));
            add_product(CblasNoTrans, rows, columns, tile, m, x + j * m, y + i * m);
            add_product(CblasTrans, rows, columns, tile, m, x + i * m, y + j * m);
        }
        KM_TRY(km_kernel_tile(ctx, kernel, points, i, rows, points, i, rows, TILE_COLUMNS, tile));
        add_product(CblasNoTrans, rows, rows, tile, m, x + i * m, y + i * m);
    }
    km_free(ctx, tile);
    return KM_OK;
}
