/*
 * step_impute.c: missing elements become the column's mean, its median, or one number.
 */
#include <float.h>

#include "columns.h"
#include "learner_types.h"
#include "step.h"

#define POLL_ROWS 65536

static KmStatus
is_resolved(KmContext *ctx, const KmArgs *args, bool *out)
{
    (void) ctx;
    *out = km_step_has_list(args, "values") || km_arg(args, "value")->kind == KM_KIND_NUMBER;
    return KM_OK;
}

/* ---- learning ---- */

static KmStatus
all_missing(KmContext *ctx, size_t j, const char *what)
{
    km_fail(ctx, KM_DATA, "feature %zu is NULL in all rows, so it has no %s", j + 1, what);
    return km_hint(ctx, KM_DATA, "Use impute(value=0), or leave the feature out.");
}

static KmStatus
column_means(KmContext *ctx, size_t n, size_t d, const double *x, const double *w, double *out)
{
    KmColumns columns;

    KM_TRY(km_columns_summarise(ctx, n, d, x, w, &columns));
    for (size_t j = 0; j < d; j++)
    {
        if (columns.weight[j] == 0)
            return all_missing(ctx, j, "mean");
        out[j] = columns.mean[j];
    }
    return KM_OK;
}

static const double *
value_at(const void *state, size_t i)
{
    return (const double *) state + i;
}

/* Of m >= 1 sorted values: where half of the weight is passed; halfway to the next value where
 * half of it is met exactly.  With whole-number weights that is the median of repeated rows. */
static double
sorted_median(size_t m, const double *value, const double *weight, const size_t *order)
{
    double total = 0, passed = 0;
    size_t k = 0;

    for (size_t i = 0; i < m; i++)
        total += weight[order[i]];
    while (k + 1 < m && passed + weight[order[k]] < total / 2)
        passed += weight[order[k++]];
    if (k + 1 < m && passed + weight[order[k]] == total / 2 && value[order[k]] != value[order[k + 1]])
        return value[order[k]] / 2 + value[order[k + 1]] / 2;
    return value[order[k]];
}

/* Buffers for one column: n values that are not missing, their weights and order. */
typedef struct Column
{
    double *value, *weight;
    size_t *order;
} Column;

static KmStatus
column_median(KmContext *ctx, size_t n, size_t d, size_t j, const double *x, const double *w, Column *column,
              double *out)
{
    size_t m = 0;

    for (size_t i = 0; i < n; i++)
    {
        if (i % POLL_ROWS == 0)
            KM_TRY(km_poll(ctx));
        if (km_is_missing(x[i * d + j]))
            continue;
        column->value[m] = x[i * d + j];
        column->weight[m++] = w ? w[i] : 1;
    }
    if (m == 0)
        return all_missing(ctx, j, "median");
    KM_TRY(km_rows_order(ctx, m, 1, value_at, column->value, column->order));
    *out = sorted_median(m, column->value, column->weight, column->order);
    return KM_OK;
}

static KmStatus
column_medians(KmContext *ctx, size_t n, size_t d, const double *x, const double *w, double *out)
{
    Column column;

    KM_TRY(km_alloc(ctx, n, &column.value));
    KM_TRY(km_alloc(ctx, n, &column.weight));
    KM_TRY(km_alloc(ctx, n, &column.order));
    for (size_t j = 0; j < d; j++)
        KM_TRY(column_median(ctx, n, d, j, x, w, &column, &out[j]));
    km_free(ctx, column.value);
    km_free(ctx, column.weight);
    km_free(ctx, column.order);
    return KM_OK;
}

static KmStatus
resolve(KmContext *ctx, const KmArgs *args, KmNode *node, size_t n, size_t d, const double *x,
        const double *w)
{
    double *values;

    KM_TRY(km_alloc(ctx, d, &values));
    if (km_arg_is(args, "value", "median"))
        KM_TRY(column_medians(ctx, n, d, x, w, values));
    else
        KM_TRY(column_means(ctx, n, d, x, w, values));
    km_node_unset(node, "value");
    return km_step_set_list(ctx, args, node, "values", d, values);
}

/* A median needs all values of a column at once. */
static KmStatus
resolve_survey(KmContext *ctx, const KmArgs *args, KmNode *node, const KmSurvey *survey)
{
    size_t d = survey->d;
    double *values;

    if (km_arg_is(args, "value", "median"))
    {
        km_fail(ctx, KM_UNSUPPORTED,
                "impute(median) needs all rows at once, so it cannot be learnt in a pass");
        return km_hint(ctx, KM_UNSUPPORTED,
                       "Use impute(mean) or impute(values=[…]), or keep the rows: fit().");
    }
    KM_TRY(km_alloc(ctx, d, &values));
    for (size_t j = 0; j < d; j++)
    {
        if (km_survey_column(survey, j)->weight.high == 0)
            return all_missing(ctx, j, "mean");
        KM_TRY(km_survey_mean(ctx, survey, j, &values[j]));
    }
    km_node_unset(node, "value");
    return km_step_set_list(ctx, args, node, "values", d, values);
}

/* ---- mapping ---- */

static KmStatus
apply(KmContext *ctx, const KmStep *step, size_t m, const double *x, double *z)
{
    const double *values = step->state;
    size_t d = step->d_in;

    (void) ctx;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < d; j++)
            z[i * d + j] = km_is_missing(x[i * d + j]) ? values[j] : x[i * d + j];
    return KM_OK;
}

/* x = z, with the values that were filled in */
static KmStatus
undo(KmContext *ctx, const KmStep *step, double *origin, double *size)
{
    (void) ctx;
    for (size_t j = 0; j < step->d_in; j++)
    {
        origin[j] = 0;
        size[j] = 1;
    }
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, size_t d, KmStep *out)
{
    const double *list = NULL;
    double *values;

    if (km_step_has_list(args, "values"))
        KM_TRY(km_step_list(ctx, args, "values", d, &list));
    KM_TRY(km_alloc(ctx, d, &values));
    for (size_t j = 0; j < d; j++)
        values[j] = list ? list[j] : km_arg_number(args, "value");
    *out = (KmStep) {.d_in = d, .d_out = d, .state = values, .apply = apply, .undo = undo};
    return KM_OK;
}

static const char *const statistics[] = {"mean", "median", NULL};

const KmStepType km_step_impute = {
    .signature = {
        .name = "impute",
        .what = "step",
        .params = {
            {.name = "value", .kinds = KM_KIND_WORD | KM_KIND_NUMBER, .standard = "mean", .words = statistics,
             .min = -DBL_MAX, .max = DBL_MAX, .positional = true, .group = 1},
            {.name = "values", .kinds = KM_KIND_LIST, .min = -DBL_MAX, .max = DBL_MAX, .group = 1}
        }
    },
    .takes_missing = true,
    .is_resolved = is_resolved,
    .resolve = resolve,
    .resolve_survey = resolve_survey,
    .prepare = prepare
};
