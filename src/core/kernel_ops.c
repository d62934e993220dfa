/*
 * kernel_ops.c: sums, products, powers, exp and normalize over blocks of leaf values.
 *
 * The tree is evaluated in place: a subtree's value ends in the buffer of its first leaf, so no
 * memory is needed however deep it is.  One table serves tiles and scoring.
 */
#include "kernel_eval.h"
#include "vmath.h"

#include <float.h>
#include <math.h>
#include <string.h>

double
km_power_whole(double base, double exponent)
{
    double result = 1;

    for (uint64_t left = (uint64_t) exponent; left > 0; left >>= 1)
    {
        if (left & 1)
            result *= base;
        if (left > 1)
            base *= base;
    }
    return result;
}

/* ---- what each operation does ---- */

static void
add(size_t n, const double *v, double *acc)
{
    for (size_t j = 0; j < n; j++)
        acc[j] += v[j];
}

static void
multiply(size_t n, const double *v, double *acc)
{
    for (size_t j = 0; j < n; j++)
        acc[j] *= v[j];
}

static void
power(const KmKernel *kernel, const KmPairs *pairs, double *v)
{
    for (size_t j = 0; j < pairs->n; j++)
        v[j] = km_power_whole(v[j], kernel->exponent);
}

static void
exponential(const KmKernel *kernel, const KmPairs *pairs, double *v)
{
    (void) kernel;
    km_exp(pairs->n, v, v);
}

/* sqrt(ab), a, b > 0.  sqrt(a * a) is exactly a, so that normalize(k)(x, x) is exactly 1; a product
 * that overflows or loses bits is avoided. */
static double
geometric_mean(double a, double b)
{
    double product = a * b;

    return product >= DBL_MIN && product <= DBL_MAX ? sqrt(product) : sqrt(a) * sqrt(b);
}

/* Written so that NaN stays NaN; of a row that is too large for k(x,x) to be finite nothing is known. */
static void
normalize(const KmKernel *kernel, const KmPairs *pairs, double *v)
{
    double x_self = pairs->x_self[kernel->normal * pairs->x_stride];
    const double *z_self = pairs->z_self + kernel->normal * pairs->z_stride;

    for (size_t j = 0; j < pairs->n; j++)
    {
        double mean = geometric_mean(x_self, z_self[j]);

        v[j] = x_self <= 0 || z_self[j] <= 0 ? 0 : mean <= DBL_MAX ? v[j] / mean : NAN;
    }
}

/* The diagonal of normalize: 1 or 0; keeps the child's. */
static void
normalize_self(const KmKernel *kernel, const KmPairs *pairs, double *v)
{
    double *z_self = pairs->z_self + kernel->normal * pairs->z_stride;

    memcpy(z_self, v, pairs->n * sizeof *v);
    for (size_t j = 0; j < pairs->n; j++)
        v[j] = v[j] <= 0 ? 0 : v[j] <= DBL_MAX ? 1 : NAN;
}

typedef void (*Finish)(const KmKernel *kernel, const KmPairs *pairs, double *v);

static const struct
{
    void (*merge)(size_t n, const double *v, double *acc);      /* of two children; NULL: there is one */
    Finish finish[2];           /* afterwards, for pairs and for the diagonal; NULL: nothing */
} operations[] = {
    [KM_OP_LEAF] = {NULL, {NULL, NULL}},
    [KM_OP_SUM] = {add, {NULL, NULL}},
    [KM_OP_PRODUCT] = {multiply, {NULL, NULL}},
    [KM_OP_POWER] = {NULL, {power, power}},
    [KM_OP_EXP] = {NULL, {exponential, exponential}},
    [KM_OP_NORMALIZE] = {NULL, {normalize, normalize_self}},
};

/* ---- the tree ---- */

static double *combine(const KmKernel *kernel, const KmPairs *pairs, int self);

/* The value of the node, where the first leaf's was. */
static double *
evaluate(const KmKernel *kernel, const KmPairs *pairs, int self)
{
    Finish finish = operations[kernel->op].finish[self];
    double *acc;

    if (kernel->op == KM_OP_LEAF)
        return pairs->leaf + kernel->leaf.index * pairs->leaf_stride;
    acc = combine(kernel->child[0], pairs, self);
    for (size_t i = 1; i < kernel->n; i++)
        operations[kernel->op].merge(pairs->n, combine(kernel->child[i], pairs, self), acc);
    if (finish != NULL)
        finish(kernel, pairs, acc);
    return acc;
}

static double *
combine(const KmKernel *kernel, const KmPairs *pairs, int self)
{
    double *value = evaluate(kernel, pairs, self);

    if (pairs->tape != NULL)
        memcpy(pairs->tape + kernel->number * pairs->tape_stride, value, pairs->n * sizeof *value);
    return value;
}

double *
km_kernel_combine(const KmKernel *kernel, const KmPairs *pairs)
{
    return combine(kernel, pairs, 0);
}

double *
km_kernel_combine_self(const KmKernel *kernel, const KmPairs *pairs)
{
    return combine(kernel, pairs, 1);
}
