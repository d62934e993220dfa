/*
 * context_support.h: a context for each test or group of tests, whose warnings are counted and the last one
 * kept; numbers in it.
 */
#ifndef KM_TEST_CONTEXT_SUPPORT_H
#define KM_TEST_CONTEXT_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "context.h"
#include "numbers.h"

static KmContext *ctx;          /* the state of cmocka, too */
static char warning[200];
static int warnings;

static inline void
keep_warning(KmContext *context, const char *message)
{
    (void) context;
    snprintf(warning, sizeof warning, "%s", message);
    warnings++;
}

static inline int
set_up(void **state)
{
    *state = ctx = km_context_create(SIZE_MAX);
    if (ctx != NULL)
        ctx->warn = keep_warning;
    return ctx == NULL;
}

static inline int
tear_down(void **state)
{
    (void) state;
    km_context_destroy(ctx);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static inline double *
new_doubles(size_t n)
{
    double *out;

    assert_int_equal(km_alloc_zero(ctx, n, &out), KM_OK);
    return out;
}

static inline double *
uniforms(size_t n, double low, double high, uint64_t seed)
{
    double *out = new_doubles(n);

    for (size_t i = 0; i < n; i++)
        out[i] = next_uniform(&seed, low, high);
    return out;
}

static inline void
assert_close(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance * fmax(1.0, fabs(expected))))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

#endif
