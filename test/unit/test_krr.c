/*
 * test_krr.c: kernel ridge regression against worked examples, reference values
 * (scikit-learn KernelRidge, explicit leave-one-out), weights, limits, cancellation.
 */
#include "regression.h"

#include "learner_types.h"

/* ---- worked examples ---- */

/* Two rows; alpha = (K + I/10)^-1 y in closed form. */
static void
test_two_rows(void **state)
{
    static const double x[2] = {0.0, 1.0}, y[2] = {1.0, 2.0}, queries[2] = {0.5, 3.0};
    const KmModel *model = fit("krr(rbf(gamma=0.5), lambda=0.1, center=false)", 2, 1, x, y, NULL);
    const double *out = predict(model, 2, queries);

    (void) state;
    assert_close(coefficient(model, 0), -0.13425787820991103, 1e-14);
    assert_close(coefficient(model, 1), 1.8922104722202504, 1e-14);
    assert_close(out[0], 1.5513877191046792, 1e-14);
    assert_close(out[1], 0.2545913698969466, 1e-14);
    assert_true(km_model_array(model, "intercept")->data[0] == 0.0);
    assert_true(fact(model, "jitter") == 0.0);
    assert_null(km_model_fact(model, "loo_mse"));
}

/* lambda is added as given, not times n; alpha is another name for it. */
static void
test_lambda_as_given(void **state)
{
    static const double x[3] = {0.0, 1.0, 2.0}, y[3] = {0.0, 1.0, 4.0}, query = 1.5;
    const KmModel *model = fit("krr(rbf(gamma=1), alpha=0.1, center=false)", 3, 1, x, y, NULL);

    (void) state;
    assert_close(coefficient(model, 0), 0.060532, 1e-6);
    assert_close(coefficient(model, 1), -0.368120, 1e-6);
    assert_close(coefficient(model, 2), 3.758468, 1e-6);
    assert_close(*predict(model, 1, &query), 2.646786, 1e-6);
    assert_string_equal(model->learner,
                        "krr(rbf(gamma=1), lambda=0.1, center=false, loo=false, method=exact)");
}

static void
test_centring_is_the_mean(void **state)
{
    static const double x[3] = {0.0, 1.0, 2.0}, y[3] = {100.0, 101.0, 104.0};
    double shifted[3], far = 1e6;
    const KmModel *model = fit("krr(rbf(gamma=1), lambda=0.1)", 3, 1, x, y, NULL), *raw;

    (void) state;
    for (size_t i = 0; i < 3; i++)
        shifted[i] = y[i] - 305.0 / 3.0;
    raw = fit("krr(rbf(gamma=1), lambda=0.1, center=false, loo=false, method=exact)", 3, 1, x, shifted, NULL);
    assert_close(km_model_array(model, "intercept")->data[0], 305.0 / 3.0, 1e-15);
    assert_close(*predict(model, 1, &far), 305.0 / 3.0, 1e-15);
    for (size_t i = 0; i < 3; i++)
        assert_close(coefficient(model, i), coefficient(raw, i), 1e-13);
}

/* The resolved text can be typed again and gives the same coefficients. */
static void
test_gamma_is_written_into_the_learner(void **state)
{
    static const double x[4] = {0.0, 1.0, 2.0, 3.0}, y[4] = {0.0, 1.0, 4.0, 9.0};
    const KmModel *model = fit("krr", 4, 1, x, y, NULL), *again;

    (void) state;
    assert_string_equal(model->learner,
                        "krr(rbf(gamma=0.8), lambda=1, center=true, loo=false, method=exact)");
    again = fit(model->learner, 4, 1, x, y, NULL);
    for (size_t i = 0; i < 4; i++)
        assert_true(coefficient(model, i) == coefficient(again, i));
    assert_string_equal(fit("scale | krr(2*rbf(gamma=scale), lambda=3)", 4, 1, x, y, NULL)->learner +
                        strlen("scale(mean=[1.5], sd=[1.118033988749895]) | "),
                        "krr(2*rbf(gamma=1), lambda=3, center=true, loo=false, method=exact)");
}

static void
test_one_row(void **state)
{
    static const double x = 5.0, y = 7.0;
    const KmModel *model = fit("krr(loo=true)", 1, 1, &x, &y, NULL);

    (void) state;
    assert_true(coefficient(model, 0) == 0.0);
    assert_true(*predict(model, 1, &x) == 7.0);
    assert_close(fact(model, "effective_df"), 0.5, 1e-15);
}

/* Each target as if it were alone. */
static void
test_several_targets(void **state)
{
    static const double x[4] = {0.0, 1.0, 2.5, 3.0}, y[8] = {0.0, 5.0, 1.0, -2.0, 4.0, 8.0, 9.0, 1.0};
    KmTable table = {.n = 4, .d = 1, .x = x, .n_targets = 2, .y = y};
    double query = 1.2, first[4], second[4], *both;
    KmModel *model;

    (void) state;
    for (size_t i = 0; i < 4; i++)
    {
        first[i] = y[2 * i];
        second[i] = y[2 * i + 1];
    }
    model = fit_table("krr(rbf(gamma=0.5), lambda=0.2, loo=true)", &table);
    both = predict(model, 1, &query);
    assert_close(both[0], *predict(fit("krr(rbf(gamma=0.5), lambda=0.2)", 4, 1, x, first, NULL), 1, &query),
                 1e-14);
    assert_close(both[1], *predict(fit("krr(rbf(gamma=0.5), lambda=0.2)", 4, 1, x, second, NULL), 1, &query),
                 1e-14);
    assert_close(fact(model, "loo_mse"),
                 0.5 * (fact(fit("krr(rbf(gamma=0.5), lambda=0.2, loo=true)", 4, 1, x, first, NULL),
                             "loo_mse") +
                        fact(fit("krr(rbf(gamma=0.5), lambda=0.2, loo=true)", 4, 1, x, second, NULL),
                             "loo_mse")),
                 1e-14);
}

/* ---- leave-one-out and weights ---- */

/* loo_mse is what n fits without a row give. */
static void
test_leave_one_out_by_refitting(void **state)
{
    enum { N = 40, D = 2 };
    const char *text = "krr(rbf(gamma=0.5), lambda=0.3, center=false, loo=true)";
    double x[N * D], y[N], w[N], rest_x[N * D], rest_y[N], rest_w[N], sum = 0.0, total = 0.0;
    uint64_t seed = 9;

    (void) state;
    for (size_t i = 0; i < N; i++)
    {
        x[2 * i] = next_uniform(&seed, -2.0, 2.0);
        x[2 * i + 1] = next_uniform(&seed, -2.0, 2.0);
        y[i] = sin(x[2 * i]) + next_uniform(&seed, -0.3, 0.3);
        w[i] = next_uniform(&seed, 0.2, 3.0);
    }
    for (size_t out = 0; out < N; out++)
    {
        double residual;

        for (size_t i = 0, to = 0; i < N; i++)
        {
            if (i == out)
                continue;
            memcpy(rest_x + to * D, x + i * D, D * sizeof *x);
            rest_w[to] = w[i];
            rest_y[to++] = y[i];
        }
        residual = y[out] - *predict(fit(text, N - 1, D, rest_x, rest_y, rest_w), 1, x + out * D);
        sum += w[out] * residual * residual;
        total += w[out];
    }
    assert_close(fact(fit(text, N, D, x, y, w), "loo_mse"), sum / total, 1e-10);
}

/* Whole-number weights and repeated rows: the same predictions and constants. */
static void
test_weights_are_repeated_rows(void **state)
{
    enum { N = 30, REPEATED = 60 };
    const char *text = "krr(rbf, lambda=0.7, loo=true)";
    double x[N], y[N], w[N], repeated_x[REPEATED], repeated_y[REPEATED], *a, *b;
    const KmModel *weighted, *repeated;
    size_t n = 0;
    uint64_t seed = 2;

    (void) state;
    for (size_t i = 0; i < N; i++)
    {
        x[i] = next_uniform(&seed, -2.0, 2.0);
        y[i] = x[i] * x[i] + next_uniform(&seed, -0.3, 0.3);
        w[i] = 1.0 + (double) (i % 3);
        for (size_t copy = 0; copy < 1 + i % 3; copy++)
        {
            repeated_x[n] = x[i];
            repeated_y[n++] = y[i];
        }
    }
    assert_int_equal(n, REPEATED);
    weighted = fit(text, N, 1, x, y, w);
    repeated = fit(text, n, 1, repeated_x, repeated_y, NULL);
    assert_string_equal(weighted->learner, repeated->learner);
    assert_true(km_model_array(weighted, "intercept")->data[0] == km_model_array(repeated,
                                                                                 "intercept")->data[0]);
    assert_close(fact(weighted, "effective_df"), fact(repeated, "effective_df"), 1e-12);
    assert_close(fact(weighted, "gcv"), fact(repeated, "gcv"), 1e-12);
    a = predict(weighted, N, x);
    b = predict(repeated, N, x);
    for (size_t i = 0; i < N; i++)
        assert_close(a[i], b[i], 1e-12);
}

/* ---- singular matrices ---- */

/* scikit-learn 4781: lambda = 0 with a repeated row must not give coefficients of 1e16. */
static void
test_lambda_zero_with_repeated_rows(void **state)
{
    static const double x[3] = {0.0, 0.0, 1.0}, y[3] = {1.0, 3.0, 5.0};
    KmTable table = table_of(3, 1, x, y, NULL);
    KmModel *model;

    (void) state;
    assert_int_equal(try_fit("krr(rbf(gamma=1), lambda=0)", &table, &model), KM_SINGULAR);
    assert_non_null(strstr(ctx->message, "pivot number 2 is not positive"));
    assert_string_equal(ctx->hint, "Use lambda > 0.");
    assert_int_equal(try_fit("krr(rbf(gamma=1), lambda=1e-3)", &table, &model), KM_OK);
}

/* 200 close rows: the kernel matrix has rank 20 or so, whatever the factorisation says. */
static void
test_lambda_zero_with_close_rows(void **state)
{
    double x[200], y[200];
    KmTable table = table_of(200, 1, x, y, NULL);
    KmModel *model;

    (void) state;
    for (size_t i = 0; i < 200; i++)
    {
        x[i] = (double) i / 200.0;
        y[i] = sin(9.0 * x[i]);
    }
    assert_int_equal(try_fit("krr(rbf(gamma=1), lambda=0)", &table, &model), KM_SINGULAR);
    warning[0] = '\0';
    model = fit_table("krr(rbf(gamma=1), lambda=1e-16)", &table);
    assert_true(fact(model, "jitter") > 0.0 && fact(model, "jitter") <= 1e-8);
    assert_non_null(strstr(warning, "added to lambda"));
    for (size_t i = 0; i < 200; i++)
        assert_true(fabs(predict(model, 1, x + i)[0] - y[i]) < 1e-3);
}

/* Distinct rows far apart need no lambda: the fit goes through the points. */
static void
test_lambda_zero_interpolates(void **state)
{
    static const double x[4] = {0.0, 1.0, 2.5, 4.0}, y[4] = {1.0, -3.0, 5.0, 2.0};
    const KmModel *model = fit("krr(rbf(gamma=1), lambda=0, loo=true)", 4, 1, x, y, NULL);
    const double *out = predict(model, 4, x);

    (void) state;
    for (size_t i = 0; i < 4; i++)
        assert_close(out[i], y[i], 1e-14);
    assert_close(fact(model, "effective_df"), 4.0, 1e-15);
    assert_null(km_model_fact(model, "gcv"));
}

static void
test_indefinite_kernel(void **state)
{
    double x[50], y[50];
    KmTable table = table_of(50, 1, x, y, NULL);
    KmModel *model;

    (void) state;
    for (size_t i = 0; i < 50; i++)
        x[i] = y[i] = sin((double) i);
    assert_int_equal(try_fit("krr(sigmoid(gamma=1, coef0=-1), lambda=0.01)", &table, &model), KM_SINGULAR);
    assert_non_null(strstr(ctx->hint, "larger lambda"));
}

/* ---- limits ---- */

static KmStatus
fit_sizes(size_t n, size_t d)
{
    static double nothing[1];
    const char *text = "krr(rbf(gamma=1))";
    KmTable table = {.n = n, .d = d, .x = nothing, .n_targets = 1, .y = nothing};
    KmModel *model;
    KmNode *node;
    KmArgs args;

    assert_int_equal(km_spec_parse(ctx, text, strlen(text), &node), KM_OK);
    assert_int_equal(km_signature_bind(ctx, &km_estimator_krr.signature, node, &args), KM_OK);
    assert_int_equal(km_model_create(ctx, &model), KM_OK);
    return km_estimator_krr.fit(ctx, &args, node, &table, model);
}

/* Sizes are refused before any row is looked at: the square passes 2^31 and 2^64. */
static void
test_too_large_is_refused_first(void **state)
{
    (void) state;
    ctx->max_bytes = ctx->used_bytes + ((size_t) 1 << 30);
    assert_int_equal(fit_sizes(11586, 1), KM_MEMORY);
    assert_non_null(strstr(ctx->message, "kernel ridge on 11586 rows"));
    assert_non_null(strstr(ctx->hint, "kernelml.max_memory"));
    assert_int_equal(fit_sizes(46341, 1), KM_MEMORY);
    assert_int_equal(fit_sizes(30000000, 1), KM_MEMORY);
    assert_int_equal(fit_sizes((size_t) 1 << 33, 1), KM_LIMIT);
    assert_int_equal(fit_sizes(100000, 700), KM_LIMIT);
    assert_non_null(strstr(ctx->message, "524288000"));
    ctx->max_bytes = SIZE_MAX;
}

static void
test_values_out_of_range(void **state)
{
    static const double x[3] = {1e160, -1e160}, small[3] = {1.0, 2.0, 3.0}, y[3] = {1.0, 2.0, 3.0};
    static const double large[3] = {1.7e308, 1.7e308, -1.7e308};
    KmTable table = table_of(3, 1, x, y, NULL);
    KmModel *model;

    (void) state;
    assert_int_equal(try_fit("krr(linear)", &table, &model), KM_RANGE);
    assert_non_null(strstr(ctx->message, "feature values"));
    table.x = small;
    table.y = large;
    assert_int_equal(try_fit("krr(rbf(gamma=1), lambda=0.1)", &table, &model), KM_RANGE);
}

static void
test_grid_is_refused(void **state)
{
    static const double x[2] = {1.0, 2.0}, y[2] = {1.0, 2.0};
    KmTable table = table_of(2, 1, x, y, NULL);
    KmModel *model;

    (void) state;
    assert_int_equal(try_fit("krr(rbf, lambda=grid(0.1, 1))", &table, &model), KM_UNSUPPORTED);
}

/* ---- models from outside ---- */

static void
test_bad_models_are_refused(void **state)
{
    static const double x[3] = {0.0, 1.0, 2.0}, y[3] = {0.0, 1.0, 4.0};
    static const char *const names[] = {"rows", "coef", "intercept"};
    KmScorer *scorer;

    (void) state;
    for (size_t i = 0; i < 3; i++)
        for (size_t change = 0; change < 3; change++)
        {
            KmModel *model = fit("krr(rbf(gamma=1))", 3, 1, x, y, NULL);
            KmArray *array = (KmArray *) km_model_array(model, names[i]);

            if (change == 0)
                array->name = "other";
            else if (change == 1)
                array->rows = array->rows == 1 ? 0 : array->rows - 1;
            else
                array->columns = 0;
            assert_int_equal(km_scorer_create(ctx, model, &scorer), KM_CORRUPT);
        }
}

/* ---- cancellation ---- */

static void
test_cancel(void **state)
{
    size_t n = 1500;
    double *x = new_doubles(n), *y = new_doubles(n);
    KmTable table = table_of(n, 1, x, y, NULL);

    (void) state;
    for (size_t i = 0; i < n; i++)
        x[i] = y[i] = (double) i;
    check_stops("krr(rbf(gamma=1), loo=true)", &table);
}

/* ---- reference values on data sets, from the folder KML_DATA ---- */

typedef struct Reference
{
    const char *file;
    const char *learner;
    bool weighted;              /* by 1 + id % 3, rows standardised without */
    double alpha[3], prediction[3], rmse, df, loo_mse, gcv;     /* NaN: none */
} Reference;

static const Reference references[] = {
    {"diabetes_sk", "scale | krr(rbf(gamma=0.05), lambda=1, center=false, loo=true)", false,
     {-69.15767667590973, -4.695684312548427, 39.88804229374025},
     {180.73922755867386, 112.64339281553323, 153.0573032050495},
     54.72000684833157, 36.06460224521815, 3413.5218549352485, 3371.503139764955},
    {"diabetes_sk", "scale | krr(rbf(gamma=0.05), lambda=1, loo=true)", false,
     {-64.25322008883924, -2.6109398462946722, 31.90170532900367},
     {188.12209598901572, 120.9168892305532, 154.63055071728664},
     51.87287511720923, 36.06460224521815, 3221.7246847360357, 3211.5057223694266},
    {"mcycle", "scale | krr(rbf(gamma=4), lambda=0.5, loo=true)", false,
     {7.17408713895565, 4.447279293694327, 7.259585756227637},
     {-3.511719917268433, -4.703792078864893, -3.1110392993691818},
     26.458288564161027, 10.132849950348579, 462.92425401612456, 483.23207481968353},
    {"concrete", "scale | krr(laplacian(gamma=0.2), lambda=0.1, loo=true)", false,
     {71.43679066396534, -58.81817027656702, -9.57187129877344},
     {42.156733771879274, 44.79383041571928, 36.3074965188746},
     4.032876716227099, 335.1376336346377, 20.38340825447384, 20.709417078387933},
    {"concrete", "krr(rbf(gamma=0.1), lambda=0.5)", true,
     {57.277126322847145, -26.29871889936026, -11.5862815858945},
     {42.77524762046124, 44.53037200685763, 31.30527859609568},
     6.358375459573547, NAN, NAN, NAN},
};

/* Rows of a file "id,x1,…,xd,y"; those with id % 3 = 0 are for testing. */
typedef struct Split
{
    size_t d, n[2];             /* training, test */
    double *x[2], *y[2], *w;
} Split;

static Split
read_split(const char *folder, const char *name)
{
    char path[500], line[500], *field;
    Split split = {0};
    FILE *file;

    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (field = line; (field = strchr(field, ',')) != NULL; field++)
        split.d++;
    split.d--;
    split.w = new_doubles(2000);
    for (size_t part = 0; part < 2; part++)
    {
        split.x[part] = new_doubles(2000 * split.d);
        split.y[part] = new_doubles(2000);
    }
    while (fgets(line, sizeof line, file) != NULL)
    {
        long id = strtol(line, &field, 10);
        size_t part = id % 3 == 0, i = split.n[part]++;

        for (size_t k = 0; k < split.d; k++)
            split.x[part][i * split.d + k] = strtod(field + 1, &field);
        split.y[part][i] = strtod(field + 1, &field);
        if (part == 0)
            split.w[i] = 1.0 + (double) (id % 3);
    }
    fclose(file);
    return split;
}

/* By mean and population deviation of the training rows, each counted once. */
static void
standardise(Split *split)
{
    for (size_t k = 0; k < split->d; k++)
    {
        double n = (double) split->n[0], mean = 0.0, square = 0.0;

        for (size_t i = 0; i < split->n[0]; i++)
            mean += split->x[0][i * split->d + k] / n;
        for (size_t i = 0; i < split->n[0]; i++)
            square += pow(split->x[0][i * split->d + k] - mean, 2.0) / n;
        for (size_t part = 0; part < 2; part++)
            for (size_t i = 0; i < split->n[part]; i++)
                split->x[part][i * split->d + k] = (split->x[part][i * split->d + k] - mean) / sqrt(square);
    }
}

static void
check_reference(const Reference *reference, const char *folder)
{
    Split split = read_split(folder, reference->file);
    const KmModel *model;
    const double *out;
    double sum = 0.0;

    if (reference->weighted)
        standardise(&split);
    model = fit(reference->learner, split.n[0], split.d, split.x[0], split.y[0],
                reference->weighted ? split.w : NULL);
    out = predict(model, split.n[1], split.x[1]);
    for (size_t i = 0; i < 3; i++)
    {
        assert_close(coefficient(model, i), reference->alpha[i], 1e-8);
        assert_close(out[i], reference->prediction[i], 1e-8);
    }
    for (size_t i = 0; i < split.n[1]; i++)
        sum += (out[i] - split.y[1][i]) * (out[i] - split.y[1][i]);
    assert_close(sqrt(sum / (double) split.n[1]), reference->rmse, 1e-8);
    if (isnan(reference->df))
        return;
    assert_close(fact(model, "effective_df"), reference->df, 1e-8);
    assert_close(fact(model, "loo_mse"), reference->loo_mse, 1e-8);
    assert_close(fact(model, "gcv"), reference->gcv, 1e-8);
}

static void
test_reference_values(void **state)
{
    const char *folder = getenv("KML_DATA");

    (void) state;
    if (folder == NULL)
        skip();
    for (size_t r = 0; r < sizeof references / sizeof *references; r++)
        check_reference(&references[r], folder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_rows),
        cmocka_unit_test(test_lambda_as_given),
        cmocka_unit_test(test_centring_is_the_mean),
        cmocka_unit_test(test_gamma_is_written_into_the_learner),
        cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_several_targets),
        cmocka_unit_test(test_leave_one_out_by_refitting),
        cmocka_unit_test(test_weights_are_repeated_rows),
        cmocka_unit_test(test_lambda_zero_with_repeated_rows),
        cmocka_unit_test(test_lambda_zero_with_close_rows),
        cmocka_unit_test(test_lambda_zero_interpolates),
        cmocka_unit_test(test_indefinite_kernel),
        cmocka_unit_test(test_too_large_is_refused_first),
        cmocka_unit_test(test_values_out_of_range),
        cmocka_unit_test(test_grid_is_refused),
        cmocka_unit_test(test_bad_models_are_refused),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_reference_values),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
