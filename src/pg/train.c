/*
 * train.c: train and train_query: a learner fitted to a table or query that is
 * read in as many passes as it needs.
 *
 * Each pass is one query that may run in parallel: train_survey for a step
 * that learns constants, then accumulate, which is solved; or one fit, where
 * the estimator needs its rows.  All passes see the snapshot of the calling
 * query, run as the caller, and can write nothing: the transaction is
 * read-only while they last.
 */
#include "glue.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parse_coerce.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/varlena.h"

#include "labels.h"
#include "passes.h"
#include "sums.h"

#define FLOAT8 "pg_catalog.float8"

typedef struct Training
{
    KmContext *ctx;
    const char *schema;         /* of the extension, quoted */
    Oid learner_type;
    const char *query;          /* one SELECT, without its semicolon */
    const char *x_name, *y_name;        /* what errors call its columns */
    int n_targets;              /* named by the user; 0: the query gives y */
    Oid x, y, weight;           /* types of its columns; InvalidOid: it has none */
    KmLearner *learner;         /* every default written out */
} Training;

/* ---- the query ---- */

/* The one SELECT in a text, without what ends it. */
static const char *
only_select(const char *text)
{
    List *statements = raw_parser(text, RAW_PARSE_DEFAULT);
    RawStmt *statement = statements == NIL ? NULL : linitial(statements);

    if (list_length(statements) != 1 || !IsA(statement->stmt, SelectStmt) ||
        ((SelectStmt *) statement->stmt)->intoClause)
        ereport(ERROR,
                (errcode(ERRCODE_SYNTAX_ERROR), errmsg("train_query takes one SELECT, without INTO")));
    text += statement->stmt_location;
    return statement->stmt_len > 0 ? pnstrdup(text, statement->stmt_len) : text;
}

static Oid
column_type(TupleDesc row, const char *name)
{
    Oid type = InvalidOid;

    for (int i = 0; i < row->natts; i++)
    {
        if (strcmp(NameStr(TupleDescAttr(row, i)->attname), name) != 0)
            continue;
        if (OidIsValid(type))
            ereport(ERROR,
                    (errcode(ERRCODE_DUPLICATE_COLUMN), errmsg("the query has two columns \"%s\"", name)));
        type = getBaseType(TupleDescAttr(row, i)->atttypid);
    }
    return type;
}

/* Find the columns of the query; PostgreSQL checks it as it stands, by itself. */
static void
read_columns(Training *training)
{
    SPIPlanPtr plan = SPI_prepare(training->query, 0, NULL);
    TupleDesc row;

    if (plan == NULL)
        elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
    row = ((CachedPlanSource *) linitial(SPI_plan_get_plan_sources(plan)))->resultDesc;
    training->x = column_type(row, "x");
    training->y = column_type(row, "y");
    training->weight = column_type(row, "weight");
    if (!OidIsValid(training->x))
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_COLUMN),
                 errmsg("the query has no column \"x\""),
                 errhint("It must give x, an array of features, then y and weight where rows have them.")));
    SPI_freeplan(plan);
}

/* ---- what its columns must be ---- */

static bool
has_cast(Oid from, Oid to)
{
    return can_coerce_type(1, &from, &to, COERCION_EXPLICIT);
}

static bool
is_number(Oid type)
{
    bool preferred;
    char category;

    get_type_category_preferred(type, &category, &preferred);
    return category == TYPCATEGORY_NUMERIC && has_cast(type, FLOAT8OID);
}

static void
check_features(const Training *training)
{
    if (has_cast(training->x, FLOAT8ARRAYOID) || has_cast(training->x, FLOAT4ARRAYOID))
        return;
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH),
             errmsg("%s must be an array of numbers, not of type %s", training->x_name,
                    format_type_be(training->x)),
             training->n_targets > 0 ? errhint("Features are one column of arrays, or columns of numbers.")
             : errhint("Numbers make an array: SELECT ARRAY[a, b] AS x, ….")));
}

static void
check_target(const Training *training)
{
    const KmEstimatorType *estimator = training->learner->estimator;
    KmTargetKind kind = km_learner_target(training->learner);

    if (kind == KM_TARGET_NONE && OidIsValid(training->y))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("%s no target, but there is %s",
                        estimator ? psprintf("%s takes", estimator->signature.name)
                        : "feature steps alone take",
                        training->y_name),
                 errhint("Call train_query with a SELECT of x alone%s.",
                         estimator ? "" : ", or end the learner with an estimator: … | ridge")));
    if (kind == KM_TARGET_NONE)
        return;
    if (!OidIsValid(training->y))
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("the query has no column \"y\", the target"),
                 errhint("%s needs one.", estimator->signature.name)));
    if (kind == KM_TARGET_LABEL && training->n_targets > 1)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("%s takes one label per row, but target names %d columns", estimator->signature.name,
                        training->n_targets)));
    kml_target_check(training->learner, training->y, training->y_name);
}

static void
check_weight(const Training *training)
{
    if (OidIsValid(training->weight) && !is_number(training->weight))
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH),
                 errmsg("column \"weight\" must be a number, not of type %s",
                        format_type_be(training->weight))));
}

/* ---- its columns as the aggregates take them ---- */

/* q.x as float8[]; types like pgvector's are cast to real[] first. */
static const char *
x_expression(const Training *training)
{
    return has_cast(training->x, FLOAT8ARRAYOID) ? "q.x::" FLOAT8 "[]"
        : "q.x::pg_catalog.float4[]::" FLOAT8 "[]";
}

static const char *
y_expression(const Training *training)
{
    return type_is_array(training->y) ? "q.y::" FLOAT8 "[]" : "q.y::" FLOAT8;
}

/* ---- a pass ---- */

/* The value of one aggregate over the query, or NULL; it lives until SPI_finish. */
static void *
run_pass(Training *training, const char *statement)
{
    KmText text = {0};
    bool isnull;
    Datum learner, value;
    int status;

    kml_check(training->ctx, km_learner_print(training->ctx, training->learner, &text));
    learner = PointerGetDatum(kml_spec_make(text.data, text.length));
    status = SPI_execute_with_args(statement, 1, &training->learner_type, &learner, NULL, true, 0);
    if (status != SPI_OK_SELECT || SPI_processed != 1)
        elog(ERROR, "a pass over the rows failed: %s", SPI_result_code_string(status));
    value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
    return isnull ? NULL : DatumGetPointer(value);
}

static struct varlena *
survey_rows(Training *training)
{
    bool weighted = OidIsValid(training->weight);

    return run_pass(training,
                    psprintf("SELECT %s.train_survey($1, %s, %s) FROM (%s\n) q WHERE q.y IS NOT NULL",
                             training->schema, x_expression(training), weighted ? "q.weight::" FLOAT8 : "1",
                             training->query));
}

static struct varlena *
aggregate_rows(Training *training, const char *aggregate, const char *y)
{
    return run_pass(training,
                    psprintf("SELECT %s.%s($1, %s%s%s%s) FROM (%s\n) q", training->schema, aggregate,
                             x_expression(training), y ? ", " : "", y ? y : "",
                             OidIsValid(training->weight) ? ", q.weight::" FLOAT8 : "", training->query));
}

/* ---- training ---- */

static bytea *
copy_to(MemoryContext memory, const struct varlena *value)
{
    bytea *copy = MemoryContextAlloc(memory, VARSIZE_ANY(value));

    memcpy(copy, value, VARSIZE_ANY(value));
    return copy;
}

/* False if there are no rows. */
static bool
learn_constants(Training *training)
{
    for (;;)
    {
        struct varlena *bytes;
        KmSurvey *survey;
        size_t next;

        kml_check(training->ctx, km_passes_next(training->ctx, training->learner, &next));
        if (next == training->learner->n_steps)
            return true;
        bytes = survey_rows(training);
        if (bytes == NULL)
            return false;
        survey = kml_survey_from_bytea(training->ctx, PG_DETOAST_DATUM_PACKED(PointerGetDatum(bytes)));
        kml_check(training->ctx, km_pass_learn(training->ctx, training->learner, survey));
        SPI_freetuptable(SPI_tuptable);
    }
}

static bytea *
train_by_sums(Training *training)
{
    struct varlena *value;
    KmModel *model;
    KmSums *sums;

    if (!learn_constants(training))
        return NULL;
    value = aggregate_rows(training, "accumulate", y_expression(training));
    if (value == NULL)
        return NULL;
    sums = kml_sums_of_accumulator(training->ctx, value);
    kml_check(training->ctx, km_sums_solve(training->ctx, training->learner, sums, &model));
    return model == NULL ? NULL : kml_model_to_bytea(training->ctx, model);
}

static bytea *
train_by_fit(Training *training)
{
    return aggregate_rows(training, "fit", OidIsValid(training->y) ? "q.y" : NULL);
}

/* What lives until the end of the transaction's query lies in SPI's own context, but for the result. */
static Datum
train(FunctionCallInfo fcinfo, Training training, struct varlena *learner)
{
    MemoryContext caller = CurrentMemoryContext;
    Oid *types;
    int n;
    bool read_only = XactReadOnly;
    bytea *model;

    training.schema = quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
    get_func_signature(fcinfo->flinfo->fn_oid, &types, &n);
    training.learner_type = types[n - 1];
    SPI_connect();
    XactReadOnly = true;        /* after an error the end of the (sub)transaction resets it */
    training.ctx = kml_context_create(CurrentMemoryContext);
    kml_check(training.ctx, km_learner_with_defaults(training.ctx, kml_learner_parse(training.ctx, learner),
                                                     &training.learner));
    read_columns(&training);
    check_features(&training);
    check_target(&training);
    check_weight(&training);
    model = training.learner->estimator && training.learner->estimator->from_sums ? train_by_sums(&training)
        : train_by_fit(&training);
    if (model)
        model = copy_to(caller, model);
    XactReadOnly = read_only;
    SPI_finish();
    if (model == NULL)
        PG_RETURN_NULL();
    PG_RETURN_BYTEA_P(model);
}

PG_FUNCTION_INFO_V1(kml_train_query);

/* (query, learner) */
Datum
kml_train_query(PG_FUNCTION_ARGS)
{
    Training training = {.query = only_select(text_to_cstring(PG_GETARG_TEXT_PP(0))),
                         .x_name = "column \"x\"", .y_name = "column \"y\""};

    return train(fcinfo, training, PG_GETARG_VARLENA_PP(1));
}

/* ---- a table ---- */

/* The columns named in a list by SQL's rules; what: "features" in errors. */
static List *
column_names(Oid relation, const char *list, const char *what)
{
    List *names;
    ListCell *cell;
    char quoted[KM_QUOTE_SIZE];

    if (!SplitIdentifierString(pstrdup(list), ',', &names) || names == NIL)
        ereport(ERROR,
                (errcode(ERRCODE_SYNTAX_ERROR),
                 errmsg("%s must be a list of column names, got \"%s\"", what, km_quote(list, quoted)),
                 errhint("Put names that are no plain identifiers in double quotes.")));
    foreach(cell, names)
        if (get_attnum(relation, lfirst(cell)) == InvalidAttrNumber)
            ereport(ERROR,
                    (errcode(ERRCODE_UNDEFINED_COLUMN),
                     errmsg("column \"%s\" of relation \"%s\" does not exist", (char *) lfirst(cell),
                            get_rel_name(relation))));
    return names;
}

static Oid
type_of(Oid relation, const char *name)
{
    return getBaseType(get_atttype(relation, get_attnum(relation, name)));
}

/* One number of a row; list: the argument that names it, for errors. */
static void
add_number(StringInfo text, Oid relation, const char *name, const char *list)
{
    Oid type = type_of(relation, name);

    if (!is_number(type) && type != BOOLOID)
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH),
                 errmsg("column \"%s\" of %s must be a number, not of type %s", name, list,
                        format_type_be(type)),
                 errhint("Only a column named alone can be an array; train_query takes x and y that are any "
                         "expressions.")));
    appendStringInfo(text, "r.%s%s::" FLOAT8, quote_identifier(name),
                     type == BOOLOID ? "::pg_catalog.int4" : "");
}

static void
add_array(StringInfo text, Oid relation, List *names, const char *list)
{
    const char *separator = "ARRAY[";
    ListCell *cell;

    foreach(cell, names)
    {
        appendStringInfoString(text, separator);
        add_number(text, relation, lfirst(cell), list);
        separator = ", ";
    }
    appendStringInfoChar(text, ']');
}

/* A column that holds arrays as it is; numbers as the elements of one, NULL among them. */
static void
add_features(StringInfo text, Oid relation, List *names)
{
    Oid type = type_of(relation, linitial(names));

    if (list_length(names) == 1 && !is_number(type) && type != BOOLOID)
        appendStringInfo(text, "r.%s", quote_identifier(linitial(names)));
    else
        add_array(text, relation, names, "features");
}

/* One target as it is; several as an array, or NULL if one of them is. */
static void
add_targets(StringInfo text, Oid relation, List *names)
{
    const char *separator = "CASE WHEN ";
    ListCell *cell;

    if (list_length(names) == 1)
    {
        appendStringInfo(text, "r.%s", quote_identifier(linitial(names)));
        return;
    }
    foreach(cell, names)
    {
        appendStringInfo(text, "%sr.%s IS NOT NULL", separator, quote_identifier(lfirst(cell)));
        separator = " AND ";
    }
    appendStringInfoString(text, " THEN ");
    add_array(text, relation, names, "target");
    appendStringInfoString(text, " END");
}

/* What errors call the value that columns make. */
static const char *
name_of(List *names, const char *list)
{
    return list_length(names) == 1 ? psprintf("column \"%s\"", (char *) linitial(names)) : list;
}

PG_FUNCTION_INFO_V1(kml_train);

/* (relation, features, target, learner) */
Datum
kml_train(PG_FUNCTION_ARGS)
{
    Oid relation = PG_GETARG_OID(0);
    const char *name = get_rel_name(relation);
    List *features, *targets;
    Training training = {0};
    StringInfoData query;

    if (name == NULL)
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation)));
    features = column_names(relation, text_to_cstring(PG_GETARG_TEXT_PP(1)), "features");
    targets = column_names(relation, text_to_cstring(PG_GETARG_TEXT_PP(2)), "target");
    initStringInfo(&query);
    appendStringInfoString(&query, "SELECT ");
    add_features(&query, relation, features);
    appendStringInfoString(&query, " AS x, ");
    add_targets(&query, relation, targets);
    appendStringInfo(&query, " AS y FROM %s r",
                     quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name));
    training.query = query.data;
    training.x_name = name_of(features, "features");
    training.y_name = name_of(targets, "target");
    training.n_targets = list_length(targets);
    return train(fcinfo, training, PG_GETARG_VARLENA_PP(3));
}
