/*
 * poly_features.c: the monomials of the polynomial kernel (Shawe-Taylor, Cristianini 2004, section 9.1):
 * the step poly_features.
 *
 *   (gamma <x, z> + c)^p = sum over exponents a, |a| = g <= p, of
 *                          p! / (a! (p-g)!) gamma^g c^(p-g) x^a z^a,
 * so features sqrt(that factor) x^a have <z(x), z(z)> = poly(x, z) exactly.  A monomial is one of a degree
 * less times a column that is not before its last one.  Without c only those of degree p count.
 */
#include <float.h>
#include <math.h>

#include "kernel_eval.h"
#include "learner_types.h"
#include "step.h"

#define MAX_MONOMIALS 100000

typedef struct Monomial
{
    uint32_t parent;            /* its number without the last factor */
    uint32_t column;            /* the last factor */
    uint32_t power;             /* of that column */
    uint32_t degree;
} Monomial;

typedef struct Poly
{
    size_t n;                   /* monomials up to the degree */
    size_t first;               /* features begin with this one */
    Monomial *monomial;
    double *weight;
    double *value;              /* of one row */
} Poly;

/* ---- the monomials ---- */

/* All of degree 1, then of degree 2, …; poly->n of them. */
static void
list_monomials(Poly *poly, size_t d, size_t degree)
{
    size_t n = 1, begin = 0;

    poly->monomial[0] = (Monomial) {0};
    for (size_t g = 1; g <= degree; g++)
    {
        size_t end = n;

        poly->first = n;
        for (size_t parent = begin; parent < end; parent++)
        {
            const Monomial *from = &poly->monomial[parent];

            for (size_t j = g == 1 ? 0 : from->column; j < d; j++)
                poly->monomial[n++] = (Monomial) {
                    .parent = (uint32_t) parent, .column = (uint32_t) j,
                    .power = g > 1 && j == from->column ? from->power + 1 : 1, .degree = (uint32_t) g};
        }
        begin = end;
    }
}

/* p! / (a! (p-g)!), from the parent's by (p-g+1) / (power of the last column). */
static void
weigh_monomials(Poly *poly, double degree, double gamma, double coef0)
{
    poly->weight[0] = 1;
    for (size_t t = 1; t < poly->n; t++)
    {
        const Monomial *monomial = &poly->monomial[t];

        poly->weight[t] = poly->weight[monomial->parent] * (degree - monomial->degree + 1) / monomial->power;
    }
    for (size_t t = 0; t < poly->n; t++)
    {
        double g = poly->monomial[t].degree;

        poly->weight[t] =
            sqrt(poly->weight[t] * km_power_whole(gamma, g) * km_power_whole(coef0, degree - g));
    }
}

/* How many there are up to a degree: (d + degree) over degree. */
static double
count_monomials(size_t d, size_t degree)
{
    double count = 1;

    for (size_t g = 1; g <= degree && count <= MAX_MONOMIALS; g++)
        count = count * (double) (d + g) / (double) g;
    return rint(count);
}

static KmStatus
check_count(KmContext *ctx, size_t d, size_t degree, double count)
{
    size_t feasible = degree;

    if (count <= MAX_MONOMIALS)
        return KM_OK;
    while (feasible > 0 && count_monomials(d, feasible) > MAX_MONOMIALS)
        feasible--;
    km_fail(ctx, KM_LIMIT, "poly_features of degree %zu on %zu columns would be more than %d monomials",
            degree, d, MAX_MONOMIALS);
    return km_hint(ctx, KM_LIMIT,
                   "The highest degree for so many columns is %zu; nystroem(poly(…)) takes any.", feasible);
}

/* ---- features ---- */

static KmStatus
apply(KmContext *ctx, const KmStep *step, size_t m, const double *x, double *z)
{
    const Poly *poly = step->state;

    (void) ctx;
    for (size_t i = 0; i < m; i++, x += step->d_in, z += step->d_out)
    {
        poly->value[0] = 1;
        for (size_t t = 1; t < poly->n; t++)
            poly->value[t] = poly->value[poly->monomial[t].parent] * x[poly->monomial[t].column];
        for (size_t t = poly->first; t < poly->n; t++)
            z[t - poly->first] = poly->weight[t] * poly->value[t];
    }
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, size_t d, KmStep *out)
{
    size_t degree = (size_t) km_arg_number(args, "degree");
    double coef0 = km_arg_number(args, "coef0"), count = count_monomials(d, degree);
    Poly *poly;

    KM_TRY(check_count(ctx, d, degree, count));
    KM_TRY(km_alloc_zero(ctx, 1, &poly));
    poly->n = (size_t) count;
    KM_TRY(km_alloc(ctx, poly->n, &poly->monomial));
    KM_TRY(km_alloc(ctx, poly->n, &poly->weight));
    KM_TRY(km_alloc(ctx, poly->n, &poly->value));
    list_monomials(poly, d, degree);
    weigh_monomials(poly, (double) degree, km_arg_number(args, "gamma"), coef0);
    if (coef0 > 0)
        poly->first = 0;
    *out = (KmStep) {.d_in = d, .d_out = poly->n - poly->first, .state = poly, .apply = apply};
    return KM_OK;
}

const KmStepType km_step_poly_features = {
    .signature = {
        .name = "poly_features",
        .what = "step",
        .params = {
            {.name = "degree", .kinds = KM_KIND_INTEGER, .min = 0, .max = 1e6, .positional = true,
             .required = true},
            {.name = "gamma", .kinds = KM_KIND_NUMBER, .standard = "1", .min = 0, .max = DBL_MAX,
             .positional = true},
            {.name = "coef0", .kinds = KM_KIND_NUMBER, .standard = "1", .min = 0, .max = DBL_MAX,
             .positional = true},
        },
    },
    .is_resolved = km_step_has_no_constants,
    .prepare = prepare,
};
