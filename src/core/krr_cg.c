/*
 * krr_cg.c: method=cg of krr and gp: the same system by preconditioned conjugate gradients.
 *
 * A beta = b for A = S K S + lambda I, one b for each target, all sharing the products with K, whose tiles
 * are made again each time: memory O(n rank).  The preconditioner is P = F F' + lambda I with F F' ~ S K S by
 * randomly pivoted Cholesky (Diaz, Epperly, Frangella, Tropp, Webber 2023, arXiv 2304.12465), applied by
 * Woodbury's formula
 *   P^-1 r = (r - F (F'F + lambda I)^-1 F' r) / lambda.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "cholesky.h"
#include "gram.h"
#include "krr.h"
#include "rpcholesky.h"
#include "sizes.h"

#define TOL 1e-8                /* default, of the residual relative to the right side */
#define MAX_ITER 1000
#define RANK 500
#define CHUNK ((size_t) 4096)   /* rows of F between polls */

typedef struct Solver
{
    const KmKrr *krr;
    size_t n, targets;
    double tol;
    uint64_t iterations, max_iter;
    KmLowRank f;
    double *inner;              /* rank x rank, lower triangle: factor of F'F + lambda I */
    double *small;              /* rank x targets */
    double *r, *z, *p, *ap;     /* n x targets: residual, P^-1 r, direction, A p */
    double *b;                  /* n x targets: right sides, in units of 2^exponent */
    int *exponent;              /* targets */
    double *rz, *size;          /* targets: r'z, |b| */
} Solver;

static double
option(const KmArgs *args, const char *name, double standard)
{
    return km_arg(args, name)->kind != 0 ? km_arg_number(args, name) : standard;
}

static size_t
wanted_rank(const KmArgs *args, size_t n)
{
    return (size_t) fmin(option(args, "rank", RANK), (double) n);
}

/* ---- options ---- */

const char *const km_krr_methods[] = {"exact", "cg", NULL};

bool
km_krr_is_iterative(const KmArgs *args)
{
    return km_arg_is(args, "method", "cg");
}

KmStatus
km_krr_check_iterative(KmContext *ctx, const KmArgs *args, const char *name)
{
    if (km_krr_is_iterative(args) || km_arg(args, name)->kind == 0)
        return KM_OK;
    return km_fail(ctx, KM_INVALID, "%s: %s goes with method=cg only", args->signature->name, name);
}

double
km_krr_iterative_work(const KmArgs *args, size_t n, size_t targets)
{
    return (double) wanted_rank(args, n) + 8.0 * ((double) targets + 1.0);
}

/* ---- the preconditioner ---- */

/* F'F + lambda I, factored; lambda may be far below the rounding of F'F. */
static KmStatus
fill_inner(KmContext *ctx, void *state, double *inner)
{
    const Solver *solver = state;
    size_t rank = solver->f.rank;

    memset(inner, 0, rank * rank * sizeof *inner);
    for (size_t i = 0; i < solver->n; i += CHUNK / 4)
    {
        size_t rows = min_size(solver->n - i, CHUNK / 4);

        KM_TRY(km_poll(ctx));
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, rank, rows, 1.0,
                    solver->f.factor + i * solver->f.ld, solver->f.ld, 1.0, inner, rank);
    }
    for (size_t k = 0; k < rank; k++)
        inner[k * rank + k] += solver->krr->lambda;
    return KM_OK;
}

static KmStatus
create_preconditioner(KmContext *ctx, const KmArgs *args, Solver *solver)
{
    const KmKrr *krr = solver->krr;
    double jitter;

    if (wanted_rank(args, solver->n) == 0)
        return KM_OK;
    KM_TRY(km_rpcholesky(ctx, krr->kernel, krr->points, krr->root, wanted_rank(args, solver->n), DBL_EPSILON,
                         (uint64_t) option(args, "seed", 0), &solver->f));
    if (solver->f.rank == 0)
        return KM_OK;
    KM_TRY(km_alloc_bytes(ctx, solver->f.rank, solver->f.rank * sizeof(double), (void **) &solver->inner));
    KM_TRY(km_alloc_bytes(ctx, solver->f.rank, solver->targets * sizeof(double), (void **) &solver->small));
    KM_TRY(fill_inner(ctx, solver, solver->inner));
    return km_cholesky_factor_jitter(ctx, solver->f.rank, solver->f.rank, solver->inner, fill_inner, solver,
                                     &jitter);
}

/* out += alpha op(F) x by chunks of rows; x and out have a column for each target. */
static KmStatus
add_factor_product(KmContext *ctx, const Solver *solver, CBLAS_TRANSPOSE op, double alpha, const double *x,
                   double *out)
{
    size_t rank = solver->f.rank, targets = solver->targets;

    for (size_t i = 0; i < solver->n; i += CHUNK)
    {
        size_t rows = min_size(solver->n - i, CHUNK);
        const double *part = solver->f.factor + i * solver->f.ld;

        KM_TRY(km_poll(ctx));
        if (op == CblasTrans)
            cblas_dgemm(CblasRowMajor, op, CblasNoTrans, rank, targets, rows, alpha, part, solver->f.ld,
                        x + i * targets, targets, 1.0, out, targets);
        else
            cblas_dgemm(CblasRowMajor, op, CblasNoTrans, rows, targets, rank, alpha, part, solver->f.ld, x,
                        targets, 1.0, out + i * targets, targets);
    }
    return KM_OK;
}

/* z = P^-1 r. */
static KmStatus
precondition(KmContext *ctx, const Solver *solver)
{
    size_t rank = solver->f.rank, targets = solver->targets;

    memcpy(solver->z, solver->r, solver->n * targets * sizeof *solver->z);
    if (rank > 0)
    {
        memset(solver->small, 0, rank * targets * sizeof *solver->small);
        KM_TRY(add_factor_product(ctx, solver, CblasTrans, 1.0, solver->r, solver->small));
        KM_TRY(km_cholesky_solve(ctx, rank, rank, solver->inner, targets, targets, solver->small));
        KM_TRY(add_factor_product(ctx, solver, CblasNoTrans, -1.0, solver->small, solver->z));
    }
    cblas_dscal(solver->n * targets, 1.0 / solver->krr->lambda, solver->z, 1);
    return KM_OK;
}

/* ---- the iteration ---- */

/* out = A x; z is work space. */
static KmStatus
apply_system(KmContext *ctx, const Solver *solver, const double *x, double *out)
{
    const KmKrr *krr = solver->krr;
    size_t n = solver->n, targets = solver->targets;
    const double *scaled = x;

    if (krr->root != NULL)
    {
        for (size_t i = 0; i < n * targets; i++)
            solver->z[i] = krr->root[i / targets] * x[i];
        scaled = solver->z;
    }
    KM_TRY(km_gram_times(ctx, krr->kernel, krr->points, targets, scaled, out));
    for (size_t i = 0; i < n * targets; i++)
        out[i] = (krr->root == NULL ? 1.0 : krr->root[i / targets]) * out[i] + krr->lambda * x[i];
    return km_blame_weights(ctx, krr->table, km_matrix_check_finite(ctx, n, targets, targets, out,
                                                                    "a product with the kernel matrix"));
}

static double
column_dot(const Solver *solver, size_t t, const double *a, const double *b)
{
    return cblas_ddot(solver->n, a + t, solver->targets, b + t, solver->targets);
}

/* |r| / |b| of a target. */
static double
relative_residual(const Solver *solver, size_t t)
{
    return solver->size[t] > 0.0 ? sqrt(column_dot(solver, t, solver->r, solver->r)) / solver->size[t] : 0.0;
}

static double
worst_residual(const Solver *solver)
{
    double worst = 0.0;

    for (size_t t = 0; t < solver->targets; t++)
        worst = fmax(worst, relative_residual(solver, t));
    return worst;
}

/* One step of every target that is not solved yet. */
static KmStatus
step(KmContext *ctx, Solver *solver, double *x)
{
    size_t n = solver->n, targets = solver->targets;

    KM_TRY(apply_system(ctx, solver, solver->p, solver->ap));
    for (size_t t = 0; t < targets; t++)
    {
        double curvature = column_dot(solver, t, solver->p, solver->ap), alpha;

        if (relative_residual(solver, t) <= solver->tol)
            continue;
        if (!(curvature > 0.0))
        {
            km_fail(ctx, KM_SINGULAR, "kernel matrix of %zu rows plus lambda is not positive definite", n);
            km_hint(ctx, KM_SINGULAR, "Use a larger lambda, or a positive definite kernel.");
            return km_blame_weights(ctx, solver->krr->table, KM_SINGULAR);
        }
        alpha = solver->rz[t] / curvature;
        cblas_daxpy(n, alpha, solver->p + t, targets, x + t, targets);
        cblas_daxpy(n, -alpha, solver->ap + t, targets, solver->r + t, targets);
    }
    solver->iterations++;
    return KM_OK;
}

/* p = z + (r'z / the one before) p, or p = z. */
static KmStatus
turn(KmContext *ctx, Solver *solver, bool first)
{
    size_t n = solver->n, targets = solver->targets;

    KM_TRY(precondition(ctx, solver));
    for (size_t t = 0; t < targets; t++)
    {
        double rz = column_dot(solver, t, solver->r, solver->z);

        cblas_dscal(n, first || solver->rz[t] == 0.0 ? 0.0 : rz / solver->rz[t], solver->p + t, targets);
        cblas_daxpy(n, 1.0, solver->z + t, targets, solver->p + t, targets);
        solver->rz[t] = rz;
    }
    return KM_OK;
}

/* r = b - A x, afresh: the one of the recurrence drifts. */
static KmStatus
refresh_residual(KmContext *ctx, Solver *solver, const double *x)
{
    KM_TRY(apply_system(ctx, solver, x, solver->r));
    for (size_t i = 0; i < solver->n * solver->targets; i++)
        solver->r[i] = solver->b[i] - solver->r[i];
    return KM_OK;
}

/* From x = 0 and r = b.  Where the fresh residual is not what the recurrence says, once more from there. */
static KmStatus
iterate(KmContext *ctx, Solver *solver, double *x)
{
    while (worst_residual(solver) > solver->tol && solver->iterations < solver->max_iter)
    {
        for (bool first = true; worst_residual(solver) > solver->tol && solver->iterations < solver->max_iter;
             first = false)
        {
            KM_TRY(turn(ctx, solver, first));
            KM_TRY(step(ctx, solver, x));
        }
        KM_TRY(refresh_residual(ctx, solver, x));
    }
    return KM_OK;
}

static KmStatus
create_vectors(KmContext *ctx, Solver *solver)
{
    size_t size = solver->n * solver->targets;

    KM_TRY(km_alloc(ctx, size, &solver->r));
    KM_TRY(km_alloc_zero(ctx, size, &solver->z));
    KM_TRY(km_alloc_zero(ctx, size, &solver->p));
    KM_TRY(km_alloc_zero(ctx, size, &solver->ap));
    KM_TRY(km_alloc(ctx, size, &solver->b));
    KM_TRY(km_alloc_zero(ctx, solver->targets, &solver->rz));
    KM_TRY(km_alloc(ctx, solver->targets, &solver->size));
    KM_TRY(km_alloc(ctx, solver->targets, &solver->exponent));
    memcpy(solver->b, solver->krr->beta, size * sizeof *solver->b);
    return KM_OK;
}

/* Targets in units of powers of two, of size near one: squares of what they are made of stay numbers. */
static void
scale_targets(Solver *solver)
{
    size_t n = solver->n, targets = solver->targets;

    for (size_t t = 0; t < targets; t++)
    {
        (void) frexp(cblas_dnrm2(n, solver->b + t, targets), &solver->exponent[t]);
        for (size_t i = t; i < n * targets; i += targets)
            solver->b[i] = solver->r[i] = ldexp(solver->b[i], -solver->exponent[t]);
        solver->size[t] = cblas_dnrm2(n, solver->b + t, targets);
    }
}

static void
restore_scale(const Solver *solver, double *x)
{
    for (size_t i = 0; i < solver->n * solver->targets; i++)
        x[i] = ldexp(x[i], solver->exponent[i % solver->targets]);
}

static void
release(KmContext *ctx, Solver *solver)
{
    km_free_all(ctx, solver->inner, solver->small, solver->r, solver->z, solver->p, solver->ap, solver->b,
                solver->rz, solver->size, solver->exponent);
    km_low_rank_free(ctx, &solver->f);
}

static KmStatus
add_facts(KmContext *ctx, const KmArgs *args, const Solver *solver, KmModel *model)
{
    double residual = worst_residual(solver);
    bool converged = residual <= solver->tol;

    if (!converged)
        km_warn(ctx,
                "%s did not converge: after %" PRIu64 " iterations the relative residual is %g, tol is %g",
                args->signature->name, solver->iterations, residual, solver->tol);
    KM_TRY(km_model_add_fact(ctx, model, "residual", KM_FACT_NUMBER, residual));
    KM_TRY(km_model_add_fact(ctx, model, "iterations", KM_FACT_COUNT, (double) solver->iterations));
    KM_TRY(km_model_add_fact(ctx, model, "converged", KM_FACT_BOOL, converged));
    return km_model_add_fact(ctx, model, "rank", KM_FACT_COUNT, (double) solver->f.rank);
}

KmStatus
km_krr_iterate(KmContext *ctx, const KmArgs *args, KmKrr *krr, KmModel *model)
{
    Solver solver = {
        .krr = krr, .n = krr->table->n, .targets = krr->table->n_targets,
        .tol = option(args, "tol", TOL), .max_iter = (uint64_t) option(args, "max_iter", MAX_ITER)
    };

    KM_TRY(create_preconditioner(ctx, args, &solver));
    KM_TRY(create_vectors(ctx, &solver));
    scale_targets(&solver);
    memset(krr->beta, 0, solver.n * solver.targets * sizeof *krr->beta);
    KM_TRY(iterate(ctx, &solver, krr->beta));
    restore_scale(&solver, krr->beta);
    KM_TRY(add_facts(ctx, args, &solver, model));
    release(ctx, &solver);
    return KM_OK;
}
