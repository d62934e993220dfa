/* design.c: products with centred features (see design.h). */
#include "design.h"

#include <math.h>
#include <string.h>

#include "blas.h"
#include "sizes.h"

#define BLOCK_ROWS 256          /* rows at a time */
#define BAND 512                /* rows of Z'Z at a time: between polls */

static size_t
block_size(size_t n, size_t i)
{
    return min_size(n - i, BLOCK_ROWS);
}

/* An error e in the mean is harmless: it only moves the intercept of what is fitted. */
KmStatus
km_design_create(KmContext *ctx, const KmTable *table, bool centred, KmDesign *out)
{
    double total = 0;

    *out = (KmDesign) {.n = table->n, .d = table->d, .x = table->x};
    KM_TRY(km_alloc_zero(ctx, out->d, &out->mean));
    KM_TRY(km_alloc_bytes(ctx, out->d, BLOCK_ROWS * sizeof(double), (void **) &out->block));
    for (size_t i = 0; i < out->n && centred; i++)
    {
        double w = km_table_weight(table, i);

        if (i % BLOCK_ROWS == 0)
            KM_TRY(km_poll(ctx));
        total += w;
        for (size_t j = 0; j < out->d; j++)
            out->mean[j] += (out->x[i * out->d + j] - out->mean[j]) * (w / total);
    }
    return KM_OK;
}

KmStatus
km_design_times(KmContext *ctx, const KmDesign *design, size_t m, const double *v, double *out)
{
    int d = (int) design->d, width = (int) m;
    double *shift;

    KM_TRY(km_alloc(ctx, m, &shift));
    cblas_dgemv(CblasRowMajor, CblasTrans, d, width, 1, v, width, design->mean, 1, 0, shift, 1);
    for (size_t i = 0; i < design->n; i += BLOCK_ROWS)
    {
        size_t rows = block_size(design->n, i);

        KM_TRY(km_poll(ctx));
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int) rows, width, d, 1,
                    design->x + i * design->d, d, v, width, 0, out + i * m, width);
        for (size_t r = i; r < i + rows; r++)
            for (size_t t = 0; t < m; t++)
                out[r * m + t] -= shift[t];
    }
    km_free(ctx, shift);
    return KM_OK;
}

KmStatus
km_design_transposed(KmContext *ctx, const KmDesign *design, size_t m, const double *r, double *out)
{
    int d = (int) design->d, width = (int) m;
    double *sum;

    KM_TRY(km_alloc_zero(ctx, m, &sum));
    memset(out, 0, design->d * m * sizeof *out);
    for (size_t i = 0; i < design->n; i += BLOCK_ROWS)
    {
        size_t rows = block_size(design->n, i);

        KM_TRY(km_poll(ctx));
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d, width, (int) rows, 1,
                    design->x + i * design->d, d, r + i * m, width, 1, out, width);
        for (size_t k = i; k < i + rows; k++)
            for (size_t t = 0; t < m; t++)
                sum[t] += r[k * m + t];
    }
    cblas_dger(CblasRowMajor, d, width, -1, design->mean, 1, sum, 1, out, width);
    km_free(ctx, sum);
    return KM_OK;
}

KmStatus
km_add_squares(KmContext *ctx, size_t m, size_t d, size_t ldz, const double *z, size_t lda, double *a)
{
    int rows = (int) m, ld = (int) ldz;

    for (size_t i = 0; i < d; i += BAND)
    {
        int n = (int) min_size(d - i, BAND);
        double *band = a + i * lda;

        KM_TRY(km_poll(ctx));
        if (i > 0)
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, (int) i, rows, 1, z + i, ld, z, ld, 1,
                        band, (int) lda);
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, n, rows, 1, z + i, ld, 1, band + i, (int) lda);
    }
    return KM_OK;
}

KmStatus
km_design_squares(KmContext *ctx, const KmDesign *design, const double *theta, size_t ld, double *a)
{
    size_t d = design->d;

    for (size_t j = 0; j < d; j++)
        memset(a + j * ld, 0, (j + 1) * sizeof *a);
    for (size_t i = 0; i < design->n; i += BLOCK_ROWS)
    {
        size_t rows = block_size(design->n, i);

        for (size_t r = 0; r < rows; r++)
        {
            double *row = design->block + r * d;

            memcpy(row, design->x + (i + r) * d, d * sizeof *row);
            cblas_daxpy((int) d, -1, design->mean, 1, row, 1);
            cblas_dscal((int) d, sqrt(theta[i + r]), row, 1);
        }
        KM_TRY(km_add_squares(ctx, rows, d, d, design->block, ld, a));
    }
    return KM_OK;
}
