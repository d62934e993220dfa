/*
 * test_krr_path.c: the choice of lambda by closed-form scores, against fits of every
 * value; kernel ridge regression against ridge regression on explicit features.
 */
#include "regression.h"

enum { N = 60, D = 3 };

typedef struct Rows
{
    double x[N * D], y[2 * N], w[N];
} Rows;

static Rows
random_rows(uint64_t seed)
{
    Rows rows;

    for (size_t i = 0; i < N * D; i++)
        rows.x[i] = next_uniform(&seed, -2.0, 2.0);
    for (size_t i = 0; i < N; i++)
    {
        rows.y[2 * i] = sin(rows.x[D * i]) + next_uniform(&seed, -0.3, 0.3) + 5.0;
        rows.y[2 * i + 1] = rows.x[D * i + 1] * rows.x[D * i + 2] + next_uniform(&seed, -0.1, 0.1);
        rows.w[i] = next_uniform(&seed, 0.2, 3.0);
    }
    return rows;
}

static KmModel *
fit_rows(const char *text, const Rows *rows, bool weighted)
{
    const double *w = weighted ? rows->w : NULL;
    KmTable table = {.n = N, .d = D, .x = rows->x, .n_targets = 2, .y = rows->y, .w = w};

    return fit_table(text, &table);
}

/* Every row of the path is what a fit with that lambda reports; the best of them is chosen, and its model is
 * that of a fit with it, bit by bit. */
static void
check_path(size_t count, const char *criterion, const char *fact_name, bool weighted)
{
    Rows rows = random_rows(count);
    const KmArray *path;
    const KmModel *chosen, *best = NULL;
    char text[200];
    double least = INFINITY;

    snprintf(text, sizeof text, "krr(rbf(gamma=0.5), lambda=logspace(-4, 2, %zu), select=%s)", count,
             criterion);
    chosen = fit_rows(text, &rows, weighted);
    path = km_model_array(chosen, "lambda_path");
    assert_int_equal(path->rows, count);
    assert_int_equal(path->columns, 3);
    for (size_t g = 0; g < count; g++)
    {
        const KmModel *single;

        snprintf(text, sizeof text, "krr(rbf(gamma=0.5), lambda=%.17g, loo=true)", path->data[3 * g]);
        single = fit_rows(text, &rows, weighted);
        assert_close(path->data[3 * g + 1], fact(single, fact_name), 1e-9);
        assert_close(path->data[3 * g + 2], fact(single, "effective_df"), 1e-9);
        if (fact(single, fact_name) < least)
        {
            least = fact(single, fact_name);
            best = single;
        }
    }
    assert_true(fact(chosen, "lambda") == km_arg_number(&learner_of(best->learner)->args, "lambda"));
    assert_true(fact(chosen, "loo_mse") == fact(best, "loo_mse"));
    assert_true(fact(chosen, "gcv") == fact(best, "gcv"));
    assert_memory_equal(km_model_array(chosen, "coef")->data, km_model_array(best, "coef")->data,
                        2 * N * sizeof(double));
    assert_null(strstr(chosen->learner, "select"));
    assert_null(strstr(chosen->learner, "logspace"));
}

/* Few values go by factorisations, many by one reduction. */
static void
test_path_is_many_fits(void **state)
{
    (void) state;
    for (size_t weighted = 0; weighted < 2; weighted++)
        for (size_t count = 3; count <= 21; count += 6)
        {
            check_path(count, "loo", "loo_mse", weighted);
            check_path(count, "gcv", "gcv", weighted);
        }
}

/* A grid that needs a second block of columns of Q, and polls in between. */
static void
test_path_of_many_rows(void **state)
{
    enum { MANY = 600 };
    double *x = new_doubles(MANY), *y = new_doubles(MANY);
    KmTable table = table_of(MANY, 1, x, y, NULL);
    const KmArray *path;
    const KmModel *few, *many;
    const char *text = "krr(rbf(gamma=3), lambda=grid(9, 1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5), select=gcv)";
    uint64_t seed = 4;

    (void) state;
    for (size_t i = 0; i < MANY; i++)
    {
        x[i] = next_uniform(&seed, 0.0, 10.0);
        y[i] = cos(x[i]) + next_uniform(&seed, -0.1, 0.1);
    }
    many = fit_table(text, &table);
    path = km_model_array(many, "lambda_path");
    assert_int_equal(path->rows, 7);
    few = fit_table("krr(rbf(gamma=3), lambda=grid(9, 1, 1e-1, 1e-2), select=gcv)", &table);
    for (size_t i = 0; i < 12; i++)
        assert_close(path->data[i], km_model_array(few, "lambda_path")->data[i], 1e-9);
    check_stops(text, &table);
}

/* Values that leave the matrix singular have no score; when none has one, that is an error. */
static void
test_path_of_singular_matrices(void **state)
{
    static const double x[6] = {1.0, 1.0, 2.0, 2.0, 3.0, 4.0}, y[6] = {1.0, 2.0, 1.0, 3.0, 2.0, 0.0};
    KmTable table = table_of(6, 1, x, y, NULL);
    KmModel *model;

    (void) state;
    assert_int_equal(try_fit("krr(rbf(gamma=1), lambda=grid(0, 0.1, 1), select=loo)", &table, &model), KM_OK);
    assert_int_equal(km_model_array(model, "lambda_path")->rows, 2);
    assert_int_equal(try_fit("krr(rbf(gamma=1), lambda=grid(0,1e-20,0.1,0.2,0.3,0.4,0.5,1), select=loo)",
                             &table, &model), KM_OK);
    assert_int_equal(km_model_array(model, "lambda_path")->rows, 6);
    assert_int_equal(try_fit("krr(rbf(gamma=1), lambda=grid(0), select=loo)", &table, &model), KM_SINGULAR);
    assert_int_equal(try_fit("krr(rbf(gamma=1), lambda=grid(0,0,0,0,0,0,0,0), select=loo)", &table, &model),
                     KM_SINGULAR);
}

static void
test_options_that_do_not_fit(void **state)
{
    static const char *const bad[] = {
        "krr(select=loo)", "krr(lambda=1, select=gcv)", "krr(lambda=grid(1, 2), select=mse)", "krr(tol=1e-3)",
        "krr(rank=3)", "krr(max_iter=3)", "krr(seed=3)", "krr(method=cg, loo=true)",
        "krr(method=cg, lambda=grid(1, 2), select=loo)", "krr(method=cg, lambda=0)", "krr(method=lu)"
    };
    KmLearner *learner;

    (void) state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(km_learner_parse(ctx, bad[i], strlen(bad[i]), &learner), KM_INVALID);
    assert_int_equal(km_learner_parse(ctx, "krr(lambda=grid(1, 2), select=loo)", 34, &learner), KM_OK);
    assert_false(learner->has_grid);
    assert_int_equal(km_learner_parse(ctx, "krr(rbf(gamma=grid(1)), lambda=grid(1, 2), select=loo)", 54,
                                      &learner),
                     KM_OK);
    assert_true(learner->has_grid);
}

/* ---- equal learners ---- */

/* Of model a for the rows x and of model b for the rows z. */
static void
assert_same_predictions(const KmModel *a, const double *x, const KmModel *b, const double *z,
                        double tolerance)
{
    double *first = predict(a, N, x), *second = predict(b, N, z);

    for (size_t i = 0; i < N; i++)
        assert_close(first[i], second[i], tolerance);
}

static void
test_linear_krr_is_ridge(void **state)
{
    (void) state;
    for (uint64_t seed = 1; seed <= 5; seed++)
    {
        Rows rows = random_rows(seed);
        const KmModel *krr = fit("krr(linear, center=false, lambda=0.3)", N, D, rows.x, rows.y, rows.w);
        const KmModel *ridge = fit("ridge(intercept=false, lambda=0.3)", N, D, rows.x, rows.y, rows.w);

        assert_same_predictions(krr, rows.x, ridge, rows.x, 1e-11);
    }
}

/* (x.z + 1)^2 is the product of the features x_j^2, sqrt(2) x_j x_k, sqrt(2) x_j, 1. */
static void
explicit_features(const double *x, double *z)
{
    const double root = sqrt(2.0);
    size_t c = 0;

    z[c++] = 1.0;
    for (size_t j = 0; j < D; j++)
    {
        z[c++] = x[j] * x[j];
        z[c++] = root * x[j];
        for (size_t k = 0; k < j; k++)
            z[c++] = root * x[j] * x[k];
    }
    assert_int_equal(c, 10);
}

static void
test_kernel_trick(void **state)
{
    double z[N * 10];

    (void) state;
    for (uint64_t seed = 1; seed <= 5; seed++)
    {
        Rows rows = random_rows(seed);
        const KmModel *krr, *ridge;

        for (size_t i = 0; i < N; i++)
            explicit_features(rows.x + i * D, z + i * 10);
        krr = fit("krr(poly(degree=2), center=false, lambda=0.1)", N, D, rows.x, rows.y, NULL);
        ridge = fit("ridge(intercept=false, lambda=0.1)", N, 10, z, rows.y, NULL);
        assert_same_predictions(krr, rows.x, ridge, z, 1e-10);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path_is_many_fits),
        cmocka_unit_test(test_path_of_many_rows),
        cmocka_unit_test(test_path_of_singular_matrices),
        cmocka_unit_test(test_options_that_do_not_fit),
        cmocka_unit_test(test_linear_krr_is_ridge),
        cmocka_unit_test(test_kernel_trick),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
