/*
 * points.c: rows made ready for tiles of one kernel: each leaf's own rows, centred
 * for distances, with squared norms; and the exact diagonal.
 *
 * Centring changes no distance, but keeps the digits of |x|^2 + |z|^2 - 2<x,z> when
 * all rows lie far from the origin.
 */
#include "points.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "sizes.h"
#include "thin.h"

#define MOST_UNUSUAL 0.3        /* share of elements up to which lists of them pay … */
#define LEAST_WIDTH 16          /* … in rows of so many */
/* Squared norms up to here can be added in twos and doubled without overflow. */
#define LARGEST_NORM (DBL_MAX / 8)

static bool
is_distance(const KmLeaf *leaf)
{
    return leaf->type->geometry == KM_GEOMETRY_SQDIST;
}

/* ---- the rows of a leaf ---- */

static KmStatus
set_rows(KmContext *ctx, size_t n, size_t d, const double *x, KmLeafPoints *points)
{
    const double *rows;
    double *made;

    KM_TRY(km_leaf_own_rows(ctx, points->leaf, n, d, x, &rows, &made));
    points->rows = (double *) rows;
    points->rows_as_given = made == NULL;
    return KM_OK;
}

/* Column means, through multiples of 1/n so that large values do not overflow. */
static KmStatus
find_centre(KmContext *ctx, size_t n, KmLeafPoints *points)
{
    double *centre;

    KM_TRY(km_alloc_zero(ctx, points->width, &centre));
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_poll_row(ctx, i, points->width));
        cblas_daxpy(points->width, 1.0 / (double) n, points->rows + i * points->width, 1, centre, 1);
    }
    points->centre = centre;
    return KM_OK;
}

static double
largest_in_row(const KmLeafPoints *points, size_t i)
{
    const double *row = points->rows + i * points->width;

    return fabs(row[cblas_idamax(points->width, row, 1)]);
}

/* Of n rows.  The one to blame has the largest value: it draws the centre away from the others. */
static KmStatus
check_norm(KmContext *ctx, double norm, size_t n, const KmLeafPoints *points)
{
    size_t worst = 0;

    if (norm <= LARGEST_NORM)
        return KM_OK;
    for (size_t i = 1; i < n; i++)
        worst = largest_in_row(points, i) > largest_in_row(points, worst) ? i : worst;
    km_fail(ctx, KM_RANGE, "feature values of row %zu are too large: their squares overflow", worst + 1);
    km_detail(ctx, KM_RANGE, "The largest in absolute value is %g, as the kernel \"%s\" sees it.",
              largest_in_row(points, worst), points->leaf->type->signature.name);
    return km_hint(ctx, KM_RANGE, "Scale the features first.");
}

static KmStatus
set_centred(KmContext *ctx, size_t n, KmLeafPoints *points)
{
    size_t width = points->width;

    KM_TRY(km_alloc_bytes(ctx, n, width * sizeof *points->centred, (void **) &points->centred));
    KM_TRY(km_alloc(ctx, n, &points->norms));
    for (size_t i = 0; i < n; i++)
    {
        double *row = points->centred + i * width;

        KM_TRY(km_poll_row(ctx, i, points->width));
        for (size_t k = 0; k < width; k++)
            row[k] = points->rows[i * width + k] - points->centre[k];
        points->norms[i] = cblas_ddot(width, row, 1, row, 1);
        KM_TRY(check_norm(ctx, points->norms[i], n, points));
    }
    return KM_OK;
}

static KmStatus
check_squares(KmContext *ctx, size_t n, const KmLeafPoints *points)
{
    for (size_t i = 0; i < n; i++)
    {
        const double *row = points->rows + i * points->width;

        KM_TRY(km_poll_row(ctx, i, points->width));
        KM_TRY(check_norm(ctx, cblas_ddot(points->width, row, 1, row, 1), n, points));
    }
    return KM_OK;
}

/* like: the leaf whose centre is shared, or NULL. */
static KmStatus
leaf_points_create(KmContext *ctx, const KmLeaf *leaf, size_t n, size_t d, const double *x,
                   const KmLeafPoints *like,
                   KmLeafPoints *out)
{
    *out = (KmLeafPoints) {.leaf = leaf, .width = km_leaf_dimension(leaf, d)};
    if (out->width == 0)
        return KM_OK;
    KM_TRY(set_rows(ctx, n, d, x, out));
    if (is_distance(leaf))
    {
        if (like != NULL)
            out->centre = like->centre;
        else
            KM_TRY(find_centre(ctx, n, out));
        return set_centred(ctx, n, out);
    }
    out->centred = out->rows;
    return leaf->type->geometry == KM_GEOMETRY_DOT ? check_squares(ctx, n, out) : KM_OK;
}

/* ---- points ---- */

#define BLOCK_ELEMENTS ((size_t) 1 << 18)       /* of a block's rows, so that it takes tens of milliseconds */

/* A block's rows: the values of all leaves in the room of one full block, but not less than 16 rows; fewer of
 * very long rows, because nothing is polled within a leaf's block. */
static size_t
block_rows(const KmKernel *kernel, size_t d)
{
    size_t rows = KM_BLOCK_ROWS / kernel->n_leaves, most = BLOCK_ELEMENTS / d;

    return min_size(max_size(rows, 16), max_size(most, 4));
}

/* All but the leaves' own arrays. */
static KmStatus
points_allocate(KmContext *ctx, const KmKernel *kernel, size_t capacity, size_t d, KmPoints **out)
{
    KmPoints *points;
    size_t rows = block_rows(kernel, d);

    KM_TRY(km_alloc_zero(ctx, 1, &points));
    *points = (KmPoints) {.kernel = kernel, .d = d, .capacity = capacity, .block_rows = rows};
    KM_TRY(km_alloc(ctx, kernel->n_leaves, &points->leaf));
    KM_TRY(km_alloc(ctx, capacity, &points->diagonal));
    KM_TRY(km_alloc_bytes(ctx, kernel->n_normals, capacity * sizeof *points->self, (void **) &points->self));
    KM_TRY(km_alloc(ctx, kernel->n_leaves * rows * KM_BLOCK_COLUMNS, &points->values));
    KM_TRY(km_alloc_zero(ctx, 1, &points->single));
    *out = points;
    return KM_OK;
}

/* Room to transpose a block's rows for 1-norm distances. */
static KmStatus
reserve_panel(KmContext *ctx, const KmLeaf *leaf, KmPoints *points)
{
    if (leaf->type->geometry != KM_GEOMETRY_L1 || points->panel != NULL)
        return KM_OK;
    return km_alloc_bytes(ctx, KM_BLOCK_COLUMNS, points->d * sizeof *points->panel, (void **) &points->panel);
}

/* The diagonal, and on the way what normalize() divides by. */
static void
set_diagonal(KmPoints *points)
{
    for (size_t i = 0; i < points->n; i += KM_BLOCK_COLUMNS)
    {
        size_t count = min_size(points->n - i, KM_BLOCK_COLUMNS);
        KmPairs pairs = {.n = count, .leaf = points->values, .leaf_stride = KM_BLOCK_COLUMNS,
                         .z_self = points->self + i, .z_stride = points->capacity};

        for (size_t l = 0; l < points->kernel->n_leaves; l++)
        {
            const KmLeafPoints *own = &points->leaf[l];
            const double *rows = own->rows == NULL ? points->values : own->rows + i * own->width;

            km_leaf_self(own->leaf, count, own->width, rows, points->values + l * KM_BLOCK_COLUMNS);
        }
        memcpy(points->diagonal + i, km_kernel_combine_self(points->kernel, &pairs),
               count * sizeof *points->diagonal);
    }
}

KmStatus
km_points_create(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d, const double *x,
                 const KmPoints *like,
                 KmPoints **out)
{
    const KmLeaf **leaves;

    KM_TRY(km_kernel_check_ready(ctx, kernel));
    KM_TRY(km_kernel_check_dimension(ctx, kernel, d));
    KM_TRY(points_allocate(ctx, kernel, n, d, out));
    (*out)->n = n;
    KM_TRY(km_alloc(ctx, kernel->n_leaves, &leaves));
    km_kernel_leaves(kernel, leaves);
    for (size_t l = 0; l < kernel->n_leaves; l++)
    {
        KM_TRY(reserve_panel(ctx, leaves[l], *out));
        KM_TRY(leaf_points_create(ctx, leaves[l], n, d, x, like == NULL ? NULL : &like->leaf[l],
                                  &(*out)->leaf[l]));
    }
    km_free(ctx, leaves);
    set_diagonal(*out);
    return KM_OK;
}

static void
leaf_points_free(KmContext *ctx, KmLeafPoints *points)
{
    if (points->centred != points->rows)
        km_free(ctx, points->centred);
    if (!points->rows_as_given)
        km_free(ctx, points->rows);
    km_free(ctx, (double *) points->centre);
    km_free(ctx, points->norms);
}

static void
single_free(KmContext *ctx, KmSinglePoints *single)
{
    km_sparse_free(ctx, single->lists);
    km_free_all(ctx, single->rows, single->norms, single->panels, single->wide, single->wide_index,
                (double *) single->origin, single);
}

void
km_points_free(KmContext *ctx, KmPoints *points)
{
    if (points == NULL)
        return;
    for (size_t l = 0; l < points->kernel->n_leaves; l++)
        leaf_points_free(ctx, &points->leaf[l]);
    single_free(ctx, points->single);
    km_free_all(ctx, points->leaf, points->diagonal, points->self, points->values, points->panel, points);
}

size_t
km_points_count(const KmPoints *points)
{
    return points->n;
}

KmStatus
km_kernel_diagonal(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, double *out)
{
    (void) ctx;
    (void) kernel;
    memcpy(out, points->diagonal, points->n * sizeof *out);
    return KM_OK;
}

/* ---- gathered rows ---- */

static KmStatus
leaf_points_reserve(KmContext *ctx, const KmLeafPoints *like, size_t capacity, KmLeafPoints *out)
{
    *out = (KmLeafPoints) {.leaf = like->leaf, .width = like->width, .centre = like->centre};
    if (like->rows == NULL)
        return KM_OK;
    KM_TRY(km_alloc_bytes(ctx, capacity, like->width * sizeof *out->rows, (void **) &out->rows));
    out->centred = out->rows;
    if (!is_distance(like->leaf))
        return KM_OK;
    KM_TRY(km_alloc_bytes(ctx, capacity, like->width * sizeof *out->centred, (void **) &out->centred));
    return km_alloc(ctx, capacity, &out->norms);
}

KmStatus
km_points_reserve(KmContext *ctx, const KmPoints *like, size_t capacity, KmPoints **out)
{
    KM_TRY(points_allocate(ctx, like->kernel, capacity, like->d, out));
    for (size_t l = 0; l < like->kernel->n_leaves; l++)
    {
        KM_TRY(reserve_panel(ctx, like->leaf[l].leaf, *out));
        KM_TRY(leaf_points_reserve(ctx, &like->leaf[l], capacity, &(*out)->leaf[l]));
    }
    return KM_OK;
}

static void
gather_rows(size_t m, const size_t *row, size_t width, const double *from, double *into)
{
    for (size_t i = 0; i < m; i++)
        memcpy(into + i * width, from + row[i] * width, width * sizeof *into);
}

static void
leaf_points_gather(const KmLeafPoints *points, size_t m, const size_t *row, KmLeafPoints *into)
{
    if (points->rows == NULL)
        return;
    gather_rows(m, row, points->width, points->rows, into->rows);
    if (!is_distance(points->leaf))
        return;
    gather_rows(m, row, points->width, points->centred, into->centred);
    gather_rows(m, row, 1, points->norms, into->norms);
}

void
km_points_gather(const KmPoints *points, size_t m, const size_t *row, KmPoints *into)
{
    into->n = m;
    into->single->ready = false;
    for (size_t l = 0; l < points->kernel->n_leaves; l++)
        leaf_points_gather(&points->leaf[l], m, row, &into->leaf[l]);
    gather_rows(m, row, 1, points->diagonal, into->diagonal);
    for (size_t q = 0; q < points->kernel->n_normals; q++)
        gather_rows(m, row, 1, points->self + q * points->capacity, into->self + q * into->capacity);
}

/* ---- panels ---- */

KmStatus
km_points_panels_create(KmContext *ctx, const KmPoints *points)
{
    for (size_t l = 0; l < points->kernel->n_leaves && km_panel_is_fast(); l++)
    {
        KmLeafPoints *own = &points->leaf[l];

        if (km_points_by_products(own->leaf) || own->leaf->type->geometry == KM_GEOMETRY_L1)
            KM_TRY(km_panel_create(ctx, points->n, own->width, own->centred, &own->panel));
    }
    return KM_OK;
}

void
km_points_panels_free(KmContext *ctx, const KmPoints *points)
{
    for (size_t l = 0; l < points->kernel->n_leaves; l++)
    {
        km_free(ctx, points->leaf[l].panel.data);
        points->leaf[l].panel.data = NULL;
    }
}

/* ---- float32 ---- */

/* Rows and their norms in float32; usable if the largest norm leaves room for sums, and small ones do not
 * all drown in the subnormals. */
static KmStatus
fill_single(KmContext *ctx, const KmLeafPoints *points, size_t n, KmSinglePoints *single)
{
    size_t width = points->width;
    const double *origin = single->origin;
    double largest = 0.0;

    for (size_t i = 0; i < n; i++)
    {
        double norm = 0.0;

        KM_TRY(km_poll_row(ctx, i, width));
        for (size_t k = 0; k < width; k++)
        {
            double wide = origin == NULL ? points->centred[i * width + k]
                : points->rows[i * width + k] - origin[k];
            float value = (float) wide;

            single->rows[i * width + k] = value;
            norm += (double) value * value;
        }
        single->norms[i] = (float) norm;
        largest = fmax(largest, norm);
    }
    single->usable = largest == 0.0 || (largest >= 1e-20 && largest <= 1e30);
    single->ready = true;
    single->packed = false;
    return KM_OK;
}

static KmStatus
reserve_single(KmContext *ctx, const KmPoints *points)
{
    KmSinglePoints *single = points->single;

    if (single->rows != NULL)
        return KM_OK;
    KM_TRY(km_alloc_bytes(ctx, points->capacity, points->leaf[0].width * sizeof *single->rows,
                          (void **) &single->rows));
    return km_alloc(ctx, points->capacity, &single->norms);
}

KmStatus
km_points_single(KmContext *ctx, const KmPoints *points)
{
    if (points->single->ready)
        return KM_OK;
    KM_TRY(reserve_single(ctx, points));
    KM_TRY(fill_single(ctx, &points->leaf[0], points->n, points->single));
    points->single->wide_rows = points->leaf[0].rows;
    points->single->wide_row = NULL;
    return KM_OK;
}

KmStatus
km_points_sparse(KmContext *ctx, const KmPoints *points)
{
    const KmLeafPoints *own = &points->leaf[0];
    KmSinglePoints *single = points->single;
    double *usual, share;

    if (single->ready || !is_distance(own->leaf) || own->width < LEAST_WIDTH)
        return KM_OK;
    KM_TRY(km_alloc(ctx, own->width, &usual));
    KM_TRY(km_usual_values(ctx, points->n, own->width, own->rows, usual, &share));
    if (share > MOST_UNUSUAL)
    {
        km_free(ctx, usual);
        return KM_OK;
    }
    single->origin = usual;
    KM_TRY(km_points_single(ctx, points));
    return km_sparse_create(ctx, points->n, own->width, single->rows, &single->lists);
}

/* Float64 rows are read for small distances only, so they stay where they are. */
KmStatus
km_points_gather_f32(KmContext *ctx, const KmPoints *points, size_t m, const size_t *row, KmPoints *into)
{
    const KmLeafPoints *own = &points->leaf[0];
    KmSinglePoints *from = points->single, *to = into->single;

    KM_TRY(km_points_single(ctx, points));
    if (!km_points_by_products(own->leaf) || !from->usable)
    {
        km_points_gather(points, m, row, into);
        return KM_OK;
    }
    KM_TRY(reserve_single(ctx, into));
    if (to->wide_index == NULL)
        KM_TRY(km_alloc(ctx, into->capacity, &to->wide_index));
    to->wide_rows = from->wide_rows;
    to->lists = from->lists;
    to->wide_row = to->wide_index;
    into->n = m;
    gather_rows(m, row, 1, points->diagonal, into->diagonal);
    for (size_t i = 0; i < m; i++)
    {
        memcpy(to->rows + i * own->width, from->rows + row[i] * own->width, own->width * sizeof *to->rows);
        to->norms[i] = from->norms[row[i]];
        to->wide_index[i] = from->wide_row == NULL ? row[i] : from->wide_row[row[i]];
    }
    to->usable = to->ready = true;
    to->packed = false;
    return KM_OK;
}

KmStatus
km_points_packed(KmContext *ctx, const KmPoints *points)
{
    KmSinglePoints *single = points->single;
    size_t width = points->leaf[0].width;

    KM_TRY(km_points_single(ctx, points));
    if (single->packed)
        return KM_OK;
    if (single->panels == NULL)
        KM_TRY(km_alloc(ctx, km_thin_size(points->capacity, width), &single->panels));
    for (size_t j = 0; j < points->n; j += KM_THIN_WIDTH)
    {
        KM_TRY(km_poll_row(ctx, j / KM_THIN_WIDTH, KM_THIN_WIDTH * width));
        km_thin_pack(min_size(KM_THIN_WIDTH, points->n - j), width, single->rows + j * width,
                     single->panels + j * width);
    }
    single->packed = true;
    return KM_OK;
}
