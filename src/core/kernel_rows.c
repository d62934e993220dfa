/*
 * kernel_rows.c: the rows of one leaf: columns chosen (dims), scaled (length scales), turned (metric) or
 * made of length 1 (cosine), in a fixed order of operations; and the leaf's diagonal.
 */
#include "kernel_eval.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "simd.h"
#include "simd/tile_ops.h"
#include "sizes.h"

/* To a sum of squares of this size, squares below DBL_MIN are nothing. */
#define LEAST_SQUARE (DBL_MIN / DBL_EPSILON / DBL_EPSILON)
#define SPAN ((size_t) 64)      /* columns at once of products of rows with themselves */

size_t
km_leaf_dimension(const KmLeaf *leaf, size_t d)
{
    if (leaf->type->geometry == KM_GEOMETRY_NONE || leaf->type->geometry == KM_GEOMETRY_SAME)
        return 0;
    return leaf->n_dims > 0 ? leaf->n_dims : d;
}

/* ---- domains; NaN, which prediction lets through, is in all of them ---- */

KmStatus
km_leaf_check_row(KmContext *ctx, const KmLeaf *leaf, size_t row, size_t d_leaf, const double *x)
{
    for (size_t k = 0; k < d_leaf && leaf->type->nonnegative; k++)
    {
        if (x[k] < 0)
            return km_fail(ctx, KM_DATA, "%s needs values >= 0, but element %zu of row %zu is %g",
                           leaf->type->signature.name, (leaf->n_dims > 0 ? leaf->dims[k] : k) + 1, row + 1,
                           x[k]);
    }
    return KM_OK;
}

KmStatus
km_leaf_check_values(KmContext *ctx, const KmLeaf *leaf, size_t i, size_t j, size_t n, const double *v)
{
    for (size_t p = 0; p < n && leaf->type->below > 0; p++)
    {
        if (v[p] >= leaf->type->below)
            return km_fail(ctx, KM_RANGE, "%s needs <x,z> < %g, but it is %g for rows %zu and %zu",
                           leaf->type->signature.name, leaf->type->below, v[p], i + 1, j + p + 1);
    }
    return KM_OK;
}

/* ---- the leaf's own rows ---- */

static void
choose_columns(const KmLeaf *leaf, size_t d_leaf, const double *x, double *out)
{
    if (leaf->n_dims == 0)
        memcpy(out, x, d_leaf * sizeof *out);
    else
        for (size_t k = 0; k < d_leaf; k++)
            out[k] = x[leaf->dims[k]];
    for (size_t k = 0; k < leaf->n_scale; k++)
        out[k] *= leaf->scale[k];
}

/* out = L'x for the chosen columns of x. */
static void
turn(const KmLeaf *leaf, const double *x, double *out)
{
    size_t d = leaf->n_factor;

    memset(out, 0, d * sizeof *out);
    for (size_t r = 0; r < d; r++)
    {
        double value = x[leaf->n_dims > 0 ? leaf->dims[r] : r];

        for (size_t k = 0; k < d; k++)
            out[k] += leaf->factor[r * d + k] * value;
    }
}

static void
divide(size_t d, double *x, double divisor)
{
    for (size_t k = 0; k < d; k++)
        x[k] /= divisor;
}

static double
sum_of_squares(size_t d, const double *x)
{
    double sum = 0;

    for (size_t k = 0; k < d; k++)
        sum += x[k] * x[k];
    return sum;
}

static double
largest_element(size_t d, const double *x)
{
    double largest = 0;

    for (size_t k = 0; k < d; k++)
        largest = fabs(x[k]) > largest ? fabs(x[k]) : largest;
    return largest;
}

/* To length 1, where squares overflow or vanish by way of a largest element of 1.  A zero row stays. */
static void
scale_to_unit(size_t d, double *x)
{
    double sum = sum_of_squares(d, x);

    if (!(sum >= LEAST_SQUARE && sum <= DBL_MAX))
    {
        double largest = largest_element(d, x);

        if (largest == 0)
            return;
        divide(d, x, largest);
        sum = sum_of_squares(d, x);
    }
    divide(d, x, sqrt(sum));
}

KmStatus
km_leaf_rows(KmContext *ctx, const KmLeaf *leaf, size_t n, size_t d, const double *x, double *out)
{
    size_t d_leaf = km_leaf_dimension(leaf, d);

    for (size_t i = 0; i < n; i++, x += d, out += d_leaf)
    {
        KM_TRY(km_poll_row(ctx, i, d));
        if (leaf->n_factor > 0)
            turn(leaf, x, out);
        else
            choose_columns(leaf, d_leaf, x, out);
        if (leaf->type->geometry == KM_GEOMETRY_COSINE)
            scale_to_unit(d_leaf, out);
        KM_TRY(km_leaf_check_row(ctx, leaf, i, d_leaf, out));
    }
    return KM_OK;
}

static bool
takes_rows_as_they_come(const KmLeaf *leaf)
{
    return leaf->n_dims == 0 && leaf->n_scale == 0 && leaf->n_factor == 0 &&
        leaf->type->geometry != KM_GEOMETRY_COSINE;
}

KmStatus
km_leaf_own_rows(KmContext *ctx, const KmLeaf *leaf, size_t n, size_t d, const double *x, const double **rows,
                 double **made)
{
    size_t d_leaf = km_leaf_dimension(leaf, d);

    *rows = x;
    *made = NULL;
    if (!takes_rows_as_they_come(leaf))
    {
        KM_TRY(km_alloc_bytes(ctx, n, d_leaf * sizeof **made, (void **) made));
        *rows = *made;
        return km_leaf_rows(ctx, leaf, n, d, x, *made);
    }
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_poll_row(ctx, i, d));
        KM_TRY(km_leaf_check_row(ctx, leaf, i, d_leaf, x + i * d));
    }
    return KM_OK;
}

/* ---- the diagonal ---- */

/* out[i] = <x_i,x_i> of n <= KM_PANEL_WIDTH rows: the diagonal of all their products, by SPAN columns. */
static void
self_dots(size_t n, size_t d, const double *x, double *out)
{
    double lanes[SPAN * KM_PANEL_WIDTH] = {0}, sums[KM_PANEL_WIDTH * KM_PANEL_WIDTH] = {0};

    for (size_t k = 0; k < d; k += SPAN)
    {
        KmPanel panel = {.n = n, .d = min_size(SPAN, d - k), .data = lanes};

        KM_PICK(km_tile_ops)->transpose(n, panel.d, d, x + k, KM_PANEL_WIDTH, lanes);
        km_panel_add_products(&panel, 0, panel.d, n, d, x + k, KM_PANEL_WIDTH, sums);
    }
    for (size_t i = 0; i < n; i++)
        out[i] = sums[i * KM_PANEL_WIDTH + i];
}

static double
self_cosine(size_t d, const double *x)
{
    for (size_t k = 0; k < d; k++)
    {
        if (x[k] != 0)
            return 1;
    }
    return 0;
}

static double
self_geometry(const KmLeaf *leaf, size_t d, const double *x)
{
    double value = 0;

    switch (leaf->type->geometry)
    {
        case KM_GEOMETRY_SAME:
            return 1;
        case KM_GEOMETRY_COSINE:
            return self_cosine(d, x);
        case KM_GEOMETRY_ROWS:
            leaf->type->pairs(leaf, d, x, 1, x, &value);
            return value;
        default:
            return 0;
    }
}

void
km_leaf_self_geometry(const KmLeaf *leaf, size_t n, size_t d_leaf, const double *rows, double *out)
{
    if (leaf->type->geometry == KM_GEOMETRY_DOT)
        for (size_t i = 0; i < n; i += KM_PANEL_WIDTH)
            self_dots(min_size(KM_PANEL_WIDTH, n - i), d_leaf, rows + i * d_leaf, out + i);
    else
        for (size_t i = 0; i < n; i++)
            out[i] = self_geometry(leaf, d_leaf, rows + i * d_leaf);
}

void
km_leaf_self(const KmLeaf *leaf, size_t n, size_t d_leaf, const double *rows, double *out)
{
    km_leaf_self_geometry(leaf, n, d_leaf, rows, out);
    if (leaf->type->map != NULL)
        leaf->type->map(leaf, n, out);
}
