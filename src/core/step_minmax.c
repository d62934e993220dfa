/*
 * step_minmax.c: (x - min) / (max - min), column by column: rows seen in training lie in [0, 1].
 * A constant column becomes 0.
 */
#include <float.h>
#include <math.h>

#include "columns.h"
#include "learner_types.h"
#include "step.h"

typedef struct MinMax
{
    const double *min;
    double *range;
} MinMax;

static bool
is_resolved(KmContext *ctx, const KmArgs *args)
{
    (void) ctx;
    return km_step_has_list(args, "min") && km_step_has_list(args, "max");
}

static KmStatus
resolve(KmContext *ctx, const KmArgs *args, KmNode *node, size_t n, size_t d, const double *x,
        const double *w)
{
    KmColumns columns;

    KM_TRY(km_step_refuse_half(ctx, args));
    KM_TRY(km_columns_summarise(ctx, n, d, x, w, &columns));
    KM_TRY(km_step_set_list(ctx, args, node, "min", d, columns.min));
    return km_step_set_list(ctx, args, node, "max", d, columns.max);
}

static KmStatus
resolve_survey(KmContext *ctx, const KmArgs *args, KmNode *node, const KmSurvey *survey)
{
    size_t d = survey->d;
    double *min, *max;

    KM_TRY(km_step_refuse_half(ctx, args));
    KM_TRY(km_alloc(ctx, d, &min));
    KM_TRY(km_alloc(ctx, d, &max));
    for (size_t j = 0; j < d; j++)
    {
        min[j] = km_survey_column(survey, j)->min;
        max[j] = km_survey_column(survey, j)->max;
    }
    KM_TRY(km_step_set_list(ctx, args, node, "min", d, min));
    return km_step_set_list(ctx, args, node, "max", d, max);
}

static KmStatus
apply(KmContext *ctx, const KmStep *step, size_t m, const double *x, double *z)
{
    const MinMax *minmax = step->state;
    size_t d = step->d_in;

    (void) ctx;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < d; j++)
            z[i * d + j] = minmax->range[j] == 0 ? 0 : (x[i * d + j] - minmax->min[j]) / minmax->range[j];
    return KM_OK;
}

/* x = min + (max - min) z */
static KmStatus
undo(KmContext *ctx, const KmStep *step, double *origin, double *size)
{
    const MinMax *minmax = step->state;

    (void) ctx;
    for (size_t j = 0; j < step->d_in; j++)
    {
        origin[j] = minmax->min[j];
        size[j] = minmax->range[j];
    }
    return KM_OK;
}

static KmStatus
check_range(KmContext *ctx, size_t j, double min, double max)
{
    if (max < min)
        return km_fail(ctx, KM_INVALID, "minmax has max %g below min %g for feature %zu", max, min, j + 1);
    if (!isfinite(max - min))
        return km_fail(ctx, KM_RANGE, "the range of feature %zu is too large for double precision", j + 1);
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, size_t d, KmStep *out)
{
    MinMax *minmax;
    const double *max;

    KM_TRY(km_alloc(ctx, 1, &minmax));
    KM_TRY(km_step_list(ctx, args, "min", d, &minmax->min));
    KM_TRY(km_step_list(ctx, args, "max", d, &max));
    KM_TRY(km_alloc(ctx, d, &minmax->range));
    for (size_t j = 0; j < d; j++)
    {
        KM_TRY(check_range(ctx, j, minmax->min[j], max[j]));
        minmax->range[j] = max[j] - minmax->min[j];
    }
    *out = (KmStep) {.d_in = d, .d_out = d, .state = minmax, .apply = apply, .undo = undo};
    return KM_OK;
}

const KmStepType km_step_minmax = {
    .signature = {
        .name = "minmax",
        .what = "step",
        .params = {
            {.name = "min", .kinds = KM_KIND_LIST, .min = -DBL_MAX, .max = DBL_MAX},
            {.name = "max", .kinds = KM_KIND_LIST, .min = -DBL_MAX, .max = DBL_MAX}
        }
    },
    .is_resolved = is_resolved,
    .resolve = resolve,
    .resolve_survey = resolve_survey,
    .prepare = prepare
};
