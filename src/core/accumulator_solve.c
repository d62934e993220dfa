/*
 * accumulator_solve.c: ridge regression from an accumulator.
 *
 * The sums of whole numbers give the centred normal equations without loss, however large the means:
 * each n Z'Z_ij - s_i s_j is a difference of two products made by Kahan's algorithm with fused multiply-adds
 * (Jeannerod, Louvet, Muller 2013: within 1.5 ulp).  Targets are kept in units of their top slice until the
 * end, so that none overflows on the way.
 */
#include "accumulator.h"

#include <math.h>
#include <string.h>

#include "feature_map.h"
#include "learner_types.h"
#include "ridge.h"
#include "sums_layout.h"

/* ---- sums to normal equations ---- */

typedef struct Equations
{
    const KmSums *sums;
    double n;                   /* total weight */
    double factor;              /* true features over whole numbers */
    bool centred;
} Equations;

static double
sum_of_products(const Equations *equations, size_t i, size_t j)
{
    return i >= j ? km_sums_row(equations->sums, i)[j] : km_sums_row(equations->sums, j)[i];
}

/* Sum of column i. */
static double
sum_of(const Equations *equations, size_t i)
{
    return sum_of_products(equations, equations->sums->features, i);
}

/* a b - c d. */
static double
difference_of_products(double a, double b, double c, double d)
{
    double cd = c * d;

    return fma(a, b, -cd) - fma(c, d, -cd);
}

/* The product of columns i and j, centred if there is an intercept. */
static double
product(const Equations *equations, size_t i, size_t j)
{
    double p = sum_of_products(equations, i, j);

    if (!equations->centred)
        return p;
    return difference_of_products(p, equations->n, sum_of(equations, i), sum_of(equations, j)) / equations->n;
}

/* A target's value from those of its slices, the smallest first, in units of the top one. */
static double
join_slices(const double *slice)
{
    double y = 0;

    for (size_t b = KM_SLICES; b-- > 0;)
        y = y * 0x1p-12 + slice[b];
    return y;
}

/* Z'y of feature j and target t. */
static double
product_with_target(const Equations *equations, size_t j, size_t t)
{
    double slice[KM_SLICES];

    for (size_t b = 0; b < KM_SLICES; b++)
        slice[b] = product(equations, km_sums_slices(equations->sums, t) + b, j);
    return join_slices(slice);
}

static double
mean_of_target(const Equations *equations, size_t t)
{
    double slice[KM_SLICES];

    for (size_t b = 0; b < KM_SLICES; b++)
        slice[b] = sum_of(equations, km_sums_slices(equations->sums, t) + b);
    return join_slices(slice) / equations->n;
}

static KmStatus
write_equations(KmContext *ctx, const Equations *equations, KmRidge *ridge)
{
    double f = equations->factor;

    for (size_t i = 0; i < ridge->d; i++)
    {
        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j <= i; j++)
            ridge->a[i * ridge->d + j] = f * f * product(equations, i, j);
        for (size_t t = 0; t < ridge->m; t++)
            ridge->b[i * ridge->m + t] = f * product_with_target(equations, i, t);
    }
    return KM_OK;
}

/* ---- the solution in true units ---- */

static void
finish(const Equations *equations, KmRidge *ridge, double *intercept)
{
    for (size_t t = 0; t < ridge->m; t++)
    {
        int32_t top = km_sums_top(equations->sums)[t];
        int exponent = top == KM_NO_SLICE ? 0 : KM_SLICE_BITS * top;
        double shift = 0;

        for (size_t j = 0; j < ridge->d; j++)
        {
            double *w = &ridge->b[j * ridge->m + t];

            shift += *w * (equations->factor * sum_of(equations, j) / equations->n);
            *w = ldexp(*w, exponent);
        }
        intercept[t] = equations->centred ? ldexp(mean_of_target(equations, t) - shift, exponent) : 0;
    }
}

/* ---- the model ---- */

static KmStatus
check_estimator(KmContext *ctx, const KmLearner *learner)
{
    if (learner->estimator != &km_estimator_ridge)
        return km_fail(ctx, KM_UNSUPPORTED, "a model can be solved from sums for ridge only, not for %s",
                       learner->estimator == NULL ? "feature steps alone"
                       : learner->estimator->signature.name);
    if (km_arg(&learner->args, "lambda")->grid)
        return km_fail(ctx, KM_UNSUPPORTED, "lambda of ridge must be one number here, not a grid");
    return KM_OK;
}

/* The steps, if the learner has any, must be those of the sums. */
static KmStatus
check_steps(KmContext *ctx, const KmLearner *learner, const KmSums *sums)
{
    KmText text = {0};

    if (learner->n_steps == 0)
        return KM_OK;
    KM_TRY(km_feature_map_text(ctx, learner, &text));
    if (text.length == sums->learner_bytes && memcmp(text.data, km_sums_learner(sums), text.length) == 0)
        return KM_OK;
    km_fail(ctx, KM_INVALID, "the learner's feature steps are not those of the accumulator");
    return km_detail(ctx, KM_INVALID, "The learner has %.400s, the accumulator %.*s.", text.data,
                     (int) (sums->learner_bytes < 400 ? sums->learner_bytes : 400), km_sums_learner(sums));
}

/* The factor of the sums' own map, after a check that it is a map of these dimensions. */
static KmStatus
read_map(KmContext *ctx, const KmSums *sums, double *factor)
{
    KmLearner *learner;
    KmFeatureMap *map;

    KM_TRY(km_learner_parse(ctx, km_sums_learner(sums), sums->learner_bytes, &learner));
    KM_TRY(km_feature_map_create(ctx, learner, sums->d, sums->targets, &map));
    if (map->features != sums->features)
        return km_fail(ctx, KM_CORRUPT, "accumulator of %u features, but its map makes %zu", sums->features,
                       map->features);
    *factor = map->factor;
    return KM_OK;
}

static KmStatus
new_model(KmContext *ctx, const KmLearner *learner, const KmSums *sums, KmModel **out)
{
    KmText text = {0};
    KmLearner *full;

    KM_TRY(km_learner_with_defaults(ctx, learner, &full));
    KM_TRY(km_model_create(ctx, out));
    KM_TRY(km_text_add(ctx, &text, km_sums_learner(sums), sums->learner_bytes));
    KM_TRY(km_text_add(ctx, &text, " | ", 3));
    KM_TRY(km_spec_print(ctx, full->estimator_node, &text));
    (*out)->learner = text.data;
    (*out)->n_rows = sums->n_rows;
    (*out)->n_skipped = sums->n_skipped;
    (*out)->n_features = sums->d;
    return KM_OK;
}

static KmStatus
solve(KmContext *ctx, const KmLearner *learner, const KmSums *sums, double factor, KmModel **out)
{
    Equations equations = {.sums = sums, .n = km_sums_row(sums, sums->features)[sums->features],
                           .factor = factor, .centred = km_arg_number(&learner->args, "intercept") != 0};
    double *intercept;
    KmRidge *ridge;

    if (!(equations.n > 0))
        return km_fail(ctx, KM_CORRUPT, "accumulator of rows whose weights sum to %g", equations.n);
    KM_TRY(km_ridge_create(ctx, sums->features, sums->targets, &ridge));
    KM_TRY(km_alloc(ctx, sums->targets, &intercept));
    KM_TRY(write_equations(ctx, &equations, ridge));
    KM_TRY(km_ridge_solve(ctx, ridge, km_arg_number(&learner->args, "lambda")));
    finish(&equations, ridge, intercept);
    km_free(ctx, ridge->a);
    KM_TRY(new_model(ctx, learner, sums, out));
    return km_ridge_store(ctx, ridge, intercept, *out);
}

KmStatus
km_sums_solve(KmContext *ctx, const KmLearner *learner, const KmSums *sums, KmModel **out)
{
    double factor = 0;

    *out = NULL;
    KM_TRY(check_estimator(ctx, learner));
    KM_TRY(check_steps(ctx, learner, sums));
    if (sums->waiting > 0)
        return km_fail(ctx, KM_INTERNAL, "an accumulator must be flushed before it is solved");
    if (sums->n_rows == 0)
        return KM_OK;
    KM_TRY(read_map(ctx, sums, &factor));
    return solve(ctx, learner, sums, factor, out);
}

KmStatus
km_sums_fit(KmContext *ctx, const KmLearner *learner, const KmTable *table, KmModel **out)
{
    KmFeatureMap *map;
    KmSums *sums;
    size_t bytes;

    *out = NULL;
    KM_TRY(check_estimator(ctx, learner));
    KM_TRY(km_feature_map_create(ctx, learner, table->d, table->n_targets, &map));
    bytes = km_sums_full_bytes(map);
    KM_TRY(km_reserve(ctx, (double) bytes, "the sums of random Fourier features", "Use fewer components."));
    KM_TRY(km_alloc_bytes(ctx, bytes, 1, (void **) &sums));
    km_sums_init(map, bytes, sums);
    sums->n_skipped = table->n_skipped;
    for (size_t i = 0; i < table->n; i++)
        KM_TRY(km_sums_add(ctx, map, sums, table->x + i * table->d, table->y + i * table->n_targets,
                           table->w == NULL ? 1 : table->w[i]));
    KM_TRY(km_sums_flush(ctx, map, sums));
    if (sums->n_rows == 0)
        return KM_OK;
    KM_TRY(solve(ctx, learner, sums, map->factor, out));
    km_free(ctx, sums);
    return KM_OK;
}
