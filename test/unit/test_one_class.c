/* test_one_class.c: one_class: LIBSVM's values, the side on which boundaries count, bug reports. */
#include "fitting.h"
#include "numbers.h"

static Fitted
describe(const char *text, size_t n, size_t d, const double *x, const double *w)
{
    KmTable table = {.n = n, .d = d, .x = x, .w = w};
    Fitted fitted;

    fit(&fitted, text, &table);
    return fitted;
}

static void
values_of_libsvm(void **unused)
{
    static const double expected[] = {0.1270028966, 0.08610100401, 0.0671445129, -0.7568327412};
    Fitted fitted = describe("one_class(rbf(gamma=0.7), nu=0.3, tol=1e-10)", POINTS, 2, points, NULL);

    (void) unused;
    check_queries(&fitted, expected, 1e-6);
    assert_true(predicted(&fitted, queries) == 1 && predicted(&fitted, queries + 6) == -1);
    end(&fitted);
}

static void
weights_are_repeated_rows(void **unused)
{
    static const double expected[] = {0.1693371955, 0.1148013387, 0.0895260172, -1.009110322};
    const char *text = "one_class(rbf(gamma=0.7), nu=0.3, tol=1e-10)";
    Repeats repeats = repeat_points();
    Fitted weighted = describe(text, POINTS, 2, points, point_weight);
    Fitted repeated = describe(text, REPEATED, 2, repeats.x, NULL);

    (void) unused;
    check_repeats(&weighted, &repeated, expected);
}

/* stata-svmachines 13, LIBSVM.jl 16 */
static void
ten_rows(void **unused)
{
    double x[] = {0, 0, 1, 0, 0, 1, 1, 1, .5, .5, .2, .8, .9, .3, .4, .1, .6, .9, 5, 5}, far[] = {10, 10},
        near[] = {.5, .6};
    Fitted fitted = describe("one_class(rbf(gamma=0.5), nu=0.2)", 10, 2, x, NULL);
    size_t outside = 0;

    (void) unused;
    assert_near(value(&fitted, near, 0), 0.158822, 1e-3);
    assert_near(value(&fitted, far, 0), -0.784368, 1e-3);
    assert_near(value(&fitted, x + 8, 0), 0.162367, 1e-3);
    for (size_t i = 0; i < 10; i++)
        outside += value(&fitted, x + 2 * i, 0) < -1e-6;
    assert_true(outside <= 2);
    end(&fitted);
}

/* scikit-learn 4195: with nu n below 1 no row is outside. */
static void
boundary_is_inside(void **unused)
{
    static const struct
    {
        const char *text;
        double middle;
    } cases[] = {{"one_class(rbf(gamma=0.3333333333333333), nu=0.02)", 0.000198},
                 {"one_class(rbf(gamma=0.3333333333333333), nu=0.03)", 0.000297}};
    double x[] = {2, 1, 4.0, 2, 1, 4.1, 2, 1, 4.2};

    (void) unused;
    for (size_t c = 0; c < ELEMENTS(cases); c++)
    {
        Fitted fitted = describe(cases[c].text, 3, 3, x, NULL);

        assert_near(value(&fitted, x, 0), 0, 1e-5);
        assert_near(value(&fitted, x + 6, 0), 0, 1e-5);
        assert_near(value(&fitted, x + 3, 0), cases[c].middle, 1e-6);
        for (size_t i = 0; i < 3; i++)
            assert_true(predicted(&fitted, x + 3 * i) == 1);
        end(&fitted);
    }
}

/* A share nu at most is outside, and at least supports (Schoelkopf et al. 2001, proposition 4); the boundary
 * itself is inside to the bit. */
static void
shares(void **unused)
{
    enum { N = 400 };
    static double x[2 * N];
    const char *texts[] = {"one_class(rbf(gamma=1), nu=0.1)", "one_class(rbf(gamma=1), nu=0.1, tol=1e-8)",
                           "one_class(linear, nu=0.1)"};
    uint64_t seed = 3;

    (void) unused;
    for (size_t i = 0; i < 2 * N; i++)
        x[i] = next_uniform(&seed, -1, 1) + next_uniform(&seed, -1, 1) + 3;
    for (size_t t = 0; t < ELEMENTS(texts); t++)
    {
        Fitted fitted = describe(texts[t], N, 2, x, NULL);
        const KmArray *rows = array(&fitted, "rows"), *coef = array(&fitted, "coef");
        size_t outside = 0;
        double sum = 0;

        for (size_t i = 0; i < N; i++)
            outside += value(&fitted, x + 2 * i, 0) < -1e-3;
        for (size_t s = 0; s < rows->rows; s++)
        {
            sum += coef->data[s];
            if (coef->data[s] < 1)
                assert_true(value(&fitted, rows->data + 2 * s, 0) > 0);
        }
        assert_true(outside <= N / 10 && rows->rows >= N / 10);
        assert_near(sum, N / 10, 1e-9);
        end(&fitted);
    }
}

static void
extremes(void **unused)
{
    double same[] = {1, 1, 1};
    Fitted fitted = describe("one_class(nu=1)", POINTS, 2, points, NULL);

    (void) unused;
    assert_near(fact(&fitted, "n_sv"), POINTS, 0);
    end(&fitted);
    fitted = describe("one_class(rbf(gamma=1))", 1, 1, same, NULL);
    assert_true(predicted(&fitted, same) == 1);
    end(&fitted);
    fitted = describe("one_class(rbf(gamma=1))", 3, 1, same, NULL);
    assert_near(value(&fitted, same, 0), 0, 1e-12);
    end(&fitted);
}

static void
parameters_out_of_range(void **unused)
{
    static const char *const texts[] = {"one_class(nu=0)", "one_class(nu=2)", "one_class(c=1)",
                                        "one_class(probability=true)"};

    (void) unused;
    for (size_t t = 0; t < ELEMENTS(texts); t++)
    {
        Fitted fitted = describe(texts[t], POINTS, 2, points, NULL);

        assert_int_equal(fitted.status, KM_INVALID);
        end(&fitted);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_libsvm),
        cmocka_unit_test(weights_are_repeated_rows),
        cmocka_unit_test(ten_rows),
        cmocka_unit_test(boundary_is_inside),
        cmocka_unit_test(shares),
        cmocka_unit_test(extremes),
        cmocka_unit_test(parameters_out_of_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
