/*
 * test_random.c: the published vectors of Philox 4x32-10, the order of numbers,
 * and the distributions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "numbers.h"
#include "random.h"

#define N 200000

/* Random123, kat_vectors: counter, key, result. */
static void
test_known_answers(void **unused)
{
    static const uint32_t vectors[][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
         0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0,
         0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    uint32_t out[4];

    (void) unused;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    {
        km_random_philox(vectors[i], vectors[i] + 4, out);
        assert_memory_equal(out, vectors[i] + 6, sizeof out);
    }
}

/* Words go low first; index, stream and seed all reach the counter and the key. */
static void
test_layout_of_numbers(void **unused)
{
    const uint32_t counter[4] = {0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3};
    const uint32_t key[2] = {0xa4093822, 0x299f31d0};
    uint64_t block = 0x0370734413198a2e, stream = 0x85a308d3243f6a88, seed = 0x299f31d0a4093822;
    uint32_t out[4];

    (void) unused;
    assert_true(km_random_bits(0, 0, 0) == 0xe169c58d6627e8d5);
    assert_true(km_random_bits(0, 0, 1) == 0x9b00dbd8bc57ac4c);
    km_random_philox(counter, key, out);
    assert_true(km_random_bits(seed, stream, 2 * block) == (out[0] | (uint64_t) out[1] << 32));
    assert_true(km_random_bits(seed, stream, 2 * block + 1) == (out[2] | (uint64_t) out[3] << 32));
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* sqrt(n) times the largest distance of the empirical distribution from `cdf`;
 * over 1.95 once in a thousand (Kolmogorov); sorts x. */
static double
kolmogorov_smirnov(size_t n, double *x, double (*cdf)(double))
{
    double worst = 0;

    qsort(x, n, sizeof *x, compare_doubles);
    for (size_t i = 0; i < n; i++)
    {
        double f = cdf(x[i]);

        worst = fmax(worst, fmax(f - (double) i / (double) n, (double) (i + 1) / (double) n - f));
    }
    return sqrt((double) n) * worst;
}

static double
uniform_cdf(double x)
{
    return x;
}

static double
normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static double
mean_of_power(size_t n, const double *x, int power)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += pow(x[i], power);
    return sum / (double) n;
}

static void
test_uniform_distribution(void **unused)
{
    static double x[N];

    (void) unused;
    for (size_t i = 0; i < N; i++)
    {
        x[i] = km_random_uniform(42, 7, i);
        assert_true(x[i] > 0 && x[i] < 1);
        assert_true(x[i] == (double) (2 * (km_random_bits(42, 7, i) >> 12) + 1) * 0x1p-53);
    }
    assert_true(fabs(mean_of_power(N, x, 1) - 0.5) < 4 * sqrt(1.0 / 12 / N));
    assert_true(kolmogorov_smirnov(N, x, uniform_cdf) < 1.95);
}

/* Moments within four standard deviations of their estimates. */
static void
test_normal_distribution(void **unused)
{
    static double x[N];
    double lag = 0;

    (void) unused;
    km_random_normal(1, 2, 0, N, x);
    for (size_t i = 0; i + 1 < N; i++)
        lag += x[i] * x[i + 1] / N;
    assert_true(fabs(lag) < 4 / sqrt(N));
    assert_true(fabs(mean_of_power(N, x, 1)) < 4 * sqrt(1.0 / N));
    assert_true(fabs(mean_of_power(N, x, 2) - 1) < 4 * sqrt(2.0 / N));
    assert_true(fabs(mean_of_power(N, x, 3)) < 4 * sqrt(15.0 / N));
    assert_true(fabs(mean_of_power(N, x, 4) - 3) < 4 * sqrt(96.0 / N));
    assert_true(kolmogorov_smirnov(N, x, normal_cdf) < 1.95);
}

/* Box-Muller from the uniforms, by long double libm. */
static void
test_normals_come_from_uniforms(void **unused)
{
    double x[2];

    (void) unused;
    for (uint64_t pair = 0; pair < 1000; pair++)
    {
        long double u = km_random_uniform(5, 6, 2 * pair), v = km_random_uniform(5, 6, 2 * pair + 1);
        long double r = sqrtl(-2 * logl(u)), angle = 8 * atanl(1) * v;

        km_random_normal(5, 6, 2 * pair, 2, x);
        assert_true(fabsl(x[0] - r * cosl(angle)) < 1e-14);
        assert_true(fabsl(x[1] - r * sinl(angle)) < 1e-14);
    }
}

/* Any window of the sequence is the sequence. */
static void
test_normals_by_index(void **unused)
{
    enum { LENGTH = 1500 };
    double all[LENGTH], part[LENGTH + 1];

    (void) unused;
    km_random_normal(9, 1, 1000, LENGTH, all);
    for (size_t from = 0; from < 20; from++)
        for (size_t n = 0; n + from <= LENGTH; n += n < 10 ? 1 : 61)
        {
            part[n] = 77;
            km_random_normal(9, 1, 1000 + from, n, part);
            assert_memory_equal(part, all + from, n * sizeof *part);
            assert_true(part[n] == 77);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_layout_of_numbers),
        cmocka_unit_test(test_uniform_distribution),
        cmocka_unit_test(test_normal_distribution),
        cmocka_unit_test(test_normals_come_from_uniforms),
        cmocka_unit_test(test_normals_by_index),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
