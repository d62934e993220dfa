/*
 * whitening.c: the Cholesky factor of landmarks' kernel matrix, its inverse, and products with it.
 *
 * The factor is made row by row, so that each element is one product of two rows.  Its
 * inverse U' = L^-1 is kept in bands of rows, each with the columns that can differ from 0.
 */
#include "whitening.h"

#include <math.h>
#include <string.h>

#include "kernel.h"
#include "panel.h"

#define BAND 64                 /* features in a band; a multiple of KM_PANEL_WIDTH */
#define SPANNED 1e-11           /* what is left of k(s, s), relative to it, when s is spanned by others */

struct KmWhitening
{
    size_t n, bands;
    double *upper;              /* n x n: row j is column j of L^-1, from its element j on */
    KmPanel *band;              /* rows of L^-1, all of a band with as many columns as its last has */
    double *a;                  /* KM_SCORE_ROWS x n: a band's columns of the rows that come in */
    double *z;                  /* KM_SCORE_ROWS x BAND */
};

/* L over the lower triangle of k; the row of a landmark that is left out is that of the identity. */
static KmStatus
factor(KmContext *ctx, size_t n, double *k)
{
    for (size_t i = 0; i < n; i++)
    {
        double *row = k + i * n, self = row[i], left;

        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j < i; j++)
            row[j] = (row[j] - km_dot_fixed(j, row, k + j * n)) / k[j * n + j];
        left = self - km_dot_fixed(i, row, row);
        row[i] = sqrt(left);
        if (left > SPANNED * self)
            continue;
        memset(row, 0, i * sizeof *row);
        row[i] = INFINITY;
    }
    return KM_OK;
}

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

static KmStatus
make_bands(KmContext *ctx, KmWhitening *whitening)
{
    size_t n = whitening->n;
    double *rows;

    whitening->bands = (n + BAND - 1) / BAND;
    KM_TRY(km_alloc(ctx, whitening->bands, &whitening->band));
    KM_TRY(km_alloc(ctx, BAND * n, &rows));
    for (size_t b = 0; b < whitening->bands; b++)
    {
        size_t first = b * BAND, last = n - first < BAND ? n : first + BAND;

        for (size_t i = first; i < last; i++)
            for (size_t j = 0; j < last; j++)
                rows[(i - first) * last + j] = j <= i ? whitening->upper[j * n + i] : 0;
        KM_TRY(km_panel_create(ctx, last - first, last, rows, &whitening->band[b]));
    }
    km_free(ctx, rows);
    KM_TRY(km_alloc(ctx, KM_SCORE_ROWS * n, &whitening->a));
    return km_alloc(ctx, KM_SCORE_ROWS * BAND, &whitening->z);
}

KmStatus
km_whitening_create(KmContext *ctx, size_t n, double *k, KmWhitening **out)
{
    KM_TRY(km_alloc_zero(ctx, 1, out));
    (*out)->n = n;
    KM_TRY(km_alloc_bytes(ctx, n, n * sizeof(double), (void **) &(*out)->upper));
    KM_TRY(factor(ctx, n, k));
    KM_TRY(invert(ctx, n, k, (*out)->upper));
    return make_bands(ctx, *out);
}

void
km_whitening_apply(const KmWhitening *whitening, size_t m, size_t ld, const double *a, double *z)
{
    for (size_t b = 0; b < whitening->bands; b++)
    {
        const KmPanel *band = &whitening->band[b];

        for (size_t i = 0; i < m; i++)
            memcpy(whitening->a + i * band->d, a + i * ld, band->d * sizeof *a);
        km_panel_pairwise(band, KM_PAIR_DOT, m, whitening->a, 0, band->n, BAND, whitening->z);
        for (size_t i = 0; i < m; i++)
            memcpy(z + i * whitening->n + b * BAND, whitening->z + i * BAND, band->n * sizeof *z);
    }
}

void
km_whitening_pull(const KmWhitening *whitening, size_t m, const double *c, double *out)
{
    size_t n = whitening->n;

    for (size_t j = 0; j < n; j++)
        for (size_t t = 0; t < m; t++)
        {
            double sum = 0;

            for (size_t i = j; i < n; i++)
                sum += whitening->upper[j * n + i] * c[i * m + t];
            out[j * m + t] = sum;
        }
}
