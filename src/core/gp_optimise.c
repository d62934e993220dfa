/*
 * gp_optimise.c: the kernel's parameters and the noise that maximise the marginal likelihood.
 *
 *   dL/dtheta = 1/2 sum_ij (alpha alpha' - A^-1)_ij dA_ij/dtheta
 * (Rasmussen and Williams 2006, equation 5.9), by the logarithm of what is positive.  The search begins at
 * the better of two points, the one given and one of the data's scale (lengths: median distances, scalars:
 * the variance of y, noise: a tenth of it for a row of mean weight); each restart at a random point around
 * the latter.
 */
#include "gp.h"

#include <math.h>
#include <string.h>

#include "blas.h"
#include "cholesky.h"
#include "kernel_gradient.h"
#include "maximise.h"
#include "random.h"

#define SPREAD 2.0              /* standard deviation of the restarts, of logarithms */
#define NOISE_SHARE 0.1
#define AT_BOUND 1e-6           /* of theta: what the search leaves no further from a bound is at it */

typedef struct Search
{
    KmGpSystem *system;
    KmParameter *parameter;     /* n_kernel, as the search began */
    size_t n_kernel;
    size_t n;                   /* with the noise, last, unless it is 0 and so fixed */
    const double *bounds;       /* 2, of the parameters themselves */
    double *lower, *upper;      /* n, of theta */
    double *value;              /* n: the parameters themselves */
    double *solved;             /* n: theta for which the system holds a factor */
    bool is_solved;
} Search;

/* ---- parameters ---- */

static bool
is_log(const Search *search, size_t p)
{
    return p == search->n_kernel || search->parameter[p].log;
}

static double
clamp(double value, double lower, double upper)
{
    return fmin(fmax(value, lower), upper);
}

/* theta: logarithms of what is positive, within the bounds. */
static double
theta_of(const Search *search, size_t p, double value)
{
    return clamp(is_log(search, p) ? log(value) : value, search->lower[p], search->upper[p]);
}

/* The exponential of a bound's logarithm may not be the bound. */
static double
value_of(const Search *search, size_t p, double theta)
{
    if (!is_log(search, p))
        return theta;
    if (theta <= search->lower[p])
        return search->bounds[0];
    return theta >= search->upper[p] ? search->bounds[1] : exp(theta);
}

/* Give the system the parameters theta. */
static KmStatus
apply(KmContext *ctx, const Search *search, const double *theta)
{
    KmGpSystem *system = search->system;

    for (size_t p = 0; p < search->n; p++)
        search->value[p] = value_of(search, p, theta[p]);
    if (search->n > search->n_kernel)
        system->noise = search->value[search->n_kernel];
    return km_kernel_set_parameters(ctx, system->kernel, search->n_kernel, search->value);
}

/* ---- likelihood and gradient ---- */

/* The factor of A becomes the lower triangle of A^-1 - alpha alpha'. */
static KmStatus
fill_weights(KmContext *ctx, KmGpSystem *system)
{
    size_t n = system->table->n;
    double *W = system->a;

    KM_TRY(km_cholesky_inverse(ctx, n, n, W));
    for (size_t i = 0; i < n; i++)
    {
        if (i % 1024 == 0)
            KM_TRY(km_poll(ctx));
        cblas_daxpy(i + 1, -system->alpha[i], system->alpha, 1, W + i * n, 1);
    }
    return KM_OK;
}

static double
noise_gradient(const KmGpSystem *system)
{
    size_t n = system->table->n;
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += system->a[i * n + i] / km_table_weight(system->table, i);
    return system->noise * sum;
}

/* A line search asks for values, and then for the gradient where it ended. */
static KmStatus
solve_at(KmContext *ctx, Search *search, const double *theta)
{
    size_t bytes = search->n * sizeof *theta;

    if (search->is_solved && memcmp(theta, search->solved, bytes) == 0)
        return KM_OK;
    search->is_solved = false;
    KM_TRY(apply(ctx, search, theta));
    KM_TRY(km_gp_solve(ctx, search->system));
    memcpy(search->solved, theta, bytes);
    search->is_solved = true;
    return KM_OK;
}

static KmStatus
evaluate(KmContext *ctx, void *state, const double *theta, double *value, double *gradient)
{
    Search *search = state;
    KmGpSystem *system = search->system;

    KM_TRY(solve_at(ctx, search, theta));
    *value = system->likelihood;
    if (gradient == NULL)
        return KM_OK;
    search->is_solved = false;
    KM_TRY(fill_weights(ctx, system));
    KM_TRY(km_kernel_gradient(ctx, system->kernel, system->points, system->table->n, system->a, gradient));
    if (search->n > search->n_kernel)
        gradient[search->n_kernel] = noise_gradient(system);
    cblas_dscal(search->n, -0.5, gradient, 1);
    return KM_OK;
}

/* -inf where the matrix cannot be factored. */
static KmStatus
likelihood_at(KmContext *ctx, Search *search, const double *theta, double *out)
{
    KmStatus status = solve_at(ctx, search, theta);

    *out = status == KM_OK ? search->system->likelihood : -INFINITY;
    return status == KM_SINGULAR || status == KM_RANGE ? KM_OK : status;
}

/* ---- starts ---- */

static double
total_weight(const KmTable *table)
{
    double weight = 0.0;

    for (size_t i = 0; i < table->n; i++)
        weight += km_table_weight(table, i);
    return weight;
}

static double
variance_of_target(const KmGpSystem *system)
{
    const KmTable *table = system->table;
    double sum = 0.0;

    for (size_t i = 0; i < table->n; i++)
        sum += km_table_weight(table, i) * system->residual[i] * system->residual[i];
    return sum > 0.0 ? sum / total_weight(table) : 1.0;
}

/* A share of the variance for a row of the mean weight: one of weight w has noise / w. */
static double
scaled_noise(const KmGpSystem *system)
{
    const KmTable *table = system->table;

    return NOISE_SHARE * variance_of_target(system) * (total_weight(table) / (double) table->n);
}

/* Median distance between rows in `count` of the leaf's columns, from the first-th on. */
static KmStatus
median_distance(KmContext *ctx, const KmTable *table, const KmLeaf *leaf, size_t first, size_t count,
                double *out)
{
    KmPairwise what = leaf->type->geometry == KM_GEOMETRY_L1 ? KM_PAIR_L1 : KM_PAIR_SQDIST;
    double *x;

    KM_TRY(km_alloc_bytes(ctx, table->n, count * sizeof *x, (void **) &x));
    for (size_t k = 0; k < count; k++)
    {
        size_t column = leaf->n_dims > 0 ? leaf->dims[first + k] : first + k;

        for (size_t i = 0; i < table->n; i++)
            x[i * count + k] = table->x[i * table->d + column];
    }
    KM_TRY(km_median_distance(ctx, table->n, count, x, table->w, what, out));
    km_free(ctx, x);
    return KM_OK;
}

/* A length for all columns is their median distance; that of one among many is that of the column, times
 * the root of their number. */
static KmStatus
scaled_length(KmContext *ctx, const KmTable *table, const KmParameter *parameter, double *out)
{
    const KmLeaf *leaf = parameter->leaf;
    size_t columns = leaf->n_dims > 0 ? leaf->n_dims : table->d;

    if (km_arg(&leaf->args, parameter->free->name)->kind != KM_KIND_LIST)
        return median_distance(ctx, table, leaf, 0, columns, out);
    KM_TRY(median_distance(ctx, table, leaf, parameter->element, 1, out));
    *out *= sqrt((double) columns);
    return KM_OK;
}

/* What the data suggest for a parameter; the value that it has where they say nothing. */
static KmStatus
scaled_value(KmContext *ctx, const Search *search, const KmParameter *parameter, double *out)
{
    bool is_distance = (parameter->leaf->type->flags & KM_STATIONARY) != 0;
    const char *name = parameter->free->name;
    double length = 0.0;

    *out = parameter->value;
    if (parameter->log && strcmp(parameter->leaf->type->signature.name, "constant") == 0)
        *out = variance_of_target(search->system);
    if (is_distance && (strcmp(name, "length_scale") == 0 || strcmp(name, "gamma") == 0))
        KM_TRY(scaled_length(ctx, search->system->table, parameter, &length));
    if (length > 0.0 && strcmp(name, "length_scale") == 0)
        *out = length;
    else if (length > 0.0)
        *out = parameter->leaf->type->geometry == KM_GEOMETRY_L1 ? 1.0 / length : 0.5 / (length * length);
    return KM_OK;
}

static KmStatus
scaled_start(KmContext *ctx, const Search *search, double *theta)
{
    double value;

    for (size_t p = 0; p < search->n_kernel; p++)
    {
        KM_TRY(scaled_value(ctx, search, &search->parameter[p], &value));
        theta[p] = theta_of(search, p, value);
    }
    if (search->n > search->n_kernel)
        theta[search->n_kernel] = theta_of(search, search->n_kernel, scaled_noise(search->system));
    return KM_OK;
}

static void
given_start(const Search *search, double *theta)
{
    for (size_t p = 0; p < search->n_kernel; p++)
        theta[p] = theta_of(search, p, search->parameter[p].value);
    if (search->n > search->n_kernel)
        theta[search->n_kernel] = theta_of(search, search->n_kernel, search->system->noise);
}

/* Around the scaled start; restarts are numbered from 1. */
static void
random_start(const Search *search, const double *scaled, uint64_t seed, uint64_t restart, double *theta)
{
    km_random_normal(seed, restart, 0, search->n, theta);
    for (size_t p = 0; p < search->n; p++)
        theta[p] = clamp(scaled[p] + SPREAD * theta[p], search->lower[p], search->upper[p]);
}

/* ---- the search ---- */

static void
set_bounds(Search *search)
{
    for (size_t p = 0; p < search->n; p++)
    {
        search->lower[p] = is_log(search, p) ? log(search->bounds[0]) : -search->bounds[1];
        search->upper[p] = is_log(search, p) ? log(search->bounds[1]) : search->bounds[1];
    }
}

static KmStatus
search_create(KmContext *ctx, const KmArgs *args, KmGpSystem *system, Search *search)
{
    *search = (Search) {.system = system, .bounds = km_arg(args, "bounds")->list};
    KM_TRY(km_kernel_parameters(ctx, system->kernel, &search->n_kernel, &search->parameter));
    search->n = search->n_kernel + (system->noise > 0.0);
    if (search->n == 0)
        return km_fail(ctx, KM_INVALID, "gp: neither the kernel nor noise=0 leaves anything to optimize");
    if (km_kernel_white(system->kernel) > 0.0)
        km_notice(ctx, "gp: optimize keeps the variance of white at %g, and varies noise instead",
                  km_kernel_white(system->kernel));
    KM_TRY(km_alloc(ctx, search->n, &search->lower));
    KM_TRY(km_alloc(ctx, search->n, &search->upper));
    KM_TRY(km_alloc(ctx, search->n, &search->value));
    KM_TRY(km_alloc(ctx, search->n, &search->solved));
    set_bounds(search);
    return KM_OK;
}

/* A better maximum than the best so far takes its place; from a start without a value there is none. */
static KmStatus
climb(KmContext *ctx, const KmObjective *objective, const double *start, KmMaximum *best)
{
    KmMaximum maximum;
    size_t n = objective->n;
    KmStatus status;

    KM_TRY(km_alloc(ctx, n, &maximum.theta));
    memcpy(maximum.theta, start, n * sizeof *start);
    status = km_maximise(ctx, objective, &maximum);
    if (status != KM_OK && status != KM_SINGULAR && status != KM_RANGE)
        return status;
    best->evaluations += maximum.evaluations;
    if (status == KM_OK && maximum.value > best->value)
    {
        memcpy(best->theta, maximum.theta, n * sizeof *start);
        best->value = maximum.value;
        best->converged = maximum.converged;
    }
    km_free(ctx, maximum.theta);
    return KM_OK;
}

static KmStatus
search_all(KmContext *ctx, const KmArgs *args, Search *search, KmMaximum *best)
{
    KmObjective objective = {search->n, search->lower, search->upper, search, evaluate};
    uint64_t seed = (uint64_t) km_arg_number(args, "seed");
    size_t restarts = (size_t) km_arg_number(args, "restarts");
    double *given, *scaled, *start, at_given, at_scaled;

    KM_TRY(km_alloc(ctx, search->n, &given));
    KM_TRY(km_alloc(ctx, search->n, &scaled));
    KM_TRY(km_alloc(ctx, search->n, &start));
    given_start(search, given);
    KM_TRY(scaled_start(ctx, search, scaled));
    KM_TRY(likelihood_at(ctx, search, scaled, &at_scaled));
    KM_TRY(likelihood_at(ctx, search, given, &at_given));
    KM_TRY(climb(ctx, &objective, at_given >= at_scaled ? given : scaled, best));
    for (size_t restart = 1; restart <= restarts; restart++)
    {
        random_start(search, scaled, seed, restart, start);
        KM_TRY(climb(ctx, &objective, start, best));
    }
    if (best->value > -INFINITY)
        return KM_OK;
    km_fail(ctx, KM_SINGULAR, "gp: the covariance matrix could not be factored at any start");
    return km_hint(ctx, KM_SINGULAR, "Use noise > 0, or begin the learner with the step scale.");
}

static void
settle(const Search *search, double *theta)
{
    for (size_t p = 0; p < search->n; p++)
        if (theta[p] <= search->lower[p] + AT_BOUND)
            theta[p] = search->lower[p];
        else if (theta[p] >= search->upper[p] - AT_BOUND)
            theta[p] = search->upper[p];
}

/* ---- how it went ---- */

/* "noise (lower), length_scale[4] of rbf (upper)". */
static KmStatus
add_bounds_hit(KmContext *ctx, const Search *search, const double *theta, KmModel *model)
{
    KmText text = {0};
    char shown[200];

    for (size_t p = 0; p < search->n; p++)
    {
        bool is_lower = theta[p] == search->lower[p], is_upper = theta[p] == search->upper[p];

        if (!is_lower && !is_upper)
            continue;
        KM_TRY(km_text_addf(ctx, &text, text.length > 0 ? ", " : ""));
        if (p == search->n_kernel)
            KM_TRY(km_text_addf(ctx, &text, "noise"));
        else
            KM_TRY(km_parameter_name(ctx, search->system->kernel, &search->parameter[p], &text));
        KM_TRY(km_text_addf(ctx, &text, is_lower ? " (lower)" : " (upper)"));
    }
    if (text.length == 0)
        return KM_OK;
    km_notice(ctx, "gp: %s stopped at a bound of [%g, %g]; give wider bounds, or scale y",
              km_quote_part(text.length, text.data, sizeof shown, shown), search->bounds[0],
              search->bounds[1]);
    return km_model_add_text(ctx, model, "at_bound", text.data);
}

static KmStatus
report(KmContext *ctx, const Search *search, const KmMaximum *best, KmModel *model)
{
    KM_TRY(km_model_add_fact(ctx, model, "iterations", KM_FACT_COUNT, (double) best->evaluations));
    KM_TRY(km_model_add_fact(ctx, model, "converged", KM_FACT_BOOL, best->converged));
    if (!best->converged)
        km_warn(ctx, "gp: the search for the largest likelihood did not converge in %zu evaluations",
                best->evaluations);
    return add_bounds_hit(ctx, search, best->theta, model);
}

KmStatus
km_gp_optimise(KmContext *ctx, const KmArgs *args, KmGpSystem *system, KmModel *model)
{
    KmMaximum best = {.value = -INFINITY};
    Search search;

    KM_TRY(search_create(ctx, args, system, &search));
    KM_TRY(km_alloc(ctx, search.n, &best.theta));
    KM_TRY(search_all(ctx, args, &search, &best));
    settle(&search, best.theta);
    KM_TRY(apply(ctx, &search, best.theta));
    return report(ctx, &search, &best, model);
}
