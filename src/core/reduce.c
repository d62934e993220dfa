/*
 * reduce.c: huge angles modulo a right angle, by multiplying with the bits of
 * 2/pi that matter (Payne and Hanek, "Radian reduction for trigonometric
 * functions", SIGNUM Newsletter 18, 1983).  Integers only, so exact everywhere.
 */
#include "reduce.h"

#include <math.h>
#include <stdint.h>

#include "bits.h"

__extension__ typedef unsigned __int128 uint128;
__extension__ typedef __int128 int128;

/* Bits of 2/pi, most significant first, behind 64 zero bits. */
static const uint64_t two_over_pi[] = {
    0,
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

static const double pi_half = 0x1.921fb54442d18p+0, pi_half_low = 0x1.1a62633145c07p-54;

/* 64 bits of the table from bit `at` on. */
static uint64_t
bits_at(unsigned at)
{
    const uint64_t *word = two_over_pi + at / 64;
    unsigned shift = at % 64;

    return shift == 0 ? word[0] : word[0] << shift | word[1] >> (64 - shift);
}

/* x * 2/pi mod 4 for x = mantissa * 2^exponent: the quadrant in the two top
 * bits, then the fraction; the 128 top bits of a 192-bit product in `high`, the
 * rest in `low`.  Bits of 2/pi worth 4 or more are left out, those after 192 are
 * worth less than 2^-137. */
static void
quarter_turns(uint64_t mantissa, int exponent, uint128 *high, uint64_t *low)
{
    unsigned at = (unsigned) (64 + exponent - 2);
    uint128 p0 = (uint128) mantissa * bits_at(at + 128);
    uint128 p1 = (uint128) mantissa * bits_at(at + 64) + (uint64_t) (p0 >> 64);
    uint64_t top = mantissa * bits_at(at) + (uint64_t) (p1 >> 64);

    *high = (uint128) top << 64 | (uint64_t) p1;
    *low = (uint64_t) p0;
}

/* r + low = fraction * 2^-128 * pi/2, with the fraction as two doubles. */
static void
scale_by_pi_half(uint128 fraction, double *r, double *low)
{
    double f = (double) fraction;
    double f_low = (double) (int128) (fraction - (uint128) f) * 0x1p-128;

    f *= 0x1p-128;
    double p = f * pi_half;
    double p_low = fma(f, pi_half, -p) + (f * pi_half_low + f_low * pi_half);

    *r = p + p_low;
    *low = (p - *r) + p_low;
}

int
km_reduce_angle(double x, double *r, double *low)
{
    uint64_t bits = km_bits_of(x), rest;
    uint128 high;
    int exponent = (int) (bits >> 52 & 0x7ff) - 1075;

    quarter_turns((bits & 0xfffffffffffff) | 0x10000000000000, exponent, &high, &rest);

    int quadrant = (int) (high >> 126);
    uint128 fraction = high << 2 | rest >> 62;
    double sign = x < 0 ? -1 : 1;

    if (fraction >> 127)        /* over half a right angle: from the next one back */
    {
        fraction = -fraction;
        quadrant++;
        sign = -sign;
    }
    scale_by_pi_half(fraction, r, low);
    *r *= sign;
    *low *= sign;
    return (x < 0 ? -quadrant : quadrant) & 3;
}
