/*
 * vmath_ops.h: the functions of vmath.h, one table per instruction set.
 */
#ifndef KM_VMATH_OPS_H
#define KM_VMATH_OPS_H

#include <stddef.h>
#include <stdint.h>

typedef struct KmVmathOps
{
    void (*exp)(size_t n, const double *x, double *out);
    void (*exp_rate)(size_t n, double rate, const double *x, double *out);
    void (*matern)(size_t n, const double *form, const double *v, double *k, double *slope);
    void (*log)(size_t n, const double *x, double *out);
    void (*sincos)(size_t n, const double *x, double *sine, double *cosine);
    void (*tanh)(size_t n, const double *x, double *out);
    void (*power)(size_t n, double a, double b, uint64_t exponent, const double *x, double *out);
    void (*clip)(size_t n, double limit, const double *x, double *out);
    void (*exp_f32)(size_t n, float rate, const float *x, float *out);
} KmVmathOps;

extern const KmVmathOps km_vmath_ops_base, km_vmath_ops_avx2, km_vmath_ops_avx512;

#endif
