/* kernel_support.h: kernels and rows prepared for them. */
#ifndef KM_TEST_KERNEL_SUPPORT_H
#define KM_TEST_KERNEL_SUPPORT_H

#include "context_support.h"
#include "kernel.h"
#include "points.h"

static inline KmKernel *
parse(const char *text)
{
    KmKernel *kernel;

    if (km_kernel_parse(ctx, text, strlen(text), &kernel) != KM_OK)
        fail_msg("%s: %s", text, ctx->message);
    return kernel;
}

/* like: the rows that these are compared with, NULL for themselves. */
static inline KmPoints *
make_points(const KmKernel *kernel, size_t n, size_t d, const double *x, const KmPoints *like)
{
    KmPoints *points;

    if (km_points_create(ctx, kernel, n, d, x, like, &points) != KM_OK)
        fail_msg("%s", ctx->message);
    return points;
}

#endif
