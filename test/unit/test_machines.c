/*
 * test_machines.c: what all support vector machines share: one-vs-rest, precomputed kernels, equal rows,
 * advice, and blocks with two groups of variables.
 */
#include <stdio.h>

#include "fitting.h"
#include "numbers.h"

static Fitted
classify(const char *text, size_t n, size_t d, const double *x, size_t k, const uint32_t *label)
{
    KmClasses classes = numbered(k);
    KmTable table = {.n = n, .d = d, .x = x, .label = label, .classes = &classes};
    Fitted fitted;

    fit(&fitted, text, &table);
    return fitted;
}

/* ---- one against the rest ---- */

static void
one_against_the_rest(void **unused)
{
    /* LIBSVM's machines of each class, by scikit-learn 1.9 at tol=1e-12. */
    static const double expected[3][QUERIES] = {{0.2594533443, -1.502080415, -1.281697465, -0.5124431652},
        {-0.523232838, 0.1063603307, -0.2431328573, -0.1460849546},
        {-1.093439243, -0.8295784207, 0.2838125382, -0.8681107506}};
    Fitted fitted = classify("svc(rbf(gamma=0.7), c=2, multiclass=ovr, tol=1e-10)", POINTS, 2, points, 3,
                             point_class);
    static const double class[QUERIES] = {0, 1, 2, 1};

    (void) unused;
    for (size_t i = 0; i < QUERIES; i++)
    {
        for (size_t c = 0; c < 3; c++)
            assert_near(value(&fitted, queries + 2 * i, c), expected[c][i], 1e-6);
        assert_true(predicted(&fitted, queries + 2 * i) == class[i]);
    }
    end(&fitted);
}

static void
rest_without_a_class(void **unused)
{
    Fitted fitted = classify("svc(rbf(gamma=0.7), multiclass=ovr, class_weight={1: 0})", POINTS, 2, points, 3,
                             point_class);

    (void) unused;
    for (size_t i = 0; i < POINTS; i++)
        assert_true(predicted(&fitted, points + 2 * i) != 1);
    end(&fitted);
    fitted = classify("svc(poly(degree=1, gamma=0), c=inf, multiclass=ovr)", POINTS, 2, points, 3,
                      point_class);
    assert_int_equal(fitted.status, KM_DATA);
    assert_non_null(strstr(fitted.ctx->message, "from the rest"));
    end(&fitted);
}

/* Two classes are one machine either way. */
static void
rest_of_two(void **unused)
{
    Fitted rest = classify("svc(rbf(gamma=0.7), multiclass=ovr)", POINTS, 2, points, 2, point_label);
    Fitted pair = classify("svc(rbf(gamma=0.7))", POINTS, 2, points, 2, point_label);

    (void) unused;
    for (size_t i = 0; i < QUERIES; i++)
        assert_true(value(&rest, queries + 2 * i, 0) == value(&pair, queries + 2 * i, 0));
    end(&rest);
    end(&pair);
}

/* ---- precomputed ---- */

/* Row i of points, or of queries, against all points. */
static void
precompute(const double *x, double number, double *row)
{
    row[0] = number;
    for (size_t j = 0; j < POINTS; j++)
        row[1 + j] = exp(-0.7 * (pow(x[0] - points[2 * j], 2) + pow(x[1] - points[2 * j + 1], 2)));
}

static void
precomputed_matrix(void **unused)
{
    static const char *const texts[][2] = {
        {"svc(rbf(gamma=0.7), c=2, tol=1e-9)", "svc(precomputed, c=2, tol=1e-9)"},
        {"nu_svc(2*rbf(gamma=0.7), nu=0.4, tol=1e-9)", "nu_svc(2*precomputed, nu=0.4, tol=1e-9)"},
        {"svc(rbf(gamma=0.7), multiclass=ovr, tol=1e-9)", "svc(precomputed, multiclass=ovr, tol=1e-9)"},
    };
    double matrix[POINTS][1 + POINTS], row[1 + POINTS];

    (void) unused;
    for (size_t i = 0; i < POINTS; i++)
        precompute(points + 2 * i, (double) (i + 1), matrix[i]);
    for (size_t t = 0; t < ELEMENTS(texts); t++)
    {
        size_t k = t == 2 ? 3 : 2;
        const uint32_t *label = t == 2 ? point_class : point_label;
        Fitted fitted = classify(texts[t][0], POINTS, 2, points, k, label);
        Fitted given = classify(texts[t][1], POINTS, 1 + POINTS, matrix[0], k, label);

        assert_near(fact(&fitted, "objective"), fact(&given, "objective"), 1e-9);
        for (size_t i = 0; i < QUERIES; i++)
        {
            /* A new row's own number means nothing. */
            precompute(queries + 2 * i, -5.5, row);
            assert_near(value(&fitted, queries + 2 * i, 0), value(&given, row, 0), 1e-8);
        }
        end(&fitted);
        end(&given);
    }
}

static void
precomputed_refusals(void **unused)
{
    double asymmetric[] = {1, 1, 0.2, 2, 0.9, 1}, numbers[][3] = {{0, 1, 0}, {3, 1, 0}, {1.5, 1, 0}, {-1, 1,
                                                                                                      0}};
    uint32_t label[] = {0, 1};
    Fitted fitted = classify("svc(precomputed)", 2, 3, asymmetric, 2, label);

    (void) unused;
    assert_int_equal(fitted.status, KM_INVALID);
    assert_non_null(strstr(fitted.ctx->message, "k(2,1) is 0.9, k(1,2) is 0.2"));
    end(&fitted);
    for (size_t c = 0; c < ELEMENTS(numbers); c++)
    {
        double x[] = {1, 1, 0, numbers[c][0], 0, 1};

        fitted = classify("svc(precomputed)", 2, 3, x, 2, label);
        assert_int_equal(fitted.status, KM_INVALID);
        end(&fitted);
    }
    fitted = classify("svc(precomputed + rbf)", 2, 3, asymmetric, 2, label);
    assert_int_equal(fitted.status, KM_INVALID);
    end(&fitted);
}

/* ---- equal rows ---- */

static void
equal_rows_are_one(void **unused)
{
    double x[] = {1, 1, 1, 2, 3, 3}, y[] = {1, 1, 1, 0, 2, 2.5};
    KmTable table = {.n = 6, .d = 1, .x = x, .n_targets = 1, .y = y};
    Fitted fitted;

    (void) unused;
    fit(&fitted, "svr(rbf(gamma=1), c=0.1, epsilon=0)", &table);
    /* The second 3 has another target. */
    assert_int_equal(array(&fitted, "rows")->rows, 4);
    for (size_t s = 0; s < 4; s++)
        assert_true(fabs(array(&fitted, "coef")->data[s]) <= 0.1 * (s == 0 ? 3 : 1) + 1e-15);
    end(&fitted);
    /* Each of them has noise of its own. */
    fit(&fitted, "svr(rbf(gamma=1) + white(variance=0.1), c=0.1, epsilon=0)", &table);
    assert_int_equal(array(&fitted, "rows")->rows, 6);
    end(&fitted);
}

/* ---- advice ---- */

static void
advice_to_scale(void **unused)
{
    enum { N = 80 };
    double x[2 * N];
    uint32_t label[N];
    uint64_t seed = 5;
    Fitted fitted;

    (void) unused;
    for (size_t i = 0; i < N; i++)
    {
        x[2 * i] = next_uniform(&seed, 0, 1e-2);
        x[2 * i + 1] = next_uniform(&seed, -1e3, 1e3);
        label[i] = next_bits(&seed) % 2;
    }
    fitted = classify("svc(linear, c=1000, max_iter=20000)", N, 2, x, 2, label);
    assert_true(fitted.warnings == 0 && fitted.notices == 1);
    end(&fitted);
    fitted = classify("scale | svc(linear, c=1000, max_iter=20000)", N, 2, x, 2, label);
    assert_int_equal(fitted.notices, 0);
    end(&fitted);
    fitted = classify("svc(rbf(gamma=1e-6))", N, 2, x, 2, label);
    assert_int_equal(fitted.notices, 0);
    end(&fitted);
}

/* ---- large problems go by blocks, also with two groups ---- */

#define LARGE 9000

/* nu_svc and svc with the same bound, as in test_nu.c. */
static void
large_problems(void **unused)
{
    static double x[2 * LARGE];
    static uint32_t label[LARGE];
    uint64_t seed = 8;
    Fitted nu, svc;
    char text[100];
    double bound = 0;

    (void) unused;
    for (size_t i = 0; i < LARGE; i++)
    {
        x[2 * i] = next_uniform(&seed, -1, 1);
        x[2 * i + 1] = next_uniform(&seed, -1, 1);
        label[i] = x[2 * i] * x[2 * i + 1] + next_uniform(&seed, -0.1, 0.1) > 0;
    }
    nu = classify("nu_svc(rbf(gamma=2), nu=0.4, tol=1e-5)", LARGE, 2, x, 2, label);
    for (size_t s = 0; s < array(&nu, "coef")->rows; s++)
        bound = fmax(bound, fabs(array(&nu, "coef")->data[s]));
    snprintf(text, sizeof text, "svc(rbf(gamma=2), c=%.17g, tol=1e-5)", bound);
    svc = classify(text, LARGE, 2, x, 2, label);
    assert_true(fact(&nu, "converged") == 1 && fact(&svc, "converged") == 1);
    for (size_t i = 0; i < 50; i++)
        assert_near(value(&nu, x + 2 * i, 0), value(&svc, x + 2 * i, 0), 1e-4);
    end(&svc);
    end(&nu);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_against_the_rest),
        cmocka_unit_test(rest_without_a_class),
        cmocka_unit_test(rest_of_two),
        cmocka_unit_test(precomputed_matrix),
        cmocka_unit_test(precomputed_refusals),
        cmocka_unit_test(equal_rows_are_one),
        cmocka_unit_test(advice_to_scale),
        cmocka_unit_test(large_problems),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
