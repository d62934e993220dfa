/*
 * logistic.c: logistic regression, the estimator logistic.
 *
 *   minimise  1/2 |W|^2 + sum_i c_i (-log p_i(y_i)),   c_i = c times the row's weight,
 * with p(x) = 1 / (1 + exp(-f(x))) of the second of two classes, or the softmax of k > 2 scores
 * f_k(x) = <w_k, x> + b_k; the intercepts are not penalised.  Newton's method with directions by conjugate
 * gradients that need products with the Hessian only (Steihaug 1983; Lin, Weng, Keerthi 2008), preconditioned
 * by the Hessian at W = 0, I + kappa Xc' C Xc for every class, which bounds it from above (Boehning 1992).
 * Columns are centred, which only moves the intercepts.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "cholesky.h"
#include "design.h"
#include "learner_types.h"
#include "linear.h"
#include "multiclass.h"
#include "vmath.h"

#define MAX_CG 200              /* products with the Hessian for one direction */
#define MAX_HALVINGS 40
#define DENSE 4000              /* features up to which the Hessian at 0 is factored */
#define ARMIJO 1e-4

typedef struct Logistic
{
    KmDesign design;
    const KmTable *table;
    size_t n, d, m;             /* m: 1 for two classes, else k */
    size_t size;                /* (d + 1) x m: numbers in W and b, b last */
    double *c;                  /* n */
    double *scores;             /* n x m: F */
    double *p;                  /* n x m: probabilities of the classes, of the second of two */
    double *work;               /* n x m */
    double *steps;              /* n x m: F along the direction */
    double *factor;             /* d x d: of the Hessian at 0; NULL: not factored */
    double bias_curvature;      /* its part for an intercept */
} Logistic;

/* ---- the loss ---- */

/* p from scores; returns sum_i c_i loss_i. */
static double
binary_loss(const Logistic *fit, const double *scores, double *p)
{
    double loss = 0;

    for (size_t i = 0; i < fit->n; i++)
        p[i] = -fabs(scores[i]);
    km_exp(fit->n, p, p);
    for (size_t i = 0; i < fit->n; i++)
    {
        double small = p[i] / (1 + p[i]), margin = fit->table->label[i] == 1 ? scores[i] : -scores[i];

        loss += fit->c[i] * (fmax(-margin, 0) + log1p(p[i]));
        p[i] = scores[i] > 0 ? 1 - small : small;
    }
    return loss;
}

static double
softmax_loss(const Logistic *fit, const double *scores, double *p)
{
    size_t m = fit->m;
    double loss = 0;

    for (size_t i = 0; i < fit->n; i++)
    {
        const double *f = scores + i * m;
        double *row = p + i * m, most = f[0], sum = 0;

        for (size_t t = 1; t < m; t++)
            most = fmax(most, f[t]);
        for (size_t t = 0; t < m; t++)
            row[t] = f[t] - most;
        loss -= fit->c[i] * row[fit->table->label[i]];
        km_exp(m, row, row);
        for (size_t t = 0; t < m; t++)
            sum += row[t];
        loss += fit->c[i] * log(sum);
        for (size_t t = 0; t < m; t++)
            row[t] /= sum;
    }
    return loss;
}

static double
objective(const Logistic *fit, const double *w, const double *scores, double *p)
{
    double loss = fit->m == 1 ? binary_loss(fit, scores, p) : softmax_loss(fit, scores, p);
    size_t weights = fit->d * fit->m;

    return loss + 0.5 * cblas_ddot((int) weights, w, 1, w, 1);
}

/* out (n x m) = Xc W + 1 b'. */
static KmStatus
score_rows(KmContext *ctx, const Logistic *fit, const double *w, double *out)
{
    const double *b = w + fit->d * fit->m;

    KM_TRY(km_design_times(ctx, &fit->design, fit->m, w, out));
    for (size_t i = 0; i < fit->n; i++)
        for (size_t t = 0; t < fit->m; t++)
            out[i * fit->m + t] += b[t];
    return KM_OK;
}

/* out = W + Xc'r, and sums of r for the intercepts; r is n x m. */
static KmStatus
pull_back(KmContext *ctx, const Logistic *fit, const double *w, const double *r, double *out)
{
    double *b = out + fit->d * fit->m;

    KM_TRY(km_design_transposed(ctx, &fit->design, fit->m, r, out));
    cblas_daxpy((int) (fit->d * fit->m), 1, w, 1, out, 1);
    memset(b, 0, fit->m * sizeof *b);
    for (size_t i = 0; i < fit->n; i++)
        for (size_t t = 0; t < fit->m; t++)
            b[t] += r[i * fit->m + t];
    return KM_OK;
}

static KmStatus
gradient(KmContext *ctx, const Logistic *fit, const double *w, double *out)
{
    for (size_t i = 0; i < fit->n; i++)
        for (size_t t = 0; t < fit->m; t++)
        {
            bool hit = fit->table->label[i] == (fit->m == 1 ? 1 : t);

            fit->work[i * fit->m + t] = fit->c[i] * (fit->p[i * fit->m + t] - hit);
        }
    return pull_back(ctx, fit, w, fit->work, out);
}

/* In place, for row i: u = c_i (diag(p) - pp') u. */
static void
apply_curvature(const Logistic *fit, size_t i, double *u)
{
    const double *p = fit->p + i * fit->m;
    double mean = 0;

    if (fit->m == 1)
    {
        u[0] *= fit->c[i] * p[0] * (1 - p[0]);
        return;
    }
    for (size_t t = 0; t < fit->m; t++)
        mean += p[t] * u[t];
    for (size_t t = 0; t < fit->m; t++)
        u[t] = fit->c[i] * p[t] * (u[t] - mean);
}

static KmStatus
times_hessian(KmContext *ctx, const Logistic *fit, const double *v, double *out)
{
    KM_TRY(score_rows(ctx, fit, v, fit->work));
    for (size_t i = 0; i < fit->n; i++)
        apply_curvature(fit, i, fit->work + i * fit->m);
    return pull_back(ctx, fit, v, fit->work, out);
}

/* ---- directions ---- */

static KmStatus
prepare_preconditioner(KmContext *ctx, Logistic *fit)
{
    double kappa = fit->m == 1 ? 0.25 : (1 - 1.0 / (double) fit->m) / (double) fit->m;
    size_t d = fit->d, pivot;
    double *theta;

    for (size_t i = 0; i < fit->n; i++)
        fit->bias_curvature += kappa * fit->c[i];
    if (d > DENSE)
        return KM_OK;
    KM_TRY(km_alloc(ctx, fit->n, &theta));
    for (size_t i = 0; i < fit->n; i++)
        theta[i] = kappa * fit->c[i];
    KM_TRY(km_alloc(ctx, d * d, &fit->factor));
    KM_TRY(km_design_squares(ctx, &fit->design, theta, d, fit->factor));
    for (size_t j = 0; j < d; j++)
        fit->factor[j * d + j] += 1;
    for (size_t j = 0; j < d * d; j += d + 1)
        if (!isfinite(fit->factor[j]))
            return km_fail(ctx, KM_RANGE, "logistic: squares of the features overflow");
    KM_TRY(km_cholesky_factor(ctx, d, d, fit->factor, &pivot));
    km_free(ctx, theta);
    if (pivot == d)
        return KM_OK;
    km_free(ctx, fit->factor);
    fit->factor = NULL;
    return KM_OK;
}

static KmStatus
precondition(KmContext *ctx, const Logistic *fit, const double *r, double *out)
{
    memcpy(out, r, fit->size * sizeof *out);
    if (fit->factor != NULL)
        KM_TRY(km_cholesky_solve(ctx, fit->d, fit->d, fit->factor, fit->m, fit->m, out));
    for (size_t t = fit->d * fit->m; t < fit->size; t++)
        out[t] /= fit->bias_curvature;
    return KM_OK;
}

static double
dot(const Logistic *fit, const double *a, const double *b)
{
    return cblas_ddot((int) fit->size, a, 1, b, 1);
}

/* Squares of weights that are far from one are no numbers: nrm2 scales. */
static double
norm(const Logistic *fit, const double *a)
{
    return cblas_dnrm2((int) fit->size, a, 1);
}

/* Vectors of the solver, fit->size each. */
typedef struct Vectors
{
    double *w, *gradient, *direction, *residual, *z, *search, *product;
} Vectors;

/* direction = -H^-1 gradient, until the residual's norm is a fraction eta of the gradient's. */
static KmStatus
find_direction(KmContext *ctx, const Logistic *fit, double eta, Vectors *v)
{
    int size = (int) fit->size;
    double stop = eta * norm(fit, v->gradient), rho, before;

    memset(v->direction, 0, fit->size * sizeof *v->direction);
    for (size_t j = 0; j < fit->size; j++)
        v->residual[j] = -v->gradient[j];
    KM_TRY(precondition(ctx, fit, v->residual, v->z));
    memcpy(v->search, v->z, fit->size * sizeof *v->z);
    rho = dot(fit, v->residual, v->z);
    for (int step = 0; step < MAX_CG && norm(fit, v->residual) > stop; step++)
    {
        double curvature, alpha;

        KM_TRY(times_hessian(ctx, fit, v->search, v->product));
        curvature = dot(fit, v->search, v->product);
        if (!(curvature > 0))
            break;
        alpha = rho / curvature;
        cblas_daxpy(size, alpha, v->search, 1, v->direction, 1);
        cblas_daxpy(size, -alpha, v->product, 1, v->residual, 1);
        KM_TRY(precondition(ctx, fit, v->residual, v->z));
        before = rho;
        rho = dot(fit, v->residual, v->z);
        cblas_dscal(size, rho / before, v->search, 1);
        cblas_daxpy(size, 1, v->z, 1, v->search, 1);
    }
    return KM_OK;
}

/* Halve the step until the objective falls enough (Armijo); false: it never does, to rounding. */
static KmStatus
take_step(KmContext *ctx, const Logistic *fit, Vectors *v, double *value, bool *moved)
{
    double slope = dot(fit, v->gradient, v->direction), step = 1;

    KM_TRY(score_rows(ctx, fit, v->direction, fit->steps));
    for (int halvings = 0; halvings < MAX_HALVINGS; halvings++, step /= 2)
    {
        double trial;

        KM_TRY(km_poll(ctx));
        for (size_t i = 0; i < fit->n * fit->m; i++)
            fit->work[i] = fit->scores[i] + step * fit->steps[i];
        for (size_t j = 0; j < fit->size; j++)
            v->z[j] = v->w[j] + step * v->direction[j];
        trial = objective(fit, v->z, fit->work, fit->p);
        *moved = trial <= *value + ARMIJO * step * slope && trial < *value;
        if (!*moved)
            continue;
        memcpy(v->w, v->z, fit->size * sizeof *v->w);
        memcpy(fit->scores, fit->work, fit->n * fit->m * sizeof *fit->work);
        *value = trial;
        return KM_OK;
    }
    *value = objective(fit, v->w, fit->scores, fit->p);
    return KM_OK;
}

/* ---- fitting ---- */

typedef struct Outcome
{
    double objective;
    size_t iterations;
    bool converged;
} Outcome;

/* Stops when the gradient is tol of what it was at W = 0; where rounding allows no step this side of
 * the root of tol counts too. */
static KmStatus
minimise(KmContext *ctx, const Logistic *fit, double tol, size_t max_iter, Vectors *v, Outcome *out)
{
    double first = 0, slope;
    bool moved = true;

    out->objective = objective(fit, v->w, fit->scores, fit->p);
    for (out->iterations = 0;; out->iterations++)
    {
        KM_TRY(gradient(ctx, fit, v->w, v->gradient));
        slope = norm(fit, v->gradient);
        if (!isfinite(slope) || !isfinite(out->objective))
            return km_fail(ctx, KM_RANGE, "logistic: the objective is too large for double precision");
        if (out->iterations == 0)
            first = slope;
        out->converged = slope <= (moved ? tol : sqrt(tol)) * first;
        if (out->converged || !moved || out->iterations == max_iter)
            break;
        KM_TRY(find_direction(ctx, fit, fmin(0.1, sqrt(slope / first)), v));
        KM_TRY(take_step(ctx, fit, v, &out->objective, &moved));
    }
    return KM_OK;
}

static KmStatus
reserve(KmContext *ctx, const KmTable *table, size_t m)
{
    double d = (double) table->d, n = (double) table->n, width = (double) m;
    double dense = d > DENSE ? 0 : d * d;

    return km_reserve(ctx, 8.0 * (dense + 4 * n * width + 8 * (d + 1) * width + 256 * d),
                      "logistic regression", "Use fewer features.");
}

static KmStatus
create(KmContext *ctx, const KmArgs *args, const KmTable *table, Logistic *fit, Vectors *v)
{
    double **const vectors[] = {&v->w, &v->gradient, &v->direction, &v->residual,
                                &v->z, &v->search,   &v->product};
    double **const rows[] = {&fit->scores, &fit->p, &fit->work, &fit->steps};
    double c = km_arg_number(args, "c");
    size_t k = table->classes->n;

    *fit = (Logistic) {.table = table, .n = table->n, .d = table->d, .m = k == 2 ? 1 : k};
    fit->size = (fit->d + 1) * fit->m;
    KM_TRY(reserve(ctx, table, fit->m));
    KM_TRY(km_design_create(ctx, table, true, &fit->design));
    KM_TRY(km_alloc(ctx, fit->n, &fit->c));
    for (size_t i = 0; i < fit->n; i++)
        fit->c[i] = c * km_table_weight(table, i);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        KM_TRY(km_alloc_zero(ctx, fit->size, vectors[i]));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        KM_TRY(km_alloc_zero_bytes(ctx, fit->n, fit->m * sizeof(double), (void **) rows[i]));
    return prepare_preconditioner(ctx, fit);
}

static KmStatus
add_facts(KmContext *ctx, const Outcome *outcome, KmModel *model)
{
    if (!outcome->converged)
        km_warn(ctx, "logistic did not converge in %zu iterations", outcome->iterations);
    KM_TRY(km_model_add_fact(ctx, model, "objective", KM_FACT_NUMBER, outcome->objective));
    KM_TRY(km_model_add_fact(ctx, model, "iterations", KM_FACT_COUNT, (double) outcome->iterations));
    return km_model_add_fact(ctx, model, "converged", KM_FACT_BOOL, outcome->converged);
}

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    KmTable weighted;
    Outcome outcome;
    Logistic fit;
    Vectors v;

    (void) node;
    KM_TRY(km_classes_check(ctx, "logistic", table));
    KM_TRY(km_class_weights_apply(ctx, args, table, &weighted));
    KM_TRY(create(ctx, args, &weighted, &fit, &v));
    KM_TRY(minimise(ctx, &fit, km_arg_number(args, "tol"), (size_t) km_arg_number(args, "max_iter"), &v,
                    &outcome));
    km_linear_uncentre(fit.d, fit.m, fit.design.mean, v.w, v.w + fit.d * fit.m);
    KM_TRY(km_linear_store(ctx, "logistic", fit.d, fit.m, v.w, v.w + fit.d * fit.m, model));
    return add_facts(ctx, &outcome, model);
}

/* ---- scoring ---- */

/* p (k) from the scores of one row: one for two classes. */
static void
probabilities(size_t n_scores, const double *scores, double *p)
{
    size_t k = n_scores == 1 ? 2 : n_scores;
    double most = 0, sum = 0;

    p[0] = 0;
    for (size_t t = 0; t < n_scores; t++)
        p[k - n_scores + t] = scores[t];
    for (size_t t = 0; t < k; t++)
        most = t == 0 || p[t] > most ? p[t] : most;
    for (size_t t = 0; t < k; t++)
        p[t] -= most;
    km_exp(k, p, p);
    for (size_t t = 0; t < k; t++)
        sum += p[t];
    for (size_t t = 0; t < k; t++)
        p[t] /= sum;
}

static KmStatus
proba(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    size_t k = score->n_out == 1 ? 2 : score->n_out;
    double *scores;

    KM_TRY(km_alloc(ctx, m * score->n_out, &scores));
    KM_TRY(score->run(ctx, score, m, z, scores));
    for (size_t i = 0; i < m; i++)
        probabilities(score->n_out, scores + i * score->n_out, out + i * k);
    km_free(ctx, scores);
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    (void) args;
    KM_TRY(km_linear_prepare(ctx, model, d, KM_DECISION_CLASSES, out));
    out->proba = proba;
    return KM_OK;
}

const KmEstimatorType km_estimator_logistic = {
    .signature = {
        .name = "logistic",
        .what = "estimator",
        .params = {
            {.name = "c", .alias = "cost", .kinds = KM_KIND_NUMBER, .standard = "1", .min = 0, .max = 1e100,
             .open = true, .grid = true, .positional = true},
            KM_PARAM_POSITIVE_CLASS_WEIGHT,
            {.name = "tol", .kinds = KM_KIND_NUMBER, .standard = "1e-8", .min = 0, .max = 1, .open = true},
            {.name = "max_iter", .kinds = KM_KIND_INTEGER, .standard = "100", .min = 1, .max = 1e9},
        },
    },
    .target = KM_TARGET_LABEL,
    .linear = true,
    .fit = fit,
    .prepare = prepare,
};
