/*
 * test_gpc.c: Gaussian process classification: the mode's own equation, the likelihood by elimination,
 * probabilities by fine sums, weights, errors, cancellation.
 */
#include "regression.h"

#include "elimination.h"

#define N 10
#define D 2

static const char *names[] = {"a", "b", "c"};
static double numbers[] = {NAN, NAN, NAN};

static KmStatus
try_classify(const char *text, size_t n, size_t d, const double *x, size_t k, const uint32_t *label,
             const double *w, KmModel **out)
{
    KmClasses classes = {.n = k, .kind = KM_LABEL_TEXT, .text = names, .number = numbers};
    KmTable table = {.n = n, .d = d, .x = x, .label = label, .classes = &classes, .w = w};

    return try_fit(text, &table, out);
}

static KmScorer *
classify(const char *text, size_t n, size_t d, const double *x, const uint32_t *label, const double *w)
{
    KmModel *model;

    assert_int_equal(try_classify(text, n, d, x, 2, label, w, &model), KM_OK);
    return scorer_of(model);
}

static void
random_rows(double *x, uint32_t *label)
{
    uint64_t seed = 5;

    for (size_t i = 0; i < N; i++)
    {
        x[i * D] = next_uniform(&seed, -2, 2);
        x[i * D + 1] = next_uniform(&seed, -2, 2);
        label[i] = x[i * D] + next_uniform(&seed, -1, 1) > 0;
    }
}

static long double
rbf(const double *x, const double *z)
{
    return 4 * expl(-0.5L * ((x[0] - z[0]) * (x[0] - z[0]) + (x[1] - z[1]) * (x[1] - z[1])));
}

/* At the mode f = K w (t - p(f)); then the likelihood and the variance from their definitions,
 * 1/2 log det(I + K W) and k(z,z) - k'(K + W^-1)^-1 k. */
static void
test_mode_likelihood_variance(void **state)
{
    double x[N * D], f[N], moments[2], w[N], z[D] = {0.3, -0.8};
    long double B[N][MAX_ROWS], S[N][MAX_ROWS], zero[N] = {0}, v[N], slope[N], W[N];
    long double likelihood = 0, variance = 4;
    uint32_t label[N];
    KmScorer *scorer;

    (void) state;
    random_rows(x, label);
    for (size_t i = 0; i < N; i++)
        w[i] = 0.5 + 0.25 * (double) i;
    scorer = classify("gpc(4*rbf(gamma=0.5))", N, D, x, label, w);
    assert_int_equal(km_scorer_values(ctx, scorer, N, x, f), KM_OK);
    for (size_t i = 0; i < N; i++)
    {
        long double p = 1 / (1 + expl(-(long double) f[i]));

        slope[i] = w[i] * (label[i] - p);
        W[i] = w[i] * p * (1 - p);
        likelihood += w[i] * logl(label[i] ? p : 1 - p);
    }
    for (size_t i = 0; i < N; i++)
    {
        long double sum = 0;

        for (size_t j = 0; j < N; j++)
        {
            long double k = rbf(x + i * D, x + j * D);

            sum += k * slope[j];
            B[i][j] = (i == j) + k * W[j];
            S[i][j] = k + (i == j ? 1 / W[i] : 0);
        }
        v[i] = rbf(x + i * D, z);
        likelihood -= 0.5L * slope[i] * f[i];
        assert_close(f[i], (double) sum, 1e-10);
    }
    likelihood -= 0.5L * eliminate(N, B, zero);
    eliminate(N, S, v);
    for (size_t i = 0; i < N; i++)
        variance -= v[i] * rbf(x + i * D, z);
    assert_close(fact(scorer->model, "log_marginal_likelihood"), (double) likelihood, 1e-11);
    assert_int_equal(km_scorer_moments(ctx, scorer, 1, z, moments), KM_OK);
    assert_close(moments[1], (double) variance, 1e-9);
    assert_true(fact(scorer->model, "converged") == 1.0);
}

/* Integral of the logistic function under a normal density, by 2,000,001 points. */
static double
mean_logistic(double mean, double variance)
{
    enum { POINTS = 1000000 };
    double sd = sqrt(variance), sum = 0.0, total = 0.0;

    for (int i = -POINTS; i <= POINTS; i++)
    {
        double t = 10.0 * i / POINTS, density = exp(-0.5 * t * t);

        sum += density / (1.0 + exp(-(mean + sd * t)));
        total += density;
    }
    return sum / total;
}

/* The scale of the kernel sets the variance, the place of the query the mean. */
static void
test_probabilities(void **state)
{
    static const double scales[] = {1e-8, 0.01, 2, 100, 40000}, x[] = {0, 1}, queries[] = {0.2, 2, 30};
    static const uint32_t label[] = {0, 1};

    (void) state;
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
    {
        char text[64];
        KmScorer *scorer;

        snprintf(text, sizeof text, "gpc(%g*rbf(gamma=1))", scales[s]);
        scorer = classify(text, 2, 1, x, label, NULL);
        for (size_t q = 0; q < sizeof queries / sizeof *queries; q++)
        {
            double moments[2], proba[2];

            assert_int_equal(km_scorer_moments(ctx, scorer, 1, queries + q, moments), KM_OK);
            assert_int_equal(km_scorer_proba(ctx, scorer, 1, queries + q, proba), KM_OK);
            assert_close(proba[1], mean_logistic(moments[0], moments[1]), 1e-11);
            assert_close(proba[0] + proba[1], 1.0, 1e-15);
        }
    }
}

/* Opposite labels at opposite rows: nothing speaks for either in the middle. */
static void
test_symmetry(void **state)
{
    static const double x[] = {-1, 1}, middle = 0;
    static const uint32_t label[] = {0, 1};
    KmScorer *scorer = classify("gpc(rbf(gamma=1))", 2, 1, x, label, NULL);
    double value, proba[2], nan = NAN;

    (void) state;
    assert_int_equal(km_scorer_values(ctx, scorer, 1, &middle, &value), KM_OK);
    assert_int_equal(km_scorer_proba(ctx, scorer, 1, &middle, proba), KM_OK);
    assert_true(fabs(value) < 1e-15);
    assert_close(proba[0], 0.5, 1e-15);
    assert_int_equal(km_scorer_class(scorer, &value), value > 0);
    assert_int_equal(km_scorer_proba(ctx, scorer, 1, &nan, proba), KM_OK);
    assert_true(isnan(proba[0]) && isnan(proba[1]));
}

static void
test_weights_are_repeated_rows(void **state)
{
    const char *text = "gpc(4*rbf(gamma=0.5))";
    double x[N * D], w[N], many_x[3 * N * D], z[D] = {0.1, 0.2}, once[2], repeated[2];
    uint32_t label[N], many_label[3 * N];
    size_t n = 0;

    (void) state;
    random_rows(x, label);
    for (size_t i = 0; i < N; i++)
    {
        w[i] = (double) (1 + i % 3);
        for (size_t r = 0; r <= i % 3; r++, n++)
        {
            memcpy(many_x + n * D, x + i * D, D * sizeof *x);
            many_label[n] = label[i];
        }
    }
    assert_int_equal(km_scorer_proba(ctx, classify(text, N, D, x, label, w), 1, z, once), KM_OK);
    assert_int_equal(km_scorer_proba(ctx, classify(text, n, D, many_x, many_label, NULL), 1, z, repeated),
                     KM_OK);
    assert_close(once[1], repeated[1], 1e-10);
}

/* A strong kernel makes Newton's steps too long at first. */
static void
test_strong_kernel(void **state)
{
    double x[N * D], f[N];
    uint32_t label[N];
    KmScorer *scorer;

    (void) state;
    random_rows(x, label);
    scorer = classify("gpc(1000000*rbf(gamma=5))", N, D, x, label, NULL);
    assert_true(fact(scorer->model, "converged") == 1.0);
    assert_int_equal(km_scorer_values(ctx, scorer, N, x, f), KM_OK);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(f[i] > 0, label[i]);
}

static void
test_errors(void **state)
{
    double x[N * D];
    uint32_t label[N] = {0, 1, 2};
    KmModel *model;

    (void) state;
    random_rows(x, label);
    label[0] = 2;
    assert_int_equal(try_classify("gpc", N, D, x, 3, label, NULL, &model), KM_UNSUPPORTED);
    assert_non_null(strstr(ctx->message, "got 3"));
    memset(label, 0, sizeof label);
    assert_int_equal(try_classify("gpc", N, D, x, 1, label, NULL, &model), KM_DATA);
    random_rows(x, label);
    assert_int_equal(try_classify("gpc(1000000*sigmoid(gamma=1, coef0=-2))", N, D, x, 2, label, NULL, &model),
                     KM_SINGULAR);
}

static void
test_cancelling(void **state)
{
    enum { MANY = 700 };
    double *x;
    uint32_t *label;
    Polling polling;
    KmModel *model;
    uint64_t seed = 6;

    (void) state;
    assert_int_equal(km_alloc(ctx, MANY, &x), KM_OK);
    assert_int_equal(km_alloc(ctx, MANY, &label), KM_OK);
    for (size_t i = 0; i < MANY; i++)
    {
        x[i] = next_uniform(&seed, 0, 9);
        label[i] = sin(x[i]) > 0;
    }
    polling_start(ctx, &polling, 60);
    assert_int_equal(try_classify("gpc", MANY, 1, x, 2, label, NULL, &model), KM_CANCELLED);
    polling_end(ctx, &polling);
    assert_int_equal(polling.calls, 60);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_mode_likelihood_variance),
        TEST(test_probabilities),
        TEST(test_symmetry),
        TEST(test_weights_are_repeated_rows),
        TEST(test_strong_kernel),
        TEST(test_errors),
        TEST(test_cancelling),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
