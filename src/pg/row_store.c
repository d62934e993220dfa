/* row_store.c: see row_store.h. */
#include "row_store.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

void
kml_rows_init(KmlRowStore *store, size_t width, MemoryContext memory)
{
    memset(store, 0, sizeof *store);
    store->width = width;
    store->memory = memory;
}

static void
add_chunk(KmlRowStore *store, int c)
{
    double row_bytes = (double) store->width * sizeof(double);
    double kept = row_bytes * store->n;
    double bytes = row_bytes * ((size_t) KML_FIRST_ROWS << c);

    if (kept + bytes > (double) kml_max_memory_kb * 1024)
        ereport(ERROR,
                (errcode(ERRCODE_OUT_OF_MEMORY),
                 errmsg("keeping more than %zu rows of %zu numbers would take more than %d MB",
                        store->n, store->width, kml_max_memory_kb / 1024),
                 errhint("Raise kernelml.max_memory, or fit a learner that keeps sums: "
                         "rff(...) | ridge(...).")));
    store->chunk[c] = MemoryContextAllocHuge(store->memory, (Size) bytes);
}

double *
kml_rows_append(KmlRowStore *store)
{
    size_t i = store->n;
    int c = 63 - __builtin_clzll(i / KML_FIRST_ROWS + 1);

    if (store->chunk[c] == NULL)
        add_chunk(store, c);
    store->n++;
    return (double *) kml_rows_get(store, i);
}

const KmlVectorReader *
kml_row_argument(FunctionCallInfo fcinfo, int argument)
{
    MemoryContext memory;
    KmlVectorReader *reader = kml_call_site(fcinfo, sizeof *reader, &memory);

    if (!OidIsValid(reader->type))
        kml_vector_reader_init(reader, FLOAT8ARRAYOID, "x", memory);
    kml_vector_read(reader, PG_GETARG_DATUM(argument), "x");
    return reader;
}

void
kml_rows_add(KmlRowStore *store, const KmlVectorReader *x)
{
    if (x->n != store->width)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("row %zu has %zu element%s, the rows before it have %zu", store->n + 1, x->n,
                        km_plural(x->n), store->width)));
    kml_check_finite(x->n, x->value, "x", store->n + 1);
    memcpy(kml_rows_append(store), x->value, x->n * sizeof(double));
}

double *
kml_rows_copy(KmContext *ctx, const KmlRowStore *store)
{
    double *rows;

    kml_check(ctx, km_alloc(ctx, store->n * store->width, &rows));
    for (size_t i = 0; i < store->n; i++)
    {
        CHECK_FOR_INTERRUPTS();
        memcpy(rows + i * store->width, kml_rows_get(store, i), store->width * sizeof(double));
    }
    return rows;
}
