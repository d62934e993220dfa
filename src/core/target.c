/*
 * target.c: stored rows made ready to be compared with query rows: the scoring path.
 *
 * Everything runs in the fixed order of panel.h and vmath.h, so that one row, a batch and
 * every machine give the same bits.
 */
#include "kernel_eval.h"

#include <math.h>
#include <string.h>

#include "sizes.h"

#define BLOCK KM_TARGET_BLOCK

/* One leaf's view of the stored rows. */
typedef struct Side
{
    const KmLeaf *leaf;
    size_t d;                   /* columns of its own rows */
    KmPanel panel;              /* geometries with a pairwise form */
    const double *rows;         /* n x d, with geometries that have none; others: while making ready */
    double *made;               /* memory of rows, or NULL: the caller's */
    double *x;                  /* KM_SCORE_ROWS x d: its rows of the queries */
} Side;

struct KmTarget
{
    const KmKernel *kernel;
    size_t n, d;
    size_t n_sides;             /* leaves */
    Side *side;
    double *z_self;             /* n_normals x n: what normalize() divides by */
    double *x_self;             /* n_normals x KM_SCORE_ROWS */
    double *values;             /* n_leaves x KM_SCORE_ROWS x BLOCK */
};

/* How panel.h measures a geometry; false: it does not. */
static bool
pairwise_of(KmGeometry geometry, KmPairwise *out)
{
    static const struct
    {
        bool has;
        KmPairwise what;
    } table[] = {
        [KM_GEOMETRY_DOT] = {true, KM_PAIR_DOT},
        [KM_GEOMETRY_COSINE] = {true, KM_PAIR_DOT},
        [KM_GEOMETRY_SQDIST] = {true, KM_PAIR_SQDIST},
        [KM_GEOMETRY_L1] = {true, KM_PAIR_L1},
        [KM_GEOMETRY_ROWS] = {false, KM_PAIR_DOT},
    };

    *out = table[geometry].what;
    return table[geometry].has;
}

/* ---- making ready ---- */

/* Rows that stay are copied. */
static KmStatus
side_rows(KmContext *ctx, size_t n, size_t d, const double *z, Side *side)
{
    if (side->leaf->type->geometry != KM_GEOMETRY_ROWS)
        return km_leaf_own_rows(ctx, side->leaf, n, d, z, &side->rows, &side->made);
    KM_TRY(km_alloc_bytes(ctx, n, side->d * sizeof(double), (void **) &side->made));
    side->rows = side->made;
    return km_leaf_rows(ctx, side->leaf, n, d, z, side->made);
}

static KmStatus
side_create(KmContext *ctx, const KmLeaf *leaf, size_t n, size_t d, const double *z, Side *side)
{
    KmPairwise what;

    side->leaf = leaf;
    side->d = km_leaf_dimension(leaf, d);
    KM_TRY(km_alloc(ctx, KM_SCORE_ROWS * side->d, &side->x));
    KM_TRY(side_rows(ctx, n, d, z, side));
    if (pairwise_of(leaf->type->geometry, &what))
        KM_TRY(km_panel_create(ctx, n, side->d, side->rows, &side->panel));
    return KM_OK;
}

/* Rows are kept as they are only where no panel holds them. */
static void
side_trim(KmContext *ctx, Side *side)
{
    if (side->leaf->type->geometry == KM_GEOMETRY_ROWS)
        return;
    km_free(ctx, side->made);
    side->rows = side->made = NULL;
}

static const double *
stored_rows(const Side *side, size_t i)
{
    return side->rows + i * side->d;
}

static const double *
query_rows(const Side *side, size_t i)
{
    return side->x + i * side->d;
}

/* The leaf's k(x_j, x_j) for n rows; 0 for a white kernel, because a query is no stored row. */
static void
side_self(const Side *side, size_t n, const double *rows, double *out)
{
    if (side->leaf->type->geometry == KM_GEOMETRY_SAME)
        memset(out, 0, n * sizeof *out);
    else
        km_leaf_self(side->leaf, n, side->d, rows, out);
}

/* For m stored or query rows: what normalize() divides by, into self (n_normals x stride), and k(x, x) into
 * out, unless it is NULL. */
static KmStatus
self_values(KmContext *ctx, KmTarget *target, size_t m, size_t stride,
            const double *(*rows)(const Side *side, size_t i), double *self, double *out)
{
    const double *value;

    for (size_t i = 0; i < m; i += BLOCK)
    {
        size_t n = min_size(m - i, BLOCK);
        KmPairs pairs = {.n = n, .leaf = target->values, .leaf_stride = BLOCK,
                         .z_self = self + i, .z_stride = stride};

        KM_TRY(km_poll(ctx));
        for (size_t l = 0; l < target->n_sides; l++)
            side_self(&target->side[l], n, rows(&target->side[l], i), target->values + l * BLOCK);
        value = km_kernel_combine_self(target->kernel, &pairs);
        if (out != NULL)
            memcpy(out + i, value, n * sizeof *out);
    }
    return KM_OK;
}

static KmStatus
sides_create(KmContext *ctx, KmTarget *target, const double *z)
{
    const KmLeaf **leaves;

    KM_TRY(km_alloc(ctx, target->n_sides, &leaves));
    KM_TRY(km_alloc_zero(ctx, target->n_sides, &target->side));
    km_kernel_leaves(target->kernel, leaves);
    for (size_t l = 0; l < target->n_sides; l++)
        KM_TRY(side_create(ctx, leaves[l], target->n, target->d, z, &target->side[l]));
    km_free(ctx, leaves);
    return KM_OK;
}

KmStatus
km_target_create(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d, const double *z, KmTarget **out)
{
    KmTarget *target;

    KM_TRY(km_kernel_check_ready(ctx, kernel));
    KM_TRY(km_kernel_check_dimension(ctx, kernel, d));
    KM_TRY(km_alloc_zero(ctx, 1, &target));
    *target = (KmTarget) {.kernel = kernel, .n = n, .d = d, .n_sides = kernel->n_leaves};
    KM_TRY(sides_create(ctx, target, z));
    KM_TRY(km_alloc(ctx, kernel->n_leaves * KM_SCORE_ROWS * BLOCK, &target->values));
    KM_TRY(km_alloc(ctx, kernel->n_normals * KM_SCORE_ROWS, &target->x_self));
    if (kernel->n_normals > 0)
    {
        KM_TRY(km_alloc_bytes(ctx, kernel->n_normals * sizeof(double), n, (void **) &target->z_self));
        KM_TRY(self_values(ctx, target, n, n, stored_rows, target->z_self, NULL));
    }
    for (size_t l = 0; l < target->n_sides; l++)
        side_trim(ctx, &target->side[l]);
    *out = target;
    return KM_OK;
}

void
km_target_free(KmContext *ctx, KmTarget *target)
{
    for (size_t l = 0; l < target->n_sides; l++)
    {
        km_free(ctx, target->side[l].panel.data);
        km_free(ctx, target->side[l].made);
        km_free(ctx, target->side[l].x);
    }
    km_free(ctx, target->side);
    km_free(ctx, target->z_self);
    km_free(ctx, target->x_self);
    km_free(ctx, target->values);
    km_free(ctx, target);
}

size_t
km_target_stride(const KmTarget *target)
{
    return round_up(target->n, KM_PANEL_WIDTH);
}

/* ---- values ---- */

static void
pair_values(const Side *side, size_t m, size_t j0, size_t n, size_t ld, double *out)
{
    for (size_t i = 0; i < m; i++)
        side->leaf->type->pairs(side->leaf, side->d, query_rows(side, i), n, stored_rows(side, j0),
                                out + i * ld);
}

static void
zero_values(size_t m, size_t n, size_t ld, double *out)
{
    for (size_t i = 0; i < m; i++)
        memset(out + i * ld, 0, n * sizeof *out);
}

/* Leaf values of m queries against stored rows j0..j0+n-1. */
static KmStatus
leaf_values(KmContext *ctx, const Side *side, size_t m, size_t j0, size_t n, size_t ld, double *out)
{
    const KmKernelType *type = side->leaf->type;
    KmPairwise what;

    if (pairwise_of(type->geometry, &what))
        km_panel_pairwise(&side->panel, what, m, side->x, j0, n, ld, out);
    else if (type->geometry == KM_GEOMETRY_ROWS)
        pair_values(side, m, j0, n, ld, out);
    else
        zero_values(m, n, ld, out);
    for (size_t i = 0; i < m; i++)
    {
        KM_TRY(km_leaf_check_values(ctx, side->leaf, i, j0, n, out + i * ld));
        if (type->map != NULL)
            type->map(side->leaf, n, out + i * ld);
    }
    return KM_OK;
}

/* A tree's values are made in the first leaf's; that of a kernel with one leaf is out itself. */
KmStatus
km_target_block(KmContext *ctx, KmTarget *target, size_t m, size_t j0, size_t n, size_t ld, double *out)
{
    bool in_place = target->n_sides == 1;
    const size_t leaf_stride = KM_SCORE_ROWS * BLOCK, leaf_ld = in_place ? ld : BLOCK;
    double *leaf = in_place ? out : target->values;

    for (size_t l = 0; l < target->n_sides; l++)
        KM_TRY(leaf_values(ctx, &target->side[l], m, j0, n, leaf_ld, leaf + l * leaf_stride));
    for (size_t i = 0; i < m; i++)
    {
        KmPairs pairs = {.n = n, .leaf = leaf + i * leaf_ld, .leaf_stride = leaf_stride,
                         .x_stride = KM_SCORE_ROWS, .z_stride = target->n};

        if (target->kernel->n_normals > 0)
        {
            pairs.x_self = target->x_self + i;
            pairs.z_self = target->z_self + j0;
        }
        km_kernel_combine(target->kernel, &pairs);
        if (!in_place)
            memcpy(out + i * ld, pairs.leaf, n * sizeof *out);
    }
    return KM_OK;
}

KmStatus
km_target_query(KmContext *ctx, KmTarget *target, size_t m, const double *x)
{
    for (size_t l = 0; l < target->n_sides; l++)
        KM_TRY(km_leaf_rows(ctx, target->side[l].leaf, m, target->d, x, target->side[l].x));
    if (target->kernel->n_normals > 0)
        KM_TRY(self_values(ctx, target, m, KM_SCORE_ROWS, query_rows, target->x_self, NULL));
    return KM_OK;
}

KmStatus
km_target_values(KmContext *ctx, KmTarget *target, size_t m, const double *x, size_t ld, double *out)
{
    KM_TRY(km_target_query(ctx, target, m, x));
    for (size_t j0 = 0; j0 < target->n; j0 += BLOCK)
    {
        KM_TRY(km_poll(ctx));
        KM_TRY(km_target_block(ctx, target, m, j0, min_size(target->n - j0, BLOCK), ld, out + j0));
    }
    return KM_OK;
}

KmStatus
km_target_self(KmContext *ctx, KmTarget *target, size_t m, const double *x, double *out)
{
    for (size_t l = 0; l < target->n_sides; l++)
        KM_TRY(km_leaf_rows(ctx, target->side[l].leaf, m, target->d, x, target->side[l].x));
    return self_values(ctx, target, m, KM_SCORE_ROWS, query_rows, target->x_self, out);
}

/* ---- one value ---- */

static KmStatus
check_finite(KmContext *ctx, const char *name, size_t d, const double *x)
{
    for (size_t k = 0; k < d; k++)
    {
        if (!isfinite(x[k]))
            return km_fail(ctx, KM_DATA, "element %zu of %s is %s", k + 1, name,
                           isnan(x[k]) ? "NaN" : "infinite");
    }
    return KM_OK;
}

KmStatus
km_kernel_value(KmContext *ctx, const KmKernel *kernel, size_t d, const double *x, const double *z,
                double *out)
{
    double values[KM_PANEL_WIDTH];
    KmTarget *target;

    KM_TRY(check_finite(ctx, "x", d, x));
    KM_TRY(check_finite(ctx, "z", d, z));
    KM_TRY(km_target_create(ctx, kernel, 1, d, z, &target));
    KM_TRY(km_target_values(ctx, target, 1, x, KM_PANEL_WIDTH, values));
    km_target_free(ctx, target);
    *out = values[0];
    return KM_OK;
}
