/*
 * model.c: building a model and looking into it.
 */
#include "model.h"

#include <math.h>
#include <string.h>

KmStatus
km_model_create(KmContext *ctx, KmModel **out)
{
    KM_TRY(km_alloc_zero(ctx, 1, out));
    (*out)->learner = "";
    return KM_OK;
}

/* *out: `elements` with room for one more after n.  Capacities are powers of two, so none is kept. */
static KmStatus
grow(KmContext *ctx, size_t n, size_t size, void *elements, void **out)
{
    *out = elements;
    if (n >= KM_MODEL_MAX_ITEMS)
        return km_fail(ctx, KM_LIMIT, "model has more than %d arrays or facts", KM_MODEL_MAX_ITEMS);
    if (n & (n - 1))
        return KM_OK;
    KM_TRY(km_alloc_bytes(ctx, n ? 2 * n : 1, size, out));
    if (n)
        memcpy(*out, elements, n * size);
    km_free(ctx, elements);
    return KM_OK;
}

KmStatus
km_model_add_array(KmContext *ctx, KmModel *model, const char *name, size_t rows, size_t columns,
                   double *data)
{
    void *larger;

    KM_TRY(grow(ctx, model->n_arrays, sizeof(KmArray), model->array, &larger));
    model->array = larger;
    model->array[model->n_arrays++] = (KmArray) {name, rows, columns, data, false};
    return KM_OK;
}

KmStatus
km_model_add_tail(KmContext *ctx, KmModel *model, const char *name, size_t rows, size_t columns, double *data)
{
    KM_TRY(km_model_add_array(ctx, model, name, rows, columns, data));
    model->array[model->n_arrays - 1].tail = true;
    return KM_OK;
}

static KmStatus
add_fact(KmContext *ctx, KmModel *model, KmFact fact)
{
    void *larger;

    KM_TRY(grow(ctx, model->n_facts, sizeof(KmFact), model->fact, &larger));
    model->fact = larger;
    model->fact[model->n_facts++] = fact;
    return KM_OK;
}

KmStatus
km_model_add_fact(KmContext *ctx, KmModel *model, const char *name, KmFactKind kind, double number)
{
    return add_fact(ctx, model, (KmFact) {name, kind, number, NULL});
}

KmStatus
km_model_add_number(KmContext *ctx, KmModel *model, const char *what, const char *name, double value)
{
    if (!isfinite(value))
        return km_fail(ctx, KM_RANGE, "%s: %s is too large for double precision", what, name);
    return km_model_add_fact(ctx, model, name, KM_FACT_NUMBER, value);
}

KmStatus
km_model_add_text(KmContext *ctx, KmModel *model, const char *name, const char *text)
{
    return add_fact(ctx, model, (KmFact) {name, KM_FACT_TEXT, 0, text});
}

const KmArray *
km_model_array(const KmModel *model, const char *name)
{
    for (size_t i = 0; i < model->n_arrays; i++)
        if (strcmp(model->array[i].name, name) == 0)
            return &model->array[i];
    return NULL;
}

const KmFact *
km_model_fact(const KmModel *model, const char *name)
{
    for (size_t i = 0; i < model->n_facts; i++)
        if (strcmp(model->fact[i].name, name) == 0)
            return &model->fact[i];
    return NULL;
}

KmStatus
km_model_expect(KmContext *ctx, const KmModel *model, const char *name, size_t rows, size_t columns,
                const KmArray **out)
{
    const KmArray *array = km_model_array(model, name);

    if (array == NULL)
        return km_fail(ctx, KM_CORRUPT, "model has no array \"%s\"", name);
    if (rows != SIZE_MAX && array->rows != rows)
        return km_fail(ctx, KM_CORRUPT, "array \"%s\" of the model has %zu rows, expected %zu", name,
                       array->rows, rows);
    if (columns != SIZE_MAX && array->columns != columns)
        return km_fail(ctx, KM_CORRUPT, "array \"%s\" of the model has %zu columns, expected %zu", name,
                       array->columns, columns);
    *out = array;
    return KM_OK;
}
