/*
 * learner.c: the tables of steps and estimators, and learners compiled from syntax.
 */
#include "learner.h"

#include <string.h>

#include "learner_types.h"

static const KmStepType *const step_types[] = {
    &km_step_impute, &km_step_scale, &km_step_minmax, &km_step_rff, &km_step_orf, &km_step_nystroem,
    &km_step_poly_features, &km_step_additive_chi2_features
};
static const KmEstimatorType *const estimator_types[] = {
    &km_estimator_svc, &km_estimator_nu_svc, &km_estimator_svr, &km_estimator_nu_svr, &km_estimator_one_class,
    &km_estimator_krr, &km_estimator_gp, &km_estimator_gpc, &km_estimator_ridge,
    &km_estimator_ridge_classifier, &km_estimator_logistic, &km_estimator_linear_svc, &km_estimator_linear_svr
};

#define N_STEPS (sizeof step_types / sizeof step_types[0])
#define N_ESTIMATORS (sizeof estimator_types / sizeof estimator_types[0])

size_t
km_step_types(const KmStepType *const **out)
{
    *out = step_types;
    return N_STEPS;
}

size_t
km_estimator_types(const KmEstimatorType *const **out)
{
    *out = estimator_types;
    return N_ESTIMATORS;
}

static const KmStepType *
find_step(const char *name)
{
    for (size_t i = 0; i < N_STEPS; i++)
        if (km_signature_named(&step_types[i]->signature, name))
            return step_types[i];
    return NULL;
}

static const KmEstimatorType *
find_estimator(const char *name)
{
    for (size_t i = 0; i < N_ESTIMATORS; i++)
        if (km_signature_named(&estimator_types[i]->signature, name))
            return estimator_types[i];
    return NULL;
}

/* ---- what is no learner ---- */

static bool
is_kernel_name(const char *name)
{
    const KmKernelType *type;

    for (size_t i = 0; (type = km_kernel_type(i)) != NULL; i++)
        if (km_signature_named(&type->signature, name))
            return true;
    return strcmp(name, "exp") == 0 || strcmp(name, "normalize") == 0;
}

static bool
is_call(const KmNode *node)
{
    return node->kind == KM_NODE_NAME || node->kind == KM_NODE_CALL;
}

static KmStatus
unknown_name(KmContext *ctx, const KmNode *node)
{
    const KmSignature *known[N_STEPS + N_ESTIMATORS];

    for (size_t i = 0; i < N_STEPS; i++)
        known[i] = &step_types[i]->signature;
    for (size_t i = 0; i < N_ESTIMATORS; i++)
        known[N_STEPS + i] = &estimator_types[i]->signature;
    return km_unknown_name(ctx, node, "step or estimator", N_STEPS + N_ESTIMATORS, known);
}

static KmStatus
not_a_stage(KmContext *ctx, const KmNode *node)
{
    bool sum = node->kind == KM_NODE_SUM || node->kind == KM_NODE_PRODUCT || node->kind == KM_NODE_POWER;

    if (is_call(node) && !is_kernel_name(node->text))
        return unknown_name(ctx, node);
    if (is_call(node))
        km_node_fail(ctx, node, "\"%s\" is a kernel, not a step or an estimator", node->text);
    else if (sum)
        km_node_fail(ctx, node, "a kernel stands where a step or an estimator is expected");
    else
        km_node_fail(ctx, node, "a learner is made of steps and an estimator");
    return km_hint(ctx, KM_INVALID, "Write steps, then an estimator of a kernel: scale | svc(rbf, c=10).");
}

/* ---- compiling ---- */

bool
km_estimator_goes_through(const KmEstimatorType *type, const KmArgs *args, const char *parameter)
{
    return type->path != NULL && strcmp(type->path, parameter) == 0 && km_arg(args, "select")->kind != 0;
}

KmStatus
km_estimator_kernel(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmKernel **out)
{
    const KmValue *value = km_arg(args, "kernel");
    KmArgs again;

    KM_TRY(km_kernel_compile(ctx, value->node, out));
    KM_TRY(km_kernel_resolve(ctx, *out, table->n, table->d, table->x, table->w));
    KM_TRY(km_kernel_check_index(ctx, *out, table->n, table->d, table->x));
    if (value->given)
        return KM_OK;
    KM_TRY(km_node_set(ctx, node, "kernel", (*out)->node));
    return km_signature_bind(ctx, args->signature, node, &again);
}

/* The estimator's own grid is no grid of the learner. */
static bool
goes_through(const KmEstimatorType *estimator, const KmArgs *args, size_t i)
{
    return estimator != NULL && args->value[i].grid &&
        km_estimator_goes_through(estimator, args, args->signature->params[i].name);
}

/* Compile the kernels among the arguments, so that their errors come when they are typed. */
static KmStatus
check_arguments(KmContext *ctx, const KmEstimatorType *estimator, const KmArgs *args, bool *has_grid)
{
    for (size_t i = 0; i < KM_MAX_PARAMS; i++)
    {
        const KmValue *value = &args->value[i];
        KmKernel *kernel;

        *has_grid |= value->grid && !goes_through(estimator, args, i);
        if (value->kind != KM_KIND_KERNEL)
            continue;
        KM_TRY(km_kernel_compile(ctx, value->node, &kernel));
        *has_grid |= km_kernel_has_grid(kernel);
    }
    return KM_OK;
}

static KmStatus
add_step(KmContext *ctx, KmLearner *learner, const KmStepType *type, KmNode *node)
{
    KmStage *stage = &learner->step[learner->n_steps++];

    if (learner->estimator != NULL)
    {
        km_node_fail(ctx, node, "step \"%s\" stands after estimator \"%s\"", type->signature.name,
                     learner->estimator->signature.name);
        return km_hint(ctx, KM_INVALID, "Steps come first, the estimator last.");
    }
    stage->type = type;
    stage->node = node;
    KM_TRY(km_signature_bind(ctx, &type->signature, node, &stage->args));
    KM_TRY(check_arguments(ctx, NULL, &stage->args, &learner->has_grid));
    return type->check != NULL ? type->check(ctx, &stage->args) : KM_OK;
}

static KmStatus
set_estimator(KmContext *ctx, KmLearner *learner, const KmEstimatorType *type, KmNode *node)
{
    if (learner->estimator != NULL)
        return km_node_fail(ctx, node, "a learner has one estimator, got \"%s\" and \"%s\"",
                            learner->estimator->signature.name, type->signature.name);
    learner->estimator = type;
    learner->estimator_node = node;
    KM_TRY(km_signature_bind(ctx, &type->signature, node, &learner->args));
    KM_TRY(check_arguments(ctx, type, &learner->args, &learner->has_grid));
    return type->check != NULL ? type->check(ctx, &learner->args) : KM_OK;
}

static KmStatus
add_stage(KmContext *ctx, KmLearner *learner, KmNode *node)
{
    const KmStepType *step = is_call(node) ? find_step(node->text) : NULL;
    const KmEstimatorType *estimator = is_call(node) ? find_estimator(node->text) : NULL;

    if (step != NULL)
        return add_step(ctx, learner, step, node);
    if (estimator != NULL)
        return set_estimator(ctx, learner, estimator, node);
    return not_a_stage(ctx, node);
}

KmStatus
km_learner_compile(KmContext *ctx, KmNode *node, KmLearner **out)
{
    bool pipe = node->kind == KM_NODE_PIPE;
    size_t n = pipe ? node->n : 1;
    KmLearner *learner;

    KM_TRY(km_alloc_zero(ctx, 1, &learner));
    KM_TRY(km_alloc_zero(ctx, n, &learner->step));
    learner->node = node;
    for (size_t i = 0; i < n; i++)
        KM_TRY(add_stage(ctx, learner, pipe ? node->item[i] : node));
    *out = learner;
    return KM_OK;
}

KmStatus
km_learner_parse(KmContext *ctx, const char *text, size_t length, KmLearner **out)
{
    KmNode *node;

    KM_TRY(km_spec_parse(ctx, text, length, &node));
    return km_learner_compile(ctx, node, out);
}

KmStatus
km_learner_print(KmContext *ctx, const KmLearner *learner, KmText *out)
{
    return km_spec_print(ctx, learner->node, out);
}

/* ---- questions ---- */

KmTargetKind
km_learner_target(const KmLearner *learner)
{
    return learner->estimator ? learner->estimator->target : KM_TARGET_NONE;
}

const char *
km_learner_name(const KmLearner *learner)
{
    return learner->estimator ? learner->estimator->signature.name : "a model of steps alone";
}

bool
km_learner_takes_missing(const KmLearner *learner)
{
    return learner->n_steps > 0 && learner->step[0].type->takes_missing;
}

KmStatus
km_learner_streams(KmContext *ctx, const KmLearner *learner, bool *out)
{
    size_t n = learner->n_steps;

    *out = !learner->has_grid && n > 0 && learner->step[n - 1].type->exact && learner->estimator != NULL &&
        learner->estimator->from_sums;
    for (size_t i = 0; i < n && *out; i++)
        KM_TRY(learner->step[i].type->is_resolved(ctx, &learner->step[i].args, out));
    return KM_OK;
}
