/*
 * test_steps.c: constants of the steps against closed forms and long double sums, and what they do to rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "learner_types.h"
#include "numbers.h"

#define MAX_D 8
#define M km_missing()

/* A step typed as text, resolved on rows and made ready. */
typedef struct Fitted
{
    KmContext *ctx;
    KmArgs args;
    KmNode *node;
    KmStep step;
    KmStatus status;
} Fitted;

static Fitted
begin(const KmStepType *type, const char *text)
{
    Fitted fitted = {.ctx = km_context_create(SIZE_MAX)};

    assert_int_equal(km_spec_parse(fitted.ctx, text, strlen(text), &fitted.node), KM_OK);
    fitted.status = km_signature_bind(fitted.ctx, &type->signature, fitted.node, &fitted.args);
    return fitted;
}

static bool
is_resolved(const KmStepType *type, const Fitted *fitted)
{
    bool resolved;

    assert_int_equal(type->is_resolved(fitted->ctx, &fitted->args, &resolved), KM_OK);
    return resolved;
}

static Fitted
fit(const KmStepType *type, const char *text, size_t n, size_t d, const double *x, const double *w)
{
    Fitted fitted = begin(type, text);
    KmContext *ctx = fitted.ctx;

    assert_int_equal(fitted.status, KM_OK);
    if (!is_resolved(type, &fitted))
    {
        fitted.status = type->resolve(ctx, &fitted.args, fitted.node, n, d, x, w);
        if (fitted.status == KM_OK)
            fitted.status = km_signature_bind(ctx, &type->signature, fitted.node, &fitted.args);
    }
    if (fitted.status != KM_OK)
        return fitted;
    assert_true(is_resolved(type, &fitted));
    fitted.status = type->prepare(ctx, &fitted.args, d, &fitted.step);
    return fitted;
}

static void
end(Fitted *fitted)
{
    km_context_destroy(fitted->ctx);
}

static void
assert_text(Fitted *fitted, const char *expected)
{
    KmText text = {0};

    assert_int_equal(fitted->status, KM_OK);
    assert_int_equal(km_spec_print(fitted->ctx, fitted->node, &text), KM_OK);
    assert_string_equal(text.data, expected);
}

static void
assert_maps(Fitted *fitted, const double *x, const double *expected)
{
    double z[MAX_D];

    assert_int_equal(fitted->step.apply(fitted->ctx, &fitted->step, 1, x, z), KM_OK);
    for (size_t j = 0; j < fitted->step.d_out; j++)
        assert_true(z[j] == expected[j]);
}

static void
assert_fails(Fitted *fitted, KmStatus status, const char *part)
{
    assert_int_equal(fitted->status, status);
    assert_non_null(strstr(fitted->ctx->message, part));
    end(fitted);
}

/* ---- scale ---- */

static void
test_scale(void **unused)
{
    const double x[] = {1, 7, 2, 7, 3, 7, 6, 7};        /* deviations -2, -1, 0, 3: variance 14/4 */
    Fitted fitted = fit(&km_step_scale, "scale", 4, 2, x, NULL);
    const double row[] = {6, 8}, expected[] = {3 / sqrt(3.5), 1};

    (void) unused;
    assert_text(&fitted, "scale(mean=[3, 7], sd=[1.8708286933869707, 1])");
    assert_maps(&fitted, row, expected);
    end(&fitted);
}

/* Constant columns are seen exactly, also where their sum is not a double. */
static void
test_scale_of_constant_columns(void **unused)
{
    enum { n = 10007, d = 4 };
    static double x[n * d];
    const double constant[d] = {0.1, 1e15 / 3, -1e-300, 1e300};
    Fitted fitted;

    (void) unused;
    for (size_t i = 0; i < n * d; i++)
        x[i] = constant[i % d];
    fitted = fit(&km_step_scale, "scale", n, d, x, NULL);
    for (size_t j = 0; j < d; j++)
    {
        assert_true(km_arg(&fitted.args, "mean")->list[j] == constant[j]);
        assert_true(km_arg(&fitted.args, "sd")->list[j] == 1);
    }
    end(&fitted);

    for (size_t i = 0; i < n; i++)      /* one unit in the last place is rounding, 1e-9 is not */
    {
        x[i * d] = i % 2 ? 0.1 : nextafter(0.1, 1);
        x[i * d + 1] = 1e6 + (i % 2 ? 1e-3 : 0);
    }
    fitted = fit(&km_step_scale, "scale", n, d, x, NULL);
    assert_true(km_arg(&fitted.args, "sd")->list[0] == 1);
    assert_true(fabs(km_arg(&fitted.args, "sd")->list[1] / 5e-4 - 1) < 1e-6);
    end(&fitted);
}

/* Against long double sums, with weights, at magnitudes whose squares leave the range of doubles. */
static void
test_scale_against_long_double(void **unused)
{
    enum { n = 5000, d = 4 };
    static double x[n * d], w[n];
    const double offset[d] = {0, 1e6, 0, 3e200}, size[d] = {1, 1e-3, 1e-170, 1e200};
    uint64_t seed = 5;
    Fitted fitted;

    (void) unused;
    for (size_t i = 0; i < n; i++)
    {
        w[i] = next_uniform(&seed, 0.1, 5);
        for (size_t j = 0; j < d; j++)
            x[i * d + j] = offset[j] + size[j] * next_uniform(&seed, -1, 1);
    }
    fitted = fit(&km_step_scale, "scale", n, d, x, w);
    assert_int_equal(fitted.status, KM_OK);
    for (size_t j = 0; j < d; j++)
    {
        long double total = 0, mean = 0, square = 0;

        for (size_t i = 0; i < n; i++)
        {
            total += w[i];
            mean += (long double) w[i] * x[i * d + j];
        }
        mean /= total;
        for (size_t i = 0; i < n; i++)
            square += w[i] * (x[i * d + j] - mean) * (x[i * d + j] - mean);
        assert_true(fabsl(km_arg(&fitted.args, "mean")->list[j] - mean) <=
                    1e-15L * fabsl(mean) + 1e-17L * size[j]);
        assert_true(fabsl(km_arg(&fitted.args, "sd")->list[j] / sqrtl(square / total) - 1) < 1e-13L);
    }
    end(&fitted);
}

static void
assert_same_lists(const KmArgs *a, const KmArgs *b, const char *name)
{
    const KmValue *u = km_arg(a, name), *v = km_arg(b, name);

    assert_int_equal(u->rows, v->rows);
    assert_memory_equal(u->list, v->list, u->rows * sizeof *u->list);
}

/* Whole-number weights give the bits of repeated rows. */
static void
check_repeated(const KmStepType *type, const char *text, const char *first, const char *second)
{
    enum { n = 200, d = 3 };
    static double x[n * d], w[n], repeated[n * 4 * d];
    uint64_t seed = 11;
    size_t m = 0;
    Fitted a, b;

    for (size_t i = 0; i < n; i++)
    {
        w[i] = 1 + (double) (next_bits(&seed) % 4);
        for (size_t j = 0; j < d; j++)
            x[i * d + j] = next_uniform(&seed, -10, 20);
        for (size_t k = 0; k < w[i]; k++, m++)
            memcpy(repeated + m * d, x + i * d, d * sizeof *x);
    }
    a = fit(type, text, n, d, x, w);
    b = fit(type, text, m, d, repeated, NULL);
    assert_int_equal(a.status, KM_OK);
    assert_same_lists(&a.args, &b.args, first);
    if (second)
        assert_same_lists(&a.args, &b.args, second);
    end(&a);
    end(&b);
}

static void
test_weights_repeat_rows(void **unused)
{
    (void) unused;
    check_repeated(&km_step_scale, "scale", "mean", "sd");
    check_repeated(&km_step_minmax, "minmax", "min", "max");
    check_repeated(&km_step_impute, "impute", "values", NULL);
    check_repeated(&km_step_impute, "impute(median)", "values", NULL);
}

static void
test_scale_of_huge_values(void **unused)
{
    const double sum[] = {1.7e308, 1.7e308}, range[] = {1.7e308, -1.7e308, -1.7e308};
    Fitted fitted = fit(&km_step_scale, "scale", 2, 1, sum, NULL);

    (void) unused;
    assert_fails(&fitted, KM_RANGE, "the sum of feature 1 is too large");
    fitted = fit(&km_step_scale, "scale", 3, 1, range, NULL);
    assert_fails(&fitted, KM_RANGE, "the range of feature 1 is too large");
}

static void
test_scale_with_constants(void **unused)
{
    const double x[] = {5, 5}, row[] = {3, 1}, expected[] = {1, -0.25};
    Fitted fitted = fit(&km_step_scale, "scale(sd=[2, 4], mean=[1, 2])", 1, 2, x, NULL);

    (void) unused;
    assert_text(&fitted, "scale(mean=[1, 2], sd=[2, 4])");
    assert_maps(&fitted, row, expected);
    end(&fitted);
    fitted = fit(&km_step_scale, "scale(mean=[1], sd=[1])", 1, 2, x, NULL);
    assert_fails(&fitted, KM_DIMENSION, "scale expects 1 feature, got 2");
    fitted = fit(&km_step_scale, "scale(mean=[1, 2])", 1, 2, x, NULL);
    assert_fails(&fitted, KM_INVALID, "must be given together");
    fitted = begin(&km_step_scale, "scale(mean=[1], sd=[0])");
    assert_fails(&fitted, KM_INVALID, "greater than 0");
}

/* ---- minmax ---- */

static void
test_minmax(void **unused)
{
    const double x[] = {1, 4, -3, 4, 5, 4}, row[] = {-3, 9}, above[] = {9, 4};
    const double zeros[] = {0, 0}, expected[] = {1.5, 0};
    Fitted fitted = fit(&km_step_minmax, "minmax", 3, 2, x, NULL);

    (void) unused;
    assert_text(&fitted, "minmax(min=[-3, 4], max=[5, 4])");
    assert_maps(&fitted, row, zeros);
    assert_maps(&fitted, above, expected);
    end(&fitted);
    fitted = fit(&km_step_minmax, "minmax(min=[2], max=[1])", 1, 1, x, NULL);
    assert_fails(&fitted, KM_INVALID, "max 1 below min 2");
}

static void
test_minmax_of_huge_values(void **unused)
{
    const double x[] = {1.7e308, -1.7e308};
    Fitted fitted = fit(&km_step_minmax, "minmax", 2, 1, x, NULL);

    (void) unused;
    assert_fails(&fitted, KM_RANGE, "the range of feature 1 is too large");
}

/* ---- impute ---- */

static void
test_impute_mean(void **unused)
{
    const double x[] = {1, M, M, 10, 3, M, 8, 4}, w[] = {1, 5, 2, 1};
    const double row[] = {M, M}, expected[] = {3.75, 8}, same[] = {-1, 1e300};
    Fitted fitted = fit(&km_step_impute, "impute", 4, 2, x, w);

    (void) unused;                      /* (1 + 2*3 + 8) / 4, (5*10 + 4) / 6 = 9 */
    assert_text(&fitted, "impute(values=[3.75, 9])");
    assert_true(km_arg(&fitted.args, "values")->list[0] == expected[0]);
    assert_maps(&fitted, same, same);
    end(&fitted);
    fitted = fit(&km_step_impute, "impute(values=[3.75, 8])", 4, 2, x, NULL);
    assert_maps(&fitted, row, expected);
    end(&fitted);
}

static void
test_impute_median(void **unused)
{
    const double x[] = {5, 1, 1, M, M, 2, -2, 4, 9, 3};        /* -2 1 5 9, and 1 2 3 4 */
    const double w[] = {1, 1, 1, 1, 2};                         /* -2 1 5 9 9, and 1 2 3 3 4 */
    Fitted fitted = fit(&km_step_impute, "impute(median)", 5, 2, x, NULL);

    (void) unused;
    assert_text(&fitted, "impute(values=[3, 2.5])");
    end(&fitted);
    fitted = fit(&km_step_impute, "impute(value=MEDIAN)", 5, 2, x, w);
    assert_text(&fitted, "impute(values=[5, 3])");
    end(&fitted);
}

static void
test_impute_number(void **unused)
{
    const double x[] = {M, M}, expected[] = {-1.5, -1.5};
    Fitted fitted = fit(&km_step_impute, "impute(-1.5)", 1, 2, x, NULL);

    (void) unused;
    assert_text(&fitted, "impute(value=-1.5)");
    assert_maps(&fitted, x, expected);
    end(&fitted);
}

static void
test_impute_errors(void **unused)
{
    const double x[] = {1, M, 2, M};
    Fitted fitted = fit(&km_step_impute, "impute", 2, 2, x, NULL);

    (void) unused;
    assert_fails(&fitted, KM_DATA, "feature 2 is NULL in all rows, so it has no mean");
    fitted = fit(&km_step_impute, "impute(median)", 2, 2, x, NULL);
    assert_fails(&fitted, KM_DATA, "feature 2 is NULL in all rows, so it has no median");
    fitted = begin(&km_step_impute, "impute(0, values=[1])");
    assert_fails(&fitted, KM_INVALID, "only one of");
    fitted = begin(&km_step_impute, "impute(mode)");
    assert_fails(&fitted, KM_INVALID, "must be a number or one of mean, median");
}

/* ---- all ---- */

/* Blocks and single rows give the same bits. */
static void
test_blocks(void **unused)
{
    static const KmStepType *const types[] = {&km_step_scale, &km_step_minmax, &km_step_impute};
    static const char *const texts[] = {"scale", "minmax", "impute"};
    enum { n = KM_SCORE_ROWS, d = 3 };
    double x[n * d], block[n * d], row[d];
    uint64_t seed = 9;

    (void) unused;
    for (size_t i = 0; i < n * d; i++)
        x[i] = next_uniform(&seed, -4, 9);
    for (size_t t = 0; t < 3; t++)
    {
        Fitted fitted = fit(types[t], texts[t], n, d, x, NULL);

        assert_int_equal(fitted.step.apply(fitted.ctx, &fitted.step, n, x, block), KM_OK);
        for (size_t i = 0; i < n; i++)
        {
            assert_int_equal(fitted.step.apply(fitted.ctx, &fitted.step, 1, x + i * d, row), KM_OK);
            assert_memory_equal(row, block + i * d, sizeof row);
        }
        end(&fitted);
    }
}

static bool
stop_at_once(KmContext *ctx)
{
    (void) ctx;
    return true;
}

static void
test_learning_polls(void **unused)
{
    static const KmStepType *const types[] = {&km_step_scale, &km_step_minmax, &km_step_impute,
        &km_step_impute};
    static const char *const texts[] = {"scale", "minmax", "impute", "impute(median)"};
    const double x[] = {1, 2};

    (void) unused;
    for (size_t t = 0; t < 4; t++)
    {
        Fitted fitted = begin(types[t], texts[t]);

        fitted.ctx->poll = stop_at_once;
        assert_int_equal(types[t]->resolve(fitted.ctx, &fitted.args, fitted.node, 2, 1, x, NULL),
                         KM_CANCELLED);
        end(&fitted);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_scale_of_constant_columns),
        cmocka_unit_test(test_scale_against_long_double),
        cmocka_unit_test(test_weights_repeat_rows),
        cmocka_unit_test(test_scale_of_huge_values),
        cmocka_unit_test(test_scale_with_constants),
        cmocka_unit_test(test_minmax),
        cmocka_unit_test(test_minmax_of_huge_values),
        cmocka_unit_test(test_impute_mean),
        cmocka_unit_test(test_impute_median),
        cmocka_unit_test(test_impute_number),
        cmocka_unit_test(test_impute_errors),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_learning_polls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
