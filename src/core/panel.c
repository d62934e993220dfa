/*
 * panel.c: stored rows transposed into panels; scoring by the widest vectors of
 * this CPU.
 */
#include "panel.h"
#include "simd.h"
#include "sizes.h"
#include "simd/panel_ops.h"

/* One panel: element (j, k) at data[k * 8 + j], missing rows zero. */
static void
fill_panel(size_t rows, size_t d, const double *z, double *data)
{
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < KM_PANEL_WIDTH; j++)
            data[k * KM_PANEL_WIDTH + j] = j < rows ? z[j * d + k] : 0;
}

KmStatus
km_panel_create(KmContext *ctx, size_t n, size_t d, const double *z, KmPanel *out)
{
    size_t panels = n / KM_PANEL_WIDTH + (n % KM_PANEL_WIDTH != 0), panel_size;

    if (__builtin_mul_overflow(d, KM_PANEL_WIDTH * sizeof(double), &panel_size))
        return km_fail(ctx, KM_LIMIT, "rows of %zu columns are too long", d);

    void *data;

    KM_TRY(km_alloc_bytes(ctx, panels, panel_size, &data));
    *out = (KmPanel) {.n = n, .d = d, .data = data};
    for (size_t p = 0; p < panels; p++)
    {
        size_t first = p * KM_PANEL_WIDTH;
        size_t rows = n - first < KM_PANEL_WIDTH ? n - first : KM_PANEL_WIDTH;

        KM_TRY(km_poll(ctx));
        fill_panel(rows, d, z + first * d, out->data + first * d);
    }
    return KM_OK;
}

void
km_panel_pairwise(const KmPanel *panel, KmPairwise what, size_t m, const double *x,
                  size_t j0, size_t nj, size_t ld, double *out)
{
    const KmPanelBlock block = {
        .m = m,
        .panels = (nj + KM_PANEL_WIDTH - 1) / KM_PANEL_WIDTH,
        .d = panel->d,
        .ldx = panel->d,
        .pitch = panel->d * KM_PANEL_WIDTH,
        .ld = ld,
        .x = x,
        .z = panel->data + j0 * panel->d,
        .out = out,
    };

    KM_PICK(km_panel_ops)->pairwise[what](&block);
}

bool
km_panel_is_fast(void)
{
    return KM_PICK(km_panel_ops) != &km_panel_ops_base;
}

void
km_panel_add_products(const KmPanel *panel, size_t k0, size_t nk, size_t m, size_t ldx,
                      const double *x, size_t ld, double *out)
{
    const KmPanelBlock block = {
        .m = m,
        .panels = (panel->n + KM_PANEL_WIDTH - 1) / KM_PANEL_WIDTH,
        .d = nk,
        .ldx = ldx,
        .pitch = panel->d * KM_PANEL_WIDTH,
        .ld = ld,
        .x = x,
        .z = panel->data + k0 * KM_PANEL_WIDTH,
        .out = out,
    };

    KM_PICK(km_panel_ops)->add_products(&block);
}

void
km_dot_go_on(size_t m, size_t n, size_t ld, const double *K, const double *coef, double *chains)
{
    KM_PICK(km_panel_ops)->dot_chains(m, n, ld, K, coef, chains);
}

double
km_dot_end(const double c[KM_DOT_CHAINS])
{
    double sum = km_chains_sum(c);

    return sum == sum ? sum : __builtin_nan("");
}

double
km_dot_fixed(size_t n, const double *a, const double *b)
{
    double dot;

    km_dot_fixed_rows(1, n, n, a, b, &dot);
    return dot;
}

#define ROWS 8

void
km_dot_fixed_rows(size_t m, size_t n, size_t ld, const double *K, const double *coef, double *out)
{
    for (size_t first = 0; first < m; first += ROWS)
    {
        double chains[ROWS * KM_DOT_CHAINS] = {0};
        size_t rows = min_size(ROWS, m - first);

        km_dot_go_on(rows, n, ld, K + first * ld, coef, chains);
        for (size_t i = 0; i < rows; i++)
            out[first + i] = km_dot_end(chains + i * KM_DOT_CHAINS);
    }
}

/* The corner of rows i .. i+rows-1. */
static void
fill_corner(const KmTriangle *triangle, size_t i, size_t rows, double *corner)
{
    for (size_t r = 0; r < rows; r++)
    {
        const double *row = km_triangle_row(triangle, i + r) + i;

        for (size_t c = 0; c < r; c++)
            corner[c * KM_TRIANGLE_ROWS + r] = -row[c] / row[r];
        corner[(KM_TRIANGLE_ROWS - 1) * KM_TRIANGLE_ROWS + r] = 1.0 / row[r];
    }
}

KmStatus
km_triangle_create(KmContext *ctx, size_t n, const double *rows, KmTriangle *out)
{
    *out = (KmTriangle) {.n = n, .rows = rows};
    KM_TRY(km_alloc_zero(ctx, (n + KM_TRIANGLE_ROWS - 1) * KM_TRIANGLE_ROWS, &out->corners));
    for (size_t i = 0; i < n; i += KM_TRIANGLE_ROWS)
        fill_corner(out, i, min_size(KM_TRIANGLE_ROWS, n - i), out->corners + i * KM_TRIANGLE_ROWS);
    return KM_OK;
}

void
km_triangle_substitute(const KmTriangle *triangle, size_t first, size_t last, size_t m, size_t ld, double *v)
{
    const KmPanelOps *ops = KM_PICK(km_panel_ops);

    for (size_t i = first; i < last; i += KM_TRIANGLE_ROWS)
        for (size_t r = 0; r < m; r++)
            ops->substitute(triangle, i, v + r * ld);
}
