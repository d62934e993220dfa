/*
 * call_site.c: what an aggregate's functions keep from row to row.
 *
 * PostgreSQL keeps it in their FmgrInfo.  Citus, where it runs an aggregate in
 * parts (worker_partial_agg), calls them through an FmgrInfo that it makes anew
 * for every row, without an expression: the Aggref then says which call site
 * it is, and what is kept lives as long as the query.
 */
#include "glue.h"

#include "nodes/execnodes.h"

typedef struct CallSite
{
    const Aggref *aggregate;
    void *kept;
    MemoryContextCallback end;
    struct CallSite *next;
} CallSite;

static CallSite *sites = NULL;  /* of the queries that run */

static void
forget(void *site)
{
    CallSite **link = &sites;

    while (*link != site)
        link = &(*link)->next;
    *link = (*link)->next;
}

static void *
kept_by_aggregate(const Aggref *aggregate, size_t bytes, MemoryContext query)
{
    CallSite *site = sites;

    while (site && site->aggregate != aggregate)
        site = site->next;
    if (site == NULL)
    {
        site = MemoryContextAllocZero(query, sizeof *site);
        site->aggregate = aggregate;
        site->kept = MemoryContextAllocZero(query, bytes);
        site->end.func = forget;
        site->end.arg = site;
        site->next = sites;
        sites = site;
        MemoryContextRegisterResetCallback(query, &site->end);
    }
    return site->kept;
}

void *
kml_call_site(FunctionCallInfo fcinfo, size_t bytes, MemoryContext *memory)
{
    FmgrInfo *flinfo = fcinfo->flinfo;
    Aggref *aggregate = flinfo->fn_expr ? NULL : AggGetAggref(fcinfo);

    if (aggregate)
    {
        *memory = castNode(AggState, fcinfo->context)->ss.ps.state->es_query_cxt;
        return kept_by_aggregate(aggregate, bytes, *memory);
    }
    *memory = flinfo->fn_mcxt;
    if (flinfo->fn_extra == NULL)
        flinfo->fn_extra = MemoryContextAllocZero(*memory, bytes);
    return flinfo->fn_extra;
}
