/* step.c: see step.h. */
#include "step.h"

KmStatus
km_step_has_no_constants(KmContext *ctx, const KmArgs *args, bool *out)
{
    (void) ctx;
    (void) args;
    *out = true;
    return KM_OK;
}

bool
km_step_has_list(const KmArgs *args, const char *name)
{
    return km_arg(args, name)->kind == KM_KIND_LIST;
}

KmStatus
km_step_list(KmContext *ctx, const KmArgs *args, const char *name, size_t d, const double **out)
{
    const KmValue *value = km_arg(args, name);

    if (value->kind != KM_KIND_LIST)
        return km_fail(ctx, KM_INVALID, "parameter \"%s\" of %s is missing", name, args->signature->name);
    if (value->rows != d)
        return km_fail(ctx, KM_DIMENSION, "%s expects %zu feature%s, got %zu", args->signature->name,
                       value->rows, km_plural(value->rows), d);
    *out = value->list;
    return KM_OK;
}

KmStatus
km_step_set_list(KmContext *ctx, const KmArgs *args, KmNode *node, const char *name, size_t d,
                 const double *values)
{
    KmNode *list;

    if (d > KM_STEP_MAX_COLUMNS)
        return km_fail(ctx, KM_LIMIT, "%s learns constants for at most %d features, got %zu",
                       args->signature->name, KM_STEP_MAX_COLUMNS, d);
    KM_TRY(km_node_list(ctx, d, values, &list));
    return km_node_set(ctx, node, name, list);
}
