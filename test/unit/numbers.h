/*
 * numbers.h: random numbers, bits and units in the last place for the unit
 * tests of elementary functions and of scoring.
 */
#ifndef KM_TEST_NUMBERS_H
#define KM_TEST_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* SplitMix64 (Steele, Lea, Flood 2014): independent of the code under test. */
static inline uint64_t
next_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline double
next_uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double) (next_bits(state) >> 11) * 0x1p-53;
}

/* Any double: every exponent, infinities and NaN. */
static inline double
next_any(uint64_t *state)
{
    uint64_t bits = next_bits(state);
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t
bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#define assert_bits(got, expected) assert_int_equal(bits_of(got), bits_of(expected))

/* |got - expected| in units of the last place of expected, whose format has
 * `digits` bits and smallest exponent `lowest` (53, -1074 or 24, -149). */
static inline double
ulp_error(long double got, long double expected, int digits, int lowest)
{
    int exponent;

    if (got == expected || (isnan(got) && isnan(expected)))
        return 0;
    if (!isfinite(got) || !isfinite(expected))
        return INFINITY;
    frexpl(expected, &exponent);
    exponent -= digits;
    return (double) ldexpl(fabsl(got - expected), -(exponent < lowest ? lowest : exponent));
}

#endif
