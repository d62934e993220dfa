/*
 * test_gp.c: Gaussian process regression against long double elimination; distributions in all forms, the
 * marginal likelihood's maximum, draws, weights, limits, cancellation, models that are not to be trusted.
 */
#include "regression.h"

#include <float.h>

#include "cholesky.h"
#include "draws.h"
#include "elimination.h"
#include "maximise.h"

/* ---- by elimination ---- */

static long double
rbf(size_t d, const double *x, const double *z)
{
    long double sum = 0;

    for (size_t k = 0; k < d; k++)
        sum += (long double) (x[k] - z[k]) * (x[k] - z[k]);
    return 2 * expl(-0.7L * sum);
}

/* For 2*rbf(gamma=0.7): mean, variance and log marginal likelihood, y as it is. */
static void
expected_at(size_t n, size_t d, const double *x, const double *y, const double *w, double noise,
            const double *z, double *mean, double *variance, double *likelihood)
{
    long double A[MAX_ROWS][MAX_ROWS], B[MAX_ROWS][MAX_ROWS], alpha[MAX_ROWS], v[MAX_ROWS], logdet;

    for (size_t i = 0; i < n; i++)
    {
        for (size_t j = 0; j < n; j++)
            B[i][j] = A[i][j] = rbf(d, x + i * d, x + j * d) + (i == j ? noise / w[i] : 0);
        alpha[i] = y[i];
        v[i] = rbf(d, x + i * d, z);
    }
    logdet = eliminate(n, A, alpha);
    eliminate(n, B, v);
    *mean = 0;
    *variance = 2;
    *likelihood = (double) (-0.5L * logdet - n / 2.0L * logl(2 * acosl(-1)));
    for (size_t i = 0; i < n; i++)
    {
        *mean += (double) (alpha[i] * rbf(d, x + i * d, z));
        *variance -= (double) (v[i] * rbf(d, x + i * d, z));
        *likelihood -= (double) (0.5L * y[i] * alpha[i]);
    }
}

static void
test_against_elimination(void **state)
{
    enum { N = 12, D = 3 };
    const double *x = uniforms(N * D, -1, 1, 1), *y = uniforms(N, -2, 2, 2), *w = uniforms(N, 0.3, 3, 3);
    const KmModel *model = fit("gp(2*rbf(gamma=0.7), noise=0.05, center=false)", N, D, x, y, w);
    const KmScorer *scorer = scorer_of(model);

    (void) state;
    for (uint64_t q = 0; q < 20; q++)
    {
        const double *z = uniforms(D, -2, 2, 100 + q);
        double got[2], alone, mean, variance, likelihood;

        expected_at(N, D, x, y, w, 0.05, z, &mean, &variance, &likelihood);
        assert_int_equal(km_scorer_moments(ctx, scorer, 1, z, got), KM_OK);
        assert_int_equal(km_scorer_values(ctx, scorer, 1, z, &alone), KM_OK);
        assert_close(got[0], mean, 1e-13);
        assert_close(got[1], variance, 1e-13);
        assert_close(fact(model, "log_marginal_likelihood"), likelihood, 1e-13);
        assert_true(alone == got[0]);
    }
    assert_true(scorer->score.noise == 0.05);
}

/* ---- forms ---- */

static void
test_forms_agree(void **state)
{
    enum { N = 300, D = 2, M = 1100 };
    const double *x = uniforms(N * D, -3, 3, 4), *y = uniforms(N, -1, 1, 5);
    const char *text = "scale | gp(rbf(gamma=0.5) + 0.1*linear, noise=0.01)";
    const KmScorer *scorer = scorer_of(fit(text, N, D, x, y, NULL));
    double *z = uniforms(M * D, -4, 4, 6), *block = new_doubles(2 * M), *batch = new_doubles(2 * M), one[2];

    (void) state;
    z[7 * D] = NAN;
    assert_int_equal(km_scorer_moments(ctx, scorer, M, z, block), KM_OK);
    assert_int_equal(km_scorer_moments_batch(ctx, scorer, M, z, batch), KM_OK);
    for (size_t i = 0; i < M; i++)
    {
        assert_int_equal(km_scorer_moments(ctx, scorer, 1, z + i * D, one), KM_OK);
        assert_memory_equal(one, block + 2 * i, sizeof one);
        if (i == 7)
            assert_true(isnan(one[0]) && isnan(one[1]) && isnan(batch[2 * i]) && isnan(batch[2 * i + 1]));
        else
        {
            assert_close(batch[2 * i], one[0], 1e-10);
            assert_close(batch[2 * i + 1], one[1], 1e-10);
            assert_true(one[1] >= 0.0);
        }
    }
}

static void
test_covariance(void **state)
{
    enum { N = 50, M = 30 };
    const double *x = uniforms(N, -3, 3, 7), *y = uniforms(N, -1, 1, 8), *z = uniforms(M, -4, 4, 9);
    const KmScorer *scorer = scorer_of(fit("gp(rbf(gamma=0.5) + white(0.2), noise=0.1)", N, 1, x, y, NULL));
    double *moments = new_doubles(2 * M), *mean = new_doubles(M), *covariance = new_doubles(M * M), scale;

    (void) state;
    assert_int_equal(km_scorer_moments(ctx, scorer, M, z, moments), KM_OK);
    assert_int_equal(km_posterior_covariance(ctx, scorer->score.posterior, M, z, mean, covariance, &scale),
                     KM_OK);
    assert_true(scale == 1.0);
    for (size_t i = 0; i < M; i++)
    {
        assert_close(mean[i], moments[2 * i], 1e-11);
        assert_close(covariance[i * M + i], moments[2 * i + 1], 1e-11);
    }
}

/* ---- draws ---- */

static void
test_draws(void **state)
{
    enum { M = 40, DRAWS = 4000 };
    const char *text = "rbf(gamma=0.5)";
    double *x = uniforms(M, -1, 1, 10), *out = new_doubles(M * DRAWS), *again = new_doubles(M), sum = 0;
    KmKernel *kernel;

    (void) state;
    x[1] = x[0];
    assert_int_equal(km_kernel_parse(ctx, text, strlen(text), &kernel), KM_OK);
    assert_int_equal(km_draws_prior(ctx, kernel, M, 1, x, DRAWS, 3, out), KM_OK);
    assert_int_equal(km_draws_prior(ctx, kernel, M, 1, x, 1, 3, again), KM_OK);
    assert_memory_equal(again, out, M * sizeof *out);
    assert_int_equal(km_draws_prior(ctx, kernel, M, 1, x, 1, 4, again), KM_OK);
    assert_true(memcmp(again, out, M * sizeof *out) != 0);
    for (size_t s = 0; s < DRAWS; s++)
    {
        assert_true(fabs(out[s * M] - out[s * M + 1]) < 1e-6);
        sum += out[s * M + 2] * out[s * M + 3];
    }
    assert_true(fabs(sum / DRAWS - exp(-0.5 * (x[2] - x[3]) * (x[2] - x[3]))) < 5.0 * sqrt(2.0 / DRAWS));
}

/* ---- the inverse ---- */

static void
test_inverse(void **state)
{
    const size_t sizes[] = {1, 5, 256, 257, 700, 1300};

    (void) state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    {
        size_t n = sizes[s], ld = n + 3, pivot;
        double *a = uniforms(n * ld, -1, 1, 11), *copy = new_doubles(n * ld);

        for (size_t i = 0; i < n; i++)
            a[i * ld + i] = (double) n;
        memcpy(copy, a, n * ld * sizeof *a);
        assert_int_equal(km_cholesky_factor(ctx, n, ld, a, &pivot), KM_OK);
        assert_int_equal(km_cholesky_inverse(ctx, n, ld, a), KM_OK);
        for (size_t i = 0; i < n; i += 1 + n / 7)
            for (size_t j = 0; j < n; j += 1 + n / 11)
            {
                double sum = 0.0;

                for (size_t k = 0; k < n; k++)
                    sum += (i >= k ? copy[i * ld + k] : copy[k * ld + i]) *
                        (j >= k ? a[j * ld + k] : a[k * ld + j]);
                assert_close(sum, i == j, 1e-12);
            }
        for (size_t j = 1; j < n; j++)
            assert_true(a[j] == copy[j]);
    }
}

/* ---- the largest likelihood ---- */

typedef struct Valley
{
    size_t calls, refused;
} Valley;

/* -(theta_0 - 1)^2 - 10 (theta_1 - theta_0^2)^2 - 5 (theta_2 - 3)^2; no value where theta_2 > 3.2. */
static KmStatus
valley(KmContext *context, void *state, const double *theta, double *value, double *gradient)
{
    double a = theta[0] - 1.0, b = theta[1] - theta[0] * theta[0], c = theta[2] - 3.0;
    Valley *seen = state;

    seen->calls++;
    KM_TRY(km_poll(context));
    if (theta[2] > 3.2)
    {
        seen->refused++;
        return KM_SINGULAR;
    }
    *value = -a * a - 10.0 * b * b - 5.0 * c * c;
    if (gradient == NULL)
        return KM_OK;
    gradient[0] = -2.0 * a + 40.0 * b * theta[0];
    gradient[1] = -20.0 * b;
    gradient[2] = -10.0 * c;
    return KM_OK;
}

static void
test_maximise(void **state)
{
    const double lower[] = {-5, -5, -5}, upper[] = {0.9, 5, 5}, start[] = {0.5, 0.25, 2.5};
    double theta[3];
    Valley seen = {0};
    KmObjective objective = {3, lower, upper, &seen, valley};
    KmMaximum maximum = {.theta = theta};
    Polling polling;

    (void) state;
    memcpy(theta, start, sizeof theta);
    assert_int_equal(km_maximise(ctx, &objective, &maximum), KM_OK);
    assert_true(maximum.converged);
    assert_close(theta[0], 0.9, 1e-6);
    assert_close(theta[1], 0.81, 1e-4);
    assert_close(theta[2], 3.0, 1e-4);
    assert_close(maximum.value, -0.01, 1e-8);
    assert_int_equal(maximum.evaluations, seen.calls);
    assert_true(seen.refused > 0);
    for (size_t stop = 1; stop < 6; stop++)
    {
        memcpy(theta, start, sizeof theta);
        polling_start(ctx, &polling, stop);
        assert_int_equal(km_maximise(ctx, &objective, &maximum), KM_CANCELLED);
        polling_end(ctx, &polling);
        assert_int_equal(polling.calls, stop);
    }
}

static double
likelihood_of(double scale, double length, double noise, size_t n, const double *x, const double *y)
{
    char text[200];

    snprintf(text, sizeof text, "gp(%.17g*matern(nu=2.5, length_scale=%.17g), noise=%.17g)", scale, length,
             noise);
    return fact(fit(text, n, 1, x, y, NULL), "log_marginal_likelihood");
}

/* The likelihood is flat at its maximum, and learner(model) repeats the fit to the bit. */
static void
test_optimum(void **state)
{
    enum { N = 80 };
    const char *text = "gp(1*matern(nu=2.5, length_scale=1), optimize=true, restarts=1, bounds=[1e-6, 1e6])";
    const double *x = uniforms(N, 0, 10, 12), step = 1e-4;
    double *y = uniforms(N, -0.3, 0.3, 13), scale, length, noise, best;
    KmModel *model, *again;

    (void) state;
    for (size_t i = 0; i < N; i++)
        y[i] += 3 * sin(x[i]);
    model = fit(text, N, 1, x, y, NULL);
    again = fit(model->learner, N, 1, x, y, NULL);
    assert_string_equal(model->learner, again->learner);
    assert_memory_equal(km_model_array(model, "coef")->data, km_model_array(again, "coef")->data,
                        N * sizeof(double));
    assert_int_equal(sscanf(model->learner, "gp(%lf*matern(nu=2.5, length_scale=%lf), noise=%lf", &scale,
                            &length, &noise), 3);
    best = likelihood_of(scale, length, noise, N, x, y);
    for (int i = -1; i <= 1; i += 2)
    {
        assert_true(fabs(likelihood_of(scale * exp(i * step), length, noise, N, x, y) - best) < 1e-6);
        assert_true(fabs(likelihood_of(scale, length * exp(i * step), noise, N, x, y) - best) < 1e-6);
        assert_true(fabs(likelihood_of(scale, length, noise * exp(i * step), N, x, y) - best) < 1e-6);
    }
    assert_true(best > likelihood_of(1, 1, 0.1, N, x, y));
    assert_true(fact(model, "converged") == 1.0 && fact(model, "noise") == noise);
}

static char notice[400];

static void
keep_notice(KmContext *context, const char *message)
{
    (void) context;
    snprintf(notice, sizeof notice, "%s", message);
}

/* A value that a bound stopped is the bound, not what the exponential of its logarithm rounds to. */
static void
test_bounds(void **state)
{
    enum { N = 40 };
    const double *x = uniforms(N, 0, 10, 20);
    double *y = uniforms(N, -1, 1, 21), scale, length;
    KmModel *model;

    (void) state;
    for (size_t i = 0; i < N; i++)
        y[i] = 5e3 * (sin(x[i]) + y[i]);
    ctx->notice = keep_notice;
    model = fit("gp(1*rbf(length_scale=1), optimize=true)", N, 1, x, y, NULL);
    assert_int_equal(sscanf(model->learner, "gp(%lf*rbf(length_scale=%lf)", &scale, &length), 2);
    assert_true(scale == 1e5 && fact(model, "noise") == 1e5);
    assert_string_equal(km_model_fact(model, "at_bound")->text,
                        "value of constant (part 1) (upper), noise (upper)");
    assert_string_equal(notice, "gp: value of constant (part 1) (upper), noise (upper) stopped at a bound of "
                        "[1e-05, 100000]; give wider bounds, or scale y");
    *notice = '\0';
    model = fit("gp(1*rbf(length_scale=1), optimize=true, bounds=[1e-5, 1e15])", N, 1, x, y, NULL);
    assert_null(km_model_fact(model, "at_bound"));
    assert_string_equal(notice, "");
}

/* Weights of one size are another unit of noise: the same maximum, noise times the weight. */
static void
test_large_weights(void **state)
{
    enum { N = 60 };
    const double *x = uniforms(2 * N, -3, 3, 22);
    double *y = uniforms(N, -1, 1, 23), *w = new_doubles(N);
    KmModel *one, *many;

    (void) state;
    for (size_t i = 0; i < N; i++)
    {
        y[i] += 2 * sin(x[2 * i]) * x[2 * i + 1];
        w[i] = 1e9;
    }
    one = fit("gp(1*rbf(length_scale=1), optimize=true, bounds=[1e-5, 1e12])", N, 2, x, y, NULL);
    many = fit("gp(1*rbf(length_scale=1), optimize=true, bounds=[1e-5, 1e12])", N, 2, x, y, w);
    assert_close(fact(many, "log_marginal_likelihood"), fact(one, "log_marginal_likelihood"), 1e-7);
    assert_close(fact(many, "noise"), 1e9 * fact(one, "noise"), 1e-3);
}

/* Options without effect are refused when typed; not what the learner of a model has written out. */
static void
test_options(void **state)
{
    static const char *const bad[][2] = {
        {"gp(restarts=3)", "gp: restarts goes with optimize=true only"},
        {"gp(bounds=[1, 2])", "gp: bounds goes with optimize=true only"},
        {"gp(optimize=false, seed=1)", "gp: seed goes with optimize=true only"},
        {"gp(optimize=true, bounds=[2, 1])", "gp: bounds must be two numbers, the lower one first"},
        {"gp(optimize=true, bounds=[1, 2, 3])", "gp: bounds must be two numbers, the lower one first"},
        {"gp(optimize=true, noise=grid(1, 2))", "gp: optimize=true finds the noise, and takes no grid of it"},
        {"gp(optimize=true, method=cg)", "gp: optimize goes with method=exact only"},
        {"gp(loo=true, method=cg)", "gp: loo goes with method=exact only"},
    };
    KmLearner *learner;

    (void) state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    {
        assert_int_equal(km_learner_parse(ctx, bad[i][0], strlen(bad[i][0]), &learner), KM_INVALID);
        assert_string_equal(ctx->message, bad[i][1]);
    }
    learner_of("gp(optimize=true, restarts=3, bounds=[1, 2], seed=1)");
    learner_of("gp(optimize=false, restarts=0, bounds=[0.00001, 1e5], seed=0)");
}

/* ---- limits, cancellation, bad models ---- */

static void
test_limits(void **state)
{
    enum { N = 60000 };
    const double *x = new_doubles(N);
    KmTable some = table_of(12000, 1, x, x, NULL), all = table_of(N, 1, x, x, NULL);
    KmModel *model;
    size_t peak = ctx->peak_bytes;

    (void) state;
    assert_int_equal(try_fit("gp", &some, &model), KM_LIMIT);
    assert_non_null(strstr(ctx->hint, "variance=false"));
    ctx->max_bytes = (size_t) 1 << 30;
    assert_int_equal(try_fit("gp(variance=false)", &all, &model), KM_MEMORY);
    assert_non_null(strstr(ctx->hint, "Use gp(..., method=cg, variance=false)"));
    assert_int_equal(try_fit("gp(variance=false, optimize=true)", &all, &model), KM_MEMORY);
    assert_non_null(strstr(ctx->hint, "Optimize on a sample of the rows"));
    assert_true(ctx->peak_bytes < peak + 10 * N);
}

static void
test_cancelling(void **state)
{
    enum { N = 1500, D = 2 };
    const double *x = uniforms(N * D, -3, 3, 14), *y = uniforms(N, -1, 1, 15);
    KmTable table = table_of(N, D, x, y, NULL);
    Polling polling;
    KmModel *model;

    (void) state;
    polling_start(ctx, &polling, 400);
    assert_int_equal(try_fit("gp(rbf(length_scale=[1, 1]), optimize=true)", &table, &model), KM_CANCELLED);
    polling_end(ctx, &polling);
    assert_int_equal(polling.calls, 400);
}

static void
test_bad_models(void **state)
{
    enum { N = 5 };
    const double *x = uniforms(N, -3, 3, 16), *y = uniforms(N, -1, 1, 17);
    KmModel *model = fit("gp", N, 1, x, y, NULL);
    KmArray *factor = (KmArray *) km_model_array(model, "factor");
    double moments[2];
    KmScorer *scorer;

    (void) state;
    factor->data[2] = 0.0;
    assert_int_equal(km_scorer_create(ctx, model, &scorer), KM_CORRUPT);
    factor->data[2] = 1.0;
    factor->columns--;
    assert_int_equal(km_scorer_create(ctx, model, &scorer), KM_CORRUPT);
    factor->name = "other";
    scorer = scorer_of(model);
    assert_int_equal(km_scorer_moments(ctx, scorer, 1, x, moments), KM_UNSUPPORTED);
    assert_int_equal(km_scorer_moments_batch(ctx, scorer, 1, x, moments), KM_UNSUPPORTED);
}

/* Rows that all but repeat: jitter is added and told. */
static void
test_jitter(void **state)
{
    enum { N = 40 };
    const double *x = uniforms(N, 0, 1e-3, 18), *y = uniforms(N, -1, 1, 19);
    KmTable table = table_of(N, 1, x, y, NULL);
    KmModel *model = fit_table("gp(rbf(gamma=1), noise=1e-300)", &table);

    (void) state;
    assert_true(fact(model, "jitter") > 0.0);
    assert_int_equal(try_fit("gp(rbf(gamma=1), noise=0)", &table, &model), KM_SINGULAR);
    assert_non_null(strstr(ctx->hint, "noise > 0"));
    assert_int_equal(try_fit("gp(1*poly, noise=0, optimize=true)", &table, &model), KM_SINGULAR);
    assert_non_null(strstr(ctx->hint, "noise > 0"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_against_elimination),
        TEST(test_forms_agree),
        TEST(test_covariance),
        TEST(test_draws),
        TEST(test_inverse),
        TEST(test_maximise),
        TEST(test_optimum),
        TEST(test_bounds),
        TEST(test_large_weights),
        TEST(test_options),
        TEST(test_limits),
        TEST(test_cancelling),
        TEST(test_bad_models),
        TEST(test_jitter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
