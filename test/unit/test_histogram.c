/*
 * test_histogram.c: sums of histogram terms against plain loops in the order that the header promises, bit
 * for bit, for every instruction set, length and tail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "numbers.h"
#include "variants.h"
#include "simd/histogram_ops.h"

#define MOST_COLUMNS 40
#define ROWS 5

static double
chi2(double x, double z)
{
    return x == 0 && z == 0 ? 0 : (x - z) * ((x - z) / (x + z));
}

static double
mercer(double x, double z)
{
    return x == 0 && z == 0 ? 0 : 2 * x * (z / (x + z));
}

static double
smaller(double x, double z)
{
    return x < z ? x : z;
}

static double
plain_sum(double (*term)(double, double), size_t d, const double *x, const double *z)
{
    double c[8] = {0};

    for (size_t k = 0; k < d; k++)
        c[k % 8] += term(x[k], z[k]);
    return ((c[0] + c[4]) + (c[2] + c[6])) + ((c[1] + c[5]) + (c[3] + c[7]));
}

static void
check_sum(KmHistogramSum *sum, double (*term)(double, double), size_t d, const double *x, const double *z)
{
    double out[ROWS + 1];

    out[ROWS] = 12345;
    sum(d, x, ROWS, z, out);
    for (size_t j = 0; j < ROWS; j++)
        assert_bits(out[j], plain_sum(term, d, x, z + j * d));
    assert_bits(out[ROWS], 12345);
}

/* Counts of different sizes, half of them 0. */
static void
fill(uint64_t *state, size_t n, double *out)
{
    static const double sizes[] = {1e-310, 1, 1000, 1e300};

    for (size_t i = 0; i < n; i++)
        out[i] = next_bits(state) % 2 == 0 ? 0 : next_uniform(state, 0, sizes[next_bits(state) % 4]);
}

static void
check(const KmHistogramOps *ops)
{
    double x[MOST_COLUMNS], z[ROWS * MOST_COLUMNS];
    uint64_t state = 6;

    for (size_t d = 0; d <= MOST_COLUMNS; d++)
    {
        fill(&state, d, x);
        fill(&state, ROWS * d, z);
        check_sum(ops->chi2, chi2, d, x, z);
        check_sum(ops->mercer, mercer, d, x, z);
        check_sum(ops->smaller, smaller, d, x, z);
    }
}

/* In x, in z, in a whole vector and in a tail. */
static void
check_nan(const KmHistogramOps *ops)
{
    KmHistogramSum *const sums[] = {ops->chi2, ops->mercer, ops->smaller};
    double x[11], z[11], out;

    for (size_t at = 0; at < 22; at++)
        for (size_t s = 0; s < 3; s++)
        {
            for (size_t k = 0; k < 11; k++)
                x[k] = z[k] = (double) k;
            *(at < 11 ? x + at : z + at - 11) = NAN;
            sums[s](11, x, 1, z, &out);
            assert_true(isnan(out));
        }
}

static void
test_sums_have_the_bits_of_plain_loops(void **unused)
{
    static const KmHistogramOps *const ops[] = VARIANTS(km_histogram_ops);

    (void) unused;
    for (size_t t = 0; t < n_variants(); t++)
    {
        check(ops[t]);
        check_nan(ops[t]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_have_the_bits_of_plain_loops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
