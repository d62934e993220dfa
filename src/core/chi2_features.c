/*
 * chi2_features.c: a sampled spectrum of the chi-square kernel, the step additive_chi2_features.
 *
 * In each column 2xz / (x + z) = sqrt(xz) int cos(w log(x/z)) sech(pi w) dw (Vedaldi, Zisserman 2012),
 * sampled at w = 0, L, 2L, …, nL:
 *   sqrt(x L),  sqrt(2 x L sech(pi j L)) cos(j L log x),  sqrt(2 x L sech(pi j L)) sin(j L log x),
 * j = 1 … n: 2n + 1 features a column, column after column; zeros where x = 0.  The same map as
 * scikit-learn's AdditiveChi2Sampler with sample_steps = n + 1, whose features stand in another order.
 */
#include <math.h>

#include "approximation.h"
#include "learner_types.h"
#include "step.h"
#include "vmath.h"

#define PI 3.14159265358979323846
#define MAX_PER_COLUMN 101      /* odd */

typedef struct Chi2
{
    size_t n;                   /* frequencies above 0 */
    double interval;            /* L */
    double factor[MAX_PER_COLUMN / 2 + 1];      /* sqrt(L), sqrt(2 L sech(pi j L)) */
    const KmKernel *kernel;     /* what is approximated */
} Chi2;

/* ---- features ---- */

static KmStatus
check_domain(KmContext *ctx, size_t m, size_t d, const double *x)
{
    for (size_t i = 0; i < m * d; i++)
        if (x[i] < 0)
            return km_fail(ctx, KM_DATA,
                           "additive_chi2_features needs numbers that are not negative, feature %zu is %g",
                           i % d + 1, x[i]);
    return KM_OK;
}

/* z: 2n + 1 features of one column. */
static void
map_value(const Chi2 *chi2, double x, double *z)
{
    double root = sqrt(x), angle, sine, cosine;

    z[0] = root * chi2->factor[0];
    for (size_t j = 1; j <= chi2->n; j++)
    {
        angle = x > 0 ? (double) j * chi2->interval * km_log1(x) : 0;
        km_sincos(1, &angle, &sine, &cosine);
        z[2 * j - 1] = root * chi2->factor[j] * cosine;
        z[2 * j] = root * chi2->factor[j] * sine;
    }
}

static KmStatus
apply(KmContext *ctx, const KmStep *step, size_t m, const double *x, double *z)
{
    const Chi2 *chi2 = step->state;
    size_t width = 2 * chi2->n + 1;

    KM_TRY(check_domain(ctx, m, step->d_in, x));
    for (size_t i = 0; i < m * step->d_in; i++)
        map_value(chi2, x[i], z + i * width);
    return KM_OK;
}

/* ---- made ready ---- */

/* The intervals that scikit-learn takes for one, two and three frequencies. */
static KmStatus
choose_interval(KmContext *ctx, const KmArgs *args, size_t n, double *out)
{
    static const double standard[] = {0.8, 0.5, 0.4};

    *out = km_arg_number(args, "interval");
    if (!isnan(*out))
        return KM_OK;
    if (n >= sizeof standard / sizeof *standard)
    {
        km_fail(ctx, KM_INVALID, "additive_chi2_features with n_components = %zu needs an interval",
                2 * n + 1);
        return km_hint(ctx, KM_INVALID, "Give one, smaller for more components: additive_chi2_features(%zu, "
                       "interval=0.3).", 2 * n + 1);
    }
    *out = standard[n];
    return KM_OK;
}

static KmStatus
check(KmContext *ctx, const KmArgs *args)
{
    size_t width = (size_t) km_arg_number(args, "n_components");
    double interval;

    if (width % 2 == 0)
        return km_fail(ctx, KM_INVALID, "n_components of additive_chi2_features must be odd, got %zu", width);
    return choose_interval(ctx, args, width / 2, &interval);
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, size_t d, KmStep *out)
{
    size_t width = (size_t) km_arg_number(args, "n_components");
    Chi2 *chi2;

    KM_TRY(km_alloc_zero(ctx, 1, &chi2));
    chi2->n = width / 2;
    KM_TRY(choose_interval(ctx, args, chi2->n, &chi2->interval));
    KM_TRY(km_kernel_parse(ctx, "chi2_mercer", 11, (KmKernel **) &chi2->kernel));
    for (size_t j = 0; j <= chi2->n; j++)
    {
        double e = km_exp1(-PI * (double) j * chi2->interval), sech = 2 * e / (1 + e * e);

        chi2->factor[j] = sqrt((j == 0 ? 1 : 2) * chi2->interval * sech);
    }
    *out = (KmStep) {.d_in = d, .d_out = d * width, .state = chi2, .apply = apply};
    return KM_OK;
}

static KmStatus
describe(KmContext *ctx, const KmArgs *args, const KmStep *step, size_t n, const double *x, KmModel *model)
{
    const Chi2 *chi2 = step->state;

    (void) args;
    return n == 0 ? KM_OK : km_approximation_error(ctx, chi2->kernel, step, n, x, model);
}

const KmStepType km_step_additive_chi2_features = {
    .signature = {
        .name = "additive_chi2_features",
        .what = "step",
        .params = {
            {.name = "n_components", .kinds = KM_KIND_INTEGER, .standard = "3", .min = 1,
             .max = MAX_PER_COLUMN, .positional = true},
            {.name = "interval", .kinds = KM_KIND_NUMBER, .min = 0, .max = 10, .open = true,
             .positional = true},
        },
    },
    .check = check,
    .is_resolved = km_step_has_no_constants,
    .prepare = prepare,
    .describe = describe,
};
