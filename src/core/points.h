/*
 * points.h: rows made ready for tiles of one kernel: what points.c keeps and tile.c
 * reads.  Internal to tiles.
 */
#ifndef KM_POINTS_H
#define KM_POINTS_H

#include "kernel_eval.h"
#include "sparse.h"

/* Blocks in which tiles are made: 128 x 512 (KM_MAX_PAIRS) doubles, half of an L2 cache; fewer rows for
 * kernels of several leaves, so that the values of all leaves stay there. */
#define KM_BLOCK_ROWS ((size_t) 128)
#define KM_BLOCK_COLUMNS ((size_t) 512)

/* Float32 copies of a single leaf's points, made when a float32 tile is first asked for. */
typedef struct KmSinglePoints
{
    bool ready;                 /* rows and norms are those of the current points */
    bool usable;                /* the norms are well inside float32's range */
    const double *origin;       /* what float32 rows are centred at, if not where float64 rows are */
    float *rows, *norms;        /* of the centred rows; NULL before first use */
    KmSparse *lists;            /* the left side's rows, by wide_row, where mostly zeros; else NULL */
    const double *wide_rows;    /* the float64 rows, of which … */
    size_t *wide_row;           /* … these, or NULL: 0, 1, 2 … */
    size_t *wide_index;         /* room for wide_row; NULL before first use */
    bool packed;                /* panels hold the current rows */
    float *panels;              /* rows in panels (thin.h), for the right side; NULL before first use */
    double *wide;               /* a float64 block, to be narrowed; NULL before first use */
} KmSinglePoints;

typedef struct KmLeafPoints
{
    const KmLeaf *leaf;
    size_t width;               /* columns of the leaf's own rows */
    bool rows_as_given;         /* rows is the caller's x, never written */
    double *rows;               /* n x width */
    double *centred;            /* distances by products: rows - centre; other leaves: rows itself */
    const double *centre;       /* width, with centred */
    double *norms;              /* squared norms of the centred rows, with centred */
    KmPanel panel;              /* the centred rows, for many tiles; data NULL: not made */
} KmLeafPoints;

struct KmPoints
{
    const KmKernel *kernel;
    size_t n, d, capacity;
    KmLeafPoints *leaf;         /* kernel->n_leaves */
    double *diagonal;           /* k(x_i, x_i) */
    double *self;               /* kernel->n_normals x capacity: what normalize() divides by */
    size_t block_rows;
    double *values;             /* scratch: per leaf a block of block_rows x KM_BLOCK_COLUMNS */
    double *panel;              /* scratch: KM_BLOCK_COLUMNS rows transposed, for 1-norm distances */
    KmSinglePoints *single;
};

/* Rows i .. i+m-1 of a against rows j .. j+n-1 of b; m <= a->block_rows, n <= KM_BLOCK_COLUMNS. */
typedef struct KmBlock
{
    const KmPoints *a;
    size_t i, m;
    const KmPoints *b;
    size_t j, n;
} KmBlock;

/* Geometry values of leaf l for a block (tile.c); fails outside the leaf's domain. */
extern KmStatus km_block_geometry(KmContext *ctx, const KmBlock *block, size_t l, size_t ld, double *out);

/* True if a leaf's geometry is made of products of rows. */
static inline bool
km_points_by_products(const KmLeaf *leaf)
{
    KmGeometry geometry = leaf->type->geometry;

    return geometry == KM_GEOMETRY_DOT || geometry == KM_GEOMETRY_COSINE || geometry == KM_GEOMETRY_SQDIST;
}

/* Where float32 row i was gathered from. */
static inline size_t
km_points_wide_index(const KmPoints *points, size_t i)
{
    return points->single->wide_row == NULL ? i : points->single->wide_row[i];
}

/* Row i of a single leaf in float64, as its own or where it was gathered from. */
static inline const double *
km_points_wide_row(const KmPoints *points, size_t i)
{
    return points->single->wide_rows + km_points_wide_index(points, i) * points->leaf[0].width;
}

/* Transpose rows whose products or 1-norm distances are wanted, once for many tiles, where that is faster
 * than a BLAS; to be freed before other rows are gathered into these points. */
extern KmStatus km_points_panels_create(KmContext *ctx, const KmPoints *points);
extern void km_points_panels_free(KmContext *ctx, const KmPoints *points);

/* Make points->single ready. */
extern KmStatus km_points_single(KmContext *ctx, const KmPoints *points);
/* And its panels. */
extern KmStatus km_points_packed(KmContext *ctx, const KmPoints *points);

#endif
