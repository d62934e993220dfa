/*
 * vmath.c: exp, log, sincos, tanh lane by lane, without branches but for huge
 * angles.  All are: reduce the argument, a minimax polynomial (our own Remez
 * fits; the error of each is given), rebuild.  A vector's lanes do not depend on
 * each other, so tails padded to a full vector have the bits of full ones.
 *
 * Reductions follow Cody and Waite, "Software Manual for the Elementary
 * Functions", 1980; rounding to whole numbers adds 1.5 * 2^52, which leaves the
 * number in the low bits.
 */
#include "simd.h"
#include "vmath_ops.h"
#include "vector.h"
#include "../reduce.h"

static const uint64_t sign_bit = 0x8000000000000000;
static const double to_whole = 0x1.8p52, log2_e = 0x1.71547652b82fep+0;
static const double ln2_high = 0x1.62e42fefa3p-1;    /* 41 bits: exact times 11 */
static const double ln2_low = 0x1.3de6af278ece6p-42;

/* Horner for `count` x: c[0] + c[1] x + ... + c[terms-1] x^(terms-1). */
KM_INLINE void
polynomials(const double *c, int terms, size_t count, const vd *x, vd *sum)
{
KM_UNROLL
    for (size_t i = 0; i < count; i++)
        sum[i] = vd_set(c[terms - 1]);
KM_UNROLL
    for (int t = terms - 2; t >= 0; t--)
KM_UNROLL
        for (size_t i = 0; i < count; i++)
            sum[i] = vd_fma(sum[i], x[i], vd_set(c[t]));
}

KM_INLINE vd
polynomial(const double *c, int terms, vd x)
{
    vd sum;

    polynomials(c, terms, 1, &x, &sum);
    return sum;
}

/* Vectors whose steps take turns, because each step waits for the one before. */
#define TOGETHER 4

/* exp(x) = 2^k (1 + p): p, with small relative error, and to_whole + k, `count` times. */
KM_INLINE void
exp_reduced(size_t count, const vd *x, vd *p, vd *whole)
{
    /* (exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2; error times r^2 2^-58 */
    static const double c[] = {
        0x1.000000000000bp-1, 0x1.5555555555561p-3, 0x1.5555555550030p-5, 0x1.111111110d63cp-7,
        0x1.6c16c185a755ep-10, 0x1.a01a01bae15a0p-13, 0x1.a0199693c09eep-16, 0x1.71dddfce1309ep-19,
        0x1.28b049110cd34p-22, 0x1.af8583ee66897p-26,
    };
    vd r[TOGETHER], r_low[TOGETHER];

KM_UNROLL
    for (size_t i = 0; i < count; i++)
    {
        whole[i] = vd_fma(x[i], vd_set(log2_e), vd_set(to_whole));
        vd k = whole[i] - vd_set(to_whole);
        vd exact = vd_fma(k, vd_set(-ln2_high), x[i]);

        r[i] = vd_fma(k, vd_set(-ln2_low), exact);
        r_low[i] = vd_fma(k, vd_set(-ln2_low), exact - r[i]);
    }
    polynomials(c, 10, count, r, p);
KM_UNROLL
    for (size_t i = 0; i < count; i++)
        p[i] = r[i] + vd_fma(r[i] * r[i], p[i], r_low[i]);
}

/* 2^k a for -1077 <= k <= 1025, rounded once, from to_whole + k. */
KM_INLINE vd
times_power_of_two(vd a, vd whole)
{
#if KM_LANES == 8
    return _mm512_scalef_pd(a, whole - vd_set(to_whole));
#else
    /* by two factors, whose biased exponents add up to k + 2046, so that subnormal results
     * round once and large ones reach infinity */
    vu sum = (vu) whole - (vu) vd_set(to_whole) + 2046, half = sum >> 1;

    return a * (vd) (half << 52) * (vd) ((sum - half) << 52);
#endif
}

/* Beyond the clamp all results are 0 or infinity. */
KM_INLINE void
exp_lanes(size_t count, vd *x)
{
    vd p[TOGETHER], whole[TOGETHER];

KM_UNROLL
    for (size_t i = 0; i < count; i++)
        x[i] = vd_max(vd_set(-746), vd_min(vd_set(710), x[i]));
    exp_reduced(count, x, p, whole);
KM_UNROLL
    for (size_t i = 0; i < count; i++)
        x[i] = vd_one_nan(times_power_of_two(1.0 + p[i], whole[i]));
}

/* 2^k for -1022 <= k <= 1023, from to_whole + k */
KM_INLINE vd
power_of_two(vd whole)
{
    return (vd) (((vu) whole - (vu) vd_set(to_whole) + 1023) << 52);
}

/* tanh |x| = q / (q + 2) with q = exp(2|x|) - 1 = 2^k p + (2^k - 1). */
KM_INLINE vd
tanh_lanes(vd x)
{
    vd p, whole, magnitude = vd_abs(x);
    vd twice = vd_min(vd_set(40), magnitude + magnitude);

    exp_reduced(1, &twice, &p, &whole);

    vd scale = power_of_two(whole);
    vd q = vd_fma(scale, p, scale - 1.0);
    vu sign = (vu) x & sign_bit;

    return vd_one_nan((vd) ((vu) (q / (q + 2.0)) | sign));
}

/* x = 2^k m, sqrt(1/2) <= m < sqrt(2), for positive finite x; then, with
 * f = m - 1 and s = f / (2 + f), log m = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + R)). */
KM_INLINE vd
log_positive(vd x)
{
    /* (2 atanh(s)/s - 2) / s^2 in s^2; error times s^2 2^-58 */
    static const double c[] = {
        0x1.5555555555592p-1, 0x1.999999997fd77p-2, 0x1.24924941f4fdep-2, 0x1.c71c520606d35p-3,
        0x1.74663fa238645p-3, 0x1.39a1a6f90922ap-3, 0x1.2f06345438792p-3,
    };
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcd, bias = 1024;
    vdmask subnormal = vd_lt(x, vd_set(0x1p-1022));
    vd scaled = vd_select(subnormal, x * 0x1p54, x);
    vu above = (vu) scaled - sqrt_half;
    vd m = (vd) ((vu) scaled - (above & 0xfff0000000000000));
    /* the biased exponent as a double, through the low bits of 2^52 */
    vu biased = (above + (bias << 52)) >> 52;
    vd k = (vd) (biased | (vu) vd_set(0x1p52)) - vd_select(subnormal, vd_set(0x1p52 + bias + 54),
                                                          vd_set(0x1p52 + bias));
    vd f = m - 1.0;
    vd s = f / (f + 2.0);
    vd z = s * s;
    vd half_square = 0.5 * f * f;
    vd low = vd_fma(k, vd_set(ln2_low), s * vd_fma(z, polynomial(c, 7, z), half_square));

    return vd_fma(k, vd_set(ln2_high), f - (half_square - low));
}

KM_INLINE vd
log_lanes(vd x)
{
    const vd infinity = vd_set(__builtin_inf()), zero = vd_set(0);
    vd value = log_positive(x);

    value = vd_select(vd_lt(x, infinity), value, x);                        /* inf, NaN */
    value = vd_select(vd_eq(x, zero), -infinity, value);
    return vd_one_nan(vd_select(vd_lt(x, zero), vd_set(__builtin_nan("")), value));
}

/* x = quadrant pi/2 + r + low; pi/2 in three parts of 53 bits.  The first
 * subtraction is exact while |x| < 2^50, the second is compensated (Knuth's
 * two-sum): to 2^-128 absolute, enough for every double below 2^30. */
KM_INLINE vd
reduce_small(vd x, vu *quadrant, vd *low)
{
    const vd part2 = vd_set(0x1.1a62633145c07p-54), part3 = vd_set(-0x1.f1976b7ed8fbcp-110);
    vd whole = vd_fma(x, vd_set(0x1.45f306dc9c883p-1), vd_set(to_whole));
    vd n = whole - vd_set(to_whole);
    vd a = vd_fma(n, vd_set(-0x1.921fb54442d18p+0), x);
    vd b = n * part2;
    vd b_low = vd_fma(n, part2, -b);
    vd sum = a - b;
    vd a_seen = sum + b;
    vd rest = (a - a_seen) + ((a_seen - sum) - b);

    rest = vd_fma(-n, part3, rest - b_low);
    vd r = sum + rest;

    *quadrant = (vu) whole;
    *low = (sum - r) + rest;
    return r;
}

/* Lanes of finite angles that reduce_small does not reach. */
static __attribute__((noinline)) void
reduce_large(vd x, vd *r, vu *quadrant, vd *low)
{
    for (int i = 0; i < KM_LANES; i++)
    {
        double size = __builtin_fabs(x[i]), lane_r, lane_low;

        if (size < 0x1p30 || !(size < __builtin_inf()))
            continue;
        (*quadrant)[i] = (uint64_t) km_reduce_angle(x[i], &lane_r, &lane_low);
        (*r)[i] = lane_r;
        (*low)[i] = lane_low;
    }
}

/* sin(r + low) */
KM_INLINE vd
sin_reduced(vd r, vd low)
{
    /* (sin(r)/r - 1) / r^2 in r^2; error times r^2 2^-58 */
    static const double c[] = {
        -0x1.5555555555549p-3, 0x1.111111110f87ap-7, -0x1.a01a019c1195fp-13,
        0x1.71de3577b4162p-19, -0x1.ae5e6638db87bp-26, 0x1.5d93008d020d3p-33,
    };
    vd z = r * r;

    return r + vd_fma(r * z, polynomial(c, 6, z), low);
}

/* cos(r + low) = 1 - z/2 + (z^2 C(z) - r low), z = r^2 */
KM_INLINE vd
cos_reduced(vd r, vd low)
{
    /* (cos(r) - 1 + z/2) / z^2 in z; error times z^2 2^-64 */
    static const double c[] = {
        0x1.555555555554cp-5, -0x1.6c16c16c1517ep-10, 0x1.a01a019cb1bdcp-16,
        -0x1.27e4f809f09d3p-22, 0x1.1ee9ebe922e7cp-29, -0x1.8fae9c6d09d80p-37,
    };
    vd z = r * r;
    vd half = 0.5 * z;
    vd w = 1.0 - half;
    vd small = vd_fma(z * z, polynomial(c, 6, z), -r * low);

    return w + (((1.0 - w) - half) + small);
}

KM_INLINE void
sincos_lanes(vd x, vd *sine, vd *cosine)
{
    vu quadrant;
    vd low;
    vd r = reduce_small(x, &quadrant, &low);

    if (__builtin_expect(vd_any(vd_lt(vd_set(0x1p30), vd_abs(x))), 0))
        reduce_large(x, &r, &quadrant, &low);

    vd s = sin_reduced(r, low), c = cos_reduced(r, low);
    /* odd quadrants swap the two; 2 and 3 turn the sine, 1 and 2 the cosine */
    vdmask even = vd_eq((vd) ((quadrant & 1) << 62), vd_set(0));
    vu sine_sign = (quadrant & 2) << 62, cosine_sign = ((quadrant + 1) & 2) << 62;
    vd turned = (vd) ((vu) vd_select(even, s, c) ^ sine_sign);

    *sine = vd_one_nan(vd_select(vd_eq(x, vd_set(0)), x, turned));          /* keeps -0 */
    *cosine = vd_one_nan((vd) ((vu) vd_select(even, c, s) ^ cosine_sign));
}

/* exp(rate x): the rounding error of the product is carried into the reduced
 * argument, else exp(-80) would be off by 40 ulp.  No subnormals: training rows
 * are faster without. */
KM_INLINE vf
exp_f32_lanes(vf rate, vf x)
{
    /* (exp(r) - 1 - r) / r^2; error times r^2 2^-28 */
    static const float c[] = {0x1p-1f, 0x1.55548ep-3f, 0x1.55545ep-5f, 0x1.123b56p-7f, 0x1.6db42ap-10f};
    const vf lowest = vf_set(-87.3365f), highest = vf_set(88.72284f), to_whole_f32 = vf_set(0x1.8p23f);
    vf y = rate * x;
    vf y_low = vf_fma(rate, x, -y);
    vf clamped = vf_max(lowest, vf_min(highest, y));
    vf whole = vf_fma(clamped, vf_set((float) log2_e), to_whole_f32);
    vf k = whole - to_whole_f32;
    vf r = vf_fma(k, vf_set(-0x1.62e4p-1f), clamped);
    vf q = vf_set(c[4]);

    r = vf_fma(k, vf_set(-0x1.7f7d1cp-20f), r) + y_low;
KM_UNROLL
    for (int i = 3; i >= 0; i--)
        q = vf_fma(q, r, vf_set(c[i]));
    vf p = 1.0f + vf_fma(r * r, q, r);
    vf value = (vf) ((vu32) p + ((vu32) whole << 23));

    value = vf_select(vf_lt(y, lowest), vf_set(0), value);
    value = vf_select(vf_lt(highest, y), vf_set(__builtin_inff()), value);
    return vf_select(vf_eq(y, y), value, vf_set(__builtin_nanf("")));
}

KM_INLINE void
map(size_t n, const double *x, double *out, vd (*f)(vd))
{
    size_t i = 0;

    for (; i + KM_LANES <= n; i += KM_LANES)
        vd_store(out + i, f(vd_load(x + i)));
    if (i < n)
        vd_store_first(out + i, n - i, f(vd_load_first(x + i, n - i)));
}

/* out = exp(rate x), the product rounded. */
static void
exp_rate_array(size_t n, double rate, const double *x, double *out)
{
    vd rates = vd_set(rate), v[TOGETHER];
    size_t i = 0;

    for (; i + TOGETHER * KM_LANES <= n; i += TOGETHER * KM_LANES)
    {
KM_UNROLL
        for (size_t t = 0; t < TOGETHER; t++)
            v[t] = rates * vd_load(x + i + t * KM_LANES);
        exp_lanes(TOGETHER, v);
KM_UNROLL
        for (size_t t = 0; t < TOGETHER; t++)
            vd_store(out + i + t * KM_LANES, v[t]);
    }
    for (size_t left; i < n; i += left)
    {
        left = n - i < KM_LANES ? n - i : KM_LANES;
        v[0] = rates * vd_load_first(x + i, left);
        exp_lanes(1, v);
        vd_store_first(out + i, left, v[0]);
    }
}

static void
exp_array(size_t n, const double *x, double *out)
{
    exp_rate_array(n, 1, x, out);
}

/* `count` vectors of kernel values, and of slopes unless slope is NULL. */
KM_INLINE void
matern_lanes(size_t count, const double *form, const double *v, double *k, double *slope)
{
    const vd zero = vd_set(0), rate = vd_set(form[0]), a = vd_set(form[1]), b = vd_set(form[2]);
    const vd half_square = vd_set(form[0] * form[0] / 2);
    vd s[TOGETHER], decay[TOGETHER];

KM_UNROLL
    for (size_t i = 0; i < count; i++)
    {
        s[i] = rate * vd_sqrt(vd_load(v + i * KM_LANES));
        decay[i] = -s[i];
    }
    exp_lanes(count, decay);
KM_UNROLL
    for (size_t i = 0; i < count; i++)
    {
        vdmask gone = vd_eq(decay[i], zero);

        vd_store(k + i * KM_LANES, vd_select(gone, zero, (1.0 + s[i] * (a + b * s[i])) * decay[i]));
        if (slope == NULL)
            continue;
        vd factor = half_square * ((a - 1.0) / s[i] + 2.0 * b - a - b * s[i]);
        vd value = vd_select(vd_eq(s[i], zero), zero, factor * decay[i]);

        vd_store(slope + i * KM_LANES, vd_select(gone, zero, value));
    }
}

KM_INLINE void
matern_all(size_t n, const double *form, const double *v, double *k, double *slope)
{
    double last[3][KM_LANES] = {0};
    size_t i = 0, step = TOGETHER * KM_LANES;

    for (; i + step <= n; i += step)
        matern_lanes(TOGETHER, form, v + i, k + i, slope == NULL ? NULL : slope + i);
    for (; i + KM_LANES <= n; i += KM_LANES)
        matern_lanes(1, form, v + i, k + i, slope == NULL ? NULL : slope + i);
    memcpy(last[0], v + i, (n - i) * sizeof *v);
    matern_lanes(1, form, last[0], last[1], last[2]);
    memcpy(k + i, last[1], (n - i) * sizeof *k);
    if (slope != NULL)
        memcpy(slope + i, last[2], (n - i) * sizeof *slope);
}

static void
matern_array(size_t n, const double *form, const double *v, double *k, double *slope)
{
    if (slope == NULL)
        matern_all(n, form, v, k, NULL);
    else
        matern_all(n, form, v, k, slope);
}

static void
log_array(size_t n, const double *x, double *out)
{
    map(n, x, out, log_lanes);
}

static void
tanh_array(size_t n, const double *x, double *out)
{
    map(n, x, out, tanh_lanes);
}

static void
sincos_array(size_t n, const double *x, double *sine, double *cosine)
{
    size_t i = 0;
    vd s, c;

    for (; i + KM_LANES <= n; i += KM_LANES)
    {
        sincos_lanes(vd_load(x + i), &s, &c);
        vd_store(sine + i, s);
        vd_store(cosine + i, c);
    }
    if (i < n)
    {
        sincos_lanes(vd_load_first(x + i, n - i), &s, &c);
        vd_store_first(sine + i, n - i, s);
        vd_store_first(cosine + i, n - i, c);
    }
}

/* By repeated squaring, in the order of km_power_whole. */
KM_INLINE void
power_lanes(size_t count, uint64_t exponent, vd *base, vd *result)
{
KM_UNROLL
    for (size_t i = 0; i < count; i++)
        result[i] = vd_set(1);
    for (; exponent > 0; exponent >>= 1)
KM_UNROLL
        for (size_t i = 0; i < count; i++)
        {
            result[i] = exponent & 1 ? result[i] * base[i] : result[i];
            base[i] *= base[i];
        }
KM_UNROLL
    for (size_t i = 0; i < count; i++)
        result[i] = vd_one_nan(result[i]);
}

/* (a x + b)^exponent, product and sum rounded. */
static void
power_array(size_t n, double a, double b, uint64_t exponent, const double *x, double *out)
{
    vd base[TOGETHER], result[TOGETHER];
    size_t i = 0;

    for (; i + TOGETHER * KM_LANES <= n; i += TOGETHER * KM_LANES)
    {
KM_UNROLL
        for (size_t t = 0; t < TOGETHER; t++)
            base[t] = a * vd_load(x + i + t * KM_LANES) + b;
        power_lanes(TOGETHER, exponent, base, result);
KM_UNROLL
        for (size_t t = 0; t < TOGETHER; t++)
            vd_store(out + i + t * KM_LANES, result[t]);
    }
    for (size_t left; i < n; i += left)
    {
        left = n - i < KM_LANES ? n - i : KM_LANES;
        base[0] = a * vd_load_first(x + i, left) + b;
        power_lanes(1, exponent, base, result);
        vd_store_first(out + i, left, result[0]);
    }
}

KM_INLINE vd
clip_lanes(double limit, vd x)
{
    return vd_one_nan(vd_max(vd_set(-limit), vd_min(vd_set(limit), x)));
}

static void
clip_array(size_t n, double limit, const double *x, double *out)
{
    size_t i = 0;

    for (; i + KM_LANES <= n; i += KM_LANES)
        vd_store(out + i, clip_lanes(limit, vd_load(x + i)));
    if (i < n)
        vd_store_first(out + i, n - i, clip_lanes(limit, vd_load_first(x + i, n - i)));
}

static void
exp_f32_array(size_t n, float rate, const float *x, float *out)
{
    vf rates = vf_set(rate);
    size_t i = 0;

    for (; i + KM_LANES_F32 <= n; i += KM_LANES_F32)
        vf_store(out + i, exp_f32_lanes(rates, vf_load(x + i)));
    if (i < n)
        vf_store_first(out + i, n - i, exp_f32_lanes(rates, vf_load_first(x + i, n - i)));
}

const KmVmathOps KM_VARIANT_NAME(km_vmath_ops) = {
    .exp = exp_array,
    .exp_rate = exp_rate_array,
    .matern = matern_array,
    .log = log_array,
    .sincos = sincos_array,
    .tanh = tanh_array,
    .power = power_array,
    .clip = clip_array,
    .exp_f32 = exp_f32_array,
};
