/*
 * panel.c: stored rows transposed into panels; scoring by the widest vectors of
 * this CPU.
 */
#include "panel.h"

#include <string.h>

#include "bits.h"
#include "simd.h"
#include "sizes.h"
#include "simd/panel_ops.h"

#define HALF 32                 /* bits */

/* Elements from one panel to the next. */
static size_t
pitch_of(const KmPanel *panel)
{
    return (panel->narrow ? panel->d / 2 + panel->d % 2 : panel->d) * KM_PANEL_WIDTH;
}

/* True if all lower halves are zero; the first row in which they are not is the last looked at. */
static KmStatus
has_upper_halves_only(KmContext *ctx, size_t n, size_t d, const double *z, bool *out)
{
    uint64_t bits = 0;

    for (size_t j = 0; j < n && (uint32_t) bits == 0; j++, z += d)
    {
        KM_TRY(km_poll_row(ctx, j, d));
        for (size_t k = 0; k < d; k++)
            bits |= km_bits_of(z[k]);
    }
    *out = (uint32_t) bits == 0;
    return KM_OK;
}

/* One panel: element (j, k) at data[k * 8 + j], missing rows zero. */
static void
fill_wide(size_t rows, size_t d, const double *z, double *data)
{
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < KM_PANEL_WIDTH; j++)
            data[k * KM_PANEL_WIDTH + j] = j < rows ? z[j * d + k] : 0;
}

/* Elements (j, k) and (j, k + 1) at data[k / 2 * 8 + j]. */
static void
fill_narrow(size_t rows, size_t d, const double *z, double *data)
{
    for (size_t k = 0; k < d; k += 2)
        for (size_t j = 0; j < KM_PANEL_WIDTH; j++, data++)
        {
            uint64_t word = j < rows ? km_bits_of(z[j * d + k]) : 0;

            if (j < rows && k + 1 < d)
                word |= km_bits_of(z[j * d + k + 1]) >> HALF;
            memcpy(data, &word, sizeof word);
        }
}

static KmStatus
fill(KmContext *ctx, const double *z, KmPanel *panel)
{
    double *data = panel->data;

    for (size_t j = 0; j < panel->n; j += KM_PANEL_WIDTH, data += pitch_of(panel))
    {
        KM_TRY(km_poll(ctx));
        (panel->narrow ? fill_narrow : fill_wide)(min_size(KM_PANEL_WIDTH, panel->n - j), panel->d,
                                                  z + j * panel->d, data);
    }
    return KM_OK;
}

static KmStatus
create(KmContext *ctx, size_t n, size_t d, const double *z, bool may_be_narrow, KmPanel *out)
{
    size_t panels = n / KM_PANEL_WIDTH + (n % KM_PANEL_WIDTH != 0), size;

    if (__builtin_mul_overflow(d, KM_PANEL_WIDTH * sizeof(double), &size))
        return km_fail(ctx, KM_LIMIT, "rows of %zu columns are too long", d);
    *out = (KmPanel) {.n = n, .d = d};
    if (may_be_narrow)
        KM_TRY(has_upper_halves_only(ctx, n, d, z, &out->narrow));
    KM_TRY(km_alloc_bytes(ctx, panels, pitch_of(out) * sizeof(double), (void **) &out->data));
    return fill(ctx, z, out);
}

KmStatus
km_panel_create(KmContext *ctx, size_t n, size_t d, const double *z, KmPanel *out)
{
    return create(ctx, n, d, z, true, out);
}

KmStatus
km_panel_create_wide(KmContext *ctx, size_t n, size_t d, const double *z, KmPanel *out)
{
    return create(ctx, n, d, z, false, out);
}

double
km_panel_element(const KmPanel *panel, size_t j, size_t k)
{
    const double *row = panel->data + j / KM_PANEL_WIDTH * pitch_of(panel) + j % KM_PANEL_WIDTH;
    uint64_t word;

    if (!panel->narrow)
        return row[k * KM_PANEL_WIDTH];
    word = km_bits_of(row[k / 2 * KM_PANEL_WIDTH]);
    return km_from_bits(k % 2 == 0 ? word >> HALF << HALF : word << HALF);
}

void
km_panel_pairwise(const KmPanel *panel, KmPairwise what, size_t m, const double *x,
                  size_t j0, size_t nj, size_t ld, double *out)
{
    const KmPanelBlock block = {
        .narrow = panel->narrow,
        .m = m,
        .panels = (nj + KM_PANEL_WIDTH - 1) / KM_PANEL_WIDTH,
        .d = panel->d,
        .ldx = panel->d,
        .pitch = pitch_of(panel),
        .ld = ld,
        .x = x,
        .z = panel->data + j0 / KM_PANEL_WIDTH * pitch_of(panel),
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
