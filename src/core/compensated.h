/*
 * compensated.h: sums in twice the precision, as an unevaluated pair: low holds what high had no room for
 * (Neumaier 1974; products by fused multiply-adds).
 */
#ifndef KM_COMPENSATED_H
#define KM_COMPENSATED_H

#include <math.h>

typedef struct KmCompensated
{
    double high, low;
} KmCompensated;

static inline void
km_compensated_add(KmCompensated *sum, double value)
{
    double total = sum->high + value;
    double part = total - sum->high;

    sum->low += (sum->high - (total - part)) + (value - part);
    sum->high = total;
}

/* Add a * b with the rounding error of the product. */
static inline void
km_compensated_add_product(KmCompensated *sum, double a, double b)
{
    double product = a * b;

    km_compensated_add(sum, product);
    sum->low += fma(a, b, -product);
}

/* Add a * b for a sum b. */
static inline void
km_compensated_add_multiple(KmCompensated *sum, double a, const KmCompensated *b)
{
    km_compensated_add_product(sum, a, b->high);
    sum->low += a * b->low;
}

static inline double
km_compensated_quotient(const KmCompensated *sum, double divisor)
{
    double q = sum->high / divisor;

    return q + (fma(-q, divisor, sum->high) + sum->low) / divisor;
}

#endif
