/*
 * test_accumulator_plain.c: sums of features of any size, what rounding costs them, and the errors of a
 * model on rows known by their sums only.
 */
#include "accumulator_support.h"

#include "sums_layout.h"

#define RAW_MAP "scale(mean=[0.5, 0, 1], sd=[1, 2, 0.5])"

/* ---- sums against long double ---- */

static void
check_sums(KmContext *ctx, const KmSums *sums, const Rows *rows, const double *z, double tolerance)
{
    size_t d = sums->features, columns = d + 1 + rows->targets;
    double *expected;

    assert_int_equal(km_sums_columns(sums), columns);
    ok(km_alloc(ctx, km_sums_elements(sums), &expected));
    for (size_t p = 0, e = 0; p < columns; p++)
        for (size_t q = 0; q <= p; q++, e++)
        {
            long double sum = 0;

            for (size_t i = 0; i < rows->n; i++)
            {
                const double *y = rows->y + i * rows->targets;
                double a = p < d ? z[i * d + p] : p == d ? 1 : y[p - d - 1];
                double b = q < d ? z[i * d + q] : q == d ? 1 : y[q - d - 1];

                sum += (long double) (rows->w ? rows->w[i] : 1) * a * b;
            }
            expected[e] = (double) sum;
        }
    assert_all_close(km_sums_elements(sums), km_sums_triangle(sums), expected, tolerance);
}

static void
check_plain(KmContext *ctx, const char *text, const Rows *rows)
{
    size_t d = D;
    const double *z = text[0] == '\0' ? rows->x : features_of(ctx, text, rows->n, D, rows->x, &d);
    KmFeatureMap *map = map_of(ctx, text[0] == '\0' ? "ridge" : text, rows->targets);
    KmSums *sums = sums_of(ctx, map, rows, 0, rows->n, 1), *parts = sums_of(ctx, map, rows, 0, 100, 7);

    assert_int_equal(sums->flags, KM_SUMS_PLAIN);
    assert_int_equal(sums->features, d);
    check_sums(ctx, stored(ctx, sums), rows, z, 1e-14);
    ok(km_sums_merge(ctx, parts, sums_of(ctx, map, rows, 100, rows->n, 11), 1));
    check_sums(ctx, stored(ctx, parts), rows, z, 1e-14);
    assert_int_equal(parts->n_rows, sums->n_rows);
    assert_true(parts->magnitude == 0);
}

static void
test_sums(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 600, 2, false);
    double *w = random_numbers(ctx, 9, 600);

    check_plain(ctx, "", &rows);
    check_plain(ctx, RAW_MAP, &rows);
    for (size_t i = 0; i < 600; i++)
        w[i] = fabs(w[i]) + 0.1;
    rows.w = w;
    check_plain(ctx, RAW_MAP, &rows);
}

/* Hundreds of columns: blocks by GEMM. */
static void
test_wide(void **state)
{
    enum { WIDTH = 300, N = 700 };
    KmContext *ctx = *state;
    Rows rows = {.n = N, .targets = 1, .x = random_numbers(ctx, 1, N * WIDTH),
                 .y = random_numbers(ctx, 2, N)};
    KmFeatureMap *map;
    KmSums *sums;
    size_t bytes;

    ok(km_feature_map_create(ctx, learner_of(ctx, "ridge"), WIDTH, 1, &map));
    bytes = km_sums_full_bytes(map);
    sums = block_of(ctx, bytes);
    ok(km_sums_init(ctx, map, bytes, sums));
    for (size_t i = 0; i < N; i++)
        ok(km_sums_add(ctx, map, sums, rows.x + i * WIDTH, rows.y + i, 1));
    ok(km_sums_flush(ctx, map, sums));
    check_sums(ctx, sums, &rows, rows.x, 1e-14);
}

/* A million rows far from zero: 600 of them, over and over. */
static void
test_many_rows(void **state)
{
    enum { TIMES = 1700 };
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 600, 1, false);
    KmFeatureMap *map = map_of(ctx, "ridge", 1);
    KmSums *sums = block_of(ctx, km_sums_full_bytes(map));
    double *w;

    ok(km_alloc(ctx, rows.n, &w));
    for (size_t i = 0; i < rows.n * D; i++)
        ((double *) rows.x)[i] += 10;
    for (size_t i = 0; i < rows.n; i++)
        w[i] = TIMES;
    ok(km_sums_init(ctx, map, km_sums_full_bytes(map), sums));
    for (size_t k = 0; k < TIMES * rows.n; k++)
        ok(km_sums_add(ctx, map, sums, rows.x + k % rows.n * D, rows.y + k % rows.n, 1));
    ok(km_sums_flush(ctx, map, sums));
    rows.w = w;
    check_sums(ctx, sums, &rows, rows.x, 1e-12);
}

/* ---- models ---- */

static void
check_solution(KmContext *ctx, const char *text, const char *steps, const Rows *rows)
{
    size_t d = D, m = rows->targets;
    const double *z = steps[0] == '\0' ? rows->x : features_of(ctx, steps, rows->n, D, rows->x, &d);
    double *w, *b;
    KmModel *model;

    ok(km_alloc(ctx, d * m, &w));
    ok(km_alloc(ctx, m, &b));
    ridge_by_definition(rows->n, d, m, z, rows->y, rows->w, 0.5, true, w, b);
    ok(km_sums_solve(ctx, learner_of(ctx, "ridge(lambda=0.5)"),
                     sums_of(ctx, map_of(ctx, text, m), rows, 0, rows->n, 3), &model));
    assert_all_close(d * m, km_model_array(model, "coef")->data, w, 1e-11);
    assert_all_close(m, km_model_array(model, "intercept")->data, b, 1e-11);
    assert_true(strncmp(model->learner, steps[0] == '\0' ? "ridge(" : "scale(", 6) == 0);
}

static void
test_solve(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 200, 2, false);

    check_solution(ctx, "ridge", "", &rows);
    check_solution(ctx, RAW_MAP " | ridge", RAW_MAP, &rows);
}

/* ---- digits lost ---- */

static void
count_warning(KmContext *ctx, const char *message)
{
    assert_true(strncmp(message, "solve: ", 7) == 0);
    ++*(int *) ctx->owner;
}

static int
warnings_of(KmContext *ctx, const KmSums *sums, const char *estimator)
{
    int warnings = 0;
    KmModel *model;

    ctx->warn = count_warning;
    ctx->owner = &warnings;
    ok(km_sums_solve(ctx, learner_of(ctx, estimator), sums, &model));
    ctx->warn = NULL;
    return warnings;
}

/* A mean of 1e6 spreads loses 12 of 16 digits, one of 100 loses 4; a large penalty makes up for it. */
static void
test_centring(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 300, 1, false);
    double *x = (double *) rows.x, *y = (double *) rows.y;
    KmFeatureMap *map = map_of(ctx, "ridge", 1);

    assert_int_equal(warnings_of(ctx, sums_of(ctx, map, &rows, 0, 300, 1), "ridge"), 0);
    for (size_t i = 0; i < 300; i++)
        x[i * D + 1] += 100;
    assert_int_equal(warnings_of(ctx, sums_of(ctx, map, &rows, 0, 300, 1), "ridge"), 0);
    for (size_t i = 0; i < 300; i++)
        x[i * D + 1] += 1e6;
    assert_int_equal(warnings_of(ctx, sums_of(ctx, map, &rows, 0, 300, 1), "ridge(lambda=0.001)"), 1);
    assert_int_equal(warnings_of(ctx, sums_of(ctx, map, &rows, 0, 300, 1), "ridge(lambda=1e8)"), 0);
    for (size_t i = 0; i < 300; i++)
    {
        x[i * D + 1] -= 1e6;
        y[i] = 1e10 + y[i] / 1000;
    }
    assert_int_equal(warnings_of(ctx, sums_of(ctx, map, &rows, 0, 300, 1), "ridge"), 1);
}

/* What a part 1e12 times as large leaves behind when it is taken away. */
static void
test_subtraction(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 300, 1, false);
    KmFeatureMap *map = map_of(ctx, "ridge", 1);
    double *x = (double *) rows.x;
    KmSums *few, *whole;

    whole = sums_of(ctx, map, &rows, 0, 300, 1);
    ok(km_sums_merge(ctx, whole, sums_of(ctx, map, &rows, 0, 200, 1), -1));
    assert_true(whole->magnitude > km_sums_trace(whole));
    stored(ctx, whole);
    assert_int_equal(warnings_of(ctx, whole, "ridge"), 0);
    for (size_t i = 0; i < 200 * D; i++)
        x[i] *= 1e8;
    whole = sums_of(ctx, map, &rows, 0, 300, 1);
    few = sums_of(ctx, map, &rows, 0, 200, 1);
    ok(km_sums_merge(ctx, whole, few, -1));
    assert_int_equal(warnings_of(ctx, whole, "ridge"), 1);
    ok(km_sums_merge(ctx, few, stored(ctx, few), -1));
    assert_int_equal(few->n_rows, 0);
    assert_true(few->magnitude == 0 && km_sums_trace(few) == 0);
    stored(ctx, few);
}

/* A target of 1e300 pushes the others out of the window of slices; once it is gone, they show that. */
static void
test_truncated(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 100, 1, false);
    KmFeatureMap *map = map_of(ctx, "rff(rbf(gamma=0.3), 4, seed=3)", 1);
    KmSums *whole;

    ((double *) rows.y)[0] = 1e300;
    whole = sums_of(ctx, map, &rows, 0, 100, 1);
    assert_int_equal(whole->flags, KM_SUMS_EXACT | KM_SUMS_CLIPPED);
    assert_int_equal(warnings_of(ctx, whole, "ridge"), 0);
    ok(km_sums_merge(ctx, whole, sums_of(ctx, map, &rows, 0, 1, 1), -1));
    assert_int_equal(whole->flags, KM_SUMS_EXACT | KM_SUMS_CLIPPED | KM_SUMS_TRUNCATED);
    stored(ctx, whole);
    assert_int_equal(warnings_of(ctx, whole, "ridge"), 1);
}

/* ---- too large ---- */

static void
test_overflow(void **state)
{
    KmContext *ctx = *state;
    KmFeatureMap *map = map_of(ctx, "ridge", 1);
    const double x[D] = {1, 2, 3}, huge_x[D] = {1e200, 0, 0}, large_x[D] = {1e154, 0, 0}, y = 1;
    KmSums *sums = block_of(ctx, km_sums_full_bytes(map)), *more;

    ok(km_sums_init(ctx, map, km_sums_full_bytes(map), sums));
    ok(km_sums_add(ctx, map, sums, x, &y, 1));
    ok(km_sums_add(ctx, map, sums, huge_x, &y, 1));
    assert_int_equal(km_sums_flush(ctx, map, sums), KM_RANGE);
    ok(km_sums_init(ctx, map, km_sums_full_bytes(map), sums));
    ok(km_sums_add(ctx, map, sums, large_x, &y, 1));
    ok(km_sums_flush(ctx, map, sums));
    more = stored(ctx, sums);
    assert_int_equal(km_sums_merge(ctx, more, sums, 1), KM_RANGE);
}

/* ---- the errors of a model ---- */

static void
check_error(KmContext *ctx, const char *map_text, const char *learner, const Rows *rows, const Rows *test)
{
    size_t m = rows->targets;
    KmFeatureMap *map = map_of(ctx, map_text, m);
    KmSums *sums = sums_of(ctx, map, test, 0, test->n, 1);
    long double sse = 0, sst = 0, weight = 0;
    KmSumsError error;
    KmModel *model;
    double *p;

    ok(km_sums_solve(ctx, learner_of(ctx, learner), sums_of(ctx, map, rows, 0, rows->n, 1), &model));
    p = scores_of(ctx, model, test->n, test->x);
    for (size_t t = 0; t < m; t++)
    {
        long double mean = 0, total = 0;

        for (size_t i = 0; i < test->n; i++)
        {
            mean += (test->w ? test->w[i] : 1) * (long double) test->y[i * m + t];
            total += test->w ? test->w[i] : 1;
        }
        for (size_t i = 0; i < test->n; i++)
        {
            long double w = test->w ? test->w[i] : 1, y = test->y[i * m + t];

            sse += w * (y - p[i * m + t]) * (y - p[i * m + t]);
            sst += w * (y - mean / total) * (y - mean / total);
        }
        weight = total;
    }
    ok(km_sums_error(ctx, model, sums, &error));
    assert_true(fabsl(error.weight - weight) <= 1e-14L * weight);
    assert_true(fabsl(error.sse - sse) <= 1e-10L * sse);
    assert_true(fabsl(error.sst - sst) <= 1e-10L * sst);
}

static void
test_error(void **state)
{
    KmContext *ctx = *state;
    Rows train = make_rows(ctx, 200, 2, false), test = make_rows(ctx, 70, 2, false);
    double *y = (double *) test.y, *w = random_numbers(ctx, 31, 70);

    for (size_t i = 0; i < 140; i++)
        y[i] += 500;
    check_error(ctx, "rff(rbf(gamma=0.3), 20)", "ridge(lambda=0.1)", &train, &test);
    check_error(ctx, "rff(rbf(gamma=0.3), 20)", "ridge(lambda=0.1, intercept=false)", &train, &test);
    check_error(ctx, "ridge", "ridge(lambda=0.1)", &train, &test);
    for (size_t i = 0; i < 70; i++)
        w[i] = fabs(w[i]) + 0.1;
    test.w = w;
    check_error(ctx, RAW_MAP, "ridge(lambda=1)", &train, &test);
}

static void
test_error_refusals(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 50, 1, false);
    KmSums *raw = sums_of(ctx, map_of(ctx, "ridge", 1), &rows, 0, 50, 1);
    KmSums *scaled = sums_of(ctx, map_of(ctx, RAW_MAP, 1), &rows, 0, 50, 1);
    KmTable table = {.n = 50, .d = D, .x = rows.x, .n_targets = 1, .y = rows.y};
    KmSumsError error;
    KmModel *model;

    ok(km_sums_solve(ctx, learner_of(ctx, "ridge"), raw, &model));
    assert_int_equal(km_sums_error(ctx, model, scaled, &error), KM_INVALID);
    ok(km_learner_fit(ctx, learner_of(ctx, "krr(linear)"), &table, &model));
    assert_int_equal(km_sums_error(ctx, model, raw, &error), KM_UNSUPPORTED);
    ok(km_sums_merge(ctx, raw, stored(ctx, raw), -1));
    ok(km_sums_error(ctx, model, raw, &error));
    assert_true(error.weight == 0 && error.sse == 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sums), TEST(test_wide), TEST(test_many_rows),
        TEST(test_solve), TEST(test_centring), TEST(test_subtraction),
        TEST(test_truncated), TEST(test_overflow), TEST(test_error), TEST(test_error_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
