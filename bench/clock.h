/*
 * clock.h: the clock that a program's first argument names, wall or cpu.
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <string.h>
#include <time.h>

static clockid_t chosen_clock = CLOCK_MONOTONIC;

static inline void choose_clock(const char *name)
{
    if (strcmp(name, "cpu") == 0)
        chosen_clock = CLOCK_PROCESS_CPUTIME_ID;
}

static inline double seconds(void)
{
    struct timespec now;

    clock_gettime(chosen_clock, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

#endif
