/*
 * row_store.h: rows of doubles kept by an aggregate's state, in chunks that
 * double, straight in the aggregate's context (no context of their own, which
 * would make hash aggregation quadratic in the number of groups).
 */
#ifndef KML_ROW_STORE_H
#define KML_ROW_STORE_H

#include "glue.h"

#define KML_FIRST_ROWS 8
#define KML_MAX_CHUNKS 40

typedef struct KmlRowStore
{
    MemoryContext memory;
    size_t width;               /* doubles per row */
    size_t n;                   /* rows */
    double *chunk[KML_MAX_CHUNKS];      /* chunk c holds KML_FIRST_ROWS << c rows */
} KmlRowStore;

extern void kml_rows_init(KmlRowStore *store, size_t width, MemoryContext memory);
/* Room for one more row, to be filled by the caller; refuses to pass kernelml.max_memory. */
extern double *kml_rows_append(KmlRowStore *store);
/* Read the argument, a float8[], of a transition function; the reader is kept at the call site. */
extern const KmlVectorReader *kml_row_argument(FunctionCallInfo fcinfo, int argument);
/* Keep a row: finite numbers, as many as in the rows before it. */
extern void kml_rows_add(KmlRowStore *store, const KmlVectorReader *x);
/* All rows, n x width. */
extern double *kml_rows_copy(KmContext *ctx, const KmlRowStore *store);

static inline const double *
kml_rows_get(const KmlRowStore *store, size_t i)
{
    size_t scaled = i / KML_FIRST_ROWS + 1;
    int c = 63 - __builtin_clzll(scaled);
    size_t first = KML_FIRST_ROWS * (((size_t) 1 << c) - 1);

    return store->chunk[c] + (i - first) * store->width;
}

#endif
