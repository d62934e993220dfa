/*
 * proba.c: probabilities of classes: predict_proba, probability, predict_top.
 */
#include "glue.h"

#include <math.h>

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* The probabilities of the row in argument 1 under the model in argument 0, in model->values. */
static KmlModel *
proba_of_row(FunctionCallInfo fcinfo)
{
    KmlModel *model = kml_whole_model_argument(fcinfo);
    const double *x = kml_model_row(model, kml_row_reader(fcinfo->flinfo), PG_GETARG_DATUM(1));

    kml_check(model->ctx, km_scorer_proba(model->ctx, model->scorer, 1, x, model->values));
    return model;
}

/* The class that argument 2 names. */
static size_t
class_argument(FunctionCallInfo fcinfo, const KmClasses *classes)
{
    Oid output;
    bool is_varlena;
    char *text, quoted[KM_QUOTE_SIZE];
    size_t class;

    getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, 2), &output, &is_varlena);
    text = OidOutputFunctionCall(output, PG_GETARG_DATUM(2));
    class = km_classes_find(classes, text);
    if (class == classes->n)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("\"%s\" is none of the %zu classes of the model", km_quote(text, quoted), classes->n),
                 errhint("classes(model) lists them.")));
    pfree(text);
    return class;
}

PG_FUNCTION_INFO_V1(kml_predict_proba);
PG_FUNCTION_INFO_V1(kml_probability);
PG_FUNCTION_INFO_V1(kml_predict_top);

Datum
kml_predict_proba(PG_FUNCTION_ARGS)
{
    KmlModel *model = proba_of_row(fcinfo);

    PG_RETURN_DATUM(kml_vector_make(model->scorer->model->classes.n, model->values));
}

Datum
kml_probability(PG_FUNCTION_ARGS)
{
    KmlModel *model = proba_of_row(fcinfo);

    PG_RETURN_FLOAT8(model->values[class_argument(fcinfo, &model->scorer->model->classes)]);
}

/* The most probable class not yet taken (NaN: taken), the earlier of equals; n: none is left. */
static size_t
most_probable(size_t n, const double *probability)
{
    size_t best = n;

    for (size_t c = 0; c < n; c++)
        if (!isnan(probability[c]) && (best == n || probability[c] > probability[best]))
            best = c;
    return best;
}

/* Rows of NaN have no class. */
Datum
kml_predict_top(PG_FUNCTION_ARGS)
{
    ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
    KmlModel *model = proba_of_row(fcinfo);
    const KmClasses *classes = &model->scorer->model->classes;
    int32 wanted = PG_GETARG_INT32(2);
    size_t class;

    if (wanted < 1)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("predict_top wants at least 1 class, got %d", wanted)));
    InitMaterializedSRF(fcinfo, 0);
    for (; wanted > 0 && (class = most_probable(classes->n, model->values)) < classes->n; wanted--)
    {
        Datum values[2] = {CStringGetTextDatum(classes->text[class]), Float8GetDatum(model->values[class])};
        bool nulls[2] = {false, false};

        tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
        model->values[class] = NAN;
    }
    return (Datum) 0;
}
