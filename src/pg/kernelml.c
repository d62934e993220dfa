/* kernelml.c: the library's entry, its settings and its version. */
#include "glue.h"

#include <limits.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_extension.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/rel.h"

PG_MODULE_MAGIC;

int kml_max_memory_kb = 1024 * 1024;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
    DefineCustomIntVariable("kernelml.max_memory",
                            "Most memory that one kernelml computation may take.",
                            "Exact methods that would need more are refused before they start; "
                            "support vector machines recompute rows instead.",
                            &kml_max_memory_kb, 1024 * 1024, 1024, INT_MAX,
                            PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
    MarkGUCPrefixReserved("kernelml");
}

/* extversion of the extension in this database; NULL while it is being created. */
static char *
sql_version(void)
{
    Relation extensions = table_open(ExtensionRelationId, AccessShareLock);
    ScanKeyData key;
    SysScanDesc scan;
    HeapTuple tuple;
    char *version = NULL;

    ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
                CStringGetDatum("kernelml"));
    scan = systable_beginscan(extensions, ExtensionNameIndexId, true, NULL, 1, &key);
    tuple = systable_getnext(scan);
    if (HeapTupleIsValid(tuple))
    {
        bool is_null;
        Datum datum = heap_getattr(tuple, Anum_pg_extension_extversion, RelationGetDescr(extensions),
                                   &is_null);

        if (!is_null)
            version = TextDatumGetCString(datum);
    }
    systable_endscan(scan);
    table_close(extensions, AccessShareLock);
    return version;
}

PG_FUNCTION_INFO_V1(kml_kernelml_version);

/* The version of the library; warns if the SQL objects of this database are of another. */
Datum
kml_kernelml_version(PG_FUNCTION_ARGS)
{
    char *version = sql_version();

    if (version && strcmp(version, KERNELML_VERSION) != 0)
        ereport(WARNING,
                (errmsg("the library is version %s, the extension's objects in this database are version %s",
                        KERNELML_VERSION, version),
                 errhint("Run ALTER EXTENSION kernelml UPDATE.")));
    PG_RETURN_TEXT_P(cstring_to_text(KERNELML_VERSION));
}
