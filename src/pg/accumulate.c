/*
 * accumulate.c: the type accumulator, the aggregates accumulate and merge, and
 * what is done with their values: merge, subtract, solve, squared_error,
 * accumulator_info.
 *
 * The state of the aggregates is the flat value itself, changed in place: a
 * varlena whose KmSums starts 8 bytes in, so that it is aligned.
 */
#include "glue.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "common/base64.h"
#include "funcapi.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "sums.h"

#define SUMS_OFFSET MAXALIGN(VARHDRSZ)

static KmSums *
sums_of(struct varlena *value)
{
    return (KmSums *) ((char *) value + SUMS_OFFSET);
}

/* A value with room for `bytes` of sums, which core writes or clears; the padding before them is stored. */
static struct varlena *
value_make(size_t bytes)
{
    struct varlena *value = palloc(SUMS_OFFSET + bytes);

    memset(value, 0, SUMS_OFFSET);
    SET_VARSIZE(value, SUMS_OFFSET + bytes);
    return value;
}

/* ---- feature maps ---- */

#define MAX_MAPS 8

/* A feature map, for rows of any group that has its learner and columns. */
typedef struct Map
{
    KmContext *ctx;             /* of the map; NULL: a free place */
    KmFeatureMap *map;
    uint64 used;                /* time of last use */
} Map;

/* What a call site keeps between rows. */
typedef struct SumsCall
{
    MemoryContext memory;       /* lives as long as this */
    KmContext *ctx;             /* of the next two */
    struct varlena *spec;       /* learner as given to accumulate, or NULL */
    KmText text;                /* canonical text of its map */
    KmlVectorReader x, y;
    uint64 clock;
    Map map[MAX_MAPS];
} SumsCall;

static SumsCall *
sums_call(FunctionCallInfo fcinfo)
{
    MemoryContext memory;
    SumsCall *call = kml_call_site(fcinfo, sizeof *call, &memory);

    call->memory = memory;
    return call;
}

static void
set_learner(SumsCall *call, const struct varlena *spec)
{
    KmContext *ctx = kml_context_create(call->memory);
    MemoryContext old = MemoryContextSwitchTo(ctx->owner);
    KmText canonical = {0};
    KmLearner *learner;

    if (call->ctx)
        kml_context_delete(call->ctx);
    call->ctx = NULL;
    call->spec = NULL;
    kml_check(ctx, km_feature_map_parse(ctx, VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec), &learner));
    kml_check(ctx, km_feature_map_check(ctx, learner));
    kml_check(ctx, km_feature_map_text(ctx, learner, &canonical));
    call->text = canonical;
    call->spec = kml_spec_make(VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec));
    call->ctx = ctx;
    MemoryContextSwitchTo(old);
}

/* Replace a map by that of a learner's canonical text. */
static void
make_map(SumsCall *call, const KmText *text, size_t d, size_t targets, Map *map)
{
    KmContext *ctx = kml_context_create(call->memory);
    KmLearner *learner;

    if (map->ctx)
        kml_context_delete(map->ctx);
    *map = (Map) {0};
    kml_check(ctx, km_feature_map_parse(ctx, text->data, text->length, &learner));
    kml_check(ctx, km_feature_map_create(ctx, learner, d, targets, &map->map));
    map->ctx = ctx;
}

/* Groups may differ in columns and follow each other in any order: the map not used for longest goes. */
static Map *
map_for(SumsCall *call, const KmText *text, size_t d, size_t targets)
{
    Map *found = &call->map[0];

    for (Map *map = call->map; map < call->map + MAX_MAPS; map++)
    {
        if (map->ctx && km_feature_map_is(map->map, text, d, targets))
        {
            map->used = ++call->clock;
            return map;
        }
        if (map->used < found->used)
            found = map;
    }
    make_map(call, text, d, targets, found);
    found->used = ++call->clock;
    return found;
}

/* Add the waiting rows of a value that is in use. */
static void
flush(SumsCall *call, KmSums *sums)
{
    KmText text = {.data = (char *) km_sums_learner(sums), .length = sums->learner_bytes};
    Map *map;

    if (sums->waiting == 0)
        return;
    map = map_for(call, &text, sums->d, sums->targets);
    kml_check(map->ctx, km_sums_flush(map->ctx, map->map, sums));
}

/* The stored form of flushed sums. */
static struct varlena *
stored(const KmSums *sums)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    struct varlena *value = value_make(km_sums_stored_bytes(sums));

    kml_check(ctx, km_sums_store(ctx, sums, sums_of(value)));
    kml_context_delete(ctx);
    return value;
}

KmSums *
kml_sums_of_accumulator(KmContext *ctx, struct varlena *value)
{
    value = PG_DETOAST_DATUM(PointerGetDatum(value));
    if (VARSIZE(value) < SUMS_OFFSET)
        ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("accumulator is too short")));
    kml_check(ctx, km_sums_check(ctx, sums_of(value), VARSIZE(value) - SUMS_OFFSET));
    return sums_of(value);
}

/* An argument of a plain function. */
static KmSums *
stored_argument(FunctionCallInfo fcinfo, int i, KmContext *ctx)
{
    return kml_sums_of_accumulator(ctx, (struct varlena *) PG_GETARG_POINTER(i));
}

/* ---- type accumulator: text is base64 of the stored bytes ---- */

PG_FUNCTION_INFO_V1(kml_accumulator_in);
PG_FUNCTION_INFO_V1(kml_accumulator_out);
PG_FUNCTION_INFO_V1(kml_accumulator_recv);
PG_FUNCTION_INFO_V1(kml_accumulator_send);

static struct varlena *
checked(struct varlena *value)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);

    kml_check(ctx, km_sums_check(ctx, sums_of(value), VARSIZE(value) - SUMS_OFFSET));
    kml_context_delete(ctx);
    return value;
}

/* A partial state travels as text too (Citus), so output flushes first. */
static struct varlena *
stored_for_output(FunctionCallInfo fcinfo)
{
    struct varlena *value = PG_DETOAST_DATUM(PG_GETARG_DATUM(0));

    if (sums_of(value)->waiting > 0)
        value = PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0));
    flush(sums_call(fcinfo), sums_of(value));
    return stored(sums_of(value));
}

/* Bytes of base64 a slice: whole groups of 3 bytes and 4 letters, so that slices join to one text. */
#define SLICE_BYTES (3 << 20)
#define SLICE_LETTERS (4 << 20)

Datum
kml_accumulator_in(PG_FUNCTION_ARGS)
{
    char *text = PG_GETARG_CSTRING(0);
    size_t length = strlen(text), bytes = 0;
    struct varlena *value = value_make(length / 4 * 3 + 3);

    for (size_t i = 0; i < length; i += SLICE_LETTERS)
    {
        int letters = Min(length - i, SLICE_LETTERS);
        int got = pg_b64_decode(text + i, letters, (void *) ((char *) sums_of(value) + bytes),
                                letters / 4 * 3 + 3);

        CHECK_FOR_INTERRUPTS();
        if (got < 0 || (i + letters < length && got != SLICE_BYTES))
            ereport(ERROR,
                    (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                     errmsg("invalid input syntax for type accumulator: not base64")));
        bytes += got;
    }
    SET_VARSIZE(value, SUMS_OFFSET + bytes);
    PG_RETURN_POINTER(checked(value));
}

Datum
kml_accumulator_out(PG_FUNCTION_ARGS)
{
    struct varlena *value = stored_for_output(fcinfo);
    size_t bytes = VARSIZE(value) - SUMS_OFFSET, length = 0;
    size_t room = (bytes + 2) / 3 * 4;
    char *text = palloc(room + 1);

    for (size_t i = 0; i < bytes; i += SLICE_BYTES)
    {
        int got = pg_b64_encode((void *) ((char *) sums_of(value) + i), Min(bytes - i, SLICE_BYTES),
                                text + length, room - length);

        CHECK_FOR_INTERRUPTS();
        if (got < 0)
            elog(ERROR, "could not encode an accumulator of %zu bytes", bytes);
        length += got;
    }
    text[length] = '\0';
    PG_RETURN_CSTRING(text);
}

Datum
kml_accumulator_recv(PG_FUNCTION_ARGS)
{
    StringInfo message = (StringInfo) PG_GETARG_POINTER(0);
    int bytes = message->len - message->cursor;
    struct varlena *value = value_make(bytes);

    pq_copymsgbytes(message, (char *) sums_of(value), bytes);
    PG_RETURN_POINTER(checked(value));
}

Datum
kml_accumulator_send(PG_FUNCTION_ARGS)
{
    struct varlena *value = stored_for_output(fcinfo);
    StringInfoData message;

    pq_begintypsend(&message);
    pq_sendbytes(&message, (char *) sums_of(value), VARSIZE(value) - SUMS_OFFSET);
    PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

/* ---- accumulate ---- */

/* The type of an argument as the function declares it: a caller may have no expression (Citus). */
static Oid
declared_type(FunctionCallInfo fcinfo, int i)
{
    Oid *types;
    int n;

    get_func_signature(fcinfo->flinfo->fn_oid, &types, &n);
    return types[i];
}

/* Set up the call for its learner; the map is made when a row tells its columns. */
static SumsCall *
accumulate_call(FunctionCallInfo fcinfo)
{
    SumsCall *call = sums_call(fcinfo);
    struct varlena *spec = PG_GETARG_VARLENA_PP(1);

    if (call->spec == NULL || !kml_varlena_equal(call->spec, spec))
        set_learner(call, spec);
    if (!OidIsValid(call->x.type))
    {
        kml_vector_reader_init(&call->x, FLOAT8ARRAYOID, "x", call->memory);
        if (declared_type(fcinfo, 3) == FLOAT8ARRAYOID)
            kml_vector_reader_init(&call->y, FLOAT8ARRAYOID, "y", call->memory);
    }
    PG_FREE_IF_COPY(spec, 1);
    return call;
}

static struct varlena *
start_empty(const SumsCall *call)
{
    struct varlena *value = value_make(km_sums_empty_bytes(call->text.length));

    km_sums_init_empty(call->text.length, call->text.data, sums_of(value));
    return value;
}

/* A value with the map of this row's columns; what an empty one counted is kept. */
static struct varlena *
start_with_map(const Map *map, const struct varlena *empty)
{
    size_t bytes = km_sums_initial_bytes(map->map);
    struct varlena *value;

    kml_check(map->ctx, km_sums_reserve(map->ctx, map->map));
    value = value_make(bytes);
    kml_check(map->ctx, km_sums_init(map->ctx, map->map, bytes, sums_of(value)));
    if (empty)
        sums_of(value)->n_skipped = sums_of((struct varlena *) empty)->n_skipped;
    return value;
}

/* The value with room for one more row; a larger copy when it is full. */
static struct varlena *
with_room(const Map *map, struct varlena *value)
{
    size_t wanted = km_sums_wanted_bytes(map->map, sums_of(value));
    struct varlena *larger;

    if (wanted <= sums_of(value)->bytes)
        return value;
    larger = value_make(wanted);
    kml_check(map->ctx, km_sums_grow(map->ctx, sums_of(value), wanted, sums_of(larger)));
    return larger;
}

static void
check_same_learner(const SumsCall *call, const KmSums *sums)
{
    if (call->text.length != sums->learner_bytes ||
        memcmp(call->text.data, km_sums_learner(sums), sums->learner_bytes) != 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("the learner of accumulate must be the same for all rows of a group")));
}

static void
check_same_columns(const KmSums *sums, size_t d, size_t targets)
{
    if (sums->d != d || sums->targets != targets)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("row has %zu feature%s and %zu target%s, the rows before it have %u and %u", d,
                        km_plural(d), targets, km_plural(targets), sums->d, sums->targets)));
}

static struct varlena *
accumulate_row(FunctionCallInfo fcinfo, SumsCall *call, struct varlena *value)
{
    double target = 0, weight = PG_NARGS() > 4 ? PG_GETARG_FLOAT8(4) : 1;
    const double *y = &target;
    size_t targets = 1;
    Map *map;

    kml_vector_read(&call->x, PG_GETARG_DATUM(2), "x");
    if (OidIsValid(call->y.type))
    {
        kml_vector_read(&call->y, PG_GETARG_DATUM(3), "y");
        kml_check_finite(call->y.n, call->y.value, "y", 0);
        y = call->y.value;
        targets = call->y.n;
    }
    else
        target = PG_GETARG_FLOAT8(3);

    map = map_for(call, &call->text, call->x.n, targets);
    if (call->x.first_missing < call->x.n && !km_feature_map_takes_missing(map->map))
        kml_refuse_missing(call->x.first_missing, "x");
    if (value == NULL || sums_of(value)->d == 0)
        value = start_with_map(map, value);
    check_same_columns(sums_of(value), call->x.n, targets);
    value = with_room(map, value);
    kml_check(map->ctx, km_sums_add(map->ctx, map->map, sums_of(value), call->x.value, y, weight));
    return value;
}

PG_FUNCTION_INFO_V1(kml_accumulate_transition);

/* (state, learner, x, y [, weight]) */
Datum
kml_accumulate_transition(PG_FUNCTION_ARGS)
{
    struct varlena *value = PG_ARGISNULL(0) ? NULL : (struct varlena *) PG_GETARG_POINTER(0);
    SumsCall *call;

    if (!AggCheckCallContext(fcinfo, NULL))
        elog(ERROR, "accumulate transition called outside an aggregate");
    if (PG_ARGISNULL(1))
        ereport(ERROR,
                (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("learner of accumulate must not be NULL")));
    call = accumulate_call(fcinfo);
    if (value)
        check_same_learner(call, sums_of(value));
    for (int i = 2; i < PG_NARGS(); i++)
        if (PG_ARGISNULL(i))
        {
            if (value == NULL)
                value = start_empty(call);
            sums_of(value)->n_skipped++;
            PG_RETURN_POINTER(value);
        }
    PG_RETURN_POINTER(accumulate_row(fcinfo, call, value));
}

/* ---- merging ---- */

/* a += sign * b, in a itself or in a larger copy; both flushed. */
static struct varlena *
merge_into(struct varlena *a, const KmSums *b, int sign)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    size_t wanted = km_sums_merged_bytes(sums_of(a), b);

    if (wanted > sums_of(a)->bytes)
    {
        struct varlena *larger = value_make(wanted);

        kml_check(ctx, km_sums_grow(ctx, sums_of(a), wanted, sums_of(larger)));
        a = larger;
    }
    kml_check(ctx, km_sums_merge(ctx, sums_of(a), b, sign));
    kml_context_delete(ctx);
    return a;
}

PG_FUNCTION_INFO_V1(kml_accumulator_combine);
PG_FUNCTION_INFO_V1(kml_accumulator_final);

/* Combine function of accumulate, transition function of merge: strict, changes the first in place. */
Datum
kml_accumulator_combine(PG_FUNCTION_ARGS)
{
    SumsCall *call = sums_call(fcinfo);
    struct varlena *a = (struct varlena *) PG_GETARG_POINTER(0);
    struct varlena *b = PG_DETOAST_DATUM(PG_GETARG_DATUM(1));

    if (!AggCheckCallContext(fcinfo, NULL))
        elog(ERROR, "accumulator combine called outside an aggregate");
    /* the first value that a strict transition starts from may still be toasted or stored */
    a = PG_DETOAST_DATUM(PointerGetDatum(a));
    flush(call, sums_of(a));
    if (sums_of(b)->waiting > 0)
    {
        b = PG_DETOAST_DATUM_COPY(PointerGetDatum(b));
        flush(call, sums_of(b));
    }
    PG_RETURN_POINTER(merge_into(a, sums_of(b), 1));
}

/* The stored form; the state stays as it is but for its waiting rows. */
Datum
kml_accumulator_final(PG_FUNCTION_ARGS)
{
    struct varlena *value = PG_DETOAST_DATUM(PG_GETARG_DATUM(0));

    flush(sums_call(fcinfo), sums_of(value));
    PG_RETURN_POINTER(stored(sums_of(value)));
}

static Datum
combined(FunctionCallInfo fcinfo, int sign)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    KmSums *a = stored_argument(fcinfo, 0, ctx);
    KmSums *b = stored_argument(fcinfo, 1, ctx);
    struct varlena *copy = value_make(a->bytes);

    memcpy(sums_of(copy), a, a->bytes);
    copy = merge_into(copy, b, sign);
    kml_context_delete(ctx);
    PG_RETURN_POINTER(stored(sums_of(copy)));
}

PG_FUNCTION_INFO_V1(kml_merge);
PG_FUNCTION_INFO_V1(kml_subtract);

Datum
kml_merge(PG_FUNCTION_ARGS)
{
    return combined(fcinfo, 1);
}

Datum
kml_subtract(PG_FUNCTION_ARGS)
{
    return combined(fcinfo, -1);
}

/* ---- solve ---- */

PG_FUNCTION_INFO_V1(kml_solve);

Datum
kml_solve(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    KmSums *sums = stored_argument(fcinfo, 0, ctx);
    KmLearner *learner = kml_learner_parse(ctx, PG_GETARG_VARLENA_PP(1));
    KmModel *model;
    bytea *bytes;

    kml_check(ctx, km_sums_solve(ctx, learner, sums, &model));
    if (model == NULL)
        PG_RETURN_NULL();
    bytes = kml_model_to_bytea(ctx, model);
    kml_context_delete(ctx);
    PG_RETURN_BYTEA_P(bytes);
}

/* ---- what sums say ---- */

PG_FUNCTION_INFO_V1(kml_squared_error);
PG_FUNCTION_INFO_V1(kml_accumulator_info);

/* (model, accumulator): (weight, sse, sst) */
Datum
kml_squared_error(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    const KmModel *model = kml_model_argument(fcinfo)->scorer->model;
    KmSums *sums = stored_argument(fcinfo, 1, ctx);
    bool nulls[3] = {false, false, false};
    KmSumsError error;
    TupleDesc row;
    Datum values[3];

    if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "squared_error must return a row");
    kml_check(ctx, km_sums_error(ctx, model, sums, &error));
    values[0] = Float8GetDatum(error.weight);
    values[1] = Float8GetDatum(error.sse);
    values[2] = Float8GetDatum(error.sst);
    kml_context_delete(ctx);
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls)));
}

static const char *
json_boolean(bool value)
{
    return value ? "true" : "false";
}

Datum
kml_accumulator_info(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    const KmSums *sums = stored_argument(fcinfo, 0, ctx);
    char weight[KM_NUMBER_SIZE];
    StringInfoData json;

    km_number_print(sums->total_weight, weight);
    initStringInfo(&json);
    appendStringInfoString(&json, "{\"learner\": ");
    if (sums->learner_bytes == 0)
        appendStringInfoString(&json, "null");
    else
        escape_json(&json, kml_short_learner(ctx, pnstrdup(km_sums_learner(sums), sums->learner_bytes),
                                             KML_LONG_LIST));
    appendStringInfo(&json, ", \"n_rows\": " UINT64_FORMAT ", \"n_skipped\": " UINT64_FORMAT,
                     (uint64) sums->n_rows, (uint64) sums->n_skipped);
    appendStringInfo(&json, ", \"weight\": %s, \"n_features\": %u, \"features\": %u, \"targets\": %u", weight,
                     sums->d, sums->features, sums->targets);
    appendStringInfo(&json, ", \"exact\": %s, \"clipped\": %s, \"bytes\": " UINT64_FORMAT "}",
                     json_boolean(sums->flags & KM_SUMS_EXACT), json_boolean(sums->flags & KM_SUMS_CLIPPED),
                     (uint64) sums->bytes);
    kml_context_delete(ctx);
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}
