/*
 * test_nystroem.c: features of landmarks: exactness, given landmarks against another program, choice of
 * landmarks, weights, refusals, facts.
 */
#include "sums_support.h"

#include "data_files.h"
#include "kernel.h"

/* ---- support ---- */

static KmModel *
fit_table(KmContext *ctx, const char *text, const KmTable *table)
{
    KmModel *model;

    if (km_learner_fit(ctx, learner_of(ctx, text), table, &model) != KM_OK)
        fail_msg("%s: %s", text, ctx->message);
    return model;
}

static KmModel *
fit_steps_to(KmContext *ctx, const char *text, size_t n, size_t d, const double *x, const double *w)
{
    KmTable table = {.n = n, .d = d, .x = x, .w = w};

    return fit_table(ctx, text, &table);
}

/* Features (n x *d_out) of a fitted model's steps. */
static double *
features_by(KmContext *ctx, const KmModel *model, size_t n, const double *x, size_t *d_out)
{
    KmScorer *scorer;
    double *z;

    ok(km_scorer_create(ctx, model, &scorer));
    *d_out = scorer->steps.d_out;
    ok(km_alloc(ctx, n * *d_out, &z));
    ok(km_scorer_transform(ctx, scorer, n, x, z));
    return z;
}

static double
value_of(KmContext *ctx, const char *text, size_t d, const double *x, const double *z)
{
    KmKernel *kernel;
    double k;

    ok(km_kernel_parse(ctx, text, strlen(text), &kernel));
    ok(km_kernel_value(ctx, kernel, d, x, z, &k));
    return k;
}

/* ---- exactness ---- */

/* E085: four rows and ten landmarks. */
static void
test_more_landmarks_than_rows(void **state)
{
    const double x[] = {0, 0, 0, 2, 1, 0, 3, 1}, new_row[] = {0.5, 0.5};
    const char *const methods[] = {"rpcholesky", "uniform", "kmeans"};
    double *z, *again;
    size_t d;

    for (size_t m = 0; m < 3; m++)
    {
        char text[100];
        KmModel *model;

        warnings = 0;
        snprintf(text, sizeof text, "nystroem(rbf(gamma=0.5), 10, %s)", methods[m]);
        model = fit_steps_to(*state, text, 4, 2, x, NULL);
        assert_int_equal(warnings, 1);
        z = features_by(*state, model, 4, x, &d);
        assert_int_equal(d, 4);
        for (size_t i = 0; i < 4; i++)
            for (size_t j = 0; j < 4; j++)
                assert_true(fabs(inner(d, z + i * d, z + j * d) -
                                 value_of(*state, "rbf(gamma=0.5)", 2, x + 2 * i, x + 2 * j)) < 1e-12);
        again = features_by(*state, model, 1, new_row, &d);
        assert_true(fabs(inner(d, again, again) - 0.788522) < 1e-6);
        assert_true(fact_of(model, "kernel_error") < 1e-12 && fact_of(model, "residual_trace") < 1e-12);
    }
}

/* Landmarks that repeat, lie in each other's span or are zero do no harm. */
static void
test_landmarks_that_depend(void **state)
{
    const double x[] = {1, 2, 1, 2, 0, 0, 1, 2 + 1e-9, -1, 1, 3, 0.5};
    const char *const kernels[] = {"rbf(gamma=0.5)", "linear", "poly(2)", "cosine + linear"};

    for (size_t c = 0; c < 4; c++)
    {
        char text[200];
        size_t d;
        double *z;

        snprintf(text, sizeof text,
                 "nystroem(%s, landmarks=[[1,2],[1,2],[0,0],[1,2.000000001],[-1,1],[3,0.5]])", kernels[c]);
        z = features_of(*state, text, 6, 2, x, &d);
        assert_int_equal(d, 6);
        for (size_t i = 0; i < 6; i++)
            for (size_t j = 0; j < 6; j++)
            {
                double k = value_of(*state, kernels[c], 2, x + 2 * i, x + 2 * j);

                assert_true(fabs(inner(d, z + i * d, z + j * d) - k) < 1e-9 * (1 + fabs(k)));
            }
    }
}

/* All random rows as landmarks, in more bands than one. */
static void
test_all_landmarks(void **state)
{
    enum { N = 150, D = 3 };
    double *x = random_numbers(*state, 7, N * D), *z, worst = 0;
    KmModel *model = fit_steps_to(*state, "nystroem(rbf(gamma=0.3), 150)", N, D, x, NULL);
    size_t d;

    z = features_by(*state, model, N, x, &d);
    assert_in_range(d, 60, N);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++)
            worst = fmax(worst, fabs(inner(d, z + i * d, z + j * d) -
                                     value_of(*state, "rbf(gamma=0.3)", D, x + D * i, x + D * j)));
    assert_true(worst < 1e-8);
}

/* The same bits alone and in a batch, in fit and later. */
static void
test_bits(void **state)
{
    enum { N = 70, D = 4 };
    double *x = random_numbers(*state, 8, N * D), *batch, *alone;
    KmModel *model = fit_steps_to(*state, "scale | nystroem(matern(nu=1.5), 33, uniform)", N, D, x, NULL);
    size_t d;

    batch = features_by(*state, model, N, x, &d);
    for (size_t i = 0; i < N; i++)
    {
        alone = features_by(*state, model, 1, x + i * D, &d);
        assert_memory_equal(alone, batch + i * d, d * sizeof *alone);
    }
}

/* ---- against another program: numpy, eigendecomposition of K(S, S) ---- */

typedef struct Reference
{
    const char *file, *kernel;
    double lambda;
    bool all;                   /* landmarks: all training rows, else those with id % 10 = 1 */
    double rmse, prediction[3];
    double gram[4];             /* approximate kernel of the first training row and the first four */
} Reference;

static const Reference references[] = {
    {"mcycle", "laplacian(gamma=1)", 0.5, true, 26.5041925898853,
     {-2.61312616282439, -2.7757482640110958, -2.9946172375233644},
     {1.0000000000000007, 0.9849114527159506, 0.9128157505087595, 0.8854774388039773}},
    {"concrete", "rbf(gamma=0.1)", 0.1, false, 7.13688852139096,
     {46.99087036651753, 46.256516048089296, 32.723190020824795},
     {0.9999999999999997, 0.9962260760515246, 0.010478212119242623, 0.011609320660679387}},
};

static const char *
learner_text(KmContext *ctx, const Reference *reference, const DataSet *data)
{
    KmText text = {0};
    char number[64];
    bool first = true;

    ok(km_text_add(ctx, &text, "nystroem(", 9));
    ok(km_text_add(ctx, &text, reference->kernel, strlen(reference->kernel)));
    ok(km_text_add(ctx, &text, ", landmarks=[", 13));
    for (size_t i = 0; i < data->n[0]; i++)
    {
        if (!reference->all && data->id[0][i] % 10 != 1)
            continue;
        ok(km_text_add(ctx, &text, first ? "[" : ", [", first ? 1 : 3));
        first = false;
        for (size_t k = 0; k < data->d; k++)
        {
            int length =
                snprintf(number, sizeof number, "%s%.17g", k > 0 ? ", " : "", data->x[0][i * data->d + k]);

            ok(km_text_add(ctx, &text, number, (size_t) length));
        }
        ok(km_text_add(ctx, &text, "]", 1));
    }
    snprintf(number, sizeof number, "]) | ridge(%g, intercept=false)", reference->lambda);
    ok(km_text_add(ctx, &text, number, strlen(number)));
    return text.data;
}

static void
check_reference(KmContext *ctx, const Reference *reference)
{
    DataSet data = read_data(reference->file, 2000);
    double mean = 0, square = 0, *z, *predicted;
    size_t n = data.n[0], d;
    KmModel *model;

    standardise(&data);
    for (size_t i = 0; i < n; i++)
        mean += data.y[0][i] / (double) n;
    for (size_t i = 0; i < n; i++)
        data.y[0][i] -= mean;
    KmTable table = {.n = n, .d = data.d, .x = data.x[0], .n_targets = 1, .y = data.y[0]};
    ok(km_learner_fit(ctx, learner_of(ctx, learner_text(ctx, reference, &data)), &table, &model));
    z = features_by(ctx, model, 4, data.x[0], &d);
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(inner(d, z, z + i * d) - reference->gram[i]) < 1e-8);
    predicted = scores_of(ctx, model, data.n[1], data.x[1]);
    for (size_t i = 0; i < data.n[1]; i++)
        square += pow(predicted[i] + mean - data.y[1][i], 2) / (double) data.n[1];
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(predicted[i] + mean - reference->prediction[i]) <
                    1e-6 * fabs(reference->prediction[i]));
    assert_true(fabs(sqrt(square) - reference->rmse) < 1e-6 * reference->rmse);
    free_data(&data);
}

static void
test_reference_values(void **state)
{
    if (getenv("KML_DATA") == NULL)
        skip();
    for (size_t r = 0; r < sizeof references / sizeof *references; r++)
        check_reference(*state, &references[r]);
}

/* ---- choice of landmarks ---- */

/* At equal rank, over seeds: pivots leave less of the kernel's trace than rows drawn uniformly. */
static void
test_pivots_beat_uniform(void **state)
{
    double left[2] = {0};
    const char *const methods[] = {"rpcholesky", "uniform"};
    DataSet data;

    if (getenv("KML_DATA") == NULL)
        skip();
    data = read_data("california", 20000);
    standardise(&data);
    for (int seed = 0; seed < 5; seed++)
        for (size_t m = 0; m < 2; m++)
        {
            char text[100];

            snprintf(text, sizeof text, "nystroem(rbf(gamma=0.125), 100, %s, %d)", methods[m], seed);
            left[m] +=
                fact_of(fit_steps_to(*state, text, data.n[0], data.d, data.x[0], NULL), "residual_trace") / 5;
        }
    print_message("residual trace at rank 100: rpcholesky %.4g, uniform %.4g\n", left[0], left[1]);
    assert_true(left[0] < 0.9 * left[1]);
    free_data(&data);
}

/* Rows of four clusters: four centres near their means, and better than four rows drawn. */
static void
test_kmeans_centres(void **state)
{
    enum { N = 200 };
    const double centres[4][2] = {{0, 0}, {10, 0}, {0, 10}, {10, 10}};
    double *noise = random_numbers(*state, 9, 2 * N), x[2 * N];
    double gap[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    KmLearner *learner;
    const KmValue *landmarks;

    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < 2; k++)
            x[2 * i + k] = centres[i % 4][k] + noise[2 * i + k] / 4;
    learner = learner_of(
        *state, fit_steps_to(*state, "nystroem(rbf(gamma=1), 4, kmeans, 3)", N, 2, x, NULL)->learner);
    landmarks = km_arg(&learner->step[0].args, "landmarks");
    assert_int_equal(landmarks->rows, 4);
    for (size_t c = 0; c < 4; c++)
        for (size_t l = 0; l < 4; l++)
            gap[c] = fmin(
                gap[c],
                hypot(landmarks->list[2 * l] - centres[c][0], landmarks->list[2 * l + 1] - centres[c][1]));
    for (size_t c = 0; c < 4; c++)
        assert_true(gap[c] < 0.25);
}

/* A whole-number weight is so many equal rows: the same landmarks, to the byte. */
static void
test_weights_are_repeated_rows(void **state)
{
    enum { N = 40, D = 2 };
    double *x = random_numbers(*state, 10, N * D), repeated[3 * N * D], w[N];
    const char *const methods[] = {"rpcholesky", "uniform", "kmeans"};
    size_t n = 0;

    for (size_t i = 0; i < N; i++)
    {
        w[i] = 1 + (double) (i % 3);
        for (size_t r = 0; r <= i % 3; r++, n++)
            memcpy(repeated + n * D, x + i * D, D * sizeof *x);
    }
    for (size_t m = 0; m < 3; m++)
    {
        char text[100];

        snprintf(text, sizeof text, "nystroem(rbf(gamma=1), 8, %s, seed=4)", methods[m]);
        assert_string_equal(fit_steps_to(*state, text, N, D, x, w)->learner,
                            fit_steps_to(*state, text, n, D, repeated, NULL)->learner);
    }
}

/* Every row has a weight of 1 but one: it is drawn nearly always. */
static void
test_weights_steer_the_choice(void **state)
{
    enum { N = 50 };
    double x[N], w[N];
    int drawn = 0;

    for (size_t i = 0; i < N; i++)
    {
        x[i] = (double) i;
        w[i] = i == 20 ? 1000 : 1;
    }
    for (int seed = 0; seed < 20; seed++)
    {
        char text[100];

        snprintf(text, sizeof text, "nystroem(rbf(gamma=1), 1, uniform, %d)", seed);
        drawn += strstr(fit_steps_to(*state, text, N, 1, x, w)->learner, "[[20]]") != NULL;
    }
    assert_in_range(drawn, 16, 20);
}

/* ---- language ---- */

static void
test_learner_text(void **state)
{
    const double x[] = {0, 1, 3};
    KmModel *model = fit_steps_to(*state, "nystroem(rbf(gamma=scale), 2, uniform, seed=1)", 3, 1, x, NULL);
    KmLearner *learner = learner_of(*state, model->learner);
    KmText text = {0};

    assert_non_null(strstr(model->learner, "nystroem(rbf(gamma=0.64"));
    assert_non_null(strstr(model->learner, "landmarks=[["));
    assert_null(strstr(model->learner, "n_components"));
    assert_null(strstr(model->learner, "seed"));
    ok(km_learner_print(*state, learner, &text));
    assert_string_equal(text.data, model->learner);
    assert_string_equal(fit_steps_to(*state, model->learner, 3, 1, x, NULL)->learner, model->learner);
}

static void
test_refusals(void **state)
{
    const struct { const char *text; KmStatus status; const char *says; } cases[] = {
        {"nystroem(sigmoid(gamma=1), landmarks=[[1, 2]])", KM_UNSUPPORTED, "semidefinite"},
        {"nystroem(rbf(gamma=1), landmarks=[[1, 2, 3]])", KM_DIMENSION, "expects 3 features, got 2"},
        {"nystroem(rbf(gamma=1), landmarks=[[1, 2], [3]])", KM_INVALID, "row 2 of parameter \"landmarks\""},
        {"nystroem(rbf(gamma=1), 5, landmarks=[[1, 2]])", KM_INVALID, "landmarks"},
        {"nystroem(rbf(gamma=1), 5)", KM_UNSUPPORTED, "no constants"},
        {"nystroem(rbf(gamma=1), 5, best)", KM_INVALID, "method"},
        {"nystroem(rbf(gamma=1), 0)", KM_INVALID, "n_components"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refusal(*state, cases[i].text, 2, cases[i].status, cases[i].says);
}

/* ---- the models that follow ---- */

/* Ridge on landmarks is ridge on their features, whichever of kernel values and features were summed: from
 * lambda so large that the former do to lambda that only the latter can take. */
static void
check_ridge(KmContext *ctx, const char *steps, double lambda, bool centred, const KmTable *table)
{
    size_t d, m = table->n_targets;
    char text[200];
    double *z, *w, *intercept;
    KmModel *model;

    snprintf(text, sizeof text, "%s | ridge(%g, %s)", steps, lambda, centred ? "true" : "false");
    model = fit_table(ctx, text, table);
    z = features_by(ctx, model, table->n, table->x, &d);
    ok(km_alloc(ctx, d * m, &w));
    ok(km_alloc(ctx, m, &intercept));
    ridge_by_definition(table->n, d, m, z, table->y, table->w, lambda, centred, w, intercept);
    assert_all_close(d * m, km_model_array(model, "coef")->data, w, 1e-8);
    assert_all_close(m, km_model_array(model, "intercept")->data, intercept, 1e-8);
}

static void
test_ridge_sums(void **state)
{
    enum { N = 700, D = 3, M = 2 };
    const double lambdas[] = {1e5, 100, 1, 0.01, 1e-4, 1e-7, 1e-11};
    double *x = random_numbers(*state, 13, N * D), *y = random_numbers(*state, 14, N * M), w[N];
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = M, .y = y};

    for (size_t i = 0; i < N; i++)
    {
        y[i * M] += sin(3 * x[i * D]) + 1000;
        w[i] = 0.5 + (double) (i % 4);
    }
    for (size_t l = 0; l < sizeof lambdas / sizeof *lambdas; l++)
    {
        table.w = NULL;
        check_ridge(*state, "nystroem(rbf(gamma=0.5), 60)", lambdas[l], true, &table);
        check_ridge(*state, "nystroem(laplacian(gamma=1), 90, uniform)", lambdas[l], false, &table);
        table.w = w;
        check_ridge(*state, "scale | nystroem(rbf(gamma=0.5), 60, kmeans)", lambdas[l], true, &table);
    }
}

/* Landmarks that repeat, and those that others span, have coefficients of 0. */
static void
test_ridge_on_landmarks_that_depend(void **state)
{
    enum { N = 300, D = 2 };
    double *x = random_numbers(*state, 15, N * D), *y = random_numbers(*state, 16, N);
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = 1, .y = y};

    check_ridge(*state, "nystroem(rbf(gamma=0.5), landmarks=[[1,1],[1,1],[0,1],[-1,1]])", 10, true, &table);
    check_ridge(*state, "nystroem(linear, landmarks=[[1,0],[0,1],[1,1],[0,0]])", 10, true, &table);
    check_ridge(*state, "nystroem(linear, landmarks=[[1,0],[0,1],[1,1],[0,0]])", 1e-12, true, &table);
}

/* Features that ridge makes block by block are checked, and named. */
static void
test_features_too_large(void **state)
{
    const double x[] = {1, 2, 3e200, 1}, y[] = {1, 2};
    KmTable table = {.n = 2, .d = 2, .x = x, .n_targets = 1, .y = y};
    KmContext *ctx = *state;
    KmModel *model;

    assert_int_equal(km_learner_fit(ctx, learner_of(ctx, "poly_features(2) | ridge"), &table, &model),
                     KM_RANGE);
    assert_non_null(strstr(ctx->message, "after poly_features is too large"));
}

/* GCV chooses by the features' own equations. */
static void
test_choice_of_lambda(void **state)
{
    enum { N = 400, D = 2 };
    double *x = random_numbers(*state, 17, N * D), *y = random_numbers(*state, 18, N), *z;
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = 1, .y = y}, features = table;
    const char *const ridge = "ridge(lambda=grid(0.1, 1, 10, 100, 1000), select=gcv)";
    KmModel *model, *direct;
    char text[200];

    for (size_t i = 0; i < N; i++)
        y[i] += 2 * sin(2 * x[i * D]);
    snprintf(text, sizeof text, "nystroem(rbf(gamma=0.5), 30) | %s", ridge);
    model = fit_table(*state, text, &table);
    z = features_by(*state, model, N, x, &features.d);
    features.x = z;
    direct = fit_table(*state, ridge, &features);
    assert_string_equal(strstr(model->learner, "ridge("), direct->learner);
    assert_true(fabs(fact_of(model, "gcv") / fact_of(direct, "gcv") - 1) < 1e-9);
    assert_true(fabs(fact_of(model, "effective_df") / fact_of(direct, "effective_df") - 1) < 1e-9);
}

/* With all rows as landmarks ridge on the features is kernel ridge, and rff tends to it. */
static void
test_ridge_on_features(void **state)
{
    enum { N = 60, D = 2 };
    double *x = random_numbers(*state, 11, N * D), y[N], *exact, *landmarks, error[2] = {0};
    const char *const rff[] = {"rff(rbf(gamma=0.5), 100, seed=%d) | ridge(0.5, intercept=false)",
                               "rff(rbf(gamma=0.5), 1600, seed=%d) | ridge(0.5, intercept=false)"};
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = 1, .y = y};
    KmModel *model;

    for (size_t i = 0; i < N; i++)
        y[i] = sin(x[D * i]) + x[D * i + 1];
    ok(km_learner_fit(*state, learner_of(*state, "krr(rbf(gamma=0.5), lambda=0.5, center=false)"), &table,
                      &model));
    exact = scores_of(*state, model, N, x);
    ok(km_learner_fit(*state,
                      learner_of(*state, "nystroem(rbf(gamma=0.5), 60) | ridge(0.5, intercept=false)"),
                      &table, &model));
    landmarks = scores_of(*state, model, N, x);
    assert_all_close(N, landmarks, exact, 1e-8);
    for (int seed = 0; seed < 10; seed++)
        for (size_t size = 0; size < 2; size++)
        {
            char text[100];
            double *scores;

            snprintf(text, sizeof text, rff[size], seed);
            ok(km_learner_fit(*state, learner_of(*state, text), &table, &model));
            scores = scores_of(*state, model, N, x);
            for (size_t i = 0; i < N; i++)
                error[size] += pow(scores[i] - exact[i], 2);
        }
    error[0] = sqrt(error[0] / (10 * N));
    error[1] = sqrt(error[1] / (10 * N));
    assert_true(error[1] < error[0] / 2.5 && error[1] > error[0] / 6.5);
}

/* Linear models score kernel values, not features: the same values but for rounding, from rows and from sums,
 * and the same bits alone and in a batch. */
static void
test_plain_scores(void **state)
{
    enum { N = 90, D = 3 };
    const char *const texts[] = {"scale | nystroem(rbf(gamma=0.4), 40) | ridge(0.1)",
                                 "nystroem(rbf(gamma=0.4), 40, kmeans) | linear_svr"};
    double *x = random_numbers(*state, 12, N * D), y[2 * N];
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = 2, .y = y};

    for (size_t i = 0; i < N; i++)
    {
        y[2 * i] = x[D * i] * x[D * i + 1];
        y[2 * i + 1] = 10 * cos(x[D * i + 2]);
    }
    for (size_t t = 0; t < 2; t++)
    {
        const KmArray *coef, *intercept;
        double *z, *batch, *alone;
        KmModel *model;
        size_t d;

        ok(km_learner_fit(*state, learner_of(*state, texts[t]), &table, &model));
        coef = km_model_array(model, "coef");
        intercept = km_model_array(model, "intercept");
        assert_int_equal(km_model_array(model, "plain")->rows, 40);
        z = features_by(*state, model, N, x, &d);
        batch = scores_of(*state, model, N, x);
        for (size_t i = 0; i < N; i++)
        {
            alone = scores_of(*state, model, 1, x + i * D);
            assert_memory_equal(alone, batch + 2 * i, 2 * sizeof *alone);
            for (size_t o = 0; o < 2; o++)
            {
                double value = intercept->data[o];

                for (size_t j = 0; j < d; j++)
                    value += z[i * d + j] * coef->data[j * 2 + o];
                assert_true(fabs(value - batch[2 * i + o]) < 1e-10 * (1 + fabs(value)));
            }
        }
        model->n_arrays--;      /* without it, the features are scored */
        assert_all_close(2 * N, scores_of(*state, model, N, x), batch, 1e-10);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_more_landmarks_than_rows),
        TEST(test_landmarks_that_depend),
        TEST(test_all_landmarks),
        TEST(test_bits),
        TEST(test_reference_values),
        TEST(test_pivots_beat_uniform),
        TEST(test_kmeans_centres),
        TEST(test_weights_are_repeated_rows),
        TEST(test_weights_steer_the_choice),
        TEST(test_learner_text),
        TEST(test_refusals),
        TEST(test_ridge_sums),
        TEST(test_ridge_on_landmarks_that_depend),
        TEST(test_features_too_large),
        TEST(test_choice_of_lambda),
        TEST(test_ridge_on_features),
        TEST(test_plain_scores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
