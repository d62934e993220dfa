/*
 * distributions.c: what Gaussian processes say beyond predict: predict_dist, predict_dist_observed,
 * predict_dist_batch, gp_sample, kernel_sample.
 */
#include "glue.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "draws.h"

/* ---- one row ---- */

/* (mean, variance) as a value of the function's result type. */
static Datum
make_distribution(FunctionCallInfo fcinfo, const double *moments)
{
    Datum values[2] = {Float8GetDatum(moments[0]), Float8GetDatum(moments[1])};
    bool nulls[2] = {false, false};
    TupleDesc shape;

    if (get_call_result_type(fcinfo, NULL, &shape) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "result is not composite");
    return HeapTupleGetDatum(heap_form_tuple(shape, values, nulls));
}

/* The latent moments of the row in argument 1 under the model in argument 0. */
static KmlModel *
row_moments(FunctionCallInfo fcinfo, double *moments)
{
    KmlModel *model = kml_whole_model_argument(fcinfo);
    const double *x = kml_model_row(model, kml_row_reader(fcinfo->flinfo), PG_GETARG_DATUM(1));

    kml_check(model->ctx, km_scorer_moments(model->ctx, model->scorer, 1, x, moments));
    return model;
}

PG_FUNCTION_INFO_V1(kml_predict_dist);
PG_FUNCTION_INFO_V1(kml_predict_dist_observed);

Datum
kml_predict_dist(PG_FUNCTION_ARGS)
{
    double moments[2];

    row_moments(fcinfo, moments);
    PG_RETURN_DATUM(make_distribution(fcinfo, moments));
}

Datum
kml_predict_dist_observed(PG_FUNCTION_ARGS)
{
    double moments[2];
    const KmlModel *model = row_moments(fcinfo, moments);

    if (isnan(model->scorer->score.noise))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("the observations of the model are labels, they have no variance"),
                 errhint("Use predict_proba, or predict_dist for the latent value.")));
    moments[1] += model->scorer->score.noise;
    PG_RETURN_DATUM(make_distribution(fcinfo, moments));
}

/* ---- many rows ---- */

PG_FUNCTION_INFO_V1(kml_predict_dist_batch);

Datum
kml_predict_dist_batch(PG_FUNCTION_ARGS)
{
    ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
    KmlModel *model = kml_whole_model_argument(fcinfo);
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    size_t n;
    double *x = kml_model_rows(model, PG_GETARG_DATUM(1), &n), *moments;

    InitMaterializedSRF(fcinfo, 0);
    kml_check(ctx, km_alloc_bytes(ctx, n, 2 * sizeof *moments, (void **) &moments));
    if (n > 0)
        kml_check(ctx, km_scorer_moments_batch(ctx, model->scorer, n, x, moments));
    for (size_t i = 0; i < n; i++)
    {
        Datum values[2] = {Float8GetDatum(moments[2 * i]), Float8GetDatum(moments[2 * i + 1])};
        bool nulls[2] = {false, false};

        tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
    }
    kml_context_delete(ctx);
    pfree(x);
    return (Datum) 0;
}

/* ---- samples ---- */

static size_t
draws_argument(FunctionCallInfo fcinfo)
{
    int32 draws = PG_GETARG_INT32(2);

    if (draws < 1)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("draws must be at least 1, got %d", draws)));
    return draws;
}

PG_FUNCTION_INFO_V1(kml_gp_sample);
PG_FUNCTION_INFO_V1(kml_kernel_sample);

Datum
kml_gp_sample(PG_FUNCTION_ARGS)
{
    KmlModel *model = kml_whole_model_argument(fcinfo);
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    size_t draws = draws_argument(fcinfo), n;
    double *x = kml_model_rows(model, PG_GETARG_DATUM(1), &n), *out;
    Datum result = kml_matrix_make(draws, n, &out);

    for (size_t i = 0; i < n * model->scorer->d; i++)
        if (!km_is_missing(x[i]))
            kml_check_finite(1, x + i, "x", 0);
    if (n > 0)
        kml_check(ctx, km_draws_posterior(ctx, model->scorer, n, x, draws, PG_GETARG_INT64(3), out));
    kml_context_delete(ctx);
    PG_RETURN_DATUM(result);
}

Datum
kml_kernel_sample(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    KmKernel *kernel = kml_kernel_parse_fixed(ctx, PG_GETARG_VARLENA_PP(0));
    size_t draws = draws_argument(fcinfo), n, d;
    double *x = kml_finite_matrix_read(PG_GETARG_DATUM(1), "x", &n, &d), *out;
    Datum result = kml_matrix_make(draws, n, &out);

    if (n > 0)
        kml_check(ctx, km_draws_prior(ctx, kernel, n, d, x, draws, PG_GETARG_INT64(3), out));
    kml_context_delete(ctx);
    PG_RETURN_DATUM(result);
}
