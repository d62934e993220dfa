/*
 * test_calibrate.c: folds, and probabilities of svc: against machines fitted fold by fold from nothing, under
 * weights, and where there are too few rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "folds.h"
#include "learner.h"
#include "numbers.h"
#include "platt.h"

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))
#define MOST 400
#define FOLDS 5

/* ---- data ---- */

typedef struct Data
{
    size_t n;
    double x[2 * MOST], w[MOST];
    uint32_t label[MOST];
    bool weighted;
    KmClasses classes;
} Data;

static const char *const names[] = {"a", "b", "c", "d"};
static const double no_numbers[] = {NAN, NAN, NAN, NAN};

/* k overlapping clusters. */
static Data
clusters(size_t n, size_t k, uint64_t seed)
{
    Data data = {.n = n, .classes = {.n = k, .kind = KM_LABEL_TEXT, .text = (const char **) names,
                                     .number = (double *) no_numbers}};

    for (size_t i = 0; i < n; i++)
    {
        data.label[i] = (uint32_t) (i % k);
        data.x[2 * i] = next_uniform(&seed, -1, 1) + (double) data.label[i];
        data.x[2 * i + 1] = next_uniform(&seed, -1, 1) - 0.5 * (double) (data.label[i] == 1);
        data.w[i] = 1;
    }
    return data;
}

static KmTable
table_of(const Data *data)
{
    return (KmTable) {.n = data->n, .d = 2, .x = data->x, .label = data->label, .classes = &data->classes,
                      .w = data->weighted ? data->w : NULL};
}

static KmStatus
fit(KmContext *ctx, const char *text, const Data *data, KmScorer **out)
{
    KmTable table = table_of(data);
    KmLearner *learner;
    KmModel *model;

    assert_int_equal(km_learner_parse(ctx, text, strlen(text), &learner), KM_OK);
    KM_TRY(km_learner_fit(ctx, learner, &table, &model));
    return km_scorer_create(ctx, model, out);
}

static KmScorer *
must_fit(KmContext *ctx, const char *text, const Data *data)
{
    KmScorer *scorer;

    assert_int_equal(fit(ctx, text, data, &scorer), KM_OK);
    return scorer;
}

static const double *
sigmoids(const KmScorer *scorer)
{
    const KmArray *array = km_model_array(scorer->model, "sigmoid");

    assert_non_null(array);
    return array->data;
}

/* ---- folds ---- */

static void
folds_are_even(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Data data = clusters(203, 3, 1);
    KmTable table = table_of(&data);
    unsigned char fold[MOST], again[MOST];
    size_t distinct[3], count[3][FOLDS] = {{0}};

    (void) unused;
    assert_int_equal(km_folds_by_class(ctx, &table, NULL, FOLDS, 0, fold, distinct), KM_OK);
    for (size_t i = 0; i < data.n; i++)
        count[data.label[i]][fold[i]]++;
    for (size_t c = 0; c < 3; c++)
    {
        assert_int_equal(distinct[c], c < 2 ? 68 : 67);
        for (size_t f = 0; f < FOLDS; f++)
            assert_in_range(count[c][f], 13, 14);
    }
    assert_int_equal(km_folds_by_class(ctx, &table, NULL, FOLDS, 1, again, distinct), KM_OK);
    assert_memory_not_equal(fold, again, data.n);
    km_context_destroy(ctx);
}

/* A row's fold follows its content, wherever it stands; equal rows share it; -0 is 0. */
static void
folds_follow_content(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Data data = clusters(60, 2, 2), reversed = data;
    KmTable table, back;
    unsigned char fold[MOST], other[MOST];
    size_t distinct[2];

    (void) unused;
    data.x[0] = 0;
    data.x[4] = -0.0;
    data.x[1] = data.x[5] = 7;
    reversed = data;
    for (size_t i = 0; i < data.n; i++)
    {
        memcpy(reversed.x + 2 * i, data.x + 2 * (data.n - 1 - i), 2 * sizeof(double));
        reversed.label[i] = data.label[data.n - 1 - i];
    }
    table = table_of(&data);
    back = table_of(&reversed);
    assert_int_equal(km_folds_by_class(ctx, &table, NULL, FOLDS, 3, fold, distinct), KM_OK);
    assert_int_equal(fold[0], fold[2]);
    assert_int_equal(distinct[0], 29);
    assert_int_equal(km_folds_by_class(ctx, &back, NULL, FOLDS, 3, other, distinct), KM_OK);
    for (size_t i = 0; i < data.n; i++)
        assert_int_equal(fold[i], other[data.n - 1 - i]);
    km_context_destroy(ctx);
}

static void
folds_leave_out(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Data data = clusters(40, 2, 3);
    KmTable table = table_of(&data);
    double takes_part[MOST];
    unsigned char fold[MOST];
    size_t distinct[2];

    (void) unused;
    for (size_t i = 0; i < data.n; i++)
        takes_part[i] = i % 4 == 1 ? 0 : 2;
    assert_int_equal(km_folds_by_class(ctx, &table, takes_part, FOLDS, 0, fold, distinct), KM_OK);
    for (size_t i = 0; i < data.n; i++)
        assert_int_equal(fold[i] == KM_FOLD_NONE, i % 4 == 1);
    assert_int_equal(distinct[1], 10);
    assert_int_equal(km_folds_by_class(ctx, &table, NULL, 1, 0, fold, distinct), KM_INVALID);
    km_context_destroy(ctx);
}

/* ---- probabilities ---- */

/* Out-of-fold decisions by separate machines of the same C and gamma. */
static KmSigmoid
sigmoid_by_hand(KmContext *ctx, const char *text, const Data *data, uint64_t seed)
{
    KmTable table = table_of(data);
    unsigned char fold[MOST];
    size_t distinct[2];
    double value[MOST];
    bool positive[MOST];
    KmSigmoid sigmoid;

    assert_int_equal(km_folds_by_class(ctx, &table, NULL, FOLDS, seed, fold, distinct), KM_OK);
    for (size_t f = 0; f < FOLDS; f++)
    {
        Data part = *data;
        KmScorer *scorer;

        part.n = 0;
        for (size_t i = 0; i < data->n; i++)
        {
            if (fold[i] == f)
                continue;
            memcpy(part.x + 2 * part.n, data->x + 2 * i, 2 * sizeof(double));
            part.w[part.n] = data->w[i];
            part.label[part.n++] = data->label[i];
        }
        scorer = must_fit(ctx, text, &part);
        for (size_t i = 0; i < data->n; i++)
            if (fold[i] == f)
                assert_int_equal(km_scorer_values(ctx, scorer, 1, data->x + 2 * i, &value[i]), KM_OK);
    }
    for (size_t i = 0; i < data->n; i++)
        positive[i] = data->label[i] == 1;
    assert_int_equal(km_sigmoid_fit(ctx, data->n, value, positive, table.w, &sigmoid), KM_OK);
    return sigmoid;
}

static void
check_by_hand(const Data *data, const char *plain, const char *calibrated, uint64_t seed)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmSigmoid expected = sigmoid_by_hand(ctx, plain, data, seed);
    KmScorer *scorer = must_fit(ctx, calibrated, data);
    const double *got = sigmoids(scorer);

    assert_near(got[0], expected.a, 1e-5);
    assert_near(got[1], expected.b, 1e-5);
    assert_true(got[0] < 0);
    for (size_t i = 0; i < data->n; i++)
    {
        double value, p[2];

        assert_int_equal(km_scorer_values(ctx, scorer, 1, data->x + 2 * i, &value), KM_OK);
        assert_int_equal(km_scorer_proba(ctx, scorer, 1, data->x + 2 * i, p), KM_OK);
        assert_near(p[1], 1 / (1 + exp(got[0] * value + got[1])), 1e-14);
        assert_true(p[0] + p[1] == 1);
        assert_int_equal(km_scorer_class(scorer, &value), p[1] > p[0]);
    }
    km_context_destroy(ctx);
}

static void
out_of_fold(void **unused)
{
    Data data = clusters(150, 2, 4);

    (void) unused;
    check_by_hand(&data, "svc(rbf(gamma=0.7), c=3, tol=1e-9)",
                  "svc(rbf(gamma=0.7), c=3, tol=1e-9, probability=true)", 0);
    check_by_hand(&data, "svc(linear, c=0.1, tol=1e-9)",
                  "svc(linear, c=0.1, tol=1e-9, probability=true, seed=9)", 9);
    data.weighted = true;
    for (size_t i = 0; i < data.n; i++)
        data.w[i] = 0.5 + (double) (i % 3);
    check_by_hand(&data, "svc(rbf(gamma=0.7), c=3, tol=1e-9)",
                  "svc(rbf(gamma=0.7), c=3, tol=1e-9, probability=true)", 0);
}

/* gamma=scale is learnt once, from all rows; class weights hold in every fold. */
static void
held_values(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Data data = clusters(120, 2, 6);
    KmScorer *scorer = must_fit(ctx, "svc(c=2, tol=1e-9, class_weight={a: 3})", &data);
    char text[300];
    KmSigmoid expected;
    const double *got;

    (void) unused;
    snprintf(text, sizeof text, "%s", scorer->model->learner);
    expected = sigmoid_by_hand(ctx, text, &data, 0);
    got = sigmoids(must_fit(ctx, "svc(c=2, tol=1e-9, class_weight={a: 3}, probability=true)", &data));
    assert_near(got[0], expected.a, 1e-5);
    assert_near(got[1], expected.b, 1e-5);
    km_context_destroy(ctx);
}

static void
weights_are_repetitions(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Data weighted = clusters(90, 3, 7), repeated = weighted;
    const double *a, *b;

    (void) unused;
    weighted.weighted = true;
    repeated.n = 0;
    for (size_t i = 0; i < weighted.n; i++)
    {
        weighted.w[i] = 1 + (double) (i % 4);
        for (size_t r = 0; r < 1 + i % 4; r++, repeated.n++)
        {
            memcpy(repeated.x + 2 * repeated.n, weighted.x + 2 * i, 2 * sizeof(double));
            repeated.label[repeated.n] = weighted.label[i];
        }
    }
    a = sigmoids(must_fit(ctx, "svc(rbf(gamma=1), c=2, tol=1e-9, probability=true)", &weighted));
    b = sigmoids(must_fit(ctx, "svc(rbf(gamma=1), c=2, tol=1e-9, probability=true)", &repeated));
    for (size_t i = 0; i < 6; i++)
        assert_near(a[i], b[i], 1e-5);
    km_context_destroy(ctx);
}

/* Probabilities of several classes are those of their pairs coupled; the label is the most probable. */
static void
several_classes(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Data data = clusters(200, 4, 8);
    KmScorer *scorer = must_fit(ctx, "svc(rbf(gamma=1), c=5, probability=true)", &data);
    double values[6], second[6], work[16], expected[4], p[4 * MOST];

    (void) unused;
    assert_int_equal(km_scorer_proba(ctx, scorer, data.n, data.x, p), KM_OK);
    for (size_t i = 0; i < data.n; i++)
    {
        const KmSigmoid *sigmoid = (const KmSigmoid *) sigmoids(scorer);
        size_t best = 0;

        assert_int_equal(km_scorer_values(ctx, scorer, 1, data.x + 2 * i, values), KM_OK);
        for (size_t pair = 0; pair < 6; pair++)
            second[pair] = km_sigmoid_value(&sigmoid[pair], values[pair]);
        km_couple_pairs(4, second, work, expected);
        assert_memory_equal(expected, p + 4 * i, sizeof expected);
        for (size_t c = 1; c < 4; c++)
            if (expected[c] > expected[best])
                best = c;
        assert_int_equal(km_scorer_class(scorer, values), best);
    }
    km_context_destroy(ctx);
}

static void
refusals(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Data data = clusters(9, 2, 9), same = clusters(40, 2, 10);
    KmScorer *scorer;
    double p[2];

    (void) unused;
    assert_int_equal(fit(ctx, "svc(linear, probability=true)", &data, &scorer), KM_DATA);
    assert_non_null(strstr(ctx->message, "at least 5 different rows of each class, class \"b\" has 4"));
    for (size_t i = 0; i < same.n; i += 2)
        same.x[2 * i] = same.x[2 * i + 1] = 1;
    assert_int_equal(fit(ctx, "svc(linear, probability=true)", &same, &scorer), KM_DATA);
    assert_non_null(strstr(ctx->message, "class \"a\" has 1"));
    data = clusters(90, 3, 11);
    assert_int_equal(fit(ctx, "svc(linear, probability=true, multiclass=ovr)", &data, &scorer),
                     KM_UNSUPPORTED);
    scorer = must_fit(ctx, "svc(linear)", &data);
    assert_int_equal(km_scorer_proba(ctx, scorer, 1, data.x, p), KM_UNSUPPORTED);
    assert_non_null(strstr(ctx->hint, "probability=true"));
    km_context_destroy(ctx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_are_even), cmocka_unit_test(folds_follow_content),
            cmocka_unit_test(folds_leave_out),
        cmocka_unit_test(out_of_fold), cmocka_unit_test(held_values),
            cmocka_unit_test(weights_are_repetitions),
        cmocka_unit_test(several_classes), cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
