/*
 * labels.c: targets of fit.
 *
 * Labels of any type are told apart by the text their type prints (numeric
 * without trailing zeros, so 1.0 is 1), and sorted by the type's own order;
 * text sorts bytewise, whatever the collation.
 */
#include "labels.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/typcache.h"

/* ---- types ---- */

static bool
is_number_type(Oid type)
{
    switch (type)
    {
        case INT2OID:
        case INT4OID:
        case INT8OID:
        case FLOAT4OID:
        case FLOAT8OID:
        case NUMERICOID:
            return true;
        default:
            return false;
    }
}

static bool
is_text_type(Oid type)
{
    return type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == NAMEOID ||
           type == UNKNOWNOID || type_is_enum(type);
}

static bool
is_label_type(Oid type)
{
    return is_number_type(type) || is_text_type(type) || type == BOOLOID;
}

void
kml_target_check(const KmLearner *learner, Oid type, const char *what)
{
    const char *name = learner->estimator->signature.name;
    bool label = km_learner_target(learner) == KM_TARGET_LABEL;
    Oid base = getBaseType(type), element = get_element_type(base);

    if (OidIsValid(element) ? !is_number_type(getBaseType(element)) : !is_label_type(base))
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH),
                 errmsg("%s cannot be of type %s", what, format_type_be(type)),
                 errhint("Use a number, an array of numbers, or a label of type boolean, integer, numeric, "
                         "text or enum.")));
    if (label && OidIsValid(element))
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH),
                 errmsg("%s takes one label per row, but %s is an array", name, what),
                 errhint("Arrays hold several targets of a regression, as of krr and ridge.")));
    if (!label && !OidIsValid(element) && !is_number_type(base))
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH),
                 errmsg("the target of %s must be a number, but %s is of type %s", name, what,
                        format_type_be(type)),
                 errhint("Cast it to a number, or use a classifier, such as svc or ridge_classifier.")));
}

void
kml_target_reader_init(KmlTargetReader *reader, Oid type, MemoryContext memory)
{
    Oid output;
    bool is_varlena;

    memset(reader, 0, sizeof *reader);
    reader->type = getBaseType(type);
    reader->is_vector = OidIsValid(get_element_type(reader->type));
    if (reader->is_vector)
    {
        kml_vector_reader_init(&reader->vector, type, "y", memory);
        return;
    }
    reader->kind = reader->type == BOOLOID ? KM_LABEL_BOOL :
        is_number_type(reader->type) ? KM_LABEL_NUMBER : KM_LABEL_TEXT;
    get_typlenbyval(reader->type, &reader->length, &reader->by_value);
    getTypeOutputInfo(reader->type, &output, &is_varlena);
    fmgr_info_cxt(output, &reader->output, memory);
    if (reader->kind != KM_LABEL_TEXT || type_is_enum(reader->type))
        fmgr_info_copy(&reader->compare,
                       &lookup_type_cache(reader->type, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo, memory);
}

static double
read_number(const KmlTargetReader *reader, Datum datum)
{
    switch (reader->type)
    {
        case INT2OID:
            return DatumGetInt16(datum);
        case INT4OID:
            return DatumGetInt32(datum);
        case INT8OID:
            return (double) DatumGetInt64(datum);
        case FLOAT4OID:
            return DatumGetFloat4(datum);
        case FLOAT8OID:
            return DatumGetFloat8(datum);
        case NUMERICOID:
            return DatumGetFloat8(DirectFunctionCall1(numeric_float8, datum));
        default:
            elog(ERROR, "type %u is no type of numbers", reader->type);
    }
}

const double *
kml_target_numbers(KmlTargetReader *reader, Datum datum, size_t *n)
{
    if (reader->is_vector)
    {
        kml_vector_read(&reader->vector, datum, "y");
        *n = reader->vector.n;
        return reader->vector.value;
    }
    reader->single = read_number(reader, datum);
    *n = 1;
    return &reader->single;
}

/* ---- labels ---- */

void
kml_labels_init(KmlLabels *labels, MemoryContext memory)
{
    memset(labels, 0, sizeof *labels);
    labels->memory = memory;
}

/* The text that tells labels apart. */
static char *
label_text(const KmlTargetReader *reader, Datum datum)
{
    if (reader->type == NUMERICOID)
        return numeric_normalize(DatumGetNumeric(datum));
    if (reader->type == FLOAT8OID && DatumGetFloat8(datum) == 0)
        return pstrdup("0");
    if (reader->type == FLOAT4OID && DatumGetFloat4(datum) == 0)
        return pstrdup("0");
    return OutputFunctionCall((FmgrInfo *) &reader->output, datum);
}

static void
grow_buckets(KmlLabels *labels)
{
    labels->n_buckets = labels->n_buckets ? 2 * labels->n_buckets : 16;
    if (labels->bucket)
        pfree(labels->bucket);
    labels->bucket = MemoryContextAllocZero(labels->memory, labels->n_buckets * sizeof(uint32));
    for (size_t i = 0; i < labels->n; i++)
    {
        size_t b = hash_bytes((const unsigned char *) labels->text[i], strlen(labels->text[i]));

        while (labels->bucket[b &= labels->n_buckets - 1])
            b++;
        labels->bucket[b] = i + 1;
    }
}

static uint32
add_label(KmlLabels *labels, const KmlTargetReader *reader, const char *text, Datum datum)
{
    MemoryContext old = MemoryContextSwitchTo(labels->memory);
    bool by_value = reader->by_value || reader->type == UNKNOWNOID;

    if (labels->n == labels->capacity)
    {
        labels->capacity = labels->capacity ? 2 * labels->capacity : 4;
        labels->text = labels->text ? repalloc(labels->text, labels->capacity * sizeof(char *)) :
            palloc(labels->capacity * sizeof(char *));
        labels->datum = labels->datum ? repalloc(labels->datum, labels->capacity * sizeof(Datum)) :
            palloc(labels->capacity * sizeof(Datum));
    }
    labels->text[labels->n] = pstrdup(text);
    labels->datum[labels->n] = by_value ? datum : datumCopy(datum, false, reader->length);
    MemoryContextSwitchTo(old);
    return labels->n++;
}

uint32
kml_label_number(KmlLabels *labels, const KmlTargetReader *reader, Datum datum)
{
    char *text;
    size_t b;

    /* most tables have few labels of a type passed by value: compare those first */
    if (reader->by_value)
        for (size_t i = 0; i < labels->n && i < 8; i++)
            if (labels->datum[i] == datum)
                return i;
    if (2 * (labels->n + 1) > labels->n_buckets)
        grow_buckets(labels);
    text = label_text(reader, datum);
    b = hash_bytes((const unsigned char *) text, strlen(text));
    while (labels->bucket[b &= labels->n_buckets - 1])
    {
        uint32 i = labels->bucket[b] - 1;

        if (strcmp(labels->text[i], text) == 0)
        {
            pfree(text);
            return i;
        }
        b++;
    }
    labels->bucket[b] = labels->n + 1;
    add_label(labels, reader, text, datum);
    pfree(text);
    return labels->n - 1;
}

/* ---- sorting ---- */

typedef struct SortState
{
    const KmlLabels *labels;
    const KmlTargetReader *reader;
} SortState;

static int
compare_labels(const void *a, const void *b, void *arg)
{
    const SortState *sort = arg;
    uint32 i = *(const uint32 *) a, j = *(const uint32 *) b;

    if (OidIsValid(sort->reader->compare.fn_oid))
        return DatumGetInt32(FunctionCall2((FmgrInfo *) &sort->reader->compare, sort->labels->datum[i],
                                           sort->labels->datum[j]));
    return strcmp(sort->labels->text[i], sort->labels->text[j]);
}

static double
label_value(const KmlTargetReader *reader, Datum datum)
{
    if (reader->kind == KM_LABEL_BOOL)
        return DatumGetBool(datum) ? 1 : 0;
    return reader->kind == KM_LABEL_NUMBER ? read_number(reader, datum) : get_float8_nan();
}

KmClasses *
kml_labels_sort(KmContext *ctx, const KmlLabels *labels, const KmlTargetReader *reader, uint32_t *number)
{
    SortState sort = {labels, reader};
    uint32 *order = palloc(Max(labels->n, 1) * sizeof(uint32));
    KmClasses *classes;
    size_t n = labels->n;

    for (size_t i = 0; i < n; i++)
        order[i] = i;
    qsort_arg(order, n, sizeof(uint32), compare_labels, &sort);

    kml_check(ctx, km_alloc_zero(ctx, 1, &classes));
    kml_check(ctx, km_alloc(ctx, n, &classes->text));
    kml_check(ctx, km_alloc(ctx, n, &classes->number));
    classes->n = n;
    classes->kind = reader->kind;
    for (size_t c = 0; c < n; c++)
    {
        classes->text[c] = labels->text[order[c]];
        classes->number[c] = label_value(reader, labels->datum[order[c]]);
        number[order[c]] = c;
    }
    pfree(order);
    return classes;
}
