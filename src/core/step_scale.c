/*
 * step_scale.c: (x - mean) / sd, column by column, with the population standard deviation.
 * A constant column has sd 1, so it becomes 0.
 */
#include <float.h>

#include "columns.h"
#include "learner_types.h"
#include "step_affine.h"

static KmStatus
resolve(KmContext *ctx, const KmArgs *args, KmNode *node, size_t n, size_t d, const double *x,
        const double *w)
{
    KmColumns columns;
    double *sd;

    KM_TRY(km_affine_refuse_half(ctx, args));
    KM_TRY(km_alloc(ctx, d, &sd));
    KM_TRY(km_columns_summarise(ctx, n, d, x, w, &columns));
    KM_TRY(km_columns_deviation(ctx, n, d, x, w, &columns, sd));
    for (size_t j = 0; j < d; j++)
        if (sd[j] == 0)
            sd[j] = 1;
    return km_affine_set_lists(ctx, args, node, d, columns.mean, sd);
}

static KmStatus
resolve_survey(KmContext *ctx, const KmArgs *args, KmNode *node, const KmSurvey *survey)
{
    size_t d = survey->d;
    double *mean, *sd;

    KM_TRY(km_affine_refuse_half(ctx, args));
    KM_TRY(km_alloc(ctx, d, &mean));
    KM_TRY(km_alloc(ctx, d, &sd));
    for (size_t j = 0; j < d; j++)
    {
        KM_TRY(km_survey_mean(ctx, survey, j, &mean[j]));
        KM_TRY(km_survey_deviation(ctx, survey, j, &sd[j]));
        if (sd[j] == 0)
            sd[j] = 1;
    }
    return km_affine_set_lists(ctx, args, node, d, mean, sd);
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, size_t d, KmStep *out)
{
    const double *mean, *sd;

    KM_TRY(km_affine_lists(ctx, args, d, &mean, &sd));
    return km_affine_prepare(ctx, d, mean, sd, out);
}

const KmStepType km_step_scale = {
    .signature = {
        .name = "scale",
        .what = "step",
        .params = {
            {.name = "mean", .kinds = KM_KIND_LIST, .min = -DBL_MAX, .max = DBL_MAX},
            {.name = "sd", .kinds = KM_KIND_LIST, .min = 0, .max = DBL_MAX, .open = true}
        }
    },
    .is_resolved = km_affine_is_resolved,
    .resolve = resolve,
    .resolve_survey = resolve_survey,
    .prepare = prepare
};
