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
/* Tiles of batches, and panels at once for a row alone: 8 sums or more. */
#define BLOCK_ROWS 4
#define BLOCK_PANELS (KM_LANES == 8 ? 2 : 1)
#define ROW_PANELS KM_LANES
#define TILE_VECTORS 8          /* at most, of one query row */
#define GROUP_BYTES (256 * 1024)

KM_INLINE vd
accumulate(KmPairwise what, vd x, vd z, vd sum)
{
    if (what == KM_PAIR_DOT)
        return vd_fma(x, z, sum);

    vd t = x - z;

    return what == KM_PAIR_SQDIST ? vd_fma(t, t, sum) : sum + vd_abs(t);
}

/* One tile: x and out at its first query row, z at its first panel. */
KM_INLINE void
tile(KmPairwise what, size_t rows, size_t panels, const KmPanelBlock *block,
     const double *x, const double *z, double *out)
{
    const size_t d = block->d, width = panels * PANEL_VECTORS;
    vd sum[BLOCK_ROWS][TILE_VECTORS], column[TILE_VECTORS];

KM_UNROLL
    for (size_t i = 0; i < rows; i++)
KM_UNROLL
        for (size_t v = 0; v < width; v++)
            sum[i][v] = vd_set(0);
    for (size_t k = 0; k < d; k++)
    {
KM_UNROLL
        for (size_t v = 0; v < width; v++)
            column[v] = vd_load(z + (v / PANEL_VECTORS * d + k) * KM_PANEL_WIDTH +
                                v % PANEL_VECTORS * KM_LANES);
KM_UNROLL
        for (size_t i = 0; i < rows; i++)
        {
            vd query = vd_set(x[i * d + k]);

KM_UNROLL
            for (size_t v = 0; v < width; v++)
                sum[i][v] = accumulate(what, query, column[v], sum[i][v]);
        }
    }
KM_UNROLL
    for (size_t i = 0; i < rows; i++)
KM_UNROLL
        for (size_t v = 0; v < width; v++)
            vd_store(out + i * block->ld + v * KM_LANES, vd_one_nan(sum[i][v]));
}

/* `rows` query rows from row i on against panels first..last-1. */
KM_INLINE void
strip(KmPairwise what, size_t rows, size_t panels, const KmPanelBlock *block,
      size_t i, size_t first, size_t last)
{
    const size_t panel_size = block->d * KM_PANEL_WIDTH;
    const double *x = block->x + i * block->d, *z = block->z + first * panel_size;
    double *out = block->out + i * block->ld + first * KM_PANEL_WIDTH;
    size_t left = last - first;

    for (; left >= panels; left -= panels)
    {
        tile(what, rows, panels, block, x, z, out);
        z += panels * panel_size;
        out += panels * KM_PANEL_WIDTH;
    }
    for (; left > 0; left--)
    {
        tile(what, rows, 1, block, x, z, out);
        z += panel_size;
        out += KM_PANEL_WIDTH;
    }
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
pairwise(KmPairwise what, const KmPanelBlock *block)
{
    const size_t group = panels_in_group(block->d);

    for (size_t first = 0; first < block->panels; first += group)
    {
        size_t last = block->panels - first < group ? block->panels : first + group, i = 0;

        for (; i + BLOCK_ROWS <= block->m; i += BLOCK_ROWS)
            strip(what, BLOCK_ROWS, BLOCK_PANELS, block, i, first, last);
        for (; i < block->m; i++)
            strip(what, 1, ROW_PANELS, block, i, first, last);
    }
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

/* ---- dot products in eight chains, by index modulo 8 ---- */

#define CHAINS 8
#define CHAIN_VECTORS (CHAINS / KM_LANES)
#define DOT_ROWS KM_LANES       /* rows at once: 8 sums again */

/* ((0+4)+(2+6))+((1+5)+(3+7)) */
KM_INLINE double
add_chains(const vd *sum)
{
    double c[CHAINS];

    memcpy(c, sum, sizeof c);
    return ((c[0] + c[4]) + (c[2] + c[6])) + ((c[1] + c[5]) + (c[3] + c[7]));
}

/* The last n % 8 elements of a, the others `fill`. */
KM_INLINE void
copy_tail(size_t n, const double *a, double fill, double tail[CHAINS])
{
    size_t whole = n - n % CHAINS;

    for (size_t j = 0; j < CHAINS; j++)
        tail[j] = whole + j < n ? a[whole + j] : fill;
}

KM_INLINE void
add_products(const double *a, const double *b, vd sum[CHAIN_VECTORS])
{
KM_UNROLL
    for (size_t v = 0; v < CHAIN_VECTORS; v++)
        sum[v] = vd_fma(vd_load(a + v * KM_LANES), vd_load(b + v * KM_LANES), sum[v]);
}

/* out[i] = <row i of K, coef> for `rows` rows.  The end is padded with -0 * 0,
 * which leaves every sum as it is, -0 included. */
KM_INLINE void
dot_tile(size_t rows, size_t n, size_t ld, const double *K, const double *coef, double *out)
{
    vd sum[DOT_ROWS][CHAIN_VECTORS];
    double tail[CHAINS], coef_tail[CHAINS];

KM_UNROLL
    for (size_t i = 0; i < rows; i++)
KM_UNROLL
        for (size_t v = 0; v < CHAIN_VECTORS; v++)
            sum[i][v] = vd_set(0);
    for (size_t j = 0; j + CHAINS <= n; j += CHAINS)
KM_UNROLL
        for (size_t i = 0; i < rows; i++)
            add_products(K + i * ld + j, coef + j, sum[i]);
    copy_tail(n, coef, 0.0, coef_tail);
KM_UNROLL
    for (size_t i = 0; i < rows; i++)
    {
        if (n % CHAINS != 0)
        {
            copy_tail(n, K + i * ld, -0.0, tail);
            add_products(tail, coef_tail, sum[i]);
        }
        out[i] = add_chains(sum[i]);
        if (out[i] != out[i])
            out[i] = __builtin_nan("");
    }
}

static double
dot_fixed(size_t n, const double *a, const double *b)
{
    double dot;

    dot_tile(1, n, n, a, b, &dot);
    return dot;
}

static void
dot_fixed_rows(size_t m, size_t n, size_t ld, const double *K, const double *coef, double *out)
{
    size_t i = 0;

    for (; i + DOT_ROWS <= m; i += DOT_ROWS)
        dot_tile(DOT_ROWS, n, ld, K + i * ld, coef, out + i);
    for (; i < m; i++)
        out[i] = dot_fixed(n, K + i * ld, coef);
}

const KmPanelOps KM_VARIANT_NAME(km_panel_ops) = {
    .pairwise = {
        [KM_PAIR_DOT] = pairwise_dot,
        [KM_PAIR_SQDIST] = pairwise_sqdist,
        [KM_PAIR_L1] = pairwise_l1,
    },
    .dot_fixed = dot_fixed,
    .dot_fixed_rows = dot_fixed_rows,
};
