/*
 * test_fma.c: the emulated fused multiply-add has the bits of fma() and fmaf().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "numbers.h"
#include "simd/vector.h"

#define ROUNDS 3000000

static uint64_t state = 17;

/* Numbers with few bits make exact results and ties; near 1 they cancel. */
static double
few_bits(void)
{
    return ldexp((double) (int64_t) (next_bits(&state) >> 40) - 0x1p23, (int) (next_bits(&state) % 60) - 30);
}

static void
check(vd a, vd b, vd c)
{
    double got[KM_LANES];

    vd_store(got, vd_fma(a, b, c));
    for (int i = 0; i < KM_LANES; i++)
    {
        double expected = fma(a[i], b[i], c[i]);

        if (isnan(expected))
            assert_true(isnan(got[i]));
        else
            assert_memory_equal(&got[i], &expected, sizeof expected);
    }
}

static void
check_f32(vf a, vf b, vf c)
{
    float got[KM_LANES_F32];

    vf_store(got, vf_fma(a, b, c));
    for (int i = 0; i < KM_LANES_F32; i++)
    {
        float expected = fmaf(a[i], b[i], c[i]);

        if (isnan(expected))
            assert_true(isnan(got[i]));
        else
            assert_memory_equal(&got[i], &expected, sizeof expected);
    }
}

static void
test_ordinary_numbers(void **unused)
{
    (void) unused;
    for (int round = 0; round < ROUNDS; round++)
    {
        vd a = vd_set(next_uniform(&state, -2, 2)), b = vd_set(next_uniform(&state, -2, 2));
        double scale = ldexp(1, (int) (next_bits(&state) % 240) - 120);

        check(a, b, vd_set(next_uniform(&state, -scale, scale)));
        check(a, b, -(a * b));                                  /* only the error is left */
        check(vd_set(few_bits()), vd_set(few_bits()), vd_set(few_bits()));
    }
}

/* A sum half way between doubles, but for the last bit of the product. */
static void
test_ties(void **unused)
{
    (void) unused;
    for (int round = 0; round < ROUNDS; round++)
    {
        double u = ldexp(1, -(int) (next_bits(&state) % 60));
        double c = 1 + (double) (next_bits(&state) % 64) * 0x1p-52;

        check(vd_set(0x1p-53 * (1 + u)), vd_set(1 - u), vd_set(c));
        check(vd_set(0x1p-53 * (1 - u)), vd_set(1 + u), vd_set(-c));
        check(vd_set(0x1p-53), vd_set(1 + u * 0x1p-40), vd_set(c));
    }
}

static void
test_any_bits_and_edges(void **unused)
{
    static const double edges[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 0x1p-1074, -0x1p-1074,
                                   0x1p-540, 0x1p-1022, 0x1.fffffffffffffp1023, 0x1p500, -0x1p-450};
    enum { COUNT = sizeof edges / sizeof *edges };

    (void) unused;
    for (int round = 0; round < ROUNDS; round++)
        check((vd) {next_any(&state), 1}, (vd) {next_any(&state), few_bits()},
              (vd) {next_any(&state), 0x1p-60});
    for (int i = 0; i < COUNT * COUNT * COUNT; i++)
        check(vd_set(edges[i % COUNT]), vd_set(edges[i / COUNT % COUNT]), vd_set(edges[i / COUNT / COUNT]));
}

static float
any_float(void)
{
    uint32_t bits = (uint32_t) next_bits(&state);
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static void
test_floats(void **unused)
{
    (void) unused;
    for (int round = 0; round < ROUNDS; round++)
    {
        vf a = vf_set((float) next_uniform(&state, -2, 2)), b = vf_set((float) next_uniform(&state, -2, 2));
        float scale = ldexpf(1, (int) (next_bits(&state) % 120) - 60);

        check_f32(a, b, vf_set((float) next_uniform(&state, -scale, scale)));
        check_f32(a, b, -(a * b));
        check_f32(vf_set(any_float()), vf_set(any_float()), vf_set(any_float()));
        check_f32(vf_set(0x1p-24f), vf_set(1 + scale * 0x1p-30f), vf_set(1 + 0x1p-23f));
    }
    for (int sign = -1; sign <= 1; sign += 2)
        check_f32(vf_set(0.0f * (float) sign), vf_set(1), vf_set(-0.0f));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordinary_numbers),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_any_bits_and_edges),
        cmocka_unit_test(test_floats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
