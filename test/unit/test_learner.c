/*
 * test_learner.c: learners as text, fitting step by step, and scoring, against closed forms of ridge
 * regression on one feature; classes and votes on values made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "learner_types.h"
#include "numbers.h"

#define MISSING km_missing()

static KmLearner *
parse(KmContext *ctx, const char *text)
{
    KmLearner *learner;

    assert_int_equal(km_learner_parse(ctx, text, strlen(text), &learner), KM_OK);
    return learner;
}

/* ---- text ---- */

static void
test_canonical_text(void **unused)
{
    static const char *const cases[][2] = {
        {"scale", "scale"},
        {" SCALE|svc ", "scale | svc"},
        {"svc(gaussian(gamma=auto), cost=10)", "svc(rbf(gamma=auto), c=10)"},
        {"svc(c=1)", "svc(c=1)"},
        {"scale | (minmax | krr(rbf, alpha=1e-3))", "scale | minmax | krr(rbf, lambda=0.001)"},
        {"impute(0)|ridge(alpha=2)", "impute(value=0) | ridge(lambda=2)"},
        {"krr(rbf, 0.1)", "krr(rbf, lambda=0.1)"},
        {"gp(2*rbf, 0.1)", "gp(2*rbf, noise=0.1)"},
        {"impute | rff(rbf*0.5, 64) | ridge",
         "impute | rff(rbf*0.5, n_components=64) | ridge"},
    };
    KmContext *ctx = km_context_create(SIZE_MAX);

    (void) unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
        KmText once = {0}, twice = {0};

        assert_int_equal(km_learner_print(ctx, parse(ctx, cases[i][0]), &once), KM_OK);
        assert_string_equal(once.data, cases[i][1]);
        assert_int_equal(km_learner_print(ctx, parse(ctx, once.data), &twice), KM_OK);
        assert_string_equal(twice.data, once.data);
    }
    km_context_destroy(ctx);
}

static void
test_text_errors(void **unused)
{
    static const char *const cases[][3] = {
        {"rbf", "\"rbf\" is a kernel, not a step or an estimator", "svc(rbf"},
        {"scale | gaussian(gamma=1)", "\"gaussian\" is a kernel", "svc(rbf"},
        {"exp(linear)", "\"exp\" is a kernel", "svc(rbf"},
        {"2*rbf + linear", "a kernel stands where a step or an estimator is expected", "svc(rbf"},
        {"3", "a learner is made of steps and an estimator", "svc(rbf"},
        {"svm", "unknown step or estimator \"svm\"", "impute, scale, minmax, rff"},
        {"svc | scale", "step \"scale\" stands after estimator \"svc\"", "last"},
        {"svc | krr", "a learner has one estimator, got \"svc\" and \"krr\"", ""},
        {"svc(rbff)", "unknown kernel \"rbff\"", "rbf"},
        {"scale | krr(rbf(gama=2))", "unknown parameter \"gama\" of kernel rbf", "gamma"},
        {"krr(lambda=-1)", "\"lambda\" of krr", ""},
        {"krr(lambda=[0.1, 1], select=loo)", "\"lambda\" of krr must be a number", "grid(0.1, 1)"},
        {"scale(3)", "too many arguments without a name for step scale", "mean, sd"},
    };
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmLearner *learner;

    (void) unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
        assert_int_equal(km_learner_parse(ctx, cases[i][0], strlen(cases[i][0]), &learner), KM_INVALID);
        assert_non_null(strstr(ctx->message, cases[i][1]));
        assert_non_null(strstr(ctx->hint, cases[i][2]));
    }
    km_context_destroy(ctx);
}

static bool
streams(KmContext *ctx, const KmLearner *learner)
{
    bool out;

    assert_int_equal(km_learner_streams(ctx, learner, &out), KM_OK);
    return out;
}

static void
test_questions(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);

    (void) unused;
    assert_int_equal(km_learner_target(parse(ctx, "scale")), KM_TARGET_NONE);
    assert_int_equal(km_learner_target(parse(ctx, "scale | svc")), KM_TARGET_LABEL);
    assert_int_equal(km_learner_target(parse(ctx, "krr")), KM_TARGET_NUMBER);
    assert_true(km_learner_takes_missing(parse(ctx, "impute | scale | svc")));
    assert_false(km_learner_takes_missing(parse(ctx, "scale | impute | svc")));
    assert_false(km_learner_takes_missing(parse(ctx, "svc")));
    assert_true(parse(ctx, "krr(lambda=grid(1, 2))")->has_grid);
    assert_true(parse(ctx, "krr(rbf(gamma=logspace(-1, 1, 3)))")->has_grid);
    assert_false(parse(ctx, "krr(rbf(gamma=1), lambda=2)")->has_grid);

    assert_true(streams(ctx, parse(ctx, "rff(rbf(gamma=1), 10) | ridge")));
    assert_true(streams(ctx, parse(ctx, "scale(mean=[1], sd=[2]) | rff(rbf(gamma=1)) | ridge")));
    assert_false(streams(ctx, parse(ctx, "scale | rff(rbf(gamma=1)) | ridge")));
    assert_false(streams(ctx, parse(ctx, "rff(rbf(gamma=scale)) | ridge")));
    assert_false(streams(ctx, parse(ctx, "rff(rbf(gamma=1)) | ridge(lambda=grid(1, 2))")));
    assert_false(streams(ctx, parse(ctx, "rff(rbf(gamma=1)) | krr(linear)")));
    assert_false(streams(ctx, parse(ctx, "rff(rbf(gamma=1))")));
    assert_false(streams(ctx, parse(ctx, "ridge")));
    km_context_destroy(ctx);
}

/* ---- fitting ---- */

/* One feature, four rows: mean 2.5, population sd sqrt(5)/2. */
static const double line_x[] = {1, 2, 3, 4};
static const double line_y[] = {1, 3, 2, 6};
static const KmTable line = {.n = 4, .d = 1, .x = line_x, .n_targets = 1, .y = line_y, .n_skipped = 3};

/* Ridge of y = 1, 3, 2, 6 on the scaled feature z: ybar = 3, sum z(y - ybar) = 7/sd, sum z^2 = 4. */
static double
line_value(double lambda, double x)
{
    double sd = sqrt(1.25);

    return 3 + (x - 2.5) / sd * (7 / sd) / (4 + lambda);
}

static KmModel *
fit(KmContext *ctx, const char *text, const KmTable *table)
{
    KmModel *model;

    assert_int_equal(km_learner_fit(ctx, parse(ctx, text), table, &model), KM_OK);
    return model;
}

static KmScorer *
scorer_of(KmContext *ctx, const KmModel *model)
{
    KmScorer *scorer;

    assert_int_equal(km_scorer_create(ctx, model, &scorer), KM_OK);
    return scorer;
}

static double
value_of(KmContext *ctx, const KmModel *model, const double *x)
{
    double value;

    assert_int_equal(km_scorer_values(ctx, scorer_of(ctx, model), 1, x, &value), KM_OK);
    return value;
}

static void
test_fit_by_steps(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmLearner *learner = parse(ctx, "scale | ridge(lambda=0.5)");
    KmText text = {0};
    KmModel *model, *again;
    const double x = 7;

    (void) unused;
    assert_int_equal(km_learner_fit(ctx, learner, &line, &model), KM_OK);
    assert_string_equal(model->learner,
                        "scale(mean=[2.5], sd=[1.118033988749895]) | ridge(lambda=0.5, intercept=true)");
    assert_true(model->n_rows == 4 && model->n_skipped == 3 && model->n_features == 1);
    assert_true(fabs(value_of(ctx, model, &x) - line_value(0.5, x)) < 1e-13);

    assert_int_equal(km_learner_print(ctx, learner, &text), KM_OK);     /* the learner is left as it was */
    assert_string_equal(text.data, "scale | ridge(lambda=0.5)");
    again = fit(ctx, model->learner, &line);
    assert_true(value_of(ctx, again, &x) == value_of(ctx, model, &x));
    km_context_destroy(ctx);
}

/* Constants of a step are learnt from what the steps before it make. */
static void
test_fit_chains_steps(void **unused)
{
    const double x[] = {1, 2, MISSING, 4, 4, 2}, y[] = {1, 3, 2};
    const KmTable table = {.n = 3, .d = 2, .x = x, .n_targets = 1, .y = y};
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model = fit(ctx, "impute | minmax | scale", &table);
    KmScorer *scorer = scorer_of(ctx, model);
    const double row[] = {MISSING, 2};
    double z[2];

    (void) unused;
    assert_string_equal(model->learner,
                        "impute(values=[2.5, 2.6666666666666665]) | minmax(min=[1, 2], max=[4, 4]) | "
                        "scale(mean=[0.5, 0.3333333333333333], sd=[0.408248290463863, 0.4714045207910317])");
    assert_int_equal(km_scorer_transform(ctx, scorer, 1, row, z), KM_OK);
    assert_true(z[0] == 0);
    assert_true(fabs(z[1] + sqrt(0.5)) < 1e-15);
    km_context_destroy(ctx);
}

static void
test_model_through_bytes(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model = fit(ctx, "impute(1) | scale | ridge", &line), *back;
    size_t length = km_model_encoded_size(model);
    unsigned char *bytes = malloc(length);
    const double x[] = {0.3, MISSING};

    (void) unused;
    assert_int_equal(km_model_encode(ctx, model, bytes), KM_OK);
    assert_int_equal(km_model_decode(ctx, bytes, length, &back), KM_OK);
    for (size_t i = 0; i < 2; i++)
        assert_true(value_of(ctx, back, x + i) == value_of(ctx, model, x + i));
    free(bytes);
    km_context_destroy(ctx);
}

static void
test_fit_errors(void **unused)
{
    const double missing[] = {1, MISSING, 3, 4}, nan[] = {1, 2, 3, NAN}, huge[] = {1e300, 1, 2, 3};
    KmTable bad[8];
    static const char *const texts[8] = {"scale | ridge", "scale | impute | ridge", "ridge", "ridge", "ridge",
        "svc", "scale(mean=[0], sd=[1e-300]) | ridge", "krr(lambda=grid(1, 2))"};
    static const char *const messages[8] = {"element 2 is NULL", "element 2 is NULL", "target is NaN",
        "at least one feature", "ridge needs a numeric target", "svc needs labels",
        "feature 1 after scale is too large", "grid"};
    static const char *const hints[8] = {"impute", "impute", "", "", "", "", "", "one value"};
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model;

    (void) unused;
    for (size_t i = 0; i < 8; i++)
        bad[i] = line;
    bad[0] = bad[1] = (KmTable) {.n = 2, .d = 2, .x = missing, .n_targets = 1, .y = line_y};
    bad[2].y = nan;
    bad[3].d = 0;
    bad[4].y = NULL;
    bad[6].x = huge;
    for (size_t i = 0; i < 8; i++)
    {
        assert_int_not_equal(km_learner_fit(ctx, parse(ctx, texts[i]), &bad[i], &model), KM_OK);
        assert_non_null(strstr(ctx->message, messages[i]));
        assert_non_null(strstr(ctx->hint, hints[i]));
    }
    km_context_destroy(ctx);
}

/* n rows (x, sin 3x), sorted by x. */
static KmTable
make_sine(KmContext *ctx, size_t n)
{
    double *x, *y;

    assert_int_equal(km_alloc(ctx, n, &x), KM_OK);
    assert_int_equal(km_alloc(ctx, n, &y), KM_OK);
    for (size_t i = 0; i < n; i++)
    {
        x[i] = 4 * (double) i / (double) n;
        y[i] = sin(3 * x[i]);
    }
    return (KmTable) {.n = n, .d = 1, .x = x, .n_targets = 1, .y = y};
}

/* 40,000 rows of 200 random features would be 64 MB: they are never made. */
static void
test_fit_streams(void **unused)
{
    KmContext *ctx = km_context_create((size_t) 32 << 20);
    KmTable table = make_sine(ctx, 40000);
    KmModel *model = fit(ctx, "scale | rff(rbf(gamma=auto), 200) | ridge(lambda=1e-2)", &table);

    (void) unused;
    assert_non_null(strstr(model->learner, "rff(rbf(gamma=1), n_components=200, seed=0) | "
                           "ridge(lambda=0.01, intercept=true)"));
    assert_true(model->n_rows == 40000 && model->n_features == 1);
    for (double x = 0.1; x < 3.9; x += 0.3)
        assert_true(fabs(value_of(ctx, model, &x) - sin(3 * x)) < 0.02);
    km_context_destroy(ctx);
}

static void
test_fit_estimates_memory(void **unused)
{
    KmContext *ctx = km_context_create((size_t) 32 << 20);
    KmTable table = make_sine(ctx, 40000);
    KmLearner *learner = parse(ctx, "rff(rbf(gamma=1), 200) | krr");
    KmModel *model;

    (void) unused;
    assert_int_equal(km_learner_fit(ctx, learner, &table, &model), KM_MEMORY);
    assert_non_null(strstr(ctx->message, "rff on 40000 rows"));
    km_context_destroy(ctx);
}

static bool
stop_after(KmContext *ctx)
{
    size_t *left = ctx->owner;

    return (*left)-- == 0;
}

/* Stopping at any poll is an error, and nothing else. */
static void
test_fit_can_be_stopped(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model;
    size_t left, polls = 0;

    (void) unused;
    ctx->owner = &left;
    ctx->poll = stop_after;
    for (KmStatus status = KM_CANCELLED; status != KM_OK; polls++)
    {
        left = polls;
        status = km_learner_fit(ctx, parse(ctx, "impute(median) | scale | minmax | ridge"), &line, &model);
        assert_true(status == KM_OK || status == KM_CANCELLED);
    }
    assert_true(polls > 5);
    km_context_destroy(ctx);
}

/* ---- scoring ---- */

/* A row alone and in batches gives the same bits; NaN rows give NaN and disturb no other. */
static void
test_batches_and_nan(void **unused)
{
    enum { n = 75 };
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmTable table = make_sine(ctx, 50);
    KmModel *model = fit(ctx, "impute(1.5) | scale | rff(rbf(gamma=1), 20) | ridge", &table);
    KmScorer *scorer = scorer_of(ctx, model);
    double x[n], values[n], z[n * 20], value;
    size_t used = ctx->used_bytes;
    uint64_t seed = 2;

    (void) unused;
    for (size_t i = 0; i < n; i++)
        x[i] = i % 9 == 4 || i == 0 || i == n - 1 ? NAN : i % 5 == 3 ? MISSING : next_uniform(&seed, 0, 4);
    assert_int_equal(km_scorer_values(ctx, scorer, n, x, values), KM_OK);
    assert_int_equal(km_scorer_transform(ctx, scorer, n, x, z), KM_OK);
    for (size_t i = 0; i < n; i++)
    {
        bool bad = isnan(x[i]) && !km_is_missing(x[i]);

        assert_int_equal(km_scorer_values(ctx, scorer, 1, x + i, &value), KM_OK);
        assert_memory_equal(&value, &values[i], sizeof value);
        assert_int_equal(isnan(value) != 0, bad);
        assert_int_equal(isnan(z[i * 20]) && isnan(z[i * 20 + 19]), bad);
    }
    assert_int_equal(ctx->used_bytes, used);    /* nothing is allocated per call */
    km_context_destroy(ctx);
}

static void
test_missing_and_infinite_at_prediction(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmScorer *scorer = scorer_of(ctx, fit(ctx, "scale | ridge", &line));
    const double missing = MISSING, infinite = INFINITY;
    double value;

    (void) unused;
    assert_int_equal(km_scorer_values(ctx, scorer, 1, &missing, &value), KM_NULL);
    assert_string_equal(ctx->message, "element 1 is NULL");
    assert_int_equal(km_scorer_values(ctx, scorer, 1, &infinite, &value), KM_OK);
    assert_true(value == INFINITY);
    km_context_destroy(ctx);
}

static void
test_steps_alone(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmScorer *scorer = scorer_of(ctx, fit(ctx, "minmax", &line));
    const double x[] = {1, 4, 2.5, 7};
    double z[4], value;

    (void) unused;
    assert_int_equal(km_scorer_transform(ctx, scorer, 4, x, z), KM_OK);
    assert_true(z[0] == 0 && z[1] == 1 && z[2] == 0.5 && z[3] == 2);
    assert_int_equal(scorer->score.n_out, 0);
    assert_int_equal(km_scorer_values(ctx, scorer, 4, x, z), KM_UNSUPPORTED);
    assert_int_equal(km_scorer_predict(ctx, scorer, z, &value), KM_UNSUPPORTED);
    assert_non_null(strstr(ctx->hint, "transform"));
    km_context_destroy(ctx);
}

/* ---- classes ---- */

static double label_numbers[] = {-1, 0, 2.5, 7};
static const char *label_texts[] = {"-1", "0", "2.5", "7"};

/* A scorer of k classes, without what makes the values. */
static KmScorer
make_classifier(KmModel *model, size_t k, KmLabelKind kind)
{
    model->classes = (KmClasses) {k, kind, label_texts, label_numbers};
    return (KmScorer) {.model = model, .score = {.n_out = k * (k - 1) / 2, .decision = KM_DECISION_PAIRS}};
}

static void
test_two_classes(void **unused)
{
    KmModel model = {0};
    KmScorer scorer = make_classifier(&model, 2, KM_LABEL_NUMBER);
    const double values[] = {0, -0.0, 5e-324, -5e-324, INFINITY, NAN};
    const int expected[] = {0, 0, 1, 0, 1, -1};

    (void) unused;
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(km_scorer_class(&scorer, values + i), expected[i]);
}

static void
test_votes(void **unused)
{
    /* LIBSVM issue 85, signs as here: one vote each, so the first class wins. */
    const double tie[] = {0.375, -3, 0.4667}, zeros[] = {0, 0, 0}, nan[] = {1, NAN, 1};
    const double second[] = {1, -1, -1}, third[] = {-1, 1, 1};
    KmModel model = {0};
    KmScorer scorer = make_classifier(&model, 3, KM_LABEL_NUMBER);

    (void) unused;
    assert_int_equal(km_scorer_class(&scorer, tie), 0);
    assert_int_equal(km_scorer_class(&scorer, zeros), 0);
    assert_int_equal(km_scorer_class(&scorer, nan), -1);
    assert_int_equal(km_scorer_class(&scorer, second), 1);
    assert_int_equal(km_scorer_class(&scorer, third), 2);
}

/* All sign patterns of the six pairs of four classes, counted pair by pair. */
static void
test_votes_of_four(void **unused)
{
    static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    KmModel model = {0};
    KmScorer scorer = make_classifier(&model, 4, KM_LABEL_NUMBER);

    (void) unused;
    for (unsigned signs = 0; signs < 64; signs++)
    {
        double values[6];
        int votes[4] = {0}, best = 0;

        for (unsigned p = 0; p < 6; p++)
        {
            values[p] = signs >> p & 1 ? 0.5 : -0.5;
            votes[pairs[p][signs >> p & 1]]++;
        }
        for (int c = 1; c < 4; c++)
            if (votes[c] > votes[best])
                best = c;
        assert_int_equal(km_scorer_class(&scorer, values), best);
    }
}

static void
test_value_for_each_class(void **unused)
{
    const double first[] = {3, 1, 2}, tie[] = {-2, -1, -1}, zeros[] = {0, 0, 0}, nan[] = {5, 1, NAN};
    const double values[] = {0, -0.0, 5e-324, -5e-324, NAN};
    const int expected[] = {0, 0, 1, 0, -1};
    KmModel model = {0};
    KmScorer scorer = make_classifier(&model, 3, KM_LABEL_NUMBER);

    (void) unused;
    scorer.score.decision = KM_DECISION_CLASSES;
    assert_int_equal(km_scorer_class(&scorer, first), 0);
    assert_int_equal(km_scorer_class(&scorer, tie), 1);
    assert_int_equal(km_scorer_class(&scorer, zeros), 0);
    assert_int_equal(km_scorer_class(&scorer, nan), -1);
    scorer = make_classifier(&model, 2, KM_LABEL_NUMBER);
    scorer.score.decision = KM_DECISION_CLASSES;
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(km_scorer_class(&scorer, values + i), expected[i]);
}

static void
test_sign(void **unused)
{
    const double values[] = {0.25, 0, -0.25, INFINITY, NAN}, expected[] = {1, -1, -1, 1, NAN};
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel model = {0};
    const KmScorer scorer = {.model = &model, .score = {.n_out = 1, .decision = KM_DECISION_SIGN}};

    (void) unused;
    for (size_t i = 0; i < 5; i++)
    {
        double value;

        assert_int_equal(km_scorer_predict(ctx, &scorer, values + i, &value), KM_OK);
        assert_true(isnan(expected[i]) ? isnan(value) : value == expected[i]);
    }
    km_context_destroy(ctx);
}

static void
test_predict(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel model = {0};
    KmScorer scorer = make_classifier(&model, 3, KM_LABEL_NUMBER);
    const double third[] = {-1, 1, 1}, nan[] = {NAN, NAN, NAN};
    double value;

    (void) unused;
    assert_int_equal(km_scorer_predict(ctx, &scorer, third, &value), KM_OK);
    assert_true(value == 2.5);
    assert_int_equal(km_scorer_predict(ctx, &scorer, nan, &value), KM_OK);
    assert_true(isnan(value));
    scorer = make_classifier(&model, 3, KM_LABEL_TEXT);
    assert_int_equal(km_scorer_predict(ctx, &scorer, third, &value), KM_UNSUPPORTED);
    assert_non_null(strstr(ctx->hint, "predict_label"));
    model.classes.n = 0;
    assert_int_equal(km_scorer_predict(ctx, &scorer, third, &value), KM_UNSUPPORTED);
    assert_non_null(strstr(ctx->hint, "predict_vector"));
    scorer.score.n_out = 1;
    assert_int_equal(km_scorer_predict(ctx, &scorer, third, &value), KM_OK);
    assert_true(value == -1);
    km_context_destroy(ctx);
}

/* ---- models from outside ---- */

static void
test_models_that_cannot_be_used(void **unused)
{
    static const char *const learners[] = {"", "ridge |", "rbf", "scale | ridge", "impute | ridge",
        "scale(mean=[1, 2], sd=[1, 2]) | ridge", "ridge(lambda=grid(1, 2))", "krr", "svc(linear)",
        "nonsense"};
    KmContext *ctx = km_context_create((size_t) 64 << 20);
    KmScorer *scorer;

    (void) unused;
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++)
    {
        KmModel *model = fit(ctx, "ridge", &line);

        model->learner = learners[i];
        assert_int_equal(km_scorer_create(ctx, model, &scorer), KM_CORRUPT);
        assert_non_null(strstr(ctx->message, "model"));
    }
    km_context_destroy(ctx);
}

static void
test_wrong_number_of_classes(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model = fit(ctx, "ridge", &line);
    KmScorer *scorer;

    (void) unused;
    model->classes = (KmClasses) {2, KM_LABEL_NUMBER, label_texts, label_numbers};
    assert_int_equal(km_scorer_create(ctx, model, &scorer), KM_CORRUPT);
    km_context_destroy(ctx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_text),
        cmocka_unit_test(test_text_errors),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_fit_by_steps),
        cmocka_unit_test(test_fit_chains_steps),
        cmocka_unit_test(test_model_through_bytes),
        cmocka_unit_test(test_fit_errors),
        cmocka_unit_test(test_fit_streams),
        cmocka_unit_test(test_fit_estimates_memory),
        cmocka_unit_test(test_fit_can_be_stopped),
        cmocka_unit_test(test_batches_and_nan),
        cmocka_unit_test(test_missing_and_infinite_at_prediction),
        cmocka_unit_test(test_steps_alone),
        cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_votes_of_four),
        cmocka_unit_test(test_value_for_each_class),
        cmocka_unit_test(test_sign),
        cmocka_unit_test(test_predict),
        cmocka_unit_test(test_models_that_cannot_be_used),
        cmocka_unit_test(test_wrong_number_of_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
