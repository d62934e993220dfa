/*
 * cholesky_inverse.c: A^-1 from the Cholesky factor of A, in its place, by BLAS calls short enough to be
 * cancelled in between: first M = L^-1, then the lower triangle of M'M (as LAPACK's dpotri: dtrtri, dlauum).
 */
#include "cholesky.h"

#include "blas.h"
#include "sizes.h"

#define PANEL ((size_t) 256)
#define TILE ((size_t) 1024)

/* C += A B or A'B by tiles; C is m x n, the inner dimension k. */
static KmStatus
add_product(KmContext *ctx, CBLAS_TRANSPOSE trans, size_t m, size_t n, size_t k, size_t ld, const double *a,
            const double *b, double *c)
{
    for (size_t k0 = 0; k0 < k; k0 += TILE)
        for (size_t j = 0; j < n; j += TILE)
        {
            const double *left = trans == CblasNoTrans ? a + k0 : a + k0 * ld;

            KM_TRY(km_poll(ctx));
            cblas_dgemm(CblasRowMajor, trans, CblasNoTrans, m, min_size(TILE, n - j), min_size(TILE, k - k0),
                        1.0, left, ld, b + k0 * ld + j, ld, 1.0, c + j, ld);
        }
    return KM_OK;
}

/* ---- M = L^-1 ---- */

/* Rows k .. k+rows-1 of M left of the diagonal block: -M_kk (L_k,0:k M_0:k,0:k), where M above is done. */
static KmStatus
invert_rows(KmContext *ctx, size_t k, size_t rows, size_t ld, double *a)
{
    double *row = a + k * ld, *diagonal = row + k;

    for (size_t j = 0; j < k; j += PANEL)
    {
        size_t width = min_size(PANEL, k - j);

        KM_TRY(km_poll(ctx));
        cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, rows, width, 1.0,
                    a + j * ld + j, ld, row + j, ld);
        KM_TRY(add_product(ctx, CblasNoTrans, rows, width, k - j - width, ld, row + j + width,
                           a + (j + width) * ld + j, row + j));
    }
    for (size_t j = 0; j < k; j += TILE)
    {
        KM_TRY(km_poll(ctx));
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, rows,
                    min_size(TILE, k - j), -1.0, diagonal, ld, row + j, ld);
    }
    return KM_OK;
}

static KmStatus
invert_triangle(KmContext *ctx, size_t n, size_t ld, double *a)
{
    for (size_t k = 0; k < n; k += PANEL)
    {
        int rows = (int) min_size(PANEL, n - k), stride = (int) ld, info;

        KM_TRY(invert_rows(ctx, k, rows, ld, a));
        dtrtri_("U", "N", &rows, a + k * ld + k, &stride, &info);
        if (info != 0)
            return km_fail(ctx, KM_SINGULAR, "diagonal element %zu of a Cholesky factor is 0", k + info);
    }
    return KM_OK;
}

/* ---- M'M ---- */

/* Rows i .. i+rows-1 of the product, from rows i and below of M, which are still there. */
static KmStatus
multiply_rows(KmContext *ctx, size_t n, size_t i, size_t rows, size_t ld, double *a)
{
    double *row = a + i * ld, *diagonal = row + i, *below = a + (i + rows) * ld;
    int order = (int) rows, stride = (int) ld, info;
    size_t left = n - i - rows;

    for (size_t j = 0; j < i; j += TILE)
    {
        KM_TRY(km_poll(ctx));
        cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, rows,
                    min_size(TILE, i - j), 1.0, diagonal, ld, row + j, ld);
    }
    KM_TRY(add_product(ctx, CblasTrans, rows, i, left, ld, below + i, below, row));
    dlauum_("U", &order, diagonal, &stride, &info);
    KM_TRY(km_poll(ctx));
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, rows, left, 1.0, below + i, ld, 1.0, diagonal, ld);
    return KM_OK;
}

KmStatus
km_cholesky_inverse(KmContext *ctx, size_t n, size_t ld, double *a)
{
    KM_TRY(invert_triangle(ctx, n, ld, a));
    for (size_t i = 0; i < n; i += PANEL)
        KM_TRY(multiply_rows(ctx, n, i, min_size(PANEL, n - i), ld, a));
    return KM_OK;
}
