/*
 * rff.c: random Fourier features (Rahimi, Recht 2007): the steps rff and orf.
 *
 * k(x, z) = E cos(w'(x - z)) for frequencies w of the kernel's spectral density.  The pairs
 * sqrt(2/D) [cos(w'x), sin(w'x)] of D/2 frequencies have the variance (1 - k^2)^2 / D at rbf, less than
 * cos(w'x + b) has.  Cosines and sines are rounded to a grid of 2^-14, in fit and in predict, so that
 * their products sum exactly (accumulator.h); that error of 3e-5 is far below the features' own.  Only
 * fixed-order operations: the same bits everywhere.
 *
 * orf makes the frequencies orthogonal (Yu et al. 2016), block by block of as many as there are columns.
 * That keeps their distribution where no direction is preferred: kernels of the Euclidean distance.
 */
#include "rff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "approximation.h"
#include "kernel_eval.h"
#include "learner_types.h"
#include "orthogonal.h"
#include "random.h"
#include "sizes.h"
#include "vmath.h"

#define MAX_COMPONENTS 1000000
#define POINTS 200              /* drawn for the error of the kernel */
#define STREAM_POINTS (UINT64_C(0x706f696e) << 32)
#define ROUNDER 0x1.8p52        /* adding and taking it away rounds |v| < 2^51 to a whole number */

typedef struct Rff
{
    const KmKernel *kernel;
    const KmLeaf *leaf;
    size_t d;                   /* columns of the rows that come in */
    KmPanel frequencies;        /* D/2 x columns of the leaf's own rows */
    double factor;              /* true features over the whole numbers of the grid */
    double *rows;               /* KM_SCORE_ROWS x columns of the leaf's own rows */
    double *phases;             /* KM_SCORE_ROWS x padded D/2 */
} Rff;

/* ---- the kernel: a positive factor times a leaf that has a spectral sampler ---- */

static bool
is_constant(const KmKernel *kernel)
{
    return kernel->op == KM_OP_LEAF && strcmp(kernel->leaf.type->signature.name, "constant") == 0;
}

static bool
is_orthogonal(const KmArgs *args)
{
    return args->signature == &km_step_orf.signature;
}

/* Whether frequencies can be drawn for the kernel, for orf without a preferred direction. */
static bool
can_sample(const KmArgs *args, const KmKernelType *type)
{
    return type->sample != NULL && (!is_orthogonal(args) || type->geometry == KM_GEOMETRY_SQDIST);
}

static KmStatus
refuse_kernel(KmContext *ctx, const KmArgs *args, const KmKernel *kernel)
{
    const KmKernelType *type;
    size_t length = 0;
    char names[256] = "";

    for (size_t i = 0; (type = km_kernel_type(i)) != NULL; i++)
        if (can_sample(args, type) && length < sizeof names)
            length += (size_t) snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? ", " : "",
                                        type->signature.name);
    km_node_fail(ctx, kernel->node,
                 "%s needs one kernel with a spectral density%s, alone or times a positive number",
                 args->signature->name, is_orthogonal(args) ? " that depends on lengths only" : "");
    return km_hint(ctx, KM_UNSUPPORTED, "Kernels that have one: %s.", names);
}

/* kernel = *factor times *leaf. */
static KmStatus
split_kernel(KmContext *ctx, const KmArgs *args, const KmKernel *kernel, double *factor, const KmLeaf **leaf)
{
    const KmKernel *const whole[1] = {kernel};
    bool is_product = kernel->op == KM_OP_PRODUCT;
    size_t n = is_product ? kernel->n : 1;

    *factor = 1;
    *leaf = NULL;
    for (size_t i = 0; i < n; i++)
    {
        const KmKernel *part = is_product ? kernel->child[i] : whole[i];

        if (is_constant(part))
            *factor *= km_arg_number(&part->leaf.args, "value");
        else if (part->op == KM_OP_LEAF && can_sample(args, part->leaf.type) && *leaf == NULL)
            *leaf = &part->leaf;
        else
            return refuse_kernel(ctx, args, kernel);
    }
    return *leaf != NULL && *factor > 0 ? KM_OK : refuse_kernel(ctx, args, kernel);
}

static KmStatus
check(KmContext *ctx, const KmArgs *args)
{
    size_t n_components = (size_t) km_arg_number(args, "n_components");
    KmKernel *kernel;
    const KmLeaf *leaf;
    double factor;

    if (n_components % 2 != 0)
        return km_fail(ctx, KM_INVALID, "n_components of %s must be even, got %zu", args->signature->name,
                       n_components);
    KM_TRY(km_kernel_of(ctx, args, &kernel));
    return split_kernel(ctx, args, kernel, &factor, &leaf);
}

/* ---- constants from data: those of the kernel ---- */

static KmStatus
is_resolved(KmContext *ctx, const KmArgs *args, bool *out)
{
    KmKernel *kernel;

    KM_TRY(km_kernel_of(ctx, args, &kernel));
    *out = !km_kernel_needs_data(kernel);
    return KM_OK;
}

static KmStatus
resolve(KmContext *ctx, const KmArgs *args, KmNode *node, size_t n, size_t d, const double *x,
        const double *w)
{
    KmKernel *kernel;
    KmArgs again;

    KM_TRY(km_kernel_of(ctx, args, &kernel));
    KM_TRY(km_kernel_resolve(ctx, kernel, n, d, x, w));
    if (km_arg(args, "kernel")->given)
        return KM_OK;
    KM_TRY(km_node_set(ctx, node, "kernel", kernel->node));
    return km_signature_bind(ctx, args->signature, node, &again);
}

/* ---- features ---- */

void
km_fourier_waves(const KmPanel *frequencies, size_t m, const double *x, double *phases, size_t ld,
                 double *out)
{
    size_t h = frequencies->n, stride = round_up(h, KM_PANEL_WIDTH);

    km_panel_pairwise(frequencies, KM_PAIR_DOT, m, x, 0, h, stride, phases);
    for (size_t i = 0; i < m; i++)
        km_sincos(h, phases + i * stride, out + i * ld + h, out + i * ld);
}

static void
round_to_grid(size_t n, double *v)
{
    for (size_t j = 0; j < n; j++)
        v[j] = (v[j] * KM_RFF_GRID + ROUNDER) - ROUNDER;
}

KmStatus
km_rff_grid(KmContext *ctx, const KmStep *step, size_t m, const double *x, size_t ld, double *k)
{
    const Rff *rff = step->state;

    KM_TRY(km_leaf_rows(ctx, rff->leaf, m, rff->d, x, rff->rows));
    km_fourier_waves(&rff->frequencies, m, rff->rows, rff->phases, ld, k);
    for (size_t i = 0; i < m; i++)
        round_to_grid(step->d_out, k + i * ld);
    return KM_OK;
}

double
km_rff_factor(const KmStep *step)
{
    const Rff *rff = step->state;

    return rff->factor;
}

static KmStatus
apply(KmContext *ctx, const KmStep *step, size_t m, const double *x, double *z)
{
    double factor = km_rff_factor(step);

    KM_TRY(km_rff_grid(ctx, step, m, x, step->d_out, z));
    for (size_t j = 0; j < m * step->d_out; j++)
        z[j] *= factor;
    return KM_OK;
}

/* ---- made ready ---- */

static KmStatus
sample_frequencies(KmContext *ctx, const KmArgs *args, size_t h, Rff *rff)
{
    size_t d = km_leaf_dimension(rff->leaf, rff->d);
    uint64_t seed = (uint64_t) km_arg_number(args, "seed");
    double *w;

    if (d > SIZE_MAX / sizeof *w / h)
        return km_fail(ctx, KM_LIMIT, "%s of %zu components for %zu columns is too large",
                       args->signature->name, 2 * h, d);
    KM_TRY(km_alloc(ctx, h * d, &w));
    KM_TRY(rff->leaf->type->sample(ctx, rff->leaf, seed, h, d, w));
    if (is_orthogonal(args))
        KM_TRY(km_orthogonalise(ctx, h, d, w));
    KM_TRY(km_panel_create(ctx, h, d, w, &rff->frequencies));
    km_free(ctx, w);
    KM_TRY(km_alloc(ctx, KM_SCORE_ROWS * d, &rff->rows));
    return km_alloc(ctx, KM_SCORE_ROWS * (h + KM_PANEL_WIDTH), &rff->phases);
}

/* k(x, x) of the leaf, which is stationary: that of its own zero row. */
static KmStatus
value_at_zero(KmContext *ctx, const KmLeaf *leaf, size_t d, double *out)
{
    double *zero;

    KM_TRY(km_alloc_zero(ctx, d, &zero));
    km_leaf_self(leaf, 1, d, zero, out);
    km_free(ctx, zero);
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, size_t d, KmStep *out)
{
    size_t n_components = (size_t) km_arg_number(args, "n_components"), h = n_components / 2;
    KmKernel *kernel;
    double scale, at_zero;
    Rff *rff;

    KM_TRY(km_kernel_of(ctx, args, &kernel));
    KM_TRY(km_alloc_zero(ctx, 1, &rff));
    KM_TRY(split_kernel(ctx, args, kernel, &scale, &rff->leaf));
    KM_TRY(km_kernel_check_ready(ctx, kernel));
    KM_TRY(km_kernel_check_dimension(ctx, kernel, d));
    KM_TRY(value_at_zero(ctx, rff->leaf, km_leaf_dimension(rff->leaf, d), &at_zero));
    scale *= at_zero;
    rff->kernel = kernel;
    rff->d = d;
    rff->factor = sqrt(scale / (double) h) / KM_RFF_GRID;
    if (!(rff->factor > 0 && isfinite(rff->factor)))
        return km_fail(ctx, KM_RANGE, "%s: factor %g of the kernel is too far from 1", args->signature->name,
                       scale);
    KM_TRY(sample_frequencies(ctx, args, h, rff));
    *out = (KmStep) {.d_in = d, .d_out = n_components, .state = rff, .apply = apply};
    return KM_OK;
}

/* ---- how well they approximate ---- */

static const double *
size_of(const void *sizes, size_t i)
{
    return (const double *) sizes + i;
}

/* Median size of the frequencies' elements, of the first thousand. */
static KmStatus
median_size(KmContext *ctx, const KmPanel *w, double *out)
{
    size_t rows = min_size(w->n, 1 + 1000 / w->d), n = rows * w->d, *order;
    double *size;

    KM_TRY(km_alloc(ctx, n, &size));
    KM_TRY(km_alloc(ctx, n, &order));
    for (size_t j = 0; j < rows; j++)
        for (size_t k = 0; k < w->d; k++)
            size[j * w->d + k] = fabs(km_panel_element(w, j, k));
    KM_TRY(km_rows_order(ctx, n, 1, size_of, size, order));
    *out = size[order[n / 2]];
    km_free(ctx, order);
    km_free(ctx, size);
    return KM_OK;
}

/* Normal rows at distances where the kernel falls from its value at 0. */
static KmStatus
draw_points(KmContext *ctx, const KmArgs *args, const KmPanel *w, size_t n, double *out)
{
    double size;

    KM_TRY(median_size(ctx, w, &size));
    km_random_normal((uint64_t) km_arg_number(args, "seed"), STREAM_POINTS, 0, n * w->d, out);
    for (size_t i = 0; i < n * w->d && size > 0; i++)
        out[i] /= size * sqrt((double) w->d);
    return KM_OK;
}

/* Of drawn points, not of rows: where only sums are kept there are none, and models from sums and from
 * rows are the same.  The points are the leaf's own rows, so its choice and scale of columns do not matter.
 */
static KmStatus
describe(KmContext *ctx, const KmArgs *args, const KmStep *step, size_t n, const double *x, KmModel *model)
{
    const Rff *rff = step->state;
    size_t d = rff->frequencies.d;
    KmKernel kernel = {.op = KM_OP_LEAF, .leaf = *rff->leaf, .n_leaves = 1, .node = rff->kernel->node};
    Rff own = *rff;
    KmStep features = {.d_in = d, .d_out = step->d_out, .state = &own, .apply = apply};
    double *points, at_zero;

    (void) n;
    (void) x;
    kernel.leaf.n_dims = kernel.leaf.n_scale = kernel.leaf.n_factor = kernel.leaf.index = 0;
    KM_TRY(value_at_zero(ctx, rff->leaf, d, &at_zero));
    own.leaf = &kernel.leaf;
    own.d = d;
    own.factor = sqrt(at_zero / (double) rff->frequencies.n) / KM_RFF_GRID;
    KM_TRY(km_alloc(ctx, POINTS * d, &points));
    KM_TRY(draw_points(ctx, args, &rff->frequencies, POINTS, points));
    KM_TRY(km_approximation_error(ctx, &kernel, &features, POINTS, points, model));
    km_free(ctx, points);
    return KM_OK;
}

#define PARAMS \
    { \
        {.name = "kernel", .kinds = KM_KIND_KERNEL, .standard = "rbf", .positional = true}, \
        {.name = "n_components", .kinds = KM_KIND_INTEGER, .standard = "100", .min = 2, \
         .max = MAX_COMPONENTS, .positional = true}, \
        {.name = "seed", .kinds = KM_KIND_INTEGER, .standard = "0", .min = 0, .max = 0x1p53, \
         .positional = true}, \
    }

const KmStepType km_step_rff = {
    .signature = {.name = "rff", .what = "step", .params = PARAMS},
    .check = check,
    .is_resolved = is_resolved,
    .resolve = resolve,
    .prepare = prepare,
    .describe = describe,
    .exact = true,
};

const KmStepType km_step_orf = {
    .signature = {.name = "orf", .what = "step", .params = PARAMS},
    .check = check,
    .is_resolved = is_resolved,
    .resolve = resolve,
    .prepare = prepare,
    .describe = describe,
    .exact = true,
};
