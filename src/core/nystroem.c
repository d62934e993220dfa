/*
 * nystroem.c: features of landmarks (Williams, Seeger 2001): the step nystroem.
 *
 * For landmarks S, z(x) = L^-1 k(S, x) with K(S, S) = L L' gives <z(x), z(x')> = k(x, S) K(S, S)^-1 k(S, x'),
 * the best approximation of the kernel that S allows; on S itself, and everywhere where S spans the
 * kernel, it is exact.  The landmarks are the step's constants, so they are all that a learner keeps of the
 * rows.  Kernel values by the scoring path, whitening in fixed order: the same bits everywhere.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "approximation.h"
#include "kernel_eval.h"
#include "landmarks.h"
#include "learner_types.h"
#include "sizes.h"
#include "whitening.h"

#define MAX_LANDMARKS 20000
#define MAX_NUMBERS 4000000     /* of all landmarks: their text must stay readable (KM_SPEC_MAX_NODES) */

typedef struct Nystroem
{
    const KmKernel *kernel;
    size_t n;
    const double *landmarks;    /* n x d */
    KmTarget *target;
    size_t stride;
    double *values;             /* KM_SCORE_ROWS x stride */
    KmWhitening *whitening;     /* NULL until it is first wanted */
} Nystroem;

/* ---- choosing landmarks ---- */

static const char *const methods[] = {"rpcholesky", "uniform", "kmeans", NULL};

static KmChooseLandmarks
method_of(const KmArgs *args)
{
    static const KmChooseLandmarks choose[] = {km_landmarks_rpcholesky, km_landmarks_uniform,
                                               km_landmarks_kmeans};

    for (size_t i = 0; methods[i] != NULL; i++)
        if (km_arg_is(args, "method", methods[i]))
            return choose[i];
    return choose[0];
}

static KmStatus
check(KmContext *ctx, const KmArgs *args)
{
    KmKernel *kernel;

    KM_TRY(km_kernel_of(ctx, args, &kernel));
    if (kernel->flags & KM_PSD)
        return KM_OK;
    km_node_fail(ctx, kernel->node, "nystroem needs a positive semidefinite kernel");
    return km_hint(ctx, KM_UNSUPPORTED, "Use one such as rbf, laplacian or poly, or svc with this kernel.");
}

static KmStatus
is_resolved(KmContext *ctx, const KmArgs *args, bool *out)
{
    KmKernel *kernel;

    KM_TRY(km_kernel_of(ctx, args, &kernel));
    *out = km_arg(args, "landmarks")->given && !km_kernel_needs_data(kernel);
    return KM_OK;
}

/* How many landmarks to look for among n distinct rows. */
static KmStatus
count_wanted(KmContext *ctx, const KmArgs *args, size_t n, size_t d, size_t *out)
{
    *out = (size_t) km_arg_number(args, "n_components");
    if (*out > n)
    {
        km_warn(ctx,
                "nystroem: n_components = %zu, but there are only %zu distinct rows: they are all landmarks",
                *out, n);
        *out = n;
    }
    if (*out > MAX_NUMBERS / d)
    {
        km_fail(ctx, KM_LIMIT, "nystroem: %zu landmarks of %zu columns are %zu numbers, the limit is %d",
                *out, d, *out * d, MAX_NUMBERS);
        return km_hint(ctx, KM_LIMIT, "The most is n_components = %zu.", MAX_NUMBERS / d);
    }
    return KM_OK;
}

static KmStatus
choose_landmarks(KmContext *ctx, const KmArgs *args, const KmKernel *kernel, const KmDistinct *rows,
                 KmNode **out)
{
    size_t wanted, chosen, d = rows->d;
    double *landmarks;

    KM_TRY(count_wanted(ctx, args, rows->n, d, &wanted));
    KM_TRY(km_alloc(ctx, wanted * d, &landmarks));
    KM_TRY(method_of(args)(ctx, kernel, rows, wanted, (uint64_t) km_arg_number(args, "seed"), landmarks,
                           &chosen));
    if (chosen < wanted)
        km_warn(ctx, "nystroem: %zu landmarks instead of %zu: they span the kernel on these rows", chosen,
                wanted);
    KM_TRY(km_node_matrix(ctx, chosen, d, landmarks, out));
    km_free(ctx, landmarks);
    return KM_OK;
}

/* The resolved form is nystroem(kernel, landmarks=[[…]]): how they were chosen is no longer of interest. */
static KmStatus
resolve(KmContext *ctx, const KmArgs *args, KmNode *node, size_t n, size_t d, const double *x,
        const double *w)
{
    KmDistinct rows;
    KmKernel *kernel;
    KmNode *landmarks;

    KM_TRY(km_kernel_of(ctx, args, &kernel));
    KM_TRY(km_kernel_resolve(ctx, kernel, n, d, x, w));
    if (!km_arg(args, "kernel")->given)
        KM_TRY(km_node_set(ctx, node, "kernel", kernel->node));
    if (km_arg(args, "landmarks")->given)
        return KM_OK;
    KM_TRY(km_distinct_rows(ctx, n, d, x, w, &rows));
    KM_TRY(choose_landmarks(ctx, args, kernel, &rows, &landmarks));
    km_node_unset(node, "n_components");
    km_node_unset(node, "method");
    km_node_unset(node, "seed");
    return km_node_set(ctx, node, "landmarks", landmarks);
}

/* ---- features ---- */

/* a (m x n) = k(S, x) of m rows. */
static KmStatus
copy_values(KmContext *ctx, Nystroem *nystroem, size_t m, const double *x, double *a)
{
    size_t n = nystroem->n;

    KM_TRY(km_target_values(ctx, nystroem->target, m, x, nystroem->stride, nystroem->values));
    for (size_t i = 0; i < m; i++)
        memcpy(a + i * n, nystroem->values + i * nystroem->stride, n * sizeof *a);
    return KM_OK;
}

/* Make the whitening, once: models that are there to score never want it. */
static KmStatus
reserve_whitening(KmContext *ctx, Nystroem *nystroem, size_t d)
{
    size_t n = nystroem->n;
    double *k;

    if (nystroem->whitening != NULL)
        return KM_OK;
    KM_TRY(km_alloc_bytes(ctx, n, n * sizeof *k, (void **) &k));
    for (size_t i = 0; i < n; i += KM_SCORE_ROWS)
        KM_TRY(copy_values(ctx, nystroem, min_size(n - i, KM_SCORE_ROWS), nystroem->landmarks + i * d,
                           k + i * n));
    return km_whitening_create(ctx, n, k, &nystroem->whitening);
}

static KmStatus
apply(KmContext *ctx, const KmStep *step, size_t m, const double *x, double *z)
{
    Nystroem *nystroem = step->state;

    KM_TRY(reserve_whitening(ctx, nystroem, step->d_in));
    KM_TRY(km_target_values(ctx, nystroem->target, m, x, nystroem->stride, nystroem->values));
    return km_whitening_apply(ctx, nystroem->whitening, m, nystroem->stride, nystroem->values, z);
}

/* Kernel values alone: all that a linear model needs. */
static KmStatus
apply_plain(KmContext *ctx, const KmStep *step, size_t m, const double *x, double *a)
{
    Nystroem *nystroem = step->state;

    return copy_values(ctx, nystroem, m, x, a);
}

static KmStatus
push(KmContext *ctx, const KmStep *step, size_t m, double *b)
{
    Nystroem *nystroem = step->state;

    KM_TRY(reserve_whitening(ctx, nystroem, step->d_in));
    return km_whitening_push(ctx, nystroem->whitening, m, b);
}

static KmStatus
pull(KmContext *ctx, const KmStep *step, size_t m, double *b)
{
    Nystroem *nystroem = step->state;

    KM_TRY(reserve_whitening(ctx, nystroem, step->d_in));
    return km_whitening_pull(ctx, nystroem->whitening, m, b);
}

static KmStatus
plain_growth(KmContext *ctx, const KmStep *step, double *out)
{
    Nystroem *nystroem = step->state;
    double least;

    KM_TRY(reserve_whitening(ctx, nystroem, step->d_in));
    least = km_whitening_least_pivot(nystroem->whitening);
    *out = 1 / (least * least);
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, size_t d, KmStep *out)
{
    const KmValue *landmarks = km_arg(args, "landmarks");
    size_t n = landmarks->rows;
    Nystroem *nystroem;
    KmKernel *kernel;
    char what[80];

    if (n == 0 || n > MAX_LANDMARKS)
        return km_fail(ctx, KM_LIMIT, "nystroem takes 1 to %d landmarks, got %zu", MAX_LANDMARKS, n);
    if (landmarks->columns != d)
        return km_fail(ctx, KM_DIMENSION, "nystroem expects %zu features, got %zu", landmarks->columns, d);
    KM_TRY(km_kernel_of(ctx, args, &kernel));
    snprintf(what, sizeof what, "nystroem with %zu landmarks", n);
    KM_TRY(km_reserve(ctx, 8.0 * (double) n * (2.5 * (double) n + (double) d + 3 * KM_SCORE_ROWS), what,
                      "Use fewer landmarks."));
    KM_TRY(km_alloc_zero(ctx, 1, &nystroem));
    *nystroem = (Nystroem) {.kernel = kernel, .n = n, .landmarks = landmarks->list};
    KM_TRY(km_target_create(ctx, kernel, n, d, landmarks->list, &nystroem->target));
    nystroem->stride = km_target_stride(nystroem->target);
    KM_TRY(km_alloc(ctx, KM_SCORE_ROWS * nystroem->stride, &nystroem->values));
    *out = (KmStep) {.d_in = d, .d_out = n, .state = nystroem, .apply = apply,
                     .apply_plain = apply_plain, .push = push, .pull = pull, .plain_growth = plain_growth};
    return KM_OK;
}

static KmStatus
describe(KmContext *ctx, const KmArgs *args, const KmStep *step, size_t n, const double *x, KmModel *model)
{
    const Nystroem *nystroem = step->state;

    (void) args;
    if (n == 0)
        return KM_OK;
    KM_TRY(km_approximation_error(ctx, nystroem->kernel, step, n, x, model));
    return km_approximation_residual(ctx, nystroem->kernel, step, n, x, model);
}

const KmStepType km_step_nystroem = {
    .signature = {
        .name = "nystroem",
        .aliases = {"nystrom"},
        .what = "step",
        .params = {
            {.name = "kernel", .kinds = KM_KIND_KERNEL, .standard = "rbf", .positional = true},
            {.name = "n_components", .kinds = KM_KIND_INTEGER, .standard = "100", .min = 1,
             .max = MAX_LANDMARKS, .positional = true, .group = 1},
            {.name = "method", .kinds = KM_KIND_WORD, .words = methods, .positional = true},
            {.name = "seed", .kinds = KM_KIND_INTEGER, .min = 0, .max = 0x1p53, .positional = true},
            {.name = "landmarks", .kinds = KM_KIND_MATRIX, .min = -DBL_MAX, .max = DBL_MAX, .group = 1},
        },
    },
    .check = check,
    .is_resolved = is_resolved,
    .resolve = resolve,
    .prepare = prepare,
    .describe = describe,
};
