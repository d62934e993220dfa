/* compat.h: differences between the PostgreSQL versions that kernelml builds on (15 to 18). */
#ifndef KML_COMPAT_H
#define KML_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* PostgreSQL 18 has pg_noreturn, in front of a declaration. */
#ifndef pg_noreturn
#define pg_noreturn _Noreturn
#endif

#endif
