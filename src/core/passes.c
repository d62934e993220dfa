/* passes.c: constants of steps from rows that are not kept. */
#include "passes.h"

#include <math.h>

#define LANDMARK_CHOICE 4       /* rows in the sample for each landmark to be chosen */

KmStatus
km_passes_next(KmContext *ctx, const KmLearner *learner, size_t *out)
{
    for (*out = 0; *out < learner->n_steps; ++*out)
    {
        const KmStage *stage = &learner->step[*out];
        bool resolved;

        KM_TRY(stage->type->is_resolved(ctx, &stage->args, &resolved));
        if (!resolved)
            break;
    }
    return KM_OK;
}

/* ---- a pass ---- */

/* Rows that the step wants to see: none if statistics are enough, those for a median, or landmarks. */
static size_t
sample_rows(const KmStage *stage)
{
    double landmarks = LANDMARK_CHOICE * km_arg_number(&stage->args, "n_components");

    if (stage->type->resolve_survey != NULL)
        return 0;
    return !stage->type->exact && landmarks > KM_SAMPLE_ROWS ? (size_t) landmarks : KM_SAMPLE_ROWS;
}

KmStatus
km_pass_create(KmContext *ctx, const KmLearner *learner, size_t d, KmPass **out)
{
    KmLearner before = {.step = learner->step};
    size_t step;
    KmPass *pass;

    KM_TRY(km_passes_next(ctx, learner, &step));
    before.n_steps = step;
    if (step == learner->n_steps)
        return km_fail(ctx, KM_INVALID, "this learner needs no pass: its steps have their constants");
    KM_TRY(km_alloc_zero(ctx, 1, &pass));
    pass->d = d;
    pass->takes_missing = km_learner_takes_missing(learner);
    pass->sample_rows = sample_rows(&learner->step[step]);
    KM_TRY(km_steps_prepare(ctx, &before, d, &pass->before));
    KM_TRY(km_alloc(ctx, pass->before.d_out, &pass->z));
    KM_TRY(km_survey_bytes(ctx, pass->before.d_out, pass->sample_rows, &pass->survey_bytes));
    *out = pass;
    return KM_OK;
}

void
km_pass_start(const KmPass *pass, KmSurvey *survey)
{
    km_survey_init(pass->before.d_out, pass->sample_rows, pass->survey_bytes, survey);
}

KmStatus
km_pass_add(KmContext *ctx, const KmPass *pass, KmSurvey *survey, const double *x, double weight)
{
    if (!(weight >= 0 && isfinite(weight)))
        return km_fail(ctx, KM_INVALID, "weight must be finite and not negative, got %g", weight);
    if (weight == 0)
        return KM_OK;
    KM_TRY(km_row_check(ctx, pass->d, x, pass->takes_missing));
    KM_TRY(pass->before.apply(ctx, &pass->before, 1, x, pass->z));
    for (size_t j = 0; j < pass->before.d_out; j++)
        if (!isfinite(pass->z[j]) && !km_is_missing(pass->z[j]))
            return km_fail(ctx, KM_RANGE, "feature %zu of a row is too large for double precision", j + 1);
    km_survey_add(survey, pass->z, weight);
    return KM_OK;
}

/* ---- what a step learns ---- */

/* Replace words like gamma=scale in the kernel of a step, which stands in its syntax. */
static KmStatus
learn_kernel(KmContext *ctx, KmStage *stage, const KmSurvey *survey)
{
    const KmValue *value = km_arg(&stage->args, "kernel");
    KmKernel *kernel;

    if (value->kind != KM_KIND_KERNEL)
        return KM_OK;
    KM_TRY(km_kernel_compile(ctx, value->node, &kernel));
    KM_TRY(km_kernel_resolve_survey(ctx, kernel, survey));
    return km_signature_bind(ctx, &stage->type->signature, stage->node, &stage->args);
}

static KmStatus
learn_from_sample(KmContext *ctx, KmStage *stage, const KmSurvey *survey)
{
    double *x, *weight;
    bool resolved;
    size_t n;

    KM_TRY(learn_kernel(ctx, stage, survey));
    KM_TRY(stage->type->is_resolved(ctx, &stage->args, &resolved));
    if (resolved)
        return KM_OK;
    KM_TRY(km_survey_sample(ctx, survey, &n, &x, &weight));
    KM_TRY(stage->type->resolve(ctx, &stage->args, stage->node, n, survey->d, x, weight));
    return km_signature_bind(ctx, &stage->type->signature, stage->node, &stage->args);
}

KmStatus
km_pass_learn(KmContext *ctx, KmLearner *learner, const KmSurvey *survey)
{
    KmStage *stage;
    size_t step;

    KM_TRY(km_passes_next(ctx, learner, &step));
    stage = &learner->step[step];
    if (stage->type->resolve_survey == NULL)
        return learn_from_sample(ctx, stage, survey);
    KM_TRY(stage->type->resolve_survey(ctx, &stage->args, stage->node, survey));
    return km_signature_bind(ctx, &stage->type->signature, stage->node, &stage->args);
}
