/*
 * polling.h: a poll hook that counts, asks to stop at a given call, and measures
 * the longest stretch of CPU time between two calls.
 */
#ifndef KM_TEST_POLLING_H
#define KM_TEST_POLLING_H

#include <time.h>

#include "context.h"

typedef struct Polling
{
    size_t calls, stop_at;      /* stop_at: number of the call that says stop; 0: none */
    double last, longest;       /* seconds */
} Polling;

static inline double
cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static inline bool
polling_hook(KmContext *ctx)
{
    Polling *polling = ctx->owner;
    double now = cpu_seconds();

    if (now - polling->last > polling->longest)
        polling->longest = now - polling->last;
    polling->last = now;
    return ++polling->calls == polling->stop_at;
}

static inline void
polling_start(KmContext *ctx, Polling *polling, size_t stop_at)
{
    *polling = (Polling) {.stop_at = stop_at, .last = cpu_seconds()};
    ctx->poll = polling_hook;
    ctx->owner = polling;
}

/* The stretch up to now counts too. */
static inline void
polling_end(KmContext *ctx, Polling *polling)
{
    polling_hook(ctx);
    polling->calls--;
    ctx->poll = NULL;
    ctx->owner = NULL;
}

#endif
