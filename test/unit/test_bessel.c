/*
 * test_bessel.c: the Matérn function against 50 digits, its closed forms, its limits.
 */
#include "context_support.h"

#include "bessel.h"
#include "matern_reference.h"

static KmMatern *
create(KmContext *ctx, double nu)
{
    KmMatern *matern;

    assert_int_equal(km_matern_create(ctx, nu, &matern), KM_OK);
    return matern;
}

static double
value(const KmMatern *matern, double s)
{
    double out;

    km_matern_values(matern, 1, &s, &out);
    return out;
}

static double
slope(const KmMatern *matern, double s)
{
    double out;

    km_matern_slopes(matern, 1, &s, &out);
    return out;
}

static void
test_reference(void **state)
{
    for (size_t i = 0; i < N_MATERN_REFERENCE; i++)
    {
        double nu = matern_reference[i].nu, s = matern_reference[i].s, expected = matern_reference[i].value;
        const KmMatern *matern = create(*state, nu);

        if (!(fabs(value(matern, s) - expected) <= 1e-12 * expected))
            fail_msg("nu %g s %g: %.17g for %.17g", nu, s, value(matern, s), expected);
        km_context_reset(*state);
    }
}

/* Relative, or absolute where two values of M are subtracted. */
static void
test_slopes(void **state)
{
    for (size_t i = 0; i < N_MATERN_REFERENCE; i++)
    {
        double nu = matern_reference[i].nu, s = matern_reference[i].s, expected = matern_reference[i].slope;
        const KmMatern *matern = create(*state, nu);

        if (!(fabs(slope(matern, s) - expected) <= fmax(1e-12 * fabs(expected), 1e-14)))
            fail_msg("nu %g s %g: %.17g for %.17g", nu, s, slope(matern, s), expected);
        km_context_reset(*state);
    }
}

/* nu = 1/2, 3/2, 5/2, everywhere that the grids change. */
static void
test_closed_forms(void **state)
{
    const KmMatern *half = create(*state, 0.5), *three = create(*state, 1.5), *five = create(*state, 2.5);

    for (double s = 1e-12; s < 705; s *= 1.07)
    {
        double decay = (double) expl(-(long double) s);

        assert_true(fabs(value(half, s) / decay - 1) < 1e-14);
        assert_true(fabs(value(three, s) / (1 + s) / decay - 1) < 1e-14);
        assert_true(fabs(value(five, s) / (1 + s + s * s / 3) / decay - 1) < 1e-14);
    }
}

/* Far out, at 0, infinite, not a number; nu to infinity is the Gaussian exp(-r^2 / 2). */
static void
test_limits(void **state)
{
    static const double orders[] = {1e-12, 0.3, 1, 4.2, 100, 101, 1e6, 1e15, 1e300};

    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
    {
        const KmMatern *matern = create(*state, orders[i]);

        assert_true(value(matern, 0) == 1 && slope(matern, 0) == 0);
        assert_true(value(matern, INFINITY) == 0 && slope(matern, INFINITY) == 0);
        assert_true(value(matern, 1e308) >= 0 && value(matern, 1e308) <= 1);
        assert_true(value(matern, 5e-324) <= 1 && value(matern, 5e-324) > 0);
        assert_true(isnan(value(matern, NAN)) && isnan(slope(matern, NAN)));
    }
    for (double r = 0.01; r < 30; r *= 1.5)
        assert_true(fabs(value(create(*state, 1e15), sqrt(2e15) * r) - exp(-r * r / 2)) < 1e-14);
}

/* M falls in s; a step where one method takes over from another would show. */
static void
test_monotone(void **state)
{
    static const double orders[] = {0.05, 0.6, 1, 2.7, 30, 99.5, 100.5};

    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
    {
        const KmMatern *matern = create(*state, orders[i]);
        double last = 1;

        for (double s = 1e-9; s < 800; s *= 1.003)
        {
            assert_true(value(matern, s) <= last * (1 + 1e-14));
            last = value(matern, s);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reference),
        TEST(test_slopes),
        TEST(test_closed_forms),
        TEST(test_limits),
        TEST(test_monotone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
