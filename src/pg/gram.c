/*
 * gram.c: the aggregate gram, and the spectrum of a Gram matrix.
 */
#include "glue.h"

#include <math.h>

#include "access/detoast.h"
#include "utils/array.h"

#include "gram.h"
#include "row_store.h"

/* An array holds at most this many rows squared. */
#define MAX_GRAM_ROWS 11585

typedef struct GramState
{
    struct varlena *spec;       /* the kernel's text */
    KmlRowStore rows;           /* width d */
} GramState;

static GramState *
gram_start(MemoryContext memory, struct varlena *spec, size_t d)
{
    MemoryContext old = MemoryContextSwitchTo(memory);
    GramState *state = palloc0(sizeof *state);

    state->spec = kml_spec_make(VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec));
    kml_rows_init(&state->rows, d, memory);
    MemoryContextSwitchTo(old);
    return state;
}

PG_FUNCTION_INFO_V1(kml_gram_transition);
PG_FUNCTION_INFO_V1(kml_gram_final);

/* (state, kernel, x): keep the row; a NULL row is skipped. */
Datum
kml_gram_transition(PG_FUNCTION_ARGS)
{
    MemoryContext memory;
    GramState *state = PG_ARGISNULL(0) ? NULL : (GramState *) PG_GETARG_POINTER(0);
    const KmlVectorReader *x;
    struct varlena *spec;

    if (!AggCheckCallContext(fcinfo, &memory))
        elog(ERROR, "gram transition called outside an aggregate");
    if (PG_ARGISNULL(1))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("kernel of gram must not be NULL")));
    if (PG_ARGISNULL(2))
        PG_RETURN_POINTER(state);
    spec = PG_GETARG_VARLENA_PP(1);
    x = kml_row_argument(fcinfo, 2);
    if (state == NULL)
        state = gram_start(memory, spec, x->n);
    else if (!kml_varlena_equal(state->spec, spec))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("the kernel of gram must be the same for all rows of a group")));
    if (state->rows.n == MAX_GRAM_ROWS)
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                 errmsg("a Gram matrix of more than %d rows does not fit into one value", MAX_GRAM_ROWS),
                 errhint("Fit a model instead: it does not keep the matrix.")));
    kml_rows_add(&state->rows, x);
    PG_FREE_IF_COPY(spec, 1);
    PG_RETURN_POINTER(state);
}

/* The n x n matrix, rows in input order; data-dependent parameters are learnt from the rows. */
Datum
kml_gram_final(PG_FUNCTION_ARGS)
{
    GramState *state = PG_ARGISNULL(0) ? NULL : (GramState *) PG_GETARG_POINTER(0);
    size_t n, d;
    KmContext *ctx;
    KmKernel *kernel;
    KmPoints *points;
    double *x, *out;
    Datum result;

    if (state == NULL)
        PG_RETURN_NULL();
    n = state->rows.n;
    d = state->rows.width;
    ctx = kml_context_create(CurrentMemoryContext);
    kernel = kml_kernel_parse(ctx, state->spec);
    result = kml_kernel_values_make(ctx, n, n, &out);
    x = kml_rows_copy(ctx, &state->rows);
    kml_check(ctx, km_kernel_resolve(ctx, kernel, n, d, x, NULL));
    kml_check(ctx, km_points_create(ctx, kernel, n, d, x, NULL, &points));
    kml_check(ctx, km_gram_fill(ctx, kernel, points, true, n, out));
    kml_context_delete(ctx);
    PG_RETURN_DATUM(result);
}

/* ---- spectra ---- */

double *
kml_symmetric_read(KmContext *ctx, Datum datum, size_t copies, size_t *n)
{
    size_t rows, columns;
    double *g;

    kml_check(ctx, km_reserve(ctx, (double) copies * toast_raw_datum_size(datum),
                              copies > 1 ? "a copy of g and the result" : "a copy of g",
                              "Use fewer rows, or raise kernelml.max_memory."));
    g = kml_finite_matrix_read(datum, "g", &rows, &columns);
    if (rows != columns)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("g must be square, got %zu x %zu", rows, columns)));
    kml_check(ctx, km_matrix_check_symmetric(ctx, rows, rows, g, 1e-10, "g"));
    *n = rows;
    return g;
}

PG_FUNCTION_INFO_V1(kml_gram_eigenvalues);
PG_FUNCTION_INFO_V1(kml_is_psd);

Datum
kml_gram_eigenvalues(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    size_t n;
    double *g = kml_symmetric_read(ctx, PG_GETARG_DATUM(0), 1, &n);
    double *ascending;
    Datum result;

    kml_check(ctx, km_alloc(ctx, n, &ascending));
    if (n > 0)
        kml_check(ctx, km_symmetric_eigenvalues(ctx, n, g, ascending));
    result = kml_vector_make(n, ascending);
    pfree(g);
    kml_context_delete(ctx);
    PG_RETURN_DATUM(result);
}

Datum
kml_is_psd(PG_FUNCTION_ARGS)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    double tolerance = PG_GETARG_FLOAT8(1);
    size_t n;
    double *g;
    bool psd = true;

    if (!(tolerance >= 0) || isinf(tolerance))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("tolerance must be finite and not negative, got %g", tolerance)));
    g = kml_symmetric_read(ctx, PG_GETARG_DATUM(0), 1, &n);
    if (n > 0)
        kml_check(ctx, km_symmetric_is_psd(ctx, n, g, tolerance, &psd));
    pfree(g);
    kml_context_delete(ctx);
    PG_RETURN_BOOL(psd);
}
