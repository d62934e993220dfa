/* step_affine.c: z = (x - origin) / size, column by column (see step_affine.h). */
#include "step_affine.h"

#include <string.h>

typedef struct Affine
{
    const double *origin, *size;
} Affine;

/* ---- the lists ---- */

KmStatus
km_affine_is_resolved(KmContext *ctx, const KmArgs *args, bool *out)
{
    (void) ctx;
    *out = args->value[0].kind == KM_KIND_LIST && args->value[1].kind == KM_KIND_LIST;
    return KM_OK;
}

KmStatus
km_affine_refuse_half(KmContext *ctx, const KmArgs *args)
{
    const KmParam *param = args->signature->params;

    if (!args->value[0].given && !args->value[1].given)
        return KM_OK;
    return km_fail(ctx, KM_INVALID, "parameters \"%s\" and \"%s\" of %s must be given together",
                   param[0].name, param[1].name, args->signature->name);
}

KmStatus
km_affine_lists(KmContext *ctx, const KmArgs *args, size_t d, const double **first, const double **second)
{
    const KmParam *param = args->signature->params;

    KM_TRY(km_step_list(ctx, args, param[0].name, d, first));
    return km_step_list(ctx, args, param[1].name, d, second);
}

KmStatus
km_affine_set_lists(KmContext *ctx, const KmArgs *args, KmNode *node, size_t d, const double *first,
                    const double *second)
{
    const KmParam *param = args->signature->params;

    KM_TRY(km_step_set_list(ctx, args, node, param[0].name, d, first));
    return km_step_set_list(ctx, args, node, param[1].name, d, second);
}

/* ---- the map ---- */

static KmStatus
apply(KmContext *ctx, const KmStep *step, size_t m, const double *x, double *z)
{
    const Affine *affine = step->state;
    size_t d = step->d_in;

    (void) ctx;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < d; j++)
            z[i * d + j] = affine->size[j] == 0 ? 0 : (x[i * d + j] - affine->origin[j]) / affine->size[j];
    return KM_OK;
}

static KmStatus
undo(KmContext *ctx, const KmStep *step, double *origin, double *size)
{
    const Affine *affine = step->state;

    (void) ctx;
    memcpy(origin, affine->origin, step->d_in * sizeof *origin);
    memcpy(size, affine->size, step->d_in * sizeof *size);
    return KM_OK;
}

KmStatus
km_affine_prepare(KmContext *ctx, size_t d, const double *origin, const double *size, KmStep *out)
{
    Affine *affine;

    KM_TRY(km_alloc(ctx, 1, &affine));
    *affine = (Affine) {origin, size};
    *out = (KmStep) {.d_in = d, .d_out = d, .state = affine, .apply = apply, .undo = undo};
    return KM_OK;
}
