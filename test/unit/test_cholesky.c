/*
 * test_cholesky.c: the factorisation against closed forms and long double, its
 * solves, its diagonal of the inverse, jitter, and cancellation.
 */
#include "context_support.h"

#include "cholesky.h"
#include "polling.h"

/* Sizes around the edges of panels (256) and tiles (1024). */
static const size_t sizes[] = {1, 2, 3, 64, 255, 256, 257, 512, 513, 700, 1279, 1281, 1537, 2305};
#define N_SIZES (sizeof sizes / sizeof *sizes)

/* n x n with row stride ld; NaN above the diagonal, which nobody may read or write. */
static double *
new_matrix(size_t n, size_t ld, double (*element)(size_t i, size_t j, uint64_t *seed), uint64_t seed)
{
    double *a;

    assert_int_equal(km_alloc(ctx, n * ld, &a), KM_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < ld; j++)
            a[i * ld + j] = j <= i ? element(i, j, &seed) : NAN;
    return a;
}

static void
assert_upper_untouched(size_t n, size_t ld, const double *a)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < ld; j++)
            assert_true(isnan(a[i * ld + j]));
}

/* Minimum matrix: L is all ones, the inverse is tridiagonal (2, -1; last 1). */
static double
minimum(size_t i, size_t j, uint64_t *seed)
{
    (void) i;
    (void) seed;
    return (double) j + 1.0;
}

/* Diagonally dominant. */
static double
dominant(size_t i, size_t j, uint64_t *seed)
{
    double noise = next_uniform(seed, -1.0, 1.0);

    return i == j ? 3000.0 + noise : noise;
}

/* A random matrix whose factor has condition about 10: sum of decaying columns. */
static double
decaying(size_t i, size_t j, uint64_t *seed)
{
    (void) seed;
    return exp(-0.5 * (double) (i - j)) + (i == j ? 0.01 : 0.0);
}

/* ---- factor ---- */

static void
test_factor_of_minimum_is_ones(void **state)
{
    (void) state;
    for (size_t s = 0; s < N_SIZES; s++)
    {
        size_t n = sizes[s], ld = n + 3, pivot = 0;
        double *a = new_matrix(n, ld, minimum, 0);

        assert_int_equal(km_cholesky_factor(ctx, n, ld, a, &pivot), KM_OK);
        assert_int_equal(pivot, n);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                assert_true(a[i * ld + j] == 1.0);
        assert_upper_untouched(n, ld, a);
        assert_true(km_cholesky_logdet(n, ld, a) == 0.0);
        km_free(ctx, a);
    }
}

static void
naive_factor(size_t n, long double *a)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
        {
            long double sum = a[i * n + j];

            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrtl(sum) : sum / a[j * n + j];
        }
}

static void
check_against_naive(size_t n, double (*element)(size_t, size_t, uint64_t *), double tolerance)
{
    double *a = new_matrix(n, n, element, 7);
    long double *expected = malloc(n * n * sizeof *expected);
    size_t pivot;

    for (size_t i = 0; i < n * n; i++)
        expected[i] = a[i];
    naive_factor(n, expected);
    assert_int_equal(km_cholesky_factor(ctx, n, n, a, &pivot), KM_OK);
    assert_int_equal(pivot, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            assert_true(fabsl(a[i * n + j] - expected[i * n + j]) <= tolerance * expected[0]);
    assert_upper_untouched(n, n, a);
    free(expected);
    km_free(ctx, a);
}

static void
test_factor_against_long_double(void **state)
{
    (void) state;
    for (size_t s = 0; s < N_SIZES && sizes[s] <= 700; s++)
    {
        check_against_naive(sizes[s], dominant, 1e-14);
        check_against_naive(sizes[s], decaying, 1e-13);
    }
}

static void
test_first_bad_pivot_is_named(void **state)
{
    static const size_t bad[] = {0, 1, 100, 255, 256, 511, 1023, 1024, 1299};

    (void) state;
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
    {
        size_t n = 1300, pivot = n;
        double *a = new_matrix(n, n, dominant, 3);

        a[bad[b] * n + bad[b]] = b % 2 == 0 ? 0.0 : -1.0;
        assert_int_equal(km_cholesky_factor(ctx, n, n, a, &pivot), KM_OK);
        assert_int_equal(pivot, bad[b]);
        km_free(ctx, a);
    }
}

static void
test_empty_matrix(void **state)
{
    double a = 1.0;
    size_t pivot = 1;

    (void) state;
    assert_int_equal(km_cholesky_factor(ctx, 0, 1, &a, &pivot), KM_OK);
    assert_int_equal(pivot, 0);
    assert_true(km_cholesky_logdet(0, 1, &a) == 0.0);
}

/* Row 2 is row 0 but for one unit in the last place of the diagonal. */
static void
test_weak_pivot(void **state)
{
    double a[9] = {1.0, 0.0, 0.0, 0.5, 1.0, 0.0, 1.0, 0.5, 1.0 + 0x1p-52};
    double strong[4] = {1.0, 0.0, 1.0, 1.0 + 1e-12};
    size_t pivot;

    (void) state;
    assert_int_equal(km_cholesky_factor(ctx, 3, 3, a, &pivot), KM_OK);
    assert_int_equal(pivot, 3);
    assert_int_equal(km_cholesky_weak_pivot(3, 3, a), 2);
    assert_int_equal(km_cholesky_factor(ctx, 2, 2, strong, &pivot), KM_OK);
    assert_int_equal(km_cholesky_weak_pivot(2, 2, strong), 2);
}

/* ---- solves ---- */

/* For the minimum matrix, the solution of A x = b is its second difference. */
static void
test_solve_by_second_differences(void **state)
{
    static const size_t rights[] = {1, 2, 5, 1030};
    uint64_t seed = 5;

    (void) state;
    for (size_t s = 0; s < N_SIZES; s++)
        for (size_t r = 0; r < (sizes[s] > 300 && sizes[s] != 1281 ? 2 : 4); r++)
        {
            size_t n = sizes[s], m = rights[r], ldb = m + 1, pivot;
            double *a = new_matrix(n, n, minimum, 0), *b, *x;

            assert_int_equal(km_alloc(ctx, n * ldb, &b), KM_OK);
            assert_int_equal(km_alloc(ctx, n * ldb, &x), KM_OK);
            for (size_t i = 0; i < n * ldb; i++)
                b[i] = x[i] = next_uniform(&seed, -1.0, 1.0);
            assert_int_equal(km_cholesky_factor(ctx, n, n, a, &pivot), KM_OK);
            assert_int_equal(km_cholesky_solve(ctx, n, n, a, m, ldb, x), KM_OK);
            for (size_t i = 0; i < n; i++)
                for (size_t c = 0; c < m; c++)
                {
                    double above = i > 0 ? b[(i - 1) * ldb + c] : 0.0, here = b[i * ldb + c];
                    double below = i + 1 < n ? b[(i + 1) * ldb + c] : here;

                    assert_true(fabs(x[i * ldb + c] - (2.0 * here - above - below)) < 1e-11);
                }
            for (size_t i = 0; i < n; i++)
                assert_true(x[i * ldb + m] == b[i * ldb + m]);
            km_free(ctx, a);
            km_free(ctx, b);
            km_free(ctx, x);
        }
}

/* L of the minimum matrix is all ones: L x = b is the first difference. */
static void
test_forward_by_first_differences(void **state)
{
    size_t n = 1281, m = 3, pivot;
    double *a = new_matrix(n, n, minimum, 0), *x;

    (void) state;
    assert_int_equal(km_alloc(ctx, n * m, &x), KM_OK);
    for (size_t i = 0; i < n * m; i++)
        x[i] = (double) ((i / m + 1) * (i % m + 1));
    assert_int_equal(km_cholesky_factor(ctx, n, n, a, &pivot), KM_OK);
    assert_int_equal(km_cholesky_forward(ctx, n, n, a, m, m, x), KM_OK);
    for (size_t i = 0; i < n * m; i++)
        assert_true(x[i] == (double) (i % m + 1));
}

static void
test_logdet(void **state)
{
    double diagonal[9] = {4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.25};
    size_t pivot;

    (void) state;
    assert_int_equal(km_cholesky_factor(ctx, 3, 3, diagonal, &pivot), KM_OK);
    assert_true(fabs(km_cholesky_logdet(3, 3, diagonal) - log(4.0)) < 1e-15);
}

static void
test_inverse_diagonal(void **state)
{
    (void) state;
    for (size_t s = 0; s < N_SIZES; s++)
    {
        size_t n = sizes[s], pivot;
        double *a = new_matrix(n, n, minimum, 0), *out;

        assert_int_equal(km_alloc(ctx, n, &out), KM_OK);
        assert_int_equal(km_cholesky_factor(ctx, n, n, a, &pivot), KM_OK);
        assert_int_equal(km_cholesky_inverse_diagonal(ctx, n, n, a, out), KM_OK);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(out[i] - (i + 1 < n ? 2.0 : 1.0)) < 1e-12);
        assert_true(a[0] == 1.0 && a[n * n - 1] == 1.0);
        km_free(ctx, a);
        km_free(ctx, out);
    }
}

/* ---- jitter ---- */

typedef struct Refill
{
    size_t n, count;
    double diagonal, rest;
} Refill;

static KmStatus
refill(KmContext *context, void *state, double *a)
{
    Refill *self = state;

    (void) context;
    self->count++;
    for (size_t i = 0; i < self->n; i++)
        for (size_t j = 0; j <= i; j++)
            a[i * self->n + j] = i == j ? self->diagonal : self->rest;
    return KM_OK;
}

static KmStatus
factor_with_jitter(Refill *self, double *jitter)
{
    double *a;

    assert_int_equal(km_alloc(ctx, self->n * self->n, &a), KM_OK);
    refill(ctx, self, a);
    self->count = 0;
    return km_cholesky_factor_jitter(ctx, self->n, self->n, a, refill, self, jitter);
}

static void
test_no_jitter_where_none_is_needed(void **state)
{
    Refill self = {.n = 300, .diagonal = 2.0, .rest = 1.0};
    double jitter = -1.0;

    (void) state;
    assert_int_equal(factor_with_jitter(&self, &jitter), KM_OK);
    assert_true(jitter == 0.0);
    assert_int_equal(self.count, 0);
}

static void
test_little_jitter_for_a_singular_matrix(void **state)
{
    Refill self = {.n = 300, .diagonal = 5.0, .rest = 5.0};
    double jitter = -1.0;

    (void) state;
    assert_int_equal(factor_with_jitter(&self, &jitter), KM_OK);
    assert_true(jitter > 0.0 && jitter <= 5e-10);
    assert_true(self.count > 0 && self.count <= 4);
}

static void
test_ladder_gives_up_on_an_indefinite_matrix(void **state)
{
    Refill self = {.n = 300, .diagonal = 1.0, .rest = 2.0}, negative = {.n = 3, .diagonal = -1.0};
    double jitter;

    (void) state;
    assert_int_equal(factor_with_jitter(&self, &jitter), KM_SINGULAR);
    assert_int_equal(self.count, 4);
    assert_non_null(strstr(ctx->message, "300 rows"));
    assert_non_null(strstr(ctx->message, "pivot number 2 "));
    assert_non_null(strstr(ctx->hint, "larger lambda"));
    assert_int_equal(factor_with_jitter(&negative, &jitter), KM_SINGULAR);
    assert_true(jitter == 0.0);
    assert_int_equal(negative.count, 0);
}

/* ---- cancellation ---- */

static void
test_cancel(void **state)
{
    size_t n = 1700, pivot;
    Polling polling;

    (void) state;
    for (size_t stop_at = 1; stop_at < 12; stop_at += 2)
    {
        double *a = new_matrix(n, n, dominant, 1);

        polling_start(ctx, &polling, stop_at);
        assert_int_equal(km_cholesky_factor(ctx, n, n, a, &pivot), KM_CANCELLED);
        assert_int_equal(polling.calls, stop_at);
        polling_end(ctx, &polling);
        km_free(ctx, a);
    }
}

/* Half of a second of work is cut into stretches that are short even on a slow machine. */
static void
test_polls_often(void **state)
{
    size_t n = 3000, pivot;
    double *a = new_matrix(n, n, dominant, 1), *b;
    Polling polling;

    (void) state;
    assert_int_equal(km_alloc_zero(ctx, n * 600, &b), KM_OK);
    polling_start(ctx, &polling, 0);
    assert_int_equal(km_cholesky_factor(ctx, n, n, a, &pivot), KM_OK);
    assert_int_equal(km_cholesky_solve(ctx, n, n, a, 600, 600, b), KM_OK);
    assert_int_equal(km_cholesky_inverse_diagonal(ctx, n, n, a, b), KM_OK);
    polling_end(ctx, &polling);
    assert_true(polling.calls > 100);
    assert_true(polling.longest < 0.15);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factor_of_minimum_is_ones),
        cmocka_unit_test(test_factor_against_long_double),
        cmocka_unit_test(test_first_bad_pivot_is_named),
        cmocka_unit_test(test_empty_matrix),
        cmocka_unit_test(test_weak_pivot),
        cmocka_unit_test(test_solve_by_second_differences),
        cmocka_unit_test(test_forward_by_first_differences),
        cmocka_unit_test(test_logdet),
        cmocka_unit_test(test_inverse_diagonal),
        cmocka_unit_test(test_no_jitter_where_none_is_needed),
        cmocka_unit_test(test_little_jitter_for_a_singular_matrix),
        cmocka_unit_test(test_ladder_gives_up_on_an_indefinite_matrix),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_polls_often),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
