/*
 * test_expansion.c: sums of kernel values against long double, for kernels with planes and without; the same
 * bits for one row and many.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "expansion.h"
#include "numbers.h"

#define N ((size_t) 300)        /* more than a block */
#define D ((size_t) 11)
#define M ((size_t) 13)
#define MOST_COLUMNS 9

typedef long double Value(const double *x, const double *z);

static long double
dot(const double *x, const double *z)
{
    long double sum = 0;

    for (size_t k = 0; k < D; k++)
        sum += (long double) x[k] * z[k];
    return sum;
}

static long double
cosine(const double *x, const double *z)
{
    long double norms = dot(x, x) * dot(z, z);

    return norms == 0 ? 0 : dot(x, z) / sqrtl(norms);
}

static long double
two_columns(const double *x, const double *z)
{
    return (long double) x[2] * z[2] + (long double) x[0] * z[0];
}

static long double
rbf(const double *x, const double *z)
{
    return expl(-0.1L * (dot(x, x) - 2 * dot(x, z) + dot(z, z)));
}

static long double
cube(const double *x, const double *z)
{
    long double s = 0.5L * dot(x, z) + 1;

    return s * s * s;
}

static const struct
{
    const char *text;
    Value *value;
} cases[] = {
    {"linear", dot}, {"linear(dims=[3,1])", two_columns}, {"cosine", cosine},
    {"rbf(gamma=0.1)", rbf}, {"poly(3, gamma=0.5, coef0=1)", cube},
};

/* One term; *size grows by the sizes of what is added. */
static long double
plain_term(Value *value, const KmExpansionParts *parts, const KmTerm *term, const double *x,
           long double *size)
{
    long double sum = 0;

    for (size_t j = parts->first[term->group]; j < parts->first[term->group + 1]; j++)
    {
        long double share = parts->coef[j * parts->columns + term->column] * value(parts->rows + j * D, x);

        sum += share;
        *size += fabsl(share);
    }
    return sum;
}

static double rows[N * D], x[M * D], coef[N * MOST_COLUMNS], intercept[MOST_COLUMNS];

static void
fill(void)
{
    uint64_t state = 7;

    for (size_t i = 0; i < N * D; i++)
        rows[i] = next_uniform(&state, -1, 1);
    for (size_t i = 0; i < M * D; i++)
        x[i] = next_uniform(&state, -1, 1);
    for (size_t i = 0; i < N * MOST_COLUMNS; i++)
        coef[i] = next_uniform(&state, -1, 1);
    for (size_t i = 0; i < MOST_COLUMNS; i++)
        intercept[i] = next_uniform(&state, -1, 1);
    memset(rows + 5 * D, 0, D * sizeof *rows);
    memset(x + 3 * D, 0, D * sizeof *x);
}

static void
check(KmContext *ctx, size_t which, const KmExpansionParts *parts)
{
    double many[M * MOST_COLUMNS], one[MOST_COLUMNS];
    KmExpansion *expansion;
    KmKernel *kernel;

    assert_int_equal(km_kernel_parse(ctx, cases[which].text, strlen(cases[which].text), &kernel), KM_OK);
    assert_int_equal(km_expansion_create(ctx, kernel, parts, intercept, &expansion), KM_OK);
    assert_int_equal(km_expansion_run(ctx, expansion, M, x, many), KM_OK);
    for (size_t i = 0; i < M; i++)
    {
        assert_int_equal(km_expansion_run(ctx, expansion, 1, x + i * D, one), KM_OK);
        for (size_t o = 0; o < parts->n_out; o++)
        {
            long double expected = intercept[o], size = fabs(intercept[o]);

            for (size_t t = 0; t < parts->n_terms; t++)
                expected += plain_term(cases[which].value, parts, &parts->term[o * parts->n_terms + t],
                                       x + i * D, &size);
            assert_bits(one[o], many[i * parts->n_out + o]);
            assert_true(fabsl(one[o] - expected) <= 1e-14L * size);
        }
    }
}

static void
check_columns(KmContext *ctx, size_t which, size_t columns)
{
    static const size_t first[] = {0, N};
    KmTerm term[MOST_COLUMNS] = {{0}};

    for (size_t c = 0; c < columns; c++)
        term[c].column = c;
    check(ctx, which, &(KmExpansionParts) {.n = N, .d = D, .columns = columns, .rows = rows, .coef = coef,
                                           .groups = 1, .first = first, .n_out = columns, .n_terms = 1,
                                           .term = term});
}

/* Three groups, of which one is empty. */
static void
check_groups(KmContext *ctx, size_t which)
{
    static const size_t first[] = {0, 40, 40, N};
    static const KmTerm term[] = {{0, 0}, {1, 1}, {2, 1}, {0, 1}, {2, 0}, {2, 0}};

    check(ctx, which, &(KmExpansionParts) {.n = N, .d = D, .columns = 2, .rows = rows, .coef = coef,
                                           .groups = 3, .first = first, .n_out = 3, .n_terms = 2,
                                           .term = term});
}

static void
test_sums_are_those_of_kernel_values(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);

    (void) unused;
    fill();
    for (size_t which = 0; which < sizeof cases / sizeof *cases; which++)
    {
        check_columns(ctx, which, 1);
        check_columns(ctx, which, MOST_COLUMNS);
        check_groups(ctx, which);
    }
    km_context_destroy(ctx);
}

/* What a plane cannot be made of is refused as by any kernel. */
static void
test_dimensions_are_checked(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmExpansion *expansion;
    KmKernel *kernel;

    (void) unused;
    assert_int_equal(km_kernel_parse(ctx, "linear(dims=[12])", 17, &kernel), KM_OK);
    assert_int_equal(km_expansion_create_columns(ctx, kernel, N, D, rows, 1, coef, intercept, &expansion),
                     KM_DIMENSION);
    km_context_destroy(ctx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_those_of_kernel_values),
        cmocka_unit_test(test_dimensions_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
