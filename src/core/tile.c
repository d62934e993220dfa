/*
 * tile.c: tiles of K: each leaf's geometry by panels, where the points have them, or by GEMM, mapped while it
 * is in cache, and combined by the kernel's expression.
 *
 * Squared distances are |x|^2 + |z|^2 - 2<x,z> of centred rows.  With N = |x|^2 + |z|^2 its rounding
 * error is at most c u N, c a small multiple of sqrt(d).  Where d2 < t N it is computed again from
 * differences; elsewhere N <= d2 / t, so that the error of exp(-gamma d2) is at most
 *   c u gamma N exp(-gamma d2) <= (c u / t) gamma d2 exp(-gamma d2) <= c u / (t e)
 * whatever gamma: c 1e-13 in float64 (t = 1e-3), c 2e-6 in float32 (t = 1e-2).  The same holds for every
 * map with bounded d2 |k'(d2)|, as all those of the table have.
 */
#include "points.h"

#include <string.h>

#include "blas.h"
#include "simd.h"
#include "simd/tile_ops.h"
#include "thin.h"
#include "sizes.h"

#define SMALL 1e-3
#define SMALL_F32 1e-2f

/* ---- geometries: first the whole block, then each row of it ---- */

typedef struct Geometry
{
    void (*block)(const KmBlock *block, size_t l, size_t ld, double *out);       /* NULL: row makes all */
    void (*row)(const KmBlock *block, size_t l, size_t i, double *row);  /* NULL: nothing left to do */
} Geometry;

/* True if b's rows are in panels, and this block's begin one. */
static bool
has_panels(const KmBlock *block, const KmLeafPoints *b)
{
    return b->panel.data != NULL && block->j % KM_PANEL_WIDTH == 0;
}

/* Whole panels of values are written: by way of the block's own scratch where the last one is too wide. */
static void
panel_values(const KmBlock *block, size_t l, KmPairwise what, const double *x, const KmPanel *panel,
             size_t j0, size_t ld, double *out)
{
    double *scratch = block->a->values + l * block->a->block_rows * KM_BLOCK_COLUMNS;

    if (out == scratch || block->n % KM_PANEL_WIDTH == 0)
    {
        km_panel_pairwise(panel, what, block->m, x, j0, block->n, ld, out);
        return;
    }
    km_panel_pairwise(panel, what, block->m, x, j0, block->n, KM_BLOCK_COLUMNS, scratch);
    for (size_t i = 0; i < block->m; i++)
        memcpy(out + i * ld, scratch + i * KM_BLOCK_COLUMNS, block->n * sizeof *out);
}

/* out = (rows of a)(rows of b)'. */
static void
dot_block(const KmBlock *block, size_t l, size_t ld, double *out)
{
    const KmLeafPoints *a = &block->a->leaf[l], *b = &block->b->leaf[l];
    size_t width = a->width;

    if (has_panels(block, b))
        panel_values(block, l, KM_PAIR_DOT, a->centred + block->i * width, &b->panel, block->j, ld, out);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, block->m, block->n, width, 1.0,
                    a->centred + block->i * width, width, b->centred + block->j * width, width, 0.0, out, ld);
}

static void
sqdist_row(const KmBlock *block, size_t l, size_t i, double *row)
{
    const KmLeafPoints *a = &block->a->leaf[l], *b = &block->b->leaf[l];
    const KmTileOps *ops = KM_PICK(km_tile_ops);
    const double *x = a->rows + (block->i + i) * a->width, *z = b->rows + block->j * a->width;
    const double norm = a->norms[block->i + i], *norms = b->norms + block->j;

    if (!ops->sqdist(block->n, norm, norms, SMALL, row))
        return;
    for (size_t j = 0; j < block->n; j++)
        if (row[j] < SMALL * (norm + norms[j]))
            row[j] = ops->sqdist_pair(a->width, x, z + j * a->width);
}

/* b's rows transposed into panels (see panel.h), for the lanes of the scoring kernel. */
static void
fill_panel(const KmBlock *block, const KmLeafPoints *b, double *panel)
{
    size_t width = b->width, padded = round_up(block->n, KM_PANEL_WIDTH);

    for (size_t j = 0; j < padded; j++)
    {
        const double *row = b->rows + (block->j + min_size(j, block->n - 1)) * width;
        double *lane = panel + j / KM_PANEL_WIDTH * width * KM_PANEL_WIDTH + j % KM_PANEL_WIDTH;

        for (size_t k = 0; k < width; k++)
            lane[k * KM_PANEL_WIDTH] = row[k];
    }
}

static void
l1_block(const KmBlock *block, size_t l, size_t ld, double *out)
{
    const KmLeafPoints *a = &block->a->leaf[l], *b = &block->b->leaf[l];
    const double *x = a->rows + block->i * a->width;
    KmPanel own = {.n = block->n, .d = a->width, .data = block->a->panel};

    if (has_panels(block, b))
    {
        panel_values(block, l, KM_PAIR_L1, x, &b->panel, block->j, ld, out);
        return;
    }
    fill_panel(block, b, own.data);
    panel_values(block, l, KM_PAIR_L1, x, &own, 0, ld, out);
}

static void
rows_row(const KmBlock *block, size_t l, size_t i, double *row)
{
    const KmLeafPoints *a = &block->a->leaf[l], *b = &block->b->leaf[l];
    size_t width = a->width;

    a->leaf->type->pairs(a->leaf, width, a->rows + (block->i + i) * width, block->n,
                         b->rows + block->j * width, row);
}

/* White noise too: block_values sets the diagonal of a Gram. */
static void
none_block(const KmBlock *block, size_t l, size_t ld, double *out)
{
    (void) l;
    for (size_t i = 0; i < block->m; i++)
        memset(out + i * ld, 0, block->n * sizeof *out);
}

static const Geometry geometries[] = {
    [KM_GEOMETRY_NONE] = {none_block, NULL},
    [KM_GEOMETRY_SAME] = {none_block, NULL},
    [KM_GEOMETRY_DOT] = {dot_block, NULL},
    [KM_GEOMETRY_COSINE] = {dot_block, NULL},
    [KM_GEOMETRY_SQDIST] = {dot_block, sqdist_row},
    [KM_GEOMETRY_L1] = {l1_block, NULL},
    [KM_GEOMETRY_ROWS] = {NULL, rows_row},
};

/* ---- kernel values ---- */

KmStatus
km_block_geometry(KmContext *ctx, const KmBlock *block, size_t l, size_t ld, double *out)
{
    const KmLeaf *leaf = block->a->leaf[l].leaf;
    const Geometry *geometry = &geometries[leaf->type->geometry];

    if (geometry->block != NULL)
        geometry->block(block, l, ld, out);
    for (size_t i = 0; i < block->m; i++)
    {
        KM_TRY(km_poll_row(ctx, i, block->n * block->a->leaf[l].width));
        if (geometry->row != NULL)
            geometry->row(block, l, i, out + i * ld);
        KM_TRY(km_leaf_check_values(ctx, leaf, block->i + i, block->j, block->n, out + i * ld));
    }
    return KM_OK;
}

static KmStatus
leaf_values(KmContext *ctx, const KmBlock *block, size_t l, size_t ld, double *out)
{
    const KmLeaf *leaf = block->a->leaf[l].leaf;

    KM_TRY(km_block_geometry(ctx, block, l, ld, out));
    for (size_t i = 0; i < block->m && leaf->type->map != NULL; i++)
        leaf->type->map(leaf, block->n, out + i * ld);
    return KM_OK;
}

static KmStatus
combined_values(KmContext *ctx, const KmKernel *kernel, const KmBlock *block, size_t ld, double *out)
{
    const KmPoints *a = block->a, *b = block->b;
    size_t leaf_stride = a->block_rows * KM_BLOCK_COLUMNS;

    for (size_t l = 0; l < kernel->n_leaves; l++)
    {
        KM_TRY(km_poll(ctx));
        KM_TRY(leaf_values(ctx, block, l, KM_BLOCK_COLUMNS, a->values + l * leaf_stride));
    }
    for (size_t i = 0; i < block->m; i++)
    {
        KmPairs pairs = {.n = block->n, .leaf = a->values + i * KM_BLOCK_COLUMNS, .leaf_stride = leaf_stride,
                         .x_self = a->self + block->i + i, .x_stride = a->capacity,
                         .z_self = b->self + block->j, .z_stride = b->capacity};

        memcpy(out + i * ld, km_kernel_combine(kernel, &pairs), block->n * sizeof *out);
    }
    return KM_OK;
}

static KmStatus
block_values(KmContext *ctx, const KmKernel *kernel, const KmBlock *block, size_t ld, double *out)
{
    if (kernel->op == KM_OP_LEAF)
        KM_TRY(leaf_values(ctx, block, 0, ld, out));
    else
        KM_TRY(combined_values(ctx, kernel, block, ld, out));
    if (block->a != block->b)
        return KM_OK;
    for (size_t i = 0; i < block->m; i++)
        if (block->i + i >= block->j && block->i + i < block->j + block->n)
            out[i * ld + block->i + i - block->j] = block->a->diagonal[block->i + i];
    return KM_OK;
}

KmStatus
km_kernel_tile(KmContext *ctx, const KmKernel *kernel, const KmPoints *a, size_t i0, size_t m,
               const KmPoints *b,
               size_t j0, size_t n, size_t ld, double *out)
{
    for (size_t i = 0; i < m; i += a->block_rows)
        for (size_t j = 0; j < n; j += KM_BLOCK_COLUMNS)
        {
            KmBlock block = {a, i0 + i, min_size(a->block_rows, m - i), b, j0 + j, min_size(KM_BLOCK_COLUMNS,
                                                                                          n - j)};

            KM_TRY(km_poll(ctx));
            KM_TRY(block_values(ctx, kernel, &block, ld, out + i * ld + j));
        }
    return KM_OK;
}

/* ---- float32, for training rows of a single leaf ---- */

bool
km_kernel_has_f32(const KmKernel *kernel)
{
    return kernel->op == KM_OP_LEAF && kernel->leaf.type->map_f32 != NULL;
}

/* The same where the rows of a are lists. */
static void
list_product(const KmBlock *block, size_t ld, float *out)
{
    const KmSinglePoints *a = block->a->single;
    KmThinList list[KM_BLOCK_ROWS];

    for (size_t i = 0; i < block->m; i++)
        list[i] = km_sparse_row(a->lists, km_points_wide_index(block->a, block->i + i));
    km_thin_list_dot(block->m, block->n, block->a->leaf[0].width, list, block->b->single->panels,
                     block->j, ld, out);
}

static void
product_f32(const KmBlock *block, size_t ld, float *out)
{
    size_t width = block->a->leaf[0].width;

    if (block->a->single->lists != NULL)
    {
        list_product(block, ld, out);
        return;
    }
    km_thin_dot(block->m, block->n, width, block->a->single->rows + block->i * width,
                block->b->single->panels, block->j, ld, out);
}

/* The differences are those of the float64 rows. */
static void
sqdist_row_f32(const KmBlock *block, size_t i, float *row)
{
    const KmTileOps *ops = KM_PICK(km_tile_ops);
    const double *x = km_points_wide_row(block->a, block->i + i);
    const float norm = block->a->single->norms[block->i + i], *norms = block->b->single->norms + block->j;

    if (!ops->sqdist_f32(block->n, norm, norms, SMALL_F32, row))
        return;
    for (size_t j = 0; j < block->n; j++)
        if (row[j] < SMALL_F32 * (norm + norms[j]))
            row[j] = (float) ops->sqdist_pair(block->a->leaf[0].width, x,
                                              km_points_wide_row(block->b, block->j + j));
}

static void
gemm_values_f32(const KmLeaf *leaf, const KmBlock *block, size_t ld, float *out)
{
    product_f32(block, ld, out);
    for (size_t i = 0; i < block->m; i++)
    {
        if (leaf->type->geometry == KM_GEOMETRY_SQDIST)
            sqdist_row_f32(block, i, out + i * ld);
        leaf->type->map_f32(leaf, block->n, out + i * ld);
    }
}

/* Values made in float64 and rounded: geometries without products, rows out of float32's range, and
 * tiles that begin inside a panel. */
static KmStatus
narrowed_values(KmContext *ctx, const KmKernel *kernel, const KmBlock *block, size_t ld, float *out)
{
    double *wide = block->a->single->wide;

    KM_TRY(block_values(ctx, kernel, block, KM_BLOCK_COLUMNS, wide));
    for (size_t i = 0; i < block->m; i++)
        for (size_t j = 0; j < block->n; j++)
            out[i * ld + j] = (float) wide[i * KM_BLOCK_COLUMNS + j];
    return KM_OK;
}

/* Which way a tile goes; both sides are made ready for it. */
static KmStatus
prepare_f32(KmContext *ctx, const KmKernel *kernel, const KmPoints *a, const KmPoints *b, size_t j0,
            bool *by_products)
{
    KmSinglePoints *single = a->single;

    *by_products = j0 % KM_THIN_WIDTH == 0 && km_points_by_products(&kernel->leaf);
    if (*by_products)
    {
        KM_TRY(km_points_single(ctx, a));
        KM_TRY(km_points_packed(ctx, b));
        *by_products = a->single->usable && b->single->usable;
    }
    if (!*by_products && single->wide == NULL)
        KM_TRY(km_alloc(ctx, a->block_rows * KM_BLOCK_COLUMNS, &single->wide));
    return KM_OK;
}

KmStatus
km_kernel_tile_f32(KmContext *ctx, const KmKernel *kernel, const KmPoints *a, size_t i0, size_t m,
                   const KmPoints *b,
                   size_t j0, size_t n, size_t ld, float *out)
{
    bool by_products;

    KM_TRY(prepare_f32(ctx, kernel, a, b, j0, &by_products));
    for (size_t i = 0; i < m; i += a->block_rows)
        for (size_t j = 0; j < n; j += KM_BLOCK_COLUMNS)
        {
            KmBlock block = {a, i0 + i, min_size(a->block_rows, m - i), b, j0 + j, min_size(KM_BLOCK_COLUMNS,
                                                                                          n - j)};

            KM_TRY(km_poll(ctx));
            if (by_products)
                gemm_values_f32(&kernel->leaf, &block, ld, out + i * ld + j);
            else
                KM_TRY(narrowed_values(ctx, kernel, &block, ld, out + i * ld + j));
        }
    return KM_OK;
}
