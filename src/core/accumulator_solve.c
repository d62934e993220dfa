/*
 * accumulator_solve.c: ridge regression from an accumulator, and the errors of a linear model on one.
 */
#include "accumulator.h"

#include <math.h>
#include <string.h>

#include "feature_map.h"
#include "learner_types.h"
#include "linear.h"
#include "ridge.h"
#include "sums_products.h"

#define HALF_THE_DIGITS 1e-8
#define STEPS_SIZE 400          /* of steps in messages */

/* ---- digits ---- */

/* Has rounding left fewer than half of the digits of `rest`, what centring left of `square`?  A column that
 * is constant to the last bit has lost nothing. */
static bool
lost_digits(double error, double square, double rest, double lambda)
{
    return rest != 0 && error * square > HALF_THE_DIGITS * (rest + lambda);
}

static void
warn_of_rounding(KmContext *ctx, const KmProducts *products, double lambda)
{
    const KmSums *sums = products->sums;
    KmProducts whole = *products;
    double error = km_products_error(products);

    whole.centred = false;
    if (sums->flags & KM_SUMS_TRUNCATED)
        km_warn(ctx, "solve: low digits of small targets were dropped beside large ones subtracted since");
    for (size_t j = 0; j < sums->features && error > 0; j++)
        if (lost_digits(error, km_product(&whole, j, j), km_product(products, j, j), lambda))
        {
            km_warn(ctx, "solve: rounding has cost more than half of the digits of feature %zu; "
                    "scale the features, or accumulate anew without subtracting", j + 1);
            return;
        }
    for (size_t t = 0; t < sums->targets && error > 0; t++)
        if (lost_digits(error, km_product_of_target(&whole, t), km_product_of_target(products, t), 0))
        {
            km_warn(ctx, "solve: rounding has cost more than half of the digits of target %zu; "
                    "take its mean away, or accumulate anew without subtracting", t + 1);
            return;
        }
}

/* ---- normal equations, and the solution in true units ---- */

static KmStatus
write_equations(KmContext *ctx, const KmProducts *products, KmRidge *ridge)
{
    int *exponent;

    KM_TRY(km_alloc(ctx, ridge->m, &exponent));
    ridge->n = products->n;
    ridge->centred = products->centred;
    ridge->exponent = exponent;
    for (size_t t = 0; t < ridge->m; t++)
    {
        exponent[t] = km_target_exponent(products, t);
        ridge->square[t] = km_product_of_target(products, t);
    }
    for (size_t i = 0; i < ridge->d; i++)
    {
        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j <= i; j++)
            ridge->a[i * ridge->d + j] = km_product(products, i, j);
        for (size_t t = 0; t < ridge->m; t++)
            ridge->b[i * ridge->m + t] = km_product_with_target(products, i, t);
    }
    return KM_OK;
}

static void
finish(const KmProducts *products, KmRidge *ridge, double *intercept)
{
    for (size_t t = 0; t < ridge->m; t++)
    {
        int exponent = ridge->exponent[t];
        double shift = 0;

        for (size_t j = 0; j < ridge->d; j++)
        {
            double *w = &ridge->b[j * ridge->m + t];

            shift += *w * km_feature_mean(products, j);
            *w = ldexp(*w, exponent);
        }
        intercept[t] = products->centred ? ldexp(km_target_mean(products, t) - shift, exponent) : 0;
    }
}

/* ---- the model ---- */

static KmStatus
check_estimator(KmContext *ctx, const KmLearner *learner)
{
    if (learner->estimator != &km_estimator_ridge)
    {
        km_fail(ctx, KM_UNSUPPORTED, "sums are solved for ridge, not for %s", km_learner_name(learner));
        return km_hint(ctx, KM_UNSUPPORTED, "End the learner with ridge, or fit it to the rows.");
    }
    if (learner->has_grid)
        return km_fail(ctx, KM_UNSUPPORTED, "lambda of ridge must be one number here, not a grid");
    return KM_OK;
}

/* Steps in out[STEPS_SIZE]. */
static const char *
quote_steps(size_t length, const char *text, char *out)
{
    return length == 0 ? "no steps" : km_quote_part(length, text, STEPS_SIZE, out);
}

/* The steps, if the learner has any, must be those of the sums. */
static KmStatus
check_steps(KmContext *ctx, const KmLearner *learner, const KmSums *sums)
{
    KmText text = {0};
    char own[STEPS_SIZE], others[STEPS_SIZE];

    KM_TRY(km_feature_map_text(ctx, learner, &text));
    if (text.length == sums->learner_bytes && memcmp(text.data, km_sums_learner(sums), text.length) == 0)
        return KM_OK;
    km_fail(ctx, KM_INVALID, "the learner's feature steps are not those of the accumulator");
    return km_detail(ctx, KM_INVALID, "The learner has %s, the accumulator %s.",
                     quote_steps(text.length, text.data, own),
                     quote_steps(sums->learner_bytes, km_sums_learner(sums), others));
}

static KmStatus
new_model(KmContext *ctx, const KmLearner *learner, const KmSums *sums, const KmRidgeChoice *choice,
          KmModel **out)
{
    KmText text = {0};
    KmLearner *full;

    KM_TRY(km_learner_with_defaults(ctx, learner, &full));
    KM_TRY(km_ridge_write_choice(ctx, &learner->args, choice, full->estimator_node));
    KM_TRY(km_model_create(ctx, out));
    KM_TRY(km_text_add(ctx, &text, km_sums_learner(sums), sums->learner_bytes));
    KM_TRY(km_text_add(ctx, &text, " | ", sums->learner_bytes > 0 ? 3 : 0));
    KM_TRY(km_spec_print(ctx, full->estimator_node, &text));
    (*out)->learner = text.data;
    (*out)->n_rows = sums->n_rows;
    (*out)->n_skipped = sums->n_skipped;
    (*out)->n_features = sums->d;
    return km_ridge_add_facts(ctx, &learner->args, choice, *out);
}

/* What the last step says of itself. */
static KmStatus
describe_map(KmContext *ctx, const KmProducts *products, KmModel *model)
{
    const KmLearner *steps = products->steps;
    const KmStage *last = steps->n_steps > 0 ? &steps->step[steps->n_steps - 1] : NULL;

    if (last == NULL || last->type->describe == NULL)
        return KM_OK;
    return last->type->describe(ctx, &last->args, &products->map->step[steps->n_steps - 1], 0, NULL, model);
}

static KmStatus
solve(KmContext *ctx, const KmLearner *learner, const KmProducts *products, KmModel **out)
{
    const KmSums *sums = products->sums;
    KmRidgeChoice choice;
    double *intercept;
    KmRidge *ridge;

    KM_TRY(km_ridge_create(ctx, sums->features, sums->targets, &ridge));
    KM_TRY(km_alloc(ctx, sums->targets, &intercept));
    KM_TRY(write_equations(ctx, products, ridge));
    KM_TRY(km_ridge_choose(ctx, &learner->args, ridge, &choice));
    warn_of_rounding(ctx, products, choice.lambda);
    KM_TRY(km_ridge_solve(ctx, ridge, choice.lambda));
    finish(products, ridge, intercept);
    km_free(ctx, ridge->a);
    KM_TRY(new_model(ctx, learner, sums, &choice, out));
    KM_TRY(describe_map(ctx, products, *out));
    KM_TRY(km_linear_store(ctx, "ridge", sums->features, sums->targets, ridge->b, intercept, *out));
    return products->map->n_steps == 0 ? KM_OK
        : km_linear_store_plain(ctx, &products->map->step[products->map->n_steps - 1], *out);
}

KmStatus
km_sums_solve(KmContext *ctx, const KmLearner *learner, const KmSums *sums, KmModel **out)
{
    KmProducts products;

    *out = NULL;
    KM_TRY(check_estimator(ctx, learner));
    if (learner->n_steps > 0)
        KM_TRY(check_steps(ctx, learner, sums));
    if (sums->waiting > 0)
        return km_fail(ctx, KM_INTERNAL, "an accumulator must be flushed before it is solved");
    if (sums->n_rows == 0)
        return KM_OK;
    KM_TRY(km_products_open(ctx, sums, &products));
    products.centred = km_arg_number(&learner->args, "intercept") != 0;
    return solve(ctx, learner, &products, out);
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
    KM_TRY(km_sums_reserve(ctx, map));
    KM_TRY(km_alloc_bytes(ctx, bytes, 1, (void **) &sums));
    KM_TRY(km_sums_init(ctx, map, bytes, sums));
    sums->n_skipped = table->n_skipped;
    for (size_t i = 0; i < table->n; i++)
        KM_TRY(km_sums_add(ctx, map, sums, table->x + i * table->d, table->y + i * table->n_targets,
                           km_table_weight(table, i)));
    KM_TRY(km_sums_flush(ctx, map, sums));
    KM_TRY(km_sums_solve(ctx, learner, sums, out));
    km_free(ctx, sums);
    return KM_OK;
}

/* ---- errors of a model on rows known by their sums only ---- */

/* The coefficients of a ridge model whose steps are those of the sums. */
static KmStatus
read_coefficients(KmContext *ctx, const KmModel *model, const KmSums *sums, const double **w,
                  const double **b)
{
    const KmArray *coefficients = km_model_array(model, "coef"), *intercept;
    KmLearner *learner;

    KM_TRY(km_learner_parse(ctx, model->learner, strlen(model->learner), &learner));
    if (learner->estimator != &km_estimator_ridge)
    {
        km_fail(ctx, KM_UNSUPPORTED, "squared_error needs a model of ridge, not %s",
                km_learner_name(learner));
        return km_hint(ctx, KM_UNSUPPORTED,
                       "Sums tell the errors of ridge only; those of others need the rows.");
    }
    KM_TRY(check_steps(ctx, learner, sums));
    if (coefficients != NULL && coefficients->columns != sums->targets)
        return km_fail(ctx, KM_INVALID, "the model has %zu target%s, the accumulator %u",
                       coefficients->columns, km_plural(coefficients->columns), sums->targets);
    KM_TRY(km_model_expect(ctx, model, "coef", sums->features, sums->targets, &coefficients));
    KM_TRY(km_model_expect(ctx, model, "intercept", 1, sums->targets, &intercept));
    *w = coefficients->data;
    *b = intercept->data;
    return KM_OK;
}

/* sum (y - w'z - b)^2 = (yy - w'zy) - w'(zy - zz w) + n (mean of y - w'z - b)^2, products centred, in the
 * units of the target. */
static KmStatus
target_error(KmContext *ctx, const KmProducts *products, size_t t, const double *w, double b,
             KmSumsError *out)
{
    size_t d = products->sums->features, m = products->sums->targets;
    int exponent = km_target_exponent(products, t);
    double square = km_product_of_target(products, t), sse = square;
    double bias = km_target_mean(products, t) - ldexp(b, -exponent);

    for (size_t j = 0; j < d; j++)
    {
        double wj = ldexp(w[j * m + t], -exponent), zy = km_product_with_target(products, j, t), rest = zy;

        KM_TRY(km_poll(ctx));
        for (size_t k = 0; k < d; k++)
            rest -= km_product(products, j, k) * ldexp(w[k * m + t], -exponent);
        sse -= wj * (zy + rest);
        bias -= wj * km_feature_mean(products, j);
    }
    out->sse += ldexp(fmax(sse, 0) + products->n * bias * bias, 2 * exponent);
    out->sst += ldexp(square, 2 * exponent);
    return KM_OK;
}

KmStatus
km_sums_error(KmContext *ctx, const KmModel *model, const KmSums *sums, KmSumsError *out)
{
    KmProducts products;
    const double *w = NULL, *b = NULL;

    *out = (KmSumsError) {0};
    if (sums->n_rows == 0)
        return KM_OK;
    KM_TRY(read_coefficients(ctx, model, sums, &w, &b));
    KM_TRY(km_products_open(ctx, sums, &products));
    products.centred = true;
    out->weight = products.n;
    for (size_t t = 0; t < sums->targets; t++)
        KM_TRY(target_error(ctx, &products, t, w, b[t], out));
    if (!isfinite(out->sse) || !isfinite(out->sst))
        return km_fail(ctx, KM_RANGE, "squared errors overflow");
    return KM_OK;
}
