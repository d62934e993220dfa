/*
 * thin.c: the register block of thin.h: up to four rows against a panel of 32, all sums in registers.
 */
#include "simd.h"
#include "simd/thin_ops.h"
#include "thin.h"
#include "vector.h"

#define ROWS 4
#define VECTORS 2               /* per row: ROWS x VECTORS sums fit the registers */
#define STRIP (VECTORS * KM_LANES_F32)

/* sum + x z, fused where the machine can. */
KM_INLINE vf
add_product(float x, vf z, vf sum)
{
#if KM_LANES_F32 > 4
    return vf_fma(vf_set(x), z, sum);
#else
    return x * z + sum;
#endif
}

/* Sums of `rows` rows over one strip of a panel; rows is a constant where this is inlined. */
KM_INLINE void
strip_dot(size_t rows, size_t d, const float *x, const float *strip, size_t ld, float *out)
{
    vf sum[ROWS][VECTORS] = {{{0}}};

    for (size_t k = 0; k < d; k++)
    {
        vf z0 = vf_load(strip + k * KM_THIN_WIDTH), z1 = vf_load(strip + k * KM_THIN_WIDTH + KM_LANES_F32);

        KM_UNROLL
        for (size_t r = 0; r < rows; r++)
        {
            sum[r][0] = add_product(x[r * d + k], z0, sum[r][0]);
            sum[r][1] = add_product(x[r * d + k], z1, sum[r][1]);
        }
    }
    KM_UNROLL
    for (size_t r = 0; r < rows; r++)
    {
        vf_store(out + r * ld, sum[r][0]);
        vf_store(out + r * ld + KM_LANES_F32, sum[r][1]);
    }
}

/* All m rows over one panel. */
static void
panel_dot(size_t m, size_t d, const float *x, const float *panel, size_t ld, float *out)
{
    size_t i = 0;

    for (; i + ROWS <= m; i += ROWS)
        for (size_t j = 0; j < KM_THIN_WIDTH; j += STRIP)
            strip_dot(ROWS, d, x + i * d, panel + j, ld, out + i * ld + j);
    for (; i < m; i++)
        for (size_t j = 0; j < KM_THIN_WIDTH; j += STRIP)
            strip_dot(1, d, x + i * d, panel + j, ld, out + i * ld + j);
}

/* The last panel, of which only n rows exist. */
static void
last_panel_dot(size_t m, size_t n, size_t d, const float *x, const float *panel, size_t ld,
               float *out)
{
    float whole[ROWS * KM_THIN_WIDTH];

    for (size_t i = 0; i < m; i += ROWS)
    {
        size_t rows = m - i < ROWS ? m - i : ROWS;

        panel_dot(rows, d, x + i * d, panel, KM_THIN_WIDTH, whole);
        for (size_t r = 0; r < rows; r++)
            memcpy(out + (i + r) * ld, whole + r * KM_THIN_WIDTH, n * sizeof *out);
    }
}

static void
dot(size_t m, size_t n, size_t d, const float *x, const float *panels, size_t ld, float *out)
{
    size_t j = 0;

    for (; j + KM_THIN_WIDTH <= n; j += KM_THIN_WIDTH)
        panel_dot(m, d, x, panels + j * d, ld, out + j);
    if (j < n)
        last_panel_dot(m, n - j, d, x, panels + j * d, ld, out + j);
}

/* ---- lists ---- */

#define PANELS 2                /* beside each other, so that sums do not wait for those before */
#define PANEL_VECTORS (KM_THIN_WIDTH / KM_LANES_F32)

/* A list over `panels` panels of `size` floats; panels is a constant where this is inlined. */
KM_INLINE void
list_panels(size_t panels, KmThinList x, const float *panel, size_t size, float *out)
{
    vf sum[PANELS][PANEL_VECTORS] = {{{0}}};

    for (size_t e = 0; e < x.n; e += KM_THIN_GROUP)
        KM_UNROLL
        for (size_t k = 0; k < KM_THIN_GROUP; k++)
        {
            const float *z = panel + x.place[e + k];

            KM_UNROLL
            for (size_t p = 0; p < panels; p++)
                KM_UNROLL
                for (size_t v = 0; v < PANEL_VECTORS; v++)
                    sum[p][v] = add_product(x.value[e + k], vf_load(z + p * size + v * KM_LANES_F32),
                                            sum[p][v]);
        }
    KM_UNROLL
    for (size_t p = 0; p < panels; p++)
        KM_UNROLL
        for (size_t v = 0; v < PANEL_VECTORS; v++)
            vf_store(out + p * KM_THIN_WIDTH + v * KM_LANES_F32, sum[p][v]);
}

static void
list_dot(size_t m, size_t n, size_t d, const KmThinList *x, const float *panels, size_t ld,
         float *out)
{
    size_t size = d * KM_THIN_WIDTH, j = 0;
    float last[KM_THIN_WIDTH];

    for (; j + PANELS * KM_THIN_WIDTH <= n; j += PANELS * KM_THIN_WIDTH)
        for (size_t i = 0; i < m; i++)
            list_panels(PANELS, x[i], panels + j * d, size, out + i * ld + j);
    for (; j < n; j += KM_THIN_WIDTH)
        for (size_t i = 0; i < m; i++)
        {
            size_t left = n - j < KM_THIN_WIDTH ? n - j : KM_THIN_WIDTH;

            list_panels(1, x[i], panels + j * d, size, last);
            memcpy(out + i * ld + j, last, left * sizeof *out);
        }
}

const KmThinOps KM_VARIANT_NAME(km_thin_ops) = {.dot = dot, .list_dot = list_dot};
