/* row_store.c: see row_store.h. */
#include "row_store.h"

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
