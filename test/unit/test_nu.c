/* test_nu.c: classification with nu: LIBSVM's values, what nu allows, bug reports. */
#include <stdio.h>

#include "fitting.h"

static Fitted
classify(const char *text, size_t n, size_t d, const double *x, size_t k, const uint32_t *label,
         const double *w)
{
    KmClasses classes = numbered(k);
    KmTable table = {.n = n, .d = d, .x = x, .label = label, .classes = &classes, .w = w};
    Fitted fitted;

    fit(&fitted, text, &table);
    return fitted;
}

static void
values_of_libsvm(void **unused)
{
    static const double rbf[] = {-0.2863515864, 0.3514805414, 0.1088500598, 0.3378964256};
    static const double linear[] = {-0.84375, -1.0 / 6, 1.7083333, 6.5};
    Fitted fitted = classify("nu_svc(rbf(gamma=0.7), nu=0.4, tol=1e-10)", POINTS, 2, points, 2, point_label,
                             NULL);

    (void) unused;
    check_queries(&fitted, rbf, 1e-6);
    end(&fitted);
    fitted = classify("nu_svc(linear, nu=0.6, tol=1e-9)", POINTS, 2, points, 2, point_label, NULL);
    check_queries(&fitted, linear, 1e-5);
    end(&fitted);
}

/* After the division by the margin the bounds are 1/r, and svc with c = 1/r is the same machine
 * (Schoelkopf et al. 2000, proposition 6). */
static void
svc_of_the_same_bound(void **unused)
{
    Fitted fitted = classify("nu_svc(rbf(gamma=0.7), nu=0.6, tol=1e-11)", POINTS, 2, points, 2, point_label,
                             NULL);
    const KmArray *coef = array(&fitted, "coef");
    double bound = 0, expected[QUERIES];
    char text[100];
    Fitted svc;

    (void) unused;
    for (size_t i = 0; i < coef->rows; i++)
        bound = fmax(bound, fabs(coef->data[i]));
    for (size_t i = 0; i < QUERIES; i++)
        expected[i] = value(&fitted, queries + 2 * i, 0);
    snprintf(text, sizeof text, "svc(rbf(gamma=0.7), c=%.17g, tol=1e-11)", bound);
    svc = classify(text, POINTS, 2, points, 2, point_label, NULL);
    check_queries(&svc, expected, 1e-7);
    end(&svc);
    end(&fitted);
}

static void
three_classes(void **unused)
{
    /* scikit-learn's sign is for the first of a pair. */
    static const double expected[QUERIES][3] = {{0.2626923674, 0.9640756682, 0.5568732826},
        {-0.6973174668, -1.299155731, 0.116403825}, {-0.6232017378, -1.578303831, -0.3425670822},
        {-0.1058630498, -0.02396510986, 0.4551785355}};
    Fitted fitted = classify("nu_svc(rbf(gamma=0.7), nu=0.3, tol=1e-10)", POINTS, 2, points, 3, point_class,
                             NULL);

    (void) unused;
    for (size_t i = 0; i < QUERIES; i++)
        for (size_t pair = 0; pair < 3; pair++)
            assert_near(value(&fitted, queries + 2 * i, pair), -expected[i][pair], 1e-6);
    end(&fitted);
}

static void
weights_are_repeated_rows(void **unused)
{
    static const double expected[] = {-0.2988109625, 0.3738787125, -0.207714409, 0.3295584705};
    const char *text = "nu_svc(rbf(gamma=0.7), nu=0.4, tol=1e-10)";
    Repeats repeats = repeat_points();
    Fitted weighted = classify(text, POINTS, 2, points, 2, point_label, point_weight);
    Fitted repeated = classify(text, REPEATED, 2, repeats.x, 2, repeats.label, NULL);

    (void) unused;
    check_repeats(&weighted, &repeated, expected);
}

/* scikit-learn 33478: nine rows against one. */
static void
largest_nu(void **unused)
{
    static const struct
    {
        const char *text;
        KmStatus status;
    } cases[] = {{"nu_svc(linear, nu=0.19)", KM_OK}, {"nu_svc(linear, nu=0.2)", KM_OK},
                 {"nu_svc(linear, nu=0.2000001)", KM_INVALID}, {"nu_svc(linear, nu=0.3)", KM_INVALID}};
    double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 20}, w[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 3};
    uint32_t label[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

    (void) unused;
    for (size_t c = 0; c < ELEMENTS(cases); c++)
    {
        Fitted fitted = classify(cases[c].text, 10, 1, x, 2, label, NULL);

        assert_int_equal(fitted.status, cases[c].status);
        if (fitted.status == KM_OK)
            assert_true(value(&fitted, x, 0) < 0 && value(&fitted, x + 9, 0) > 0);
        else
            assert_non_null(strstr(fitted.ctx->message, "the largest here is 0.2"));
        end(&fitted);
    }
    /* Weights count: 2 * 3 / 12. */
    for (int above = 0; above < 2; above++)
    {
        Fitted fitted = classify(above ? "nu_svc(linear, nu=0.51)" : "nu_svc(linear, nu=0.5)", 10, 1, x, 2,
                                 label, w);

        assert_int_equal(fitted.status, above ? KM_INVALID : KM_OK);
        end(&fitted);
    }
}

/* Both classes at one point: no margin, and no division by it. */
static void
hulls_that_meet(void **unused)
{
    double x[] = {1, 1, 1, 1};
    uint32_t label[] = {0, 1, 0, 1};
    Fitted fitted = classify("nu_svc(rbf(gamma=1), nu=0.5)", 4, 1, x, 2, label, NULL);

    (void) unused;
    assert_near(value(&fitted, x, 0), 0, 1e-9);
    end(&fitted);
}

/* scikit-learn 13075: six rows that kept a solver busy for ever. */
static void
six_rows(void **unused)
{
    double x[] = {0, .3, 1, 1, 0, .6, 0, .3, .99, .6, 1, .4, 1, 0, .55, 0, .31, 1};
    uint32_t label[] = {0, 1, 1, 0, 1, 0};
    Fitted fitted = classify("nu_svc(poly(degree=3, gamma=0.3333333333333333, coef0=10), "
                             "nu=0.2857142857142857)", 6, 3, x, 2, label, NULL);

    (void) unused;
    assert_true(fact(&fitted, "converged") == 1 && fact(&fitted, "iterations") < 1000);
    end(&fitted);
}

static void
parameters_out_of_range(void **unused)
{
    static const char *const texts[] = {"nu_svc(nu=0)", "nu_svc(nu=1.5)", "nu_svc(c=1)",
                                        "nu_svc(class_weight=balanced)"};
    uint32_t one[POINTS] = {0};

    (void) unused;
    for (size_t t = 0; t < ELEMENTS(texts); t++)
    {
        Fitted fitted = classify(texts[t], POINTS, 2, points, 2, point_label, NULL);

        assert_int_equal(fitted.status, KM_INVALID);
        end(&fitted);
    }
    Fitted fitted = classify("nu_svc", POINTS, 2, points, 1, one, NULL);
    assert_int_equal(fitted.status, KM_DATA);
    assert_string_equal(fitted.ctx->message, "nu_svc needs at least two classes, found only \"0\"");
    end(&fitted);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_libsvm),
        cmocka_unit_test(svc_of_the_same_bound),
        cmocka_unit_test(three_classes),
        cmocka_unit_test(weights_are_repeated_rows),
        cmocka_unit_test(largest_nu),
        cmocka_unit_test(hulls_that_meet),
        cmocka_unit_test(six_rows),
        cmocka_unit_test(parameters_out_of_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
