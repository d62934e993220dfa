/*
 * test_features.c: explicit features: monomials of the polynomial kernel, the chi-square map.
 */
#include "sums_support.h"

#include "kernel.h"

/* ---- monomials ---- */

/* <z, z'> = (gamma <x, x'> + coef0)^degree, and as many features as there are monomials. */
static void
test_poly_products(void **state)
{
    const struct { int degree, d; double gamma, coef0; size_t features; } cases[] = {
        {0, 3, 1, 1, 1}, {0, 3, 1, 0, 1}, {1, 4, 2, 0.5, 5}, {2, 3, 1, 1, 10}, {2, 3, 1, 0, 6},
        {3, 5, 0.25, 2, 56}, {3, 5, 0.25, 0, 35}, {7, 2, 0.5, 1, 36}, {4, 1, 3, 0.1, 5},
        {12, 2, 0.7, 0.3, 91}, {3, 20, 0, 2, 1771},
    };

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    {
        enum { N = 6 };
        double *x = random_numbers(*state, c, N * (size_t) cases[c].d), *z;
        char text[100];
        size_t d;

        snprintf(text, sizeof text, "poly_features(%d, gamma=%g, coef0=%g)", cases[c].degree, cases[c].gamma,
                 cases[c].coef0);
        z = features_of(*state, text, N, (size_t) cases[c].d, x, &d);
        assert_int_equal(d, cases[c].features);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++)
            {
                size_t raw = (size_t) cases[c].d;
                double base = cases[c].gamma * inner(raw, x + i * raw, x + j * raw) + cases[c].coef0;
                double expected = pow(base, cases[c].degree);
                double size = sqrt(inner(d, z + i * d, z + i * d) * inner(d, z + j * d, z + j * d));

                assert_true(fabs(inner(d, z + i * d, z + j * d) - expected) <= 1e-14 * (1 + size));
            }
    }
}

/* By hand: (x + 2)^2 on one column, (x1 + x2)^2 without coef0. */
static void
test_poly_by_hand(void **state)
{
    const double x[] = {3, 5};
    size_t d;
    double *z = features_of(*state, "poly_features(2, coef0=2)", 1, 1, x, &d);

    assert_true(d == 3 && fabs(z[0] - 2) < 1e-15 && fabs(z[1] - 6) < 1e-14 && fabs(z[2] - 9) < 1e-14);
    z = features_of(*state, "poly_features(2, coef0=0)", 1, 2, x, &d);
    assert_true(d == 3 && z[0] == 9 && fabs(z[1] - sqrt(2) * 15) < 1e-13 && z[2] == 25);
}

static void
test_poly_limits(void **state)
{
    KmContext *ctx = *state;

    expect_refusal(ctx, "poly_features(5)", 100, KM_LIMIT, "degree 5 on 100 columns");
    assert_non_null(strstr(ctx->hint, "is 2;"));
    expect_refusal(ctx, "poly_features(1000000)", 1000000, KM_LIMIT, "more than 100000 monomials");
    expect_refusal(ctx, "poly_features", 3, KM_INVALID, "degree");
    expect_refusal(ctx, "poly_features(2, coef0=-1)", 3, KM_INVALID, "coef0");
    expect_refusal(ctx, "poly_features(1.5)", 3, KM_INVALID, "degree");
}

/* Ridge on the monomials is kernel ridge with the kernel. */
static void
test_poly_ridge(void **state)
{
    enum { N = 40, D = 3 };
    double *x = random_numbers(*state, 21, N * D), y[N], *exact;
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = 1, .y = y};
    KmModel *model;

    for (size_t i = 0; i < N; i++)
        y[i] = x[3 * i] * x[3 * i + 1] - x[3 * i + 2];
    ok(km_learner_fit(*state, learner_of(*state, "krr(poly(3, gamma=0.5), lambda=2, center=false)"), &table,
                      &model));
    exact = scores_of(*state, model, N, x);
    ok(km_learner_fit(*state, learner_of(*state, "poly_features(3, gamma=0.5) | ridge(2, intercept=false)"),
                      &table, &model));
    assert_all_close(N, scores_of(*state, model, N, x), exact, 1e-10);
}

/* ---- chi-square ---- */

/* scikit-learn 1.9.1: AdditiveChi2Sampler(sample_steps=2).transform([[0.2, 0, 1.5]]), its columns put
 * in the order of here. */
static void
test_chi2_reference(void **state)
{
    const double x[] = {0.2, 0, 1.5}, expected[] = {
        0.31622776601683794, 0.19573976424596712, -0.2034534535480058,
        0.0, 0.0, 0.0,
        0.8660254037844386, 0.7573439847626063, 0.15567694675666394,
    };
    size_t d;
    double *z = features_of(*state, "additive_chi2_features", 1, 3, x, &d);

    assert_int_equal(d, 9);
    for (size_t j = 0; j < 9; j++)
        assert_true(fabs(z[j] - expected[j]) < 1e-14);
}

/* The products tend to sum 2xz / (x + z) with more frequencies. */
static void
test_chi2_tends_to_the_kernel(void **state)
{
    enum { N = 30, D = 4 };
    const char *const texts[] = {"additive_chi2_features(1)", "additive_chi2_features(3)",
                                 "additive_chi2_features(5)", "additive_chi2_features(21, 0.2)"};
    const double limits[] = {0.2, 0.1, 0.05, 2e-3};
    double *x = random_numbers(*state, 22, N * D);

    for (size_t i = 0; i < N * D; i++)
        x[i] = i % 7 == 0 ? 0 : fabs(x[i]) + 0.05;
    for (size_t t = 0; t < 4; t++)
    {
        double worst = 0, *z;
        size_t d;

        z = features_of(*state, texts[t], N, D, x, &d);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j <= i; j++)
            {
                double k = 0;

                for (size_t c = 0; c < D; c++)
                {
                    double a = x[i * D + c], b = x[j * D + c];

                    k += a + b > 0 ? 2 * a * b / (a + b) : 0;
                }
                worst = fmax(worst, fabs(inner(d, z + i * d, z + j * d) - k) / (1 + k));
            }
        assert_true(worst < limits[t]);
    }
}

static void
test_chi2_refusals(void **state)
{
    const double negative[] = {1, -0.5}, zero[] = {0, -0.0};
    KmContext *ctx = *state;
    KmStep step;
    double z[6];

    expect_refusal(ctx, "additive_chi2_features(4)", 2, KM_INVALID, "must be odd, got 4");
    expect_refusal(ctx, "additive_chi2_features(7)", 2, KM_INVALID, "needs an interval");
    expect_refusal(ctx, "additive_chi2_features(3, 0)", 2, KM_INVALID, "interval");
    ok(km_steps_prepare(ctx, learner_of(ctx, "additive_chi2_features"), 2, &step));
    assert_int_equal(step.apply(ctx, &step, 1, negative, z), KM_DATA);
    assert_non_null(strstr(ctx->message, "feature 2 is -0.5"));
    ok(step.apply(ctx, &step, 1, zero, z));
    for (size_t j = 0; j < 6; j++)
        assert_true(z[j] == 0);
}

/* ---- what is refused when it is typed ---- */

static void
test_typed_refusals(void **state)
{
    const struct { const char *text; KmStatus status; const char *says; } cases[] = {
        {"rff(rbf, 101)", KM_INVALID, "n_components of rff must be even, got 101"},
        {"scale | orf(rbf, 3) | ridge", KM_INVALID, "n_components of orf must be even, got 3"},
        {"rff(linear)", KM_UNSUPPORTED, "rff needs one kernel with a spectral density"},
        {"rff(linear*0.5 + rbf, 64)", KM_UNSUPPORTED, "rff needs one kernel with a spectral density"},
        {"orf(laplacian)", KM_UNSUPPORTED, "that depends on lengths only"},
        {"nystroem(sigmoid) | ridge", KM_UNSUPPORTED, "nystroem needs a positive semidefinite kernel"},
        {"additive_chi2_features(4)", KM_INVALID, "must be odd, got 4"},
    };
    KmContext *ctx = *state;
    KmLearner *learner;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
        assert_int_equal(km_learner_parse(ctx, cases[i].text, strlen(cases[i].text), &learner),
                         cases[i].status);
        assert_non_null(strstr(ctx->message, cases[i].says));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_poly_products),
        TEST(test_poly_by_hand),
        TEST(test_poly_limits),
        TEST(test_poly_ridge),
        TEST(test_chi2_reference),
        TEST(test_chi2_tends_to_the_kernel),
        TEST(test_chi2_refusals),
        TEST(test_typed_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
