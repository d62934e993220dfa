/*
 * test_gram.c: whole Gram matrices, eigenvalues against closed forms and reference
 * values, and the test for positive semidefiniteness.
 */
#include "kernel_support.h"

#include <float.h>

#include "gram.h"
#include "polling.h"

static KmStatus
try_gram(const char *text, size_t n, size_t d, const double *x, bool full, size_t ld, double *out)
{
    KmKernel *kernel = parse(text);
    KmPoints *points;

    KM_TRY(km_points_create(ctx, kernel, n, d, x, NULL, &points));
    return km_gram_fill(ctx, kernel, points, full, ld, out);
}

/* ---- Gram matrices ---- */

static void
test_gram_is_exp_of_squared_distances(void **state)
{
    static const size_t sizes[] = {1, 127, 129, 512, 640, 1037};
    uint64_t seed = 1;

    (void) state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    {
        size_t n = sizes[s], d = 3, ld = n + 5;
        double *x = new_doubles(n * d), *g = new_doubles(n * ld);

        for (size_t i = 0; i < n * d; i++)
            x[i] = next_uniform(&seed, -2.0, 2.0);
        assert_int_equal(try_gram("rbf(gamma=0.7)", n, d, x, true, ld, g), KM_OK);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
            {
                long double d2 = 0;

                for (size_t k = 0; k < d; k++)
                    d2 += powl((long double) x[i * d + k] - x[j * d + k], 2.0L);
                assert_true(fabsl(g[i * ld + j] - expl(-0.7L * d2)) < 1e-13L);
                assert_true(g[i * ld + j] == g[j * ld + i]);
            }
        for (size_t i = 0; i < n; i++)
            assert_true(g[i * ld + i] == 1.0 && g[i * ld + n] == 0.0);
    }
}

/* Every geometry, alone and combined, where rows fill neither tiles nor panels. */
static void
test_gram_has_the_values_of_scoring(void **state)
{
    static const char *const texts[] = {"linear", "cosine", "laplacian(gamma=0.3)", "poly(degree=2)",
                                        "rbf(gamma=0.2) + linear * laplacian(gamma=1, dims=[2,3])"};
    size_t n = 333, d = 7;
    double *x = new_doubles(n * d), *g = new_doubles(n * n), expected;
    uint64_t seed = 5;

    (void) state;
    for (size_t i = 0; i < n * d; i++)
        x[i] = next_uniform(&seed, -1.0, 1.0);
    for (size_t q = 0; q < sizeof texts / sizeof *texts; q++)
    {
        KmKernel *kernel;

        assert_int_equal(km_kernel_parse(ctx, texts[q], strlen(texts[q]), &kernel), KM_OK);
        assert_int_equal(try_gram(texts[q], n, d, x, true, n, g), KM_OK);
        for (size_t i = 0; i < n; i++)
            for (size_t j = i % 5; j <= i; j += 5)
            {
                assert_int_equal(km_kernel_value(ctx, kernel, d, x + i * d, x + j * d, &expected), KM_OK);
                assert_true(fabs(g[i * n + j] - expected) <= 1e-13 && g[j * n + i] == g[i * n + j]);
            }
    }
}

/* Without `full`, tiles right of the diagonal's are not touched, the lower triangle is the same. */
static void
test_lower_triangle(void **state)
{
    size_t n = 1037;
    double *x = new_doubles(n), *full = new_doubles(n * n), *lower = new_doubles(n * n);

    (void) state;
    for (size_t i = 0; i < n; i++)
        x[i] = sin((double) i);
    assert_int_equal(try_gram("rbf(gamma=1)", n, 1, x, true, n, full), KM_OK);
    assert_int_equal(try_gram("rbf(gamma=1)", n, 1, x, false, n, lower), KM_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            assert_true(full[i * n + j] == lower[i * n + j]);
    assert_true(lower[n - 1] == 0.0 && lower[300 * n + 800] == 0.0);
}

static void
test_values_that_are_not_finite(void **state)
{
    double x[3] = {1.0, 2.0, 1e40}, a[6] = {1.0, 2.0, 3.0, 4.0, NAN, 6.0};
    double large[2] = {DBL_MAX, -DBL_MAX};
    double *g = new_doubles(9);

    (void) state;
    assert_int_equal(try_gram("poly(degree=5)", 3, 1, x, true, 3, g), KM_RANGE);
    assert_non_null(strstr(ctx->message, "rows 3 and 3"));
    assert_int_equal(km_matrix_check_finite(ctx, 2, 3, 3, a, "gram"), KM_RANGE);
    assert_string_equal(ctx->message, "gram has a value that is not finite at row 2, column 2");
    a[4] = -INFINITY;
    assert_int_equal(km_matrix_check_finite(ctx, 2, 3, 3, a, "gram"), KM_RANGE);
    assert_int_equal(km_matrix_check_finite(ctx, 2, 1, 3, a, "gram"), KM_OK);
    assert_int_equal(km_triangle_check_finite(ctx, 2, 3, a, "gram"), KM_RANGE);
    a[4] = 5.0;
    a[1] = NAN;
    assert_int_equal(km_triangle_check_finite(ctx, 2, 3, a, "gram"), KM_OK);
    assert_int_equal(km_matrix_check_finite(ctx, 1, 2, 2, large, "gram"), KM_OK);
}

/* What is not checked, because it cannot happen: the largest squares that rows may have. */
static void
test_largest_products_are_finite(void **state)
{
    double x[6] = {1, 1, 1, -1, -1, -1}, *g = new_doubles(4);

    (void) state;
    for (size_t k = 0; k < 6; k++)
        x[k] *= sqrt(DBL_MAX / 24.0) * (1.0 - 1e-15);
    assert_int_equal(try_gram("linear", 2, 3, x, true, 2, g), KM_OK);
    assert_true(g[0] > DBL_MAX / 8.1 && g[0] <= DBL_MAX / 8.0);
    assert_true(g[1] == g[2] && fabs(g[1] / g[0] + 1.0) <= 1e-15 && g[3] == g[0]);
    for (size_t k = 0; k < 6; k++)
        x[k] = k < 3 ? DBL_MAX : -DBL_MAX;
    assert_int_equal(try_gram("cosine", 2, 3, x, true, 2, g), KM_OK);
    assert_true(g[0] == 1.0 && fabs(g[1] + 1.0) <= 1e-15 && g[3] == 1.0);
}

static void
test_triangles(void **state)
{
    size_t n = 150, ld = 151;
    double *a = new_doubles(n * ld), *b = new_doubles(n * ld);

    (void) state;
    for (size_t i = 0; i < n * ld; i++)
        a[i] = b[i] = (double) i;
    assert_int_equal(km_triangle_to_upper(ctx, n, ld, a), KM_OK);
    assert_int_equal(km_triangle_to_lower(ctx, n, ld, b), KM_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < ld; j++)
        {
            size_t low = j <= i || j == n ? i * ld + j : j * ld + i, high = j >= i ? i * ld + j : j * ld + i;

            assert_true(a[i * ld + j] == (double) low);
            assert_true(b[i * ld + j] == (double) high);
        }
}

/* ---- eigenvalues ---- */

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static void
check_eigenvalues(size_t n, double *g, double *expected, double tolerance)
{
    double *out = new_doubles(n), largest;

    qsort(expected, n, sizeof *expected, compare_doubles);
    largest = fmax(fabs(expected[0]), fabs(expected[n - 1]));
    assert_int_equal(km_symmetric_eigenvalues(ctx, n, g, out), KM_OK);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(out[i] - expected[i]) <= tolerance * largest);
}

/* min(i, j), 1-based, has eigenvalues 1 / (4 sin^2((2k-1) pi / (4n+2))). */
static void
test_eigenvalues_of_minimum(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 31, 32, 33, 64, 65, 300, 513, 1600};
    static const double scales[] = {1.0, 1e250, 1e-250};

    (void) state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t q = 0; q < (sizes[s] > 100 ? 1 : 3); q++)
        {
            size_t n = sizes[s];
            double *g = new_doubles(n * n), *expected = new_doubles(n), scale = scales[q];

            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    g[i * n + j] = j <= i ? scale * (double) (j + 1) : NAN;
            for (size_t k = 0; k < n; k++)
            {
                double sine = sin((2.0 * (double) k + 1.0) * acos(-1.0) / (4.0 * (double) n + 2.0));

                expected[k] = scale * (0.25 / (sine * sine));
            }
            check_eigenvalues(n, g, expected, 1e-13);
        }
}

/* A reflection H D H of a diagonal matrix, with eigenvalues of both signs and repeated ones. */
static void
test_eigenvalues_of_a_reflection(void **state)
{
    size_t n = 400;
    double *g = new_doubles(n * n), *d = new_doubles(n), *v = new_doubles(n);
    double norm = 0.0, vdv = 0.0;

    (void) state;
    for (size_t i = 0; i < n; i++)
    {
        d[i] = (double) (i % 7) - 3.0;
        v[i] = cos(3.0 * (double) i);
        norm += v[i] * v[i];
        vdv += v[i] * v[i] * d[i];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            g[i * n + j] = (i == j ? d[i] : 0.0) - 2.0 * v[i] * v[j] * (d[i] + d[j]) / norm +
                4.0 * vdv * v[i] * v[j] / (norm * norm);
    check_eigenvalues(n, g, d, 1e-13);
}

static void
test_eigenvalues_of_small_and_bad(void **state)
{
    double zero[4] = {0.0, NAN, 0.0, 0.0}, bad[4] = {1.0, 0.0, NAN, 1.0}, out[2] = {1.0, 1.0};

    (void) state;
    assert_int_equal(km_symmetric_eigenvalues(ctx, 2, zero, out), KM_OK);
    assert_true(out[0] == 0.0 && out[1] == 0.0);
    assert_int_equal(km_symmetric_eigenvalues(ctx, 2, bad, out), KM_RANGE);
    assert_string_equal(ctx->message, "matrix has a value that is not finite at row 2, column 1");
    assert_int_equal(km_symmetric_eigenvalues(ctx, 0, bad, out), KM_OK);
}

/* ---- reference cases: numpy.linalg.eigvalsh ---- */

static const double signed_rows[12] = {1.79, 0.44, 0.1, -1.86, -0.28, -0.35, -0.08, -0.63, -0.04, -0.48,
                                       -1.31, 0.88};

typedef struct Case
{
    const char *kernel;
    double eigenvalues[6];
    bool psd;
} Case;

static const Case cases[] = {
    {"sigmoid(gamma=1, coef0=-1)",
     {-3.472387137843091, -0.10768352741342971, 0.005441852520156795, 0.33280681614225593, 1.9512455619955584,
      2.3193790063306237}, false},
    {"poly(gamma=1, coef0=0, degree=2)", {0.0, 0.0, 0.0, 3.4550504585620225, 11.507907266487127,
                                          15.078957674950857},
     true},
    {"rbf(gamma=0.5)",
     {0.00687774410465621, 0.038951111975230275, 0.7498126788794632, 0.9932046669600516, 1.0126058416748673,
      3.19854795640573}, true},
};

static void
test_reference_cases(void **state)
{
    (void) state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    {
        double g[36], out[6];
        bool psd = !cases[c].psd;

        assert_int_equal(try_gram(cases[c].kernel, 6, 2, signed_rows, true, 6, g), KM_OK);
        assert_int_equal(km_symmetric_eigenvalues(ctx, 6, g, out), KM_OK);
        for (size_t i = 0; i < 6; i++)
            assert_true(fabs(out[i] - cases[c].eigenvalues[i]) <= 1e-10 * fabs(out[5]));
        assert_int_equal(try_gram(cases[c].kernel, 6, 2, signed_rows, true, 6, g), KM_OK);
        assert_int_equal(km_symmetric_is_psd(ctx, 6, g, 1e-10, &psd), KM_OK);
        assert_true(psd == cases[c].psd);
    }
}

/* additive_chi2, -sum (x-z)^2/(x+z): only conditionally positive definite. */
static void
test_reference_additive_chi2(void **state)
{
    static const double expected[6] = {-5.190719592987195, 0.00807254936239558, 0.10477500929448444,
                                       0.18758803119018866, 1.443453526826102, 3.446830476314023};
    double g[36], again[36], out[6];
    bool psd = true;

    (void) state;
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
        {
            g[i * 6 + j] = 0.0;
            for (size_t k = 0; k < 2; k++)
            {
                double x = fabs(signed_rows[i * 2 + k]), z = fabs(signed_rows[j * 2 + k]);

                g[i * 6 + j] -= (x - z) * (x - z) / (x + z);
            }
        }
    memcpy(again, g, sizeof g);
    assert_int_equal(km_symmetric_eigenvalues(ctx, 6, g, out), KM_OK);
    for (size_t i = 0; i < 6; i++)
        assert_true(fabs(out[i] - expected[i]) < 1e-10);
    assert_int_equal(km_symmetric_is_psd(ctx, 6, again, 1e-10, &psd), KM_OK);
    assert_false(psd);
}

/* gpytorch 780: n rows between 500 and 501, length scale 1; distances by the norms alone give -1.7. */
static void
test_close_rows_far_from_the_origin(void **state)
{
    static const size_t sizes[] = {511, 512, 513};

    (void) state;
    for (size_t s = 0; s < 3; s++)
    {
        size_t n = sizes[s];
        double *x = new_doubles(n), *g = new_doubles(n * n), *out = new_doubles(n);
        bool psd = false;

        for (size_t i = 0; i < n; i++)
            x[i] = 500.0 + (double) i / (double) (n - 1);
        assert_int_equal(try_gram("rbf(length_scale=1)", n, 1, x, true, n, g), KM_OK);
        assert_int_equal(km_symmetric_eigenvalues(ctx, n, g, out), KM_OK);
        assert_true(out[0] >= -1e-10);
        assert_true(out[n - 1] > 0.9 * (double) n && out[n - 1] < (double) n);
        assert_int_equal(try_gram("rbf(length_scale=1)", n, 1, x, true, n, g), KM_OK);
        assert_int_equal(km_symmetric_is_psd(ctx, n, g, 1e-10, &psd), KM_OK);
        assert_true(psd);
    }
}

/* ---- positive semidefinite ---- */

/* Diagonal: n - 1 times `most`, once `least`. */
static bool
diagonal_is_psd(size_t n, double most, double least, double tolerance)
{
    double *g = new_doubles(n * n);
    bool psd;

    for (size_t i = 0; i < n; i++)
        g[i * n + i] = i == n / 2 ? least : most;
    assert_int_equal(km_symmetric_is_psd(ctx, n, g, tolerance, &psd), KM_OK);
    return psd;
}

/* With 400 equal eigenvalues the bounds of |G| lie a factor of 20 apart; the last two lines of each
 * pair are told apart by eigenvalues. */
static void
test_tolerance_is_relative_to_the_norm(void **state)
{
    (void) state;
    for (double scale = 1e-200; scale < 1e201; scale *= 1e200)
    {
        assert_true(diagonal_is_psd(3, scale, scale * -0.9e-10, 1e-10));
        assert_false(diagonal_is_psd(3, scale, scale * -1.1e-9, 1e-10));
        assert_true(diagonal_is_psd(400, scale, scale * -0.99e-6, 1e-6));
        assert_false(diagonal_is_psd(400, scale, scale * -1.01e-6, 1e-6));
        assert_false(diagonal_is_psd(400, scale, scale * -1e-3, 1e-6));
    }
    assert_false(diagonal_is_psd(3, -1.0, 1.0, 1e-10));
    assert_true(diagonal_is_psd(3, -1.0, 1.0, 1.0));
    assert_true(diagonal_is_psd(3, 1.0, 1.0, 0.0));
    assert_true(diagonal_is_psd(3, 1.0, 0.0, 0.0));
    assert_true(diagonal_is_psd(2, 0.0, 0.0, 1e-10));
    assert_true(diagonal_is_psd(1, 2.0, 2.0, 0.0));
    assert_false(diagonal_is_psd(1, -2.0, -2.0, 1e-10));
}

/* ---- cancellation ---- */

static void
test_eigenvalues_poll_and_stop(void **state)
{
    size_t n = 1200;
    double *g = new_doubles(n * n), *out = new_doubles(n);
    Polling polling;

    (void) state;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            g[i * n + j] = (double) (j + 1);
    polling_start(ctx, &polling, 2000);
    assert_int_equal(km_symmetric_eigenvalues(ctx, n, g, out), KM_CANCELLED);
    assert_int_equal(polling.calls, 2000);
    assert_true(polling.longest < 0.15);
    polling_end(ctx, &polling);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gram_is_exp_of_squared_distances),
        cmocka_unit_test(test_gram_has_the_values_of_scoring),
        cmocka_unit_test(test_lower_triangle),
        cmocka_unit_test(test_values_that_are_not_finite),
        cmocka_unit_test(test_largest_products_are_finite),
        cmocka_unit_test(test_triangles),
        cmocka_unit_test(test_eigenvalues_of_minimum),
        cmocka_unit_test(test_eigenvalues_of_a_reflection),
        cmocka_unit_test(test_eigenvalues_of_small_and_bad),
        cmocka_unit_test(test_reference_cases),
        cmocka_unit_test(test_reference_additive_chi2),
        cmocka_unit_test(test_close_rows_far_from_the_origin),
        cmocka_unit_test(test_tolerance_is_relative_to_the_norm),
        cmocka_unit_test(test_eigenvalues_poll_and_stop),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
