/* bits.h: the 64 bits of a double, and back. */
#ifndef KM_BITS_H
#define KM_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t
km_bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double
km_from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
