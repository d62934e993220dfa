/*
 * kernels.c: kernel_value, distance and kernel_matrix.
 */
#include "glue.h"

#include <math.h>

#include "utils/builtins.h"

#include "gram.h"
#include "kernel_tools.h"

/* ---- a kernel as an argument ---- */

/* What a call site of kernel_value or distance keeps between rows. */
typedef struct ValueCall
{
    KmContext *ctx;             /* of the kernel */
    struct varlena *spec;       /* the kernel's text */
    KmKernel *kernel;
    KmDistance *distance;       /* of the kernel, when first asked for */
    KmlVectorReader x, z;
} ValueCall;

KmKernel *
kml_kernel_parse_fixed(KmContext *ctx, const struct varlena *spec)
{
    KmKernel *kernel = kml_kernel_parse(ctx, spec);
    char quoted[KM_QUOTE_SIZE];

    km_quote_part(VARSIZE_ANY_EXHDR(spec), VARDATA_ANY(spec), KM_QUOTE_SIZE, quoted);
    if (km_kernel_needs_data(kernel))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("kernel %s has a parameter that is learnt from data", quoted),
                 errhint("Give a number, such as gamma=0.5, or use gram(), which learns it from its rows.")));
    if (km_kernel_has_grid(kernel))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("kernel %s has a grid of values", quoted),
                 errhint("Give one number: grids are for tuning.")));
    return kernel;
}

static ValueCall *
value_call(FunctionCallInfo fcinfo)
{
    ValueCall *call = fcinfo->flinfo->fn_extra;
    struct varlena *spec = PG_GETARG_VARLENA_PP(0);

    if (call == NULL)
    {
        MemoryContext memory = fcinfo->flinfo->fn_mcxt;

        call = MemoryContextAllocZero(memory, sizeof *call);
        kml_vector_reader_init(&call->x, get_fn_expr_argtype(fcinfo->flinfo, 1), "x", memory);
        kml_vector_reader_init(&call->z, get_fn_expr_argtype(fcinfo->flinfo, 2), "z", memory);
        fcinfo->flinfo->fn_extra = call;
    }
    if (call->spec == NULL || !kml_varlena_equal(call->spec, spec))
    {
        KmContext *ctx = kml_context_create(fcinfo->flinfo->fn_mcxt);
        MemoryContext old;

        call->spec = NULL;
        if (call->ctx)
            kml_context_delete(call->ctx);
        call->ctx = ctx;
        call->kernel = kml_kernel_parse_fixed(ctx, spec);
        call->distance = NULL;
        old = MemoryContextSwitchTo(ctx->owner);
        call->spec = kml_spec_make(VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec));
        MemoryContextSwitchTo(old);
    }
    PG_FREE_IF_COPY(spec, 0);
    return call;
}

/* The call with its two rows read. */
static ValueCall *
read_rows(FunctionCallInfo fcinfo)
{
    ValueCall *call = value_call(fcinfo);

    kml_vector_read(&call->x, PG_GETARG_DATUM(1), "x");
    kml_vector_read(&call->z, PG_GETARG_DATUM(2), "z");
    if (call->x.n != call->z.n)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("x has %zu elements and z has %zu", call->x.n, call->z.n)));
    kml_check_finite(call->x.n, call->x.value, "x", 0);
    kml_check_finite(call->z.n, call->z.value, "z", 0);
    return call;
}

PG_FUNCTION_INFO_V1(kml_kernel_value);
PG_FUNCTION_INFO_V1(kml_distance);

Datum
kml_kernel_value(PG_FUNCTION_ARGS)
{
    ValueCall *call = read_rows(fcinfo);
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    double value;

    kml_check(ctx, km_kernel_value(ctx, call->kernel, call->x.n, call->x.value, call->z.value, &value));
    kml_context_delete(ctx);
    if (!isfinite(value))
        ereport(ERROR,
                (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                 errmsg("the kernel of x and z is not a finite number"),
                 errhint("Large feature values overflow this kernel; scale them first.")));
    PG_RETURN_FLOAT8(value);
}

/* The distance of x and z in the kernel's feature space. */
Datum
kml_distance(PG_FUNCTION_ARGS)
{
    ValueCall *call = read_rows(fcinfo);
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    double value;

    if (call->distance == NULL)
        kml_check(call->ctx, km_distance_create(call->ctx, call->kernel, &call->distance));
    kml_check(ctx, km_distance_value(ctx, call->distance, call->x.n, call->x.value, call->z.value, &value));
    kml_context_delete(ctx);
    PG_RETURN_FLOAT8(value);
}

/* ---- kernel_matrix ---- */

static KmPoints *
points_of(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d, const double *x, const KmPoints *like)
{
    KmPoints *points;

    kml_check(ctx, km_points_create(ctx, kernel, n, d, x, like, &points));
    return points;
}

/* What no value can hold is that error, whatever the cap; memory is taken where it is first touched. */
Datum
kml_kernel_values_make(KmContext *ctx, size_t rows, size_t columns, double **out)
{
    Datum result = kml_matrix_make(rows, columns, out);

    kml_check(ctx, km_reserve(ctx, 8.0 * rows * columns, psprintf("a kernel matrix of %zu x %zu", rows, columns),
                              "Use fewer rows, or raise kernelml.max_memory."));
    return result;
}

PG_FUNCTION_INFO_V1(kml_kernel_matrix);
PG_FUNCTION_INFO_V1(kml_kernel_matrix_cross);

/* kernel_matrix(kernel, x): the Gram matrix of the rows of x. */
Datum
kml_kernel_matrix(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    KmKernel *kernel = kml_kernel_parse_fixed(ctx, PG_GETARG_VARLENA_PP(0));
    size_t n, d;
    double *x = kml_finite_matrix_read(PG_GETARG_DATUM(1), "x", &n, &d);
    double *out;
    Datum result = kml_kernel_values_make(ctx, n, n, &out);

    if (n > 0)
        kml_check(ctx, km_gram_fill(ctx, kernel, points_of(ctx, kernel, n, d, x, NULL), true, n, out));
    kml_context_delete(ctx);
    PG_RETURN_DATUM(result);
}

/* kernel_matrix(kernel, x, z): values of all pairs of a row of x and a row of z. */
Datum
kml_kernel_matrix_cross(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    KmKernel *kernel = kml_kernel_parse_fixed(ctx, PG_GETARG_VARLENA_PP(0));
    size_t n, m, d, dz;
    double *x = kml_finite_matrix_read(PG_GETARG_DATUM(1), "x", &n, &d);
    double *z = kml_finite_matrix_read(PG_GETARG_DATUM(2), "z", &m, &dz);
    double *out;
    Datum result;

    if (n > 0 && m > 0 && d != dz)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("rows of x have %zu elements and rows of z have %zu", d, dz)));
    result = kml_kernel_values_make(ctx, n, n == 0 ? 0 : m, &out);
    if (n > 0 && m > 0)
    {
        KmPoints *stored = points_of(ctx, kernel, m, d, z, NULL);
        KmPoints *rows = points_of(ctx, kernel, n, d, x, stored);

        kml_check(ctx, km_kernel_tile(ctx, kernel, rows, 0, n, stored, 0, m, m, out));
        kml_check(ctx, km_matrix_check_finite(ctx, n, m, m, out, "the kernel matrix"));
    }
    kml_context_delete(ctx);
    PG_RETURN_DATUM(result);
}
