/*
 * test_kernel_tools.c: distances in feature space against long double, eigenvectors against
 * their definition, norms and degrees of freedom against their sums.
 */
#include "kernel_support.h"
#include "regression.h"

#include "gram.h"
#include "kernel_tools.h"

static double
distance(const char *text, size_t d, const double *x, const double *z)
{
    KmDistance *prepared;
    double out;

    assert_int_equal(km_distance_create(ctx, parse(text), &prepared), KM_OK);
    assert_int_equal(km_distance_value(ctx, prepared, d, x, z, &out), KM_OK);
    return out;
}

/* ---- distances ---- */

/* Of one column, r apart. */
static long double
rbf_distance(long double r)
{
    return sqrtl(-2.0L * expm1l(-0.7L * r * r));
}

static long double
laplacian_distance(long double r)
{
    return sqrtl(-2.0L * expm1l(-0.7L * r));
}

static long double
cauchy_distance(long double r)
{
    return sqrtl(2.0L * r * r / (4.0L + r * r));
}

static long double
sum_distance(long double r)
{
    return sqrtl(rbf_distance(r) * rbf_distance(r) + 3.0L * r * r);
}

static long double
cube_distance(long double r)
{
    return sqrtl(-2.0L * expm1l(-2.1L * r * r));
}

/* From differences of 1e-160 to 1e3, all relative to 1e-14; 0 for equal rows. */
static void
test_distances_of_every_size(void **state)
{
    static const struct
    {
        const char *kernel;
        long double (*expected)(long double r);
    } cases[] = {
        {"rbf(gamma=0.7)", rbf_distance},
        {"laplacian(gamma=0.7)", laplacian_distance},
        {"cauchy(length_scale=2)", cauchy_distance},
        {"rbf(gamma=0.7) + 3*linear", sum_distance},
        {"rbf(gamma=0.7)^3", cube_distance},
        {"rbf(gamma=0.7)*rbf(gamma=1.4)", cube_distance},
        {"normalize(5*rbf(gamma=0.7))", rbf_distance},
    };

    (void) state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    {
        double zero = 0.0;

        assert_true(distance(cases[c].kernel, 1, &zero, &zero) == 0.0);
        for (double r = 1e-150; r < 2e3; r *= 10.0)
        {
            double got = distance(cases[c].kernel, 1, &r, &zero), expected = (double) cases[c].expected(r);

            if (!(fabs(got - expected) <= 1e-14 * expected))
                fail_msg("%s at %g: got %.17g, expected %.17g", cases[c].kernel, r, got, expected);
        }
    }
}

/* Kernels of every shape: the formula in double precision, and never NaN for rows that are close. */
static void
test_distances_of_random_rows(void **state)
{
    enum { D = 3 };
    static const char *const kernels[] = {
        "linear", "poly(degree=3)", "matern(nu=2.5)", "exp(0.2*linear)", "normalize(linear + 1)", "cosine",
        "linear*rbf(gamma=0.3) + 2*laplacian(gamma=1, dims=[2])", "linear(dims=[1, 3])^2"
    };
    uint64_t seed = 12;

    (void) state;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (int trial = 0; trial < 40; trial++)
        {
            double x[D], z[D], a, b, c, size = pow(10.0, -trial % 10);
            KmKernel *kernel = parse(kernels[k]);

            for (size_t j = 0; j < D; j++)
            {
                x[j] = next_uniform(&seed, -2.0, 2.0);
                z[j] = x[j] + next_uniform(&seed, -size, size);
            }
            assert_int_equal(km_kernel_value(ctx, kernel, D, x, x, &a), KM_OK);
            assert_int_equal(km_kernel_value(ctx, kernel, D, z, z, &b), KM_OK);
            assert_int_equal(km_kernel_value(ctx, kernel, D, x, z, &c), KM_OK);
            assert_true(fabs(pow(distance(kernels[k], D, x, z), 2) - (a + b - 2.0 * c)) <=
                        1e-14 * (fabs(a) + fabs(b)));
        }
}

/* ---- eigenvectors ---- */

static void
check_eigenvectors(size_t n, size_t k, const double *g)
{
    double *copy = new_doubles(n * n), *values = new_doubles(k), *vectors = new_doubles(k * n), scale = 0.0;

    memcpy(copy, g, n * n * sizeof *copy);
    assert_int_equal(km_symmetric_eigenvectors(ctx, n, copy, k, values, vectors), KM_OK);
    for (size_t i = 0; i < n * n; i++)
        scale = fmax(scale, fabs(g[i]));
    for (size_t a = 0; a < k; a++)
    {
        const double *u = vectors + a * n;
        double largest = 0.0, smallest = 0.0;

        assert_true(a == 0 || values[a] <= values[a - 1]);
        for (size_t i = 0; i < n; i++)
        {
            double sum = 0.0;

            for (size_t j = 0; j < n; j++)
                sum += g[i * n + j] * u[j];
            assert_true(fabs(sum - values[a] * u[i]) <= 1e-12 * scale * (double) n);
            largest = fmax(largest, u[i]);
            smallest = fmin(smallest, u[i]);
        }
        assert_true(largest >= -smallest * (1.0 - 1e-9));
        for (size_t b = 0; b <= a; b++)
        {
            double dot = 0.0;

            for (size_t i = 0; i < n; i++)
                dot += u[i] * vectors[b * n + i];
            assert_true(fabs(dot - (a == b)) <= 1e-12);
        }
    }
}

static void
test_eigenvectors(void **state)
{
    enum { MANY = 130 };
    double *g = new_doubles(MANY * MANY), *identity = new_doubles(MANY * MANY);
    uint64_t seed = 5;

    (void) state;
    for (size_t i = 0; i < MANY; i++)
    {
        identity[i * MANY + i] = 3.0;
        for (size_t j = 0; j <= i; j++)
            g[i * MANY + j] = g[j * MANY + i] = next_uniform(&seed, -1e3, 1e3);
    }
    check_eigenvectors(MANY, MANY, g);
    check_eigenvectors(MANY, 7, g);
    check_eigenvectors(MANY, 40, identity);
    check_eigenvectors(1, 1, g);
    for (size_t i = 0; i < MANY; i++)       /* rank 3: one large cluster at 0 */
        for (size_t j = 0; j <= i; j++)
            g[i * MANY + j] = g[j * MANY + i] = cos((double) i) * cos((double) j) + 1.0 +
                1e-3 * (double) (i * j);
    check_eigenvectors(MANY, MANY, g);
}

static void
test_eigenvectors_stop_and_end(void **state)
{
    enum { MANY = 400 };
    double *g = new_doubles(MANY * MANY), *values = new_doubles(MANY), *vectors = new_doubles(MANY * MANY);
    Polling polling;
    size_t calls;

    (void) state;
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = 0; j < MANY; j++)
            g[i * MANY + j] = 1.0 / (1.0 + fabs((double) i - (double) j));
    polling_start(ctx, &polling, 0);
    assert_int_equal(km_symmetric_eigenvectors(ctx, MANY, g, MANY, values, vectors), KM_OK);
    polling_end(ctx, &polling);
    assert_true(polling.longest < 0.2);
    calls = polling.calls;
    for (size_t stop_at = 1; stop_at <= calls; stop_at += calls / 5)
    {
        polling_start(ctx, &polling, stop_at);
        assert_int_equal(km_symmetric_eigenvectors(ctx, MANY, g, MANY, values, vectors), KM_CANCELLED);
        polling_end(ctx, &polling);
    }
    assert_int_equal(km_symmetric_eigenvectors(ctx, 10000, g, 2000, values, vectors), KM_LIMIT);
    g[5 * MANY + 3] = NAN;
    assert_int_equal(km_symmetric_eigenvectors(ctx, MANY, g, 3, values, vectors), KM_RANGE);
}

/* ---- norms and degrees of freedom ---- */

/* alpha' K alpha, summed in long double. */
static void
test_norm_of_a_model(void **state)
{
    enum { N = 300 };
    double *x = new_doubles(N), *y = new_doubles(N), norm;
    const double *alpha;
    const KmModel *model;
    KmKernel *kernel = parse("rbf(gamma=2)");
    uint64_t seed = 3;
    long double sum = 0.0L;

    (void) state;
    for (size_t i = 0; i < N; i++)
    {
        x[i] = next_uniform(&seed, -3.0, 3.0);
        y[i] = next_uniform(&seed, -1.0, 1.0);
    }
    model = fit("krr(rbf(gamma=2), lambda=0.01)", N, 1, x, y, NULL);
    alpha = km_model_array(model, "coef")->data;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
        {
            double k;

            assert_int_equal(km_kernel_value(ctx, kernel, 1, x + i, x + j, &k), KM_OK);
            sum += (long double) alpha[i] * k * alpha[j];
        }
    assert_int_equal(km_model_rkhs_norm(ctx, model, &norm), KM_OK);
    assert_close(norm, (double) sqrtl(sum), 1e-10);
    model = fit("ridge", N, 1, x, y, NULL);
    assert_int_equal(km_model_rkhs_norm(ctx, model, &norm), KM_UNSUPPORTED);
}

/* The trace of the smoother, by Cholesky in a fit. */
static void
test_degrees_of_freedom(void **state)
{
    enum { N = 80 };
    static const double lambda[2] = {0.01, 3.0};
    double *x = new_doubles(N), *g = new_doubles(N * N), out[2];
    KmKernel *kernel = parse("rbf(gamma=2)");
    const KmModel *small, *large;
    KmPoints *points;

    (void) state;
    for (size_t i = 0; i < N; i++)
        x[i] = 0.1 * (double) i;
    assert_int_equal(km_points_create(ctx, kernel, N, 1, x, NULL, &points), KM_OK);
    assert_int_equal(km_gram_fill(ctx, kernel, points, true, N, g), KM_OK);
    assert_int_equal(km_gram_effective_df(ctx, N, g, 2, lambda, out), KM_OK);
    small = fit("krr(rbf(gamma=2), lambda=0.01, loo=true)", N, 1, x, x, NULL);
    large = fit("krr(rbf(gamma=2), lambda=3, loo=true)", N, 1, x, x, NULL);
    assert_close(out[0], fact(small, "effective_df"), 1e-10);
    assert_close(out[1], fact(large, "effective_df"), 1e-10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances_of_every_size),
        cmocka_unit_test(test_distances_of_random_rows),
        cmocka_unit_test(test_eigenvectors),
        cmocka_unit_test(test_eigenvectors_stop_and_end),
        cmocka_unit_test(test_norm_of_a_model),
        cmocka_unit_test(test_degrees_of_freedom),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
