/* sizes.h: the smaller of two counts, which every loop over blocks asks for. */
#ifndef KM_SIZES_H
#define KM_SIZES_H

#include <stddef.h>

static inline size_t
min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif
