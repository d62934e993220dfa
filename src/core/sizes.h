/* sizes.h: small arithmetic of counts, which every loop over blocks asks for. */
#ifndef KM_SIZES_H
#define KM_SIZES_H

#include <stddef.h>

static inline size_t
min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t
max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The least multiple of unit that is not below n. */
static inline size_t
round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

#endif
