/*
 * defaults.c: a learner with every default written out.
 *
 * A model keeps its learner in this form, and an accumulator its map: what they mean
 * does not change when a default does, and equal maps are equal texts.
 */
#include "learner.h"

/* Write the values that were not given into the call. */
static KmStatus
fill_call(KmContext *ctx, const KmArgs *args, KmNode *call)
{
    for (size_t i = 0; i < KM_MAX_PARAMS; i++)
    {
        const KmValue *value = &args->value[i];

        if (value->kind != 0 && !value->given)
            KM_TRY(km_node_set(ctx, call, args->signature->params[i].name, value->node));
    }
    return KM_OK;
}

static KmStatus
fill_kernel(KmContext *ctx, const KmKernel *kernel)
{
    if (kernel->op == KM_OP_LEAF && kernel->node->kind != KM_NODE_NUMBER)
        return fill_call(ctx, &kernel->leaf.args, kernel->node);
    for (size_t i = 0; i < kernel->n; i++)
        KM_TRY(fill_kernel(ctx, kernel->child[i]));
    return KM_OK;
}

/* The call, and the kernels among its arguments. */
static KmStatus
fill_stage(KmContext *ctx, const KmArgs *args, KmNode *call)
{
    KM_TRY(fill_call(ctx, args, call));
    for (size_t i = 0; i < KM_MAX_PARAMS; i++)
    {
        KmKernel *kernel;

        if (args->value[i].kind != KM_KIND_KERNEL)
            continue;
        KM_TRY(km_kernel_compile(ctx, args->value[i].node, &kernel));
        KM_TRY(fill_kernel(ctx, kernel));
    }
    return KM_OK;
}

KmStatus
km_learner_with_defaults(KmContext *ctx, const KmLearner *learner, KmLearner **out)
{
    KmLearner *full;
    KmNode *node;

    KM_TRY(km_node_copy(ctx, learner->node, &node));
    KM_TRY(km_learner_compile(ctx, node, &full));
    for (size_t i = 0; i < full->n_steps; i++)
        KM_TRY(fill_stage(ctx, &full->step[i].args, full->step[i].node));
    if (full->estimator != NULL)
        KM_TRY(fill_stage(ctx, &full->args, full->estimator_node));
    return km_learner_compile(ctx, node, out);
}
