/*
 * kernel_distance.c: distances in the feature space of a kernel, without cancellation
 * where the kernel allows it.
 *
 * For rows x, z a kernel is described by c = k(x,z), the squared distance D = k(x,x) + k(z,z) - 2 k(x,z) and
 * half the difference of the diagonal, e = (k(x,x) - k(z,z)) / 2, so that k(x,x) = c + D/2 + e and
 * k(z,z) = c + D/2 - e.  These go through the expression: of a product of two kernels
 *   D = c1 D2 + c2 D1 + D1 D2 / 2 + 2 e1 e2,   e = (c1 + D1/2) e2 + (c2 + D2/2) e1,
 * in which nothing cancels for positive c.
 */
#include <math.h>
#include <string.h>

#include "kernel_tools.h"

#define MAX_DOUBLINGS 2200      /* from the least to the largest double */

/* Kernels k = f(t) of x - z with f(0) = 1 and t homogeneous: t(s r) = s^degree t(r).  Then t is found where
 * it is large, for the difference times s, and 1 - f(t) is computed from t. */
typedef struct Profile
{
    const char *name;
    int degree;
    double (*t)(double k);
    double (*gap)(double t);    /* 1 - f(t) */
} Profile;

static double
exponential_t(double k)
{
    return -log(k);
}

static double
exponential_gap(double t)
{
    return -expm1(-t);
}

static double
cauchy_t(double k)
{
    return (1.0 - k) / k;
}

static double
cauchy_gap(double t)
{
    return t / (1.0 + t);
}

static const Profile profiles[] = {
    {"rbf", 2, exponential_t, exponential_gap},
    {"laplacian", 1, exponential_t, exponential_gap},
    {"exponential", 1, exponential_t, exponential_gap},
    {"cauchy", 2, cauchy_t, cauchy_gap},
};

struct KmDistance
{
    KmKernelOp op;
    double exponent;
    size_t n;
    KmDistance *child;
    KmKernel *leaf;             /* the leaf as a kernel by itself */
    const Profile *profile;     /* NULL: none */
    bool linear;
};

typedef struct Triple
{
    double c, D, e;
} Triple;

/* ---- making ready ---- */

static KmStatus
prepare_leaf(KmContext *ctx, const KmKernel *kernel, KmDistance *out)
{
    const char *name = kernel->leaf.type->signature.name;
    KmNode *node;

    KM_TRY(km_node_copy(ctx, kernel->node, &node));
    KM_TRY(km_kernel_compile(ctx, node, &out->leaf));
    out->linear = strcmp(name, "linear") == 0;
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (strcmp(name, profiles[i].name) == 0)
            out->profile = &profiles[i];
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmKernel *kernel, KmDistance *out)
{
    out->op = kernel->op;
    out->exponent = kernel->exponent;
    out->n = kernel->n;
    if (kernel->op == KM_OP_LEAF)
        return prepare_leaf(ctx, kernel, out);
    KM_TRY(km_alloc_zero(ctx, kernel->n, &out->child));
    for (size_t i = 0; i < kernel->n; i++)
        KM_TRY(prepare(ctx, kernel->child[i], &out->child[i]));
    return KM_OK;
}

KmStatus
km_distance_create(KmContext *ctx, const KmKernel *kernel, KmDistance **out)
{
    KM_TRY(km_alloc_zero(ctx, 1, out));
    return prepare(ctx, kernel, *out);
}

/* ---- leaves ---- */

/* 1 - k(x,z) by the profile, given that k(x,z) is near 1: k of 0 and s (x - z) for the first power of two s
 * that brings it below 0.9. */
static KmStatus
find_gap(KmContext *ctx, const KmDistance *distance, size_t d, const double *x, const double *z, double *out)
{
    double *zero, *r, k = 1.0;
    int doublings = 0;

    KM_TRY(km_alloc_zero(ctx, 2 * d, &zero));
    r = zero + d;
    for (size_t j = 0; j < d; j++)
        r[j] = x[j] - z[j];
    for (; k > 0.9 && doublings < MAX_DOUBLINGS; doublings++)
    {
        for (size_t j = 0; j < d; j++)
            r[j] *= doublings > 0 ? 2.0 : 1.0;
        if (!isfinite(r[0] + r[d - 1]))
            break;
        KM_TRY(km_kernel_value(ctx, distance->leaf, d, zero, r, &k));
    }
    *out = k > 0.9 ? 0.0 :
        distance->profile->gap(ldexp(distance->profile->t(k), -distance->profile->degree * (doublings - 1)));
    km_free(ctx, zero);
    return KM_OK;
}

/* <x,x> + <z,z> - 2 <x,z> = |x - z|^2 over the leaf's columns, and half the difference of the squares. */
static void
describe_linear(const KmLeaf *leaf, size_t d, const double *x, const double *z, Triple *out)
{
    size_t n = leaf->n_dims > 0 ? leaf->n_dims : d;

    out->D = out->e = 0.0;
    for (size_t i = 0; i < n; i++)
    {
        size_t j = leaf->n_dims > 0 ? leaf->dims[i] : i;
        double r = x[j] - z[j];

        out->D += r * r;
        out->e += 0.5 * r * (x[j] + z[j]);
    }
}

static KmStatus
describe_leaf(KmContext *ctx, const KmDistance *distance, size_t d, const double *x, const double *z,
              Triple *out)
{
    double a, b;

    KM_TRY(km_kernel_value(ctx, distance->leaf, d, x, z, &out->c));
    if (distance->profile != NULL && out->c > 0.5)
    {
        KM_TRY(find_gap(ctx, distance, d, x, z, &out->D));
        out->D *= 2.0;
        out->e = 0.0;
        return KM_OK;
    }
    if (distance->linear)
    {
        describe_linear(&distance->leaf->leaf, d, x, z, out);
        return KM_OK;
    }
    KM_TRY(km_kernel_value(ctx, distance->leaf, d, x, x, &a));
    KM_TRY(km_kernel_value(ctx, distance->leaf, d, z, z, &b));
    out->D = (a - out->c) + (b - out->c);
    out->e = 0.5 * (a - b);
    return KM_OK;
}

/* ---- combinations ---- */

static Triple
product(Triple a, Triple b)
{
    return (Triple) {
        .c = a.c * b.c,
        .D = a.c * b.D + b.c * a.D + 0.5 * a.D * b.D + 2.0 * a.e * b.e,
        .e = (a.c + 0.5 * a.D) * b.e + (b.c + 0.5 * b.D) * a.e,
    };
}

static Triple
power(Triple a, double exponent)
{
    Triple result = {1.0, 0.0, 0.0};

    for (; exponent >= 1.0; exponent = floor(exponent / 2.0))
    {
        if (fmod(exponent, 2.0) == 1.0)
            result = product(result, a);
        a = product(a, a);
    }
    return result;
}

/* e^m (e^e - e^-e) / 2 and so on, with m = c + D/2. */
static Triple
exponential(Triple a)
{
    double half = sinh(0.5 * a.e);

    return (Triple) {
        .c = exp(a.c),
        .D = 2.0 * exp(a.c) * (expm1(0.5 * a.D) * cosh(a.e) + 2.0 * half * half),
        .e = exp(a.c + 0.5 * a.D) * sinh(a.e),
    };
}

/* c / sqrt(ab) for the diagonal a, b; ab - c^2 = D/2 (2c + D/2) - e^2. */
static Triple
normal(Triple t)
{
    double m = t.c + 0.5 * t.D, a = m + t.e, b = m - t.e, root;

    if (!(a > 0.0) || !(b > 0.0))
        return (Triple) {.c = 0.0, .D = (a > 0.0) + (b > 0.0), .e = 0.5 * ((a > 0.0) - (b > 0.0))};
    root = sqrt(a) * sqrt(b);
    if (t.c <= 0.0)
        return (Triple) {.c = t.c / root, .D = 2.0 * (1.0 - t.c / root)};
    return (Triple) {
        .c = t.c / root,
        .D = 2.0 * fmax(0.0, 0.5 * t.D * (2.0 * t.c + 0.5 * t.D) - t.e * t.e) / (root * (root + t.c)),
    };
}

static KmStatus
describe(KmContext *ctx, const KmDistance *distance, size_t d, const double *x, const double *z, Triple *out)
{
    Triple part;

    if (distance->op == KM_OP_LEAF)
        return describe_leaf(ctx, distance, d, x, z, out);
    KM_TRY(describe(ctx, &distance->child[0], d, x, z, out));
    for (size_t i = 1; i < distance->n; i++)
    {
        KM_TRY(describe(ctx, &distance->child[i], d, x, z, &part));
        *out = distance->op == KM_OP_SUM ? (Triple) {out->c + part.c, out->D + part.D, out->e + part.e} :
            product(*out, part);
    }
    if (distance->op == KM_OP_POWER)
        *out = power(*out, distance->exponent);
    else if (distance->op == KM_OP_EXP)
        *out = exponential(*out);
    else if (distance->op == KM_OP_NORMALIZE)
        *out = normal(*out);
    return KM_OK;
}

/* A negative D is rounding, as far as the diagonal allows. */
KmStatus
km_distance_value(KmContext *ctx, const KmDistance *distance, size_t d, const double *x, const double *z,
                  double *out)
{
    Triple t;

    KM_TRY(describe(ctx, distance, d, x, z, &t));
    if (!isfinite(t.D))
        return km_fail(ctx, KM_RANGE, "the distance of x and z is not a finite number");
    if (t.D < -1e-12 * (fabs(t.c) + fabs(t.e)))
        return km_fail(ctx, KM_SINGULAR,
                       "the kernel is not positive semidefinite: the squared distance of x and z is %g",
                       t.D);
    *out = sqrt(fmax(0.0, t.D));
    return KM_OK;
}
