/*
 * fuzz_libsvm.c: any text as a LIBSVM model and as a line of data: an answer or an error, within bounded
 * memory.
 *
 * A model that is read must be written as a text that means the same model.
 */
#include <stdlib.h>
#include <string.h>

#include "libsvm.h"

#define MAX_MEMORY ((size_t) 256 << 20)
#define FEATURES 20

static void
check_same_array(const KmArray *a, const KmArray *b)
{
    if (b == NULL || a->rows != b->rows || a->columns != b->columns)
        abort();
    for (size_t i = 0; i < a->rows * a->columns; i++)
        if (a->data[i] != b->data[i])
            abort();
}

static void
check_rewritten(KmContext *ctx, const KmModel *model)
{
    KmText text = {0};
    KmModel *again;
    KmStatus status = km_libsvm_write(ctx, model, &text);

    if (status == KM_OK)
        status = km_libsvm_read(ctx, text.data, text.length, model->n_features, &again);
    if (status == KM_MEMORY || status == KM_UNSUPPORTED)
        return;
    if (status != KM_OK || strcmp(model->learner, again->learner) != 0)
        abort();
    for (size_t i = 0; i < model->n_arrays; i++)
        check_same_array(&model->array[i], km_model_array(again, model->array[i].name));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    KmContext *ctx = km_context_create(MAX_MEMORY);
    double features[FEATURES];
    KmModel *model;

    (void) km_libsvm_features(ctx, (const char *) data, size, FEATURES, features);
    if (km_libsvm_read(ctx, (const char *) data, size, 0, &model) == KM_OK)
        check_rewritten(ctx, model);
    if (ctx->peak_bytes > MAX_MEMORY)
        abort();
    km_context_destroy(ctx);
    return 0;
}
