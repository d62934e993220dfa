/*
 * step_minmax.c: (x - min) / (max - min), column by column: rows seen in training lie in [0, 1].
 * A constant column becomes 0.
 */
#include <float.h>
#include <math.h>

#include "columns.h"
#include "learner_types.h"
#include "step_affine.h"

static KmStatus
resolve(KmContext *ctx, const KmArgs *args, KmNode *node, size_t n, size_t d, const double *x,
        const double *w)
{
    KmColumns columns;

    KM_TRY(km_affine_refuse_half(ctx, args));
    KM_TRY(km_columns_summarise(ctx, n, d, x, w, &columns));
    return km_affine_set_lists(ctx, args, node, d, columns.min, columns.max);
}

static KmStatus
resolve_survey(KmContext *ctx, const KmArgs *args, KmNode *node, const KmSurvey *survey)
{
    size_t d = survey->d;
    double *min, *max;

    KM_TRY(km_affine_refuse_half(ctx, args));
    KM_TRY(km_alloc(ctx, d, &min));
    KM_TRY(km_alloc(ctx, d, &max));
    for (size_t j = 0; j < d; j++)
    {
        min[j] = km_survey_column(survey, j)->min;
        max[j] = km_survey_column(survey, j)->max;
    }
    return km_affine_set_lists(ctx, args, node, d, min, max);
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
    const double *min, *max;
    double *range;

    KM_TRY(km_affine_lists(ctx, args, d, &min, &max));
    KM_TRY(km_alloc(ctx, d, &range));
    for (size_t j = 0; j < d; j++)
    {
        KM_TRY(check_range(ctx, j, min[j], max[j]));
        range[j] = max[j] - min[j];
    }
    return km_affine_prepare(ctx, d, min, range, out);
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
    .is_resolved = km_affine_is_resolved,
    .resolve = resolve,
    .resolve_survey = resolve_survey,
    .prepare = prepare
};
