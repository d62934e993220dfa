/*
 * test_target.c: values of kernels by the scoring path.
 */
#include "context_support.h"

#include "gram.h"
#include "kernel_eval.h"
#include "kernel_reference.h"

static KmKernel *
parse(KmContext *ctx, const char *text)
{
    KmKernel *kernel;

    if (km_kernel_parse(ctx, text, strlen(text), &kernel) != KM_OK)
        fail_msg("%s: %s", text, ctx->message);
    return kernel;
}

static double
value(KmContext *ctx, const char *text, size_t d, const double *x, const double *z)
{
    double out;

    if (km_kernel_value(ctx, parse(ctx, text), d, x, z, &out) != KM_OK)
        fail_msg("%s: %s", text, ctx->message);
    return out;
}

static double
value1(KmContext *ctx, const char *text, double x, double z)
{
    return value(ctx, text, 1, &x, &z);
}

static void
assert_near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%.17g for %.17g", got, expected);
}

static double *
random_rows(KmContext *ctx, size_t n, size_t d, uint64_t seed)
{
    double *x;

    assert_int_equal(km_alloc(ctx, n * d, &x), KM_OK);
    for (size_t i = 0; i < n * d; i++)
        x[i] = next_uniform(&seed, -1.5, 1.5);
    return x;
}

/* ---- values ---- */

static void
test_reference(void **state)
{
    for (size_t r = 0; r < N_REFERENCE; r++)
    {
        for (size_t i = 0; i < 4; i++)
        {
            for (size_t j = 0; j < 4; j++)
                assert_near(value(*state, reference[r].kernel, 3, reference_x + 3 * i, reference_z + 3 * j),
                            reference[r].value[4 * i + j], 1e-12);
        }
    }
}

static void
test_reference_positive(void **state)
{
    for (size_t r = 0; r < N_REFERENCE_POSITIVE; r++)
    {
        for (size_t i = 0; i < 3; i++)
        {
            for (size_t j = 0; j < 3; j++)
                assert_near(value(*state, reference_positive[r].kernel, 2, reference_positive_x + 2 * i,
                                  reference_positive_z + 2 * j),
                            reference_positive[r].value[3 * i + j], 1e-12);
        }
    }
}

static void
test_known_values(void **state)
{
    static const double x[] = {0.1, 0.2}, widened[] = {(float) 0.1, (float) 0.2};

    assert_near(value1(*state, "rbf(gamma=1)", 1e8, 1e8 + 1), 0.36787944117144233, 1e-12);
    assert_near(value1(*state, "matern(2.5, 1)", 0, 1), 0.523994108832, 1e-12);
    assert_near(value1(*state, "matern(2.5, 0.5)", 0, 2), 0.004777084547, 1e-12);
    assert_near(value1(*state, "matern(1.5, 1)", 0, 1), 0.483357724597, 1e-12);
    assert_near(value(*state, "linear", 2, x, x), 0.05, 1e-17);
    assert_near(value(*state, "linear", 2, widened, widened), 0.05000000149011613, 1e-17);
    assert_near(value1(*state, "poly(7, 0.5, 0)", 2, 3), 2187, 1e-12);
    assert_near(value1(*state, "poly(0)", 2, 3), 1, 0);
}

static void
test_far_and_zero_distances(void **state)
{
    static const char *const texts[] = {
        "rbf(gamma=1)", "laplacian(gamma=1)", "exponential", "matern(0.5)", "matern", "matern(2.5)",
        "matern(0.8)", "matern(12)", "gibbs([0, 0])"};

    assert_true(value1(*state, "rbf(gamma=1)", 0, 28.3) <= 0x1p-1074);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    {
        assert_true(value1(*state, texts[i], 0, 1000) == 0);
        assert_true(value1(*state, texts[i], 1e200, -1e200) == 0);
        assert_true(value1(*state, texts[i], 0.3, 0.3) == 1);
    }
}

static void
test_cosine(void **state)
{
    double zero[2] = {0, 0}, unit[2] = {1, 0}, large[2] = {3e200, 4e200}, small[2] = {3e-200, 0};
    double x[1536], z[1536];

    for (size_t k = 0; k < 1536; k++)
    {
        x[k] = 0.111;
        z[k] = 0.1;
    }
    assert_true(value(*state, "cosine", 1536, x, z) <= 1);
    assert_near(value(*state, "cosine", 1536, x, z), 1, 1e-12);
    assert_true(value(*state, "cosine", 2, zero, unit) == 0);
    assert_true(value(*state, "cosine", 2, zero, zero) == 0);
    assert_near(value(*state, "cosine", 2, large, small), 0.6, 1e-15);
    for (int exponent = -320; exponent <= 307; exponent++)
    {
        double size = pow(10, exponent), row[2] = {3 * size, 4 * size}, turned[2] = {row[1], row[0]};

        /* Below DBL_MIN the rows themselves have few digits. */
        assert_near(value(*state, "cosine", 2, row, turned), 0.96, exponent < -307 ? 1e-3 : 1e-15);
    }
    for (size_t i = 0; i < 300; i++)
    {
        const double *row = random_rows(*state, 1, 7, i);

        assert_true(value(*state, "cosine", 7, row, row) <= 1);
        km_context_reset(*state);
    }
}

static void
test_dims(void **state)
{
    static const double x[] = {1, 100, 2}, z[] = {3, -100, 5};

    assert_true(value(*state, "linear(dims=[1, 3])", 3, x, z) == 13);
    assert_true(value(*state, "linear(dims=[2]) + linear(dims=[3])", 3, x, z) == -9990);
    assert_near(value(*state, "rbf(length_scale=[3, 2], dims=[3, 1])", 3, x, z), exp(-1), 1e-15);
    assert_true(value(*state, "constant(4, dims=[2])", 3, x, z) == 4);
}

/* A singular metric sees only x1 + x2. */
static void
test_singular_metric(void **state)
{
    static const double x[] = {1, 2}, z[] = {4, -1}, other[] = {1, 1};

    assert_near(value(*state, "rbf(metric=[[1, 1], [1, 1]])", 2, x, z), 1, 1e-15);
    assert_near(value(*state, "rbf(metric=[[1, 1], [1, 1]])", 2, x, other), exp(-0.5), 1e-15);
    assert_near(value(*state, "rbf(metric=[[0, 0], [0, 0]])", 2, x, other), 1, 0);
    /* of rank 1 up to rounding */
    assert_near(value(*state, "rbf(metric=[[0.01, 0.07], [0.07, 0.49]])", 2, x, other), exp(-0.245), 1e-15);
}

/* ---- operations ---- */

static void
test_operations(void **state)
{
    static const double x[] = {0.5, -1}, z[] = {2, 0.25};
    double dot = 0.75, rbf = exp(-0.5 * (2.25 + 1.5625));

    assert_near(value(*state, "2 * rbf(gamma=0.5) * linear + -3", 2, x, z), 2 * rbf * dot - 3, 1e-15);
    assert_near(value(*state, "(linear + 1) ^ 5", 2, x, z), pow(1.75, 5), 1e-15);
    assert_near(value(*state, "exp(linear ^ 2) + linear", 2, x, z), exp(0.5625) + 0.75, 1e-15);
    assert_near(value(*state, "normalize(linear)", 2, x, z), 0.75 / sqrt(1.25 * 4.0625), 1e-15);
    assert_near(value(*state, "normalize(exp(linear))", 2, x, z), exp(0.75 - (1.25 + 4.0625) / 2), 1e-15);
    /* two of them, one inside the other: the inner diagonal is 1 */
    assert_near(value(*state, "normalize(normalize(linear) + 1) + normalize(2 * linear)", 2, x, z),
                1.5 * 0.75 / sqrt(1.25 * 4.0625) + 0.5, 1e-15);
}

static void
test_normalize_edges(void **state)
{
    static const double zero[] = {0, 0}, x[] = {3, 4}, huge[] = {3e120, 4e120}, tiny[] = {3e-120, 4e-120};
    uint64_t seed = 5;

    assert_true(value(*state, "normalize(linear)", 2, zero, x) == 0);
    assert_true(value(*state, "normalize(linear)", 2, zero, zero) == 0);
    assert_true(value(*state, "normalize(-1 * rbf(gamma=1))", 2, x, x) == 0);
    assert_near(value(*state, "normalize(linear)", 2, huge, x), 1, 1e-15);
    assert_near(value(*state, "normalize(linear)", 2, huge, huge), 1, 1e-15);
    assert_near(value(*state, "normalize(linear)", 2, tiny, tiny), 1, 1e-15);
    assert_true(isnan(value(*state, "normalize(poly)", 2, huge, x)));
    assert_true(isnan(value(*state, "normalize(poly)", 2, x, huge)));
    for (int i = 0; i < 200; i++)
    {
        double row[3];

        for (int k = 0; k < 3; k++)
            row[k] = next_uniform(&seed, -5, 5);
        assert_true(value(*state, "normalize(linear + rbf(gamma=0.2) * poly)", 3, row, row) == 1);
        km_context_reset(*state);
    }
}

/* The diagonal that tiles use is that of the scoring path. */
static void
test_self(void **state)
{
    static const char *const texts[] = {
        "linear", "poly(3, 0.3, 2)", "rbf(gamma=0.4)", "laplacian(gamma=1)", "matern",
        "sigmoid(gamma=0.1)", "3", "linear(dims=[2, 3])"};
    const double *x = random_rows(*state, 10, 3, 8);
    double rows[30], self[10];

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    {
        const KmKernel *kernel = parse(*state, texts[i]);

        assert_int_equal(km_leaf_rows(*state, &kernel->leaf, 10, 3, x, rows), KM_OK);
        km_leaf_self(&kernel->leaf, 10, km_leaf_dimension(&kernel->leaf, 3), rows, self);
        for (size_t j = 0; j < 10; j++)
            assert_true(self[j] == value(*state, texts[i], 3, x + 3 * j, x + 3 * j));
    }
}

/* ---- batches ---- */

/* One row alone, a batch, and one stored row alone give the same bits; symmetric too. */
static void
test_same_bits(void **state)
{
    static const char *const texts[] = {
        "linear", "poly(gamma=0.2)", "rbf(gamma=0.3)", "laplacian(gamma=0.2)",
        "matern(2.5, [1, 2, 3, 4, 5, 6, 7])", "cosine", "sigmoid(gamma=0.1)",
        "normalize(2 * rbf(gamma=0.5) ^ 2 + exp(cosine(dims=[3, 1])) * linear)", "matern(0.8)", "matern(4.2)",
        "rational_quadratic(0.3) + cauchy * inverse_multiquadric", "periodic(0.7, 3)", "wave(3)",
        "spectral_mixture([1, 2], [[1, 0.1], [0, 0.3]], [[0.1, 0], [0.2, 0.3]], dims=[7, 2])",
        "gibbs([1, 0.1, 0, -0.2, 0.1, 0, 0.3, 0])"};
    enum { n = 600, m = KM_SCORE_ROWS, d = 7 };
    const double *z = random_rows(*state, n, d, 1), *x = random_rows(*state, m, d, 2);

    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
    {
        KmKernel *kernel = parse(*state, texts[t]);
        double *batch, *single, one;
        KmTarget *target;
        size_t ld;

        assert_int_equal(km_target_create(*state, kernel, n, d, z, &target), KM_OK);
        ld = km_target_stride(target);
        assert_true(ld >= n && ld % KM_PANEL_WIDTH == 0);
        assert_int_equal(km_alloc((KmContext *) *state, m * ld, &batch), KM_OK);
        assert_int_equal(km_alloc((KmContext *) *state, ld, &single), KM_OK);
        assert_int_equal(km_target_values(*state, target, m, x, ld, batch), KM_OK);
        for (size_t i = 0; i < m; i++)
        {
            assert_int_equal(km_target_values(*state, target, 1, x + i * d, ld, single), KM_OK);
            assert_memory_equal(batch + i * ld, single, n * sizeof *single);
        }
        for (size_t j = 0; j < n; j += 37)
        {
            assert_int_equal(km_kernel_value(*state, kernel, d, x, z + j * d, &one), KM_OK);
            assert_memory_equal(&one, batch + j, sizeof one);
            assert_int_equal(km_kernel_value(*state, kernel, d, z + j * d, x, &one), KM_OK);
            assert_memory_equal(&one, batch + j, sizeof one);
        }
        km_target_free(*state, target);
    }
}

static void
test_no_stored_rows(void **state)
{
    static const double x[] = {1, 2};
    KmTarget *target;
    double out;

    assert_int_equal(km_target_create(*state, parse(*state, "normalize(linear)"), 0, 2, x, &target), KM_OK);
    assert_int_equal(km_target_stride(target), 0);
    assert_int_equal(km_target_values(*state, target, 1, x, 0, &out), KM_OK);
}

/* k(x, z) = x1 z2, for rows without negative elements: what only the rows themselves tell. */
static void product_of_rows(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z,
                            double *out)
{
    (void) leaf;
    for (size_t j = 0; j < n; j++)
        out[j] = x[0] * z[j * d + d - 1];
}

static void
test_kernel_of_rows(void **state)
{
    static const KmKernelType type = {.signature = {.name = "rows"}, .geometry = KM_GEOMETRY_ROWS,
                                      .pairs = product_of_rows, .nonnegative = true};
    static const double x[] = {2, 3}, z[] = {5, 7}, negative[] = {1, -1};
    KmKernel kernel = {.op = KM_OP_LEAF, .leaf = {.type = &type}, .n_leaves = 1};
    double out;

    assert_int_equal(km_kernel_value(*state, &kernel, 2, x, z, &out), KM_OK);
    assert_true(out == 14);
    assert_int_equal(km_kernel_value(*state, &kernel, 2, negative, z, &out), KM_DATA);
    assert_int_equal(km_kernel_value(*state, &kernel, 2, x, negative, &out), KM_DATA);
}

/* ---- domains ---- */

static void assert_outside(KmContext *ctx, const char *text, size_t d, const double *x, const double *z,
                           KmStatus status, const char *words)
{
    double out;

    assert_int_equal(km_kernel_value(ctx, parse(ctx, text), d, x, z, &out), status);
    if (strstr(ctx->message, words) == NULL)
        fail_msg("%s: %s", text, ctx->message);
}

static void
test_domains(void **state)
{
    static const char *const positive[] = {"chi2", "additive_chi2", "chi2_mercer", "min", "brownian",
                                           "1 + rbf(gamma=1)*min"};
    static const double x[] = {0, 1, 0.5}, negative[] = {0, 1, -0.5};

    for (size_t i = 0; i < sizeof positive / sizeof positive[0]; i++)
    {
        assert_outside(*state, positive[i], 3, negative, x, KM_DATA, "element 3 of row 1 is -0.5");
        assert_outside(*state, positive[i], 3, x, negative, KM_DATA, ">= 0");
    }
    assert_outside(*state, "min(dims=[3, 1])", 3, negative, x, KM_DATA, "element 3 of row 1 is -0.5");
    assert_near(value(*state, "min(dims=[1, 2])", 3, negative, x), 1, 0);
    assert_near(value(*state, "geometric", 3, negative, x), 4, 1e-15);
    assert_outside(*state, "geometric", 3, x, x, KM_RANGE, "<x,z> < 1, but it is 1.25 for rows 1 and 1");
}

/* 0/0 counts as 0. */
static void
test_empty_counts(void **state)
{
    static const double x[] = {0, 2}, z[] = {0, 2}, zero[] = {0, 0};

    assert_true(value(*state, "chi2", 2, x, z) == 1 && value(*state, "chi2", 2, zero, zero) == 1);
    assert_true(value(*state, "additive_chi2", 2, x, z) == 0);
    assert_true(value(*state, "chi2_mercer", 2, x, z) == 2);
    assert_true(value(*state, "chi2_mercer", 2, zero, zero) == 0);
}

/* ---- unusable input ---- */

static void
test_nan_is_an_error(void **state)
{
    static const char *const texts[] = {
        "linear", "rbf(gamma=1)", "poly"};
    static const size_t lengths[] = {3, 4, 8, 16, 520};
    static double good[520], bad[520];
    KmContext *ctx = *state;
    double out;

    for (size_t t = 0; t < 3; t++)
    {
        const KmKernel *kernel = parse(ctx, texts[t]);

        for (size_t l = 0; l < 5; l++)
        {
            bad[0] = l % 2 ? NAN : INFINITY;
            assert_int_equal(km_kernel_value(ctx, kernel, lengths[l], good, bad, &out), KM_DATA);
            assert_non_null(strstr(ctx->message, "element 1 of z"));
            assert_int_equal(km_kernel_value(ctx, kernel, lengths[l], bad, good, &out), KM_DATA);
        }
    }
}

/* NaN in a query gives NaN, whatever the kernel, and never a number. */
static void
test_nan_in_a_query(void **state)
{
    static const char *const texts[] = {
        "linear", "poly", "rbf(gamma=1)", "laplacian(gamma=1)", "matern", "cosine",
        "sigmoid(gamma=1)", "normalize(linear)", "normalize(cosine)", "exp(rbf(gamma=1))", "matern(0.8)",
        "matern(200)", "rational_quadratic", "cauchy", "inverse_multiquadric", "periodic", "wave",
        "spectral_mixture([1], [[1, 1]], [[1, 1]])", "gibbs([0, 1, 0])", "geometric", "chi2", "additive_chi2",
        "chi2_mercer", "min", "brownian"};
    static const double z[] = {1, 2, 0, 0}, x[] = {NAN, 0};

    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
    {
        KmTarget *target;
        double out[8];

        assert_int_equal(km_target_create(*state, parse(*state, texts[t]), 1, 2, z, &target), KM_OK);
        assert_int_equal(km_target_values(*state, target, 1, x, 8, out), KM_OK);
        if (!isnan(out[0]))
            fail_msg("%s: %g", texts[t], out[0]);
    }
}

static void
test_not_ready(void **state)
{
    static const double x[] = {1};
    KmContext *ctx = *state;
    double out;

    assert_int_equal(km_kernel_value(ctx, parse(ctx, "rbf"), 1, x, x, &out), KM_UNSUPPORTED);
    assert_non_null(strstr(ctx->message, "gamma"));
    assert_int_equal(km_kernel_value(ctx, parse(ctx, "rbf(grid(1, 2))"), 1, x, x, &out), KM_UNSUPPORTED);
    assert_int_equal(km_kernel_value(ctx, parse(ctx, "linear(dims=[2])"), 1, x, x, &out), KM_DIMENSION);
}

/* ---- Gram matrices of close points far from the origin ---- */

/* The n x n Gram matrix of n numbers. */
static double *
gram(KmContext *ctx, const char *text, size_t n, const double *x)
{
    KmTarget *target;
    double *k, *rows;
    size_t ld;

    assert_int_equal(km_target_create(ctx, parse(ctx, text), n, 1, x, &target), KM_OK);
    ld = km_target_stride(target);
    assert_int_equal(km_alloc(ctx, n * n, &k), KM_OK);
    assert_int_equal(km_alloc(ctx, ld, &rows), KM_OK);
    for (size_t i = 0; i < n; i++)
    {
        assert_int_equal(km_target_values(ctx, target, 1, x + i, ld, rows), KM_OK);
        memcpy(k + i * n, rows, n * sizeof *k);
    }
    return k;
}

static void
test_close_points_far_away(void **state)
{
    double x[513], eigenvalues[513];

    for (size_t n = 512; n <= 513; n++)
    {
        for (size_t i = 0; i < n; i++)
            x[i] = 500 + (double) i / (double) (n - 1);
        assert_int_equal(km_symmetric_eigenvalues(*state, n, gram(*state, "rbf(length_scale=1)", n, x),
                                                  eigenvalues), KM_OK);
        assert_true(eigenvalues[0] >= -1e-10);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reference),
        TEST(test_reference_positive),
        TEST(test_known_values),
        TEST(test_far_and_zero_distances),
        TEST(test_cosine),
        TEST(test_dims),
        TEST(test_singular_metric),
        TEST(test_operations),
        TEST(test_normalize_edges),
        TEST(test_self),
        TEST(test_same_bits),
        TEST(test_no_stored_rows),
        TEST(test_kernel_of_rows),
        TEST(test_domains),
        TEST(test_empty_counts),
        TEST(test_nan_is_an_error),
        TEST(test_nan_in_a_query),
        TEST(test_not_ready),
        TEST(test_close_points_far_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
