/*
 * step_scale.c: (x - mean) / sd, column by column, with the population standard deviation.
 * A constant column has sd 1, so it becomes 0.
 */
#include <float.h>

#include "columns.h"
#include "learner_types.h"
#include "step.h"

typedef struct Scale
{
    const double *mean, *sd;
} Scale;

static bool
is_resolved(KmContext *ctx, const KmArgs *args)
{
    (void) ctx;
    return km_step_has_list(args, "mean") && km_step_has_list(args, "sd");
}

static KmStatus
resolve(KmContext *ctx, const KmArgs *args, KmNode *node, size_t n, size_t d, const double *x,
        const double *w)
{
    KmColumns columns;
    double *sd;

    KM_TRY(km_step_refuse_half(ctx, args));
    KM_TRY(km_alloc(ctx, d, &sd));
    KM_TRY(km_columns_summarise(ctx, n, d, x, w, &columns));
    KM_TRY(km_columns_deviation(ctx, n, d, x, w, &columns, sd));
    for (size_t j = 0; j < d; j++)
        if (sd[j] == 0)
            sd[j] = 1;
    KM_TRY(km_step_set_list(ctx, args, node, "mean", d, columns.mean));
    return km_step_set_list(ctx, args, node, "sd", d, sd);
}

static KmStatus
resolve_survey(KmContext *ctx, const KmArgs *args, KmNode *node, const KmSurvey *survey)
{
    size_t d = survey->d;
    double *mean, *sd;

    KM_TRY(km_step_refuse_half(ctx, args));
    KM_TRY(km_alloc(ctx, d, &mean));
    KM_TRY(km_alloc(ctx, d, &sd));
    for (size_t j = 0; j < d; j++)
    {
        KM_TRY(km_survey_mean(ctx, survey, j, &mean[j]));
        KM_TRY(km_survey_deviation(ctx, survey, j, &sd[j]));
        if (sd[j] == 0)
            sd[j] = 1;
    }
    KM_TRY(km_step_set_list(ctx, args, node, "mean", d, mean));
    return km_step_set_list(ctx, args, node, "sd", d, sd);
}

static KmStatus
apply(KmContext *ctx, const KmStep *step, size_t m, const double *x, double *z)
{
    const Scale *scale = step->state;
    size_t d = step->d_in;

    (void) ctx;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < d; j++)
            z[i * d + j] = (x[i * d + j] - scale->mean[j]) / scale->sd[j];
    return KM_OK;
}

/* x = mean + sd z */
static KmStatus
undo(KmContext *ctx, const KmStep *step, double *origin, double *size)
{
    const Scale *scale = step->state;

    (void) ctx;
    for (size_t j = 0; j < step->d_in; j++)
    {
        origin[j] = scale->mean[j];
        size[j] = scale->sd[j];
    }
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, size_t d, KmStep *out)
{
    Scale *scale;

    KM_TRY(km_alloc(ctx, 1, &scale));
    KM_TRY(km_step_list(ctx, args, "mean", d, &scale->mean));
    KM_TRY(km_step_list(ctx, args, "sd", d, &scale->sd));
    *out = (KmStep) {.d_in = d, .d_out = d, .state = scale, .apply = apply, .undo = undo};
    return KM_OK;
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
    .is_resolved = is_resolved,
    .resolve = resolve,
    .resolve_survey = resolve_survey,
    .prepare = prepare
};
