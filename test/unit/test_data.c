/*
 * test_data.c: missing values, checks of rows, and the canonical order against the sort of the C library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "data.h"
#include "numbers.h"

typedef struct Rows
{
    size_t width;
    const double *x;
} Rows;

static const double *
row_at(const void *state, size_t i)
{
    const Rows *rows = state;

    return rows->x + i * rows->width;
}

/* By value, with missing after everything: an independent statement of the order. */
static int
compare_values(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static const Rows *sorted_rows;         /* for qsort only */

static int
compare_rows(const void *a, const void *b)
{
    size_t i = *(const size_t *) a, j = *(const size_t *) b;

    for (size_t k = 0; k < sorted_rows->width; k++)
    {
        int order = compare_values(row_at(sorted_rows, i)[k], row_at(sorted_rows, j)[k]);

        if (order != 0)
            return order;
    }
    return (i > j) - (i < j);           /* stable */
}

static void
check_order(size_t n, size_t width, const double *x)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Rows rows = {width, x};
    size_t *got = malloc((n + 1) * sizeof *got), *expected = malloc((n + 1) * sizeof *expected);

    for (size_t i = 0; i < n; i++)
        expected[i] = i;
    sorted_rows = &rows;
    qsort(expected, n, sizeof *expected, compare_rows);
    assert_int_equal(km_rows_order(ctx, n, width, row_at, &rows, got), KM_OK);
    assert_memory_equal(got, expected, n * sizeof *got);
    assert_int_equal(ctx->used_bytes, 0);
    free(got);
    free(expected);
    km_context_destroy(ctx);
}

/* Rows with `distinct` values a column, so that all lengths of ties come up. */
static void
check_random_order(size_t n, size_t width, unsigned distinct, uint64_t seed)
{
    double *x = malloc((n * width + 1) * sizeof *x);

    for (size_t i = 0; i < n * width; i++)
    {
        double v = distinct ? (double) (next_bits(&seed) % distinct) - 2 : next_uniform(&seed, -1e3, 1e3);

        x[i] = v == 0 && next_bits(&seed) % 2 ? -0.0 : v;
        if (next_bits(&seed) % 50 == 0)
            x[i] = km_missing();
    }
    check_order(n, width, x);
    free(x);
}

static void
test_order_of_random_rows(void **unused)
{
    static const size_t sizes[] = {0, 1, 2, 3, 31, 32, 33, 34, 100, 257, 2000, 70001};
    static const unsigned distincts[] = {0, 1, 2, 5, 300};

    (void) unused;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof distincts / sizeof *distincts; j++)
        {
            check_random_order(sizes[i], 1, distincts[j], i);
            check_random_order(sizes[i], 4, distincts[j], i + 100);
        }
    check_random_order(500, 40, 2, 7);
}

static void
test_order_of_special_values(void **unused)
{
    const double x[] = {INFINITY, km_missing(), 5e-324, -0.0, 0.0, -5e-324, 1.7e308, -1.7e308, -INFINITY, 0.0,
        -0.0};
    double many[11 * 7];

    (void) unused;
    check_order(11, 1, x);
    for (size_t i = 0; i < 77; i++)     /* long enough for the radix passes */
        many[i] = x[i * 5 % 11];
    check_order(77, 1, many);
}

static void
test_order_does_not_depend_on_the_scan(void **unused)
{
    enum { n = 3000, width = 3 };
    static double x[n * width], y[n * width];
    size_t a[n], b[n];
    KmContext *ctx = km_context_create(SIZE_MAX);
    Rows rows_x = {width, x}, rows_y = {width, y};
    uint64_t seed = 3;

    (void) unused;
    for (size_t i = 0; i < n * width; i++)
        x[i] = (double) (next_bits(&seed) % 4);
    for (size_t i = 0; i < n; i++)
        memcpy(y + i * width, x + (i * 1999 + 5) % n * width, width * sizeof *x);
    assert_int_equal(km_rows_order(ctx, n, width, row_at, &rows_x, a), KM_OK);
    assert_int_equal(km_rows_order(ctx, n, width, row_at, &rows_y, b), KM_OK);
    for (size_t i = 0; i < n; i++)
        assert_memory_equal(row_at(&rows_x, a[i]), row_at(&rows_y, b[i]), width * sizeof *x);
    km_context_destroy(ctx);
}

static bool
stop_at_once(KmContext *ctx)
{
    (void) ctx;
    return true;
}

/* All-equal wide rows, the slowest case, can be stopped. */
static void
test_order_polls(void **unused)
{
    enum { n = 70000, width = 10 };
    double *x = calloc(n * width, sizeof *x);
    size_t *order = malloc(n * sizeof *order);
    KmContext *ctx = km_context_create(SIZE_MAX);
    Rows rows = {width, x};

    (void) unused;
    ctx->poll = stop_at_once;
    assert_int_equal(km_rows_order(ctx, n, width, row_at, &rows, order), KM_CANCELLED);
    free(x);
    free(order);
    km_context_destroy(ctx);
}

/* A million random rows of 20 take well under a second (with room for slow and sanitised runs). */
static void
test_order_is_fast(void **unused)
{
    enum { n = 1000000, width = 20 };
    double *x = malloc(sizeof *x * n * width);
    size_t *order = malloc(n * sizeof *order);
    KmContext *ctx = km_context_create(SIZE_MAX);
    Rows rows = {width, x};
    uint64_t seed = 1;
    clock_t start;
    double seconds;

    (void) unused;
    for (size_t i = 0; i < (size_t) n * width; i++)
        x[i] = next_uniform(&seed, 0, 1);
    start = clock();
    assert_int_equal(km_rows_order(ctx, n, width, row_at, &rows, order), KM_OK);
    seconds = (double) (clock() - start) / CLOCKS_PER_SEC;
    print_message("# a million rows of 20 ordered in %.2f s\n", seconds);
    assert_true(seconds < 5);
    for (size_t i = 1; i < n; i++)
        assert_true(x[order[i - 1] * width] <= x[order[i] * width]);
    free(x);
    free(order);
    km_context_destroy(ctx);
}

static void
test_missing(void **unused)
{
    double copy = km_missing();

    (void) unused;
    assert_true(isnan(copy));
    assert_true(km_is_missing(copy));
    assert_false(km_is_missing(NAN));
    assert_false(km_is_missing(-NAN));
    assert_false(km_is_missing(0));
    assert_false(km_is_missing(INFINITY));
}

static void
test_row_check(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    const double missing[] = {1, 2, km_missing()}, nan[] = {1, NAN}, infinite[] = {-INFINITY};

    (void) unused;
    assert_int_equal(km_row_check(ctx, 3, missing, true), KM_OK);
    assert_int_equal(km_row_check(ctx, 2, missing, false), KM_OK);
    assert_int_equal(km_row_check(ctx, 3, missing, false), KM_NULL);
    assert_string_equal(ctx->message, "element 3 is NULL");
    assert_non_null(strstr(ctx->hint, "impute"));
    assert_int_equal(km_row_check(ctx, 2, nan, true), KM_DATA);
    assert_string_equal(ctx->message, "element 2 is NaN");
    assert_int_equal(km_row_check(ctx, 1, infinite, true), KM_DATA);
    assert_string_equal(ctx->message, "element 1 is infinite");
    km_context_destroy(ctx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_row_check),
        cmocka_unit_test(test_order_of_random_rows),
        cmocka_unit_test(test_order_of_special_values),
        cmocka_unit_test(test_order_does_not_depend_on_the_scan),
        cmocka_unit_test(test_order_polls),
        cmocka_unit_test(test_order_is_fast),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
