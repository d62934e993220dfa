/*
 * test_kernel_psd.c: kernels flagged positive semidefinite have Gram matrices without negative eigenvalues,
 * alone and composed; known indefinite ones are not flagged, and have them.
 */
#include "random_kernels.h"

#include "gram.h"

#define N 40

/* Smallest eigenvalue over the largest absolute one. */
static double
smallest_eigenvalue(const KmKernel *kernel, size_t n, size_t d, const double *x)
{
    static double K[N * N], eigenvalue[N];
    KmPoints *points;

    if (km_points_create(ctx, kernel, n, d, x, NULL, &points) != KM_OK ||
        km_gram_fill(ctx, kernel, points, true, n, K) != KM_OK)
        fail_msg("%s", ctx->message);
    for (size_t i = 0; i < n; i++)
    {
        for (size_t j = 0; j < n; j++)
            assert_true(K[i * n + j] == K[j * n + i]);
    }
    assert_int_equal(km_symmetric_eigenvalues(ctx, n, K, eigenvalue), KM_OK);
    return eigenvalue[0] / fmax(fabs(eigenvalue[0]), fabs(eigenvalue[n - 1]));
}

/* Spread rows, and pairs of close and of equal ones. */
static void
fill_rows(size_t d, uint64_t *seed, double *x)
{
    for (size_t i = 0; i < N; i++)
    {
        for (size_t k = 0; k < d; k++)
            x[i * d + k] = i % 4 == 3 ? x[(i - 1) * d + k] + (i % 8 == 3 ? 1e-6 : 0)
                : next_uniform(seed, 0, 0.4);
    }
}

static void
check_psd(const char *text, size_t d, uint64_t *seed)
{
    const KmKernel *kernel = parse(text);
    double x[N * 5], smallest;

    if (!(kernel->flags & KM_PSD))
        fail_msg("%s is not flagged", text);
    fill_rows(d, seed, x);
    smallest = smallest_eigenvalue(kernel, N, d, x);
    if (!(smallest >= -1e-10))
        fail_msg("%s, d %zu: smallest eigenvalue %g of the largest", text, d, smallest);
}

static void
test_single_kernels(void **state)
{
    static const size_t dimensions[] = {1, 2, 5};
    uint64_t seed = 5;
    char text[2000];

    (void) state;
    for (size_t l = 0; l < N_LEAF_TEXTS; l++)
    {
        for (size_t t = 0; t < 9; t++)
        {
            write_leaf(&seed, leaf_texts[l], dimensions[t % 3], text);
            check_psd(text, dimensions[t % 3], &seed);
            km_context_reset(ctx);
        }
    }
}

static void
test_compositions(void **state)
{
    static const size_t dimensions[] = {1, 2, 5};
    uint64_t seed = 7;
    char text[20000];

    (void) state;
    for (size_t i = 0; i < 300; i++)
    {
        write_kernel(&seed, 4, dimensions[i % 3], text);
        check_psd(text, dimensions[i % 3], &seed);
        km_context_reset(ctx);
    }
}

/* gibbs without its power d/2, and the cosine of |r| in place of wave, are indefinite too: there is no way
 * to write them. */
static void
test_indefinite_kernels(void **state)
{
    static const char *const texts[] = {
        "sigmoid(1, -1)", "additive_chi2", "poly(2, 1, -1)", "-1*rbf(gamma=1)"};
    uint64_t seed = 11;
    double x[N * 2];

    (void) state;
    fill_rows(2, &seed, x);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    {
        const KmKernel *kernel = parse(texts[i]);

        assert_false(kernel->flags & KM_PSD);
        assert_true(smallest_eigenvalue(kernel, N, 2, x) < -1e-3);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_single_kernels),
        TEST(test_compositions),
        TEST(test_indefinite_kernels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
