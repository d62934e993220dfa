/*
 * predict.c: scoring rows with a model: predict, predict_vector, predict_label, decision,
 * score, transform, predict_batch, and what they cost the planner.
 *
 * All forms go through km_scorer_values, whose fixed order of operations gives a
 * row the same bits alone and in a batch.
 */
#include "glue.h"

#include <math.h>

#include "access/detoast.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"

/* The raw values of the row in argument 1 under the model in argument 0. */
static KmlModel *
score_row(FunctionCallInfo fcinfo)
{
    KmlModel *model = kml_model_argument(fcinfo);
    const double *x = kml_model_row(model, kml_row_reader(fcinfo->flinfo), PG_GETARG_DATUM(1));

    kml_model_require_estimator(model);
    kml_check(model->ctx, km_scorer_values(model->ctx, model->scorer, 1, x, model->values));
    return model;
}

PG_FUNCTION_INFO_V1(kml_predict);
PG_FUNCTION_INFO_V1(kml_predict_vector);
PG_FUNCTION_INFO_V1(kml_predict_label);
PG_FUNCTION_INFO_V1(kml_decision);
PG_FUNCTION_INFO_V1(kml_score);
PG_FUNCTION_INFO_V1(kml_transform);
PG_FUNCTION_INFO_V1(kml_predict_batch);

Datum
kml_predict(PG_FUNCTION_ARGS)
{
    KmlModel *model = score_row(fcinfo);
    double value;

    kml_check(model->ctx, km_scorer_predict(model->ctx, model->scorer, model->values, &value));
    PG_RETURN_FLOAT8(value);
}

/* The values of a regression, one per target. */
Datum
kml_predict_vector(PG_FUNCTION_ARGS)
{
    KmlModel *model = score_row(fcinfo);

    if (km_learner_target(model->scorer->learner) != KM_TARGET_NUMBER)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("model %s is no regression", kml_model_name(model)),
                 errhint("Use predict(model, x) or decision(model, x).")));
    PG_RETURN_DATUM(kml_vector_make(model->scorer->score.n_out, model->values));
}

Datum
kml_predict_label(PG_FUNCTION_ARGS)
{
    KmlModel *model = score_row(fcinfo);
    const KmClasses *classes = &model->scorer->model->classes;
    int class;

    if (classes->n == 0)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("model %s has no classes", kml_model_name(model)),
                 errhint("Use predict(model, x).")));
    class = km_scorer_class(model->scorer, model->values);
    if (class < 0)
        PG_RETURN_NULL();
    PG_RETURN_TEXT_P(cstring_to_text(classes->text[class]));
}

Datum
kml_decision(PG_FUNCTION_ARGS)
{
    KmlModel *model = score_row(fcinfo);

    PG_RETURN_DATUM(kml_vector_make(model->scorer->score.n_out, model->values));
}

Datum
kml_score(PG_FUNCTION_ARGS)
{
    KmlModel *model = score_row(fcinfo);

    if (model->scorer->score.n_out != 1)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("model gives %zu values per row, not one", model->scorer->score.n_out),
                 errhint("Use decision(model, x).")));
    PG_RETURN_FLOAT8(model->values[0]);
}

Datum
kml_transform(PG_FUNCTION_ARGS)
{
    KmlModel *model = kml_model_argument(fcinfo);
    const double *x = kml_model_row(model, kml_row_reader(fcinfo->flinfo), PG_GETARG_DATUM(1));

    kml_check(model->ctx, km_scorer_transform(model->ctx, model->scorer, 1, x, model->values));
    PG_RETURN_DATUM(kml_vector_make(model->scorer->steps.d_out, model->values));
}

/* predict of every row of a two-dimensional array. */
Datum
kml_predict_batch(PG_FUNCTION_ARGS)
{
    KmlModel *model = kml_model_argument(fcinfo);
    size_t n_out = model->scorer->score.n_out, n;
    double *x = kml_model_rows(model, PG_GETARG_DATUM(1), &n);
    double *raw, *values;
    KmContext *ctx;
    Datum result = kml_matrix_make(0, n, &values);

    kml_model_require_estimator(model);
    ctx = kml_context_create(CurrentMemoryContext);
    kml_check(ctx, km_alloc(ctx, n * n_out, &raw));
    kml_check(model->ctx, km_scorer_values(model->ctx, model->scorer, n, x, raw));
    for (size_t i = 0; i < n; i++)
        kml_check(model->ctx, km_scorer_predict(model->ctx, model->scorer, raw + i * n_out, &values[i]));
    kml_context_delete(ctx);
    pfree(x);
    PG_RETURN_DATUM(result);
}

/* ---- planner support ---- */

PG_FUNCTION_INFO_V1(kml_predict_support);

/*
 * A row's cost grows with the model, of which it reads every byte; the decoding
 * is paid once.  Unknown models count as one of 100 kB.
 */
Datum
kml_predict_support(PG_FUNCTION_ARGS)
{
    Node *request = (Node *) PG_GETARG_POINTER(0);
    SupportRequestCost *cost;
    double bytes = 100000;

    if (!IsA(request, SupportRequestCost))
        PG_RETURN_POINTER(NULL);
    cost = (SupportRequestCost *) request;
    if (cost->node && IsA(cost->node, FuncExpr))
    {
        Node *argument = linitial(((FuncExpr *) cost->node)->args);

        if (IsA(argument, Const) && !((Const *) argument)->constisnull)
            bytes = toast_raw_datum_size(((Const *) argument)->constvalue);
    }
    cost->startup = cpu_operator_cost * bytes / 100;
    cost->per_tuple = cpu_operator_cost * (10 + bytes / 100);
    PG_RETURN_POINTER(cost);
}
