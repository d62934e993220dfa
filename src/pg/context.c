/*
 * context.c: core's context on PostgreSQL's memory contexts, and its errors.
 *
 * Core allocates here and polls for cancel here.  The error that a poll raises is kept while core returns,
 * because below it may be a library whose memory is not the context's, and thrown again by kml_check.
 */
#include "glue.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#define ALIGNMENT 64

/* Memory of 64-byte alignment; the block's own address stands just before it. */
static void *
allocate(KmContext *ctx, size_t bytes)
{
    char *block, *aligned;

    if (bytes > MaxAllocHugeSize - 2 * ALIGNMENT)
        return NULL;
    block = MemoryContextAllocExtended(ctx->owner, bytes + ALIGNMENT + sizeof(void *),
                                       MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
    if (block == NULL)
        return NULL;
    aligned = (char *) TYPEALIGN(ALIGNMENT, block + sizeof(void *));
    ((void **) aligned)[-1] = block;
    return aligned;
}

static void
release(KmContext *ctx, void *aligned)
{
    (void) ctx;
    pfree(((void **) aligned)[-1]);
}

/* A KmContext and the error that its poll caught. */
typedef struct Context
{
    KmContext core;             /* first */
    ErrorData *interrupt;       /* NULL: none */
} Context;

static bool
poll_interrupts(KmContext *ctx)
{
    Context *context = (Context *) ctx;
    MemoryContext caller = CurrentMemoryContext;

    if (context->interrupt != NULL)
        return true;
    if (!INTERRUPTS_PENDING_CONDITION())
        return false;
    PG_TRY();
    {
        CHECK_FOR_INTERRUPTS();
    }
    PG_CATCH();
    {
        MemoryContextSwitchTo(ctx->owner);
        context->interrupt = CopyErrorData();
        FlushErrorState();
        MemoryContextSwitchTo(caller);
    }
    PG_END_TRY();
    return context->interrupt != NULL;
}

static void
throw_interrupt(KmContext *ctx)
{
    Context *context = (Context *) ctx;
    ErrorData *interrupt = context->interrupt;

    context->interrupt = NULL;
    if (interrupt != NULL)
        ReThrowError(interrupt);
}

/* What a long computation is at, once a second, for those who SET client_min_messages = debug1. */
static void
report_progress(KmContext *ctx, const char *stage, double done, double total)
{
    static TimestampTz last = 0;
    TimestampTz now = GetCurrentTimestamp();

    (void) ctx;
    if (!TimestampDifferenceExceeds(last, now, 1000))
        return;
    last = now;
    ereport(DEBUG1, (errmsg_internal("kernelml: %s: %.0f %%", stage, 100 * done / total)));
}

static void
warn(KmContext *ctx, const char *message)
{
    (void) ctx;
    ereport(WARNING, (errmsg("%s", message)));
}

static void
notice(KmContext *ctx, const char *message)
{
    (void) ctx;
    ereport(NOTICE, (errmsg("%s", message)));
}

KmContext *
kml_context_create(MemoryContext parent)
{
    MemoryContext memory = AllocSetContextCreate(parent, "kernelml", ALLOCSET_DEFAULT_SIZES);
    KmContext *ctx = MemoryContextAllocZero(memory, sizeof(Context));

    ctx->allocate = allocate;
    ctx->release = release;
    ctx->poll = poll_interrupts;
    ctx->progress = report_progress;
    ctx->warn = warn;
    ctx->notice = notice;
    ctx->owner = memory;
    ctx->max_bytes = (size_t) kml_max_memory_kb * 1024;
    return ctx;
}

void
kml_context_delete(KmContext *ctx)
{
    MemoryContextDelete(ctx->owner);
}

static int
sqlstate(KmStatus status)
{
    static const int codes[KM_STATUS_COUNT] = {
        [KM_SYNTAX] = ERRCODE_INVALID_TEXT_REPRESENTATION,
        [KM_INVALID] = ERRCODE_INVALID_PARAMETER_VALUE,
        [KM_DIMENSION] = ERRCODE_INVALID_PARAMETER_VALUE,
        [KM_NULL] = ERRCODE_NULL_VALUE_NOT_ALLOWED,
        [KM_DATA] = ERRCODE_INVALID_PARAMETER_VALUE,
        [KM_RANGE] = ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
        [KM_LIMIT] = ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        [KM_MEMORY] = ERRCODE_OUT_OF_MEMORY,
        [KM_CORRUPT] = ERRCODE_DATA_CORRUPTED,
        [KM_UNSUPPORTED] = ERRCODE_FEATURE_NOT_SUPPORTED,
        [KM_SINGULAR] = ERRCODE_DATA_EXCEPTION,
        [KM_CANCELLED] = ERRCODE_QUERY_CANCELED,
        [KM_INTERNAL] = ERRCODE_INTERNAL_ERROR,
    };

    return codes[status];
}

void
kml_raise(KmStatus status, const char *message, const char *detail, const char *hint)
{
    ereport(ERROR,
            (errcode(sqlstate(status)),
             errmsg("%s", message),
             detail[0] ? errdetail("%s", detail) : 0,
             hint[0] ? errhint("%s", hint) : 0));
}

void
kml_check(KmContext *ctx, KmStatus status)
{
    if (status == KM_CANCELLED)
        throw_interrupt(ctx);
    if (status != KM_OK)
        kml_raise(status, ctx->message, ctx->detail, ctx->hint);
}
