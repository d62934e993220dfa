/*
 * test_rpcholesky.c: factors by randomly pivoted Cholesky against what defines them, and
 * kernel ridge regression by conjugate gradients against the exact solution.
 */
#include "kernel_support.h"
#include "regression.h"

#include "gram.h"
#include "rpcholesky.h"

enum { N = 200, D = 2 };

static KmPoints *
random_points(const char *text, uint64_t seed, size_t n, double *x, KmKernel **kernel)
{
    for (size_t i = 0; i < n * D; i++)
        x[i] = next_uniform(&seed, -2.0, 2.0);
    *kernel = parse(text);
    return make_points(*kernel, n, D, x, NULL);
}

/* ---- the factor ---- */

/* S K S - F F': zero in the rows of pivots, its trace as reported. */
static void
check_factor(const char *text, size_t rank, bool weighted)
{
    double *x = new_doubles(N * D), *k = new_doubles(N * N), *root = new_doubles(N), trace = 0.0;
    uint64_t seed = 77;
    KmKernel *kernel;
    KmPoints *points = random_points(text, 5, N, x, &kernel);
    KmLowRank f;

    for (size_t i = 0; i < N; i++)
        root[i] = sqrt(next_uniform(&seed, 0.1, 4.0));
    assert_int_equal(km_rpcholesky(ctx, kernel, points, weighted ? root : NULL, rank, 0.0, 1, &f), KM_OK);
    assert_true(f.rank > 0 && f.rank <= rank && f.ld >= f.rank);
    assert_int_equal(km_gram_fill(ctx, kernel, points, true, N, k), KM_OK);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
        {
            if (weighted)
                k[i * N + j] *= root[i] * root[j];
            for (size_t c = 0; c < f.rank; c++)
                k[i * N + j] -= f.factor[i * f.ld + c] * f.factor[j * f.ld + c];
        }
    for (size_t i = 0; i < N; i++)
    {
        trace += k[i * N + i];
        assert_true(k[i * N + i] > -1e-12);
    }
    assert_close(f.residual, trace, 1e-10);
    for (size_t c = 0; c < f.rank; c++)
    {
        for (size_t j = 0; j < N; j++)
            assert_true(fabs(k[f.pivot[c] * N + j]) < 1e-6);
        for (size_t b = 0; b < c; b++)
            assert_true(f.pivot[b] != f.pivot[c]);
    }
    km_low_rank_free(ctx, &f);
}

static void
test_factor(void **state)
{
    (void) state;
    for (size_t weighted = 0; weighted < 2; weighted++)
    {
        check_factor("rbf(gamma=0.5)", 10, weighted);
        check_factor("rbf(gamma=0.5)", 100, weighted);
        check_factor("rbf(gamma=50)", 150, weighted);
        check_factor("2*linear + laplacian(gamma=1)", 130, weighted);
    }
}

/* The linear kernel in two dimensions has rank 2: no more pivots, nothing left. */
static void
test_rank_ends(void **state)
{
    double *x = new_doubles(N * D);
    KmKernel *kernel;
    KmPoints *points = random_points("linear", 3, N, x, &kernel);
    KmLowRank f;

    (void) state;
    assert_int_equal(km_rpcholesky(ctx, kernel, points, NULL, 100, 0.0, 7, &f), KM_OK);
    assert_int_equal(f.rank, 2);
    assert_true(f.residual <= 1e-13 * f.trace);
}

static void
test_tolerance_ends(void **state)
{
    double *x = new_doubles(N * D);
    KmKernel *kernel;
    KmPoints *points = random_points("rbf(gamma=0.1)", 3, N, x, &kernel);
    KmLowRank f;

    (void) state;
    assert_int_equal(km_rpcholesky(ctx, kernel, points, NULL, N, 0.5, 7, &f), KM_OK);
    assert_true(f.residual <= 0.5 * f.trace);
    assert_true(f.rank < 65);
}

/* Rank 1: row i is the pivot with probability K_ii / trace: counts over seeds within 5 standard
 * deviations. */
static void
test_first_pivot_distribution(void **state)
{
    enum { ROWS = 4, SEEDS = 4000 };
    static const double x[ROWS] = {1.0, 2.0, 3.0, 0.5};
    size_t count[ROWS] = {0};
    const KmKernel *kernel = parse("linear");
    const KmPoints *points = make_points(kernel, ROWS, 1, x, NULL);
    KmLowRank f;

    (void) state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
    {
        assert_int_equal(km_rpcholesky(ctx, kernel, points, NULL, 1, 0.0, seed, &f), KM_OK);
        count[f.pivot[0]]++;
        km_low_rank_free(ctx, &f);
    }
    for (size_t i = 0; i < ROWS; i++)
    {
        double p = x[i] * x[i] / 14.25;

        assert_true(fabs((double) count[i] - SEEDS * p) < 5.0 * sqrt(SEEDS * p * (1.0 - p)));
    }
}

/* Two pivots of a diagonal kernel matrix (rows far apart): pairs as drawn one after the other without
 * replacement; proposals of one block that are drawn twice are refused. */
static void
test_pairs_of_pivots(void **state)
{
    enum { ROWS = 3, SEEDS = 4000 };
    static const double x[ROWS] = {0.0, 1000.0, 2000.0}, root[ROWS] = {1.0, 2.0, 3.0};
    double total = 14.0;
    size_t count[ROWS][ROWS] = {{0}};
    const KmKernel *kernel = parse("rbf(gamma=1)");
    const KmPoints *points = make_points(kernel, ROWS, 1, x, NULL);
    KmLowRank f;

    (void) state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
    {
        assert_int_equal(km_rpcholesky(ctx, kernel, points, root, 2, 0.0, seed, &f), KM_OK);
        assert_int_equal(f.rank, 2);
        count[f.pivot[0]][f.pivot[1]]++;
        km_low_rank_free(ctx, &f);
    }
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++)
        {
            double wi = root[i] * root[i], wj = root[j] * root[j];
            double p = i == j ? 0.0 : wi / total * wj / (total - wi);

            assert_true(fabs((double) count[i][j] - SEEDS * p) <= 5.0 * sqrt(SEEDS * p * (1.0 - p)));
        }
}

static void
test_repeated_rows(void **state)
{
    double x[2 * N];
    const KmKernel *kernel = parse("rbf(gamma=1)");
    KmLowRank f;

    (void) state;
    for (size_t i = 0; i < N; i++)
        x[2 * i] = x[2 * i + 1] = (double) (i % 5);
    assert_int_equal(km_rpcholesky(ctx, kernel, make_points(kernel, N, D, x, NULL), NULL, 100, 0.0, 3, &f),
                     KM_OK);
    assert_int_equal(f.rank, 5);
}

/* ---- K x ---- */

static void
test_gram_times(void **state)
{
    enum { ROWS = 700, COLUMNS = 3 };
    double *x = new_doubles(ROWS * D), *k = new_doubles(ROWS * ROWS), *v = new_doubles(ROWS * COLUMNS);
    double *out = new_doubles(ROWS * COLUMNS);
    uint64_t seed = 9;
    KmKernel *kernel;
    KmPoints *points = random_points("rbf(gamma=0.5) + linear", 3, ROWS, x, &kernel);

    (void) state;
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        v[i] = next_uniform(&seed, -1.0, 1.0);
    assert_int_equal(km_gram_fill(ctx, kernel, points, true, ROWS, k), KM_OK);
    for (size_t m = 1; m <= COLUMNS; m += 2)
    {
        assert_int_equal(km_gram_times(ctx, kernel, points, m, v, out), KM_OK);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t t = 0; t < m; t++)
            {
                long double sum = 0.0L;

                for (size_t j = 0; j < ROWS; j++)
                    sum += (long double) k[i * ROWS + j] * v[j * m + t];
                assert_close(out[i * m + t], (double) sum, 1e-11);
            }
    }
}

/* ---- conjugate gradients ---- */

/* Rows, two targets, weights. */
static KmTable
random_table(size_t n, uint64_t seed, bool weighted)
{
    double *x = new_doubles(n * D), *y = new_doubles(2 * n), *w = new_doubles(n);

    for (size_t i = 0; i < n; i++)
    {
        x[2 * i] = next_uniform(&seed, -3.0, 3.0);
        x[2 * i + 1] = next_uniform(&seed, -3.0, 3.0);
        y[2 * i] = sin(x[2 * i]) + next_uniform(&seed, -0.2, 0.2);
        y[2 * i + 1] = 4.0 + x[2 * i + 1] + next_uniform(&seed, -0.2, 0.2);
        w[i] = next_uniform(&seed, 0.2, 3.0);
    }
    return (KmTable) {.n = n, .d = D, .x = x, .n_targets = 2, .y = y, .w = weighted ? w : NULL};
}

static void
test_cg_is_exact(void **state)
{
    static const char *const options[] = {"", ", rank=0", ", rank=20", ", rank=20, seed=5", ", rank=1000"};

    (void) state;
    for (size_t weighted = 0; weighted < 2; weighted++)
        for (size_t o = 0; o < sizeof options / sizeof *options; o++)
        {
            KmTable table = random_table(400, 3 + o, weighted);
            char text[200];
            const KmModel *exact = fit_table("krr(rbf(gamma=1), lambda=0.01)", &table), *cg;
            double *a, *b;

            snprintf(text, sizeof text, "krr(rbf(gamma=1), lambda=0.01, method=cg, tol=1e-12%s)", options[o]);
            cg = fit_table(text, &table);
            assert_true(fact(cg, "converged") == 1.0);
            assert_true(fact(cg, "residual") <= 1e-12);
            a = predict(exact, table.n, table.x);
            b = predict(cg, table.n, table.x);
            for (size_t i = 0; i < 2 * table.n; i++)
                assert_close(b[i], a[i], 1e-9);
        }
}

/* The preconditioner is worth its memory. */
static void
test_preconditioner_saves_iterations(void **state)
{
    KmTable table = random_table(600, 8, false);
    double with, without;

    (void) state;
    with = fact(fit_table("krr(rbf(gamma=1), lambda=1e-3, method=cg, rank=150)", &table), "iterations");
    without = fact(fit_table("krr(rbf(gamma=1), lambda=1e-3, method=cg, rank=0)", &table), "iterations");
    assert_true(with < 0.2 * without);
}

static void
test_cg_that_does_not_converge(void **state)
{
    KmTable table = random_table(400, 8, false);
    KmModel *model;

    (void) state;
    warning[0] = '\0';
    model = fit_table("krr(rbf(gamma=1), lambda=1e-6, method=cg, rank=0, max_iter=3)", &table);
    assert_true(fact(model, "converged") == 0.0);
    assert_true(fact(model, "iterations") == 3.0);
    assert_true(fact(model, "residual") > 1e-8);
    assert_non_null(strstr(warning, "did not converge"));
}

/* Constant targets: nothing to solve. */
static void
test_cg_without_residual(void **state)
{
    KmTable table = random_table(30, 8, false);
    KmModel *model;

    (void) state;
    for (size_t i = 0; i < 60; i++)
        ((double *) table.y)[i] = 3.0;
    model = fit_table("krr(rbf(gamma=1), method=cg)", &table);
    assert_true(fact(model, "iterations") == 0.0);
    assert_close(*predict(model, 1, table.x), 3.0, 0.0);
    /* K = 0: alpha = y / lambda */
    table = random_table(30, 8, false);
    memset((double *) table.x, 0, 60 * sizeof(double));
    model = fit_table("krr(linear, lambda=2, center=false, method=cg)", &table);
    assert_close(km_model_array(model, "coef")->data[7], table.y[7] / 2.0, 1e-14);
}

static void
test_cg_of_an_indefinite_kernel(void **state)
{
    KmTable table = random_table(50, 8, false);
    KmModel *model;

    (void) state;
    assert_int_equal(try_fit("krr(sigmoid(gamma=4, coef0=-3), lambda=1e-3, method=cg)", &table, &model),
                     KM_SINGULAR);
    assert_int_equal(try_fit("krr(sigmoid(gamma=4, coef0=-3), lambda=1e-3, method=cg, rank=0)", &table,
                             &model),
                     KM_SINGULAR);
}

static void
test_cg_stops(void **state)
{
    KmTable table = random_table(1500, 8, false);

    (void) state;
    check_stops("krr(rbf(gamma=1), lambda=1e-3, method=cg, rank=200)", &table);
}

/* Far less memory than the matrix: 8 n^2 = 128 MB. */
static void
test_cg_memory(void **state)
{
    KmTable table = random_table(4000, 8, false);
    size_t before = ctx->used_bytes;
    KmModel *model;

    (void) state;
    ctx->max_bytes = before + ((size_t) 16 << 20);
    assert_int_equal(try_fit("krr(rbf(gamma=1), lambda=0.1)", &table, &model), KM_MEMORY);
    assert_non_null(strstr(ctx->hint, "method=cg"));
    assert_int_equal(try_fit("krr(rbf(gamma=1), lambda=0.1, method=cg, rank=200)", &table, &model), KM_OK);
    ctx->max_bytes = SIZE_MAX;
    assert_true(fact(model, "converged") == 1.0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_rank_ends),
        cmocka_unit_test(test_tolerance_ends),
        cmocka_unit_test(test_first_pivot_distribution),
        cmocka_unit_test(test_pairs_of_pivots),
        cmocka_unit_test(test_repeated_rows),
        cmocka_unit_test(test_gram_times),
        cmocka_unit_test(test_cg_is_exact),
        cmocka_unit_test(test_preconditioner_saves_iterations),
        cmocka_unit_test(test_cg_that_does_not_converge),
        cmocka_unit_test(test_cg_without_residual),
        cmocka_unit_test(test_cg_of_an_indefinite_kernel),
        cmocka_unit_test(test_cg_stops),
        cmocka_unit_test(test_cg_memory),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
