/*
 * test_tile.c: tiles of K against long double, in both precisions, at the edges of
 * blocks; exact diagonals, equal rows, cancellation of digits and overflow.
 */
#include "kernel_support.h"

#include <float.h>

#include "polling.h"
#include "variants.h"
#include "simd/tile_ops.h"

static double *
random_rows(size_t n, size_t d, double low, double high, uint64_t seed)
{
    return uniforms(n * d, low, high, seed);
}

/* ---- the kernels by their definition ---- */

typedef long double (*Definition)(size_t d, const double *x, const double *z);

static long double
dot(size_t d, const double *x, const double *z)
{
    long double sum = 0;

    for (size_t k = 0; k < d; k++)
        sum += (long double) x[k] * z[k];
    return sum;
}

static long double
sqdist(size_t d, const double *x, const double *z)
{
    long double sum = 0;

    for (size_t k = 0; k < d; k++)
        sum += ((long double) x[k] - z[k]) * ((long double) x[k] - z[k]);
    return sum;
}

static long double
rbf(size_t d, const double *x, const double *z)
{
    return expl(-0.3L * sqdist(d, x, z));
}

static long double
matern(size_t d, const double *x, const double *z)
{
    long double s = sqrtl(3 * sqdist(d, x, z));

    return (1 + s) * expl(-s);
}

static long double
laplacian(size_t d, const double *x, const double *z)
{
    long double sum = 0;

    for (size_t k = 0; k < d; k++)
        sum += fabsl((long double) x[k] - z[k]);
    return expl(-0.2L * sum);
}

static long double
poly(size_t d, const double *x, const double *z)
{
    long double t = 0.5L * dot(d, x, z) + 1;

    return t * t * t;
}

static long double
cosine(size_t d, const double *x, const double *z)
{
    return dot(d, x, z) / sqrtl(dot(d, x, x) * dot(d, z, z));
}

static long double
combined(size_t d, const double *x, const double *z)
{
    long double k = 2 * rbf(d, x, z) + dot(d, x, z) * laplacian(d, x, z) + 0.5L;

    return k * k;
}

static long double
normalised(size_t d, const double *x, const double *z)
{
    return poly(d, x, z) / sqrtl(poly(d, x, x) * poly(d, z, z)) + rbf(d, x, z);
}

static long double
first_column(size_t d, const double *x, const double *z)
{
    (void) d;
    return rbf(1, x, z) + laplacian(d, x, z);
}

static long double
constant(size_t d, const double *x, const double *z)
{
    (void) d;
    (void) x;
    (void) z;
    return 2.5L;
}

static long double
periodic(size_t d, const double *x, const double *z)
{
    long double sum = 0;

    for (size_t k = 0; k < d; k++)
        sum += powl(sinl(acosl(-1) * ((long double) x[k] - z[k]) / 1.3L) / 0.7L, 2);
    return expl(-2 * sum);
}

static long double
gibbs(size_t d, const double *x, const double *z)
{
    long double u = 0.1L + 0.2L * x[0], v = 0.1L + 0.2L * z[0], ratio;

    (void) d;
    ratio = 2 / (expl(u - v) + expl(v - u));
    return sqrtl(ratio) * expl(-powl((long double) x[0] - z[0], 2) / (expl(2 * u) + expl(2 * v)));
}

static long double
rational_quadratic(size_t d, const double *x, const double *z)
{
    return powl(1 + sqdist(d, x, z) / 3, -1.5L);
}

static const struct
{
    const char *text;
    Definition definition;
} kernels[] = {
    {"rbf(gamma=0.3)", rbf},
    {"matern(nu=1.5, length_scale=1)", matern},
    {"laplacian(gamma=0.2)", laplacian},
    {"linear", dot},
    {"poly(degree=3, gamma=0.5, coef0=1)", poly},
    {"cosine", cosine},
    {"(2*rbf(gamma=0.3) + linear*laplacian(gamma=0.2) + 0.5)^2", combined},
    {"normalize(poly(degree=3, gamma=0.5, coef0=1)) + rbf(gamma=0.3)", normalised},
    {"rbf(gamma=0.3, dims=[1]) + laplacian(gamma=0.2)", first_column},
    {"constant(2.5)", constant},
    {"periodic(1.3, 0.7)", periodic},
    {"gibbs([0.1, 0.2], dims=[1])", gibbs},
    {"rational_quadratic(1.5)", rational_quadratic},
};
#define N_KERNELS (sizeof kernels / sizeof *kernels)

/* ---- values ---- */

/* The tile at (i0, j0) of a cross Gram, with a canary beside each row. */
static void
check_tile(size_t q, size_t d, size_t i0, size_t m, size_t j0, size_t n)
{
    const KmKernel *kernel = parse(kernels[q].text);
    const double *x = random_rows(i0 + m, d, -1.0, 2.0, q), *z = random_rows(j0 + n, d, -1.0, 2.0, q + 100);
    KmPoints *a = make_points(kernel, i0 + m, d, x, NULL), *b = make_points(kernel, j0 + n, d, z, a);
    size_t ld = n + 1;
    double *out = random_rows(m, ld, 7.0, 7.0, 0);

    assert_int_equal(km_kernel_tile(ctx, kernel, a, i0, m, b, j0, n, ld, out), KM_OK);
    for (size_t i = 0; i < m; i++)
    {
        for (size_t j = 0; j < n; j++)
        {
            long double expected = kernels[q].definition(d, x + (i0 + i) * d, z + (j0 + j) * d);

            assert_true(fabsl(out[i * ld + j] - expected) <= 2e-13L * (1 + fabsl(expected)));
        }
        assert_true(out[i * ld + n] == 7.0);
    }
}

static void
test_values_at_the_edges_of_blocks(void **state)
{
    static const size_t shapes[][4] = {
        {0, 1, 0, 1}, {3, 7, 5, 9}, {0, 127, 0, 511}, {1, 129, 8, 513}, {0, 130, 3, 1030}
    };
    static const size_t widths[] = {1, 2, 3, 8, 17};

    (void) state;
    for (size_t q = 0; q < N_KERNELS; q++)
        for (size_t s = 0; s < 5; s++)
        {
            check_tile(q, widths[s], shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3]);
            km_context_reset(ctx);
        }
}

/* Where a == b the diagonal is that of km_kernel_diagonal to the bit, also in part of a Gram, and
 * distance kernels are exactly 1 there. */
static void
test_exact_diagonal(void **state)
{
    size_t n = 700, d = 5;

    (void) state;
    for (size_t q = 0; q < N_KERNELS; q++)
    {
        const KmKernel *kernel = parse(kernels[q].text);
        const double *x = random_rows(n, d, 100.0, 101.0, q);
        KmPoints *points = make_points(kernel, n, d, x, NULL);
        double *out = random_rows(200, 600, 0.0, 0.0, 0), *diagonal = random_rows(n, 1, 0.0, 0.0, 0);

        assert_int_equal(km_kernel_diagonal(ctx, kernel, points, diagonal), KM_OK);
        assert_int_equal(km_kernel_tile(ctx, kernel, points, 90, 200, points, 100, 600, 600, out), KM_OK);
        for (size_t i = 10; i < 200; i++)
        {
            long double expected = kernels[q].definition(d, x + (90 + i) * d, x + (90 + i) * d);

            assert_true(out[i * 600 + i - 10] == diagonal[90 + i]);
            assert_true(fabsl(diagonal[90 + i] - expected) <= 1e-12L * fabsl(expected));
        }
        if (q < 3)
            assert_true(diagonal[0] == 1.0);
    }
}

/* White noise is on the diagonal of a Gram only, also where rows are equal. */
static void
test_white(void **state)
{
    const KmKernel *kernel = parse("rbf(gamma=0.3) + white(0.5) + white(2)");
    double x[6] = {1.0, 2.0, 1.0, 2.0, 3.0, 4.0}, out[9];
    KmPoints *a = make_points(kernel, 3, 2, x, NULL), *b = make_points(kernel, 3, 2, x, a);

    (void) state;
    assert_int_equal(km_kernel_tile(ctx, kernel, a, 0, 3, a, 0, 3, 3, out), KM_OK);
    assert_true(out[0] == 3.5 && out[4] == 3.5 && out[8] == 3.5 && out[1] == 1.0 && out[3] == 1.0);
    assert_int_equal(km_kernel_tile(ctx, kernel, a, 1, 2, a, 0, 3, 3, out), KM_OK);
    assert_true(out[0] == 1.0 && out[1] == 3.5 && out[5] == 3.5);
    assert_int_equal(km_kernel_tile(ctx, kernel, a, 0, 3, b, 0, 3, 3, out), KM_OK);
    assert_true(out[0] == 1.0 && out[4] == 1.0 && out[8] == 1.0);
    assert_true(km_kernel_white(kernel) == 2.5 && km_kernel_white(parse("linear")) == 0.0);
}

/* A product that reaches 1 is outside of the geometric kernel; the rows are named. */
static void
test_values_outside_the_domain(void **state)
{
    const KmKernel *kernel = parse("1 + geometric");
    double x[6] = {0.1, 0.2, 0.3, 0.4, 2.0, 0.1}, out[9];
    KmPoints *points = make_points(kernel, 3, 2, x, NULL);

    (void) state;
    assert_int_equal(km_kernel_tile(ctx, kernel, points, 0, 2, points, 0, 3, 3, out), KM_OK);
    assert_true(fabs(out[5] - (1 + 1 / (1 - 0.64))) < 1e-14);
    assert_int_equal(km_kernel_tile(ctx, kernel, points, 0, 3, points, 0, 3, 3, out), KM_RANGE);
    assert_non_null(strstr(ctx->message, "it is 4.01 for rows 3 and 3"));
    x[5] = -0.1;
    assert_int_equal(km_points_create(ctx, parse("1 + min"), 3, 2, x, NULL, &points), KM_DATA);
    assert_non_null(strstr(ctx->message, "element 2 of row 3 is -0.1"));
}

/* Equal rows on both sides of a cross Gram give exactly k(0), far from the origin too. */
static void
test_equal_rows_give_one(void **state)
{
    static const char *const texts[] = {"rbf(gamma=0.3)", "matern", "laplacian(gamma=2)",
                                        "rbf(length_scale=[0.1, 1, 7])"};
    size_t n = 300, d = 3;

    (void) state;
    for (size_t q = 0; q < 4; q++)
    {
        const KmKernel *kernel = parse(texts[q]);
        double *x = random_rows(n, d, 1e6, 1e6 + 3.0, q), *z = random_rows(n, d, 1e6, 1e6 + 3.0, q);
        KmPoints *a = make_points(kernel, n, d, x, NULL), *b = make_points(kernel, n, d, z, a);
        double *out = random_rows(n, n, 0.0, 0.0, 0);
        float *out_f32;

        assert_int_equal(km_kernel_tile(ctx, kernel, a, 0, n, b, 0, n, n, out), KM_OK);
        for (size_t i = 0; i < n; i++)
            assert_true(out[i * n + i] == 1.0);
        if (!km_kernel_has_f32(kernel))
            continue;
        assert_int_equal(km_alloc(ctx, n * n, &out_f32), KM_OK);
        assert_int_equal(km_kernel_tile_f32(ctx, kernel, a, 0, n, b, 0, n, n, out_f32), KM_OK);
        for (size_t i = 0; i < n; i++)
            assert_true(out_f32[i * n + i] == 1.0f);
    }
}

/* x = 0, 1e8 + 1/4, 1e8 + 1.1: centring alone gives 0.50 for the distance 0.7225. */
static void
test_small_distances_keep_their_digits(void **state)
{
    double x[3] = {0.0, 1e8 + 0.25, 1e8 + 1.1}, out[9], difference = x[2] - x[1];
    const KmKernel *kernel = parse("rbf(gamma=1)");
    KmPoints *points = make_points(kernel, 3, 1, x, NULL);
    float out_f32[9];

    (void) state;
    assert_int_equal(km_kernel_tile(ctx, kernel, points, 0, 3, points, 0, 3, 3, out), KM_OK);
    assert_true(fabs(out[5] - exp(-difference * difference)) < 1e-15);
    assert_true(out[7] == out[5] && out[1] == 0.0);
    assert_int_equal(km_kernel_tile_f32(ctx, kernel, points, 0, 3, points, 0, 3, 3, out_f32), KM_OK);
    assert_true(fabs(out_f32[5] - exp(-difference * difference)) < 1e-6);
}

/* ---- float32 ---- */

/* Clusters of widths 1e-6 .. 1 at distances 1 .. 100, against every gamma: the bound is uniform. */
static void
test_f32_error_is_uniform(void **state)
{
    size_t n = 400, d = 4;
    double *x = random_rows(n, d, -1.0, 1.0, 11);

    (void) state;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            x[i * d + k] = x[i * d + k] * pow(10.0, -(double) (i % 7)) + 30.0 * sin((double) (i % 5 + k));
    for (int power = -6; power <= 12; power += 2)
    {
        char text[40];
        const KmKernel *kernel;
        KmPoints *points;
        float *single;
        double *wide = random_rows(n, n, 0.0, 0.0, 0);

        snprintf(text, sizeof text, "rbf(gamma=1e%d)", power);
        kernel = parse(text);
        points = make_points(kernel, n, d, x, NULL);
        assert_true(km_kernel_has_f32(kernel));
        assert_int_equal(km_alloc(ctx, n * n, &single), KM_OK);
        assert_int_equal(km_kernel_tile_f32(ctx, kernel, points, 0, n, points, 0, n, n, single), KM_OK);
        assert_int_equal(km_kernel_tile(ctx, kernel, points, 0, n, points, 0, n, n, wide), KM_OK);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
            {
                double expected = (double) expl(-powl(10.0L, power) * sqdist(d, x + i * d, x + j * d));

                assert_true(fabs(single[i * n + j] - expected) < 2e-5);
                assert_true(fabs(wide[i * n + j] - expected) < 1e-12);
            }
    }
}

static void
test_f32_shapes(void **state)
{
    size_t sizes[] = {1, 127, 130, 513, 1030};

    (void) state;
    for (size_t q = 0; q < 3; q++)
        for (size_t s = 0; s < 4; s++)
        {
            const KmKernel *kernel = parse(kernels[q].text);
            size_t m = sizes[s], n = sizes[s + 1], d = s + 2, ld = n + 1;
            double *x = random_rows(m, d, -1.0, 2.0, s), *z = random_rows(n + 3, d, -1.0, 2.0, s + 50);
            KmPoints *a = make_points(kernel, m, d, x, NULL), *b = make_points(kernel, n + 3, d, z, a);
            float *out;

            if (!km_kernel_has_f32(kernel))
                continue;
            assert_int_equal(km_alloc_zero(ctx, m * ld, &out), KM_OK);
            assert_int_equal(km_kernel_tile_f32(ctx, kernel, a, 0, m, b, 3, n, ld, out), KM_OK);
            for (size_t i = 0; i < m; i++)
            {
                for (size_t j = 0; j < n; j++)
                    assert_true(fabsl(out[i * ld + j] -
                                      kernels[q].definition(d, x + i * d, z + (j + 3) * d)) < 1e-5L);
                assert_true(out[i * ld + n] == 0.0f);
            }
        }
}

/* Rows whose squares leave float32's range are worked in float64. */
static void
test_f32_out_of_range(void **state)
{
    static const double scales[] = {1e25, 1e-25};

    (void) state;
    for (size_t s = 0; s < 2; s++)
    {
        char text[40];
        const KmKernel *kernel;
        double *x = random_rows(60, 3, -scales[s], scales[s], 4);
        KmPoints *points;
        float out[3600];

        snprintf(text, sizeof text, "rbf(length_scale=%g)", scales[s]);
        kernel = parse(text);
        points = make_points(kernel, 60, 3, x, NULL);
        assert_int_equal(km_kernel_tile_f32(ctx, kernel, points, 0, 60, points, 0, 60, 60, out), KM_OK);
        for (size_t i = 0; i < 3600; i++)
        {
            long double d2 = sqdist(3, x + i / 60 * 3, x + i % 60 * 3) / scales[s] / scales[s];

            assert_true(fabsl(out[i] - expl(-d2 / 2)) < 1e-6L);
        }
    }
}

/* ---- gathered rows ---- */

static void
test_gathered_rows(void **state)
{
    size_t n = 600, d = 4, row[5] = {599, 0, 17, 17, 300};

    (void) state;
    for (size_t q = 0; q < N_KERNELS; q++)
    {
        const KmKernel *kernel = parse(kernels[q].text);
        KmPoints *points = make_points(kernel, n, d, random_rows(n, d, -1.0, 2.0, q), NULL), *some;
        double *all = random_rows(n, n, 0.0, 0.0, 0), *out = random_rows(5, n, 0.0, 0.0, 0);

        assert_int_equal(km_points_reserve(ctx, points, 5, &some), KM_OK);
        km_points_gather(points, 5, row, some);
        assert_int_equal(km_points_count(some), 5);
        assert_int_equal(km_kernel_tile(ctx, kernel, points, 0, n, points, 0, n, n, all), KM_OK);
        assert_int_equal(km_kernel_tile(ctx, kernel, some, 0, 5, points, 0, n, n, out), KM_OK);
        for (size_t i = 0; i < 5; i++)
            for (size_t j = 0; j < n; j++)
            {
                double value = out[i * n + j];

                assert_true(fabs(value - all[row[i] * n + j]) <= 1e-13 * (1.0 + fabs(value)));
            }
        km_points_gather(points, 2, row + 3, some);
        assert_int_equal(km_points_count(some), 2);
    }
}

static void
test_gathered_rows_f32(void **state)
{
    size_t n = 200, row[2] = {150, 3};
    const KmKernel *kernel = parse("rbf(gamma=0.3)");
    double *x = random_rows(n, 4, -1.0, 2.0, 1);
    KmPoints *points = make_points(kernel, n, 4, x, NULL), *some;
    float out[400];

    (void) state;
    assert_int_equal(km_points_reserve(ctx, points, 2, &some), KM_OK);
    for (size_t turn = 0; turn < 3; turn++, row[0]--, row[1] += 50)
    {
        km_points_gather(points, 2, row, some);
        assert_int_equal(km_kernel_tile_f32(ctx, kernel, some, 0, 2, points, 0, n, n, out), KM_OK);
        for (size_t j = 0; j < n; j++)
            assert_true(fabsl(out[n + j] - rbf(4, x + row[1] * 4, x + j * 4)) < 2e-6L);
    }
}

/* Rows of which most elements are their column's usual one, -1 or 1e6, besides a column without. */
static double *
usual_rows(size_t n, size_t d)
{
    double *x = random_rows(n, d, 0.0, 1.0, 3);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k < d; k++)
            if (x[i * d + k] < 0.85)
                x[i * d + k] = k == 1 ? 1e6 : -1;
            else if (k == 1)
                x[i * d + k] += 1e6;
    return x;
}

static void
test_rows_of_usual_values_f32(void **state)
{
    size_t n = 75, m = 8, d = 21, row[75];
    const KmKernel *kernel = parse("rbf(gamma=0.3)");
    double *x = usual_rows(n, d);
    KmPoints *points = make_points(kernel, n, d, x, NULL), *some, *right;
    float all[75 * 75], out[8 * 75];

    (void) state;
    for (size_t i = 0; i < n; i++)
        row[i] = n - 1 - i;
    assert_int_equal(km_points_sparse(ctx, points), KM_OK);
    assert_non_null(points->single->lists);
    assert_true(points->single->lists->first[n] < n * d / 2);
    assert_int_equal(km_kernel_tile_f32(ctx, kernel, points, 0, n, points, 0, n, n, all), KM_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
        {
            assert_true(fabsl(all[i * n + j] - rbf(d, x + i * d, x + j * d)) < 2e-6L);
            assert_true(all[i * n + j] == all[j * n + i]);
        }
    assert_int_equal(km_points_reserve(ctx, points, n, &right), KM_OK);
    assert_int_equal(km_points_reserve(ctx, right, m, &some), KM_OK);
    assert_int_equal(km_points_gather_f32(ctx, points, n, row, right), KM_OK);
    assert_int_equal(km_points_gather_f32(ctx, right, m, row, some), KM_OK);
    assert_int_equal(km_kernel_tile_f32(ctx, kernel, some, 0, m, right, 0, n, n, out), KM_OK);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            assert_true(out[i * n + j] == all[i * n + row[j]]);
}

/* Where lists do not pay, there are none. */
static void
test_rows_without_usual_values(void **state)
{
    KmPoints *points = make_points(parse("rbf(gamma=0.3)"), 50, 6, random_rows(50, 6, 0.0, 1.0, 4), NULL);

    (void) state;
    assert_int_equal(km_points_sparse(ctx, points), KM_OK);
    assert_null(points->single->lists);
    assert_null(points->single->origin);
}

/* ---- the inner loops of every instruction set ---- */

static const KmTileOps *const ops[] = VARIANTS(km_tile_ops);

/* Every shape up to two vectors and a rest; what lies around is not written. */
static void
test_transpose(void **state)
{
    enum { MOST = 19, LD = 23 };
    double from[MOST * LD], to[MOST * LD];

    (void) state;
    for (size_t k = 0; k < MOST * LD; k++)
        from[k] = (double) k;
    for (size_t t = 0; t < n_variants(); t++)
        for (size_t rows = 0; rows <= MOST; rows++)
            for (size_t columns = 0; columns <= MOST; columns++)
            {
                memset(to, 0xff, sizeof to);
                ops[t]->transpose(rows, columns, LD - 1, from, LD, to);
                for (size_t j = 0; j < MOST; j++)
                    for (size_t i = 0; i < LD; i++)
                        if (i < rows && j < columns)
                            assert_true(to[j * LD + i] == (double) (i * (LD - 1) + j));
                        else
                            assert_true(isnan(to[j * LD + i]));
            }
}

/* ---- errors ---- */

/* scikit-learn 17925, 22149: products of large values overflow. */
static void
test_large_values_are_an_error(void **state)
{
    static const char *const texts[] = {"linear", "rbf(gamma=1)", "rbf(gamma=1) + linear"};
    static const double values[] = {1e160, 1.7e308};
    KmPoints *points;

    (void) state;
    for (size_t q = 0; q < 3; q++)
        for (size_t v = 0; v < 2; v++)
        {
            double x[4] = {values[v], 0.0, -values[v], 1.0};

            assert_int_equal(km_points_create(ctx, parse(texts[q]), 2, 2, x, NULL, &points), KM_RANGE);
            assert_non_null(strstr(ctx->message, "feature values of row 1 are too large"));
        }
}

static void
test_wrong_dimension_and_unresolved(void **state)
{
    double x[4] = {1.0, 2.0, 3.0, 4.0};
    KmPoints *points;

    (void) state;
    assert_int_equal(km_points_create(ctx, parse("rbf(gamma=1, dims=[3])"), 2, 2, x, NULL, &points),
                     KM_DIMENSION);
    assert_int_not_equal(km_points_create(ctx, parse("rbf(gamma=scale)"), 2, 2, x, NULL, &points), KM_OK);
}

static void
test_tiles_poll_and_stop(void **state)
{
    size_t n = 2000;
    const KmKernel *kernel = parse("rbf(gamma=1)");
    KmPoints *points = make_points(kernel, n, 20, random_rows(n, 20, 0.0, 1.0, 3), NULL);
    double *out = random_rows(n, n, 0.0, 0.0, 0);
    Polling polling;

    (void) state;
    polling_start(ctx, &polling, 5);
    assert_int_equal(km_kernel_tile(ctx, kernel, points, 0, n, points, 0, n, n, out), KM_CANCELLED);
    assert_int_equal(polling.calls, 5);
    polling_end(ctx, &polling);
    assert_true(polling.longest < 0.05);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_at_the_edges_of_blocks),
        cmocka_unit_test(test_exact_diagonal),
        cmocka_unit_test(test_white),
        cmocka_unit_test(test_values_outside_the_domain),
        cmocka_unit_test(test_equal_rows_give_one),
        cmocka_unit_test(test_small_distances_keep_their_digits),
        cmocka_unit_test(test_f32_error_is_uniform),
        cmocka_unit_test(test_f32_shapes),
        cmocka_unit_test(test_f32_out_of_range),
        cmocka_unit_test(test_gathered_rows),
        cmocka_unit_test(test_gathered_rows_f32),
        cmocka_unit_test(test_rows_of_usual_values_f32),
        cmocka_unit_test(test_rows_without_usual_values),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_large_values_are_an_error),
        cmocka_unit_test(test_wrong_dimension_and_unresolved),
        cmocka_unit_test(test_tiles_poll_and_stop),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
