/* libsvm.c: models and rows exchanged with LIBSVM: export_libsvm, import_libsvm, features_from_libsvm. */
#include "glue.h"

#include "utils/builtins.h"

#include "libsvm.h"

PG_FUNCTION_INFO_V1(kml_export_libsvm);
PG_FUNCTION_INFO_V1(kml_import_libsvm);
PG_FUNCTION_INFO_V1(kml_features_from_libsvm);

Datum
kml_export_libsvm(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    KmText out = {0};
    text *result;

    kml_check(ctx, km_libsvm_write(ctx, kml_model_argument(fcinfo)->scorer->model, &out));
    if (out.length > MaxAllocSize - VARHDRSZ)
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                 errmsg("model as text has %zu MB, a value holds less than 1024 MB", out.length >> 20)));
    result = cstring_to_text_with_len(out.data, out.length);
    kml_context_delete(ctx);
    PG_RETURN_TEXT_P(result);
}

/* (text) or (text, number of features). */
Datum
kml_import_libsvm(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    text *source = PG_GETARG_TEXT_PP(0);
    int32 d = PG_NARGS() > 1 ? PG_GETARG_INT32(1) : 0;
    KmModel *model;
    bytea *result;

    if (PG_NARGS() > 1 && d < 1)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a model of %d features is not possible",
                                                                  d)));
    kml_check(ctx, km_libsvm_read(ctx, VARDATA_ANY(source), VARSIZE_ANY_EXHDR(source), d, &model));
    result = kml_model_to_bytea(ctx, model);
    kml_context_delete(ctx);
    PG_RETURN_BYTEA_P(result);
}

Datum
kml_features_from_libsvm(PG_FUNCTION_ARGS)
{
    text *line = PG_GETARG_TEXT_PP(0);
    int32 d = PG_GETARG_INT32(1);
    KmContext *ctx;
    double *features;
    Datum result;

    if (d < 1)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("rows of %d features are not possible",
                                                                  d)));
    result = kml_matrix_make(0, d, &features);
    ctx = kml_context_create(CurrentMemoryContext);
    kml_check(ctx, km_libsvm_features(ctx, VARDATA_ANY(line), VARSIZE_ANY_EXHDR(line), d, features));
    kml_context_delete(ctx);
    PG_RETURN_DATUM(result);
}
