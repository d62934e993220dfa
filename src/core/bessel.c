/*
 * bessel.c: the Matérn function.
 *
 * exp(s) K_nu(s) = int_0^inf exp(-s (cosh t - 1)) cosh(nu t) dt  (DLMF 10.32.9), by the trapezoidal rule: all
 * terms are positive, and the error falls as exp(-pi^2 / h) for small s, exp(-2 pi^2 / (s h^2)) for large s
 * (Trefethen, Weideman 2014).  So a few grids of t, each for a range of s, hold what depends on nu.
 *
 * nu = nu0 + steps with 0 < nu0 <= 1 is reached by the recurrence of K_nu, which for M_nu reads
 *   M_{nu+1} = M_nu + s^2 / (4 nu (nu - 1)) M_{nu-1},
 * without subtractions.  Derivatives: s/2 M'_nu = -s^2 / (4 (nu - 1)) M_{nu-1} = -nu (M_{nu+1} - M_nu).
 *
 * Below TINY, 1 - M goes as s^(2 min(nu, 1)) to the last bit.  Large nu: the uniform expansion DLMF 10.41.4,
 * with Stirling's factor taken out and M(0) = 1.
 */
#include "bessel.h"
#include "vmath.h"

#include <math.h>

#define N_GRIDS 5
#define FIRST_STEP 0.2          /* of t in the first grid; halved from one to the next */
#define FIRST_LIMIT 12.0        /* largest s of the first grid; times 4 from one to the next */
#define MAX_NODES 192
#define LOST 40.0               /* powers of e below the largest term: 4e-18 */
#define TINY 1e-8
#define UNIFORM_NU 100.0        /* beyond, the uniform expansion */
#define LARGEST 1400.0          /* beyond, and nu up to UNIFORM_NU, M is 0 */

/* Values of one step of t; node 0 (t = 0) has half its weight. */
typedef struct Grid
{
    size_t n;
    double enough[MAX_NODES];   /* for s from here on the nodes after this one are not needed; falls */
    double rise[MAX_NODES];     /* cosh t - 1 */
    double low[MAX_NODES], high[MAX_NODES];     /* weight times cosh(nu0 t), cosh((nu0 + 1) t) */
} Grid;

struct KmMatern
{
    double nu, nu0;
    size_t steps;
    double inverse_gamma;       /* 1 / Gamma(nu0 + 1) */
    double tiny_value;          /* M(TINY) */
    Grid grid[N_GRIDS];
};

/* Two orders, one apart. */
typedef struct Pair
{
    double low, high;
} Pair;

/* ---- elementary functions that keep their digits near 0 ---- */

static double
expm1_fixed(double x)
{
    double u = km_exp1(x);

    if (u == 1)
        return x;
    return u - 1 == -1 ? -1 : (u - 1) * x / km_log1(u);
}

static double
log1p_fixed(double x)
{
    km_log1p(1, &x, &x);
    return x;
}

static double
sinh_fixed(double x)
{
    double e = expm1_fixed(x);

    return (e + e / (e + 1)) / 2;
}

static double
cosh_fixed(double x)
{
    double e = km_exp1(x);

    return (e + 1 / e) / 2;
}

/* ---- what depends on nu ---- */

/* Gamma(x) = int exp(x t - exp(t)) dt, 1 <= x <= 2, by the same rule. */
static double
gamma_integral(double x)
{
    double sum = 0;

    for (double t = -40; t < 5; t += 0.125)
        sum += km_exp1(x * t - km_exp1(t));
    return 0.125 * sum;
}

/* Nodes until the integrand for the smallest s of the grid has lost enough powers of e. */
static void
grid_fill(Grid *grid, double step, double nu0, double smallest)
{
    grid->n = 0;
    for (double t = 0; grid->n < MAX_NODES; t = step * (double) grid->n)
    {
        double half = sinh_fixed(t / 2), weight = grid->n == 0 ? step / 2 : step;

        grid->rise[grid->n] = 2 * half * half;
        grid->low[grid->n] = weight * cosh_fixed(nu0 * t);
        grid->high[grid->n] = weight * cosh_fixed((nu0 + 1) * t);
        grid->enough[grid->n] = (LOST + (nu0 + 1) * t) / grid->rise[grid->n];
        if (grid->enough[grid->n++] < smallest)
            break;
    }
}

static Pair evaluate(const KmMatern *matern, double s);

KmStatus
km_matern_create(KmContext *ctx, double nu, KmMatern **out)
{
    KmMatern *matern;
    double step = FIRST_STEP, smallest = TINY, limit = FIRST_LIMIT;

    KM_TRY(km_alloc_zero(ctx, 1, out));
    matern = *out;
    matern->nu = nu;
    if (nu > UNIFORM_NU)
        return KM_OK;
    while (nu - (double) matern->steps > 1)
        matern->steps++;
    matern->nu0 = nu - (double) matern->steps;
    matern->inverse_gamma = 1 / gamma_integral(matern->nu0 + 1);
    for (size_t g = 0; g < N_GRIDS; g++, step /= 2, smallest = limit, limit *= 4)
        grid_fill(&matern->grid[g], step, matern->nu0, smallest);
    matern->tiny_value = matern->steps == 0 ? evaluate(matern, TINY).low : evaluate(matern, TINY).high;
    return KM_OK;
}

/* ---- orders up to UNIFORM_NU ---- */

/* Nodes that matter for s, at least one. */
static size_t
nodes_for(const Grid *grid, double s)
{
    size_t low = 0, high = grid->n - 1;

    while (low < high)
    {
        size_t middle = (low + high) / 2;

        if (s >= grid->enough[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low + 1;
}

/* The integrals for nu0 and nu0 + 1. */
static Pair
integrals(const KmMatern *matern, double s)
{
    const Grid *grid = matern->grid;
    double decay[MAX_NODES];
    Pair sum = {0, 0};
    size_t n;

    for (double limit = FIRST_LIMIT; s > limit; limit *= 4)
        grid++;
    n = nodes_for(grid, s);
    km_exp_rate(n, -s, grid->rise, decay);
    for (size_t j = 0; j < n; j++)
    {
        sum.low += decay[j] * grid->low[j];
        sum.high += decay[j] * grid->high[j];
    }
    return sum;
}

/* M_{nu-1} and M_nu, or M_nu and M_{nu+1} where nu <= 1; TINY <= s <= LARGEST.  exp(-s) is applied in halves,
 * so that neither the start nor the result of the recurrence leaves the range of double precision. */
static Pair
evaluate(const KmMatern *matern, double s)
{
    double half_decay = km_exp1(-s / 2), nu = matern->nu0 + 1;
    double common = matern->inverse_gamma * km_exp1(matern->nu0 * km_log1(s / 2)) * half_decay;
    Pair m = integrals(matern, s);

    m.low *= 2 * matern->nu0 * common;
    m.high *= s * common;
    for (size_t k = 1; k < matern->steps; k++, nu++)
        m = (Pair) {m.high, m.high + s * s / (4 * nu * (nu - 1)) * m.low};
    return (Pair) {m.low * half_decay, m.high * half_decay};
}

/* 1 - (1 - M(TINY)) (s / TINY)^(2 min(nu, 1)), written as a sum of positive terms. */
static double
tiny_exponent(const KmMatern *matern, double s)
{
    return 2 * fmin(matern->nu, 1) * km_log1(s / TINY);
}

static double
tiny_value(const KmMatern *matern, double s)
{
    return matern->tiny_value - (1 - matern->tiny_value) * expm1_fixed(tiny_exponent(matern, s));
}

/* ---- large orders ---- */

/* sum_k (-1)^k U_k(p) / nu^k. */
static double
expansion(double nu, double p)
{
    double q = p * p, r = p / nu;
    double u1 = (3 - 5 * q) / 24;
    double u2 = (81 + q * (-462 + 385 * q)) / 1152;
    double u3 = (30375 + q * (-369603 + q * (765765 - 425425 * q))) / 414720;
    double u4 = (4465125 + q * (-94121676 + q * (349922430 + q * (-446185740 + 185910725 * q)))) / 39813120;
    double u5 = (1519035525 + q * (-49286948607 + q * (284499769554 + q * (-614135872350 +
                 q * (566098157625 - 188699385875 * q))))) / 6688604160;

    return 1 - r * (u1 - r * (u2 - r * (u3 - r * (u4 - r * u5))));
}

/* exp(nu (log((1 + w) / 2) + 1 - w)) / sqrt(w) times the expansion, w = sqrt(1 + (s/nu)^2). */
static double
uniform_value(double nu, double s)
{
    double z = s / nu, w = sqrt(1 + z * z), t = z / (1 + w) * z;

    if (z > 1e8)
        return 0;
    return km_exp1(nu * (log1p_fixed(t / 2) - t)) / sqrt(w) * expansion(nu, 1 / w) / expansion(nu, 1);
}

/* ---- values ---- */

static double
value(const KmMatern *matern, double s)
{
    if (!(s > 0))
        return s == 0 ? 1 : s;
    if (matern->nu > UNIFORM_NU)
        return uniform_value(matern->nu, s);
    if (s > LARGEST)
        return 0;
    if (s < TINY)
        return tiny_value(matern, s);
    return matern->steps == 0 ? evaluate(matern, s).low : evaluate(matern, s).high;
}

static double
slope(const KmMatern *matern, double s)
{
    double nu = matern->nu;
    Pair m;

    if (!(s > 0) || s > (nu > UNIFORM_NU ? 1e8 * nu : LARGEST))
        return s != s ? s : 0;
    if (nu > UNIFORM_NU)
        return -s / (4 * (nu - 1)) * s * uniform_value(nu - 1, s);
    if (s < TINY)
        return -fmin(nu, 1) * (1 - matern->tiny_value) * km_exp1(tiny_exponent(matern, s));
    m = evaluate(matern, s);
    return matern->steps == 0 ? -nu * (m.high - m.low) : -s * s / (4 * (nu - 1)) * m.low;
}

void
km_matern_values(const KmMatern *matern, size_t n, const double *s, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = value(matern, s[j]);
}

void
km_matern_slopes(const KmMatern *matern, size_t n, const double *s, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = slope(matern, s[j]);
}
