/*
 * test_kernel.c: the language of kernels: canonical text, flags, errors, values learnt from data, spectral
 * samplers.
 */
#include "context_support.h"

#include "kernel_eval.h"

static void
assert_near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%.17g for %.17g", got, expected);
}

static KmKernel *
parse(KmContext *ctx, const char *text)
{
    KmKernel *kernel;

    if (km_kernel_parse(ctx, text, strlen(text), &kernel) != KM_OK)
        fail_msg("%s: %s", text, ctx->message);
    return kernel;
}

static const char *
print(KmContext *ctx, const KmKernel *kernel)
{
    KmText text = {0};

    assert_int_equal(km_spec_print(ctx, kernel->node, &text), KM_OK);
    return text.data;
}

/* ---- canonical text ---- */

static void
test_canonical(void **state)
{
    static const char *const texts[][2] = {
        {"RBF", "rbf"},
        {"gaussian(0.5)", "rbf(gamma=0.5)"},
        {"rbf(median)", "rbf(gamma=median)"},
        {"polynomial(2, coef0=0)", "poly(degree=2, coef0=0)"},
        {"poly(coef0=0, degree=2)", "poly(degree=2, coef0=0)"},
        {"tanh(1)", "sigmoid(gamma=1)"},
        {"matern(2.5, 1.4)", "matern(nu=2.5, length_scale=1.4)"},
        {"exponential([1,2])", "exponential(length_scale=[1, 2])"},
        {"linear(dims=[1, 3])", "linear(dims=[1, 3])"},
        {"exp(linear)", "exp(linear)"},
        {"normalize(kernel=poly(2))", "normalize(poly(degree=2))"},
        {"2.5*Gaussian(gamma=1)^2+linear", "2.5*rbf(gamma=1)^2 + linear"},
        {"(linear + 1) ^ 3", "(linear + 1)^3"},
        {"linear * (rbf + cosine)", "linear*(rbf + cosine)"},
        {"7", "7"},
        {"rational_quadratic(2, [1, 3])", "rational_quadratic(alpha=2, length_scale=[1, 3])"},
        {"cauchy(3, dims=[2]) + inverse_multiquadric(0.5)",
         "cauchy(length_scale=3, dims=[2]) + inverse_multiquadric(c=0.5)"},
        {"periodic(12, [1, 2])*wave(3)", "periodic(period=12, length_scale=[1, 2])*wave(period=3)"},
        {"spectral_mixture([1], [[2, 0]], [[1, 0.5]])",
         "spectral_mixture(weights=[1], means=[[2, 0]], variances=[[1, 0.5]])"},
        {"gibbs([0, -1])", "gibbs(log_length=[0, -1])"},
        {"min + brownian + geometric + chi2(2) + white(0.5)",
         "min + brownian + geometric + chi2(gamma=2) + white(variance=0.5)"},
        {"constant(7)", "constant(value=7)"},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_string_equal(print(*state, parse(*state, texts[i][0])), texts[i][1]);
}

/* Text of a random kernel, at most `depth` operations deep; returns its length. */
static size_t
random_kernel(uint64_t *seed, int depth, char *out)
{
    static const char *const leaves[] = {
        "linear", "RBF", "rbf(gamma=0.25)", "gaussian(length_scale=[1, 2.5e-3])", "poly(2, coef0=-1)",
        "laplacian(median)", "exponential(3)", "matern(0.5, dims=[2, 7])", "cosine", "tanh", "0.1", "-3",
        "rbf(metric=[[2, 1], [1, 2]], dims=[3, 1])"};
    size_t length;

    if (depth == 0 || next_bits(seed) % 4 == 0)
        return (size_t) sprintf(out, "%s", leaves[next_bits(seed) % (sizeof leaves / sizeof leaves[0])]);
    switch (next_bits(seed) % 5)
    {
        case 0:
        case 1:
            length = (size_t) sprintf(out, "(");
            length += random_kernel(seed, depth - 1, out + length);
            length += (size_t) sprintf(out + length, next_bits(seed) % 2 ? " + " : "*");
            length += random_kernel(seed, depth - 1, out + length);
            return length + (size_t) sprintf(out + length, ")");
        case 2:
            length = (size_t) sprintf(out, "(");
            length += random_kernel(seed, depth - 1, out + length);
            return length + (size_t) sprintf(out + length, ")^%d", (int) (1 + next_bits(seed) % 4));
        default:
            length = (size_t) sprintf(out, next_bits(seed) % 2 ? "exp(0.5 * " : "normalize(1 + ");
            length += random_kernel(seed, depth - 1, out + length);
            return length + (size_t) sprintf(out + length, ")");
    }
}

static size_t
count_leaves(const KmKernel *kernel)
{
    size_t n = kernel->op == KM_OP_LEAF;

    for (size_t i = 0; i < kernel->n; i++)
        n += count_leaves(kernel->child[i]);
    return n;
}

static void
test_print_parses_to_itself(void **state)
{
    uint64_t seed = 1;
    char text[8192];

    for (int i = 0; i < 2000; i++)
    {
        const KmKernel *kernel, *again;
        const char *printed;

        random_kernel(&seed, 5, text);
        kernel = parse(*state, text);
        printed = print(*state, kernel);
        again = parse(*state, printed);
        assert_string_equal(print(*state, again), printed);
        assert_int_equal(again->flags, kernel->flags);
        assert_int_equal(count_leaves(kernel), kernel->n_leaves);
        assert_int_equal(again->n_leaves, kernel->n_leaves);
        km_context_reset(*state);
    }
}

/* ---- flags ---- */

static void
test_flags(void **state)
{
    static const struct
    {
        const char *text;
        unsigned flags;
    } cases[] = {
        {"linear", KM_PSD | KM_PLANE},
        {"poly", KM_PSD},
        {"poly(2, coef0=-1)", 0},
        {"poly(2, gamma=scale, coef0=-1)", 0},
        {"poly(0, coef0=-1)", KM_PSD},
        {"sigmoid", 0},
        {"cosine", KM_BOUNDED | KM_PSD | KM_PLANE},
        {"rbf", KM_STATIONARY | KM_BOUNDED | KM_PSD},
        {"matern + laplacian", KM_STATIONARY | KM_BOUNDED | KM_PSD},
        {"rbf + linear", KM_PSD},
        {"2 * rbf + 0.5", KM_STATIONARY | KM_BOUNDED | KM_PSD},
        {"-2 * rbf", KM_STATIONARY},
        {"rbf + -0.5", KM_STATIONARY},
        {"exp(rbf)^3", KM_STATIONARY | KM_BOUNDED | KM_PSD},
        {"exp(sigmoid)", 0},
        {"normalize(linear)", KM_BOUNDED | KM_PSD},
        {"normalize(sigmoid)", 0},
        {"rational_quadratic*cauchy + inverse_multiquadric", KM_STATIONARY | KM_BOUNDED | KM_PSD},
        {"periodic + wave + spectral_mixture([1], [2], [3])", KM_STATIONARY | KM_BOUNDED | KM_PSD},
        {"gibbs([0, 1])", KM_BOUNDED | KM_PSD},
        {"chi2", KM_BOUNDED | KM_PSD}, {"additive_chi2", 0}, {"chi2_mercer + min + brownian", KM_PSD},
        {"geometric", KM_PSD}, {"rbf + white", KM_STATIONARY | KM_BOUNDED | KM_PSD},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
        if (parse(*state, cases[i].text)->flags != cases[i].flags)
            fail_msg("%s: flags %u", cases[i].text, parse(*state, cases[i].text)->flags);
    }
}

static void
test_needs_data_and_grid(void **state)
{
    static const struct
    {
        const char *text;
        bool needs_data, has_grid;
    } cases[] = {
        {"rbf", true, false}, {"laplacian", true, false}, {"sigmoid", true, false}, {"poly", false, false},
        {"rbf(gamma=1)", false, false}, {"rbf(length_scale=2)", false, false},
        {"rbf(length_scale=[1, 2])", false, false}, {"rbf(metric=[[1]])", false, false},
        {"rbf(length_scale=median)", true, false}, {"matern", false, false},
        {"matern(1.5, scale)", true, false},
        {"2 * exp(linear + rbf)", true, false}, {"rbf(gamma=grid(0.1, 1))", false, true},
        {"linear + matern(2.5, logspace(-1, 1, 3))", false, true}, {"matern(nu=grid(0.5, 1.5))", false, true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
        const KmKernel *kernel = parse(*state, cases[i].text);

        if (km_kernel_needs_data(kernel) != cases[i].needs_data ||
            km_kernel_has_grid(kernel) != cases[i].has_grid)
            fail_msg("%s", cases[i].text);
        assert_int_equal(km_kernel_check_ready(*state, kernel),
                         cases[i].needs_data || cases[i].has_grid ? KM_UNSUPPORTED : KM_OK);
    }
}

/* ---- errors ---- */

/* Every text is refused, with `word` somewhere in the message, detail or hint. */
static void
test_errors(void **state)
{
    static const struct
    {
        const char *text;
        KmStatus status;
        const char *word;
    } cases[] = {
        {"rbff", KM_INVALID, "\"rbff\""}, {"rbff", KM_INVALID, "matern"}, {"rbff", KM_INVALID, "normalize"},
        {"svc(rbf)", KM_INVALID, "learner"}, {"scale", KM_INVALID, "learner"},
        {"scale | rbf", KM_INVALID, "learner"},
        {"[1, 2]", KM_INVALID, "kernel"}, {"'rbf'", KM_INVALID, "kernel"}, {"", KM_SYNTAX, ""},
        {"rbf(gama=1)", KM_INVALID, "gama"}, {"rbf(degree=3)", KM_INVALID, "degree"},
        {"rbf(gamma=-1)", KM_INVALID, "gamma"}, {"rbf(gamma=0)", KM_INVALID, "gamma"},
        {"rbf(gamma=inf)", KM_INVALID, "gamma"}, {"rbf(gamma=best)", KM_INVALID, "median"},
        {"laplacian(gamma=0)", KM_INVALID, "gamma"}, {"sigmoid(gamma=-1)", KM_INVALID, "gamma"},
        {"poly(-1)", KM_INVALID, "degree"}, {"poly(1.5)", KM_INVALID, "whole"},
        {"rbf(length_scale=0)", KM_INVALID, "length_scale"},
        {"rbf(length_scale=[1, -1])", KM_INVALID, "length_scale"},
        {"rbf(length_scale=1e-200)", KM_INVALID, "length_scale"},
        {"rbf(length_scale=1e200)", KM_INVALID, "length_scale"},
        {"rbf(length_scale=[1, 1e-310])", KM_INVALID, "length_scale"},
        {"matern(length_scale=[])", KM_INVALID, "length_scale"},
        {"rbf(gamma=1, length_scale=1)", KM_INVALID, "length_scale"},
        {"matern(-0.8)", KM_INVALID, "-0.8"}, {"matern(0)", KM_INVALID, "nu"},
        {"rational_quadratic(0)", KM_INVALID, "alpha"},
        {"inverse_multiquadric(1e200)", KM_INVALID, "c = 1e+200"},
        {"periodic(period=0)", KM_INVALID, "period"},
        {"periodic(length_scale=median)", KM_INVALID, "length_scale"},
        {"periodic(length_scale=[1, 1e-200])", KM_INVALID, "length_scale"},
        {"spectral_mixture([1], [1])", KM_INVALID, "variances"},
        {"spectral_mixture([1], [1, 2], [1, 2])", KM_INVALID, "1 weights"},
        {"spectral_mixture([1], [[1, 2]], [1])", KM_INVALID, "1 x 2"},
        {"spectral_mixture([-1], [1], [1])", KM_INVALID, "weights"},
        {"gibbs", KM_INVALID, "log_length"}, {"gibbs([1])", KM_INVALID, "log_length"},
        {"chi2(-1)", KM_INVALID, "gamma"}, {"white(-1)", KM_INVALID, "variance"},
        {"2*white", KM_INVALID, "white(variance"}, {"rbf*(linear + white)", KM_INVALID, "summand"},
        {"exp(white)", KM_INVALID, "white"}, {"(white + rbf)^2", KM_INVALID, "white"},
        {"rbf(metric=[[1, 2], [3, 4]])", KM_INVALID, "symmetric"},
        {"rbf(metric=[[1, 2], [2, 1]])", KM_INVALID, "positive semidefinite"},
        {"rbf(metric=[[0, 1], [1, 0]])", KM_INVALID, "positive semidefinite"},
        {"rbf(metric=[[-1]])", KM_INVALID, "positive semidefinite"},
        {"rbf(metric=[[1, 0]])", KM_INVALID, "square"},
        {"linear(dims=[0])", KM_INVALID, "dims"}, {"linear(dims=[1.5])", KM_INVALID, "whole"},
        {"linear(dims=[2, 1, 2])", KM_INVALID, "twice"},
        {"linear ^ 0", KM_INVALID, "whole"}, {"linear ^ 1.5", KM_INVALID, "whole"},
        {"linear ^ -1", KM_INVALID, "whole"},
        {"exp", KM_INVALID, "kernel"}, {"exp(linear, linear)", KM_INVALID, "exp"},
        {"normalize(frob)", KM_INVALID, "frob"},
    };
    KmContext *ctx = *state;
    KmKernel *kernel;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
        KmStatus status = km_kernel_parse(ctx, cases[i].text, strlen(cases[i].text), &kernel);

        if (status != cases[i].status)
            fail_msg("%s: status %d, %s", cases[i].text, status, status == KM_OK ? "" : ctx->message);
        if (!strstr(ctx->message, cases[i].word) && !strstr(ctx->detail, cases[i].word) &&
            !strstr(ctx->hint, cases[i].word))
            fail_msg("%s: %s; %s; %s", cases[i].text, ctx->message, ctx->detail, ctx->hint);
    }
}

static void
test_dimensions(void **state)
{
    static const struct
    {
        const char *text;
        size_t d;
        KmStatus status;
    } cases[] = {
        {"linear", 1, KM_OK}, {"linear", 0, KM_DIMENSION},
        {"rbf(dims=[1, 3])", 3, KM_OK}, {"1 + exp(rbf(dims=[1, 3]))", 2, KM_DIMENSION},
        {"matern(length_scale=[1, 2])", 2, KM_OK}, {"matern(length_scale=[1, 2])", 3, KM_DIMENSION},
        {"matern(length_scale=[1, 2], dims=[3, 1])", 3, KM_OK},
        {"rbf(metric=[[1, 0], [0, 1]])", 2, KM_OK}, {"rbf(metric=[[1, 0], [0, 1]])", 1, KM_DIMENSION},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(km_kernel_check_dimension(*state, parse(*state, cases[i].text), cases[i].d),
                         cases[i].status);
}

/* ---- values learnt from data ---- */

static const char *
resolved(KmContext *ctx, const char *text, size_t n, size_t d, const double *x, const double *w)
{
    KmKernel *kernel = parse(ctx, text);

    if (km_kernel_resolve(ctx, kernel, n, d, x, w) != KM_OK)
        fail_msg("%s: %s", text, ctx->message);
    assert_false(km_kernel_needs_data(kernel));
    assert_int_equal(km_kernel_check_ready(ctx, kernel), KM_OK);
    return print(ctx, kernel);
}

/* The value of the first parameter of a lone leaf. */
static double
learnt(KmContext *ctx, const char *text, const char *name, size_t n, size_t d, const double *x,
       const double *w)
{
    KmKernel *kernel = parse(ctx, text);

    assert_int_equal(km_kernel_resolve(ctx, kernel, n, d, x, w), KM_OK);
    return km_arg_number(&kernel->leaf.args, name);
}

/* Of all six entries. */
#define VARIANCE (99 + 5.0 / 9)

/* Distances 2, sqrt(416), sqrt(404); in the 1-norm 2, 24, 22. */
static void
test_resolve_words(void **state)
{
    static const double x[] = {0, 10, 2, 10, 4, 30};
    static const struct
    {
        const char *text, *name;
        double value;
    } cases[] = {
        {"rbf", "gamma", 1 / (2 * VARIANCE)},
        {"rbf(dims=[1])", "gamma", 1 / (8.0 / 3)},
        {"poly(gamma=scale)", "gamma", 1 / (2 * VARIANCE)},
        {"rbf(gamma=median)", "gamma", 1 / (2 * 404.0)},
        {"laplacian(median)", "gamma", 1 / 22.0},
        {"rbf(length_scale=scale)", "length_scale", 9.9777530313971741},
        {"matern(2.5, median)", "length_scale", 20.099751242241780},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_near(learnt(*state, cases[i].text, cases[i].name, 3, 2, x, NULL), cases[i].value,
                    4e-16 * cases[i].value);
    assert_string_equal(resolved(*state, "2 * laplacian + (sigmoid(coef0=1) + rbf(dims=[2], gamma=auto)) ^ 2 "
                                 "+ rbf(gamma=3)", 3, 2, x, NULL),
                        "2*laplacian(gamma=0.5) + (sigmoid(gamma=0.5, coef0=1) + rbf(gamma=1, dims=[2]))^2 "
                        "+ rbf(gamma=3)");
}

/* Zero and vanishing variances give gamma = 1, overflowing ones an error. */
static void
test_resolve_degenerate(void **state)
{
    static const double equal[] = {3, 3, 3, 3, 3, 3, 3, 3}, mostly_equal[] = {1, 1, 1, 1, 2};
    static const double tiny[] = {1e-170, 3e-170}, huge[] = {1e200, -1e200};

    assert_string_equal(resolved(*state, "rbf", 4, 2, equal, NULL), "rbf(gamma=1)");
    assert_string_equal(resolved(*state, "rbf(median)", 4, 2, equal, NULL), "rbf(gamma=1)");
    assert_string_equal(resolved(*state, "laplacian(median)", 4, 2, equal, NULL), "laplacian(gamma=1)");
    assert_string_equal(resolved(*state, "rbf", 2, 1, tiny, NULL), "rbf(gamma=1)");
    assert_string_equal(resolved(*state, "rbf(median)", 2, 1, tiny, NULL), "rbf(gamma=1)");
    for (size_t i = 0; i < 2; i++)
    {
        KmKernel *kernel;
        const char *text = i == 0 ? "laplacian(scale)" : "rbf(median)";

        assert_int_equal(km_kernel_parse(*state, text, strlen(text), &kernel), KM_OK);
        assert_int_equal(km_kernel_resolve(*state, kernel, 2, 1, huge, NULL), KM_RANGE);
    }
    assert_string_equal(resolved(*state, "laplacian(median)", 5, 1, mostly_equal, NULL),
                        "laplacian(gamma=1)");
    assert_string_equal(resolved(*state, "rbf(length_scale=median)", 5, 1, mostly_equal, NULL),
                        "rbf(length_scale=1)");
}

static void
test_weights_are_repetitions(void **state)
{
    static const double x[] = {1, 0, 4, 2, 9, -3, 2, 2}, w[] = {3, 1, 2, 4};
    static const char *const words[] = {"rbf(scale)", "rbf(median)", "rbf(gamma=auto)"};
    double repeated[10 * 2];
    size_t n = 0;

    for (size_t i = 0; i < 4; i++)
    {
        for (int r = 0; r < w[i]; r++, n++)
            memcpy(repeated + 2 * n, x + 2 * i, 2 * sizeof *x);
    }
    for (size_t i = 0; i < 3; i++)
        assert_near(learnt(*state, words[i], "gamma", 4, 2, x, w),
                           learnt(*state, words[i], "gamma", n, 2, repeated, NULL), 1e-15);
}

/* Of w repetitions each, w large, 6 w^2 / 2 pairs are at distance 0 and 15 w^2 at 1,1,2,2,3,3,4,5,…: the
 * middle of 18 w^2 / 2 lies between 3 and 4. */
static void
test_median_of_extreme_weights(void **state)
{
    static const double x[] = {1, 2, 3, 5, 8, 13}, huge[] = {1e300, 1e300, 1e300, 1e300, 1e300, 1e300};

    assert_near(learnt(*state, "rbf(median)", "gamma", 6, 1, x, huge), 1 / (2 * 3.5 * 3.5), 1e-15);
}

static int
compare_numbers(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* All pairs of few rows, by sorting. */
static void
test_median_distance(void **state)
{
    enum { n = 60, d = 3, pairs = n * (n - 1) / 2 };
    double x[n * d], distance[pairs], median;
    uint64_t seed = 4;
    size_t m = 0;

    for (size_t i = 0; i < n * d; i++)
        x[i] = next_uniform(&seed, -1, 1);
    for (size_t i = 0; i < n; i++)
    {
        for (size_t j = 0; j < i; j++)
            distance[m++] = hypot(hypot(x[i * d] - x[j * d], x[i * d + 1] - x[j * d + 1]),
                                  x[i * d + 2] - x[j * d + 2]);
    }
    qsort(distance, pairs, sizeof *distance, compare_numbers);
    assert_int_equal(km_median_distance(*state, n, d, x, NULL, KM_PAIR_SQDIST, &median), KM_OK);
    assert_near(median, (distance[pairs / 2 - 1] + distance[pairs / 2]) / 2, 1e-15);
}

/* A sample of many rows: the same for any order, and near the truth (1 - 1/sqrt 2 for uniform numbers). */
static void
test_median_sample(void **state)
{
    enum { n = 20000 };
    uint64_t seed = 9;
    double *x, forwards, backwards;

    assert_int_equal(km_alloc((KmContext *) *state, n, &x), KM_OK);
    for (size_t i = 0; i < n; i++)
        x[i] = next_uniform(&seed, 0, 1);
    assert_int_equal(km_median_distance(*state, n, 1, x, NULL, KM_PAIR_L1, &forwards), KM_OK);
    for (size_t i = 0; i < n / 2; i++)
    {
        double swap = x[i];

        x[i] = x[n - 1 - i];
        x[n - 1 - i] = swap;
    }
    assert_int_equal(km_median_distance(*state, n, 1, x, NULL, KM_PAIR_L1, &backwards), KM_OK);
    assert_true(forwards == backwards);
    assert_near(forwards, 1 - sqrt(0.5), 0.02);
}

/* ---- spectral samplers ---- */

/* The mean of cos<w, r> over many frequencies is k(r), to a few standard errors. */
static void
test_samplers(void **state)
{
    static const char *const texts[] = {
        "rbf(gamma=0.7)", "rbf(length_scale=[0.5, 2])", "laplacian(gamma=0.6)", "exponential(1.3)",
        "matern(1.5, 0.8)", "matern(2.5, [1, 3])", "rbf(metric=[[2, 1], [1, 3]])", "matern(0.3, 0.9)",
        "matern(7.2, 0.7)", "rational_quadratic(0.4, 0.8)", "rational_quadratic(3, [1, 0.5])", "cauchy(0.7)",
        "spectral_mixture([0.5, 2], [[0.3, 0.1], [-0.2, 0.5]], [[0.05, 0.1], [0, 0.2]])"};
    enum { m = 40000, d = 2 };
    static const double x[] = {0.3, -0.4}, z[] = {-0.2, 0.5};
    double *w;

    assert_int_equal(km_alloc((KmContext *) *state, m * d, &w), KM_OK);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    {
        const KmKernel *kernel = parse(*state, texts[i]);
        const KmLeaf *leaf = &kernel->leaf;
        double rows[2 * d], value, at_zero, mean = 0, both[] = {x[0], x[1], z[0], z[1]};

        assert_int_equal(km_leaf_rows(*state, leaf, 2, d, both, rows), KM_OK);
        assert_int_equal(leaf->type->sample(*state, leaf, 42, m, d, w), KM_OK);
        for (size_t j = 0; j < m; j++)
            mean += cos(w[j * d] * (rows[0] - rows[2]) + w[j * d + 1] * (rows[1] - rows[3])) / m;
        assert_int_equal(km_kernel_value(*state, kernel, d, x, z, &value), KM_OK);
        assert_int_equal(km_kernel_value(*state, kernel, d, x, x, &at_zero), KM_OK);
        if (fabs(mean - value / at_zero) > 4 / sqrt(2.0 * m))
            fail_msg("%s: %g for %g", texts[i], mean, value / at_zero);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_canonical),
        TEST(test_print_parses_to_itself),
        TEST(test_flags),
        TEST(test_needs_data_and_grid),
        TEST(test_errors),
        TEST(test_dimensions),
        TEST(test_resolve_words),
        TEST(test_resolve_degenerate),
        TEST(test_weights_are_repetitions),
        TEST(test_median_of_extreme_weights),
        TEST(test_median_distance),
        TEST(test_median_sample),
        TEST(test_samplers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
