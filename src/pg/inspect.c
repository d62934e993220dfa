/* inspect.c: what a model is made of, and what decides about one row: support_vectors, coefficients, explain.
 * */
#include "glue.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "inspect.h"

#define MOST_EXPLAINED 10000    /* rows of explain */

/* What one call looks at. */
typedef struct Look
{
    KmContext *ctx;
    KmInspection inspection;
    const KmClasses *classes;
    double *row;                /* room for one row */
} Look;

static Look *
look_at(FunctionCallInfo fcinfo)
{
    KmlModel *model = kml_model_argument(fcinfo);
    Look *look = palloc0(sizeof *look);

    look->ctx = kml_context_create(CurrentMemoryContext);
    look->classes = &model->scorer->model->classes;
    kml_check(look->ctx, km_inspect(look->ctx, model->scorer, &look->inspection));
    look->row = palloc(look->inspection.d * sizeof(double));
    return look;
}

static void
put_row(FunctionCallInfo fcinfo, const Datum *values, const bool *nulls)
{
    ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;

    tuplestore_putvalues(set->setResult, set->setDesc, (Datum *) values, (bool *) nulls);
}

/* Column `at`: the text of a class, NULL for none. */
static void
put_class(const Look *look, size_t class, int at, Datum *values, bool *nulls)
{
    nulls[at] = class == SIZE_MAX;
    values[at] = nulls[at] ? (Datum) 0 : CStringGetTextDatum(look->classes->text[class]);
}

/* Columns 0 and 1: a stored row and its class. */
static void
put_stored(const Look *look, size_t s, Datum *values, bool *nulls)
{
    nulls[0] = false;
    km_inspect_row(&look->inspection, s, look->row);
    values[0] = kml_vector_make(look->inspection.d, look->row);
    put_class(look, km_inspect_class(&look->inspection, s), 1, values, nulls);
}

PG_FUNCTION_INFO_V1(kml_support_vectors);
PG_FUNCTION_INFO_V1(kml_coefficients);
PG_FUNCTION_INFO_V1(kml_explain);

/* (support_vector, label, coefficients): a coefficient in each value of decision(). */
Datum
kml_support_vectors(PG_FUNCTION_ARGS)
{
    Look *look = look_at(fcinfo);
    size_t n_out = look->inspection.n_out;
    double *coef = palloc(n_out * sizeof(double));

    kml_check(look->ctx, km_inspect_expect_rows(look->ctx, &look->inspection));
    InitMaterializedSRF(fcinfo, 0);
    for (size_t s = 0; s < look->inspection.n; s++)
    {
        Datum values[3];
        bool nulls[3] = {false};

        CHECK_FOR_INTERRUPTS();
        put_stored(look, s, values, nulls);
        for (size_t o = 0; o < n_out; o++)
            coef[o] = km_inspect_coefficient(&look->inspection, s, o);
        values[2] = kml_vector_make(n_out, coef);
        put_row(fcinfo, values, nulls);
    }
    return (Datum) 0;
}

/* (output, label, against, coefficients, intercept): a row for each value of decision(). */
Datum
kml_coefficients(PG_FUNCTION_ARGS)
{
    Look *look = look_at(fcinfo);

    InitMaterializedSRF(fcinfo, 0);
    for (size_t o = 0; o < look->inspection.n_out; o++)
    {
        size_t label, against;
        double intercept;
        Datum values[5];
        bool nulls[5] = {false};

        km_inspect_classes(&look->inspection, o, &label, &against);
        kml_check(look->ctx, km_inspect_plane(look->ctx, &look->inspection, o, look->row, &intercept));
        values[0] = Int32GetDatum(o + 1);
        put_class(look, label, 1, values, nulls);
        put_class(look, against, 2, values, nulls);
        values[3] = kml_vector_make(look->inspection.d, look->row);
        values[4] = Float8GetDatum(intercept);
        put_row(fcinfo, values, nulls);
    }
    return (Datum) 0;
}

/* (model, x, n, output): (support_vector, label, contribution, share), the largest first. */
Datum
kml_explain(PG_FUNCTION_ARGS)
{
    KmlModel *model = kml_model_argument(fcinfo);
    const double *x = kml_model_row(model, kml_row_reader(fcinfo->flinfo), PG_GETARG_DATUM(1));
    int32 wanted = PG_GETARG_INT32(2), output = PG_GETARG_INT32(3);
    Look *look = look_at(fcinfo);
    size_t n = wanted;
    KmShare *shares;

    if (wanted < 1 || wanted > MOST_EXPLAINED)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("explain gives from 1 to %d rows, not %d", MOST_EXPLAINED, wanted)));
    if (output < 1 || (size_t) output > look->inspection.n_out)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("output is %d, decision has values 1 to %zu", output, look->inspection.n_out)));
    shares = palloc(n * sizeof *shares);
    kml_check(look->ctx, km_inspect_explain(look->ctx, &look->inspection, x, output - 1, &n, shares));
    InitMaterializedSRF(fcinfo, 0);
    for (size_t i = 0; i < n; i++)
    {
        Datum values[4];
        bool nulls[4] = {false};

        put_stored(look, shares[i].row, values, nulls);
        values[2] = Float8GetDatum(shares[i].contribution);
        values[3] = Float8GetDatum(shares[i].share);
        put_row(fcinfo, values, nulls);
    }
    return (Datum) 0;
}
