/*
 * test_vmath.c: accuracy of the elementary functions against long double libm
 * and values of mpmath; the same bits from every instruction set, in tails and
 * in place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "numbers.h"
#include "variants.h"
#include "simd/vmath_ops.h"
#include "vmath.h"

#define CHUNK 1000              /* not a multiple of any vector */
#define ROUNDS 1500
#define LENGTH(array) (sizeof (array) / sizeof *(array))

static const double edges[] = {
    0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp-1023,
    0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 1.0, -1.0, 0x1.fffffffffffffp-1, 0x1.0000000000001p0,
    709.78, 709.7827128933841, 709.782712893384, 710.0, -708.3964185322641, -708.4, -745.0, -745.13,
    -745.1332191019411, -745.1332191019412, -745.14, -746.0, -1000.0, 1e-300, -1e-300, 1e-17, 20.0, -20.0,
    0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bccp-1, 0x1.921fb54442d18p0, 0x1.921fb54442d18p1, 0x1p30, -0x1p30,
    0x1.0000000000001p30, 1e15, 1e22, -1e300, 0x1.62e42fefa39efp-2, 0.34657359027997264, 19.06, 22.0,
};

/* What one table makes of x, all functions one after another. */
#define RESULTS 12

static void
evaluate(const KmVmathOps *ops, size_t n, const double *x, double out[RESULTS][CHUNK])
{
    static const double matern_5_2[] = {0.7, 1, 1.0 / 3};
    float xf[CHUNK], outf[CHUNK];
    double size[CHUNK];

    ops->exp(n, x, out[0]);
    ops->log(n, x, out[1]);
    ops->sincos(n, x, out[2], out[3]);
    ops->tanh(n, x, out[4]);
    for (size_t i = 0; i < n; i++)
        xf[i] = (float) x[i];
    ops->exp_f32(n, -0.37f, xf, outf);
    for (size_t i = 0; i < n; i++)
    {
        uint32_t bits;

        memcpy(&bits, &outf[i], sizeof bits);
        out[5][i] = bits;
    }
    ops->exp_rate(n, -0.37, x, out[6]);
    for (size_t i = 0; i < n; i++)
        size[i] = fabs(x[i]);
    ops->matern(n, matern_5_2, size, out[7], out[8]);
    ops->power(n, 0.37, 1.5, 3, x, out[9]);
    ops->power(n, -2, 0.25, 1000, x, out[10]);
    ops->clip(n, 1, x, out[11]);
}

/* A mix of everything: ordinary sizes, angles, and arbitrary bits. */
static void
fill(uint64_t *state, size_t n, double *x)
{
    static const double sizes[] = {1, 1, 4, 40, 800, 1e6, 1e12};

    for (size_t i = 0; i < n; i++)
    {
        uint64_t kind = next_bits(state) % (LENGTH(sizes) + 2);

        if (kind < LENGTH(sizes))
            x[i] = next_uniform(state, -sizes[kind], sizes[kind]);
        else if (kind == LENGTH(sizes))
            x[i] = edges[next_bits(state) % LENGTH(edges)];
        else
            x[i] = next_any(state);
    }
}

static void
compare_with_base(const KmVmathOps *ops)
{
    static double x[CHUNK], expected[RESULTS][CHUNK], got[RESULTS][CHUNK];
    uint64_t state = 20240501;

    for (int round = 0; round < ROUNDS; round++)
    {
        fill(&state, CHUNK, x);
        evaluate(&km_vmath_ops_base, CHUNK, x, expected);
        evaluate(ops, CHUNK, x, got);
        for (int f = 0; f < RESULTS; f++)
            assert_memory_equal(got[f], expected[f], sizeof got[f]);
    }
}

static void
test_avx2_has_the_bits_of_base(void **unused)
{
    (void) unused;
#if defined(__x86_64__)
    if (!KM_HAS_AVX2())
        skip();
    compare_with_base(&km_vmath_ops_avx2);
#else
    skip();
#endif
}

static void
test_avx512_has_the_bits_of_base(void **unused)
{
    (void) unused;
#if defined(__x86_64__)
    if (!KM_HAS_AVX512())
        skip();
    compare_with_base(&km_vmath_ops_avx512);
#else
    skip();
#endif
}

/* Every length and offset gives what the whole array gave; in place too. */
static void
check_tails(const KmVmathOps *ops)
{
    static double x[CHUNK], whole[RESULTS][CHUNK], part[RESULTS][CHUNK];
    uint64_t state = 3;

    fill(&state, CHUNK, x);
    evaluate(ops, CHUNK, x, whole);
    for (size_t n = 0; n < 40; n++)
        for (size_t from = 0; from < 20; from++)
        {
            for (int f = 0; f < RESULTS; f++)
                part[f][n] = 77;
            evaluate(ops, n, x + from, part);
            for (int f = 0; f < RESULTS; f++)
            {
                assert_memory_equal(part[f], whole[f] + from, n * sizeof(double));
                assert_true(part[f][n] == 77);
            }
        }
}

static void
test_tails_have_the_bits_of_full_vectors(void **unused)
{
    static const KmVmathOps *const ops[] = VARIANTS(km_vmath_ops);

    (void) unused;
    for (size_t t = 0; t < n_variants(); t++)
        check_tails(ops[t]);
}

static void
test_in_place_and_scalar_forms(void **unused)
{
    double x[CHUNK], y[CHUNK], other[CHUNK], expected[RESULTS][CHUNK];
    uint64_t state = 11;

    (void) unused;
    fill(&state, CHUNK, x);
    evaluate(&km_vmath_ops_base, CHUNK, x, expected);

    memcpy(y, x, sizeof y);
    km_exp(CHUNK, y, y);
    assert_memory_equal(y, expected[0], sizeof y);
    memcpy(y, x, sizeof y);
    km_log(CHUNK, y, y);
    assert_memory_equal(y, expected[1], sizeof y);
    memcpy(y, x, sizeof y);
    km_sincos(CHUNK, y, y, other);
    assert_memory_equal(y, expected[2], sizeof y);
    memcpy(y, x, sizeof y);
    km_sincos(CHUNK, y, other, y);
    assert_memory_equal(y, expected[3], sizeof y);
    memcpy(y, x, sizeof y);
    km_tanh(CHUNK, y, y);
    assert_memory_equal(y, expected[4], sizeof y);
    for (size_t i = 0; i < CHUNK; i++)
    {
        double scalar[2] = {km_exp1(x[i]), km_log1(x[i])};

        assert_memory_equal(&scalar[0], &expected[0][i], sizeof(double));
        assert_memory_equal(&scalar[1], &expected[1][i], sizeof(double));
    }
}

/* Largest error in ulp of f over random x in [low, high], or, with
 * `logarithmic`, over exp of that. */
typedef struct Accuracy
{
    void (*f)(size_t n, const double *x, double *out);
    long double (*exact)(long double x);
    double low, high;
    bool logarithmic;
    double bound;
} Accuracy;

static double
largest_error(const Accuracy *test)
{
    double x[CHUNK], y[CHUNK], worst = 0;
    uint64_t state = 99;

    for (int round = 0; round < 1000; round++)
    {
        for (size_t i = 0; i < CHUNK; i++)
        {
            x[i] = next_uniform(&state, test->low, test->high);
            if (test->logarithmic)
                x[i] = (i % 2 ? 1 : -1) * exp(x[i]);
        }
        test->f(CHUNK, x, y);
        for (size_t i = 0; i < CHUNK; i++)
            worst = fmax(worst, ulp_error(y[i], test->exact(x[i]), 53, -1074));
    }
    return worst;
}

static void
sine_only(size_t n, const double *x, double *out)
{
    double cosine[CHUNK];

    km_sincos(n, x, out, cosine);
}

static void
cosine_only(size_t n, const double *x, double *out)
{
    double sine[CHUNK];

    km_sincos(n, x, sine, out);
}

/* of |x|: positive arguments only */
static long double
log_of_size(long double x)
{
    return logl(fabsl(x));
}

static void
km_log_of_size(size_t n, const double *x, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = fabs(x[i]);
    km_log(n, out, out);
}

static const Accuracy accuracies[] = {
    {km_exp, expl, -745.2, 709.78, false, 1},
    {km_exp, expl, -1, 1, false, 1},
    {km_exp, expl, -40, 0, true, 1},
    {km_exp, expl, -745.2, -708, false, 1},
    {km_log_of_size, log_of_size, -745, 709, true, 1},
    {km_log_of_size, log_of_size, 0.5, 2, false, 1},
    {km_log_of_size, log_of_size, 1 - 1e-6, 1 + 1e-6, false, 1},
    {sine_only, sinl, -10, 10, false, 2},
    {sine_only, sinl, -700, 2, true, 2},
    {sine_only, sinl, -1e6, 1e6, false, 2},
    {sine_only, sinl, -1e15, 1e15, false, 2},
    {sine_only, sinl, 0, 40, true, 2},
    {cosine_only, cosl, -10, 10, false, 2},
    {cosine_only, cosl, -700, 2, true, 2},
    {cosine_only, cosl, -1e15, 1e15, false, 2},
    {cosine_only, cosl, 0, 40, true, 2},
    {km_tanh, tanhl, -2, 2, false, 3},
    {km_tanh, tanhl, -25, 25, false, 3},
    {km_tanh, tanhl, -745, 4, true, 3},
};

static void
test_accuracy_against_long_double(void **unused)
{
    (void) unused;
    for (size_t t = 0; t < LENGTH(accuracies); t++)
    {
        double worst = largest_error(&accuracies[t]);

        if (!(worst <= accuracies[t].bound))
            fail_msg("line %zu of the table: %.3f ulp, over %g", t, worst, accuracies[t].bound);
    }
}

/* x, sin x, cos x by mpmath with 1300 bits: huge angles, the double closest to a
 * multiple of pi/2 of all (6381956970095103 * 2^797), and near multiples. */
static const double angles[][3] = {
    {0x1.000001ad7f29bp+30, -0x1.ae8ae60d71002p-4, 0x1.fd29e63a41f8ap-1},
    {0x1.2a05f2p+33, -0x1.f334c7896a4e3p-2, 0x1.bf098901c931ap-1},
    {0x1.cbe991a148p+36, -0x1.194789ec71d8dp-1, -0x1.abd0b2fc575b2p-1},
    {0x1.c122187b672p+49, -0x1.6c2bbc507d601p-3, -0x1.f7d72968bb5b6p-1},
    {0x1.c6bf52634p+49, 0x1.b76f88136cebap-1, -0x1.06c154609d33fp-1},
    {0x1.0000000000001p+52, 0x1.053c35068e10dp-4, -0x1.fef526a39c993p-1},
    {0x1.6345785d8ap+56, -0x1.dbadc7a119fc8p-2, -0x1.c567c5278afcbp-1},
    {0x1p+63, 0x1.fff6dfd42dc54p-1, 0x1.82aa375b3c33ep-7},
    {0x1.0f0cf064dd592p+73, -0x1.b453ab76bf397p-1, 0x1.0be2cef01c8f4p-1},
    {-0x1.0f0cf064dd592p+73, 0x1.b453ab76bf397p-1, 0x1.0be2cef01c8f4p-1},
    {0x1.249ad2594c37dp+332, -0x1.85c5e5b929359p-2, 0x1.d9757496841f5p-1},
    {0x1.6ac5b262ca1ffp+849, 0x1p+0, -0x1.14ae72e6ba22fp-61},
    {0x1.fffffffffffffp+1023, 0x1.452fc98b34e97p-8, -0x1.fffe62ecfab75p-1},
    {-0x1p+1023, -0x1.205248cbdb76p-1, -0x1.a719f26c232bfp-1},
    {-0x1.93e5939a08ceap+99, -0x1.31c608f107767p-7, -0x1.fffa4b11f1b45p-1},
    {0x1p+1023, 0x1.205248cbdb76p-1, -0x1.a719f26c232bfp-1},
    {0x1.921fb54442d18p+0, 0x1p+0, 0x1.1a62633145c07p-54},
    {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, -0x1p+0},
    {0x1.2d97c7f3321d2p+2, -0x1p+0, -0x1.a79394c9e8a0ap-53},
    {0x1.921fb54442d18p+2, -0x1.1a62633145c07p-52, 0x1p+0},
    {0x1.88b2f704a940ap+10, 0x1.2c3beb21e1e21p-44, 0x1p+0},
    {0x1.7ac2e6abc611cp+17, 0x1p+0, -0x1.afd5872105948p-37},
    {0x1.921fce663e25dp+20, 0x1p+0, -0x1.da578b28940c8p-34},
    {0x1.921fb537b1d3ep+29, -0x1.ffffffffffff8p-1, 0x1.6e233fd78d529p-25},
    {0x1.921fb54daf8fcp+31, -0x1.fffffffffffcp-1, -0x1.00c69d77e40e1p-23},
    {0x1.1db9e76a24995p+47, -0x1.ffffe5e4ca90ep-1, -0x1.4700e647bb315p-10},
};

static void
test_sincos_of_huge_angles_and_near_zeros(void **unused)
{
    (void) unused;
    for (size_t i = 0; i < LENGTH(angles); i++)
        for (int sign = -1; sign <= 1; sign += 2)
        {
            double x = sign * angles[i][0], sine, cosine;

            km_sincos(1, &x, &sine, &cosine);
            assert_true(ulp_error(sine, sign * angles[i][1], 53, -1074) <= 2);
            assert_true(ulp_error(cosine, angles[i][2], 53, -1074) <= 2);
        }
}

static void
test_special_values(void **unused)
{
    double x[] = {0.0, -0.0, INFINITY, -INFINITY, -NAN, -1.0}, y[6], z[6];

    (void) unused;
    km_exp(6, x, y);
    assert_bits(y[0], 1), assert_bits(y[1], 1), assert_bits(y[2], INFINITY), assert_bits(y[3], 0);
    assert_bits(y[4], NAN);
    assert_bits(km_exp1(709.79), INFINITY);
    assert_bits(km_exp1(-745.14), 0);
    assert_bits(km_exp1(-745.13), 0x1p-1074);
    assert_bits(km_exp1(-1e308), 0);
    km_log(6, x, y);
    assert_bits(y[0], -INFINITY), assert_bits(y[1], -INFINITY), assert_bits(y[2], INFINITY);
    assert_bits(y[3], NAN), assert_bits(y[4], NAN), assert_bits(y[5], NAN);
    assert_bits(km_log1(1), 0);
    km_sincos(6, x, y, z);
    assert_bits(y[0], 0), assert_bits(y[1], -0.0), assert_bits(z[0], 1), assert_bits(z[1], 1);
    for (int i = 2; i < 5; i++)
        assert_bits(y[i], NAN), assert_bits(z[i], NAN);
    km_tanh(6, x, y);
    assert_bits(y[0], 0), assert_bits(y[1], -0.0), assert_bits(y[2], 1), assert_bits(y[3], -1);
    assert_bits(y[4], NAN);
}

/* exp(rate x) itself, rounding of the product included; subnormals are 0. */
static void
test_exp_f32(void **unused)
{
    static const float rates[] = {-1, -0.37f, -1e-3f, -123.4f, 0.02f};
    float x[CHUNK], y[CHUNK];
    uint64_t state = 5;

    (void) unused;
    for (int round = 0; round < 1000; round++)
    {
        float rate = rates[round % LENGTH(rates)];

        for (size_t i = 0; i < CHUNK; i++)
            x[i] = (float) next_uniform(&state, 0, 95 / fabs(rate));
        km_exp_f32(CHUNK, rate, x, y);
        for (size_t i = 0; i < CHUNK; i++)
        {
            long double expected = expl((long double) rate * x[i]);

            if (expected > 0x1.fffffep127L)
                assert_true(y[i] >= 0x1.fffffcp127f);
            else if (expected < 0x1.001p-126L)
                assert_true(y[i] == 0 || (y[i] >= 0x1p-126f && y[i] <= 0x1.001p-126f));
            else
                assert_true(ulp_error(y[i], expected, 24, -149) <= 2);
        }
    }
    float special[] = {0, INFINITY, -INFINITY, NAN, 1e30f};

    km_exp_f32(5, -2, special, y);
    assert_true(y[0] == 1 && y[1] == 0 && y[2] == INFINITY && isnan(y[3]) && y[4] == 0);
    km_exp_f32(5, 1e10f, special, y);
    assert_true(y[0] == 1 && y[1] == INFINITY && y[2] == 0 && isnan(y[3]) && y[4] == INFINITY);
}

/* Of nu = 1/2, 3/2, 5/2: value and slope as derived by hand; in place and without slopes the same values. */
static void
test_matern(void **unused)
{
    static const double forms[][3] = {{0.9, 0, 0}, {1.7, 1, 0}, {2.2, 1, 1.0 / 3}};
    double v[CHUNK], k[CHUNK], slope[CHUNK], alone[CHUNK];
    uint64_t state = 8;

    (void) unused;
    for (size_t f = 0; f < LENGTH(forms); f++)
    {
        const double *form = forms[f];

        for (size_t i = 0; i < CHUNK; i++)
            v[i] = i == 0 ? 0 : exp(next_uniform(&state, -30, 9));
        km_matern(CHUNK, form, v, k, slope);
        memcpy(alone, v, sizeof v);
        km_matern(CHUNK, form, alone, alone, NULL);
        assert_memory_equal(alone, k, sizeof k);
        assert_true(k[0] == 1 && slope[0] == 0);
        for (size_t i = 1; i < CHUNK; i++)
        {
            long double s = form[0] * sqrtl(v[i]), decay = expl(-s);
            long double square = form[0] * (long double) form[0] / 2;
            long double value = (1 + form[1] * s + form[2] * s * s) * decay;
            long double by_hand[] = {-square * decay / s, -square * decay, -square * (1 + s) * decay / 3};

            assert_true(fabsl(k[i] - value) <= 1e-15L * (1 + s) * value + 1e-300L);
            assert_true(fabsl(slope[i] - by_hand[f]) <= 1e-15L * (3 + s) * fabsl(by_hand[f]) + 1e-300L);
        }
    }
}

static void
test_exp_rate(void **unused)
{
    double x[19], product[19], one[19], two[19];

    (void) unused;
    for (size_t i = 0; i < 19; i++)
    {
        x[i] = 3.7 * (double) i - 20;
        product[i] = -0.3 * x[i];
    }
    km_exp_rate(19, -0.3, x, one);
    km_exp(19, product, two);
    assert_memory_equal(one, two, sizeof one);
}

/* Squares by the bits of the exponent, each operation rounded. */
static void
test_power(void **unused)
{
    static const double exponents[] = {0, 1, 2, 3, 7, 20, 1e6};
    double x[19], out[19];

    (void) unused;
    for (size_t i = 0; i < 19; i++)
        x[i] = 0.37 * (double) i - 3;
    for (size_t e = 0; e < LENGTH(exponents); e++)
    {
        km_power(19, -0.3, 0.1, exponents[e], x, out);
        for (size_t i = 0; i < 19; i++)
        {
            double base = -0.3 * x[i] + 0.1, power = 1;

            for (uint64_t left = (uint64_t) exponents[e]; left > 0; left >>= 1, base *= base)
                power = left & 1 ? power * base : power;
            assert_bits(out[i], power);
        }
    }
    km_power(1, 1, 0, 0, &(double) {0}, out);
    assert_bits(out[0], 1);
}

static void
test_clip(void **unused)
{
    double x[] = {-0.5, 1, 1.0000000000000002, -1, -1.5, INFINITY, -INFINITY, 0.25, 3}, nan = -NAN;
    const double expected[] = {-0.5, 1, 1, -1, -1, 1, -1, 0.25, 1};

    (void) unused;
    km_clip(9, 1, x, x);
    for (size_t i = 0; i < 9; i++)
        assert_bits(x[i], expected[i]);
    km_clip(1, 1, &nan, &nan);
    assert_bits(nan, NAN);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_avx2_has_the_bits_of_base),
        cmocka_unit_test(test_avx512_has_the_bits_of_base),
        cmocka_unit_test(test_tails_have_the_bits_of_full_vectors),
        cmocka_unit_test(test_in_place_and_scalar_forms),
        cmocka_unit_test(test_accuracy_against_long_double),
        cmocka_unit_test(test_sincos_of_huge_angles_and_near_zeros),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_exp_f32),
        cmocka_unit_test(test_matern),
        cmocka_unit_test(test_exp_rate),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_clip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
