/*
 * triangle.c: a packed lower triangle against many right-hand sides.  Tiles of a few rows of L by two vectors
 * of columns keep their sums in registers while k runs; eight or more sums hide the latency of the
 * multiply-add.
 */
#include "triangle_ops.h"
#include "../sizes.h"
#include "simd.h"
#include "vector.h"

#define ROWS (KM_LANES == 8 ? KM_TRIANGLE_ROWS : KM_TRIANGLE_ROWS / 2)
#define VECTORS ((size_t) 2)

/* Fused where the CPU can: no order is promised here. */
KM_INLINE vd
add_product(vd a, vd b, vd sum)
{
#if KM_VECTOR_BYTES > 16
    return vd_fma(a, b, sum);
#else
    return sum + a * b;
#endif
}

/* One tile, `width` vectors wide, of which the first `rows` rows are stored. */
KM_INLINE void
subtract_tile(const double *const row[ROWS], size_t first, size_t last, size_t rows, size_t width, size_t ld,
              const double *v, double *out)
{
    vd sum[ROWS][VECTORS] = {0}, column[VECTORS];

    for (size_t k = first; k < last; k++)
    {
KM_UNROLL
        for (size_t w = 0; w < width; w++)
            column[w] = vd_load(v + k * ld + w * KM_LANES);
KM_UNROLL
        for (size_t r = 0; r < ROWS; r++)
        {
            vd l = vd_set(row[r][k]);

KM_UNROLL
            for (size_t w = 0; w < width; w++)
                sum[r][w] = add_product(l, column[w], sum[r][w]);
        }
    }
KM_UNROLL
    for (size_t r = 0; r < ROWS; r++)
KM_UNROLL
        for (size_t w = 0; w < width; w++)
        {
            double *to = out + r * ld + w * KM_LANES;

            if (r < rows)
                vd_store(to, vd_load(to) - sum[r][w]);
        }
}

/* `rows` rows of L from row i on, at most ROWS; after n, the last row again. */
static void
subtract_rows(const KmTriangle *triangle, size_t i, size_t rows, size_t first, size_t last, size_t m,
              size_t ld, double *v)
{
    const size_t wide = VECTORS * KM_LANES;
    const double *row[ROWS];
    double *out = v + i * ld;
    size_t j = 0;

    for (size_t r = 0; r < ROWS; r++)
        row[r] = km_triangle_row(triangle, i + min_size(r, rows - 1));
    for (; j + wide <= m; j += wide)
        subtract_tile(row, first, last, rows, VECTORS, ld, v + j, out + j);
    for (; j < m; j += KM_LANES)
        subtract_tile(row, first, last, rows, 1, ld, v + j, out + j);
}

static void
subtract(const KmTriangle *triangle, size_t i, size_t first, size_t last, size_t m, size_t ld, double *v)
{
    const size_t end = min_size(triangle->n, i + KM_TRIANGLE_ROWS);

    for (; i < end; i += ROWS)
        subtract_rows(triangle, i, min_size(ROWS, end - i), first, last, m, ld, v);
}

/* One vector of columns; v at the first of the corner's rows, of which V has `rows`. */
KM_INLINE void
solve_tile(const double *corner, size_t rows, size_t ld, double *v)
{
    const double *reciprocal = corner + (KM_TRIANGLE_ROWS - 1) * KM_TRIANGLE_ROWS;
    vd x[KM_TRIANGLE_ROWS];

KM_UNROLL
    for (size_t r = 0; r < KM_TRIANGLE_ROWS; r++)
    {
        x[r] = r < rows ? vd_load(v + r * ld) * vd_set(reciprocal[r]) : vd_set(0);
KM_UNROLL
        for (size_t c = 0; c < KM_TRIANGLE_ROWS; c++)
            if (c < r)
                x[r] = add_product(vd_set(corner[c * KM_TRIANGLE_ROWS + r]), x[c], x[r]);
        if (r < rows)
            vd_store(v + r * ld, x[r]);
    }
}

static void
solve(const KmTriangle *triangle, size_t i, size_t m, size_t ld, double *v)
{
    const double *corner = triangle->corners + i * KM_TRIANGLE_ROWS;
    const size_t rows = min_size(KM_TRIANGLE_ROWS, triangle->n - i);

    for (size_t j = 0; j < m; j += KM_LANES)
        solve_tile(corner, rows, ld, v + i * ld + j);
}

const KmTriangleOps KM_VARIANT_NAME(km_triangle_ops) = {
    .subtract = subtract,
    .solve = solve,
};
