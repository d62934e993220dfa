/*
 * test_kernel_gradient.c: derivatives of every kernel against differences of Gram matrices, the list of free
 * parameters, their names, writing them back.
 */
#include "random_kernels.h"

#include "gram.h"
#include "kernel_gradient.h"
#include "polling.h"

/* sum_ij W_ij K_ij, the lower triangle of W standing for both. */
static double
weighted_sum(const KmKernel *kernel, size_t n, size_t d, const double *x, const double *W)
{
    double *K, sum = 0;

    assert_int_equal(km_alloc(ctx, n * n, &K), KM_OK);
    assert_int_equal(km_gram_fill(ctx, kernel, make_points(kernel, n, d, x, NULL), false, n, K), KM_OK);
    for (size_t i = 0; i < n; i++)
    {
        for (size_t j = 0; j <= i; j++)
            sum += (i == j ? 1 : 2) * W[i * n + j] * K[i * n + j];
    }
    return sum;
}

/* (f(theta + h) - f(theta - h)) / 2h of one parameter, the others as they are. */
static double
difference(const char *text, size_t p, size_t n, size_t d, const double *x, const double *W)
{
    const double h = 1e-4;
    double f[2];

    for (int side = 0; side < 2; side++)
    {
        KmKernel *kernel = parse(text);
        KmParameter *parameter;
        size_t count;
        double *value;

        assert_int_equal(km_kernel_parameters(ctx, kernel, &count, &parameter), KM_OK);
        assert_int_equal(km_alloc(ctx, count, &value), KM_OK);
        for (size_t q = 0; q < count; q++)
            value[q] = parameter[q].value;
        value[p] = parameter[p].log ? value[p] * exp(side ? h : -h) : value[p] + (side ? h : -h);
        assert_int_equal(km_kernel_set_parameters(ctx, kernel, count, value), KM_OK);
        f[side] = weighted_sum(kernel, n, d, x, W);
    }
    return (f[1] - f[0]) / (2 * h);
}

/* Relative to the derivative, and to the sum for what cancels in its differences. */
static void
check_gradient(const char *text, size_t n, size_t d, uint64_t seed)
{
    const double *x = uniforms(n * d, 0.01, 0.4, seed), *W = uniforms(n * n, -1, 1, seed + 1);
    KmKernel *kernel = parse(text);
    KmParameter *parameter;
    size_t count;
    double *gradient;

    assert_int_equal(km_kernel_parameters(ctx, kernel, &count, &parameter), KM_OK);
    assert_int_equal(km_alloc(ctx, count, &gradient), KM_OK);
    assert_int_equal(km_kernel_gradient(ctx, kernel, make_points(kernel, n, d, x, NULL), n, W, gradient),
                     KM_OK);
    for (size_t p = 0; p < count; p++)
    {
        double expected = difference(text, p, n, d, x, W), scale = fabs(weighted_sum(kernel, n, d, x, W));

        if (!(fabs(gradient[p] - expected) <= 1e-6 * fabs(expected) + 1e-8 * (scale + 1)))
            fail_msg("%s, d %zu, parameter %zu: %.12g for %.12g", text, d, p, gradient[p], expected);
    }
}

static void
test_single_kernels(void **state)
{
    static const size_t dimensions[] = {1, 2, 5};
    uint64_t seed = 3;
    char text[2000];

    (void) state;
    for (size_t l = 0; l < N_LEAF_TEXTS; l++)
    {
        for (size_t t = 0; t < 3; t++)
        {
            write_leaf(&seed, leaf_texts[l], dimensions[t], text);
            check_gradient(text, 25, dimensions[t], l);
            km_context_reset(ctx);
        }
    }
}

static void
test_compositions(void **state)
{
    static const size_t dimensions[] = {1, 2, 5};
    uint64_t seed = 17;
    char text[20000];

    (void) state;
    for (size_t i = 0; i < 150; i++)
    {
        write_kernel(&seed, 4, dimensions[i % 3], text);
        check_gradient(text, 12, dimensions[i % 3], i);
        km_context_reset(ctx);
    }
}

static void
test_other_kernels(void **state)
{
    static const char *const texts[] = {
        "-0.7*rbf(gamma=2) + sigmoid(0.8, 0.3)", "poly(2, 0.5, -0.4)", "poly(0)",
        "additive_chi2 + white(0.3)",
        "rbf(gamma=2, dims=[2])*linear(dims=[1]) + matern(1.5, [0.3], dims=[3])",
        "rbf(metric=[[2, 1, 0], [1, 2, 0], [0, 0, 1]])*3",
        "normalize(normalize(2*linear + 1)*rbf(gamma=1) + 0.5)",
        "spectral_mixture([0.5, 0], [[0, 1, 2], [1, -1, 0]], [[0, 1, 0.5], [0.3, 0, 0.2]])"};

    (void) state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_gradient(texts[i], 20, 3, i);
}

/* Several blocks of rows and columns. */
static void
test_many_tiles(void **state)
{
    (void) state;
    check_gradient("2*rbf(length_scale=[0.2, 0.5, 0.3])", 700, 3, 1);
    check_gradient("1.2*matern(1.5, [0.2, 0.5])*periodic(0.5, 0.8) + normalize(0.3 + linear)", 600, 2, 2);
}

/* ---- the list of parameters ---- */

static void
check_list(const char *text, const char *expected)
{
    KmKernel *kernel = parse(text);
    KmParameter *parameter;
    KmText list = {0};
    size_t n;

    assert_int_equal(km_kernel_parameters(ctx, kernel, &n, &parameter), KM_OK);
    for (size_t p = 0; p < n; p++)
    {
        assert_int_equal(km_parameter_name(ctx, kernel, &parameter[p], &list), KM_OK);
        assert_int_equal(km_text_addf(ctx, &list, "%s%g; ", parameter[p].log ? " log " : " ",
                                      parameter[p].value), KM_OK);
    }
    assert_string_equal(n == 0 ? "" : list.data, expected);
}

static void
test_lists(void **state)
{
    (void) state;
    check_list("rbf(gamma=0.5)", "gamma of rbf log 0.5; ");
    check_list("rbf(length_scale=[1, 2])", "length_scale[1] of rbf log 1; length_scale[2] of rbf log 2; ");
    check_list("rbf(metric=[[1]])", "");
    check_list("2.5*matern + linear^2",
               "value of constant (part 1) log 2.5; length_scale of matern (part 2) log 1; ");
    check_list("poly(coef0=-1, gamma=0)", "coef0 of poly -1; ");
    check_list("white(3) + 0", "");
    check_list("-2*linear", "value of constant (part 1) -2; ");
    check_list("spectral_mixture([1, 0], [[2, 0], [3, 4]], [[0, 1], [1, 1]])",
               "weights[1] of spectral_mixture log 1; means[1][1] of spectral_mixture 2; "
               "means[1][2] of spectral_mixture 0; means[2][1] of spectral_mixture 3; "
               "means[2][2] of spectral_mixture 4; variances[1][2] of spectral_mixture log 1; "
               "variances[2][1] of spectral_mixture log 1; variances[2][2] of spectral_mixture log 1; ");
}

static void
check_written(const char *text, size_t n, const double *value, const char *expected)
{
    KmKernel *kernel = parse(text);
    KmParameter *parameter;
    KmText printed = {0};
    size_t count;

    assert_int_equal(km_kernel_set_parameters(ctx, kernel, n, value), KM_OK);
    assert_int_equal(km_spec_print(ctx, kernel->node, &printed), KM_OK);
    assert_string_equal(printed.data, expected);
    assert_int_equal(km_kernel_parameters(ctx, kernel, &count, &parameter), KM_OK);
    assert_int_equal(count, n);
    for (size_t p = 0; p < n; p++)
        assert_true(parameter[p].value == value[p]);
}

static void
test_written_back(void **state)
{
    static const double values[] = {3, 0.25, 7, 11, 0.5, 0.125};

    (void) state;
    check_written("rbf(gamma=0.5)", 1, values, "rbf(gamma=3)");
    check_written("matern", 1, values, "matern(length_scale=3)");
    check_written("2.5*matern(2.5, [1, 2]) + periodic + 1", 6, values,
                  "3*matern(nu=2.5, length_scale=[0.25, 7]) + periodic(period=11, length_scale=0.5) + 0.125");
    check_written("poly(2, coef0=-3)", 2, values, "poly(degree=2, gamma=3, coef0=0.25)");
    check_written("spectral_mixture([1], [[1, 2]], [[0, 2]])", 4, values,
                  "spectral_mixture(weights=[3], means=[[0.25, 7]], variances=[[0, 11]])");
}

static void
test_flags_follow(void **state)
{
    static const double value[] = {1, 2};
    KmKernel *kernel = parse("exp(poly(2, coef0=-1))");

    (void) state;
    assert_int_equal(kernel->flags, 0);
    assert_int_equal(km_kernel_set_parameters(ctx, kernel, 2, value), KM_OK);
    assert_int_equal(kernel->flags, KM_PSD);
}

static void
test_refused(void **state)
{
    static const double value[] = {-1, 2};
    KmParameter *parameter;
    size_t n;

    (void) state;
    assert_int_equal(km_kernel_parameters(ctx, parse("rbf"), &n, &parameter), KM_UNSUPPORTED);
    assert_int_equal(km_kernel_set_parameters(ctx, parse("rbf(gamma=1)"), 1, value), KM_INVALID);
    assert_int_equal(km_kernel_set_parameters(ctx, parse("rbf(gamma=1)"), 2, value), KM_INTERNAL);
}

static void
test_polls_and_stops(void **state)
{
    size_t n = 1500, d = 10;
    KmKernel *kernel = parse("rbf(length_scale=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1])*cauchy");
    KmPoints *points = make_points(kernel, n, d, uniforms(n * d, 0, 1, 1), NULL);
    const double *W = uniforms(n * n, -1, 1, 2);
    double gradient[11];
    Polling polling;

    (void) state;
    polling_start(ctx, &polling, 4);
    assert_int_equal(km_kernel_gradient(ctx, kernel, points, n, W, gradient), KM_CANCELLED);
    polling_end(ctx, &polling);
    assert_true(polling.longest < 0.05);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_kernels),
        cmocka_unit_test(test_compositions),
        cmocka_unit_test(test_other_kernels),
        cmocka_unit_test(test_many_tiles),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_written_back),
        cmocka_unit_test(test_flags_follow),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_polls_and_stops),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
