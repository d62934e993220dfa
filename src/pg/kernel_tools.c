/*
 * kernel_tools.c: Gram matrices centred, normalised and expanded, degrees of freedom,
 * norms of models, the median distance of rows.
 */
#include "glue.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"

#include "gram.h"
#include "kernel_tools.h"
#include "row_store.h"

/* ---- matrices to matrices ---- */

typedef KmStatus (*MatrixFunction)(KmContext *ctx, size_t n, double *g);

static Datum
change_matrix(FunctionCallInfo fcinfo, MatrixFunction function)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    size_t n;
    double *g = kml_symmetric_read(ctx, PG_GETARG_DATUM(0), 2, &n), *out;
    Datum result = kml_matrix_make(n, n, &out);

    if (n > 0)
    {
        kml_check(ctx, function(ctx, n, g));
        memcpy(out, g, n * n * sizeof(double));
    }
    pfree(g);
    kml_context_delete(ctx);
    return result;
}

PG_FUNCTION_INFO_V1(kml_center_gram);
PG_FUNCTION_INFO_V1(kml_normalize_gram);

Datum
kml_center_gram(PG_FUNCTION_ARGS)
{
    return change_matrix(fcinfo, km_gram_center);
}

Datum
kml_normalize_gram(PG_FUNCTION_ARGS)
{
    return change_matrix(fcinfo, km_gram_normalize);
}

/* ---- spectra ---- */

PG_FUNCTION_INFO_V1(kml_effective_df);
PG_FUNCTION_INFO_V1(kml_kernel_eigen);

/* Degrees of freedom for each lambda. */
Datum
kml_effective_df(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    KmlVectorReader lambda;
    size_t n;
    double *g = kml_symmetric_read(ctx, PG_GETARG_DATUM(0), 1, &n), *out;
    Datum result;

    kml_vector_reader_init(&lambda, FLOAT8ARRAYOID, "lambda", CurrentMemoryContext);
    kml_vector_read(&lambda, PG_GETARG_DATUM(1), "lambda");
    kml_check_finite(lambda.n, lambda.value, "lambda", 0);
    for (size_t i = 0; i < lambda.n; i++)
        if (lambda.value[i] < 0)
            ereport(ERROR,
                    (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                     errmsg("element %zu of lambda is %g, it must not be negative", i + 1, lambda.value[i])));
    result = kml_matrix_make(0, lambda.n, &out);
    kml_check(ctx, km_gram_effective_df(ctx, n, g, lambda.n, lambda.value, out));
    pfree(g);
    kml_context_delete(ctx);
    PG_RETURN_DATUM(result);
}

/* The k largest eigenvalues with their vectors, a row each. */
Datum
kml_kernel_eigen(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
    int32 k = PG_GETARG_INT32(1);
    size_t n;
    double *g = kml_symmetric_read(ctx, PG_GETARG_DATUM(0), 1, &n), *values, *vectors;

    if (k < 1 || (size_t) k > n)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("k must be from 1 to the %zu rows of g, got %d", n, k)));
    kml_check(ctx, km_reserve(ctx, 8.0 * n * (n + k), "a copy of g and the vectors",
                              "Ask for fewer vectors, or raise kernelml.max_memory."));
    kml_check(ctx, km_alloc(ctx, k, &values));
    kml_check(ctx, km_alloc_bytes(ctx, k, n * sizeof(double), (void **) &vectors));
    kml_check(ctx, km_symmetric_eigenvectors(ctx, n, g, k, values, vectors));
    InitMaterializedSRF(fcinfo, 0);
    for (int32 j = 0; j < k; j++)
    {
        Datum row[2] = {Float8GetDatum(values[j]), kml_vector_make(n, vectors + j * n)};
        bool nulls[2] = {false, false};

        tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, row, nulls);
        pfree(DatumGetPointer(row[1]));
    }
    pfree(g);
    kml_context_delete(ctx);
    return (Datum) 0;
}

/* ---- models ---- */

PG_FUNCTION_INFO_V1(kml_rkhs_norm);

Datum
kml_rkhs_norm(PG_FUNCTION_ARGS)
{
    const KmModel *model = kml_model_argument(fcinfo)->scorer->model;
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    double norm;

    kml_check(ctx, km_model_rkhs_norm(ctx, model, &norm));
    kml_context_delete(ctx);
    PG_RETURN_FLOAT8(norm);
}

/* ---- median_distance ---- */

PG_FUNCTION_INFO_V1(kml_median_transition);
PG_FUNCTION_INFO_V1(kml_median_final);

/* (state, x): keep the row; a NULL row is skipped. */
Datum
kml_median_transition(PG_FUNCTION_ARGS)
{
    MemoryContext memory;
    KmlRowStore *rows = PG_ARGISNULL(0) ? NULL : (KmlRowStore *) PG_GETARG_POINTER(0);
    const KmlVectorReader *x;

    if (!AggCheckCallContext(fcinfo, &memory))
        elog(ERROR, "median_distance transition called outside an aggregate");
    if (PG_ARGISNULL(1) && rows == NULL)
        PG_RETURN_NULL();
    if (PG_ARGISNULL(1))
        PG_RETURN_POINTER(rows);
    x = kml_row_argument(fcinfo, 1);
    if (rows == NULL)
    {
        rows = MemoryContextAllocZero(memory, sizeof *rows);
        kml_rows_init(rows, x->n, memory);
    }
    kml_rows_add(rows, x);
    PG_RETURN_POINTER(rows);
}

/* NULL for fewer than two rows. */
Datum
kml_median_final(PG_FUNCTION_ARGS)
{
    const KmlRowStore *rows = PG_ARGISNULL(0) ? NULL : (KmlRowStore *) PG_GETARG_POINTER(0);
    KmContext *ctx;
    double *x, median;

    if (rows == NULL || rows->n < 2)
        PG_RETURN_NULL();
    ctx = kml_context_create(CurrentMemoryContext);
    x = kml_rows_copy(ctx, rows);
    kml_check(ctx, km_median_distance(ctx, rows->n, rows->width, x, NULL, KM_PAIR_SQDIST, &median));
    kml_context_delete(ctx);
    PG_RETURN_FLOAT8(median);
}
