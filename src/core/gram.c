/*
 * gram.c: whole Gram matrices by tiles, and triangles of square matrices.
 */
#include "gram.h"

#include <math.h>

#include "blas.h"
#include "points.h"
#include "simd.h"
#include "simd/tile_ops.h"
#include "sizes.h"

/* Tiles of K: 128 KB, so that maps, checks and mirrored copies read from the nearest caches. */
#define TILE_ROWS ((size_t) 64)
#define TILE_COLUMNS ((size_t) 256)
/* Edge of the squares in which triangles are transposed. */
#define SQUARE ((size_t) 64)

/* ---- finite values ---- */

/* The first of n values that is not finite, or n.  A sum of squares shows in one fast pass that all are; it
 * may overflow without, so a look at each one decides. */
static size_t
first_not_finite(size_t n, const double *a)
{
    size_t j = 0;

    if (isfinite(cblas_ddot(n, a, 1, a, 1)))
        return n;
    while (j < n && isfinite(a[j]))
        j++;
    return j;
}

static KmStatus
check_row(KmContext *ctx, size_t i, size_t columns, const double *row, const char *what)
{
    size_t j = first_not_finite(columns, row);

    if (j < columns)
        return km_fail(ctx, KM_RANGE, "%s has a value that is not finite at row %zu, column %zu", what, i + 1,
                       j + 1);
    return KM_OK;
}

KmStatus
km_matrix_check_finite(KmContext *ctx, size_t rows, size_t columns, size_t ld, const double *a,
                       const char *what)
{
    for (size_t i = 0; i < rows; i++)
    {
        KM_TRY(km_poll(ctx));
        KM_TRY(check_row(ctx, i, columns, a + i * ld, what));
    }
    return KM_OK;
}

KmStatus
km_triangle_check_finite(KmContext *ctx, size_t n, size_t ld, const double *a, const char *what)
{
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_poll(ctx));
        KM_TRY(check_row(ctx, i, i + 1, a + i * ld, what));
    }
    return KM_OK;
}

/* ---- symmetry ---- */

/* Compare a square of the lower triangle with its mirror image. */
static KmStatus
check_mirror(KmContext *ctx, size_t i0, size_t rows, size_t j0, size_t columns, size_t ld, const double *a,
             double most, const char *what)
{
    for (size_t i = i0; i < i0 + rows; i++)
        for (size_t j = j0; j < j0 + columns && j < i; j++)
            if (!(fabs(a[i * ld + j] - a[j * ld + i]) <= most))
                return km_fail(ctx, KM_INVALID,
                               "%s must be symmetric, but element (%zu,%zu) is %g and (%zu,%zu) is %g", what,
                               i + 1, j + 1, a[i * ld + j], j + 1, i + 1, a[j * ld + i]);
    return KM_OK;
}

KmStatus
km_matrix_check_symmetric(KmContext *ctx, size_t n, size_t ld, const double *a, double tolerance,
                          const char *what)
{
    double largest = 0;

    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_poll(ctx));
        largest = fmax(largest, fabs(a[i * ld + cblas_idamax(n, a + i * ld, 1)]));
    }
    for (size_t i = 0; i < n; i += SQUARE)
    {
        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j <= i; j += SQUARE)
            KM_TRY(check_mirror(ctx, i, min_size(SQUARE, n - i), j, min_size(SQUARE, n - j), ld, a,
                                tolerance * largest, what));
    }
    return KM_OK;
}

/* A tile of K whose first element is K_{i0,j0}. */
static KmStatus
check_tile(KmContext *ctx, size_t i0, size_t rows, size_t j0, size_t columns, size_t ld, const double *tile)
{
    for (size_t i = 0; i < rows; i++)
    {
        size_t j = first_not_finite(columns, tile + i * ld);

        if (j < columns)
        {
            km_fail(ctx, KM_RANGE, "the kernel of rows %zu and %zu is not a finite number", i0 + i + 1,
                    j0 + j + 1);
            return km_hint(ctx, KM_RANGE, "Large feature values overflow this kernel; scale them first.");
        }
    }
    return KM_OK;
}

/* ---- triangles ---- */

/* to[j * ld + i] = from[i * ld + j] for a block of rows x columns. */
static void
transpose_block(size_t rows, size_t columns, size_t ld, const double *from, double *to)
{
    KM_PICK(km_tile_ops)->transpose(rows, columns, ld, from, ld, to);
}

/* The same for the elements strictly below (or, `above`, above) the diagonal of a square on it. */
static void
transpose_triangle(size_t n, bool above, size_t ld, double *a)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (above)
                a[i * ld + j] = a[j * ld + i];
            else
                a[j * ld + i] = a[i * ld + j];
}

static KmStatus
copy_triangle(KmContext *ctx, size_t n, bool above, size_t ld, double *a)
{
    for (size_t i = 0; i < n; i += SQUARE)
    {
        size_t rows = min_size(SQUARE, n - i);

        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j < i; j += SQUARE)
            if (above)
                transpose_block(SQUARE, rows, ld, a + j * ld + i, a + i * ld + j);
            else
                transpose_block(rows, SQUARE, ld, a + i * ld + j, a + j * ld + i);
        transpose_triangle(rows, above, ld, a + i * ld + i);
    }
    return KM_OK;
}

KmStatus
km_triangle_to_upper(KmContext *ctx, size_t n, size_t ld, double *a)
{
    return copy_triangle(ctx, n, false, ld, a);
}

KmStatus
km_triangle_to_lower(KmContext *ctx, size_t n, size_t ld, double *a)
{
    return copy_triangle(ctx, n, true, ld, a);
}

/* ---- Gram matrices ---- */

/* True for products of rows, which points have checked not to be too long: |<x,z>| and every partial sum of
 * it are at most |x||z|.  (Looking at the values takes 7 % of a linear Gram's time.) */
static bool
has_finite_values(const KmKernel *kernel)
{
    return kernel->op == KM_OP_LEAF && (kernel->flags & KM_PLANE) != 0;
}

/* The tile of K at (i0, j0), j0 + columns <= i0 + rows: made, checked and, left of the rows' own
 * diagonal block, mirrored. */
static KmStatus
fill_tile(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, size_t i0, size_t rows, size_t j0,
          size_t columns, bool full, size_t ld, double *out)
{
    double *tile = out + i0 * ld + j0;

    KM_TRY(km_kernel_tile(ctx, kernel, points, i0, rows, points, j0, columns, ld, tile));
    if (!has_finite_values(kernel))
        KM_TRY(check_tile(ctx, i0, rows, j0, columns, ld, tile));
    if (full && j0 < i0)
        transpose_block(rows, min_size(columns, i0 - j0), ld, tile, out + j0 * ld + i0);
    return KM_OK;
}

KmStatus
km_gram_fill(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, bool full, size_t ld,
             double *out)
{
    size_t n = km_points_count(points);

    if (n > TILE_ROWS)
        KM_TRY(km_points_panels_create(ctx, points));
    for (size_t i = 0; i < n; i += TILE_ROWS)
    {
        size_t rows = min_size(TILE_ROWS, n - i);

        KM_TRY(km_progress(ctx, "Gram matrix", (double) i * i, (double) n * n));
        for (size_t j = 0; j < i + rows; j += TILE_COLUMNS)
            KM_TRY(fill_tile(ctx, kernel, points, i, rows, j, min_size(TILE_COLUMNS, i + rows - j), full, ld,
                             out));
        if (full)
            transpose_triangle(rows, false, ld, out + i * ld + i);
    }
    km_points_panels_free(ctx, points);
    return KM_OK;
}
