/*
 * gpc.c: binary Gaussian process classification by Laplace's approximation, the estimator gpc (Rasmussen and
 * Williams 2006, algorithms 3.1 and 3.2), with the logistic likelihood p(t = 1 | f) = 1 / (1 + exp(-f)).
 *
 * The mode f of p(f | t) is found by Newton's method; with p_i = p(t_i = 1 | f_i) and row weights w,
 *   W = w p (1 - p),   B = I + W^1/2 K W^1/2,
 *   f = K a,   a = b - W^1/2 B^-1 W^1/2 K b,   b = W f + w (t - p),
 * each step halved while log p(t | f) - a'f/2 falls.  The model keeps the gradient w (t - p) at the mode, the
 * factor of B and W^1/2.  A row of whole-number weight counts as repeated rows.
 *
 * One n x n matrix serves: K in the strict upper triangle, with its diagonal apart, B in the lower one.
 */
#include "gp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "cholesky.h"
#include "gram.h"
#include "learner_types.h"
#include "multiclass.h"
#include "sizes.h"
#include "vmath.h"

#define MAX_STEPS 100
#define MAX_HALVINGS 20
#define TOLERANCE 1e-12         /* of a step's gain, relative; the error of f is of that order or less */

typedef struct Laplace
{
    const KmTable *table;
    double *matrix;             /* n x n */
    double *diagonal;           /* n: of K */
    double *a, *f;              /* n: f = K a */
    double *gradient;           /* n: w (t - p) */
    double *root;               /* n: W^1/2 */
    double *step_a, *step_f;    /* n: a Newton step */
    double *trial_a, *trial_f;  /* n */
    double objective;           /* log p(t | f) - a'f/2 */
    size_t steps;
    bool converged;
} Laplace;

/* log(1 / (1 + exp(-f))) without overflow. */
static double
log_logistic(double f)
{
    return f > 0.0 ? -log1p(exp(-f)) : f - log1p(exp(f));
}

/* ---- the matrix ---- */

/* out = K v. */
static KmStatus
multiply(KmContext *ctx, const Laplace *laplace, const double *v, double *out)
{
    size_t n = laplace->table->n;

    KM_TRY(km_poll(ctx));
    cblas_dsymv(CblasRowMajor, CblasUpper, n, 1.0, laplace->matrix, n, v, 1, 0.0, out, 1);
    for (size_t i = 0; i < n; i++)
        out[i] += (laplace->diagonal[i] - laplace->matrix[i * n + i]) * v[i];
    return KM_OK;
}

/* The factor of B, for the roots as they are. */
static KmStatus
factor(KmContext *ctx, const Laplace *laplace)
{
    size_t n = laplace->table->n, pivot;
    double *b = laplace->matrix;

    KM_TRY(km_triangle_to_lower(ctx, n, n, b));
    for (size_t i = 0; i < n; i++)
    {
        for (size_t j = 0; j < i; j++)
            b[i * n + j] *= laplace->root[i] * laplace->root[j];
        b[i * n + i] = 1.0 + laplace->root[i] * laplace->root[i] * laplace->diagonal[i];
    }
    KM_TRY(km_cholesky_factor(ctx, n, n, b, &pivot));
    if (pivot == n)
        return KM_OK;
    km_fail(ctx, KM_SINGULAR, "kernel matrix of %zu rows is not positive semidefinite: gpc fails at row %zu",
            n, pivot + 1);
    km_hint(ctx, KM_SINGULAR, "Use a positive definite kernel.");
    return km_blame_weights(ctx, laplace->table, KM_SINGULAR);
}

/* ---- Newton's method ---- */

static double
objective(const Laplace *laplace, const double *a, const double *f)
{
    const KmTable *table = laplace->table;
    double sum = -0.5 * cblas_ddot(table->n, a, 1, f, 1);

    for (size_t i = 0; i < table->n; i++)
        sum += km_table_weight(table, i) * log_logistic(table->label[i] == 1 ? f[i] : -f[i]);
    return sum;
}

/* Gradient and roots at f; the factor of B. */
static KmStatus
linearise(KmContext *ctx, Laplace *laplace)
{
    const KmTable *table = laplace->table;

    for (size_t i = 0; i < table->n; i++)
    {
        double w = km_table_weight(table, i), p = exp(log_logistic(laplace->f[i]));
        double other = exp(log_logistic(-laplace->f[i]));       /* 1 - p, with all its digits */

        laplace->gradient[i] = table->label[i] == 1 ? w * other : -w * p;
        laplace->root[i] = sqrt(w * p * other);
    }
    return factor(ctx, laplace);
}

/* step = Newton's (a, f) less the present ones. */
static KmStatus
newton_step(KmContext *ctx, Laplace *laplace)
{
    size_t n = laplace->table->n;
    double *b = laplace->step_a, *v = laplace->step_f;
    const double *root = laplace->root;

    for (size_t i = 0; i < n; i++)
        b[i] = root[i] * root[i] * laplace->f[i] + laplace->gradient[i];
    KM_TRY(multiply(ctx, laplace, b, v));
    for (size_t i = 0; i < n; i++)
        v[i] *= root[i];
    KM_TRY(km_cholesky_solve(ctx, n, n, laplace->matrix, 1, 1, v));
    for (size_t i = 0; i < n; i++)
        b[i] -= root[i] * v[i] + laplace->a[i];
    return multiply(ctx, laplace, b, v);
}

/* Go along the step, as far as the objective does not fall; *gain is what it rose by. */
static void
search(Laplace *laplace, double *gain)
{
    size_t n = laplace->table->n;
    double length = 1.0, value;

    for (size_t halving = 0;; halving++, length *= 0.5)
    {
        for (size_t i = 0; i < n; i++)
        {
            laplace->trial_a[i] = laplace->a[i] + length * laplace->step_a[i];
            laplace->trial_f[i] = laplace->f[i] + length * laplace->step_f[i];
        }
        value = objective(laplace, laplace->trial_a, laplace->trial_f);
        *gain = value - laplace->objective;
        if (*gain >= 0.0)
            break;
        if (halving == MAX_HALVINGS)
            return;
    }
    memcpy(laplace->a, laplace->trial_a, n * sizeof *laplace->a);
    memcpy(laplace->f, laplace->trial_f, n * sizeof *laplace->f);
    laplace->objective = value;
}

static KmStatus
find_mode(KmContext *ctx, Laplace *laplace)
{
    double gain;

    laplace->objective = objective(laplace, laplace->a, laplace->f);
    while (!laplace->converged && laplace->steps < MAX_STEPS)
    {
        KM_TRY(linearise(ctx, laplace));
        KM_TRY(newton_step(ctx, laplace));
        search(laplace, &gain);
        laplace->steps++;
        laplace->converged = gain <= TOLERANCE * (1.0 + fabs(laplace->objective));
    }
    return linearise(ctx, laplace);
}

/* ---- fitting ---- */

static KmStatus
check_classes(KmContext *ctx, const KmTable *table)
{
    KM_TRY(km_classes_check(ctx, "gpc", table));
    if (table->classes->n == 2)
        return KM_OK;
    km_fail(ctx, KM_UNSUPPORTED, "gpc needs two classes, got %zu", table->classes->n);
    return km_hint(ctx, KM_UNSUPPORTED, "Use svc, or a gpc of each class against the others.");
}

static KmStatus
laplace_create(KmContext *ctx, const KmTable *table, const KmKernel *kernel, Laplace *out)
{
    size_t n = table->n;
    double **vector[] = {&out->diagonal, &out->a, &out->f, &out->gradient, &out->root,
                         &out->step_a, &out->step_f, &out->trial_a, &out->trial_f};
    KmPoints *points;

    *out = (Laplace) {.table = table};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
        KM_TRY(km_alloc_zero(ctx, n, vector[i]));
    KM_TRY(km_alloc_bytes(ctx, n, n * sizeof(double), (void **) &out->matrix));
    KM_TRY(km_points_create(ctx, kernel, n, table->d, table->x, NULL, &points));
    KM_TRY(km_gram_fill(ctx, kernel, points, true, n, out->matrix));
    cblas_dcopy(n, out->matrix, n + 1, out->diagonal, 1);
    return KM_OK;
}

static KmStatus
add_facts(KmContext *ctx, const Laplace *laplace, KmModel *model)
{
    size_t n = laplace->table->n;
    double likelihood = laplace->objective - 0.5 * km_cholesky_logdet(n, n, laplace->matrix);

    if (!laplace->converged)
        km_warn(ctx, "gpc: Newton's method did not converge in %d steps", MAX_STEPS);
    KM_TRY(km_model_add_fact(ctx, model, "log_marginal_likelihood", KM_FACT_NUMBER, likelihood));
    KM_TRY(km_model_add_fact(ctx, model, "iterations", KM_FACT_COUNT, (double) laplace->steps));
    return km_model_add_fact(ctx, model, "converged", KM_FACT_BOOL, laplace->converged);
}

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    Laplace laplace;
    KmKernel *kernel;

    KM_TRY(check_classes(ctx, table));
    KM_TRY(km_gp_check_size(ctx, table, &(KmGpSize) {
        .factor = true, .work = (double) table->n + 4.0, .model_hint = "Fit fewer rows, or use svc.",
        .memory_hint = "Use svc, put nystroem or rff before logistic, or raise kernelml.max_memory."}));
    KM_TRY(km_estimator_kernel(ctx, args, node, table, &kernel));
    KM_TRY(laplace_create(ctx, table, kernel, &laplace));
    KM_TRY(find_mode(ctx, &laplace));
    KM_TRY(add_facts(ctx, &laplace, model));
    KM_TRY(km_model_add_array(ctx, model, "scales", table->n, 1, laplace.root));
    return km_gp_add_arrays(ctx, table, laplace.gradient, laplace.matrix, model);
}

/* ---- scoring ---- */

static KmStatus
run(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    return km_posterior_mean(ctx, score->posterior, m, z, out);
}

#define REACH 8.5               /* standard deviations that matter in double precision */
#define MOST_NODES 4096
#define BLOCK 32                /* nodes on either side at once */
#define FAR 700.0               /* exp(FAR) is finite */

/* The trapezoid rule with step h under a normal distribution: its error is about exp(-2 pi^2 / h) for the
 * poles of the logistic function at +-i pi, exp(-2 (pi sd / h)^2) for the density. */
static double
step_size(double sd)
{
    double h = 0.7 * sd;

    if (h > 0.5)
        h = 0.5;
    return h * MOST_NODES < REACH * sd ? REACH * sd / MOST_NODES : h;
}

/* sum[0], sum[1] += weight times the logistic function of -f and f, from power = exp(-f). */
static void
add_logistic(double weight, double power, double sum[2])
{
    double p = 1.0 / (1.0 + power);

    sum[0] += weight * (power * p);
    sum[1] += weight * p;
}

/* Nodes `first` .. first+n-1, at mean - i h and mean + i h. */
static void
add_nodes(double mean, double sd, double h, size_t first, size_t n, double sum[2])
{
    double power[3 * BLOCK] = {0};

    for (size_t i = 0; i < n; i++)
    {
        double t = (double) (first + i) * h, left = t - mean, right = -t - mean;

        power[i] = -0.5 * (t / sd) * (t / sd);
        power[n + i] = left > FAR ? FAR : left;
        power[2 * n + i] = right > FAR ? FAR : right;
    }
    km_exp(3 * n, power, power);
    for (size_t i = 0; i < n; i++)
    {
        add_logistic(power[i], power[n + i], sum);
        add_logistic(power[i], power[2 * n + i], sum);
    }
}

/* Means of the logistic function of -f and of f, for f of a normal distribution; together they are 1. */
static void
mean_logistic(double mean, double variance, double out[2])
{
    double sd = sqrt(variance), h = step_size(sd), total;
    size_t nodes = h > 0.0 ? (size_t) (REACH * sd / h) : 0, n;

    out[0] = out[1] = 0.0;
    add_logistic(1.0, km_exp1(mean < -FAR ? FAR : -mean), out);
    for (size_t i = 1; i <= nodes; i += n)
    {
        n = min_size(BLOCK, nodes + 1 - i);
        add_nodes(mean, sd, h, i, n, out);
    }
    total = out[0] + out[1];
    out[0] /= total;
    out[1] /= total;
}

static KmStatus
proba(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    KM_TRY(km_posterior_moments(ctx, score->posterior, m, z, out));
    for (size_t i = 0; i < m; i++)
        mean_logistic(out[2 * i], out[2 * i + 1], out + 2 * i);
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    KmPosterior *posterior;
    KmKernel *kernel;

    KM_TRY(km_kernel_of(ctx, args, &kernel));
    KM_TRY(km_posterior_create(ctx, kernel, model, d, &posterior));
    *out = (KmScore) {.d = d, .n_out = 1, .decision = KM_DECISION_CLASSES, .run = run, .proba = proba,
                      .posterior = posterior, .noise = NAN};
    return KM_OK;
}

const KmEstimatorType km_estimator_gpc = {
    .signature = {
        .name = "gpc",
        .what = "estimator",
        .params = {
            {.name = "kernel", .kinds = KM_KIND_KERNEL, .standard = "rbf", .positional = true},
        },
    },
    .target = KM_TARGET_LABEL,
    .fit = fit,
    .prepare = prepare,
};
