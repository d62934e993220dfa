/*
 * platt.c: sigmoids of decision values, and coupling of pairs (see platt.h).
 *
 * The sigmoid by Newton's method with backtracking, in the form of Lin, Lin and Weng (2007) that neither
 * overflows nor cancels.  With t = a f + b and targets y the negative log likelihood is
 *   sum w (y t + log(1 + e^-t)),   its gradient in t   w (y - p),   p = 1 / (1 + e^t).
 */
#include "platt.h"

#include <math.h>

#include "vmath.h"

#define MAX_STEPS 100
#define SMALLEST_STEP 1e-10
#define RIDGE 1e-12             /* relative; keeps the Hessian positive definite */
#define DECREMENT_TOL 1e-24     /* of the loss per row, by its quadratic model */
#define LOSS_ROUNDING 1e-14     /* relative error of a loss */
#define LEAST_PAIR 1e-7         /* no pair is certain: coupling needs r > 0 (LIBSVM's bound) */

/* p = 1 / (1 + e^t), q = 1 - p, log(1 + e^-t) = -log p. */
typedef struct Logistic
{
    double p, q, loss;          /* loss = log(1 + e^-t) */
} Logistic;

static Logistic
logistic(double t)
{
    double e = km_exp1(-fabs(t)), small = e / (1 + e), large = 1 / (1 + e), log_sum = km_log1(1 + e);

    if (t >= 0)
        return (Logistic) {small, large, log_sum};
    return (Logistic) {large, small, log_sum - t};
}

/* ---- fitting ---- */

typedef struct Sample
{
    size_t n;
    const double *f, *w;
    const bool *positive;
    double high, low;           /* targets of positive and other rows */
    double total;               /* sum of the weights */
} Sample;

static double
weight_of(const Sample *sample, size_t i)
{
    return sample->w == NULL ? 1 : sample->w[i];
}

static double
target_of(const Sample *sample, size_t i)
{
    return sample->positive[i] ? sample->high : sample->low;
}

/* Targets, and the sigmoid to begin with: the shares of the classes. */
static void
begin(Sample *sample, KmSigmoid *sigmoid)
{
    double count[2] = {0, 0};

    for (size_t i = 0; i < sample->n; i++)
        count[sample->positive[i]] += weight_of(sample, i);
    sample->high = (count[1] + 1) / (count[1] + 2);
    sample->low = 1 / (count[0] + 2);
    sample->total = count[0] + count[1];
    *sigmoid = (KmSigmoid) {0, km_log1((count[0] + 1) / (count[1] + 1))};
}

static double
loss_of(const Sample *sample, const KmSigmoid *sigmoid)
{
    double sum = 0;

    for (size_t i = 0; i < sample->n; i++)
    {
        double t = sigmoid->a * sample->f[i] + sigmoid->b;

        sum += weight_of(sample, i) * (target_of(sample, i) * t + logistic(t).loss);
    }
    return sum;
}

/* Gradient and Hessian in (a, b). */
typedef struct Slope
{
    double ga, gb, haa, hab, hbb;
} Slope;

static Slope
slope_of(const Sample *sample, const KmSigmoid *sigmoid)
{
    Slope slope = {0};

    for (size_t i = 0; i < sample->n; i++)
    {
        double f = sample->f[i], w = weight_of(sample, i);
        Logistic now = logistic(sigmoid->a * f + sigmoid->b);
        double first = w * (target_of(sample, i) - now.p), second = w * now.p * now.q;

        slope.ga += f * first;
        slope.gb += first;
        slope.haa += f * f * second;
        slope.hab += f * second;
        slope.hbb += second;
    }
    slope.haa *= 1 + RIDGE;
    slope.hbb *= 1 + RIDGE;
    return slope;
}

/* The Newton direction; returns how fast the loss falls along it. */
static double
direction(const Slope *slope, KmSigmoid *d)
{
    double determinant = slope->haa * slope->hbb - slope->hab * slope->hab;

    d->a = -(slope->hbb * slope->ga - slope->hab * slope->gb) / determinant;
    d->b = -(slope->haa * slope->gb - slope->hab * slope->ga) / determinant;
    return -(slope->ga * d->a + slope->gb * d->b);
}

/* Along d, halving until the loss falls enough; false: it does not. */
static bool
move(const Sample *sample, const KmSigmoid *d, double slope, KmSigmoid *sigmoid, double *loss)
{
    for (double length = 1; length >= SMALLEST_STEP; length /= 2)
    {
        KmSigmoid next = {sigmoid->a + length * d->a, sigmoid->b + length * d->b};
        double next_loss = loss_of(sample, &next);

        if (next_loss <= *loss * (1 + LOSS_ROUNDING) - 1e-4 * length * slope)
        {
            *sigmoid = next;
            *loss = next_loss;
            return true;
        }
    }
    return false;
}

KmStatus
km_sigmoid_fit(KmContext *ctx, size_t n, const double *f, const bool *positive, const double *w,
               KmSigmoid *out)
{
    Sample sample = {.n = n, .f = f, .w = w, .positive = positive};
    double loss;

    begin(&sample, out);
    loss = loss_of(&sample, out);
    for (int i = 0; i < MAX_STEPS; i++)
    {
        Slope here = slope_of(&sample, out);
        KmSigmoid d;
        double slope = direction(&here, &d);

        KM_TRY(km_poll(ctx));
        if (!(slope > DECREMENT_TOL * sample.total) || !move(&sample, &d, slope, out, &loss))
            break;
    }
    if (!isfinite(out->a) || !isfinite(out->b))
        return km_fail(ctx, KM_RANGE, "decision values are too large for probabilities in double precision");
    return KM_OK;
}

/* ---- scoring ---- */

double
km_sigmoid_value(const KmSigmoid *sigmoid, double f)
{
    return logistic(sigmoid->a * f + sigmoid->b).p;
}

/* The lower triangle of Q + ee', Q_ii = sum_j r_ji^2, Q_ij = -r_ji r_ij (their equation 21). */
static void
fill_system(size_t k, const double *second, double *system)
{
    for (size_t i = 0; i < k; i++)
        system[i * k + i] = 1;
    for (size_t i = 0; i + 1 < k; i++)
        for (size_t j = i + 1; j < k; j++)
        {
            double rj = fmin(fmax(*second++, LEAST_PAIR), 1 - LEAST_PAIR), ri = 1 - rj;

            system[i * k + i] += rj * rj;
            system[j * k + j] += ri * ri;
            system[j * k + i] = 1 - ri * rj;
        }
}

/* Cholesky's factor in the lower triangle. */
static void
factor(size_t k, double *a)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = j; i < k; i++)
        {
            double sum = a[i * k + j];

            for (size_t l = 0; l < j; l++)
                sum -= a[i * k + l] * a[j * k + l];
            a[i * k + j] = i == j ? sqrt(sum) : sum / a[j * k + j];
        }
}

static void
solve(size_t k, const double *a, double *p)
{
    for (size_t i = 0; i < k; i++)
    {
        for (size_t l = 0; l < i; l++)
            p[i] -= a[i * k + l] * p[l];
        p[i] /= a[i * k + i];
    }
    for (size_t i = k; i-- > 0;)
    {
        for (size_t l = i + 1; l < k; l++)
            p[i] -= a[l * k + i] * p[l];
        p[i] /= a[i * k + i];
    }
}

/* At the optimum Qp = c e with e'p = 1 (their equation 20), so (Q + ee')p = (c + 1) e: p is the solution for
 * e, scaled.  Q + ee' is positive definite, where Q alone is not when the pairs agree. */
void
km_couple_pairs(size_t k, const double *second, double *work, double *p)
{
    double total = 0;

    fill_system(k, second, work);
    factor(k, work);
    for (size_t i = 0; i < k; i++)
        p[i] = 1;
    solve(k, work, p);
    for (size_t i = 0; i < k; i++)
        total += p[i] = fmax(p[i], 0);
    for (size_t i = 0; i < k; i++)
        p[i] /= total;
}
