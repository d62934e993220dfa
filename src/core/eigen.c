/*
 * eigen.c: eigenvalues and eigenvectors of symmetric matrices, and the test for
 * positive semidefiniteness.
 *
 * A tridiagonal reduction that can be cancelled (tridiagonal.h), then LAPACK on the tridiagonal matrix:
 * dsterf for values, dstemr (Dhillon, Parlett 2004) for vectors, which the reflectors turn into those of A.
 */
#include "gram.h"

#include <float.h>
#include <math.h>

#include "blas.h"
#include "cholesky.h"
#include "tridiagonal.h"

#define MAX_VECTORS ((size_t) 12500000) /* elements in one call of dstemr, which cannot stop: 1 s */

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
    KmTridiagonal t;
    int order = (int) n, info;

    KM_TRY(km_tridiagonal_reduce(ctx, n, g, &t));
    KM_TRY(km_poll(ctx));
    cblas_dcopy(n, t.d, 1, out, 1);
    dsterf_(&order, out, t.e, &info);
    km_tridiagonal_free(ctx, &t);
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

/* ---- eigenvectors ---- */

/* The k largest eigenvalues of T, descending, and their vectors as rows of z (k x n).  LAPACK gives them
 * ascending, one after the other in memory. */
static KmStatus
vectors_of_tridiagonal(KmContext *ctx, KmTridiagonal *t, size_t k, double *values, double *z)
{
    int n = (int) t->n, first = (int) (t->n - k) + 1, columns = (int) k, found, info, try_accuracy = 1;
    int work_size = 18 * n, int_size = 10 * n, *support, *int_work;
    double unused = 0.0, *work, *w;

    KM_TRY(km_alloc(ctx, t->n, &w));
    KM_TRY(km_alloc(ctx, 18 * t->n, &work));
    KM_TRY(km_alloc(ctx, 10 * t->n, &int_work));
    KM_TRY(km_alloc(ctx, 2 * k, &support));
    KM_TRY(km_poll(ctx));
    dstemr_("V", "I", &n, t->d, t->e, &unused, &unused, &first, &n, &found, w, z, &n, &columns, support,
            &try_accuracy, work, &work_size, int_work, &int_size, &info);
    if (info != 0 || found != columns)
        return km_fail(ctx, KM_SINGULAR, "the eigenvectors of a matrix of %zu rows did not converge", t->n);
    for (size_t j = 0; j < k; j++)
        values[j] = w[k - 1 - j];
    for (size_t j = 0; j < k / 2; j++)
        cblas_dswap(n, z + j * t->n, 1, z + (k - 1 - j) * t->n, 1);
    km_free(ctx, w);
    km_free(ctx, work);
    km_free(ctx, int_work);
    km_free(ctx, support);
    return KM_OK;
}

/* The first of the elements that are largest in size, to rounding, becomes positive. */
static void
fix_sign(size_t n, double *v)
{
    double largest = fabs(v[cblas_idamax(n, v, 1)]);
    size_t i = 0;

    while (fabs(v[i]) < largest * (1.0 - 1e-10))
        i++;
    if (v[i] < 0.0)
        cblas_dscal(n, -1.0, v, 1);
}

KmStatus
km_symmetric_eigenvectors(KmContext *ctx, size_t n, double *g, size_t k, double *values, double *vectors)
{
    KmTridiagonal t;
    int exponent;

    if (k == 0)
        return KM_OK;
    if (k > MAX_VECTORS / n)
    {
        km_fail(ctx, KM_LIMIT, "%zu eigenvectors of a matrix of %zu rows are too many, the limit is %zu", k,
                n, MAX_VECTORS / n);
        return km_hint(ctx, KM_LIMIT, "Ask for fewer of them.");
    }
    KM_TRY(normalise(ctx, n, g, &exponent));
    KM_TRY(km_tridiagonal_reduce(ctx, n, g, &t));
    KM_TRY(vectors_of_tridiagonal(ctx, &t, k, values, vectors));
    KM_TRY(km_tridiagonal_apply(ctx, &t, false, 0, k, vectors));
    for (size_t j = 0; j < k; j++)
    {
        values[j] = ldexp(values[j], exponent);
        fix_sign(n, vectors + j * n);
    }
    km_tridiagonal_free(ctx, &t);
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
