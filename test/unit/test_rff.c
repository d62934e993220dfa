/*
 * test_rff.c: random Fourier features: given frequencies, bandwidth, error law, grid, refusals.
 */
#include "sums_support.h"

#include "kernel.h"
#include "orthogonal.h"
#include "rff.h"
#include "rff_reference.h"

enum { SEEDS = 24 };

static void
test_given_frequencies(void **state)
{
    KmContext *ctx = *state;
    enum { D = 2 * REFERENCE_FREQUENCIES };
    double phases[REFERENCE_ROWS * REFERENCE_FREQUENCIES], z[REFERENCE_ROWS * D];
    KmPanel panel;

    ok(km_panel_create(ctx, REFERENCE_FREQUENCIES, REFERENCE_COLUMNS, reference_w, &panel));
    km_fourier_waves(&panel, REFERENCE_ROWS, reference_x, phases, D, z);
    for (size_t i = 0; i < REFERENCE_ROWS * D; i++)
        assert_true(fabs(z[i] * sqrt(2.0 / D) - reference_cos_sin[i]) <= 1e-12);
}

/* E079: a factor of 2 in the variance of the frequencies would give 0.6065. */
static void
test_bandwidth(void **state)
{
    const double x[] = {0, 1};
    double mean = 0;

    for (int seed = 0; seed < SEEDS; seed++)
    {
        char text[80];
        size_t d;
        double *z, k;

        snprintf(text, sizeof text, "rff(rbf(gamma=1), 20000, seed=%d)", seed);
        z = features_of(*state, text, 2, 1, x, &d);
        k = inner(d, z, z + d);
        assert_int_equal(d, 20000);
        assert_true(fabs(k - exp(-1)) < 0.03);
        assert_true(fabs(inner(d, z, z) - 1) < 1e-4 && fabs(inner(d, z + d, z + d) - 1) < 1e-4);
        mean += k / SEEDS;
        km_context_reset(*state);
    }
    assert_true(fabs(mean - exp(-1)) < 4 * 0.0062 / sqrt(SEEDS));
}

static double
squared_distance(size_t d, const double *a, const double *b)
{
    double sum = 0;

    for (size_t k = 0; k < d; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Errors of the approximate kernel over all pairs and seeds, beside their theory. */
typedef struct Errors
{
    double rms, theory, worst_mean;
} Errors;

static Errors
measure_errors(KmContext *ctx, const char *step, size_t n_components)
{
    enum { N = REFERENCE_ROWS, P = N * (N - 1) / 2 };
    double squares = 0, theory = 0, mean[P] = {0};
    Errors errors = {0};

    for (int seed = 0; seed < SEEDS; seed++)
    {
        char text[80];
        size_t d, pair = 0;
        double *z;

        snprintf(text, sizeof text, "%s(rbf(gamma=0.3), %zu, seed=%d)", step, n_components, seed + 100);
        z = features_of(ctx, text, N, REFERENCE_COLUMNS, reference_x, &d);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < i; j++, pair++)
            {
                double k = exp(-0.3 * squared_distance(3, reference_x + 3 * i, reference_x + 3 * j));
                double error = inner(d, z + i * d, z + j * d) - k;

                squares += error * error / (P * SEEDS);
                theory += (1 - k * k) * (1 - k * k) / (double) d / (P * SEEDS);
                mean[pair] += error / SEEDS;
            }
        km_context_reset(ctx);
    }
    for (size_t pair = 0; pair < P; pair++)
        errors.worst_mean = fmax(errors.worst_mean, fabs(mean[pair]));
    errors.rms = sqrt(squares);
    errors.theory = sqrt(theory);
    return errors;
}

static void
test_error_law(void **state)
{
    const size_t sizes[] = {64, 256, 1024, 4096};
    Errors errors[4];
    double slope;

    for (size_t s = 0; s < 4; s++)
    {
        errors[s] = measure_errors(*state, "rff", sizes[s]);
        assert_true(fabs(errors[s].rms / errors[s].theory - 1) < 0.25);
        assert_true(errors[s].worst_mean < 4.5 / sqrt((double) sizes[s] * SEEDS));
    }
    slope = log(errors[3].rms / errors[0].rms) / log(4096.0 / 64);
    assert_true(fabs(slope + 0.5) < 0.1);
}

/* Orthogonal within blocks of three rows, lengths as before, the span of the first rows too. */
static void
test_orthogonal_rows(void **state)
{
    enum { M = 8, D = 3 };
    double w[M * D];

    memcpy(w, reference_w, sizeof w);
    ok(km_orthogonalise(*state, M, D, w));
    for (size_t i = 0; i < M; i++)
        for (size_t j = i - i % D; j <= i; j++)
        {
            double before = inner(D, reference_w + i * D, reference_w + i * D);

            assert_true(fabs(inner(D, w + i * D, w + j * D) - (i == j ? before : 0)) < 1e-14);
        }
    for (size_t k = 0; k < D; k++)
        assert_true(fabs(w[k] - reference_w[k]) < 1e-15);
}

/* Unbiased, with less error than independent frequencies at every size: 0.85 of it at three columns. */
static void
test_orthogonal_features(void **state)
{
    const size_t sizes[] = {32, 96, 256, 1024};
    double sum = 0;

    for (size_t s = 0; s < 4; s++)
    {
        Errors orthogonal = measure_errors(*state, "orf", sizes[s]);

        assert_true(orthogonal.rms < 0.97 * orthogonal.theory);
        assert_true(orthogonal.worst_mean < 4.5 / sqrt((double) sizes[s] * SEEDS));
        sum += orthogonal.rms / measure_errors(*state, "rff", sizes[s]).rms / 4;
    }
    assert_true(sum > 0.75 && sum < 0.93);
}

/* A factor of the kernel, length scales for each column, chosen columns. */
static void
test_kernels_approximated(void **state)
{
    const char *const kernels[] = {"2.5*rbf(gamma=0.3)", "rbf(gamma=0.3)*0.25",
                                   "rbf(length_scale=[0.5, 1, 4])",
                                   "laplacian(gamma=0.2)", "matern(nu=1.5, length_scale=2)",
                                   "rbf(gamma=0.4, dims=[1, 3])",
                                   "rbf(metric=[[2, 1, 0], [1, 1, 0], [0, 0, 1]])"};
    const char *const steps[] = {"rff", "orf"};
    const double *x = reference_x, *y = reference_x + 3;

    for (size_t i = 0; i < 2 * (sizeof kernels / sizeof kernels[0]); i++)
    {
        const char *name = kernels[i / 2], *step = steps[i % 2];
        KmKernel *kernel;
        char text[120];
        double k, self, *z;
        const double rows[] = {x[0], x[1], x[2], y[0], y[1], y[2]};
        size_t d;

        if (strstr(name, "laplacian") != NULL && i % 2 == 1)
            continue;
        ok(km_kernel_parse(*state, name, strlen(name), &kernel));
        ok(km_kernel_value(*state, kernel, 3, x, y, &k));
        ok(km_kernel_value(*state, kernel, 3, x, x, &self));
        snprintf(text, sizeof text, "%s(%s, 20000, seed=7)", step, name);
        z = features_of(*state, text, 2, 3, rows, &d);
        assert_true(fabs(inner(d, z, z + d) - k) < 4.5 * self / sqrt(20000));
        assert_true(fabs(inner(d, z, z) - self) < 1e-4 * self);
    }
}

/* Features are whole numbers times one factor, the same alone and in a batch, and repeat with the seed. */
static void
test_grid(void **state)
{
    KmLearner *learner = learner_of(*state, "rff(rbf(gamma=0.3), 90, seed=5)");
    double alone[90], batch[REFERENCE_ROWS * 90], other[90];
    KmStep step, again;

    ok(km_steps_prepare(*state, learner, 3, &step));
    ok(km_steps_prepare(*state, learner_of(*state, "rff(rbf(gamma=0.3), 90, seed=6)"), 3, &again));
    ok(step.apply(*state, &step, REFERENCE_ROWS, reference_x, batch));
    ok(again.apply(*state, &again, 1, reference_x, other));
    for (size_t i = 0; i < REFERENCE_ROWS; i++)
    {
        ok(step.apply(*state, &step, 1, reference_x + 3 * i, alone));
        assert_memory_equal(alone, batch + 90 * i, sizeof alone);
        for (size_t j = 0; j < 90; j++)
        {
            double k = alone[j] / (sqrt(1.0 / 45) / 16384);

            assert_true(fabs(k - nearbyint(k)) < 1e-9 && fabs(k) < 16384.5);
        }
    }
    assert_memory_not_equal(batch, other, sizeof other);
}

/* E080, and other refusals: what is wrong and what may stand there. */
static void
test_refusals(void **state)
{
    const struct { const char *text; KmStatus status; const char *says; } cases[] = {
        {"rff(rbf, n_components=0)", KM_INVALID, "n_components"},
        {"rff(rbf, n_components=-3)", KM_INVALID, "n_components"},
        {"rff(rbf, n_components=2147483648)", KM_INVALID, "n_components"},
        {"rff(rbf, n_components=1.5)", KM_INVALID, "n_components"},
        {"rff(rbf(gamma=1), 7)", KM_INVALID, "must be even, got 7"},
        {"rff(linear)", KM_UNSUPPORTED, "spectral density"},
        {"rff(rbf(gamma=1) + rbf(gamma=2))", KM_UNSUPPORTED, "spectral density"},
        {"rff(rbf(gamma=1) * rbf(gamma=2))", KM_UNSUPPORTED, "spectral density"},
        {"rff(constant(3))", KM_UNSUPPORTED, "spectral density"},
        {"rff(-2*rbf(gamma=1))", KM_UNSUPPORTED, "spectral density"},
        {"rff(rbf(length_scale=[1, 2]))", KM_DIMENSION, ""},
        {"rff(rbf(gamma=1), seed=-1)", KM_INVALID, "seed"},
        {"orf(laplacian(gamma=1))", KM_UNSUPPORTED, "orf needs one kernel"},
        {"orf(rbf(gamma=1), 7)", KM_INVALID, "orf must be even, got 7"},
    };
    KmContext *ctx = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
        expect_refusal(ctx, cases[i].text, 3, cases[i].status, cases[i].says);
        if (cases[i].status == KM_UNSUPPORTED)
            assert_non_null(strstr(ctx->hint, "have one: rbf"));
    }
}

static bool
streams(KmContext *ctx, const KmLearner *learner)
{
    bool out;

    assert_int_equal(km_learner_streams(ctx, learner, &out), KM_OK);
    return out;
}

/* gamma=scale becomes a number: 1 / (d var), given or by default. */
static void
test_resolve(void **state)
{
    const char *const texts[] = {"rff | ridge", "rff(rbf) | ridge", "rff(rbf(gamma=scale), 100) | ridge"};
    double y[REFERENCE_ROWS] = {1, 2, 3}, mean = 0, variance = 0, gamma;
    KmTable table = {.n = REFERENCE_ROWS, .d = 3, .x = reference_x, .n_targets = 1, .y = y};

    for (size_t i = 0; i < REFERENCE_ROWS * 3; i++)
        mean += reference_x[i] / (REFERENCE_ROWS * 3);
    for (size_t i = 0; i < REFERENCE_ROWS * 3; i++)
        variance += (reference_x[i] - mean) * (reference_x[i] - mean) / (REFERENCE_ROWS * 3);
    for (size_t i = 0; i < 3; i++)
    {
        KmLearner *learner = learner_of(*state, texts[i]);
        KmModel *model;

        assert_false(streams(*state, learner));
        ok(km_learner_fit(*state, learner, &table, &model));
        assert_int_equal(sscanf(model->learner, "rff(rbf(gamma=%lf)", &gamma), 1);
        assert_true(fabs(gamma * 3 * variance - 1) < 1e-12);
        assert_true(streams(*state, learner_of(*state, model->learner)));
        ok(km_learner_fit(*state, learner_of(*state, model->learner), &table, &model));
    }
}

/* The error that a model states falls as the root of the features, and does not depend on scales. */
static void
test_stated_error(void **state)
{
    const char *const kernels[] = {"rbf(gamma=0.3)", "7*rbf(gamma=2e6)", "rbf(length_scale=[0.5, 1, 4])",
                                   "laplacian(gamma=0.2, dims=[2, 3])", "cauchy(length_scale=2)"};
    double y[REFERENCE_ROWS] = {1, 2, 3};
    KmTable table = {.n = REFERENCE_ROWS, .d = 3, .x = reference_x, .n_targets = 1, .y = y};

    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    {
        double error[2];

        for (size_t s = 0; s < 2; s++)
        {
            char text[120];
            KmModel *model;

            snprintf(text, sizeof text, "rff(%s, %d) | ridge", kernels[i], s == 0 ? 100 : 6400);
            ok(km_learner_fit(*state, learner_of(*state, text), &table, &model));
            error[s] = km_model_fact(model, "kernel_error")->number;
        }
        assert_true(error[0] > 0.03 && error[0] < 0.6);
        assert_true(error[1] < error[0] / 4 && error[1] > error[0] / 16);
        km_context_reset(*state);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_given_frequencies),
        TEST(test_bandwidth),
        TEST(test_error_law),
        TEST(test_orthogonal_rows),
        TEST(test_orthogonal_features),
        TEST(test_kernels_approximated),
        TEST(test_grid),
        TEST(test_refusals),
        TEST(test_resolve),
        TEST(test_stated_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
