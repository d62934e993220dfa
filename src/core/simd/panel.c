/*
 * panel.c: the scoring micro-kernel.  A tile of `rows` query rows by `panels`
 * panels keeps its sums in registers while k runs over the columns; eight or
 * more sums hide the latency of the multiply-add.  How pairs are grouped into
 * tiles does not change the order within a sum, so neither its bits.
 */
#include "panel_ops.h"
#include "simd.h"
#include "vector.h"

#define PANEL_VECTORS (KM_PANEL_WIDTH / KM_LANES)
/* Tiles of batches: sums, a column of panels, a query and its differences in 32 or 16 registers. */
#define BLOCK_ROWS(kind) (KM_LANES == 8 ? 8 : KM_LANES == 4 && (kind).what == KM_PAIR_DOT ? 6 : 4)
#define MOST_ROWS 8
#define BLOCK_PANELS (KM_LANES == 8 ? 2 : 1)
/* Panels at once for a row alone, and for what is left of them: 8 sums, half of them. */
#define ROW_PANELS KM_LANES
#define FEW_PANELS (KM_LANES / 2)
#define TILE_VECTORS 8          /* at most, of one query row */
#define GROUP_BYTES (256 * 1024)

/* What a sum is of, whether it begins at 0 or goes on from out, and whether panels are narrow; all known when
 * functions are inlined. */
typedef struct Sum
{
    KmPairwise what;
    bool goes_on, narrow;
} Sum;

/* What of its words a column is. */
typedef enum Part
{
    WHOLE,
    UPPER,
    LOWER
} Part;

KM_INLINE vd
accumulate(KmPairwise what, vd x, vd z, vd sum)
{
    if (what == KM_PAIR_DOT)
        return vd_fma(x, z, sum);

    vd t = x - z;

    return what == KM_PAIR_SQDIST ? vd_fma(t, t, sum) : sum + vd_abs(t);
}

KM_INLINE vd
part_of(Part part, vd words)
{
    if (part == WHOLE)
        return words;
    return part == UPPER ? (vd) ((vu) words & 0xffffffff00000000) : (vd) ((vu) words << 32);
}

/* What one column adds to a tile's sums: x at its element of the first query row, z at its words. */
KM_INLINE void
add_column(KmPairwise what, Part part, size_t rows, size_t width, KmPanelBlock block, const double *x,
           const double *z, vd sum[][TILE_VECTORS])
{
    vd column[TILE_VECTORS];

KM_UNROLL
    for (size_t v = 0; v < width; v++)
        column[v] = part_of(part, vd_load(z + v / PANEL_VECTORS * block.pitch +
                                          v % PANEL_VECTORS * KM_LANES));
KM_UNROLL
    for (size_t i = 0; i < rows; i++)
    {
        vd query = vd_set(x[i * block.ldx]);

KM_UNROLL
        for (size_t v = 0; v < width; v++)
            sum[i][v] = accumulate(what, query, column[v], sum[i][v]);
    }
}

/* One tile: x and out at its first query row, z at its first panel. */
KM_INLINE void
tile(Sum kind, size_t rows, size_t panels, KmPanelBlock block,
     const double *x, const double *z, double *out)
{
    const size_t width = panels * PANEL_VECTORS;
    size_t k = 0;
    vd sum[MOST_ROWS][TILE_VECTORS];

KM_UNROLL
    for (size_t i = 0; i < rows; i++)
KM_UNROLL
        for (size_t v = 0; v < width; v++)
            sum[i][v] = kind.goes_on ? vd_load(out + i * block.ld + v * KM_LANES) : vd_set(0);
    for (; kind.narrow && k + 2 <= block.d; k += 2, z += KM_PANEL_WIDTH)
    {
        add_column(kind.what, UPPER, rows, width, block, x + k, z, sum);
        add_column(kind.what, LOWER, rows, width, block, x + k + 1, z, sum);
    }
    for (; k < block.d; k++, z += KM_PANEL_WIDTH)
        add_column(kind.what, kind.narrow ? UPPER : WHOLE, rows, width, block, x + k, z, sum);
KM_UNROLL
    for (size_t i = 0; i < rows; i++)
KM_UNROLL
        for (size_t v = 0; v < width; v++)
            vd_store(out + i * block.ld + v * KM_LANES, vd_one_nan(sum[i][v]));
}

/* As many tiles of so many panels as there are before panel `last`; the first panel after them. */
KM_INLINE size_t
tiles(Sum kind, size_t rows, size_t panels, KmPanelBlock block, size_t i, size_t first, size_t last)
{
    const double *x = block.x + i * block.ldx;
    double *out = block.out + i * block.ld;

    for (; last - first >= panels; first += panels)
        tile(kind, rows, panels, block, x, block.z + first * block.pitch, out + first * KM_PANEL_WIDTH);
    return first;
}

/* BLOCK_ROWS query rows from i on against panels first..last-1. */
KM_INLINE void
block_strip(Sum kind, KmPanelBlock block, size_t i, size_t first, size_t last)
{
    first = tiles(kind, BLOCK_ROWS(kind), BLOCK_PANELS, block, i, first, last);
    tiles(kind, BLOCK_ROWS(kind), 1, block, i, first, last);
}

/* Query row i alone. */
KM_INLINE void
row_strip(Sum kind, KmPanelBlock block, size_t i, size_t first, size_t last)
{
    first = tiles(kind, 1, ROW_PANELS, block, i, first, last);
    first = tiles(kind, 1, FEW_PANELS, block, i, first, last);
    tiles(kind, 1, 1, block, i, first, last);
}

/* Panels in groups that stay in the second-level cache while all rows pass (d + 1,
 * because d may be 0 here). */
static size_t
panels_in_group(size_t d)
{
    size_t panels = GROUP_BYTES / (sizeof(double) * KM_PANEL_WIDTH * (d + 1));

    return panels < 2 * ROW_PANELS ? ROW_PANELS : panels - panels % ROW_PANELS;
}

KM_INLINE void
all_pairs(Sum kind, KmPanelBlock block)
{
    const size_t group = panels_in_group(block.d);

    for (size_t first = 0; first < block.panels; first += group)
    {
        size_t last = block.panels - first < group ? block.panels : first + group, i = 0;

        for (; i + BLOCK_ROWS(kind) <= block.m; i += BLOCK_ROWS(kind))
            block_strip(kind, block, i, first, last);
        for (; i < block.m; i++)
            row_strip(kind, block, i, first, last);
    }
}

KM_INLINE void
pairwise(KmPairwise what, const KmPanelBlock *block)
{
    if (block->narrow)
        all_pairs((Sum) {.what = what, .narrow = true}, *block);
    else
        all_pairs((Sum) {.what = what}, *block);
}

static void
pairwise_dot(const KmPanelBlock *block)
{
    pairwise(KM_PAIR_DOT, block);
}

static void
pairwise_sqdist(const KmPanelBlock *block)
{
    pairwise(KM_PAIR_SQDIST, block);
}

static void
pairwise_l1(const KmPanelBlock *block)
{
    pairwise(KM_PAIR_L1, block);
}

static void
add_products(const KmPanelBlock *block)
{
    all_pairs((Sum) {.what = KM_PAIR_DOT, .goes_on = true}, *block);
}

/* ---- dot products in eight chains, by index modulo 8 ---- */

#define CHAINS KM_DOT_CHAINS
#define CHAIN_VECTORS (CHAINS / KM_LANES)
#define DOT_ROWS KM_LANES       /* rows at once: 8 sums again */
/* Columns at once: rows in the second-level cache come faster by 24 columns than by 8 or by 48. */
#define STRETCH (3 * CHAINS)

/* The last n % 8 elements of a, the others `fill`. */
KM_INLINE void
copy_tail(size_t n, const double *a, double fill, double tail[CHAINS])
{
    size_t whole = n - n % CHAINS;

    for (size_t j = 0; j < CHAINS; j++)
        tail[j] = whole + j < n ? a[whole + j] : fill;
}

/* The sums of `rows` rows go on by so many columns from j on, a multiple of 8. */
KM_INLINE void
add_columns(size_t rows, size_t columns, const double *const *row, const double *coef, size_t j,
            vd sum[][CHAIN_VECTORS])
{
    const size_t width = columns / KM_LANES;
    vd x[STRETCH / KM_LANES];

KM_UNROLL
    for (size_t k = 0; k < width; k++)
        x[k] = vd_load(coef + j + k * KM_LANES);
KM_UNROLL
    for (size_t i = 0; i < rows; i++)
KM_UNROLL
        for (size_t k = 0; k < width; k++)
        {
            vd *chain = &sum[i][k % CHAIN_VECTORS];

            *chain = vd_fma(vd_load(row[i] + j + k * KM_LANES), x[k], *chain);
        }
}

/* By n columns, a multiple of 8. */
KM_INLINE void
add_whole(size_t rows, size_t n, const double *const *row, const double *coef, vd sum[][CHAIN_VECTORS])
{
    size_t j = 0;

    for (; j + STRETCH <= n; j += STRETCH)
        add_columns(rows, STRETCH, row, coef, j, sum);
    for (; j < n; j += CHAINS)
        add_columns(rows, CHAINS, row, coef, j, sum);
}

/* By the last n % 8, padded with -0 * 0, which leaves every sum as it is, -0 included. */
KM_INLINE void
add_tail(size_t rows, size_t n, const double *const *row, const double *coef, vd sum[][CHAIN_VECTORS])
{
    double tail[CHAINS], coef_tail[CHAINS];
    const double *padded = tail;

    copy_tail(n, coef, 0.0, coef_tail);
KM_UNROLL
    for (size_t i = 0; i < rows; i++)
    {
        copy_tail(n, row[i], -0.0, tail);
        add_columns(1, CHAINS, &padded, coef_tail, 0, sum + i);
    }
}

/* The chains of `rows` rows go on. */
KM_INLINE void
dot_tile(size_t rows, size_t n, const double *const *row, const double *coef, double *chains)
{
    vd sum[DOT_ROWS][CHAIN_VECTORS];

KM_UNROLL
    for (size_t i = 0; i < rows; i++)
KM_UNROLL
        for (size_t v = 0; v < CHAIN_VECTORS; v++)
            sum[i][v] = vd_load(chains + i * CHAINS + v * KM_LANES);
    add_whole(rows, n - n % CHAINS, row, coef, sum);
    if (n % CHAINS != 0)
        add_tail(rows, n, row, coef, sum);
KM_UNROLL
    for (size_t i = 0; i < rows; i++)
KM_UNROLL
        for (size_t v = 0; v < CHAIN_VECTORS; v++)
            vd_store(chains + i * CHAINS + v * KM_LANES, sum[i][v]);
}

/* As many rows as there are. */
KM_INLINE void
dot_rows(size_t m, size_t n, const double *const *row, const double *coef, double *chains)
{
    size_t i = 0;

    for (; i + DOT_ROWS <= m; i += DOT_ROWS)
        dot_tile(DOT_ROWS, n, row + i, coef, chains + i * CHAINS);
    for (; i < m; i++)
        dot_tile(1, n, row + i, coef, chains + i * CHAINS);
}

static void
dot_chains(size_t m, size_t n, size_t ld, const double *K, const double *coef, double *chains)
{
    const double *row[CHAINS];

    for (size_t first = 0, count; first < m; first += count)
    {
        count = m - first < CHAINS ? m - first : CHAINS;
        for (size_t i = 0; i < count; i++)
            row[i] = K + (first + i) * ld;
        dot_rows(count, n, row, coef, chains + first * CHAINS);
    }
}

/* ---- triangles ---- */

/* left = D^-1 left by columns, for 8 rows' corner D. */
KM_INLINE void
solve_corner(const double *corner, vd left[CHAIN_VECTORS])
{
KM_UNROLL
    for (size_t v = 0; v < CHAIN_VECTORS; v++)
        left[v] *= vd_load(corner + (CHAINS - 1) * CHAINS + v * KM_LANES);
KM_UNROLL
    for (size_t c = 0; c < CHAINS - 1; c++)
    {
        vd solved = vd_set(left[c / KM_LANES][c % KM_LANES]);

KM_UNROLL
        for (size_t v = 0; v < CHAIN_VECTORS; v++)
            left[v] = vd_fma(vd_load(corner + c * CHAINS + v * KM_LANES), solved, left[v]);
    }
}

/* out[r] = <row_r, v> over n elements, a multiple of 8. */
KM_INLINE void
dot_corner(size_t n, const double *const *row, const double *v, double out[KM_TRIANGLE_ROWS])
{
    for (size_t r = 0; r < KM_TRIANGLE_ROWS; r += DOT_ROWS)
    {
        vd sum[DOT_ROWS][CHAIN_VECTORS] = {0};
        double chains[DOT_ROWS][CHAINS];

        add_whole(DOT_ROWS, n, row + r, v, sum);
        memcpy(chains, sum, sizeof chains);
        for (size_t i = 0; i < DOT_ROWS; i++)
            out[r + i] = km_chains_sum(chains[i]);
    }
}

/* Rows i .. i+rows-1; the products with what is solved have no order among them.  After n, the last row
 * again. */
KM_INLINE void
substitute_rows(const KmTriangle *triangle, size_t i, size_t rows, double *v)
{
    double sum[KM_TRIANGLE_ROWS], b[KM_TRIANGLE_ROWS] = {0};
    const double *row[KM_TRIANGLE_ROWS] = {km_triangle_row(triangle, i)};
    vd left[CHAIN_VECTORS];

KM_UNROLL
    for (size_t r = 1; r < KM_TRIANGLE_ROWS; r++)
        row[r] = r < rows ? row[r - 1] + i + r : row[r - 1];
    dot_corner(i, row, v, sum);
    memcpy(b, v + i, rows * sizeof *b);
KM_UNROLL
    for (size_t k = 0; k < CHAIN_VECTORS; k++)
        left[k] = vd_load(b + k * KM_LANES) - vd_load(sum + k * KM_LANES);
    solve_corner(triangle->corners + i * KM_TRIANGLE_ROWS, left);
    memcpy(v + i, left, rows * sizeof *v);
}

static void
substitute(const KmTriangle *triangle, size_t i, double *v)
{
    if (triangle->n - i >= KM_TRIANGLE_ROWS)
        substitute_rows(triangle, i, KM_TRIANGLE_ROWS, v);
    else
        substitute_rows(triangle, i, triangle->n - i, v);
}

const KmPanelOps KM_VARIANT_NAME(km_panel_ops) = {
    .pairwise = {
        [KM_PAIR_DOT] = pairwise_dot,
        [KM_PAIR_SQDIST] = pairwise_sqdist,
        [KM_PAIR_L1] = pairwise_l1,
    },
    .add_products = add_products,
    .dot_chains = dot_chains,
    .substitute = substitute,
};
