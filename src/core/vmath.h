/*
 * vmath.h: elementary functions over arrays, the same bits on every machine.
 *
 * Each is a fixed sequence of IEEE operations with explicitly fused
 * multiply-adds (hardware FMA, else emulated), so the AVX2 build and the
 * portable one agree to the last bit.  In-place use (out == x) is allowed.
 * exp: <= 1 ulp on [-745, 709.78]; 0 below, inf above, subnormal results
 * rounded, not flushed.  log: <= 1 ulp on positive normals and
 * subnormals; 0 gives -inf, negative NaN.  sincos: <= 2 ulp for every finite x,
 * NaN for infinities.  tanh: <= 3 ulp.  NaN gives NaN, always the same positive
 * quiet one.
 */
#ifndef KM_VMATH_H
#define KM_VMATH_H

#include <stddef.h>

extern void km_exp(size_t n, const double *x, double *out);
/* out[i] = km_exp of the rounded product rate * x[i]: the bits of two passes in one. */
extern void km_exp_rate(size_t n, double rate, const double *x, double *out);
/* The matern kernel where it is elementary, form = {rate, a, b}: k = (1 + a s + b s^2) exp(-s), with
 * s = rate sqrt(v), and 0 where exp(-s) is.  slope, unless it is NULL: dk/dv, and 0 at v = 0.  k may be v. */
extern void km_matern(size_t n, const double *form, const double *v, double *k, double *slope);
extern void km_log(size_t n, const double *x, double *out);
extern void km_sincos(size_t n, const double *x, double *sine, double *cosine);
extern void km_tanh(size_t n, const double *x, double *out);
/* (a x + b)^exponent by repeated squaring, each operation rounded; exponent whole, 0 <= exponent < 2^53. */
extern void km_power(size_t n, double a, double b, double exponent, const double *x, double *out);
/* x, but -limit and limit beyond them. */
extern void km_clip(size_t n, double limit, const double *x, double *out);
/* log(1 + x), x >= 0: <= 4 ulp, also where x is small. */
extern void km_log1p(size_t n, const double *x, double *out);
/* out[i] = exp(rate * x[i]) in float32 for training rows: <= 2 ulp of the exact value,
 * rounding of the product included; results below 2^-126 are 0, not subnormal. */
extern void km_exp_f32(size_t n, float rate, const float *x, float *out);

/* The scalar forms, the same bits as the array forms. */
extern double km_exp1(double x);
extern double km_log1(double x);

#endif
