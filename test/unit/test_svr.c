/* test_svr.c: support vector regression, svr and nu_svr: worked examples, LIBSVM's values, bug reports. */
#include <stdio.h>

#include "fitting.h"
#include "numbers.h"

static Fitted
regress(const char *text, size_t n, size_t d, const double *x, size_t n_targets, const double *y,
        const double *w)
{
    KmTable table = {.n = n, .d = d, .x = x, .n_targets = n_targets, .y = y, .w = w};
    Fitted fitted;

    fit(&fitted, text, &table);
    return fitted;
}

static Fitted
regress_points(const char *text, const double *w)
{
    double y[POINTS];

    for (size_t i = 0; i < POINTS; i++)
        y[i] = point_target(i);
    return regress(text, POINTS, 2, points, 1, y, w);
}

/* R-help 2010-September/254008: in the units of y. */
static void
line_in_original_units(void **unused)
{
    double x[] = {0, 1, 2, 3, 4, 5}, y[] = {100, 180, 290, 405, 500, 610}, mse = 0;
    Fitted fitted = regress("svr(linear, c=10, epsilon=1)", 6, 1, x, 1, y, NULL);

    (void) unused;
    for (size_t i = 0; i < 6; i++)
    {
        assert_near(value(&fitted, x + i, 0), 122.5 + 90 * x[i], 1e-9);
        mse += pow(predicted(&fitted, x + i) - y[i], 2) / 6;
    }
    assert_near(mse, 597.9166666666667, 1e-6);
    end(&fitted);
}

/* mljs/libsvm 14: a tube wider than the targets. */
static void
no_support_rows(void **unused)
{
    double x[] = {0, 1, 2, 3, 4}, y[] = {1, 1.02, 1.05, 1.08, 1.1}, z[] = {0, 2.5, 99};
    const char *texts[] = {"svr(rbf(gamma=0.5), epsilon=0.1)", "svr(linear, epsilon=0.1)"};

    (void) unused;
    for (size_t t = 0; t < ELEMENTS(texts); t++)
    {
        Fitted fitted = regress(texts[t], 5, 1, x, 1, y, NULL);

        assert_true(fact(&fitted, "n_sv") == 0 && fact(&fitted, "objective") == 0);
        for (size_t i = 0; i < 3; i++)
            assert_near(value(&fitted, z + i, 0), 1.05, 1e-15);
        end(&fitted);
    }
}

/* scikit-learn 7862 */
static void
identity_to_within_epsilon(void **unused)
{
    const char *texts[] = {"svr(rbf(gamma=0.01), c=1e4, epsilon=0.1)",
                           "svr(rbf(gamma=0.01), c=1e4, epsilon=0.001)"};
    double x[21];

    (void) unused;
    for (size_t i = 0; i < 21; i++)
        x[i] = 0.05 * (double) i;
    for (size_t t = 0; t < ELEMENTS(texts); t++)
    {
        Fitted fitted = regress(texts[t], 21, 1, x, 1, x, NULL);

        for (size_t i = 0; i < 21; i++)
            assert_near(value(&fitted, x + i, 0), x[i], (t == 0 ? 0.1 : 0.001) + 1e-3);
        end(&fitted);
    }
}

static void
values_of_libsvm(void **unused)
{
    static const double svr[] = {0.6589998304, 1.539574157, 0.5462946814, 0.4844303172};
    static const double nu_svr[] = {0.6858788994, 1.607516464, 0.4936614533, 0.4677968336};
    Fitted fitted = regress_points("svr(rbf(gamma=0.7), c=2, epsilon=0.05, tol=1e-10)", NULL);

    (void) unused;
    check_queries(&fitted, svr, 1e-6);
    assert_near(fact(&fitted, "n_sv"), 9, 0);
    end(&fitted);
    fitted = regress_points("nu_svr(rbf(gamma=0.7), c=2, nu=0.5, tol=1e-10)", NULL);
    check_queries(&fitted, nu_svr, 1e-6);
    end(&fitted);
}

/* The tube that nu finds, given to svr, leads to the same function (Schoelkopf et al. 2000, prop. 1). */
static void
tube_of_nu(void **unused)
{
    double expected[QUERIES];
    char text[100];
    Fitted fitted = regress_points("nu_svr(rbf(gamma=0.7), c=0.5, nu=0.3, tol=1e-11)", NULL), again;

    (void) unused;
    for (size_t i = 0; i < QUERIES; i++)
        expected[i] = value(&fitted, queries + 2 * i, 0);
    assert_true(fact(&fitted, "epsilon") > 0.01);
    snprintf(text, sizeof text, "svr(rbf(gamma=0.7), c=0.5, epsilon=%.17g, tol=1e-11)", fact(&fitted,
                                                                                             "epsilon"));
    again = regress_points(text, NULL);
    check_queries(&again, expected, 1e-6);
    end(&again);
    end(&fitted);
}

static void
weights_are_repeated_rows(void **unused)
{
    static const struct
    {
        const char *text;
        double expected[QUERIES];
    } cases[] = {
        {"svr(rbf(gamma=0.7), c=0.2, epsilon=0.05, tol=1e-10)", {0.7976939734, 1.231884446, 0.8232547495,
                                                                 0.7880482827}},
        {"nu_svr(rbf(gamma=0.7), c=0.2, nu=0.7, tol=1e-10)", {0.8430229924, 1.281466749, 0.8736930211,
                                                              0.8379058367}},
    };
    Repeats repeats = repeat_points();

    (void) unused;
    for (size_t t = 0; t < ELEMENTS(cases); t++)
    {
        Fitted weighted = regress_points(cases[t].text, point_weight);
        Fitted repeated = regress(cases[t].text, REPEATED, 2, repeats.x, 1, repeats.y, NULL);

        check_repeats(&weighted, &repeated, cases[t].expected);
    }
}

static void
halves_of_weight_halve_c(void **unused)
{
    double half[POINTS], expected[QUERIES];
    Fitted fitted = regress_points("svr(rbf(gamma=0.7), c=0.3, tol=1e-10)", NULL);

    (void) unused;
    for (size_t i = 0; i < POINTS; i++)
        half[i] = 0.5;
    for (size_t i = 0; i < QUERIES; i++)
        expected[i] = value(&fitted, queries + 2 * i, 0);
    end(&fitted);
    fitted = regress_points("svr(rbf(gamma=0.7), c=0.6, tol=1e-10)", half);
    check_queries(&fitted, expected, 1e-6);
    end(&fitted);
}

static void
several_targets(void **unused)
{
    const char *texts[] = {"svr(rbf(gamma=0.7), tol=1e-10)", "nu_svr(rbf(gamma=0.7), tol=1e-10)"};
    double both[2 * POINTS], one[2][POINTS];

    (void) unused;
    for (size_t i = 0; i < POINTS; i++)
    {
        both[2 * i] = one[0][i] = point_target(i);
        both[2 * i + 1] = one[1][i] = cos(points[2 * i]);
    }
    for (size_t t = 0; t < ELEMENTS(texts); t++)
    {
        Fitted fitted = regress(texts[t], POINTS, 2, points, 2, both, NULL);

        for (size_t target = 0; target < 2; target++)
        {
            Fitted alone = regress(texts[t], POINTS, 2, points, 1, one[target], NULL);

            for (size_t i = 0; i < QUERIES; i++)
                assert_near(value(&fitted, queries + 2 * i, target), value(&alone, queries + 2 * i, 0), 1e-6);
            end(&alone);
        }
        end(&fitted);
    }
}

static void
infinite_c(void **unused)
{
    double x[] = {0, 1, 2, 4}, y[] = {0, 1, 0.5, 3}, same[] = {1, 1};
    Fitted fitted = regress("svr(rbf(gamma=1), c=inf, epsilon=0.1)", 4, 1, x, 1, y, NULL);

    (void) unused;
    for (size_t i = 0; i < 4; i++)
        assert_near(value(&fitted, x + i, 0), y[i], 0.1 + 1e-3);
    end(&fitted);
    fitted = regress("svr(rbf(gamma=1), c=inf, epsilon=0.1)", 2, 1, same, 1, x, NULL);
    assert_int_equal(fitted.status, KM_DATA);
    assert_non_null(strstr(fitted.ctx->message, "epsilon = 0.1"));
    end(&fitted);
}

/* Every row in the tube's boundary or outside. */
static void
extremes(void **unused)
{
    double x[] = {3}, y[] = {7}, equal[] = {2, 2, 2};
    Fitted fitted = regress("svr(epsilon=0)", 1, 1, x, 1, y, NULL);

    (void) unused;
    assert_near(value(&fitted, x, 0), 7, 1e-12);
    end(&fitted);
    fitted = regress_points("svr(rbf(gamma=0.7), epsilon=0)", NULL);
    assert_near(fact(&fitted, "n_sv"), POINTS, 0);
    end(&fitted);
    fitted = regress_points("nu_svr(nu=1)", NULL);
    assert_near(fact(&fitted, "n_sv"), POINTS, 0);
    end(&fitted);
    fitted = regress("nu_svr(nu=0.5)", 3, 1, points, 1, equal, NULL);
    assert_near(value(&fitted, x, 0), 2, 1e-9);
    assert_near(fact(&fitted, "epsilon"), 0, 1e-9);
    end(&fitted);
}

static void
parameters_out_of_range(void **unused)
{
    static const char *const texts[] = {"svr(epsilon=-1)", "svr(c=0)", "svr(epsilon=inf)", "svr(nu=0.5)",
                                        "nu_svr(nu=0)", "nu_svr(nu=1.1)", "nu_svr(c=inf)",
                                        "nu_svr(epsilon=1)"};

    (void) unused;
    for (size_t t = 0; t < ELEMENTS(texts); t++)
    {
        Fitted fitted = regress_points(texts[t], NULL);

        assert_int_equal(fitted.status, KM_INVALID);
        end(&fitted);
    }
}

/* ---- large c ---- */

/* Rows without a coefficient lie in the tube, those at a bound outside or on it, the others on it. */
static void
check_tube(const Fitted *fitted, size_t n, const double *x, const double *y, double c, double epsilon)
{
    const KmArray *rows = array(fitted, "rows"), *coef = array(fitted, "coef");
    size_t s = 0, on = 0;

    for (size_t i = 0; i < n; i++)
    {
        double residual = y[i] - value(fitted, x + 2 * i, 0), b = 0, outside;

        if (s < rows->rows && memcmp(rows->data + 2 * s, x + 2 * i, 2 * sizeof *x) == 0)
            b = coef->data[s++];
        outside = (b < 0 ? -residual : residual) - epsilon;
        if (b == 0)
            assert_true(fabs(residual) <= epsilon + 2e-3);
        else if (fabs(b) == c)
            assert_true(outside >= -2e-3);
        else
            assert_near(outside, 0, 2e-3);
        on += b != 0 && fabs(b) < c;
    }
    assert_int_equal(s, rows->rows);
    assert_true(on > 10);
}

static void
large_cost(void **unused)
{
    enum { N = 200 };
    double x[2 * N], y[N];
    uint64_t seed = 41;
    const double costs[] = {1e3, 1e5, 1e7};

    (void) unused;
    for (size_t i = 0; i < N; i++)
    {
        /* In canonical order, so that support rows come in it too. */
        x[2 * i] = (double) i / N + next_uniform(&seed, 0, 1.0 / N);
        x[2 * i + 1] = next_uniform(&seed, -1, 1);
        y[i] = sin(5 * x[2 * i]) + next_uniform(&seed, -0.5, 0.5);
    }
    for (size_t t = 0; t < ELEMENTS(costs); t++)
    {
        KmTable table = {.n = N, .d = 2, .x = x, .n_targets = 1, .y = y};
        Fitted fitted;
        char text[100];

        snprintf(text, sizeof text, "svr(rbf(gamma=2), c=%g)", costs[t]);
        fit(&fitted, text, &table);
        assert_true(fact(&fitted, "converged") == 1 && fact(&fitted, "iterations") < 100000);
        check_tube(&fitted, N, x, y, costs[t], 0.1);
        end(&fitted);
        snprintf(text, sizeof text, "nu_svr(rbf(gamma=2), c=%g, nu=0.4)", costs[t]);
        fit(&fitted, text, &table);
        assert_true(fact(&fitted, "converged") == 1 && fact(&fitted, "iterations") < 100000);
        check_tube(&fitted, N, x, y, costs[t], fact(&fitted, "epsilon"));
        end(&fitted);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_in_original_units),
        cmocka_unit_test(no_support_rows),
        cmocka_unit_test(identity_to_within_epsilon),
        cmocka_unit_test(values_of_libsvm),
        cmocka_unit_test(tube_of_nu),
        cmocka_unit_test(weights_are_repeated_rows),
        cmocka_unit_test(halves_of_weight_halve_c),
        cmocka_unit_test(several_targets),
        cmocka_unit_test(infinite_c),
        cmocka_unit_test(extremes),
        cmocka_unit_test(parameters_out_of_range),
        cmocka_unit_test(large_cost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
