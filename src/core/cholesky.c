/*
 * cholesky.c: blocked right-looking Cholesky factorisation, and solves with the
 * factor, cut into BLAS calls short enough to be cancelled in between.
 *
 * A row-major lower triangle is a column-major upper one, so LAPACK's dpotrf("U")
 * factors the diagonal blocks in place.  See Golub and Van Loan, Matrix
 * Computations, 4th ed., section 4.2.6.
 */
#include "cholesky.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "sizes.h"

/* Columns factored at a time; at n = 5,000 all widths from 128 to 512 come within 4 % of dpotrf. */
#define PANEL ((size_t) 256)
/* Edge of the tiles in which the rest is updated: 0.5 Gflop a call, 10 ms at 50 Gflop/s, and large
 * enough for packing the operands (1/1024 of the work) to cost nothing. */
#define TILE ((size_t) 1024)

/* ---- factorisation ---- */

/* A block on the diagonal; *pivot as in km_cholesky_factor, within the block. */
static KmStatus
factor_diagonal(KmContext *ctx, size_t n, size_t ld, double *a, size_t *pivot)
{
    int order = (int) n, stride = (int) ld, info;

    KM_TRY(km_poll(ctx));
    dpotrf_("U", &order, a, &stride, &info);
    if (info < 0)
        return km_fail(ctx, KM_INTERNAL, "dpotrf refused its argument number %d", -info);
    *pivot = info == 0 ? n : (size_t) info - 1;
    return KM_OK;
}

/* `rows` rows below the diagonal block at column k, from row i: X L_kk' = A_ik, then the update
 * A_ij -= X L_jk' of these rows' columns to the right, up to and with their own diagonal block. */
static KmStatus
eliminate_rows(KmContext *ctx, size_t k, size_t width, size_t i, size_t rows, size_t ld, double *a)
{
    double *panel = a + i * ld + k;

    KM_TRY(km_poll(ctx));
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, width, 1.0,
                a + k * ld + k, ld, panel, ld);
    for (size_t j = k + width; j < i; j += TILE)
    {
        KM_TRY(km_poll(ctx));
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, min_size(TILE, i - j), width, -1.0, panel,
                    ld,
                    a + j * ld + k, ld, 1.0, a + i * ld + j, ld);
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, rows, width, -1.0, panel, ld, 1.0, a + i * ld + i,
                ld);
    return KM_OK;
}

KmStatus
km_cholesky_factor(KmContext *ctx, size_t n, size_t ld, double *a, size_t *pivot)
{
    if (ld > INT_MAX)
        return km_fail(ctx, KM_LIMIT, "a matrix of %zu rows is too large to factor", ld);
    *pivot = n;
    for (size_t k = 0; k < n; k += PANEL)
    {
        size_t width = min_size(PANEL, n - k), in_block = width;
        double left = (double) (n - k) / (double) n;

        KM_TRY(km_progress(ctx, "Cholesky factorisation", 1 - left * left * left, 1));
        KM_TRY(factor_diagonal(ctx, width, ld, a + k * ld + k, &in_block));
        if (in_block < width)
        {
            *pivot = k + in_block;
            return KM_OK;
        }
        for (size_t i = k + width; i < n; i += TILE)
            KM_TRY(eliminate_rows(ctx, k, width, i, min_size(TILE, n - i), ld, a));
    }
    return KM_OK;
}

/* A_ii = sum_j L_ij^2 comes back from the factor itself.  The computed pivot A_ii - sum_{j<i} L_ij^2 carries
 * rounding of about sqrt(n) ulps of A_ii. */
size_t
km_cholesky_weak_pivot(size_t n, size_t ld, const double *l)
{
    double noise = DBL_EPSILON * fmax(8.0, sqrt((double) n));

    for (size_t i = 0; i < n; i++)
    {
        const double *row = l + i * ld;
        double diagonal = cblas_ddot(i + 1, row, 1, row, 1);

        if (!(row[i] * row[i] > noise * diagonal))
            return i;
    }
    return n;
}

KmStatus
km_cholesky_factor_strict(KmContext *ctx, size_t n, size_t ld, double *a)
{
    size_t pivot;

    KM_TRY(km_cholesky_factor(ctx, n, ld, a, &pivot));
    if (pivot == n)
        pivot = km_cholesky_weak_pivot(n, ld, a);
    if (pivot == n)
        return KM_OK;
    return km_fail(ctx, KM_SINGULAR,
                   "kernel matrix of %zu rows is singular: pivot number %zu is not positive",
                   n, pivot + 1);
}

/* ---- solves ---- */

/* C -= op(A) B for a block of rows of the right-hand sides: C is m x n, B is k x n. */
static KmStatus
subtract_product(KmContext *ctx, CBLAS_TRANSPOSE trans, size_t m, size_t n, size_t k, const double *a,
                 size_t lda,
                 const double *b, size_t ldb, double *c)
{
    for (size_t k0 = 0; k0 < k; k0 += TILE)
    {
        size_t depth = min_size(TILE, k - k0);
        const double *part = trans == CblasNoTrans ? a + k0 : a + k0 * lda;

        KM_TRY(km_poll(ctx));
        if (n == 1)
            cblas_dgemv(CblasRowMajor, trans, trans == CblasNoTrans ? m : depth,
                        trans == CblasNoTrans ? depth : m,
                        -1.0, part, lda, b + k0 * ldb, ldb, 1.0, c, ldb);
        else
            cblas_dgemm(CblasRowMajor, trans, CblasNoTrans, m, n, depth, -1.0, part, lda, b + k0 * ldb, ldb,
                        1.0, c,
                        ldb);
    }
    return KM_OK;
}

/* L X = B: rows k .. k+rows-1 of X, from those above; l: these rows of L, from their first column on. */
static KmStatus
forward_rows(KmContext *ctx, size_t k, size_t rows, size_t ld, const double *l, size_t m, size_t ldb,
             double *b)
{
    for (size_t j = 0; j < m; j += TILE)
    {
        size_t columns = min_size(TILE, m - j);
        double *own = b + k * ldb + j;

        KM_TRY(subtract_product(ctx, CblasNoTrans, rows, columns, k, l, ld, b + j, ldb, own));
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, rows, columns, 1.0,
                    l + k, ld, own, ldb);
    }
    return KM_OK;
}

/* L' X = B for m <= TILE right-hand sides, by blocks of rows from the bottom. */
static KmStatus
backward_columns(KmContext *ctx, size_t n, size_t ld, const double *l, size_t m, size_t ldb, double *b)
{
    for (size_t end = n; end > 0;)
    {
        size_t k = (end - 1) / PANEL * PANEL, rows = end - k;

        KM_TRY(subtract_product(ctx, CblasTrans, rows, m, n - end, l + end * ld + k, ld, b + end * ldb, ldb,
                                b + k * ldb));
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, rows, m, 1.0,
                    l + k * ld + k, ld, b + k * ldb, ldb);
        end = k;
    }
    return KM_OK;
}

KmStatus
km_cholesky_forward(KmContext *ctx, size_t n, size_t ld, const double *l, size_t m, size_t ldb, double *b)
{
    for (size_t k = 0; k < n; k += PANEL)
        KM_TRY(forward_rows(ctx, k, min_size(PANEL, n - k), ld, l + k * ld, m, ldb, b));
    return KM_OK;
}

KmStatus
km_cholesky_backward(KmContext *ctx, size_t n, size_t ld, const double *l, size_t m, size_t ldb, double *b)
{
    for (size_t j = 0; j < m; j += TILE)
        KM_TRY(backward_columns(ctx, n, ld, l, min_size(TILE, m - j), ldb, b + j));
    return KM_OK;
}

KmStatus
km_cholesky_solve(KmContext *ctx, size_t n, size_t ld, const double *l, size_t m, size_t ldb, double *b)
{
    KM_TRY(km_cholesky_forward(ctx, n, ld, l, m, ldb, b));
    return km_cholesky_backward(ctx, n, ld, l, m, ldb, b);
}

/* ---- what is read off a factor ---- */

double
km_cholesky_logdet(size_t n, size_t ld, const double *l)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += log(l[i * ld + i]);
    return 2.0 * sum;
}

/* Columns j .. j+width-1 of L^-1 are zero above row j: solve with the trailing factor only, which makes
 * n^3/3 flops in all. */
KmStatus
km_cholesky_inverse_diagonal(KmContext *ctx, size_t n, size_t ld, const double *l, double *out)
{
    double *columns;

    memset(out, 0, n * sizeof *out);
    KM_TRY(km_alloc(ctx, n * min_size(PANEL, n), &columns));
    for (size_t j = 0; j < n; j += PANEL)
    {
        size_t width = min_size(PANEL, n - j), height = n - j;

        memset(columns, 0, height * width * sizeof *columns);
        for (size_t i = 0; i < width; i++)
            columns[i * width + i] = 1.0;
        KM_TRY(km_cholesky_forward(ctx, height, ld, l + j * ld + j, width, width, columns));
        for (size_t i = 0; i < height; i++)
            for (size_t c = 0; c < width; c++)
                out[j + c] += columns[i * width + c] * columns[i * width + c];
    }
    km_free(ctx, columns);
    return KM_OK;
}

/* ---- jitter ---- */

static double
mean_diagonal(size_t n, size_t ld, const double *a)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += a[i * ld + i];
    return n > 0 ? sum / (double) n : 0.0;
}

static void
add_to_diagonal(size_t n, size_t ld, double *a, double value)
{
    for (size_t i = 0; i < n; i++)
        a[i * ld + i] += value;
}

KmStatus
km_cholesky_factor_jitter(KmContext *ctx, size_t n, size_t ld, double *a, KmRefill refill, void *state,
                          double *jitter)
{
    static const double ladder[] = {0.0, 1e-14, 1e-12, 1e-10, 1e-8};
    double mean = mean_diagonal(n, ld, a);
    size_t steps = mean > 0.0 ? sizeof ladder / sizeof *ladder : 1, pivot = n;

    for (size_t step = 0; step < steps; step++)
    {
        if (step > 0)
            KM_TRY(refill(ctx, state, a));
        *jitter = ladder[step] * mean;
        add_to_diagonal(n, ld, a, *jitter);
        KM_TRY(km_cholesky_factor(ctx, n, ld, a, &pivot));
        if (pivot == n)
            pivot = km_cholesky_weak_pivot(n, ld, a);
        if (pivot == n)
            return KM_OK;
    }
    km_fail(ctx, KM_SINGULAR,
            "matrix of %zu rows is not positive definite: its pivot number %zu is not positive", n,
            pivot + 1);
    km_detail(ctx, KM_SINGULAR, "Adding up to %g to its diagonal did not help.", *jitter);
    return km_hint(ctx, KM_SINGULAR, "Use a larger lambda or noise, or a positive definite kernel.");
}
