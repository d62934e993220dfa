/* kernelml.c: the library's entry, its settings and its version. */
#include "glue.h"

#include <limits.h>

#include "utils/builtins.h"
#include "utils/guc.h"

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

PG_FUNCTION_INFO_V1(kml_kernelml_version);

/* The version of the library; the extension's own is in pg_extension. */
Datum
kml_kernelml_version(PG_FUNCTION_ARGS)
{
    PG_RETURN_TEXT_P(cstring_to_text(KERNELML_VERSION));
}
