/*
 * test_triangle.c: many right-hand sides at once, in numbers that double precision holds: the solutions are
 * exact, whatever the order.
 */
#include "context_support.h"
#include "polling.h"
#include "triangle.h"
#include "variants.h"
#include "simd/triangle_ops.h"

static const KmTriangleOps *const ops[] = VARIANTS(km_triangle_ops);

/* Whole numbers beside a diagonal of powers of two. */
static double
element(size_t i, size_t j)
{
    return i == j ? (i % 3 == 0 ? 8.0 : 4096.0) : (double) ((i * 7 + j * 3) % 5) - 2.0;
}

static double
solution(size_t i, size_t c)
{
    return (double) ((i + c) % 11);
}

/* L (n x n), and B = L V with zeros in the columns from m on. */
static void
make(size_t n, size_t m, size_t ld, KmTriangle *triangle, double **b)
{
    double *next, *rows;

    assert_int_equal(km_alloc(ctx, n * (n + 1) / 2, &rows), KM_OK);
    assert_int_equal(km_alloc_zero(ctx, n * ld, b), KM_OK);
    next = rows;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
        {
            *next++ = element(i, j);
            for (size_t c = 0; c < m; c++)
                (*b)[i * ld + c] += element(i, j) * solution(j, c);
        }
    assert_int_equal(km_triangle_create(ctx, n, rows, triangle), KM_OK);
}

static void
check(size_t n, size_t m, size_t ld, const double *v)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < ld; c++)
            assert_true(v[i * ld + c] == (c < m ? solution(i, c) : 0.0));
}

static void
test_each_instruction_set(void **state)
{
    KmTriangle triangle;
    double *v;

    (void) state;
    for (size_t t = 0; t < n_variants(); t++)
        for (size_t n = 1; n <= 45; n++)
            for (size_t m = 1, ld; m <= 40; m += 3)
            {
                ld = km_triangle_stride(m);
                make(n, m, ld, &triangle, &v);
                for (size_t i = 0; i < n; i += KM_TRIANGLE_ROWS)
                {
                    ops[t]->subtract(&triangle, i, 0, i / 2, m, ld, v);
                    ops[t]->subtract(&triangle, i, i / 2, i, m, ld, v);
                    ops[t]->solve(&triangle, i, m, ld, v);
                }
                check(n, m, ld, v);
                km_context_reset(ctx);
            }
}

static void
test_blocks(void **state)
{
    static const size_t shapes[][2] = {{511, 65}, {512, 64}, {513, 1}, {1100, 130}};
    KmTriangle triangle;
    double *v;

    (void) state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    {
        size_t n = shapes[s][0], m = shapes[s][1], ld = km_triangle_stride(m) + 16 * (s % 2);

        make(n, m, ld, &triangle, &v);
        assert_int_equal(km_triangle_solve(ctx, &triangle, m, ld, v), KM_OK);
        check(n, m, ld, v);
        km_context_reset(ctx);
    }
}

static void
test_stride(void **state)
{
    (void) state;
    for (size_t m = 1; m < 100; m++)
    {
        size_t stride = km_triangle_stride(m);

        assert_true(stride >= m && stride < m + 16 && stride % 16 == 8);
    }
}

static void
test_polls(void **state)
{
    size_t n = 1024, m = 192, ld = km_triangle_stride(m);
    Polling polling;
    KmTriangle triangle;
    double *v;

    (void) state;
    make(n, m, ld, &triangle, &v);
    polling_start(ctx, &polling, 4);
    assert_int_equal(km_triangle_solve(ctx, &triangle, m, ld, v), KM_CANCELLED);
    assert_int_equal(polling.calls, 4);
    ctx->poll = NULL;
    km_context_reset(ctx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_instruction_set),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_stride),
        cmocka_unit_test(test_polls),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
