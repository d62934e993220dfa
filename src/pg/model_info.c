/*
 * model_info.c: what a model says of itself: model_info, learner, classes.
 */
#include "glue.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"


/* ---- building jsonb ---- */

static void
add_value(JsonbParseState **state, const char *key, JsonbValue *value)
{
    JsonbValue name = {.type = jbvString};

    name.val.string.val = (char *) key;
    name.val.string.len = strlen(key);
    pushJsonbValue(state, WJB_KEY, &name);
    pushJsonbValue(state, WJB_VALUE, value);
}

static JsonbValue
json_text(const char *text)
{
    JsonbValue value = {.type = jbvString};

    value.val.string.val = (char *) text;
    value.val.string.len = strlen(text);
    return value;
}

/* JSON has no infinity: such numbers become strings. */
static JsonbValue
json_number(double number)
{
    JsonbValue value = {.type = jbvNumeric};
    char *text = palloc(KM_NUMBER_SIZE);

    if (!isfinite(number))
        return json_text(isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
    km_number_print(number, text);
    value.val.numeric = DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(text), InvalidOid,
                                                            -1));
    return value;
}

static JsonbValue
json_bool(bool boolean)
{
    JsonbValue value = {.type = jbvBool};

    value.val.boolean = boolean;
    return value;
}

static void
add_classes(JsonbParseState **state, const KmClasses *classes)
{
    JsonbValue name = json_text("classes");

    pushJsonbValue(state, WJB_KEY, &name);
    pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
    for (size_t i = 0; i < classes->n; i++)
    {
        JsonbValue value = json_text(classes->text[i]);

        pushJsonbValue(state, WJB_ELEM, &value);
    }
    pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

static void
add_fact(JsonbParseState **state, const KmFact *fact)
{
    JsonbValue value;

    switch (fact->kind)
    {
        case KM_FACT_TEXT:
            value = json_text(fact->text);
            break;
        case KM_FACT_BOOL:
            value = json_bool(fact->number != 0);
            break;
        default:
            value = json_number(fact->number);
    }
    add_value(state, fact->name, &value);
}

/* Arrays that report how a value was found. */
static bool
is_path(const KmArray *array)
{
    size_t length = strlen(array->name);

    return length > 5 && strcmp(array->name + length - 5, "_path") == 0;
}

static void
add_matrix(JsonbParseState **state, const KmArray *array)
{
    JsonbValue name = json_text(array->name);

    pushJsonbValue(state, WJB_KEY, &name);
    pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
    for (size_t i = 0; i < array->rows; i++)
    {
        pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
        for (size_t j = 0; j < array->columns; j++)
        {
            JsonbValue value = json_number(array->data[i * array->columns + j]);

            pushJsonbValue(state, WJB_ELEM, &value);
        }
        pushJsonbValue(state, WJB_END_ARRAY, NULL);
    }
    pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* ---- the learner, with long constants as their counts ---- */

static void
shorten(KmNode *node, size_t longest)
{
    if (node->kind == KM_NODE_LIST && node->n > longest)
    {
        node->text = psprintf("[%zu %s]", node->n, node->item[0]->kind == KM_NODE_LIST ? "rows" : "numbers");
        node->kind = KM_NODE_NAME;
        node->n = 0;
        return;
    }
    for (size_t i = 0; i < node->n; i++)
        shorten(node->item[i], longest);
}

const char *
kml_short_learner(KmContext *ctx, const char *learner, size_t longest)
{
    KmNode *node;
    KmText out = {0};

    if (learner[0] == '\0')
        return "";
    kml_check(ctx, km_spec_parse(ctx, learner, strlen(learner), &node));
    shorten(node, longest);
    kml_check(ctx, km_spec_print(ctx, node, &out));
    return out.data;
}

/* ---- SQL functions ---- */

PG_FUNCTION_INFO_V1(kml_model_info);
PG_FUNCTION_INFO_V1(kml_model_learner);
PG_FUNCTION_INFO_V1(kml_classes);

Datum
kml_model_info(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    const KmModel *model = kml_model_argument(fcinfo)->scorer->model;
    JsonbParseState *state = NULL;
    JsonbValue value;

    pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
    value = json_text(kml_short_learner(ctx, model->learner, KML_LONG_LIST));
    add_value(&state, "learner", &value);
    value = json_number(model->n_rows);
    add_value(&state, "n_rows", &value);
    value = json_number(model->n_skipped);
    add_value(&state, "n_skipped", &value);
    value = json_number(model->n_features);
    add_value(&state, "n_features", &value);
    value = json_text(psprintf("%d.%d", KM_FORMAT_MAJOR, KM_FORMAT_MINOR));
    add_value(&state, "version", &value);
    if (model->classes.n > 0)
        add_classes(&state, &model->classes);
    for (size_t i = 0; i < model->n_facts; i++)
        add_fact(&state, &model->fact[i]);
    for (size_t i = 0; i < model->n_arrays; i++)
        if (is_path(&model->array[i]))
            add_matrix(&state, &model->array[i]);
    PG_RETURN_POINTER(JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, NULL)));
}

Datum
kml_model_learner(PG_FUNCTION_ARGS)
{
    const KmModel *model = kml_model_argument(fcinfo)->scorer->model;

    PG_RETURN_POINTER(kml_spec_make(model->learner, strlen(model->learner)));
}

/* NULL for a model without classes. */
Datum
kml_classes(PG_FUNCTION_ARGS)
{
    const KmClasses *classes = &kml_model_argument(fcinfo)->scorer->model->classes;
    Datum *elements = palloc(Max(classes->n, 1) * sizeof(Datum));

    if (classes->n == 0)
        PG_RETURN_NULL();
    for (size_t i = 0; i < classes->n; i++)
        elements[i] = CStringGetTextDatum(classes->text[i]);
    PG_RETURN_ARRAYTYPE_P(construct_array(elements, classes->n, TEXTOID, -1, false, TYPALIGN_INT));
}
