/*
 * thin.c: the register block of thin.h: up to four rows against a panel of 32, all sums in registers.
 */
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "simd.h"
#include "simd/thin_ops.h"
#include "thin.h"

#if defined(__AVX512F__)
#define WIDTH 16                /* floats per vector */
#elif defined(__AVX2__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
#define ROWS 4
#define VECTORS 2               /* per row: ROWS x VECTORS sums fit the registers */
#define STRIP (VECTORS * WIDTH)

#define INLINE static inline __attribute__((always_inline))

typedef float Vector __attribute__((vector_size(4 * WIDTH)));

INLINE Vector
load(const float *from)
{
    Vector v;

    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void
store(float *to, float scale, Vector v)
{
    v *= scale;
    memcpy(to, &v, sizeof v);
}

/* sum + x z, fused where the machine can. */
INLINE Vector
fused(float x, Vector z, Vector sum)
{
#if defined(__AVX512F__)
    return (Vector) _mm512_fmadd_ps(_mm512_set1_ps(x), (__m512) z, (__m512) sum);
#elif defined(__AVX2__)
    return (Vector) _mm256_fmadd_ps(_mm256_set1_ps(x), (__m256) z, (__m256) sum);
#else
    return x * z + sum;
#endif
}

/* Sums of `rows` rows over one strip of a panel; rows is a constant where this is inlined. */
INLINE void
strip_dot(size_t rows, size_t d, float scale, const float *x, const float *strip, size_t ld, float *out)
{
    Vector a0 = {0}, a1 = {0}, b0 = {0}, b1 = {0}, c0 = {0}, c1 = {0}, e0 = {0}, e1 = {0};

    for (size_t k = 0; k < d; k++)
    {
        Vector z0 = load(strip + k * KM_THIN_WIDTH), z1 = load(strip + k * KM_THIN_WIDTH + WIDTH);

        a0 = fused(x[k], z0, a0);
        a1 = fused(x[k], z1, a1);
        if (rows == ROWS)
        {
            b0 = fused(x[d + k], z0, b0);
            b1 = fused(x[d + k], z1, b1);
            c0 = fused(x[2 * d + k], z0, c0);
            c1 = fused(x[2 * d + k], z1, c1);
            e0 = fused(x[3 * d + k], z0, e0);
            e1 = fused(x[3 * d + k], z1, e1);
        }
    }
    store(out, scale, a0);
    store(out + WIDTH, scale, a1);
    if (rows == ROWS)
    {
        store(out + ld, scale, b0);
        store(out + ld + WIDTH, scale, b1);
        store(out + 2 * ld, scale, c0);
        store(out + 2 * ld + WIDTH, scale, c1);
        store(out + 3 * ld, scale, e0);
        store(out + 3 * ld + WIDTH, scale, e1);
    }
}

/* All m rows over one panel. */
static void
panel_dot(size_t m, size_t d, float scale, const float *x, const float *panel, size_t ld, float *out)
{
    size_t i = 0;

    for (; i + ROWS <= m; i += ROWS)
        for (size_t j = 0; j < KM_THIN_WIDTH; j += STRIP)
            strip_dot(ROWS, d, scale, x + i * d, panel + j, ld, out + i * ld + j);
    for (; i < m; i++)
        for (size_t j = 0; j < KM_THIN_WIDTH; j += STRIP)
            strip_dot(1, d, scale, x + i * d, panel + j, ld, out + i * ld + j);
}

/* The last panel, of which only n rows exist. */
static void
last_panel_dot(size_t m, size_t n, size_t d, float scale, const float *x, const float *panel, size_t ld,
               float *out)
{
    float whole[ROWS * KM_THIN_WIDTH];

    for (size_t i = 0; i < m; i += ROWS)
    {
        size_t rows = m - i < ROWS ? m - i : ROWS;

        panel_dot(rows, d, scale, x + i * d, panel, KM_THIN_WIDTH, whole);
        for (size_t r = 0; r < rows; r++)
            memcpy(out + (i + r) * ld, whole + r * KM_THIN_WIDTH, n * sizeof *out);
    }
}

static void
dot(size_t m, size_t n, size_t d, float scale, const float *x, const float *panels, size_t ld, float *out)
{
    size_t j = 0;

    for (; j + KM_THIN_WIDTH <= n; j += KM_THIN_WIDTH)
        panel_dot(m, d, scale, x, panels + j * d, ld, out + j);
    if (j < n)
        last_panel_dot(m, n - j, d, scale, x, panels + j * d, ld, out + j);
}

const KmThinOps KM_VARIANT_NAME(km_thin_ops) = {.dot = dot};
