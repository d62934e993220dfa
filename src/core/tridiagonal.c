/*
 * tridiagonal.c: A = Q T Q' of symmetric matrices, by a reduction that can be
 * cancelled, and products with Q.
 *
 * The reduction is LAPACK's blocked Householder algorithm (dsytrd, dlatrd; Dongarra,
 * Sorensen, Hammarling 1989) for a row-major lower triangle, from the last row up:
 *   row i gives a reflector H_i = I - tau v v' with v_{i-1} = 1, kept in place of the row, and
 *   w = tau (A v) - tau/2 (w'v) v, so that H A H = A - v w' - w v';
 * a panel of reflectors is applied to the rest at once.  LAPACK's own calls would run for
 * minutes without a chance to stop.
 *
 * Q = H_{n-1} ... H_1 is applied by panels too: H_k ... H_1 = I - V' M V with the v_i as rows of V and a
 * lower triangular M (Schreiber, Van Loan 1989).
 */
#include "tridiagonal.h"

#include <limits.h>
#include <string.h>

#include "blas.h"
#include "sizes.h"

#define PANEL ((size_t) 32)     /* reflectors applied together */
#define CHUNK ((size_t) 512)    /* rows updated between polls: 0.3 Gflop at n = 10,000 */

/* ---- reduction ---- */

/* The matrix being reduced; rows top.. are finished. */
typedef struct Reduction
{
    size_t n;
    double *a;                  /* n x n, lower triangle; row r >= the current one holds v_r */
    double *w;                  /* PANEL x n: w_r at row r - base */
    size_t base, top;           /* the panel: rows base .. top-1 */
    double *d, *e;              /* diagonal (n), subdiagonal (n - 1) of T */
    double *tau;                /* n */
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
    double *v = r->a + i * n, *w = r->w + (i - r->base) * n;
    int order = (int) i, one = 1;

    dlarfg_(&order, v + i - 1, v, &one, &r->tau[i]);
    r->e[i - 1] = v[i - 1];
    v[i - 1] = 1.0;
    cblas_dsymv(CblasRowMajor, CblasLower, i, 1.0, r->a, n, v, 1, 0.0, w, 1);
    subtract_projection(r, count, i, v + n, w + n, v, w);
    subtract_projection(r, count, i, w + n, v + n, v, w);
    cblas_dscal(i, r->tau[i], w, 1);
    cblas_daxpy(i, -0.5 * r->tau[i] * cblas_ddot(i, v, 1, w, 1), v, 1, w, 1);
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

KmStatus
km_tridiagonal_reduce(KmContext *ctx, size_t n, double *a, KmTridiagonal *out)
{
    Reduction r = {.n = n, .a = a};

    if (n > INT_MAX)
        return km_fail(ctx, KM_LIMIT, "a matrix of %zu rows is too large for eigenvalues", n);
    KM_TRY(km_alloc(ctx, n, &r.d));
    KM_TRY(km_alloc(ctx, n, &r.e));
    KM_TRY(km_alloc_zero(ctx, n, &r.tau));
    KM_TRY(km_alloc(ctx, PANEL * n, &r.w));
    KM_TRY(reduce_to_tridiagonal(ctx, &r));
    km_free(ctx, r.w);
    *out = (KmTridiagonal) {.n = n, .a = a, .d = r.d, .e = r.e, .tau = r.tau};
    return KM_OK;
}

void
km_tridiagonal_free(KmContext *ctx, KmTridiagonal *t)
{
    km_free(ctx, t->d);
    km_free(ctx, t->e);
    km_free(ctx, t->tau);
}

/* ---- products with Q ---- */

/* The reflectors of rows base .. base+count-1, as P = H_{base+count-1} ... H_base = I - V' M V. */
typedef struct Panel
{
    size_t count, width;        /* width: elements of a vector that they change */
    double *v;                  /* PANEL x n, the rows v_i, zeros from i on */
    double m[PANEL * PANEL];    /* lower triangular */
} Panel;

/* M, row by row: H_i (I - V' M V) has the new row -tau_i (v_i V') M, then tau_i.  V V' stands in M at
 * first. */
static void
set_triangle(const double *tau, size_t n, Panel *panel)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, panel->count, panel->width, 1.0, panel->v, n, 0.0,
                panel->m, PANEL);
    for (size_t i = 0; i < panel->count; i++)
    {
        double *row = panel->m + i * PANEL;

        cblas_dtrmv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, i, panel->m, PANEL, row, 1);
        cblas_dscal(i, -tau[i], row, 1);
        row[i] = tau[i];
    }
}

static void
set_panel(const KmTridiagonal *t, size_t base, Panel *panel)
{
    size_t n = t->n;

    panel->count = min_size(PANEL, n - base);
    panel->width = base + panel->count - 1;
    for (size_t i = 0; i < panel->count; i++)
    {
        double *v = panel->v + i * n;

        memcpy(v, t->a + (base + i) * n, (base + i) * sizeof *v);
        memset(v + base + i, 0, (panel->width - base - i) * sizeof *v);
    }
    set_triangle(t->tau + base, n, panel);
}

/* Rows of z (m x n): z := z P' = z - (z V') M' V, or z P. */
static void
apply_panel(const Panel *panel, size_t n, bool transposed, size_t m, double *z, double *work)
{
    size_t count = panel->count, width = panel->width;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, count, width, 1.0, z, n, panel->v, n, 0.0, work,
                PANEL);
    cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, transposed ? CblasNoTrans : CblasTrans, CblasNonUnit,
                m, count, 1.0, panel->m, PANEL, work, PANEL);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, width, count, -1.0, work, PANEL, panel->v, n,
                1.0, z, n);
}

KmStatus
km_tridiagonal_apply(KmContext *ctx, const KmTridiagonal *t, bool transposed, size_t zeros, size_t m,
                     double *z)
{
    size_t n = t->n, panels = (n + PANEL - 1) / PANEL;
    Panel *panel;
    double *work;

    KM_TRY(km_alloc(ctx, 1, &panel));
    KM_TRY(km_alloc(ctx, PANEL * n, &panel->v));
    KM_TRY(km_alloc(ctx, CHUNK * PANEL, &work));
    for (size_t p = 0; p < panels; p++)
    {
        size_t base = (transposed ? panels - 1 - p : p) * PANEL;

        if (!transposed && base + PANEL <= zeros + 1)
            continue;
        set_panel(t, base, panel);
        for (size_t i = 0; i < m; i += CHUNK)
        {
            KM_TRY(km_poll(ctx));
            apply_panel(panel, n, transposed, min_size(CHUNK, m - i), z + i * n, work);
        }
    }
    km_free(ctx, work);
    km_free(ctx, panel->v);
    km_free(ctx, panel);
    return KM_OK;
}
