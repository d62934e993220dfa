/*
 * test_platt.c: sigmoids and coupling against independent solutions (reference values computed with SciPy
 * to a gradient of 1e-14, and by bordered linear systems), brute force, and extreme values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "numbers.h"
#include "platt.h"

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))
#define MOST 16

static KmSigmoid
fit(size_t n, const double *f, const bool *positive, const double *w)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmSigmoid sigmoid;

    assert_int_equal(km_sigmoid_fit(ctx, n, f, positive, w, &sigmoid), KM_OK);
    km_context_destroy(ctx);
    return sigmoid;
}

/* ---- sigmoids ---- */

static const double sixty[60] = {
    2.058, 3.051, 1.06, 0.514, 0.346, -0.856, 2.179, -0.321, -0.422, 0.753, 2.783, 1.284, -0.229,
    0.144, 1.75, 0.807, 0.077, 0.724, 1.894, 3.371, -0.493, 0.248, 0.035, -1.903, -0.109, -1.824,
    0.324, -0.932, -2.423, -0.153, -1.156, -2.543, -1.397, -1.389, -1.674, -0.77, -3.048, -1.068,
    0.213, 0.053, 0.308, 0.319, 0.688, -1.918, 0.046, -2.661, -1.403, -2.714, 0.248, 0.534, -0.997,
    0.975, -1.475, -0.649, -0.647, -1.864, -0.362, 1.139, -1.825, 0.099
};
static const double first_ten[10] = {
    0.8649383254590093, 0.9465441425844262, 0.6973627768739185, 0.5684562593495569,
    0.5258492338147832, 0.2446035136288727, 0.8787723168179657, 0.35901199165832637,
    0.3355698608477099, 0.6272273326725616
};

static void
sixty_values(void **unused)
{
    bool positive[60];
    KmSigmoid sigmoid;

    (void) unused;
    for (size_t i = 0; i < 60; i++)
        positive[i] = i < 25;
    sigmoid = fit(60, sixty, positive, NULL);
    assert_near(sigmoid.a, -1.0242041361529104, 1e-9);
    assert_near(sigmoid.b, 0.2508854304268983, 1e-9);
    for (size_t i = 0; i < 10; i++)
        assert_near(km_sigmoid_value(&sigmoid, sixty[i]), first_ten[i], 1e-9);
}

/* Targets short of 0 and 1 keep the slope finite. */
static void
separable(void **unused)
{
    const double f[] = {-2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2};
    const double p[] = {0.09183882838939125, 0.15205931429429526, 0.24127659016832673, 0.3605802298815704,
                        0.6394197701184297, 0.7587234098316733, 0.8479406857057048, 0.9081611716086109};
    const bool positive[] = {false, false, false, false, true, true, true, true};
    KmSigmoid sigmoid = fit(8, f, positive, NULL);

    (void) unused;
    assert_near(sigmoid.a, -1.1456933445969155, 1e-9);
    assert_near(sigmoid.b, 0, 1e-9);
    for (size_t i = 0; i < 8; i++)
        assert_near(km_sigmoid_value(&sigmoid, f[i]), p[i], 1e-9);
}

static void
weights_are_repetitions(void **unused)
{
    const double f[] = {-1, 0.5, 2, -0.25, 0.75}, w[] = {1, 3, 2, 1, 2};
    const bool positive[] = {false, true, true, true, false};
    double f_rows[9];
    bool positive_rows[9];
    KmSigmoid weighted = fit(5, f, positive, w), repeated;
    size_t n = 0;

    (void) unused;
    for (size_t i = 0; i < 5; i++)
        for (int r = 0; r < (int) w[i]; r++, n++)
        {
            f_rows[n] = f[i];
            positive_rows[n] = positive[i];
        }
    repeated = fit(9, f_rows, positive_rows, NULL);
    assert_near(weighted.a, repeated.a, 1e-10);
    assert_near(weighted.b, repeated.b, 1e-10);
}

/* At the optimum the gradient vanishes: sum w (t - p) f and sum w (t - p), in long double. */
static void
gradient_vanishes(void **unused)
{
    uint64_t state = 7;

    (void) unused;
    for (int round = 0; round < 50; round++)
    {
        double scale = next_uniform(&state, 0, 1) < 0.5 ? 1e-6 : 1e3, f[40];
        bool positive[40];
        long double ga = 0, gb = 0, high, low, count = 0;
        KmSigmoid sigmoid;

        for (size_t i = 0; i < 40; i++)
        {
            positive[i] = next_uniform(&state, 0, 1) < 0.3;
            f[i] = scale * (next_uniform(&state, -1, 1) + 0.5 * positive[i]);
            count += positive[i];
        }
        sigmoid = fit(40, f, positive, NULL);
        high = (count + 1) / (count + 2);
        low = 1 / (40 - count + 2);
        for (size_t i = 0; i < 40; i++)
        {
            long double p = 1 / (1 + expl((long double) sigmoid.a * f[i] + sigmoid.b));

            ga += ((positive[i] ? high : low) - p) * f[i];
            gb += (positive[i] ? high : low) - p;
        }
        assert_true(fabsl(ga) < 1e-7L * scale && fabsl(gb) < 1e-7L);
    }
}

static void
extremes(void **unused)
{
    KmSigmoid steep = {-1e300, 0}, level = {0, 0};
    const double f[] = {1e200, 2e200, -1e200, 3e200, -4e200};
    const bool positive[] = {true, true, false, true, false};
    KmSigmoid sigmoid = fit(5, f, positive, NULL);

    (void) unused;
    assert_true(km_sigmoid_value(&steep, 1e300) == 1 && km_sigmoid_value(&steep, -1e300) == 0);
    assert_true(km_sigmoid_value(&level, 5) == 0.5);
    assert_true(isfinite(sigmoid.a) && isfinite(sigmoid.b));
}

/* ---- coupling ---- */

static void
three_classes(void **unused)
{
    const double second[] = {0.3, 0.4, 0.6};
    const double expected[] = {0.4771381189291637, 0.207059938403222, 0.3158019426676143};
    double work[9], p[3];

    (void) unused;
    km_couple_pairs(3, second, work, p);
    for (size_t i = 0; i < 3; i++)
        assert_near(p[i], expected[i], 1e-12);
}

/* Pairs that come from one p give it back. */
static void
consistent_pairs(void **unused)
{
    uint64_t state = 3;
    double p[MOST], got[MOST], second[MOST * MOST], work[MOST * MOST];

    (void) unused;
    for (size_t k = 2; k <= MOST; k++)
    {
        double total = 0;
        size_t pair = 0;

        for (size_t i = 0; i < k; i++)
            total += p[i] = next_uniform(&state, 0.01, 1);
        for (size_t i = 0; i < k; i++)
            for (size_t j = i + 1; j < k; j++)
                second[pair++] = p[j] / (p[i] + p[j]);
        km_couple_pairs(k, second, work, got);
        for (size_t i = 0; i < k; i++)
            assert_near(got[i], p[i] / total, 1e-12);
    }
}

static long double
misfit(size_t k, const double *second, const double *p)
{
    long double sum = 0;

    for (size_t i = 0; i < k; i++)
        for (size_t j = i + 1; j < k; j++, second++)
        {
            long double difference = (long double) *second * p[i] - (1 - (long double) *second) * p[j];

            sum += difference * difference;
        }
    return sum;
}

/* No exchange between two classes lowers the misfit. */
static void
coupling_is_optimal(void **unused)
{
    uint64_t state = 5;
    double p[MOST], moved[MOST], second[MOST * MOST], work[MOST * MOST];

    (void) unused;
    for (int round = 0; round < 100; round++)
    {
        size_t k = 3 + round % (MOST - 2);
        double total = 0;

        for (size_t pair = 0; pair < k * (k - 1) / 2; pair++)
            second[pair] = next_uniform(&state, 0.001, 0.999);
        km_couple_pairs(k, second, work, p);
        for (size_t i = 0; i < k; i++)
        {
            assert_true(p[i] >= 0);
            total += p[i];
        }
        assert_near(total, 1, 1e-15 * (double) k);
        for (size_t i = 0; i < k; i++)
        {
            double amount = 1e-6;

            memcpy(moved, p, sizeof p);
            moved[i] -= amount;
            moved[(i + 1) % k] += amount;
            assert_true(misfit(k, second, moved) >= misfit(k, second, p));
        }
    }
}

/* Certain pairs, also in a circle, where no class can be preferred. */
static void
certain_pairs(void **unused)
{
    const double first[] = {0, 0, 0.5}, circle[] = {0, 1, 0};
    double work[9], p[3];

    (void) unused;
    km_couple_pairs(3, first, work, p);
    assert_near(p[0], 1, 1e-6);
    assert_true(p[1] >= 0 && p[2] >= 0);
    km_couple_pairs(3, circle, work, p);
    for (size_t i = 0; i < 3; i++)
        assert_near(p[i], 1.0 / 3, 1e-12);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixty_values), cmocka_unit_test(separable),
            cmocka_unit_test(weights_are_repetitions),
        cmocka_unit_test(gradient_vanishes), cmocka_unit_test(extremes), cmocka_unit_test(three_classes),
        cmocka_unit_test(consistent_pairs), cmocka_unit_test(coupling_is_optimal),
            cmocka_unit_test(certain_pairs),
    };

    return cmocka_run_group_tests_name("platt", tests, NULL, NULL);
}
