/*
 * test_passes.c: constants learnt in passes are those that fit learns from rows that it keeps, whatever the
 * order of the rows and however they are spread over surveys that are merged.
 */
#include "sums_support.h"

#include "passes.h"

#define D 4
#define N 3000

/* ---- passes over rows, spread over three surveys ---- */

static KmSurvey *
survey_of(KmContext *ctx, const KmPass *pass, const double *x, const double *w, size_t first, size_t stride)
{
    KmSurvey *survey;

    ok(km_alloc_bytes(ctx, pass->survey_bytes, 1, (void **) &survey));
    km_pass_start(pass, survey);
    for (size_t i = first; i < N; i += stride)
        ok(km_pass_add(ctx, pass, survey, x + i * D, w ? w[i] : 1));
    return survey;
}

static KmLearner *
with_defaults(KmContext *ctx, const char *text)
{
    KmLearner *learner;

    ok(km_learner_with_defaults(ctx, learner_of(ctx, text), &learner));
    return learner;
}

/* The learner's text once every step has its constants; *passes: how many it took. */
static const char *
learnt(KmContext *ctx, const char *text, const double *x, const double *w, size_t *passes)
{
    KmLearner *learner = with_defaults(ctx, text);
    KmText out = {0};
    size_t next;

    for (*passes = 0;; ++*passes)
    {
        KmPass *pass;
        KmSurvey *survey;

        ok(km_passes_next(ctx, learner, &next));
        if (next == learner->n_steps)
            break;
        ok(km_pass_create(ctx, learner, D, &pass));
        survey = survey_of(ctx, pass, x, w, 2, 3);
        ok(km_survey_merge(ctx, survey, survey_of(ctx, pass, x, w, 0, 3)));
        ok(km_survey_merge(ctx, survey, survey_of(ctx, pass, x, w, 1, 3)));
        ok(km_survey_check(ctx, survey, pass->survey_bytes));
        assert_true(*passes < learner->n_steps);
        ok(km_pass_learn(ctx, learner, survey));
    }
    ok(km_learner_print(ctx, learner, &out));
    return out.data;
}

/* ---- against fit ---- */

/* The same words, and numbers equal within the tolerance. */
static void
assert_close_texts(const char *a, const char *b, double tolerance)
{
    const char *p = a, *q = b;

    while (*p != '\0' && *q != '\0')
    {
        double u, v;
        size_t m = km_number_read(p, strlen(p), &u), n = km_number_read(q, strlen(q), &v);

        if (m > 0 && n > 0 && fabs(u - v) <= tolerance * fmax(fabs(v), 1e-3))
            p += m, q += n;
        else if (*p++ != *q++)
            fail_msg("%s\nbut fit: %s", a, b);
    }
    assert_true(*p == '\0' && *q == '\0');
}

static void
check(KmContext *ctx, const char *text, const double *x, const double *w, size_t passes, double tolerance)
{
    char whole[300];
    double *y = random_numbers(ctx, 5, N);
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = 1, .y = y, .w = w};
    KmModel *model;
    size_t taken;

    snprintf(whole, sizeof whole, "%s | ridge", text);
    ok(km_learner_fit(ctx, learner_of(ctx, whole), &table, &model));
    assert_close_texts(learnt(ctx, whole, x, w, &taken), model->learner, tolerance);
    assert_int_equal(taken, passes);
}

static double *
random_weights(KmContext *ctx)
{
    double *w = random_numbers(ctx, 8, N);

    for (size_t i = 0; i < N; i++)
        w[i] = fabs(w[i]) + 0.1;
    return w;
}

static void
test_steps(void **state)
{
    KmContext *ctx = *state;
    double *x = random_numbers(ctx, 7, N * D), *w = random_weights(ctx);

    for (size_t i = 0; i < N; i++)
        x[i * D + 2] = 7.25;            /* a constant column */
    check(ctx, "scale", x, NULL, 1, 1e-13);
    check(ctx, "scale", x, w, 1, 1e-13);
    check(ctx, "minmax", x, NULL, 1, 0);
    check(ctx, "minmax | scale | rff(rbf(gamma=scale), 10)", x, w, 3, 1e-12);
    check(ctx, "scale(mean=[0, 0, 0, 0], sd=[1, 1, 1, 1]) | rff(laplacian(gamma=median), 10)", x, NULL, 1, 0);
    check(ctx, "rff(rbf(gamma=scale, dims=[1, 4]), 10)", x, w, 1, 1e-13);
    check(ctx, "rff(rbf(length_scale=median), 10)", x, NULL, 1, 0);
}

/* Deviations 1e8 times smaller than the mean: the sums have the digits for them. */
static void
test_large_mean(void **state)
{
    KmContext *ctx = *state;
    double *x = random_numbers(ctx, 7, N * D);

    for (size_t i = 0; i < N * D; i++)
        x[i] += 1e7;
    check(ctx, "scale", x, NULL, 1, 1e-12);
    check(ctx, "rff(rbf(gamma=scale), 10)", x, NULL, 1, 1e-12);
}

static void
test_missing(void **state)
{
    KmContext *ctx = *state;
    double *x = random_numbers(ctx, 7, N * D);
    KmLearner *median = with_defaults(ctx, "impute(median) | ridge");
    KmPass *pass;

    for (size_t i = 0; i < N; i += 5)
        x[i * D + i % D] = km_missing();
    check(ctx, "impute | scale", x, NULL, 2, 1e-13);
    ok(km_pass_create(ctx, median, D, &pass));
    assert_int_equal(km_pass_learn(ctx, median, survey_of(ctx, pass, x, NULL, 0, 1)), KM_UNSUPPORTED);
    for (size_t i = 0; i < N; i++)
        x[i * D + 1] = km_missing();
    ok(km_pass_create(ctx, with_defaults(ctx, "impute"), D, &pass));
    assert_int_equal(km_pass_learn(ctx, with_defaults(ctx, "impute"), survey_of(ctx, pass, x, NULL, 0, 1)),
                     KM_DATA);
}

/* A weight counts as so many rows, also in the sample. */
static void
test_whole_weights(void **state)
{
    KmContext *ctx = *state;
    double *x = random_numbers(ctx, 7, N * D), *w = random_numbers(ctx, 9, N);
    KmPass *pass;
    KmSurvey *weighted, *repeated;
    double *a, *b, *p, *q;
    size_t m, n;

    for (size_t i = 0; i < N; i++)
        w[i] = floor(fabs(w[i]) * 2);
    ok(km_pass_create(ctx, with_defaults(ctx, "rff(rbf(gamma=median), 10)"), D, &pass));
    weighted = survey_of(ctx, pass, x, w, 0, 1);
    repeated = survey_of(ctx, pass, x, NULL, N, 1);
    for (size_t i = N; i-- > 0;)
        for (int k = 0; k < w[i]; k++)
            ok(km_pass_add(ctx, pass, repeated, x + i * D, 1));
    ok(km_survey_sample(ctx, weighted, &m, &p, &a));
    ok(km_survey_sample(ctx, repeated, &n, &q, &b));
    assert_int_equal(m, KM_SAMPLE_ROWS);
    assert_int_equal(n, m);
    assert_memory_equal(p, q, m * D * sizeof *p);
    assert_memory_equal(a, b, m * sizeof *a);
    for (size_t i = 0; i + 1 < m; i++)
        assert_true(km_row_hash(D, p + i * D) < km_row_hash(D, p + (i + 1) * D));
}

static void
test_refusals(void **state)
{
    KmContext *ctx = *state;
    double *x = random_numbers(ctx, 7, N * D), bad[D] = {1, INFINITY, 0, 0};
    KmSurvey *survey;
    KmPass *pass;
    size_t bytes;

    ok(km_pass_create(ctx, with_defaults(ctx, "rff(rbf(gamma=median), 10)"), D, &pass));
    survey = survey_of(ctx, pass, x, NULL, 0, 1);
    bytes = pass->survey_bytes;
    assert_int_equal(km_pass_add(ctx, pass, survey, bad, 1), KM_DATA);
    assert_int_equal(km_pass_add(ctx, pass, survey, x, -1), KM_INVALID);
    assert_int_equal(km_survey_check(ctx, survey, bytes - 8), KM_CORRUPT);
    survey->n_sample = survey->capacity + 1;
    assert_int_equal(km_survey_check(ctx, survey, bytes), KM_CORRUPT);
    assert_int_equal(km_pass_create(ctx, with_defaults(ctx, "rff(rbf(gamma=1), 10)"), D, &pass), KM_INVALID);
    assert_int_equal(km_survey_bytes(ctx, SIZE_MAX / 16, 10, &bytes), KM_LIMIT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_steps), TEST(test_large_mean), TEST(test_missing), TEST(test_whole_weights),
        TEST(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
