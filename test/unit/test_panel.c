/*
 * test_panel.c: the scoring kernel against plain loops in the order that the
 * header promises, bit for bit, for every instruction set, shape and tail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>

#include "numbers.h"
#include "panel.h"
#include "triangle.h"
#include "variants.h"
#include "simd/panel_ops.h"

#define CANARY 12345.0

static const KmPanelOps *const ops[] = VARIANTS(km_panel_ops);

static double
one_nan(double x)
{
    return x == x ? x : (double) NAN;
}

static double
plain_pair(KmPairwise what, size_t d, const double *x, const double *z)
{
    double sum = 0;

    for (size_t k = 0; k < d; k++)
    {
        double t = x[k] - z[k];

        if (what == KM_PAIR_DOT)
            sum = fma(x[k], z[k], sum);
        else if (what == KM_PAIR_SQDIST)
            sum = fma(t, t, sum);
        else
            sum = sum + fabs(t);
    }
    return one_nan(sum);
}

static double
plain_dot(size_t n, const double *a, const double *b)
{
    double c[8] = {0};

    for (size_t j = 0; j < n; j++)
        c[j % 8] = fma(a[j], b[j], c[j % 8]);
    return one_nan(((c[0] + c[4]) + (c[2] + c[6])) + ((c[1] + c[5]) + (c[3] + c[7])));
}

static double *
random_numbers(uint64_t *state, size_t n, bool wild)
{
    double *a = malloc((n + 1) * sizeof *a);

    for (size_t i = 0; i < n; i++)
        a[i] = wild && next_bits(state) % 16 == 0 ? next_any(state) : next_uniform(state, -3, 3);
    return a;
}

/* Numbers whose lower halves are zero: what narrow panels hold. */
static double *
narrow_numbers(uint64_t *state, size_t n, bool wild)
{
    static const double odd[] = {-0.0, 0x1p-1042, -0x1p-1042, 0x1.fffffp1023, INFINITY, 0x1p21 - 1};
    double *a = malloc((n + 1) * sizeof *a);

    for (size_t i = 0; i < n; i++)
    {
        a[i] = (double) (next_bits(state) % 511) / 2 - 127;
        if (wild && next_bits(state) % 16 == 0)
            a[i] = odd[next_bits(state) % (sizeof odd / sizeof *odd)];
    }
    return a;
}

/* The words of a panel. */
static size_t
pitch_of(const KmPanel *panel)
{
    return 8 * (panel->narrow ? (panel->d + 1) / 2 : panel->d);
}

/* All pairs of m queries with columns j0..n-1, and that nothing else is written. */
static void
check_pairs(const KmPanelOps *ops, const KmPanel *panel, KmPairwise what, size_t m, const double *x,
            const double *z, size_t j0)
{
    size_t d = panel->d, pitch = pitch_of(panel);
    size_t nj = panel->n - j0, panels = (nj + 7) / 8, ld = panels * 8 + 3;
    double *out = malloc(((m + 1) * ld) * sizeof *out);

    for (size_t i = 0; i < (m + 1) * ld; i++)
        out[i] = CANARY;
    ops->pairwise[what](&(KmPanelBlock) {.narrow = panel->narrow, .m = m, .panels = panels, .d = d, .ldx = d,
                                         .pitch = pitch, .ld = ld, .x = x, .z = panel->data + j0 / 8 * pitch,
                                         .out = out});
    for (size_t i = 0; i < m; i++)
    {
        for (size_t j = 0; j < nj; j++)
            assert_bits(out[i * ld + j], plain_pair(what, d, x + i * d, z + (j0 + j) * d));
        for (size_t j = panels * 8; j < ld; j++)
            assert_bits(out[i * ld + j], CANARY);
    }
    for (size_t j = 0; j < ld; j++)
        assert_bits(out[m * ld + j], CANARY);
    free(out);
}

static void
check_shape_of(KmContext *ctx, uint64_t *state, size_t m, size_t n, size_t d, bool wild, bool narrow)
{
    size_t j0 = n > 8 ? next_bits(state) % (n / 8) * 8 : 0;
    double *x = random_numbers(state, m * d, wild);
    double *z = (narrow ? narrow_numbers : random_numbers)(state, n * d, wild);
    KmPanel panel;

    assert_int_equal(km_panel_create(ctx, n, d, z, &panel), KM_OK);
    assert_true(panel.narrow == narrow || (wild && !narrow));
    for (size_t t = 0; t < n_variants(); t++)
        for (int what = 0; what < KM_PAIR_COUNT; what++)
        {
            check_pairs(ops[t], &panel, (KmPairwise) what, m, x, z, 0);
            check_pairs(ops[t], &panel, (KmPairwise) what, m, x, z, j0);
        }
    free(x);
    free(z);
    km_context_reset(ctx);
}

static void
check_shape(KmContext *ctx, uint64_t *state, size_t m, size_t n, size_t d, bool wild)
{
    check_shape_of(ctx, state, m, n, d, wild, false);
    check_shape_of(ctx, state, m, n, d, wild, true);
}

static void
test_pairs_have_the_bits_of_plain_loops(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    uint64_t state = 1;

    (void) unused;
    for (size_t m = 0; m <= 9; m++)
        for (size_t n = 1; n <= 35; n += 1 + m % 3)
            for (size_t d = 1; d <= 9; d++)
                check_shape(ctx, &state, m, n, d, d % 2 == 0);
    check_shape(ctx, &state, 13, 200, 33, false);
    check_shape(ctx, &state, 5, 140, 784, true);        /* several groups of panels */
    check_shape(ctx, &state, 1, 300, 17, true);
    check_shape(ctx, &state, 6, 77, 5000, false);       /* a panel larger than a group */
    km_context_destroy(ctx);
}

/* Rows of a batch, one by one and all together, with narrow and wide panels, through the public functions. */
static void
test_one_row_has_the_bits_of_a_batch(void **unused)
{
    enum { M = 11, N = 53, D = 13, LD = 56 };
    KmContext *ctx = km_context_create(SIZE_MAX);
    uint64_t state = 2;
    double *x = random_numbers(&state, M * D, false), *z = narrow_numbers(&state, N * D, false);
    double batch[M * LD], row[LD];
    KmPanel panel[2];

    (void) unused;
    assert_int_equal(km_panel_create(ctx, N, D, z, &panel[0]), KM_OK);
    assert_int_equal(km_panel_create_wide(ctx, N, D, z, &panel[1]), KM_OK);
    assert_true(panel[0].narrow && !panel[1].narrow);
    for (int what = 0; what < KM_PAIR_COUNT; what++)
    {
        km_panel_pairwise(&panel[0], (KmPairwise) what, M, x, 0, N, LD, batch);
        for (size_t i = 0; i < 2 * M; i++)
        {
            const double *query = x + i / 2 * D, *expected = batch + i / 2 * LD;

            km_panel_pairwise(&panel[i % 2], (KmPairwise) what, 1, query, 0, N, LD, row);
            assert_memory_equal(row, expected, N * sizeof *row);
            km_panel_pairwise(&panel[i % 2], (KmPairwise) what, 1, query, 16, 20, 24, row);
            assert_memory_equal(row, expected + 16, 20 * sizeof *row);
        }
    }
    free(x);
    free(z);
    km_context_destroy(ctx);
}

/* One value decides: alone, and as the last of many. */
static void
test_panels_are_narrow_where_no_bit_is_lost(void **unused)
{
    static const struct
    {
        double value;
        bool narrow;
    } table[] = {
        {0, true}, {-0.0, true}, {1, true}, {-255, true}, {0.5, true}, {0x1p21 - 1, true}, {0x1p40, true},
        {0x1p21 + 1, false}, {0x1p24 + 1, false}, {0.1, false}, {(double) 0.1f, false},
        {INFINITY, true}, {NAN, true}, {0x1.fffffp1023, true}, {0x1.fffffffffffffp1023, false},
        {0x1p-1042, true}, {0x1p-1043, false}, {0x1p-1074, false}, {-0x1p-1074, false},
    };
    enum { N = 19, D = 7 };
    KmContext *ctx = km_context_create(SIZE_MAX);
    uint64_t state = 6;
    double *z = narrow_numbers(&state, N * D, false);
    KmPanel panel;

    (void) unused;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++)
    {
        assert_int_equal(km_panel_create(ctx, 1, 1, &table[t].value, &panel), KM_OK);
        assert_true(panel.narrow == table[t].narrow);
        assert_bits(km_panel_element(&panel, 0, 0), table[t].value);
        z[N * D - 1] = table[t].value;
        assert_int_equal(km_panel_create(ctx, N, D, z, &panel), KM_OK);
        assert_true(panel.narrow == table[t].narrow);
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < D; k++)
                assert_bits(km_panel_element(&panel, j, k), z[j * D + k]);
    }
    free(z);
    km_context_destroy(ctx);
}

/* Sums over columns k0 .. k0+nk-1 of the stored rows go on from what is there. */
static void
check_products(const KmPanelOps *ops, const KmPanel *panel, const double *z, uint64_t *state, size_t m,
               size_t k0, size_t nk, bool wild)
{
    size_t n = panel->n, panels = (n + 7) / 8, ld = panels * 8 + 2, ldx = nk + 3;
    double *x = random_numbers(state, m * ldx, wild), *out = random_numbers(state, (m + 1) * ld, wild);
    double *expected = malloc((m + 1) * ld * sizeof *out);

    memcpy(expected, out, (m + 1) * ld * sizeof *out);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
        {
            double *sum = expected + i * ld + j;

            for (size_t k = 0; k < nk; k++)
                *sum = fma(x[i * ldx + k], z[j * panel->d + k0 + k], *sum);
            *sum = one_nan(*sum);
        }
    ops->add_products(&(KmPanelBlock) {.m = m, .panels = panels, .d = nk, .ldx = ldx, .pitch = 8 * panel->d,
                                       .ld = ld, .x = x, .z = panel->data + 8 * k0, .out = out});
    for (size_t i = 0; i <= m; i++)
        for (size_t j = 0; j < ld; j++)
            if (i == m || j < n || j >= panels * 8)
                assert_bits(out[i * ld + j], expected[i * ld + j]);
    free(x);
    free(out);
    free(expected);
}

static void
test_products_go_on_as_plain_loops(void **unused)
{
    enum { D = 19 };
    KmContext *ctx = km_context_create(SIZE_MAX);
    uint64_t state = 5;

    (void) unused;
    for (size_t n = 1; n <= 75; n += n < 30 ? 3 : 21)
    {
        double *z = (n % 3 == 0 ? narrow_numbers : random_numbers)(&state, n * D, n % 2 == 0);
        KmPanel panel;

        assert_int_equal(km_panel_create_wide(ctx, n, D, z, &panel), KM_OK);
        for (size_t t = 0; t < n_variants(); t++)
            for (size_t m = 0; m <= 17; m += 1 + m / 3)
                for (size_t k0 = 0; k0 < D; k0 += 6)
                    check_products(ops[t], &panel, z, &state, m, k0, next_bits(&state) % (D - k0 + 1),
                                   n % 2 == 0);
        free(z);
    }
    km_context_destroy(ctx);
}

static void
test_panels_are_padded_with_zeros(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    const double z[200] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    KmPanel panel;

    (void) unused;
    assert_int_equal(km_panel_create_wide(ctx, 10, 2, z, &panel), KM_OK);
    assert_true(panel.n == 10 && panel.d == 2);
    for (size_t j = 0; j < 16; j++)
        for (size_t k = 0; k < 2; k++)
            assert_bits(panel.data[(j / 8 * 2 + k) * 8 + j % 8], j < 10 ? z[j * 2 + k] : 0);
    assert_int_equal(km_panel_create(ctx, 6, 3, z, &panel), KM_OK);
    assert_true(panel.narrow);
    for (size_t j = 0; j < 8; j++)
        for (size_t k = 0; k < 4; k++)
            assert_bits(km_panel_element(&panel, j, k), j < 6 && k < 3 ? z[j * 3 + k] : 0);
    assert_int_equal(km_panel_create(ctx, 0, 2, z, &panel), KM_OK);
    assert_int_equal(km_panel_create(ctx, 1, SIZE_MAX / 8, z, &panel), KM_LIMIT);
    km_context_destroy(ctx);

    ctx = km_context_create(1000);
    assert_int_equal(km_panel_create(ctx, 10, 20, z, &panel), KM_MEMORY);
    km_context_destroy(ctx);
}

static double
dot(const KmPanelOps *ops, size_t n, const double *a, const double *b)
{
    double chains[KM_DOT_CHAINS] = {0};

    ops->dot_chains(1, n, n, a, b, chains);
    return km_dot_end(chains);
}

/* m rows together, in two pieces, and one by one. */
static void
check_dots(const KmPanelOps *ops, uint64_t *state, size_t m, size_t n, bool wild)
{
    size_t ld = n + n % 3, piece = n / 16 * 8;
    double *K = random_numbers(state, m * ld, wild), *coef = random_numbers(state, n, wild);
    double *chains = calloc((m + 1) * KM_DOT_CHAINS, sizeof *chains), *rows = malloc((m + 1) * sizeof *rows);

    chains[m * KM_DOT_CHAINS] = rows[m] = CANARY;
    ops->dot_chains(m, piece, ld, K, coef, chains);
    ops->dot_chains(m, n - piece, ld, K + piece, coef + piece, chains);
    km_dot_fixed_rows(m, n, ld, K, coef, rows);
    for (size_t i = 0; i < m; i++)
    {
        double expected = plain_dot(n, K + i * ld, coef);

        assert_bits(km_dot_end(chains + i * KM_DOT_CHAINS), expected);
        assert_bits(dot(ops, n, K + i * ld, coef), expected);
        assert_bits(rows[i], expected);
        assert_bits(km_dot_fixed(n, K + i * ld, coef), expected);
    }
    assert_bits(chains[m * KM_DOT_CHAINS], CANARY);
    assert_bits(rows[m], CANARY);
    free(K);
    free(coef);
    free(chains);
    free(rows);
}

static void
test_dots_have_the_bits_of_plain_loops(void **unused)
{
    uint64_t state = 4;

    (void) unused;
    for (size_t t = 0; t < n_variants(); t++)
    {
        for (size_t m = 0; m <= 19; m++)
            for (size_t n = 0; n <= 40; n++)
                check_dots(ops[t], &state, m, n, n % 4 == 3);
        check_dots(ops[t], &state, 9, 100003, false);
    }
}

/* Products that vanish to -0 stay -0 beside the padding of a tail. */
static void
test_padding_keeps_negative_zero(void **unused)
{
    double a[16], b[16];

    (void) unused;
    for (size_t j = 0; j < 16; j++)
        a[j] = 1e-200, b[j] = -1e-200;
    for (size_t t = 0; t < n_variants(); t++)
        for (size_t n = 8; n <= 16; n++)
            assert_bits(dot(ops[t], n, a, b), -0.0);
}

/* Row by row, in the order that panel.h promises. */
static void
plain_substitute(size_t n, const double *rows, double *v)
{
    for (size_t i = 0; i < n; i++)
    {
        const double *row = rows + i * (i + 1) / 2;
        size_t before = i - i % 8;

        v[i] = (v[i] - plain_dot(before, row, v)) * (1 / row[i]);
        for (size_t k = before; k < i; k++)
            v[i] = fma(-row[k] / row[i], v[k], v[i]);
    }
}

/* |b - L v| is a few ulps of |L| |v|, row by row: the order is as good as any. */
static void
check_residual(size_t n, const double *rows, const double *b, const double *v)
{
    for (size_t i = 0; i < n; i++)
    {
        long double left = b[i], scale = fabs(b[i]);

        for (size_t k = 0; k <= i; k++)
        {
            long double product = (long double) rows[i * (i + 1) / 2 + k] * v[k];

            left -= product;
            scale += fabsl(product);
        }
        assert_true(fabsl(left) <= 4 * DBL_EPSILON * scale);
    }
}

static void
check_substitution(KmContext *ctx, const KmPanelOps *ops, uint64_t *state, size_t m, size_t n)
{
    size_t ld = n + n % 3, middle = n / 16 * 8;
    double *rows = random_numbers(state, n * (n + 1) / 2, false), *b = random_numbers(state, m * ld, false);
    double *v = malloc((m * ld + 1) * sizeof *v), *one = malloc((n + 1) * sizeof *one);
    double *plain = malloc((n + 1) * sizeof *plain);
    KmTriangle triangle;

    for (size_t i = 0; i < n; i++)
        rows[i * (i + 3) / 2] = 2 + fabs(rows[i * (i + 3) / 2]);
    assert_int_equal(km_triangle_create(ctx, n, rows, &triangle), KM_OK);
    memcpy(v, b, m * ld * sizeof *v);
    v[m * ld] = one[n] = CANARY;
    km_triangle_substitute(&triangle, 0, middle, m, ld, v);
    km_triangle_substitute(&triangle, middle, n, m, ld, v);
    for (size_t r = 0; r < m; r++)
    {
        memcpy(one, b + r * ld, n * sizeof *one);
        memcpy(plain, one, n * sizeof *plain);
        for (size_t i = 0; i < n; i += 8)
            ops->substitute(&triangle, i, one);
        plain_substitute(n, rows, plain);
        for (size_t i = 0; i < n; i++)
        {
            assert_bits(one[i], plain[i]);
            assert_bits(v[r * ld + i], plain[i]);
        }
        check_residual(n, rows, b + r * ld, plain);
    }
    assert_bits(v[m * ld], CANARY);
    assert_bits(one[n], CANARY);
    free(rows);
    free(b);
    free(v);
    free(one);
    free(plain);
    km_context_reset(ctx);
}

static void
test_substitution_has_the_bits_of_plain_loops(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    uint64_t state = 5;

    (void) unused;
    for (size_t t = 0; t < n_variants(); t++)
        for (size_t n = 0; n <= 70; n += n < 20 ? 1 : 7)
            for (size_t m = 0; m <= 9; m += 3)
                check_substitution(ctx, ops[t], &state, m, n);
    km_context_destroy(ctx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_have_the_bits_of_plain_loops),
        cmocka_unit_test(test_one_row_has_the_bits_of_a_batch),
        cmocka_unit_test(test_panels_are_narrow_where_no_bit_is_lost),
        cmocka_unit_test(test_products_go_on_as_plain_loops),
        cmocka_unit_test(test_panels_are_padded_with_zeros),
        cmocka_unit_test(test_dots_have_the_bits_of_plain_loops),
        cmocka_unit_test(test_padding_keeps_negative_zero),
        cmocka_unit_test(test_substitution_has_the_bits_of_plain_loops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
