/*
 * eigen.c: eigenvalues of symmetric matrices by a tridiagonal reduction that can
 * be cancelled, and the test for positive semidefiniteness.
 *
 * The reduction is LAPACK's blocked Householder algorithm (dsytrd, dlatrd; Dongarra,
 * Sorensen, Hammarling 1989) for a row-major lower triangle, from the last row up:
 *   row i gives a reflector H = I - tau v v' with v_{i-1} = 1, kept in place of the row, and
 *   w = tau (A v) - tau/2 (w'v) v, so that H A H = A - v w' - w v';
 * a panel of reflectors is applied to the rest at once.  LAPACK's own calls would run for
 * minutes without a chance to stop.
 */
#include "gram.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#include "blas.h"
#include "cholesky.h"

#define PANEL ((size_t) 32)     /* reflectors applied together */
#define CHUNK ((size_t) 512)    /* rows updated between polls: 0.3 Gflop at n = 10,000 */

static size_t
min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The matrix being reduced; rows top.. are finished. */
typedef struct Reduction
{
    size_t n;
    double *a;                  /* n x n, lower triangle; row r >= the current one holds v_r */
    double *w;                  /* PANEL x n: w_r at row r - base */
    size_t base, top;           /* the panel: rows base .. top-1 */
    double *d, *e;              /* diagonal (n), subdiagonal (n - 1) of T */
} Reduction;

static const double *
panel_w(const Reduction *r, size_t row)
{
    return r->w + (row - r->base) * r->n;
}

/* y[0..m-1] -= sum over reflectors q of rows i+1 .. top-1 of  u_q[column] * s_q[0..m-1]. */
static void
subtract_outer(const Reduction *r, size_t count, size_t m, const double *s, const double *u, double *y)
{
    if (count > 0 && m > 0)
        cblas_dgemv(CblasRowMajor, CblasTrans, count, m, -1.0, s, r->n, u, r->n, 1.0, y, 1);
}

/* Row i as the reflectors of the panel leave it. */
static void
update_row(Reduction *r, size_t i)
{
    size_t count = r->top - i - 1, n = r->n;
    double *row = r->a + i * n;

    subtract_outer(r, count, i + 1, panel_w(r, i + 1), row + n + i, row);
    subtract_outer(r, count, i + 1, row + n, panel_w(r, i + 1) + i, row);
}

/* w -= S'(Q v) for the panel's rows after i: Q and S are V and W, or W and V. */
static void
subtract_projection(const Reduction *r, size_t count, size_t m, const double *q, const double *s,
                    const double *v,
                    double *w)
{
    double projection[PANEL];

    if (count == 0)
        return;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, count, m, 1.0, q, r->n, v, 1, 0.0, projection, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, count, m, -1.0, s, r->n, projection, 1, 1.0, w, 1);
}

/* The reflector of row i >= 1: e, v (in place of the row) and w. */
static void
reflect_row(Reduction *r, size_t i)
{
    size_t count = r->top - i - 1, n = r->n;
    double *v = r->a + i * n, *w = r->w + (i - r->base) * n, tau;
    int order = (int) i, one = 1;

    dlarfg_(&order, v + i - 1, v, &one, &tau);
    r->e[i - 1] = v[i - 1];
    v[i - 1] = 1.0;
    cblas_dsymv(CblasRowMajor, CblasLower, i, 1.0, r->a, n, v, 1, 0.0, w, 1);
    subtract_projection(r, count, i, v + n, w + n, v, w);
    subtract_projection(r, count, i, w + n, v + n, v, w);
    cblas_dscal(i, tau, w, 1);
    cblas_daxpy(i, -0.5 * tau * cblas_ddot(i, v, 1, w, 1), v, 1, w, 1);
}

/* A -= V'W + W'V for the rows before the panel, which has `count` reflectors. */
static KmStatus
update_rest(KmContext *ctx, const Reduction *r, size_t count)
{
    size_t n = r->n;
    const double *v = r->a + r->base * n, *w = r->w;

    for (size_t i = 0; i < r->base; i += CHUNK)
    {
        size_t rows = min_size(CHUNK, r->base - i);
        double *part = r->a + i * n;

        KM_TRY(km_poll(ctx));
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, i, count, -1.0, v + i, n, w, n, 1.0, part,
                    n);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, i, count, -1.0, w + i, n, v, n, 1.0, part,
                    n);
        cblas_dsyr2k(CblasRowMajor, CblasLower, CblasTrans, rows, count, -1.0, v + i, n, w + i, n, 1.0,
                     part + i, n);
    }
    return KM_OK;
}

static KmStatus
reduce_to_tridiagonal(KmContext *ctx, Reduction *r)
{
    for (r->top = r->n; r->top > 0; r->top = r->base)
    {
        r->base = r->top > PANEL ? r->top - PANEL : 0;
        for (size_t i = r->top; i-- > r->base;)
        {
            KM_TRY(km_poll(ctx));
            update_row(r, i);
            r->d[i] = r->a[i * r->n + i];
            if (i > 0)
                reflect_row(r, i);
        }
        KM_TRY(update_rest(ctx, r, r->top - r->base));
    }
    return KM_OK;
}

/* ---- eigenvalues ---- */

/* The largest |element| of the lower triangle. */
static double
largest_element(size_t n, const double *g)
{
    double largest = 0.0;

    for (size_t i = 0; i < n; i++)
    {
        const double *row = g + i * n;

        largest = fmax(largest, fabs(row[cblas_idamax(i + 1, row, 1)]));
    }
    return largest;
}

/* Multiply the lower triangle by a power of two that brings its largest element into [0.5, 1), so
 * that no square overflows; *exponent undoes it.  KM_RANGE if a value is not finite. */
static KmStatus
normalise(KmContext *ctx, size_t n, double *g, int *exponent)
{
    double scale;

    if (n > INT_MAX)
        return km_fail(ctx, KM_LIMIT, "a matrix of %zu rows is too large for eigenvalues", n);
    KM_TRY(km_triangle_check_finite(ctx, n, n, g, "matrix"));
    frexp(largest_element(n, g), exponent);
    if (*exponent < -1000)
        *exponent = -1000;
    scale = ldexp(1.0, -*exponent);
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_poll(ctx));
        cblas_dscal(i + 1, scale, g + i * n, 1);
    }
    return KM_OK;
}

static KmStatus
eigenvalues_of_normalised(KmContext *ctx, size_t n, double *g, double *out)
{
    Reduction r = {.n = n, .a = g, .d = out};
    int order = (int) n, info;

    KM_TRY(km_alloc(ctx, PANEL * n, &r.w));
    KM_TRY(km_alloc(ctx, n, &r.e));
    KM_TRY(reduce_to_tridiagonal(ctx, &r));
    KM_TRY(km_poll(ctx));
    dsterf_(&order, out, r.e, &info);
    km_free(ctx, r.w);
    km_free(ctx, r.e);
    if (info != 0)
        return km_fail(ctx, KM_SINGULAR, "the eigenvalues of a matrix of %zu rows did not converge", n);
    return KM_OK;
}

KmStatus
km_symmetric_eigenvalues(KmContext *ctx, size_t n, double *g, double *out)
{
    int exponent;

    if (n == 0)
        return KM_OK;
    KM_TRY(normalise(ctx, n, g, &exponent));
    KM_TRY(eigenvalues_of_normalised(ctx, n, g, out));
    for (size_t i = 0; i < n; i++)
        out[i] = ldexp(out[i], exponent);
    return KM_OK;
}

/* ---- positive semidefiniteness ---- */

/* A lower bound of the largest |eigenvalue|, by steps of the power method: |Gv| / |v| for any v; close to it
 * after few steps, as errors enter squared. */
static KmStatus
bound_norm_below(KmContext *ctx, size_t n, const double *g, double *bound)
{
    const int steps = 12;
    double *v, *gv;

    KM_TRY(km_alloc(ctx, n, &v));
    KM_TRY(km_alloc(ctx, n, &gv));
    for (size_t i = 0; i < n; i++)
        v[i] = 1.0 + 0.5 * cos((double) i);     /* no symmetry of a usual G is orthogonal to it */
    *bound = largest_element(n, g);
    for (int step = 0; step < steps; step++)
    {
        double length = cblas_dnrm2(n, v, 1), *swap = v;

        if (length == 0.0)
            break;
        KM_TRY(km_poll(ctx));
        cblas_dsymv(CblasRowMajor, CblasLower, n, 1.0 / length, g, n, v, 1, 0.0, gv, 1);
        *bound = fmax(*bound, cblas_dnrm2(n, gv, 1));
        v = gv;
        gv = swap;
    }
    km_free(ctx, v);
    km_free(ctx, gv);
    return KM_OK;
}

/* An upper bound: the Frobenius norm. */
static double
bound_norm_above(size_t n, const double *g)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
    {
        const double *row = g + i * n;

        sum += 2.0 * cblas_ddot(i, row, 1, row, 1) + row[i] * row[i];
    }
    return sqrt(sum);
}

/* Write the lower triangle again, from the upper one and the diagonal. */
static KmStatus
restore(KmContext *ctx, size_t n, double *g, const double *diagonal)
{
    cblas_dcopy(n, diagonal, 1, g, n + 1);
    return km_triangle_to_lower(ctx, n, n, g);
}

/* Is G + shift I positive definite? */
static KmStatus
is_definite(KmContext *ctx, size_t n, double *g, const double *diagonal, double shift, bool *out)
{
    size_t pivot;

    KM_TRY(restore(ctx, n, g, diagonal));
    for (size_t i = 0; i < n; i++)
        g[i * n + i] += shift;
    KM_TRY(km_cholesky_factor(ctx, n, n, g, &pivot));
    *out = pivot == n;
    return KM_OK;
}

/* The undecided case: between the bounds, or a tolerance below the rounding of a factorisation. */
static KmStatus
is_psd_by_eigenvalues(KmContext *ctx, size_t n, double *g, const double *diagonal, double tolerance,
                      bool *out)
{
    double *values;

    KM_TRY(km_alloc(ctx, n, &values));
    KM_TRY(restore(ctx, n, g, diagonal));
    KM_TRY(eigenvalues_of_normalised(ctx, n, g, values));
    *out = values[0] >= -tolerance * fmax(fabs(values[0]), fabs(values[n - 1]));
    km_free(ctx, values);
    return KM_OK;
}

KmStatus
km_symmetric_is_psd(KmContext *ctx, size_t n, double *g, double tolerance, bool *out)
{
    double below, above, *diagonal;
    int exponent;
    bool decided;

    *out = true;
    if (n == 0)
        return KM_OK;
    KM_TRY(normalise(ctx, n, g, &exponent));
    KM_TRY(bound_norm_below(ctx, n, g, &below));
    if (below == 0.0)
        return KM_OK;
    above = bound_norm_above(n, g);
    KM_TRY(km_alloc(ctx, n, &diagonal));
    cblas_dcopy(n, g, n + 1, diagonal, 1);
    KM_TRY(km_triangle_to_upper(ctx, n, n, g));

    KM_TRY(is_definite(ctx, n, g, diagonal, tolerance * below, out));
    decided = *out;
    if (!decided && tolerance > (double) n * DBL_EPSILON)
    {
        KM_TRY(is_definite(ctx, n, g, diagonal, tolerance * above, out));
        decided = !*out;
    }
    if (!decided)
        KM_TRY(is_psd_by_eigenvalues(ctx, n, g, diagonal, tolerance, out));
    km_free(ctx, diagonal);
    return KM_OK;
}
