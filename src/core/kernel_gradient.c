/*
 * kernel_gradient.c: sum_ij W_ij dK_ij/dtheta for all parameters theta of a kernel, by tiles.
 *
 * For each row of a tile the values of all nodes of the expression are kept (KmPairs.tape); then W_ij is
 * pulled back through the tree, child = parent * d(parent)/d(child), and arrives at each leaf as a weight
 * a_ij of its own dk_ij.  What normalize() divides by collects weights of its own, which are pulled back
 * through the diagonal at the end.
 *
 * Lengths of single columns: dv/dlog(length_k) = -2 (x_ik - x_jk)^2 in the leaf's scaled rows, and with
 * b = a dk/dv, r and c its sums over rows and columns,
 *   sum_ij b_ij (x_ik - z_jk)^2 = sum_i r_i x_ik^2 + sum_j c_j z_jk^2 - 2 sum_i x_ik (b z)_ik,
 * one product of matrices for all columns k.
 */
#include "kernel_gradient.h"

#include <math.h>
#include <string.h>

#include "blas.h"
#include "kernel_types.h"
#include "points.h"
#include "sizes.h"

#define COLUMNS KM_BLOCK_COLUMNS

/* What one leaf needs in a tile. */
typedef struct LeafSums
{
    const KmLeaf *leaf;
    size_t first[KM_MAX_FREE];  /* where its parameters begin in sums */
    double *v;                  /* block: geometry values */
    double *b;                  /* block: dk/dv, then a dk/dv, where columns have their own lengths or values
                                 * and slopes are made together; else NULL */
} LeafSums;

typedef struct Sweep
{
    const KmKernel *kernel;
    const KmPoints *points;
    LeafSums *leaf;
    double *sums;               /* by leaf, parameter and element, fixed ones too */
    double *k;                  /* per leaf a block: kernel values, then scratch */
    double *tape, *pull;        /* per node a row of COLUMNS: its value, its weight */
    double *slope;              /* a row */
    double *ones;               /* a row of them, for sums by dot products */
    double *self_pull;          /* n_normals x n: weights of what normalize() divides by */
    double *product;            /* block rows x widest leaf */
    KmBlock block;
    size_t row;                 /* in the block */
    size_t n;                   /* pairs in hand */
    bool self;                  /* pairs (x_j, x_j) rather than (x_row, x_j) */
} Sweep;

/* ---- leaves ---- */

/* True for the parameter that gives each column a length of its own. */
static bool
has_lengths(const KmLeaf *leaf, const KmFree *free)
{
    size_t n;

    km_free_elements(leaf, free, &n);
    return free->power != 0 && leaf->n_scale > 0 && n > 0;
}

static const double *
leaf_row(const Sweep *sweep, const KmLeaf *leaf, size_t i)
{
    const KmLeafPoints *own = &sweep->points->leaf[leaf->index];

    return own->rows + i * own->width;
}

/* rows() for the pairs in hand. */
static void
pull_rows(const Sweep *sweep, const KmLeaf *leaf, const KmFree *free, const double *b, double *g)
{
    size_t width = sweep->points->leaf[leaf->index].width, j = sweep->block.j;

    if (!sweep->self)
        free->rows(leaf, width, leaf_row(sweep, leaf, sweep->block.i + sweep->row), sweep->n,
                   leaf_row(sweep, leaf, j), b, g);
    for (size_t p = 0; p < sweep->n && sweep->self; p++)
        free->rows(leaf, width, leaf_row(sweep, leaf, j + p), 1, leaf_row(sweep, leaf, j + p), b + p, g);
}

/* One parameter, from a and b = a dk/dv. */
static void
pull_free(const Sweep *sweep, const LeafSums *sums, const KmFree *free, const double *v, const double *k,
          const double *a, const double *b, double *g)
{
    if (free->shape != NULL)
        free->shape(sums->leaf, sweep->n, v, k, a, g);
    else if (free->rows != NULL)
        pull_rows(sweep, sums->leaf, free, b, g);
    else if (!has_lengths(sums->leaf, free))
        *g += free->power * cblas_ddot(sweep->n, b, 1, v, 1);
}

/* b = a dk/dv; where values and slopes are made together b is dk/dv before, but for the diagonal, where
 * distances are 0 whatever the lengths. */
static void
set_slopes(const Sweep *sweep, const KmLeaf *leaf, const double *v, const double *k, const double *a,
           double *b)
{
    if (leaf->type->slope != NULL)
        leaf->type->slope(leaf, sweep->n, v, k, b);
    else if (leaf->type->both == NULL)
    {
        memcpy(b, a, sweep->n * sizeof *b);
        return;
    }
    else if (sweep->self)
        memset(b, 0, sweep->n * sizeof *b);
    for (size_t j = 0; j < sweep->n; j++)
        b[j] *= a[j];
}

static void
pull_leaf(const Sweep *sweep, const KmLeaf *leaf, const double *k, const double *a)
{
    const LeafSums *sums = &sweep->leaf[leaf->index];
    const double *v = sums->v + sweep->row * COLUMNS;
    double *b = sums->b == NULL || sweep->self ? sweep->slope : sums->b + sweep->row * COLUMNS;
    const KmFree *free = leaf->type->free;
    size_t n;

    if (free->name == NULL)
        return;
    set_slopes(sweep, leaf, v, k, a, b);
    for (size_t f = 0; free[f].name != NULL; f++)
    {
        km_free_elements(leaf, &free[f], &n);
        if (n > 0)
            pull_free(sweep, sums, &free[f], v, k, a, b, sweep->sums + sums->first[f]);
    }
}

/* ---- operations: the weight of a child from that of its parent ---- */

static const double *
value_of(const Sweep *sweep, const KmKernel *kernel)
{
    return sweep->tape + kernel->number * COLUMNS;
}

static void
pull_sum(const Sweep *sweep, const KmKernel *kernel, size_t child, const double *a, double *out)
{
    (void) kernel;
    (void) child;
    memcpy(out, a, sweep->n * sizeof *out);
}

static void
pull_product(const Sweep *sweep, const KmKernel *kernel, size_t child, const double *a, double *out)
{
    memcpy(out, a, sweep->n * sizeof *out);
    for (size_t i = 0; i < kernel->n; i++)
    {
        const double *value = value_of(sweep, kernel->child[i]);

        for (size_t j = 0; j < sweep->n && i != child; j++)
            out[j] *= value[j];
    }
}

static void
pull_power(const Sweep *sweep, const KmKernel *kernel, size_t child, const double *a, double *out)
{
    const double *value = value_of(sweep, kernel->child[child]);

    for (size_t j = 0; j < sweep->n; j++)
        out[j] = a[j] * kernel->exponent * km_power_whole(value[j], kernel->exponent - 1);
}

static void
pull_exp(const Sweep *sweep, const KmKernel *kernel, size_t child, const double *a, double *out)
{
    const double *value = value_of(sweep, kernel);

    (void) child;
    for (size_t j = 0; j < sweep->n; j++)
        out[j] = a[j] * value[j];
}

/* value = child / sqrt(p q); d value/dp = -value / (2p), and so for q. */
static void
pull_normalize(const Sweep *sweep, const KmKernel *kernel, size_t child, const double *a, double *out)
{
    const KmPoints *points = sweep->points;
    const double *self = points->self + kernel->normal * points->capacity, *value = value_of(sweep, kernel);
    double *self_pull = sweep->self_pull + kernel->normal * points->n;
    size_t i = sweep->block.i + sweep->row;

    (void) child;
    for (size_t p = 0, j = sweep->block.j; p < sweep->n; p++, j++)
    {
        out[p] = 0;
        if (!(self[i] > 0 && self[j] > 0))
            continue;
        out[p] = a[p] / (sqrt(self[i]) * sqrt(self[j]));
        self_pull[i] -= a[p] * value[p] / (2 * self[i]);
        self_pull[j] -= a[p] * value[p] / (2 * self[j]);
    }
}

static void (*const pulls[])(const Sweep *sweep, const KmKernel *kernel, size_t child, const double *a,
                             double *out) = {
    [KM_OP_LEAF] = NULL,
    [KM_OP_SUM] = pull_sum,
    [KM_OP_PRODUCT] = pull_product,
    [KM_OP_POWER] = pull_power,
    [KM_OP_EXP] = pull_exp,
    [KM_OP_NORMALIZE] = pull_normalize,
};

/* The diagonal of normalize() is constant. */
static void
pull_back(const Sweep *sweep, const KmKernel *kernel, const double *a)
{
    if (kernel->op == KM_OP_LEAF)
        pull_leaf(sweep, &kernel->leaf, value_of(sweep, kernel), a);
    if (kernel->op == KM_OP_NORMALIZE && sweep->self)
        return;
    for (size_t i = 0; i < kernel->n; i++)
    {
        double *out = sweep->pull + kernel->child[i]->number * COLUMNS;

        pulls[kernel->op](sweep, kernel, i, a, out);
        pull_back(sweep, kernel->child[i], out);
    }
}

/* ---- tiles of the lower triangle ---- */

/* Weights of row i of the triangle: off the diagonal they count twice, above it not at all. */
static void
set_weights(const Sweep *sweep, size_t ld, const double *W, double *a)
{
    size_t i = sweep->block.i + sweep->row;
    const double *row = W + i * ld;

    for (size_t p = 0, j = sweep->block.j; p < sweep->n; p++, j++)
        a[p] = j < i ? 2 * row[j] : j == i ? row[j] : 0;
}

static size_t
block_stride(const Sweep *sweep)
{
    return sweep->points->block_rows * COLUMNS;
}

/* Values in row i of the block, and slopes where they are made together; k: its place. */
static void
fill_leaf_row(const Sweep *sweep, const LeafSums *sums, size_t i, double *k)
{
    const KmKernelType *type = sums->leaf->type;
    const double *v = sums->v + i * COLUMNS;

    if (type->both != NULL)
    {
        type->both(sums->leaf, sweep->n, v, k, sums->b + i * COLUMNS);
        return;
    }
    memcpy(k, v, sweep->n * sizeof *k);
    if (type->map != NULL)
        type->map(sums->leaf, sweep->n, k);
}

/* Values of all leaves, kept as geometry values too. */
static KmStatus
fill_leaves(KmContext *ctx, Sweep *sweep)
{
    for (size_t l = 0; l < sweep->kernel->n_leaves; l++)
    {
        const LeafSums *sums = &sweep->leaf[l];

        KM_TRY(km_block_geometry(ctx, &sweep->block, l, COLUMNS, sums->v));
        for (size_t i = 0; i < sweep->block.m; i++)
            fill_leaf_row(sweep, sums, i, sweep->k + l * block_stride(sweep) + i * COLUMNS);
    }
    return KM_OK;
}

static void
fill_tape(const Sweep *sweep)
{
    const KmPoints *points = sweep->points;
    KmPairs pairs = {.n = sweep->n,
                     .leaf = sweep->k + sweep->row * COLUMNS, .leaf_stride = block_stride(sweep),
                     .x_self = points->self + sweep->block.i + sweep->row, .x_stride = points->capacity,
                     .z_self = points->self + sweep->block.j, .z_stride = points->capacity,
                     .tape = sweep->tape, .tape_stride = COLUMNS};

    km_kernel_combine(sweep->kernel, &pairs);
}

/* The sum in the head comment for all columns of one leaf; times power, by log(length_k). */
static void
add_lengths(const Sweep *sweep, const LeafSums *sums, double power, double *g)
{
    const KmLeafPoints *own = &sweep->points->leaf[sums->leaf->index];
    const KmBlock *block = &sweep->block;
    size_t width = own->width;
    const double *x = own->centred + block->i * width, *z = own->centred + block->j * width;
    double *columns = sweep->slope;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, block->m, width, block->n, -2 * power, sums->b,
                COLUMNS, z, width, 0, sweep->product, width);
    memset(columns, 0, block->n * sizeof *columns);
    for (size_t i = 0; i < block->m; i++)
    {
        const double *row = sums->b + i * COLUMNS;
        double sum = cblas_ddot(block->n, row, 1, sweep->ones, 1);

        cblas_daxpy(block->n, 1, row, 1, columns, 1);
        for (size_t k = 0; k < width; k++)
            g[k] += x[i * width + k] * (power * sum * x[i * width + k] + sweep->product[i * width + k]);
    }
    for (size_t j = 0; j < block->n; j++)
        for (size_t k = 0; k < width; k++)
            g[k] += power * columns[j] * z[j * width + k] * z[j * width + k];
}

static void
finish_tile(const Sweep *sweep)
{
    for (size_t l = 0; l < sweep->kernel->n_leaves; l++)
    {
        const LeafSums *sums = &sweep->leaf[l];
        const KmFree *free = sums->leaf->type->free;

        for (size_t f = 0; free[f].name != NULL && sums->b != NULL; f++)
        {
            if (has_lengths(sums->leaf, &free[f]))
                add_lengths(sweep, sums, free[f].power, sweep->sums + sums->first[f]);
        }
    }
}

static KmStatus
sweep_tile(KmContext *ctx, Sweep *sweep, size_t ld, const double *W)
{
    double *a = sweep->pull + sweep->kernel->number * COLUMNS;

    KM_TRY(km_poll(ctx));
    sweep->n = sweep->block.n;
    KM_TRY(fill_leaves(ctx, sweep));
    for (sweep->row = 0; sweep->row < sweep->block.m; sweep->row++)
    {
        fill_tape(sweep);
        set_weights(sweep, ld, W, a);
        pull_back(sweep, sweep->kernel, a);
    }
    finish_tile(sweep);
    return KM_OK;
}

static KmStatus
sweep_triangle(KmContext *ctx, Sweep *sweep, size_t ld, const double *W)
{
    const KmPoints *points = sweep->points;

    for (size_t i = 0; i < points->n; i += points->block_rows)
    {
        size_t m = min_size(points->n - i, points->block_rows);

        for (size_t j = 0; j < i + m; j += COLUMNS)
        {
            sweep->block = (KmBlock) {points, i, m, points, j, min_size(i + m - j, COLUMNS)};
            KM_TRY(sweep_tile(ctx, sweep, ld, W));
        }
    }
    return KM_OK;
}

/* ---- the diagonal, for what normalize() divides by ---- */

static void
pull_normals(const Sweep *sweep, const KmKernel *kernel)
{
    if (kernel->op == KM_OP_NORMALIZE)
        pull_back(sweep, kernel->child[0],
                  sweep->self_pull + kernel->normal * sweep->points->n + sweep->block.j);
    for (size_t i = 0; i < kernel->n; i++)
        pull_normals(sweep, kernel->child[i]);
}

/* Values of all leaves at (x_j, x_j), and of all nodes. */
static void
fill_diagonal(const Sweep *sweep)
{
    const KmPoints *points = sweep->points;
    KmPairs pairs = {.n = sweep->n, .leaf = sweep->k, .leaf_stride = block_stride(sweep),
                     .z_self = points->self + sweep->block.j, .z_stride = points->capacity,
                     .tape = sweep->tape, .tape_stride = COLUMNS};

    for (size_t l = 0; l < sweep->kernel->n_leaves; l++)
    {
        const LeafSums *sums = &sweep->leaf[l];
        const KmLeafPoints *own = &points->leaf[l];
        const double *rows = own->rows == NULL ? sums->v : own->rows + sweep->block.j * own->width;

        km_leaf_self_geometry(sums->leaf, sweep->n, own->width, rows, sums->v);
        km_leaf_self(sums->leaf, sweep->n, own->width, rows, sweep->k + l * block_stride(sweep));
    }
    km_kernel_combine_self(sweep->kernel, &pairs);
}

static KmStatus
sweep_diagonal(KmContext *ctx, Sweep *sweep)
{
    const KmPoints *points = sweep->points;

    sweep->self = true;
    sweep->row = 0;
    for (size_t j = 0; j < points->n && sweep->kernel->n_normals > 0; j += COLUMNS)
    {
        KM_TRY(km_poll(ctx));
        sweep->n = min_size(points->n - j, COLUMNS);
        sweep->block = (KmBlock) {points, j, sweep->n, points, j, sweep->n};
        fill_diagonal(sweep);
        pull_normals(sweep, sweep->kernel);
    }
    return KM_OK;
}

/* ---- the whole ---- */

/* Count the elements of a leaf's parameters into *total; a block for b where it is needed. */
static KmStatus
leaf_create(KmContext *ctx, const KmLeaf *leaf, size_t stride, size_t *total, LeafSums *out)
{
    const KmFree *free = leaf->type->free;
    size_t n;

    *out = (LeafSums) {.leaf = leaf};
    KM_TRY(km_alloc(ctx, stride, &out->v));
    if (leaf->type->both != NULL)
        KM_TRY(km_alloc(ctx, stride, &out->b));
    for (size_t f = 0; free[f].name != NULL; f++)
    {
        km_free_elements(leaf, &free[f], &n);
        out->first[f] = *total;
        *total += n;
        if (has_lengths(leaf, &free[f]) && out->b == NULL)
            KM_TRY(km_alloc(ctx, stride, &out->b));
    }
    return KM_OK;
}

static KmStatus
sweep_create(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, Sweep *sweep)
{
    size_t stride = points->block_rows * COLUMNS, total = 0;

    *sweep = (Sweep) {.kernel = kernel, .points = points};
    KM_TRY(km_alloc(ctx, kernel->n_leaves, &sweep->leaf));
    for (size_t l = 0; l < kernel->n_leaves; l++)
        KM_TRY(leaf_create(ctx, points->leaf[l].leaf, stride, &total, &sweep->leaf[l]));
    KM_TRY(km_alloc_zero(ctx, total, &sweep->sums));
    KM_TRY(km_alloc(ctx, kernel->n_leaves * stride, &sweep->k));
    KM_TRY(km_alloc(ctx, kernel->n_nodes * COLUMNS, &sweep->tape));
    KM_TRY(km_alloc(ctx, kernel->n_nodes * COLUMNS, &sweep->pull));
    KM_TRY(km_alloc(ctx, COLUMNS, &sweep->slope));
    KM_TRY(km_alloc(ctx, COLUMNS, &sweep->ones));
    for (size_t j = 0; j < COLUMNS; j++)
        sweep->ones[j] = 1;
    KM_TRY(km_alloc_zero(ctx, kernel->n_normals * points->n, &sweep->self_pull));
    return km_alloc_bytes(ctx, points->block_rows, points->d * sizeof *sweep->product,
                          (void **) &sweep->product);
}

static void
sweep_free(KmContext *ctx, Sweep *sweep)
{
    for (size_t l = 0; l < sweep->kernel->n_leaves; l++)
        km_free_all(ctx, sweep->leaf[l].v, sweep->leaf[l].b);
    km_free_all(ctx, sweep->leaf, sweep->sums, sweep->k, sweep->tape, sweep->pull, sweep->slope, sweep->ones,
                sweep->self_pull, sweep->product);
}

/* The free ones among the sums.  Those through the geometry are by the logarithm already. */
static KmStatus
gather(KmContext *ctx, const Sweep *sweep, double *out)
{
    KmParameter *parameter;
    size_t n;

    KM_TRY(km_kernel_parameters(ctx, sweep->kernel, &n, &parameter));
    for (size_t p = 0; p < n; p++)
    {
        const KmLeaf *leaf = parameter[p].leaf;
        size_t first = sweep->leaf[leaf->index].first[parameter[p].free - leaf->type->free];

        out[p] = sweep->sums[first + parameter[p].element];
        if (parameter[p].log && parameter[p].free->power == 0)
            out[p] *= parameter[p].value;
    }
    km_free(ctx, parameter);
    return KM_OK;
}

KmStatus
km_kernel_gradient(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, size_t ld, const double *W,
                   double *out)
{
    Sweep sweep;

    KM_TRY(sweep_create(ctx, kernel, points, &sweep));
    KM_TRY(sweep_triangle(ctx, &sweep, ld, W));
    KM_TRY(sweep_diagonal(ctx, &sweep));
    KM_TRY(gather(ctx, &sweep, out));
    sweep_free(ctx, &sweep);
    return KM_OK;
}
