/*
 * survey.c: the aggregate train_survey, which train() runs for each step that
 * has to learn constants: statistics and a bounded sample of the rows.
 *
 * The state is a KmSurvey, one block straight in the aggregate's context.
 */
#include "glue.h"

#include "utils/builtins.h"

#include "passes.h"
#include "sums.h"

/* What a call site keeps between rows. */
typedef struct SurveyCall
{
    KmContext *ctx;             /* of everything below */
    struct varlena *spec;       /* the learner as given */
    KmLearner *learner;
    KmPass *pass;               /* of the first row's columns */
    KmlVectorReader x;
} SurveyCall;

static SurveyCall *
survey_call(FunctionCallInfo fcinfo)
{
    SurveyCall *call = fcinfo->flinfo->fn_extra;
    struct varlena *spec = PG_GETARG_VARLENA_PP(1);
    MemoryContext memory = fcinfo->flinfo->fn_mcxt, old;

    if (call && kml_varlena_equal(call->spec, spec))
        return call;
    old = MemoryContextSwitchTo(memory);
    call = palloc0(sizeof *call);
    call->ctx = kml_context_create(memory);
    call->spec = kml_spec_make(VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec));
    call->learner = kml_learner_parse(call->ctx, spec);
    kml_vector_reader_init(&call->x, get_fn_expr_argtype(fcinfo->flinfo, 2), "x", memory);
    MemoryContextSwitchTo(old);
    fcinfo->flinfo->fn_extra = call;
    return call;
}

static KmSurvey *
start(SurveyCall *call, MemoryContext memory)
{
    KmSurvey *survey;

    if (call->pass == NULL)
        kml_check(call->ctx, km_pass_create(call->ctx, call->learner, call->x.n, &call->pass));
    survey = MemoryContextAllocHuge(memory, call->pass->survey_bytes);
    km_pass_start(call->pass, survey);
    return survey;
}

PG_FUNCTION_INFO_V1(kml_train_survey_transition);

/* (state, learner, x, weight) */
Datum
kml_train_survey_transition(PG_FUNCTION_ARGS)
{
    KmSurvey *survey = PG_ARGISNULL(0) ? NULL : (KmSurvey *) PG_GETARG_POINTER(0);
    MemoryContext memory;
    SurveyCall *call;

    if (!AggCheckCallContext(fcinfo, &memory))
        elog(ERROR, "train_survey transition called outside an aggregate");
    if (PG_ARGISNULL(1))
        ereport(ERROR,
                (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                 errmsg("learner of train_survey must not be NULL")));
    if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
    {
        if (survey == NULL)
            PG_RETURN_NULL();
        PG_RETURN_POINTER(survey);
    }
    call = survey_call(fcinfo);
    kml_vector_read(&call->x, PG_GETARG_DATUM(2), "x");
    if (survey == NULL)
        survey = start(call, memory);
    if (call->x.n != call->pass->d)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("row has %zu feature%s, the rows before it have %zu", call->x.n, km_plural(call->x.n),
                        call->pass->d)));
    kml_check(call->ctx, km_pass_add(call->ctx, call->pass, survey, call->x.value, PG_GETARG_FLOAT8(3)));
    PG_RETURN_POINTER(survey);
}

/* ---- between processes ---- */

static bytea *
to_bytea(const KmSurvey *survey)
{
    bytea *bytes = palloc(VARHDRSZ + survey->bytes);

    SET_VARSIZE(bytes, VARHDRSZ + survey->bytes);
    memcpy(VARDATA(bytes), survey, survey->bytes);
    return bytes;
}

KmSurvey *
kml_survey_from_bytea(KmContext *ctx, const bytea *bytes)
{
    size_t length = VARSIZE_ANY_EXHDR(bytes);
    KmSurvey *survey = MemoryContextAllocHuge(CurrentMemoryContext, Max(length, 1));

    memcpy(survey, VARDATA_ANY(bytes), length);
    kml_check(ctx, km_survey_check(ctx, survey, length));
    return survey;
}

PG_FUNCTION_INFO_V1(kml_train_survey_combine);
PG_FUNCTION_INFO_V1(kml_train_survey_serial);
PG_FUNCTION_INFO_V1(kml_train_survey_deserial);
PG_FUNCTION_INFO_V1(kml_train_survey_final);

Datum
kml_train_survey_combine(PG_FUNCTION_ARGS)
{
    KmSurvey *a = PG_ARGISNULL(0) ? NULL : (KmSurvey *) PG_GETARG_POINTER(0);
    KmSurvey *b = PG_ARGISNULL(1) ? NULL : (KmSurvey *) PG_GETARG_POINTER(1);
    MemoryContext memory;
    KmContext *ctx;

    if (!AggCheckCallContext(fcinfo, &memory))
        elog(ERROR, "train_survey combine called outside an aggregate");
    if (a == NULL && b == NULL)
        PG_RETURN_NULL();
    if (b == NULL)
        PG_RETURN_POINTER(a);
    if (a == NULL)
    {
        a = MemoryContextAllocHuge(memory, b->bytes);
        memcpy(a, b, b->bytes);
        PG_RETURN_POINTER(a);
    }
    ctx = kml_context_create(CurrentMemoryContext);
    kml_check(ctx, km_survey_merge(ctx, a, b));
    kml_context_delete(ctx);
    PG_RETURN_POINTER(a);
}

Datum
kml_train_survey_serial(PG_FUNCTION_ARGS)
{
    if (!AggCheckCallContext(fcinfo, NULL))
        elog(ERROR, "train_survey serial function called outside an aggregate");
    PG_RETURN_BYTEA_P(to_bytea((KmSurvey *) PG_GETARG_POINTER(0)));
}

Datum
kml_train_survey_deserial(PG_FUNCTION_ARGS)
{
    KmContext *ctx;
    KmSurvey *survey;

    if (!AggCheckCallContext(fcinfo, NULL))
        elog(ERROR, "train_survey deserial function called outside an aggregate");
    ctx = kml_context_create(CurrentMemoryContext);
    survey = kml_survey_from_bytea(ctx, PG_GETARG_BYTEA_PP(0));
    kml_context_delete(ctx);
    PG_RETURN_POINTER(survey);
}

/* NULL for no rows. */
Datum
kml_train_survey_final(PG_FUNCTION_ARGS)
{
    KmSurvey *survey = PG_ARGISNULL(0) ? NULL : (KmSurvey *) PG_GETARG_POINTER(0);

    if (survey == NULL || survey->n_rows == 0)
        PG_RETURN_NULL();
    PG_RETURN_BYTEA_P(to_bytea(survey));
}
