/*
 * test_linear.c: classifiers and machines on features: ridge_classifier, logistic, linear_svc, linear_svr.
 */
#include "sums_support.h"

#include "polling.h"

enum { N = 90, D = 3 };

/* ---- support ---- */

static double label_numbers[] = {0, 1, 2, 3};
static const char *label_texts[] = {"0", "1", "2", "3"};
static KmClasses classes = {0, KM_LABEL_NUMBER, label_texts, label_numbers};

/* Noisy labels in k classes, and a target, of rows whose columns have means and scales of their own. */
typedef struct Rows
{
    double x[N * D], y[N], w[N];
    uint32_t label[N];
} Rows;

static Rows
make_rows(size_t k)
{
    uint64_t seed = 40 + k;
    Rows rows;

    for (size_t i = 0; i < N; i++)
    {
        double *x = rows.x + i * D, t;

        x[0] = next_uniform(&seed, -2, 2);
        x[1] = next_uniform(&seed, 10, 12);
        x[2] = next_uniform(&seed, -0.3, 0.3);
        t = x[0] + x[1] - 11 + next_uniform(&seed, -1.5, 1.5);
        rows.y[i] = 3 * t + 5 * x[2];
        rows.label[i] = (uint32_t) fmin((double) k - 1, fmax(0, floor((t + 2.5) / 5 * (double) k)));
        rows.w[i] = 1 + (double) (i % 3);
    }
    return rows;
}

static KmTable
table_of(const Rows *rows, size_t k, bool weighted)
{
    classes.n = k;
    return (KmTable) {.n = N, .d = D, .x = rows->x, .n_targets = 1, .y = rows->y, .label = rows->label,
                      .classes = &classes, .w = weighted ? rows->w : NULL};
}

static KmModel *
fit(KmContext *ctx, const char *text, const KmTable *table)
{
    KmModel *model;

    if (km_learner_fit(ctx, learner_of(ctx, text), table, &model) != KM_OK)
        fail_msg("%s: %s", text, ctx->message);
    return model;
}

static double
weight_of(const KmTable *table, size_t i)
{
    return table->w == NULL ? 1 : table->w[i];
}

/* Value t of row i by the model's arrays, in long double. */
static long double
value_of(const KmModel *model, const KmTable *table, size_t i, size_t t)
{
    const KmArray *coef = km_model_array(model, "coef"), *intercept = km_model_array(model, "intercept");
    long double value = intercept->data[t];

    for (size_t j = 0; j < table->d; j++)
        value += (long double) table->x[i * table->d + j] * coef->data[j * coef->columns + t];
    return value;
}

/* Rows repeated as often as their weights say. */
static KmTable
repeated(const KmTable *table, Rows *out, double *x, uint32_t *label, double *y)
{
    KmTable result = *table;
    size_t n = 0;

    (void) out;
    for (size_t i = 0; i < table->n; i++)
        for (size_t r = 0; r < (size_t) table->w[i]; r++, n++)
        {
            memcpy(x + n * table->d, table->x + i * table->d, table->d * sizeof *x);
            label[n] = table->label[i];
            y[n] = table->y[i];
        }
    result.n = n;
    result.x = x;
    result.label = label;
    result.y = y;
    result.w = NULL;
    return result;
}

/* ---- ridge_classifier ---- */

static void
test_ridge_classifier(void **state)
{
    for (size_t k = 2; k <= 4; k++)
    {
        Rows rows = make_rows(k);
        KmTable table = table_of(&rows, k, true);
        size_t m = k == 2 ? 1 : k;
        double y[N * 4], w[D * 4], intercept[4];
        KmModel *model = fit(*state, "ridge_classifier(0.7)", &table);
        KmScorer *scorer;
        double *values = scores_of(*state, model, N, rows.x);

        for (size_t i = 0; i < N; i++)
            for (size_t t = 0; t < m; t++)
                y[i * m + t] = rows.label[i] == (m == 1 ? 1 : t) ? 1 : -1;
        ridge_by_definition(N, D, m, rows.x, y, rows.w, 0.7, true, w, intercept);
        assert_all_close(D * m, km_model_array(model, "coef")->data, w, 1e-12);
        assert_all_close(m, km_model_array(model, "intercept")->data, intercept, 1e-11);
        ok(km_scorer_create(*state, model, &scorer));
        for (size_t i = 0; i < N; i++)
        {
            size_t best = k == 2 ? values[i] > 0 : 0;

            for (size_t t = 1; t < m; t++)
                if (values[i * m + t] > values[i * m + best])
                    best = t;
            assert_int_equal(km_scorer_class(scorer, values + i * m), best);
        }
    }
}

/* ---- logistic ---- */

/* At the minimum of a strictly convex function the gradient is 0: W + sum_i c_i (p_i - e_i) x_i', and that of
 * the intercepts. */
static void
check_stationary(const KmModel *model, const KmTable *table, size_t k, double c)
{
    const KmArray *coef = km_model_array(model, "coef");
    size_t m = k == 2 ? 1 : k;
    long double gradient[(D + 1) * 4] = {0};

    for (size_t i = 0; i < N; i++)
    {
        long double p[4], sum = 0;

        for (size_t t = 0; t < k; t++)
            sum += p[t] =
                expl(k == 2 ? (t == 1 ? value_of(model, table, i, 0) : 0) : value_of(model, table, i, t));
        for (size_t t = 0; t < m; t++)
        {
            size_t class = m == 1 ? 1 : t;
            long double r = c * weight_of(table, i) * (p[class] / sum - (table->label[i] == class));

            for (size_t j = 0; j < D; j++)
                gradient[j * m + t] += r * table->x[i * D + j];
            gradient[D * m + t] += r;
        }
    }
    for (size_t j = 0; j < D * m; j++)
        gradient[j] += coef->data[j];
    for (size_t j = 0; j < (D + 1) * m; j++)
        if (!(fabsl(gradient[j]) < 1e-5 * (1 + c)))
            fail_msg("k = %zu, c = %g: gradient %zu is %Lg", k, c, j, gradient[j]);
}

static void
test_logistic_optimum(void **state)
{
    const double costs[] = {0.01, 1, 100, 1e4};

    for (size_t k = 2; k <= 4; k++)
        for (size_t c = 0; c < 4; c++)
            for (size_t weighted = 0; weighted < 2; weighted++)
            {
                Rows rows = make_rows(k);
                KmTable table = table_of(&rows, k, weighted);
                char text[60];
                KmModel *model;

                snprintf(text, sizeof text, "logistic(%g)", costs[c]);
                model = fit(*state, text, &table);
                assert_true(fact_of(model, "converged") == 1);
                check_stationary(model, &table, k, costs[c]);
            }
}

/* Probabilities are those of the model's values, sum to 1, and weights are repeated rows. */
static void
test_logistic_probabilities(void **state)
{
    for (size_t k = 2; k <= 3; k++)
    {
        Rows rows = make_rows(k);
        KmTable table = table_of(&rows, k, true), many;
        double x[3 * N * D], y[3 * N], p[N * 3], q[N * 3];
        uint32_t label[3 * N];
        KmModel *model = fit(*state, "logistic(c=2)", &table), *again;
        KmScorer *scorer;

        ok(km_scorer_create(*state, model, &scorer));
        ok(km_scorer_proba(*state, scorer, N, rows.x, p));
        for (size_t i = 0; i < N; i++)
        {
            long double e[3] = {1}, sum = 0, all = 0;

            for (size_t t = 0; t < k; t++)
                sum += e[t] = k == 2 ? (t == 1 ? expl(value_of(model, &table, i, 0)) : 1)
                    : expl(value_of(model, &table, i, t));
            for (size_t t = 0; t < k; t++)
            {
                assert_true(fabsl(p[i * k + t] - e[t] / sum) < 1e-14);
                all += p[i * k + t];
            }
            assert_true(fabsl(all - 1) < 1e-15);
        }
        many = repeated(&table, &rows, x, label, y);
        again = fit(*state, "logistic(c=2)", &many);
        ok(km_scorer_create(*state, again, &scorer));
        ok(km_scorer_proba(*state, scorer, N, rows.x, q));
        assert_all_close(N * k, q, p, 1e-7);
    }
}

/* Separable rows, extreme values, a large c: finite, and right on every row. */
static void
test_logistic_separable(void **state)
{
    const double x[] = {-3e3, -1e3, -2e3, 1e3, 2e3, 5e3};
    const uint32_t label[] = {0, 0, 0, 1, 1, 1};
    KmTable table = {.n = 6, .d = 1, .x = x, .label = label, .classes = &classes};
    double *values;

    classes.n = 2;
    values = scores_of(*state, fit(*state, "logistic(c=1e6)", &table), 6, x);
    for (size_t i = 0; i < 6; i++)
        assert_true(isfinite(values[i]) && (values[i] > 0) == label[i]);
}

/* ---- linear machines ---- */

/* Their values beside those of the kernel machine, and the objective. */
static void
check_same(KmContext *ctx, const char *linear, const char *kernel, const KmTable *table)
{
    KmModel *a = fit(ctx, linear, table), *b = fit(ctx, kernel, table);
    size_t values = km_model_array(a, "intercept")->columns;
    double objective = fact_of(b, "objective");

    if (!(fabs(fact_of(a, "objective") - objective) < 1e-6 * (1 + fabs(objective))))
        fail_msg("%s: objective %.12g, %s: %.12g", linear, fact_of(a, "objective"), kernel, objective);
    assert_true(fact_of(a, "converged") == 1);
    assert_true(fact_of(a, "gap") <= 1e-7 * (1 + fabs(objective)));
    assert_int_equal(km_model_array(b, "intercept")->columns, values);
    assert_all_close(N * values, scores_of(ctx, a, N, table->x), scores_of(ctx, b, N, table->x), 2e-4);
}

static void
test_linear_svc(void **state)
{
    const double costs[] = {1e-3, 0.1, 1, 30, 1000};

    for (size_t k = 2; k <= 4; k++)
        for (size_t c = 0; c < 5; c++)
            for (size_t weighted = 0; weighted < 2; weighted++)
            {
                Rows rows = make_rows(k);
                KmTable table = table_of(&rows, k, weighted);
                char linear[60], kernel[80];

                snprintf(linear, sizeof linear, "linear_svc(%g)", costs[c]);
                snprintf(kernel, sizeof kernel, "svc(linear, %g, tol=1e-7)", costs[c]);
                check_same(*state, linear, kernel, &table);
            }
}

/* Far more rows than can touch the margin, and features in which they are separable: variables at the margin
 * have theta without bound.  A tolerance that double precision cannot meet ends where rounding does, and the
 * model is as good as any. */
static void
test_end_by_rounding(void **state)
{
    enum { ROWS = 400, WIDE = 40 };
    static double x[ROWS * WIDE];
    static uint32_t label[ROWS];
    KmTable table = {.n = ROWS, .d = WIDE, .x = x, .label = label, .classes = &classes};
    KmModel *model, *exact;
    uint64_t seed = 7;

    classes.n = 2;
    for (size_t i = 0; i < ROWS; i++)
    {
        double sum = 0;

        for (size_t j = 0; j < WIDE; j++)
            sum += x[i * WIDE + j] = next_uniform(&seed, -1, 1);
        label[i] = sum > 1;
    }
    exact = fit(*state, "svc(linear, 1000, tol=1e-6)", &table);
    warnings = 0;
    model = fit(*state, "linear_svc(1000, tol=1e-16)", &table);
    assert_int_equal(warnings, 0);
    assert_true(fact_of(model, "converged") == 1);
    assert_true(fact_of(model, "gap") >= 0 && fact_of(model, "gap") <= 1e-9 * fact_of(model, "objective"));
    assert_true(fabs(fact_of(model, "objective") / fact_of(exact, "objective") - 1) < 1e-6);
}

/* Rows (of the concrete data) on which predictor and corrector alone go in circles far from the optimum. */
static void
test_cycle(void **state)
{
    static const double x[] = {298, 0, 107, 210, 11, 880, 744, 28,   302, 0, 0, 203, 0, 974, 817, 14,
                               349, 0, 0, 192, 0, 1047, 806, 7,      350, 0, 0, 203, 0, 974, 775, 7};
    static const uint32_t label[] = {1, 0, 0, 0};
    KmTable table = {.n = 4, .d = 8, .x = x, .label = label, .classes = &classes};
    KmModel *model, *exact;

    classes.n = 2;
    exact = fit(*state, "svc(linear, tol=1e-9)", &table);
    warnings = 0;
    model = fit(*state, "linear_svc", &table);
    assert_int_equal(warnings, 0);
    assert_true(fact_of(model, "converged") == 1);
    assert_true(fabs(fact_of(model, "objective") / fact_of(exact, "objective") - 1) < 1e-6);
}

/* The parameters of svc mean here what they mean there. */
static void
test_class_parameters(void **state)
{
    const char *const options[] = {"class_weight={0: 0.2, 1: 3}", "class_weight=balanced", "multiclass=ovr",
                                   "multiclass=ovr, class_weight={1: 5}"};

    for (size_t k = 2; k <= 4; k++)
        for (size_t o = 0; o < 4; o++)
        {
            Rows rows = make_rows(k);
            KmTable table = table_of(&rows, k, true);
            char linear[100], kernel[120];

            snprintf(linear, sizeof linear, "linear_svc(0.7, %s)", options[o]);
            snprintf(kernel, sizeof kernel, "svc(linear, 0.7, tol=1e-7, %s)", options[o]);
            check_same(*state, linear, kernel, &table);
        }
}

/* A class's weight multiplies the weights of its rows; balanced ones make all classes weigh the same. */
static void
test_class_weights(void **state)
{
    const char *const texts[] = {"logistic(0.7, tol=1e-12", "ridge_classifier(0.7", "linear_svc(0.7"};

    for (size_t l = 0; l < 3; l++)
    {
        Rows rows = make_rows(3);
        KmTable table = table_of(&rows, 3, true);
        double w[N], total[3] = {0};
        char text[100];
        const KmArray *given, *balanced, *expected;

        for (size_t i = 0; i < N; i++)
            total[rows.label[i]] += rows.w[i];
        snprintf(text, sizeof text, "%s, class_weight={'0': %.17g, 2: %.17g})", texts[l], total[1] / total[0],
                 total[1] / total[2]);
        given = km_model_array(fit(*state, text, &table), "coef");
        for (size_t i = 0; i < N; i++)
            w[i] = rows.w[i] * (total[1] / total[rows.label[i]]);
        table.w = w;
        snprintf(text, sizeof text, "%s)", texts[l]);
        expected = km_model_array(fit(*state, text, &table), "coef");
        for (size_t i = 0; i < D * given->columns; i++)
            assert_true(given->data[i] == expected->data[i]);
        snprintf(text, sizeof text, "%s, class_weight=balanced)", texts[l]);
        balanced = km_model_array(fit(*state, text, &table), "coef");       /* they weigh the same already */
        for (size_t i = 0; i < D * given->columns; i++)
            assert_true(fabs(balanced->data[i] - expected->data[i]) <= 1e-9 * (1 + fabs(expected->data[i])));
    }
}

static void
test_class_weights_refused(void **state)
{
    const char *const texts[] = {"logistic(class_weight={9: 2})", "linear_svc(class_weight={9: 2})",
                                 "ridge_classifier(class_weight={9: 2})"};
    Rows rows = make_rows(2);
    KmTable table = table_of(&rows, 2, false);
    KmContext *ctx = *state;
    KmLearner *learner;
    KmModel *model;

    for (size_t i = 0; i < 3; i++)
    {
        assert_int_equal(km_learner_fit(ctx, learner_of(ctx, texts[i]), &table, &model), KM_INVALID);
        assert_non_null(strstr(ctx->message, "names \"9\", which is none of the classes"));
    }
    assert_int_equal(km_learner_parse(ctx, "logistic(class_weight={0: 0})", 29, &learner), KM_INVALID);
    assert_non_null(strstr(ctx->message, "greater than 0"));
}

static void
test_linear_svr(void **state)
{
    const struct { double c, epsilon; } cases[] = {{0.01, 0.1}, {1, 0.1}, {50, 0}, {1, 2}, {10, 1}};

    for (size_t c = 0; c < 5; c++)
        for (size_t weighted = 0; weighted < 2; weighted++)
        {
            Rows rows = make_rows(2);
            KmTable table = table_of(&rows, 2, weighted);
            char linear[60], kernel[80];

            snprintf(linear, sizeof linear, "linear_svr(%g, %g)", cases[c].c, cases[c].epsilon);
            snprintf(kernel, sizeof kernel, "svr(linear, %g, %g, tol=1e-7)", cases[c].c, cases[c].epsilon);
            check_same(*state, linear, kernel, &table);
        }
}

/* Two rows at -1 and 3 with c = 0.01: both at the bound, w = 0.04; every b that leaves both hinges open is as
 * good, from -0.96 to 0.88: the middle is -0.04. A wide tube: w = 0, the middle of the targets. */
static void
test_intercept_without_free_rows(void **state)
{
    const double x[] = {-1, 3}, y[] = {2, 8};
    const uint32_t label[] = {0, 1};
    KmTable table = {.n = 2, .d = 1, .x = x, .n_targets = 1, .y = y, .label = label, .classes = &classes};
    KmModel *model;

    classes.n = 2;
    model = fit(*state, "linear_svc(0.01)", &table);
    assert_true(fabs(km_model_array(model, "coef")->data[0] - 0.04) < 1e-8);
    assert_true(fabs(km_model_array(model, "intercept")->data[0] - (-0.04)) < 1e-6);
    model = fit(*state, "linear_svr(1, 10)", &table);
    assert_true(fabs(km_model_array(model, "coef")->data[0]) < 1e-6);
    assert_true(fabs(km_model_array(model, "intercept")->data[0] - 5) < 1e-5);
}

/* ---- what goes wrong ---- */

static void
test_one_class(void **state)
{
    const char *const texts[] = {"ridge_classifier", "logistic", "linear_svc"};
    Rows rows = make_rows(2);
    KmTable table = table_of(&rows, 1, false);
    KmModel *model;

    memset(rows.label, 0, sizeof rows.label);
    for (size_t i = 0; i < 3; i++)
    {
        KmContext *ctx = *state;

        assert_int_equal(km_learner_fit(ctx, learner_of(ctx, texts[i]), &table, &model), KM_DATA);
        assert_non_null(strstr(ctx->message, texts[i]));
        assert_non_null(strstr(ctx->message, "found only \"0\""));
    }
}

static void
test_iteration_limit(void **state)
{
    const char *const texts[] = {"logistic(100, max_iter=1)", "linear_svc(max_iter=2)",
                                 "linear_svr(max_iter=2)"};
    Rows rows = make_rows(2);
    KmTable table = table_of(&rows, 2, false);

    for (size_t i = 0; i < 3; i++)
    {
        warnings = 0;
        assert_true(fact_of(fit(*state, texts[i], &table), "converged") == 0);
        assert_int_equal(warnings, 1);
    }
}

static void
test_out_of_range(void **state)
{
    const char *const texts[] = {"ridge_classifier", "logistic", "linear_svc", "linear_svr"};
    Rows rows = make_rows(2);
    KmTable table = table_of(&rows, 2, false);
    KmModel *model;

    for (size_t i = 0; i < N * D; i++)
        rows.x[i] *= 1e180;
    for (size_t i = 0; i < 4; i++)
        if (km_learner_fit(*state, learner_of(*state, texts[i]), &table, &model) == KM_OK)
            for (size_t j = 0; j < D; j++)
                assert_true(isfinite(km_model_array(model, "coef")->data[j]));
}

static void
test_cancel(void **state)
{
    const char *const texts[] = {"ridge_classifier", "logistic", "linear_svc", "linear_svr"};
    KmContext *ctx = *state;
    Rows rows = make_rows(3);
    KmTable table = table_of(&rows, 3, false);
    Polling polling;
    KmModel *model;

    for (size_t i = 0; i < 4; i++)
        for (size_t stop = 1; stop < 40; stop += 3)
        {
            KmLearner *learner = learner_of(ctx, texts[i]);
            KmStatus status;

            polling_start(ctx, &polling, stop);
            status = km_learner_fit(ctx, learner, &table, &model);
            polling_end(ctx, &polling);
            assert_true(status == KM_CANCELLED || (status == KM_OK && polling.calls <= stop));
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ridge_classifier),
        TEST(test_logistic_optimum),
        TEST(test_logistic_probabilities),
        TEST(test_logistic_separable),
        TEST(test_linear_svc),
        TEST(test_end_by_rounding),
        TEST(test_cycle),
        TEST(test_class_parameters),
        TEST(test_class_weights),
        TEST(test_class_weights_refused),
        TEST(test_linear_svr),
        TEST(test_intercept_without_free_rows),
        TEST(test_one_class),
        TEST(test_iteration_limit),
        TEST(test_out_of_range),
        TEST(test_cancel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
