/*
 * test_libsvm.c: LIBSVM's texts: models out and in with the same values, the order of classes, sigmoids,
 * malformed texts, lines of data.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "learner.h"
#include "libsvm.h"
#include "numbers.h"

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))
#define ELEMENTS(a) (sizeof(a) / sizeof(a)[0])
#define ROWS 60

/* ---- models to write ---- */

static const char *const names[] = {"-3", "0", "7", "20"};
static const double numbers[] = {-3, 0, 7, 20};

typedef struct Data
{
    double x[3 * ROWS], y[ROWS];
    uint32_t label[ROWS];
    KmClasses classes;
} Data;

static Data
rows_of(size_t k)
{
    Data data = {.classes = {.n = k, .kind = KM_LABEL_NUMBER, .text = (const char **) names,
                             .number = (double *) numbers}};
    uint64_t state = 17;

    for (size_t i = 0; i < ROWS; i++)
    {
        data.label[i] = (uint32_t) (i % k);
        for (size_t j = 0; j < 3; j++)
            data.x[3 * i + j] = i % 5 == j ? 0 : next_uniform(&state, -1, 1) + 0.4 * (double) (i % k == j);
        data.y[i] = data.x[3 * i] - data.x[3 * i + 1];
    }
    return data;
}

static KmModel *
fit(KmContext *ctx, const char *text, const Data *data)
{
    KmTable table = {.n = ROWS, .d = 3, .x = data->x};
    KmLearner *learner;
    KmModel *model;

    assert_int_equal(km_learner_parse(ctx, text, strlen(text), &learner), KM_OK);
    if (km_learner_target(learner) == KM_TARGET_LABEL)
    {
        table.label = data->label;
        table.classes = &data->classes;
    }
    if (km_learner_target(learner) == KM_TARGET_NUMBER)
    {
        table.y = data->y;
        table.n_targets = 1;
    }
    assert_int_equal(km_learner_fit(ctx, learner, &table, &model), KM_OK);
    return model;
}

static KmScorer *
scorer_of(KmContext *ctx, const KmModel *model)
{
    KmScorer *scorer;

    assert_int_equal(km_scorer_create(ctx, model, &scorer), KM_OK);
    return scorer;
}

static KmModel *
there_and_back(KmContext *ctx, const KmModel *model)
{
    KmText text = {0};
    KmModel *back;

    assert_int_equal(km_libsvm_write(ctx, model, &text), KM_OK);
    assert_int_equal(km_libsvm_read(ctx, text.data, text.length, 3, &back), KM_OK);
    return back;
}

/* ---- there and back ---- */

static void
check_same_bits(const char *learner, const Data *data)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    const KmModel *model = fit(ctx, learner, data), *back = there_and_back(ctx, model);
    KmScorer *one = scorer_of(ctx, model), *two = scorer_of(ctx, back);
    double a[6], b[6];

    assert_int_equal(one->score.n_out, two->score.n_out);
    assert_int_equal(one->score.decision, two->score.decision);
    for (size_t i = 0; i < ROWS; i++)
    {
        assert_int_equal(km_scorer_values(ctx, one, 1, data->x + 3 * i, a), KM_OK);
        assert_int_equal(km_scorer_values(ctx, two, 1, data->x + 3 * i, b), KM_OK);
        for (size_t o = 0; o < one->score.n_out; o++)
            assert_true(a[o] == b[o]);
        if (one->score.proba == NULL)
            continue;
        assert_int_equal(km_scorer_proba(ctx, one, 1, data->x + 3 * i, a), KM_OK);
        assert_int_equal(km_scorer_proba(ctx, two, 1, data->x + 3 * i, b), KM_OK);
        for (size_t c = 0; c < data->classes.n; c++)
            assert_true(a[c] == b[c]);
    }
    km_context_destroy(ctx);
}

static void
every_type_and_kernel(void **unused)
{
    static const char *const learners[] = {
        "svc(rbf(gamma=0.7), c=3)", "svc(linear)", "svc(poly(degree=2, gamma=0.3, coef0=1))",
        "svc(sigmoid(gamma=0.1, coef0=-0.2))", "svc(rbf(length_scale=0.8), probability=true)",
        "nu_svc(rbf(gamma=1), nu=0.3)", "svr(rbf(gamma=0.5), c=2, epsilon=0.05)", "nu_svr(linear, nu=0.4)",
        "one_class(rbf(gamma=0.5), nu=0.2)",
    };

    (void) unused;
    for (size_t k = 2; k <= 4; k++)
    {
        Data data = rows_of(k);

        for (size_t t = 0; t < ELEMENTS(learners); t++)
            check_same_bits(learners[t], &data);
    }
}

/* The text of a model that can be worked out: support rows 1 and -1, alpha 1/2, f = x, positive for 7. */
static void
written_text(void **unused)
{
    static const char expected[] =
        "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel -3 7\nnr_sv 1 1\n"
        "SV\n"
        "0.5 1:-1 \n-0.5 1:1 \n";
    KmContext *ctx = km_context_create(SIZE_MAX);
    const char *text[] = {"-3", "7"};
    double number[] = {-3, 7}, x[] = {-1, 1};
    uint32_t label[] = {0, 1};
    KmClasses classes = {.n = 2, .kind = KM_LABEL_NUMBER, .text = text, .number = number};
    KmTable table = {.n = 2, .d = 1, .x = x, .label = label, .classes = &classes};
    KmLearner *learner;
    KmModel *model;
    KmText out = {0};

    (void) unused;
    assert_int_equal(km_learner_parse(ctx, "svc(linear)", 11, &learner), KM_OK);
    assert_int_equal(km_learner_fit(ctx, learner, &table, &model), KM_OK);
    assert_int_equal(km_libsvm_write(ctx, model, &out), KM_OK);
    assert_string_equal(out.data, expected);
    km_context_destroy(ctx);
}

/* ---- texts of LIBSVM's ---- */

static KmModel *
must_read(KmContext *ctx, const char *text, size_t d)
{
    KmModel *model;

    if (km_libsvm_read(ctx, text, strlen(text), d, &model) != KM_OK)
        fail_msg("%s", ctx->message);
    return model;
}

/* Rows are the number of the row, then its kernel values; there the number alone. */
static void
precomputed(void **unused)
{
    static const char text[] =
        "svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 1\n"
        "SV\n0.25 0:3 \n-0.25 0:1 \n";
    static const char *const wrong[] = {"0:0", "0:1.5", "1:3", "0:3 1:1", "0:999999999", "3", "0:4"};
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmScorer *scorer = scorer_of(ctx, must_read(ctx, text, 0));
    double x[] = {9, 10, 20, 40}, value;
    KmText out = {0};
    KmModel *model;

    (void) unused;
    assert_int_equal(scorer->d, 4);
    assert_int_equal(km_scorer_values(ctx, scorer, 1, x, &value), KM_OK);
    assert_near(value, 0.25 * 40 - 0.25 * 10 - 0.5, 1e-15);
    assert_int_equal(km_libsvm_write(ctx, scorer->model, &out), KM_OK);
    assert_non_null(strstr(out.data, "SV\n0.25 0:1 \n-0.25 0:3 \n"));
    for (size_t i = 0; i < ELEMENTS(wrong); i++)
    {
        char changed[sizeof text + 20];
        const char *at = strstr(text, "0:3");

        snprintf(changed, sizeof changed, "%.*s%s%s", (int) (at - text), text, wrong[i], at + 3);
        assert_int_not_equal(km_libsvm_read(ctx, changed, strlen(changed), 4, &model), KM_OK);
    }
    km_context_destroy(ctx);
}

/* Labels as LIBSVM saw them first, positive for the first; both orders mean the same machine, f = 2x - 1 for
 * 1. */
static void
order_of_labels(void **unused)
{
    static const char *const texts[] = {
        "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 1\nlabel 1 -1\nprobA -2\nprobB 0.5\n"
            "nr_sv 1 1\nSV\n1 1:1 \n-1 1:-1 \n",
        "svm_type c_svc\r\nkernel_type linear\r\nnr_class 2\r\ntotal_sv 2\r\nrho -1\r\nlabel -1 1\r\n"
            "probA -2\r\nprobB -0.5\r\nnr_sv 1 1\r\nSV\r\n1 1:-1 \r\n-1 1:1",
    };

    (void) unused;
    for (size_t t = 0; t < 2; t++)
    {
        KmContext *ctx = km_context_create(SIZE_MAX);
        KmScorer *scorer = scorer_of(ctx, must_read(ctx, texts[t], 0));
        double x = 3, value, p[2];

        assert_string_equal(scorer->model->classes.text[0], "-1");
        assert_string_equal(scorer->model->classes.text[1], "1");
        assert_int_equal(km_scorer_values(ctx, scorer, 1, &x, &value), KM_OK);
        assert_near(value, 5, 1e-15);
        assert_int_equal(km_scorer_proba(ctx, scorer, 1, &x, p), KM_OK);
        assert_near(p[1], 1 / (1 + exp(-2 * 5 + 0.5)), 1e-15);
        km_context_destroy(ctx);
    }
}

/* Three classes in the order 5, 1, 3, with one support row each: x = 1, 2, 4 of a linear kernel.  Pairs
 * there: 5/1: coef (1 x=1, -2 x=2) - 10; 5/3: (3 x=1, -4 x=4) - 20; 1/3: (5 x=2, -6 x=4) - 30. */
static void
three_classes(void **unused)
{
    static const char text[] =
        "svm_type nu_svc\nkernel_type linear\nnr_class 3\ntotal_sv 3\nrho 10 20 30\nlabel 5 1 3\n"
        "probA -1 -2 -3\nprobB 0.1 0.2 0.3\nnr_sv 1 1 1\nSV\n1 3 1:1\n-2 5 1:2\n-4 -6 1:4\n";
    const double five_one = 1 - 4 - 10, five_three = 3 - 16 - 20, one_three = 10 - 24 - 30;
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmScorer *scorer = scorer_of(ctx, must_read(ctx, text, 0));
    const double *sigmoid = km_model_array(scorer->model, "sigmoid")->data;
    double x = 1, values[3];

    (void) unused;
    assert_string_equal(scorer->model->learner, "nu_svc(linear)");
    assert_int_equal(km_scorer_values(ctx, scorer, 1, &x, values), KM_OK);
    assert_near(values[0], -one_three, 1e-12);
    assert_near(values[1], five_one, 1e-12);
    assert_near(values[2], five_three, 1e-12);
    assert_true(sigmoid[0] == -3 && sigmoid[1] == -0.3 && sigmoid[2] == -1 && sigmoid[3] == 0.1);
    assert_true(sigmoid[4] == -2 && sigmoid[5] == 0.2);
    km_context_destroy(ctx);
}

static void
features_given(void **unused)
{
    static const char text[] = "svm_type epsilon_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 1\n"
        "rho -0.25\nprobA 0.3\nSV\n2 2:1e-1 \n";
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model;

    (void) unused;
    assert_int_equal(must_read(ctx, text, 0)->n_features, 2);
    assert_int_equal(must_read(ctx, text, 5)->n_features, 5);
    assert_int_equal(km_libsvm_read(ctx, text, strlen(text), 1, &model), KM_DIMENSION);
    km_context_destroy(ctx);
}

/* What LIBSVM estimated of errors and densities: kept, told by the facts, written again. */
static void
estimates_survive(void **unused)
{
    static const char *const texts[] = {
        "svm_type epsilon_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 1\nrho -0.25\nprobA 0.3\nSV\n"
        "2 2:0.1 \n",
        "svm_type nu_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nprobA 0\nSV\n2 2:0.1 \n",
        "svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0.5\n"
        "prob_density_marks -3 -2 -1 -0.5 0 1 2 3 4 5\nSV\n1 1:1 \n"};
    KmContext *ctx = km_context_create(SIZE_MAX);
    const KmFact *scale = km_model_fact(must_read(ctx, texts[0], 0), "laplace_scale");

    (void) unused;
    assert_non_null(scale);
    assert_true(scale->number == 0.3);
    for (size_t i = 0; i < ELEMENTS(texts); i++)
    {
        KmText text = {0};

        assert_int_equal(km_libsvm_write(ctx, must_read(ctx, texts[i], 0), &text), KM_OK);
        assert_string_equal(text.data, texts[i]);
    }
    km_context_destroy(ctx);
}

/* No support rows: the constant. */
static void
empty_regression(void **unused)
{
    static const char text[] = "svm_type epsilon_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 0\n"
        "rho -1.05\nSV\n";
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmScorer *scorer = scorer_of(ctx, must_read(ctx, text, 1));
    double x = 99, value;

    (void) unused;
    assert_int_equal(km_scorer_values(ctx, scorer, 1, &x, &value), KM_OK);
    assert_true(value == 1.05);
    km_context_destroy(ctx);
}

/* A decimal comma in the locale changes nothing. */
static void
locale_proof(void **unused)
{
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR"};
    Data data = rows_of(2);

    (void) unused;
    for (size_t l = 0; l < ELEMENTS(locales); l++)
        if (setlocale(LC_NUMERIC, locales[l]) != NULL)
            check_same_bits("svc(rbf(gamma=0.7), probability=true)", &data);
    setlocale(LC_NUMERIC, "C");
}

/* ---- refusals ---- */

static const char good[] =
    "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 1\nlabel 1 -1\nnr_sv 1 1\n"
    "SV\n1 1:1\n-1 1:2\n";

/* Each replaces the first by the second in a good text. */
static void
malformed(void **unused)
{
    static const char *const changes[][2] = {
        {"c_svc", "d_svc"}, {"rbf", "rbg"}, {"gamma 0.5\n", ""}, {"gamma 0.5", "gamma"}, {"gamma 0.5",
                                                                                          "gamma -1"},
        {"gamma 0.5", "gamma 0.5 1"}, {"gamma 0.5", "gamma 0,5"}, {"gamma 0.5", "gamma nan"},
        {"gamma 0.5", "gamma 0.5\ngamma 0.5"}, {"gamma", "gamme"}, {"nr_class 2", "nr_class 3"},
        {"nr_class 2", "nr_class 1"}, {"nr_class 2", "nr_class 4294967298"}, {"nr_class 2", "nr_class 2.5"},
        {"total_sv 2", "total_sv 3"}, {"total_sv 2", "total_sv 1"}, {"total_sv 2", "total_sv -1"},
        {"total_sv 2", "total_sv 1e300"}, {"rho 1", "rho 1 2"}, {"rho 1", "rho inf"}, {"label 1 -1",
                                                                                       "label 1 1"},
        {"label 1 -1", "label 1 0.5"}, {"label 1 -1", "label 1e300 1"}, {"label 1 -1", "label 1"},
        {"nr_sv 1 1", "nr_sv 2 1"}, {"nr_sv 1 1", "nr_sv 0 1"}, {"nr_sv 1 1", "probA 1\nnr_sv 1 1"},
        {"SV\n1", "SW\n1"}, {"1 1:1\n", "1 0:1\n"}, {"1 1:1\n", "1 2:1 1:1\n"}, {"1 1:1\n", "1 1:1 1:1\n"},
        {"1 1:1\n", "1 1:\n"}, {"1 1:1\n", "1 1\n"}, {"1 1:1\n", "1 :1\n"}, {"1 1:1\n", "1 1:1:1\n"},
        {"1 1:1\n", "1:1\n"}, {"1 1:1\n", "\n"}, {"1 1:1\n", "1 99999999999:1\n"}, {"1 1:1\n", "1 -1:1\n"},
        {"1 1:1\n", "1 1:1e999\n"}, {"-1 1:2\n", ""}, {"-1 1:2\n", "-1 1:2\n-1 1:3\n"}, {"-1 1:2\n",
                                                                                         "-1 134217728:2\n"},
    };
    KmModel *model;

    (void) unused;
    for (size_t i = 0; i < ELEMENTS(changes); i++)
    {
        KmContext *ctx = km_context_create((size_t) 64 << 20);
        const char *at = strstr(good, changes[i][0]);
        char text[400];

        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int) (at - good), good, changes[i][1],
                 at + strlen(changes[i][0]));
        if (km_libsvm_read(ctx, text, strlen(text), 0, &model) == KM_OK)
            fail_msg("accepted: %s -> %s", changes[i][0], changes[i][1]);
        assert_true(ctx->message[0] != '\0');
        km_context_destroy(ctx);
    }
}

/* Every text cut short before the last row is refused. */
static void
cut_short(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model;

    (void) unused;
    must_read(ctx, good, 0);
    for (size_t length = 0; length + 6 < strlen(good); length++)
        assert_int_not_equal(km_libsvm_read(ctx, good, length, 0, &model), KM_OK);
    km_context_destroy(ctx);
}

static void
not_written(void **unused)
{
    static const char *const learners[] = {
        "krr(linear)", "scale | svc(linear)", "svc(laplacian(gamma=1))", "svc(rbf(gamma=1) + linear)",
        "svc(rbf(gamma=1, dims=[1]))", "svc(rbf(length_scale=[1, 2, 3]))", "svc(linear, multiclass=ovr)",
    };
    Data data = rows_of(3);
    const char *words[] = {"a", "b", "c"};
    double none[] = {NAN, NAN, NAN};
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmText text = {0};

    (void) unused;
    for (size_t i = 0; i < ELEMENTS(learners); i++)
    {
        assert_int_equal(km_libsvm_write(ctx, fit(ctx, learners[i], &data), &text), KM_UNSUPPORTED);
        assert_true(ctx->hint[0] != '\0');
    }
    data.classes = (KmClasses) {.n = 3, .kind = KM_LABEL_TEXT, .text = words, .number = none};
    assert_int_equal(km_libsvm_write(ctx, fit(ctx, "svc(linear)", &data), &text), KM_UNSUPPORTED);
    km_context_destroy(ctx);
}

/* ---- lines of data ---- */

static void
check_line(const char *line, KmStatus status, double a, double b, double c)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    double x[3] = {NAN, NAN, NAN};

    assert_int_equal(km_libsvm_features(ctx, line, strlen(line), 3, x), status);
    if (status == KM_OK)
        assert_true(x[0] == a && x[1] == b && x[2] == c);
    km_context_destroy(ctx);
}

static void
lines(void **unused)
{
    (void) unused;
    check_line("1:0.5 3:2", KM_OK, 0.5, 0, 2);
    check_line("+1 1:0.5 3:2\n", KM_OK, 0.5, 0, 2);
    check_line("3:1 1:2", KM_OK, 2, 0, 1);
    check_line("", KM_OK, 0, 0, 0);
    check_line("-1", KM_OK, 0, 0, 0);
    check_line("\t2:-1e-3 ", KM_OK, 0, -1e-3, 0);
    check_line("0:5", KM_INVALID, 0, 0, 0);
    check_line("1:5 1:5", KM_INVALID, 0, 0, 0);
    check_line("4:5", KM_DIMENSION, 0, 0, 0);
    check_line("1:x", KM_SYNTAX, 0, 0, 0);
    check_line("x:1", KM_SYNTAX, 0, 0, 0);
    check_line("a 1:1", KM_SYNTAX, 0, 0, 0);
    check_line("1:1 2", KM_SYNTAX, 0, 0, 0);
    check_line("1:1\n2:1", KM_SYNTAX, 0, 0, 0);
    check_line("1:inf", KM_SYNTAX, 0, 0, 0);
    check_line("1.5:1", KM_SYNTAX, 0, 0, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_kernel), cmocka_unit_test(written_text),
            cmocka_unit_test(precomputed), cmocka_unit_test(order_of_labels),
        cmocka_unit_test(three_classes), cmocka_unit_test(features_given),
        cmocka_unit_test(estimates_survive), cmocka_unit_test(empty_regression),
        cmocka_unit_test(locale_proof), cmocka_unit_test(malformed), cmocka_unit_test(cut_short),
        cmocka_unit_test(not_written), cmocka_unit_test(lines),
    };

    return cmocka_run_group_tests_name("libsvm", tests, NULL, NULL);
}
