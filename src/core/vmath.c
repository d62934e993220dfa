/*
 * vmath.c: elementary functions over arrays, by the widest vectors of this CPU.
 */
#include "vmath.h"
#include "simd.h"
#include "simd/vmath_ops.h"
#include "sizes.h"

#define CHUNK 256

void
km_exp(size_t n, const double *x, double *out)
{
    KM_PICK(km_vmath_ops)->exp(n, x, out);
}

void
km_exp_rate(size_t n, double rate, const double *x, double *out)
{
    KM_PICK(km_vmath_ops)->exp_rate(n, rate, x, out);
}

void
km_matern(size_t n, const double *form, const double *v, double *k, double *slope)
{
    KM_PICK(km_vmath_ops)->matern(n, form, v, k, slope);
}

void
km_log(size_t n, const double *x, double *out)
{
    KM_PICK(km_vmath_ops)->log(n, x, out);
}

void
km_sincos(size_t n, const double *x, double *sine, double *cosine)
{
    KM_PICK(km_vmath_ops)->sincos(n, x, sine, cosine);
}

void
km_tanh(size_t n, const double *x, double *out)
{
    KM_PICK(km_vmath_ops)->tanh(n, x, out);
}

void
km_power(size_t n, double a, double b, double exponent, const double *x, double *out)
{
    KM_PICK(km_vmath_ops)->power(n, a, b, (uint64_t) exponent, x, out);
}

void
km_clip(size_t n, double limit, const double *x, double *out)
{
    KM_PICK(km_vmath_ops)->clip(n, limit, x, out);
}

/* log(u) x / (u - 1) for u the rounded 1 + x, whose error cancels (Kahan); where u >= 2^53 u - 1 is no
 * better than x. */
void
km_log1p(size_t n, const double *x, double *out)
{
    double u[CHUNK], logs[CHUNK];

    for (size_t i = 0; i < n; i += CHUNK)
    {
        size_t m = min_size(n - i, CHUNK);

        for (size_t j = 0; j < m; j++)
            u[j] = 1 + x[i + j];
        km_log(m, u, logs);
        for (size_t j = 0; j < m; j++)
            out[i + j] = u[j] == 1 ? x[i + j] : u[j] >= 0x1p53 ? logs[j] : logs[j] * (x[i + j] / (u[j] - 1));
    }
}

void
km_exp_f32(size_t n, float rate, const float *x, float *out)
{
    KM_PICK(km_vmath_ops)->exp_f32(n, rate, x, out);
}

double
km_exp1(double x)
{
    km_exp(1, &x, &x);
    return x;
}

double
km_log1(double x)
{
    km_log(1, &x, &x);
    return x;
}
