/*
 * vectors.c: feature rows and matrices as SQL arguments.
 *
 * A row may come as float8[], real[], an array of whole numbers or numeric, a
 * domain over one of them, a type with an implicit cast to such an array
 * (pgvector's vector), or text.  Arrays are read as they lie, short headers
 * included, without a copy of the value.
 */
#include "glue.h"

#include <math.h>

#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

/* ---- elements ---- */

typedef double (*ReadElement)(const char *p);

#define READ_ELEMENT(name, type) \
    static double \
    name(const char *p) \
    { \
        type v; \
\
        memcpy(&v, p, sizeof v); \
        return (double) v; \
    }

READ_ELEMENT(read_float8, float8)
READ_ELEMENT(read_float4, float4)
READ_ELEMENT(read_int2, int16)
READ_ELEMENT(read_int4, int32)
READ_ELEMENT(read_int8, int64)

typedef struct ElementType
{
    Oid type;
    int bytes;
    ReadElement read;
} ElementType;

static const ElementType element_types[] = {
    {FLOAT8OID, 8, read_float8},
    {FLOAT4OID, 4, read_float4},
    {INT4OID, 4, read_int4},
    {INT8OID, 8, read_int8},
    {INT2OID, 2, read_int2},
    {NUMERICOID, -1, NULL},
};

static const ElementType *
element_type(Oid type)
{
    for (size_t i = 0; i < lengthof(element_types); i++)
        if (element_types[i].type == type)
            return &element_types[i];
    return NULL;
}

/* ---- which way a type is read ---- */

/* An implicit, immutable cast from `type` to real[] or float8[], else InvalidOid. */
static Oid
array_cast(Oid type, Oid *element)
{
    static const Oid wanted[][2] = {{FLOAT4ARRAYOID, FLOAT4OID}, {FLOAT8ARRAYOID, FLOAT8OID}};

    for (size_t i = 0; i < lengthof(wanted); i++)
    {
        Oid function;

        if (find_coercion_pathway(wanted[i][0], type, COERCION_IMPLICIT, &function) == COERCION_PATH_FUNC &&
            func_volatile(function) == PROVOLATILE_IMMUTABLE)
        {
            *element = wanted[i][1];
            return function;
        }
    }
    return InvalidOid;
}

void
kml_vector_reader_init(KmlVectorReader *reader, Oid type, const char *what, MemoryContext memory)
{
    Oid base = OidIsValid(type) ? getBaseType(type) : InvalidOid;

    memset(reader, 0, sizeof *reader);
    reader->memory = memory;
    if (base == TEXTOID || base == VARCHAROID || base == UNKNOWNOID)
    {
        Oid input, parameter;

        getTypeInputInfo(FLOAT8ARRAYOID, &input, &parameter);
        fmgr_info_cxt(input, &reader->input, memory);
        reader->element = FLOAT8OID;
    }
    else
    {
        Oid element = OidIsValid(base) ? get_element_type(base) : InvalidOid;

        if (OidIsValid(element))
            element = getBaseType(element);
        if (element_type(element) == NULL)
        {
            Oid cast = OidIsValid(base) ? array_cast(base, &element) : InvalidOid;

            if (!OidIsValid(cast))
                ereport(ERROR,
                        (errcode(ERRCODE_DATATYPE_MISMATCH),
                         errmsg("%s must be an array of numbers, not %s", what,
                                OidIsValid(type) ? format_type_be(type) : "of unknown type")));
            fmgr_info_cxt(cast, &reader->cast, memory);
            reader->cast_args = get_func_nargs(cast);
        }
        reader->element = element;
    }
    reader->type = base;
}

/* ---- arrays as they lie ---- */

/* A view of an array's bytes, which may follow a one-byte header and so be unaligned. */
typedef struct ArrayView
{
    int ndim;
    int dims[2];
    Oid element;
    const bits8 *nulls;         /* NULL: none */
    const char *data;
} ArrayView;

static int32
read_int32_at(const char *base, size_t offset)
{
    int32 v;

    memcpy(&v, base + offset, sizeof v);
    return v;
}

/* Offsets of ArrayType are counted from a four-byte header. */
static void
view_array(const struct varlena *value, ArrayView *view)
{
    const char *base = VARDATA_ANY(value) - VARHDRSZ;
    int32 dataoffset = read_int32_at(base, offsetof(ArrayType, dataoffset));
    size_t header;

    view->ndim = read_int32_at(base, offsetof(ArrayType, ndim));
    view->element = (Oid) read_int32_at(base, offsetof(ArrayType, elemtype));
    for (int i = 0; i < view->ndim && i < 2; i++)
        view->dims[i] = read_int32_at(base, sizeof(ArrayType) + i * sizeof(int));
    header = sizeof(ArrayType) + 2 * sizeof(int) * view->ndim;
    view->nulls = dataoffset ? (const bits8 *) base + header : NULL;
    view->data = base + (dataoffset ? (size_t) dataoffset : (size_t) MAXALIGN(header));
}

static void
reserve(KmlVectorReader *reader, size_t n)
{
    if (n > reader->capacity)
    {
        if (reader->value)
            pfree(reader->value);
        reader->capacity = Max(n, 2 * reader->capacity);
        reader->value = MemoryContextAllocHuge(reader->memory, reader->capacity * sizeof(double));
    }
}

static bool
is_null_at(const ArrayView *view, size_t i)
{
    return view->nulls && !(view->nulls[i / 8] & (1 << (i % 8)));
}

static void
copy_fixed(KmlVectorReader *reader, const ArrayView *view, const ElementType *type)
{
    const char *p = view->data;

    if (view->nulls == NULL && type->type == FLOAT8OID)
    {
        memcpy(reader->value, p, reader->n * sizeof(double));
        return;
    }
    for (size_t i = 0; i < reader->n; i++)
    {
        if (is_null_at(view, i))
        {
            reader->value[i] = km_missing();
            reader->first_missing = Min(reader->first_missing, i);
            continue;
        }
        reader->value[i] = type->read(p);
        p += type->bytes;
    }
}

static void
copy_numeric(KmlVectorReader *reader, struct varlena *value)
{
    ArrayType *array = DatumGetArrayTypeP(PointerGetDatum(value));
    Datum *elements;
    bool *nulls;
    int n;

    deconstruct_array(array, NUMERICOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
    for (int i = 0; i < n; i++)
    {
        if (nulls[i])
        {
            reader->value[i] = km_missing();
            reader->first_missing = Min(reader->first_missing, (size_t) i);
        }
        else
            reader->value[i] = DatumGetFloat8(DirectFunctionCall1(numeric_float8, elements[i]));
    }
    pfree(elements);
    pfree(nulls);
    if ((void *) array != (void *) value)
        pfree(array);
}

/* ---- reading ---- */

/* The argument as an array datum: parsed from text, cast, or itself. */
static Datum
to_array(KmlVectorReader *reader, Datum datum)
{
    if (OidIsValid(reader->input.fn_oid))
    {
        /* an untyped literal beside a typed argument arrives as a C string */
        char *string = reader->type == UNKNOWNOID ? pstrdup(DatumGetCString(datum))
                       : TextDatumGetCString(datum);
        Datum array = InputFunctionCall(&reader->input, string, FLOAT8OID, -1);

        pfree(string);
        return array;
    }
    if (reader->cast_args == 1)
        return FunctionCall1(&reader->cast, datum);
    if (reader->cast_args == 2)
        return FunctionCall2(&reader->cast, datum, Int32GetDatum(-1));
    if (reader->cast_args == 3)
        return FunctionCall3(&reader->cast, datum, Int32GetDatum(-1), BoolGetDatum(false));
    return datum;
}

void
kml_vector_read(KmlVectorReader *reader, Datum datum, const char *what)
{
    Datum array = to_array(reader, datum);
    struct varlena *value = PG_DETOAST_DATUM_PACKED(array);
    const ElementType *type = element_type(reader->element);
    ArrayView view;

    view_array(value, &view);
    if (view.ndim > 1)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("%s must be a one-dimensional array, got %d dimensions", what, view.ndim)));
    if (view.ndim < 1 || view.dims[0] < 1)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("%s must have at least one element", what)));
    reader->n = view.dims[0];
    reader->first_missing = reader->n;
    reserve(reader, reader->n);
    if (type->read)
        copy_fixed(reader, &view, type);
    else
        copy_numeric(reader, value);

    if ((Pointer) value != DatumGetPointer(array))
        pfree(value);
    if (array != datum)
        pfree(DatumGetPointer(array));
}

void
kml_check_finite(size_t n, const double *x, const char *what, size_t row)
{
    size_t i = 0;

    while (i < n && isfinite(x[i]))
        i++;
    if (i == n)
        return;
    if (row > 0)
        what = psprintf("%s in row %zu", what, row);
    if (km_is_missing(x[i]))
        ereport(ERROR,
                (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("element %zu of %s is NULL", i + 1, what)));
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("element %zu of %s is %s", i + 1, what, isnan(x[i]) ? "NaN" : "infinite")));
}

void
kml_refuse_missing(size_t i, const char *what)
{
    ereport(ERROR,
            (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
             errmsg("element %zu of %s is NULL", i + 1, what),
             errhint("Begin the learner with the impute step, which fills NULL elements.")));
}

/* ---- matrices ---- */

#define COPY_AT_ONCE ((size_t) 1 << 20)     /* numbers between looks for a cancel */

static void
copy_numbers(size_t n, const double *from, double *values)
{
    for (size_t i = 0; i < n; i += COPY_AT_ONCE)
    {
        CHECK_FOR_INTERRUPTS();
        memcpy(values + i, from + i, Min(n - i, COPY_AT_ONCE) * sizeof(double));
    }
}

/* Spread the values of an array with NULLs, which holds only the others. */
static void
copy_with_nulls(const ArrayType *array, size_t n, double *values)
{
    const bits8 *nulls = ARR_NULLBITMAP(array);
    const double *next = (const double *) ARR_DATA_PTR(array);

    for (size_t i = 0; i < n; i++)
        values[i] = nulls[i / 8] & (1 << (i % 8)) ? *next++ : km_missing();
}

double *
kml_matrix_read(Datum datum, const char *what, size_t *rows, size_t *columns)
{
    ArrayType *array = DatumGetArrayTypeP(datum);
    size_t n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    double *values;

    if (n > 0 && ARR_NDIM(array) != 2)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("%s must be a two-dimensional array, got %d dimension%s", what, ARR_NDIM(array),
                        km_plural(ARR_NDIM(array)))));
    *rows = n > 0 ? ARR_DIMS(array)[0] : 0;
    *columns = n > 0 ? ARR_DIMS(array)[1] : 0;
    values = MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * sizeof(double));
    if (array_contains_nulls(array))
        copy_with_nulls(array, n, values);
    else
        copy_numbers(n, (const double *) ARR_DATA_PTR(array), values);
    if ((Pointer) array != DatumGetPointer(datum))
        pfree(array);
    return values;
}

double *
kml_finite_matrix_read(Datum datum, const char *what, size_t *rows, size_t *columns)
{
    double *x = kml_matrix_read(datum, what, rows, columns);

    for (size_t i = 0; i < *rows; i++)
    {
        CHECK_FOR_INTERRUPTS();
        kml_check_finite(*columns, x + i * *columns, what, i + 1);
    }
    return x;
}

Datum
kml_matrix_make(size_t rows, size_t columns, double **values)
{
    int ndim = rows == 0 ? 1 : 2;
    size_t n = (rows == 0 ? 1 : rows) * columns;
    size_t header = ARR_OVERHEAD_NONULLS(ndim);
    ArrayType *array;

    if (rows > MaxArraySize || columns > MaxArraySize || n > (MaxAllocSize - header) / sizeof(double))
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                 errmsg("an array of %zu x %zu numbers is too large for one value", Max(rows, 1), columns),
                 errdetail("An array holds at most %zu numbers.", (size_t) MaxArraySize)));
    if (n == 0)
    {
        *values = NULL;
        return PointerGetDatum(construct_empty_array(FLOAT8OID));
    }
    array = palloc(header + n * sizeof(double));
    km_advise_huge_pages(array, header + n * sizeof(double));
    SET_VARSIZE(array, header + n * sizeof(double));
    array->ndim = ndim;
    array->dataoffset = 0;
    array->elemtype = FLOAT8OID;
    ARR_DIMS(array)[0] = rows == 0 ? columns : rows;
    ARR_DIMS(array)[ndim - 1] = columns;
    for (int i = 0; i < ndim; i++)
        ARR_LBOUND(array)[i] = 1;
    *values = (double *) ARR_DATA_PTR(array);
    return PointerGetDatum(array);
}

Datum
kml_vector_make(size_t n, const double *values)
{
    double *copy;
    Datum array = kml_matrix_make(0, n, &copy);

    if (n > 0)
        memcpy(copy, values, n * sizeof(double));
    return array;
}
