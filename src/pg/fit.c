/*
 * fit.c: the aggregate fit.
 *
 * A group's state keeps its rows, in chunks straight in the aggregate's
 * context; a learner that needs sums only (rff | ridge) keeps those instead.
 * An error in a row is kept in the state and raised by the final function.
 * The final function reads the state and leaves it as it is.
 */
#include "glue.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "accumulator.h"
#include "labels.h"
#include "row_store.h"

/* What fit was called with, worked out once per query. */
typedef struct FitCall
{
    MemoryContext memory;       /* of the query */
    KmContext *ctx;             /* of the learner */
    struct varlena *spec;
    KmLearner *learner;
    bool streams;
    KmFeatureMap *map;          /* streams: of the first row's columns and targets */
    size_t map_columns, map_targets;
    bool has_target, has_weight;
    KmlVectorReader x;
    KmlTargetReader y;
} FitCall;

typedef struct FitState
{
    FitCall *call;              /* of the learner of this group */
    MemoryContext memory;
    uint64 n_skipped, n_zero;
    size_t d, n_targets;        /* 0 before the first row; a label counts as one target */
    KmlRowStore rows;           /* x, then label number or targets, then weight */
    KmlLabels labels;
    KmSums *sums;               /* instead of rows, when the learner streams */
    KmFeatureMap *map;          /* of sums; belongs to the call */
    KmStatus failed;            /* first error met in a row */
    char *message;
    const char *hint;
} FitState;

/* ---- the learner ---- */

/* Check that the form of the call fits the learner. */
static void
check_target(const KmLearner *learner, bool has_target)
{
    bool wants = km_learner_target(learner) != KM_TARGET_NONE;

    if (wants && !has_target)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("%s needs a target", learner->estimator->signature.name),
                 errhint("Call fit(learner, x, y).")));
    if (!wants && has_target)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("this learner takes no target"),
                 errhint("Call fit(learner, x).")));
}

static FitCall *
fit_call(FunctionCallInfo fcinfo, struct varlena *spec)
{
    FitCall *call = fcinfo->flinfo->fn_extra;
    MemoryContext memory = fcinfo->flinfo->fn_mcxt, old;

    if (call && kml_varlena_equal(call->spec, spec))
        return call;
    old = MemoryContextSwitchTo(memory);
    call = palloc0(sizeof *call);
    call->memory = memory;
    call->ctx = kml_context_create(memory);
    call->spec = kml_spec_make(VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec));
    call->learner = kml_learner_parse(call->ctx, spec);
    kml_check(call->ctx, km_learner_streams(call->ctx, call->learner, &call->streams));
    call->has_target = PG_NARGS() > 3;
    call->has_weight = PG_NARGS() > 4;
    check_target(call->learner, call->has_target);
    kml_vector_reader_init(&call->x, get_fn_expr_argtype(fcinfo->flinfo, 2), "x", memory);
    if (call->has_target)
    {
        Oid type = get_fn_expr_argtype(fcinfo->flinfo, 3);

        if (!OidIsValid(type))
            ereport(ERROR,
                    (errcode(ERRCODE_INDETERMINATE_DATATYPE), errmsg("could not determine the type of y")));
        kml_target_check(call->learner, type, "y");
        kml_target_reader_init(&call->y, type, memory);
    }
    MemoryContextSwitchTo(old);
    fcinfo->flinfo->fn_extra = call;
    return call;
}

/* ---- the state ---- */

static FitState *
fit_start(FitCall *call, MemoryContext memory)
{
    FitState *state = MemoryContextAllocZero(memory, sizeof *state);

    state->call = call;
    state->memory = memory;
    kml_labels_init(&state->labels, memory);
    return state;
}

/* Keep the first error; the final function raises it. */
static void
fit_fail(FitState *state, KmStatus status, const char *hint, const char *format, ...)
    pg_attribute_printf(4, 5);

static void
fit_fail(FitState *state, KmStatus status, const char *hint, const char *format, ...)
{
    char buffer[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    state->failed = status;
    state->message = MemoryContextStrdup(state->memory, buffer);
    state->hint = hint;
}

/* Rows seen so far in this group, the present one included. */
static uint64
row_number(const FitState *state)
{
    uint64 kept = state->sums ? state->sums->n_rows : state->rows.n;

    return kept + state->n_skipped + state->n_zero + 1;
}

static bool
check_row(FitState *state, const KmlVectorReader *x)
{
    bool missing_ok = km_learner_takes_missing(state->call->learner);

    if (state->d != 0 && x->n != state->d)
    {
        fit_fail(state, KM_DIMENSION, "",
                 "row " UINT64_FORMAT " has %zu feature%s, the rows before it have %zu", row_number(state),
                 x->n, km_plural(x->n), state->d);
        return false;
    }
    for (size_t i = 0; i < x->n; i++)
    {
        double v = x->value[i];

        if (isfinite(v) || (missing_ok && km_is_missing(v)))
            continue;
        fit_fail(state, km_is_missing(v) ? KM_NULL : KM_DATA,
                 km_is_missing(v) ? "Begin the learner with the impute step, which fills NULL elements." : "",
                 "element %zu of x is %s in row " UINT64_FORMAT, i + 1,
                 km_is_missing(v) ? "NULL" : isnan(v) ? "NaN" : "infinite", row_number(state));
        return false;
    }
    state->d = x->n;
    return true;
}

/* Targets must be finite, and as many in every row. */
static bool
check_targets(FitState *state, size_t n, const double *y)
{
    if (state->n_targets != 0 && n != state->n_targets)
    {
        fit_fail(state, KM_DIMENSION, "",
                 "row " UINT64_FORMAT " has %zu target%s, the rows before it have %zu", row_number(state),
                 n, km_plural(n), state->n_targets);
        return false;
    }
    for (size_t t = 0; t < n; t++)
    {
        if (isfinite(y[t]))
            continue;
        if (state->call->y.is_vector)
            fit_fail(state, km_is_missing(y[t]) ? KM_NULL : KM_DATA, "",
                     "element %zu of y is %s in row " UINT64_FORMAT, t + 1,
                     km_is_missing(y[t]) ? "NULL" : isnan(y[t]) ? "NaN" : "infinite", row_number(state));
        else
            fit_fail(state, KM_DATA, "", "y is %s in row " UINT64_FORMAT, isnan(y[t]) ? "NaN" : "infinite",
                     row_number(state));
        return false;
    }
    state->n_targets = n;
    return true;
}

/* The targets as numbers: a label's number for classifiers. */
static bool
read_target(FitState *state, Datum datum, const double **y)
{
    KmlTargetReader *reader = &state->call->y;
    bool label = km_learner_target(state->call->learner) == KM_TARGET_LABEL;
    size_t n = 1;

    if (!label || reader->kind == KM_LABEL_NUMBER)
    {
        *y = kml_target_numbers(reader, datum, &n);
        if (!check_targets(state, n, *y))
            return false;
    }
    if (label)
    {
        reader->single = kml_label_number(&state->labels, reader, datum);
        state->n_targets = n;
        *y = &reader->single;
    }
    return true;
}

static bool
check_weight(FitState *state, double weight)
{
    if (weight >= 0 && isfinite(weight))
        return true;
    fit_fail(state, KM_DATA, "",
             "weight is %g in row " UINT64_FORMAT ", it must be finite and not negative", weight,
             row_number(state));
    return false;
}

/* ---- keeping a row ---- */

static void
store_row(FitState *state, const double *y, double weight)
{
    FitCall *call = state->call;
    double *row;

    if (state->rows.width == 0)
        kml_rows_init(&state->rows, state->d + state->n_targets + call->has_weight, state->memory);
    row = kml_rows_append(&state->rows);
    memcpy(row, call->x.value, state->d * sizeof(double));
    if (call->has_target)
        memcpy(row + state->d, y, state->n_targets * sizeof(double));
    if (call->has_weight)
        row[state->d + state->n_targets] = weight;
}

/* The feature map for the rows of this query. */
static KmFeatureMap *
feature_map(FitCall *call, size_t d, size_t n_targets)
{
    if (call->map == NULL || call->map_columns != d || call->map_targets != n_targets)
    {
        kml_check(call->ctx, km_feature_map_create(call->ctx, call->learner, d, n_targets, &call->map));
        call->map_columns = d;
        call->map_targets = n_targets;
    }
    return call->map;
}

static void
sum_row(FitState *state, const double *y, double weight)
{
    KmContext *ctx = state->call->ctx;
    size_t wanted;

    if (state->sums == NULL)
    {
        state->map = feature_map(state->call, state->d, state->n_targets);
        kml_check(ctx, km_sums_reserve(ctx, state->map));
        wanted = km_sums_initial_bytes(state->map);
        state->sums = MemoryContextAllocHuge(state->memory, wanted);
        kml_check(ctx, km_sums_init(ctx, state->map, wanted, state->sums));
    }
    wanted = km_sums_wanted_bytes(state->map, state->sums);
    if (wanted > state->sums->bytes)
    {
        KmSums *grown = MemoryContextAllocHuge(state->memory, wanted);

        kml_check(ctx, km_sums_grow(ctx, state->sums, wanted, grown));
        pfree(state->sums);
        state->sums = grown;
    }
    kml_check(ctx, km_sums_add(ctx, state->map, state->sums, state->call->x.value, y, weight));
}

static void
fit_row(FitState *state, FunctionCallInfo fcinfo)
{
    FitCall *call = state->call;
    double weight = call->has_weight ? PG_GETARG_FLOAT8(4) : 1;
    const double *y = NULL;

    if (!check_weight(state, weight))
        return;
    if (weight == 0)
    {
        state->n_zero++;
        return;
    }
    kml_vector_read(&call->x, PG_GETARG_DATUM(2), "x");
    if (!check_row(state, &call->x))
        return;
    if (call->has_target && !read_target(state, PG_GETARG_DATUM(3), &y))
        return;
    if (call->streams)
        sum_row(state, y, weight);
    else
        store_row(state, y, weight);
}

PG_FUNCTION_INFO_V1(kml_fit_transition);

/* (state, learner, x [, y [, weight]]) */
Datum
kml_fit_transition(PG_FUNCTION_ARGS)
{
    FitState *state = PG_ARGISNULL(0) ? NULL : (FitState *) PG_GETARG_POINTER(0);
    MemoryContext memory;
    struct varlena *spec;
    FitCall *call;

    if (!AggCheckCallContext(fcinfo, &memory))
        elog(ERROR, "fit transition called outside an aggregate");
    if (PG_ARGISNULL(1))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("learner of fit must not be NULL")));
    spec = PG_GETARG_VARLENA_PP(1);
    call = fit_call(fcinfo, spec);
    if (state == NULL)
        state = fit_start(call, memory);
    if (state->call != call && !kml_varlena_equal(state->call->spec, spec))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("the learner of fit must be the same for all rows of a group")));
    PG_FREE_IF_COPY(spec, 1);
    if (state->failed != KM_OK)
        PG_RETURN_POINTER(state);

    for (int i = 2; i < PG_NARGS(); i++)
        if (PG_ARGISNULL(i))
        {
            state->n_skipped++;
            PG_RETURN_POINTER(state);
        }
    fit_row(state, fcinfo);
    PG_RETURN_POINTER(state);
}

/* ---- the model ---- */

/* The rows of a state, one after the other, to be sorted. */
typedef struct Rows
{
    const double *first;
    size_t width;
} Rows;

static const double *
row_of(const void *rows, size_t i)
{
    return ((const Rows *) rows)->first + i * ((const Rows *) rows)->width;
}

/* Sort the classes; number[] maps numbers of first sight to places in that order. */
static uint32_t *
sort_classes(KmContext *ctx, const FitState *state, KmTable *table)
{
    uint32_t *number;

    kml_check(ctx, km_alloc(ctx, state->labels.n, &number));
    table->classes = kml_labels_sort(ctx, &state->labels, &state->call->y, number);
    return number;
}

/* A copy of the stored rows in which labels are their sorted class numbers, so
 * that the order of the rows does not depend on which label came first. */
static double *
copy_rows(KmContext *ctx, const FitState *state, KmTable *table)
{
    bool labelled = km_learner_target(state->call->learner) == KM_TARGET_LABEL;
    const uint32_t *number = labelled ? sort_classes(ctx, state, table) : NULL;
    size_t width = state->rows.width;
    double *rows = kml_rows_copy(ctx, &state->rows);

    for (size_t i = 0; i < state->rows.n && labelled; i++)
        rows[i * width + state->d] = number[(uint32) rows[i * width + state->d]];
    return rows;
}

/* Columns of the rows, from `first` on, in canonical order. */
static double *
gather_columns(KmContext *ctx, const Rows *rows, size_t n, const size_t *order, size_t first, size_t columns)
{
    double *values;

    kml_check(ctx, km_alloc(ctx, n * columns, &values));
    for (size_t i = 0; i < n; i++)
    {
        CHECK_FOR_INTERRUPTS();
        memcpy(values + i * columns, row_of(rows, order[i]) + first, columns * sizeof(double));
    }
    return values;
}

static uint32_t *
gather_labels(KmContext *ctx, const Rows *rows, size_t n, const size_t *order, size_t column)
{
    uint32_t *label;

    kml_check(ctx, km_alloc(ctx, n, &label));
    for (size_t i = 0; i < n; i++)
        label[i] = (uint32_t) row_of(rows, order[i])[column];
    return label;
}

/* The rows in canonical order, so that the model does not depend on the order of the scan. */
static void
make_table(KmContext *ctx, const FitState *state, KmTable *table)
{
    FitCall *call = state->call;
    size_t n = state->rows.n, d = state->d;
    Rows rows;
    size_t *order;

    memset(table, 0, sizeof *table);
    table->n = n;
    table->d = d;
    table->n_skipped = state->n_skipped;
    table->n_zero = state->n_zero;
    rows.first = copy_rows(ctx, state, table);
    rows.width = state->rows.width;
    kml_check(ctx, km_alloc(ctx, n, &order));
    kml_check(ctx, km_rows_order(ctx, n, rows.width, row_of, &rows, order));
    table->x = gather_columns(ctx, &rows, n, order, 0, d);
    if (table->classes)
        table->label = gather_labels(ctx, &rows, n, order, d);
    else if (call->has_target)
    {
        table->n_targets = state->n_targets;
        table->y = gather_columns(ctx, &rows, n, order, d, state->n_targets);
    }
    if (call->has_weight)
        table->w = gather_columns(ctx, &rows, n, order, d + state->n_targets, 1);
    km_free(ctx, order);
    km_free(ctx, (void *) rows.first);
}

/* Flushing waiting rows changes the state's bytes, never its meaning; the map keeps what it allocates for
 * that, so it is given the call's context. */
static void
solve_sums(KmContext *ctx, FitState *state, KmModel **model)
{
    kml_check(state->call->ctx, km_sums_flush(state->call->ctx, state->map, state->sums));
    state->sums->n_skipped = state->n_skipped;
    kml_check(ctx, km_sums_solve(ctx, state->call->learner, state->sums, model));
}

PG_FUNCTION_INFO_V1(kml_fit_final);

Datum
kml_fit_final(PG_FUNCTION_ARGS)
{
    FitState *state = PG_ARGISNULL(0) ? NULL : (FitState *) PG_GETARG_POINTER(0);
    KmContext *ctx;
    KmModel *model;
    bytea *bytes;

    if (state == NULL)
        PG_RETURN_NULL();
    if (state->failed != KM_OK)
        kml_raise(state->failed, state->message, "", state->hint);
    if (state->rows.n == 0 && state->sums == NULL)
        PG_RETURN_NULL();
    ctx = kml_context_create(CurrentMemoryContext);
    if (state->sums)
        solve_sums(ctx, state, &model);
    else
    {
        KmTable table;

        make_table(ctx, state, &table);
        kml_check(ctx, km_learner_fit(ctx, state->call->learner, &table, &model));
    }
    bytes = kml_model_to_bytea(ctx, model);
    kml_context_delete(ctx);
    PG_RETURN_BYTEA_P(bytes);
}
