/*
 * test_ridge.c: ridge regression on rows: against its definition in long double, numbers of numpy, the
 * dual form, and where it cannot work.
 */
#include "sums_support.h"

/* Fit a learner to n x d rows with m targets. */
static KmStatus
fit_model(KmContext *ctx, const char *text, const KmTable *table, KmModel **out)
{
    return km_learner_fit(ctx, learner_of(ctx, text), table, out);
}

static void
check_against_definition(KmContext *ctx, const char *text, double lambda, bool centred, const KmTable *table,
                         double tolerance)
{
    size_t d = table->d, m = table->n_targets;
    double *w, *intercept;
    KmModel *model;

    ok(km_alloc(ctx, d * m, &w));
    ok(km_alloc(ctx, m, &intercept));
    ok(fit_model(ctx, text, table, &model));
    ridge_by_definition(table->n, d, m, table->x, table->y, table->w, lambda, centred, w, intercept);
    assert_int_equal(km_model_array(model, "coef")->rows, d);
    assert_int_equal(km_model_array(model, "coef")->columns, m);
    assert_all_close(d * m, km_model_array(model, "coef")->data, w, tolerance);
    assert_all_close(m, km_model_array(model, "intercept")->data, intercept, tolerance);
}

static void
test_definition(void **state)
{
    KmContext *ctx = *state;
    enum { N = 600, D = 7, M = 3 };
    double *x = random_numbers(ctx, 1, N * D), *y = random_numbers(ctx, 2, N * M);
    double *w = random_numbers(ctx, 3, N);
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = M, .y = y};

    for (size_t i = 0; i < N; i++)
    {
        y[i * M] += 3 * x[i * D] - x[i * D + 6] + 10;
        w[i] = fabs(w[i]) + 0.1;
    }
    check_against_definition(ctx, "ridge", 1, true, &table, 1e-12);
    check_against_definition(ctx, "ridge(alpha=0)", 0, true, &table, 1e-12);
    check_against_definition(ctx, "ridge(lambda=25, intercept=false)", 25, false, &table, 1e-12);
    table.w = w;
    check_against_definition(ctx, "ridge(0.5)", 0.5, true, &table, 1e-12);
    check_against_definition(ctx, "ridge(0.5, false)", 0.5, false, &table, 1e-12);
}

/* More features than a band of the normal equations, fewer rows than features. */
static void
test_wide(void **state)
{
    KmContext *ctx = *state;
    enum { N = 120, D = 300 };
    KmTable table = {.n = N, .d = D, .x = random_numbers(ctx, 4, N * D), .n_targets = 1,
                     .y = random_numbers(ctx, 5, N)};

    check_against_definition(ctx, "ridge(lambda=2)", 2, true, &table, 1e-11);
}

/* Means far from 0 take no digits: 1e8 and features of size 1 leave 8 digits of each number given. */
static void
test_large_means(void **state)
{
    KmContext *ctx = *state;
    enum { N = 300, D = 4 };
    double *x = random_numbers(ctx, 6, N * D), *y = random_numbers(ctx, 7, N);
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = 1, .y = y};

    for (size_t i = 0; i < N * D; i++)
        x[i] += 1e8;
    check_against_definition(ctx, "ridge(lambda=1)", 1, true, &table, 1e-8);
}

/* scikit-learn 1.9.1: Ridge(alpha=2).fit(X, y). */
static void
test_peer(void **state)
{
    const double x[] = {1, 2, 2, 1, 3, 5, 4, 3, 5, 8, 7, 1}, y[] = {1, 2, 2.5, 4, 4.5, 7};
    const double coef[] = {0.92099863201094423, -0.071135430916552708}, intercept[] = {0.3601231190150469};
    const double scores[] = {1.1388508891928857, 2.1309849521203827, 2.7674418604651159,
                             3.8307113543091655, 4.3960328317373456, 6.7359781121751041};
    KmTable table = {.n = 6, .d = 2, .x = x, .n_targets = 1, .y = y};
    KmModel *model;

    ok(fit_model(*state, "ridge(lambda=2)", &table, &model));
    assert_all_close(2, km_model_array(model, "coef")->data, coef, 1e-13);
    assert_all_close(1, km_model_array(model, "intercept")->data, intercept, 1e-13);
    assert_all_close(6, scores_of(*state, model, 6, x), scores, 1e-13);
}

/* A weight of 3 is a row given three times; the intercept is not penalised. */
static void
test_weights_repeat(void **state)
{
    KmContext *ctx = *state;
    enum { N = 40, D = 3 };
    double *x = random_numbers(ctx, 8, N * D), *y = random_numbers(ctx, 9, N), w[N];
    double *many_x, *many_y;
    size_t n = 0;
    KmModel *weighted, *repeated, *heavy;
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = 1, .y = y, .w = w}, many = {.d = D, .n_targets = 1};

    ok(km_alloc(ctx, 4 * N * D, &many_x));
    ok(km_alloc(ctx, 4 * N, &many_y));
    for (size_t i = 0; i < N; i++)
    {
        w[i] = (double) (i % 4 + 1);
        for (size_t r = 0; r <= i % 4; r++, n++)
        {
            memcpy(many_x + n * D, x + i * D, D * sizeof *x);
            many_y[n] = y[i];
        }
    }
    many.n = n;
    many.x = many_x;
    many.y = many_y;
    ok(fit_model(ctx, "ridge(lambda=3)", &table, &weighted));
    ok(fit_model(ctx, "ridge(lambda=3)", &many, &repeated));
    assert_all_close(D, km_model_array(weighted, "coef")->data, km_model_array(repeated, "coef")->data,
                     1e-12);
    ok(fit_model(ctx, "ridge(lambda=1e12)", &table, &heavy));
    for (size_t j = 0; j < D; j++)
        assert_true(fabs(km_model_array(heavy, "coef")->data[j]) < 1e-9);
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += many_y[i] / (double) n;
    assert_true(fabs(km_model_array(heavy, "intercept")->data[0] - mean) < 1e-9);
}

/* Without an intercept: f(x) = k(x)' (XX' + lambda I)^-1 y, the dual form with the linear kernel. */
static void
test_dual(void **state)
{
    KmContext *ctx = *state;
    enum { N = 15, D = 4 };
    double *x = random_numbers(ctx, 10, N * D), *y = random_numbers(ctx, 11, N), expected[N], *got;
    long double gram[N * N], plain[N * N], alpha[N];
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = 1, .y = y};
    KmModel *model;

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
        {
            long double sum = 0;

            for (size_t k = 0; k < D; k++)
                sum += (long double) x[i * D + k] * x[j * D + k];
            plain[i * N + j] = sum;
            gram[i * N + j] = sum + (i == j ? 0.7L : 0);
        }
    for (size_t i = 0; i < N; i++)
        alpha[i] = y[i];
    solve_by_elimination(N, 1, gram, alpha);
    for (size_t i = 0; i < N; i++)
    {
        long double sum = 0;

        for (size_t j = 0; j < N; j++)
            sum += plain[i * N + j] * alpha[j];
        expected[i] = (double) sum;
    }
    ok(fit_model(ctx, "ridge(lambda=0.7, intercept=false)", &table, &model));
    got = scores_of(ctx, model, N, x);
    assert_all_close(N, got, expected, 1e-12);
}

static void
test_failures(void **state)
{
    KmContext *ctx = *state;
    /* the third column is the sum of the others */
    const double x[] = {1, 2, 3, 2, 1, 3, 3, 5, 8, 4, 3, 7, 5, 8, 13};
    double y[] = {1, 2, 3, 4, 5}, huge[] = {1e200, -1e200, 1e200, 0, 5};
    KmTable table = {.n = 5, .d = 3, .x = x, .n_targets = 1, .y = y};
    KmTable wide = {.n = 1, .d = 20000, .n_targets = 1, .y = y};
    KmTable large = {.n = 5, .d = 1, .x = huge, .n_targets = 1, .y = y};
    KmModel *model;

    assert_int_equal(fit_model(ctx, "ridge(lambda=0)", &table, &model), KM_SINGULAR);
    assert_non_null(strstr(ctx->message, "feature 3"));
    ok(fit_model(ctx, "ridge(lambda=0.1)", &table, &model));
    assert_int_equal(fit_model(ctx, "ridge", &large, &model), KM_RANGE);
    wide.x = random_numbers(ctx, 1, 20000);
    ctx->max_bytes = (size_t) 1 << 30;
    assert_int_equal(fit_model(ctx, "ridge", &wide, &model), KM_MEMORY);
    assert_int_equal(km_learner_parse(ctx, "ridge(lambda=-1)", 16, &(KmLearner *) {NULL}), KM_INVALID);
}

/* GCV by its definition: degrees of freedom as the sum of what each target adds to its own prediction, found
 * by fits to unit vectors. */
static void
gcv_by_definition(const KmTable *table, double lambda, bool centred, double *gcv, double *df)
{
    enum { MOST = 40 };
    size_t n = table->n, d = table->d, m = table->n_targets;
    double unit[MOST * MOST] = {0}, w[MOST * MOST], b[MOST], total = 0, rss = 0;

    *df = 0;
    for (size_t i = 0; i < n; i++)
    {
        unit[i * n + i] = 1;
        total += table->w == NULL ? 1 : table->w[i];
    }
    ridge_by_definition(n, d, n, table->x, unit, table->w, lambda, centred, w, b);
    for (size_t i = 0; i < n; i++)
    {
        *df += b[i];
        for (size_t j = 0; j < d; j++)
            *df += table->x[i * d + j] * w[j * n + i];
    }
    ridge_by_definition(n, d, m, table->x, table->y, table->w, lambda, centred, w, b);
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < m; t++)
        {
            double rest = table->y[i * m + t] - b[t];

            for (size_t j = 0; j < d; j++)
                rest -= table->x[i * d + j] * w[j * m + t];
            rss += (table->w == NULL ? 1 : table->w[i]) * rest * rest;
        }
    *gcv = rss / total / (double) m / pow(1 - *df / total, 2);
}

static void
check_choice(const KmTable *features, const KmModel *model, bool centred)
{
    const double grid[] = {1e-3, 0.1, 1, 10, 300};
    double best = INFINITY, df = 0, chosen = 0, lambda;
    const KmArray *path = km_model_array(model, "lambda_path");

    assert_true(path->rows == 5 && path->columns == 3);
    for (size_t i = 0; i < 5; i++)
    {
        double gcv, this_df;

        gcv_by_definition(features, grid[i], centred, &gcv, &this_df);
        assert_true(path->data[3 * i] == grid[i] && fabs(path->data[3 * i + 1] / gcv - 1) < 1e-9 &&
                    fabs(path->data[3 * i + 2] / this_df - 1) < 1e-9);
        if (gcv < best)
        {
            best = gcv;
            df = this_df;
            chosen = grid[i];
        }
    }
    assert_int_equal(sscanf(strstr(model->learner, "ridge("), "ridge(lambda=%lf", &lambda), 1);
    assert_true(lambda == chosen && strstr(model->learner, "select") == NULL);
    assert_true(fabs(km_model_fact(model, "gcv")->number / best - 1) < 1e-9);
    assert_true(fabs(km_model_fact(model, "effective_df")->number / df - 1) < 1e-9);
}

static void
test_choice_of_lambda(void **state)
{
    KmContext *ctx = *state;
    enum { N = 40, D = 6, M = 2 };
    double *x = random_numbers(ctx, 31, N * D), *y = random_numbers(ctx, 32, N * M), w[N], *z;
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = M, .y = y}, features;
    KmModel *model, *alone;
    size_t d;

    for (size_t i = 0; i < N; i++)
    {
        y[i * M] = 1e3 * y[i * M] + 5e3 * x[i * D];
        w[i] = 1 + (double) (i % 4);
    }
    for (int weighted = 0; weighted < 2; weighted++)
    {
        table.w = weighted ? w : NULL;
        ok(fit_model(ctx, "ridge(lambda=grid(0.001, 0.1, 1, 10, 300), select=gcv)", &table, &model));
        check_choice(&table, model, true);
        ok(fit_model(ctx, model->learner, &table, &alone));
        assert_memory_equal(km_model_array(model, "coef")->data, km_model_array(alone, "coef")->data,
                            D * M * sizeof *x);
        ok(fit_model(ctx, "ridge(grid(0.001, 0.1, 1, 10, 300), false, select=gcv)", &table, &model));
        check_choice(&table, model, false);
        /* from sums */
        ok(fit_model(ctx, "rff(rbf(gamma=0.1), 10) | ridge(grid(0.001, 0.1, 1, 10, 300), select=gcv)", &table,
                     &model));
        z = features_of(ctx, "rff(rbf(gamma=0.1), 10)", N, D, x, &d);
        features = table;
        features.d = d;
        features.x = z;
        check_choice(&features, model, true);
    }
}

static void
test_choices_refused(void **state)
{
    KmContext *ctx = *state;
    const double x[] = {1, 2, 3}, y[] = {2, 4, 6};
    KmTable table = {.n = 3, .d = 1, .x = x, .n_targets = 1, .y = y};
    KmLearner *learner;
    KmModel *model;

    assert_int_equal(km_learner_parse(ctx, "ridge(2, select=gcv)", 20, &learner), KM_INVALID);
    assert_non_null(strstr(ctx->message, "no values of lambda"));
    assert_int_equal(fit_model(ctx, "ridge(grid(1, 2))", &table, &model), KM_UNSUPPORTED);
    table.n = 1;
    assert_int_equal(fit_model(ctx, "ridge(grid(0, 1), select=gcv)", &table, &model), KM_SINGULAR);
    assert_non_null(strstr(ctx->message, "none of the 2 values"));
}

/* One row alone gives the bits it has in a batch. */
static void
test_score_bits(void **state)
{
    KmContext *ctx = *state;
    enum { N = 50, D = 9, M = 2 };
    double *x = random_numbers(ctx, 12, N * D), *all;
    KmTable table = {.n = N, .d = D, .x = x, .n_targets = M, .y = random_numbers(ctx, 13, N * M)};
    KmModel *model;

    ok(fit_model(ctx, "ridge", &table, &model));
    all = scores_of(ctx, model, N, x);
    for (size_t i = 0; i < N; i++)
        assert_memory_equal(scores_of(ctx, model, 1, x + i * D), all + i * M, M * sizeof *all);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_definition),
        TEST(test_wide),
        TEST(test_large_means),
        TEST(test_peer),
        TEST(test_weights_repeat),
        TEST(test_dual),
        TEST(test_failures),
        TEST(test_choice_of_lambda),
        TEST(test_choices_refused),
        TEST(test_score_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
