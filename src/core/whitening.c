/*
 * whitening.c: the Cholesky factor of landmarks' kernel matrix, its inverse, and products with it.
 *
 * The factor is made column by column: each element is one product of two rows.  Its inverse is made when
 * rows are first to be mapped, and kept in bands of rows, each with the columns that can differ from 0.
 */
#include "whitening.h"

#include <math.h>
#include <string.h>

#include "cholesky.h"
#include "kernel.h"
#include "panel.h"

#define BAND 64                 /* features in a band; a multiple of KM_PANEL_WIDTH */
#define SPANNED 1e-11           /* what is left of k(s, s), relative to it, when s is spanned by others */

struct KmWhitening
{
    size_t n, bands;
    double *l;                  /* n x n, lower triangle: L */
    KmPanel *band;              /* rows of L^-1, all of a band with as many columns as its last; or NULL */
    double *a;                  /* KM_SCORE_ROWS x n: a band's columns of the rows that come in */
    double *z;                  /* KM_SCORE_ROWS x BAND */
};

/* ---- the factor ---- */

/* L_jj; the row of a landmark that is left out becomes that of the identity, with an infinite pivot. */
static void
set_pivot(size_t j, double *row)
{
    double self = row[j], left = self - km_dot_fixed(j, row, row);

    row[j] = sqrt(left);
    if (left > SPANNED * self)
        return;
    memset(row, 0, j * sizeof *row);
    row[j] = INFINITY;
}

/* L over the lower triangle of k; products: room for n. */
static KmStatus
factor(KmContext *ctx, size_t n, double *k, double *products)
{
    for (size_t j = 0; j < n; j++)
    {
        double *row = k + j * n;

        KM_TRY(km_poll(ctx));
        set_pivot(j, row);
        km_dot_fixed_rows(n - j - 1, j, n, row + n, row, products);
        for (size_t i = j + 1; i < n; i++)
            k[i * n + j] = (k[i * n + j] - products[i - j - 1]) / row[j];
    }
    return KM_OK;
}

KmStatus
km_whitening_create(KmContext *ctx, size_t n, double *k, KmWhitening **out)
{
    double *products;

    KM_TRY(km_alloc_zero(ctx, 1, out));
    KM_TRY(km_alloc(ctx, n, &products));
    (*out)->n = n;
    (*out)->l = k;
    KM_TRY(factor(ctx, n, k, products));
    km_free(ctx, products);
    return KM_OK;
}

/* ---- its inverse ---- */

/* Column j of L^-1, u_j: u_jj = 1 / L_jj, u_ij = -(sum_{j <= l < i} L_il u_lj) / L_ii. An infinite pivot
 * gives zeros: in its own column, and, because its row is 0, in its own feature. */
static KmStatus
invert(KmContext *ctx, size_t n, const double *l, double *upper)
{
    for (size_t j = 0; j < n; j++)
    {
        double *u = upper + j * n;

        KM_TRY(km_poll(ctx));
        memset(u, 0, n * sizeof *u);
        u[j] = 1 / l[j * n + j];
        for (size_t i = j + 1; i < n; i++)
            u[i] = -km_dot_fixed(i - j, l + i * n + j, u + j) / l[i * n + i];
    }
    return KM_OK;
}

/* Rows first … last-1 of L^-1, from its columns (upper: row j is column j). */
static void
copy_band(size_t n, const double *upper, size_t first, size_t last, double *rows)
{
    for (size_t i = first; i < last; i++)
        for (size_t j = 0; j < last; j++)
            rows[(i - first) * last + j] = j <= i ? upper[j * n + i] : 0;
}

static KmStatus
make_bands(KmContext *ctx, KmWhitening *whitening)
{
    size_t n = whitening->n;
    double *upper, *rows;

    KM_TRY(km_alloc_bytes(ctx, n, n * sizeof *upper, (void **) &upper));
    KM_TRY(km_alloc(ctx, BAND * n, &rows));
    KM_TRY(invert(ctx, n, whitening->l, upper));
    whitening->bands = (n + BAND - 1) / BAND;
    KM_TRY(km_alloc(ctx, whitening->bands, &whitening->band));
    for (size_t b = 0; b < whitening->bands; b++)
    {
        size_t first = b * BAND, last = n - first < BAND ? n : first + BAND;

        copy_band(n, upper, first, last, rows);
        KM_TRY(km_panel_create(ctx, last - first, last, rows, &whitening->band[b]));
    }
    km_free(ctx, rows);
    km_free(ctx, upper);
    KM_TRY(km_alloc(ctx, KM_SCORE_ROWS * n, &whitening->a));
    return km_alloc(ctx, KM_SCORE_ROWS * BAND, &whitening->z);
}

/* ---- products ---- */

KmStatus
km_whitening_apply(KmContext *ctx, KmWhitening *whitening, size_t m, size_t ld, const double *a, double *z)
{
    if (whitening->band == NULL)
        KM_TRY(make_bands(ctx, whitening));
    for (size_t b = 0; b < whitening->bands; b++)
    {
        const KmPanel *band = &whitening->band[b];

        for (size_t i = 0; i < m; i++)
            memcpy(whitening->a + i * band->d, a + i * ld, band->d * sizeof *a);
        km_panel_pairwise(band, KM_PAIR_DOT, m, whitening->a, 0, band->n, BAND, whitening->z);
        for (size_t i = 0; i < m; i++)
            memcpy(z + i * whitening->n + b * BAND, whitening->z + i * BAND, band->n * sizeof *z);
    }
    return KM_OK;
}

KmStatus
km_whitening_push(KmContext *ctx, const KmWhitening *whitening, size_t m, double *b)
{
    return km_cholesky_forward(ctx, whitening->n, whitening->n, whitening->l, m, m, b);
}

KmStatus
km_whitening_pull(KmContext *ctx, const KmWhitening *whitening, size_t m, double *b)
{
    return km_cholesky_backward(ctx, whitening->n, whitening->n, whitening->l, m, m, b);
}

double
km_whitening_least_pivot(const KmWhitening *whitening)
{
    double least = INFINITY;

    for (size_t i = 0; i < whitening->n; i++)
        least = fmin(least, whitening->l[i * whitening->n + i]);
    return least;
}
