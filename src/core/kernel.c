/*
 * kernel.c: the kernel table, and expressions compiled from syntax.
 */
#include "kernel_eval.h"
#include "kernel_types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const KmKernelType *const *const families[] = {
    km_kernels_dot, km_kernels_stationary, km_kernels_matern, km_kernels_periodic, km_kernels_histogram,
    km_kernels_process, km_kernels_index,
};
#define N_FAMILIES (sizeof families / sizeof families[0])

const KmKernelType *
km_kernel_type(size_t i)
{
    for (size_t family = 0; family < N_FAMILIES; family++)
    {
        for (const KmKernelType *const *type = families[family]; *type != NULL; type++)
        {
            if (i-- == 0)
                return *type;
        }
    }
    return NULL;
}

static const KmKernelType *
type_named(const char *name)
{
    const KmKernelType *type;

    for (size_t i = 0; (type = km_kernel_type(i)) != NULL; i++)
    {
        if (km_signature_named(&type->signature, name))
            return type;
    }
    return NULL;
}

/* Operations that are written as calls. */
#define KERNEL_PARAM {.name = "kernel", .kinds = KM_KIND_KERNEL, .positional = true, .required = true}

static const struct
{
    KmSignature signature;
    KmKernelOp op;
} functions[] = {
    {{.name = "exp", .what = "kernel", .params = {KERNEL_PARAM}}, KM_OP_EXP},
    {{.name = "normalize", .what = "kernel", .params = {KERNEL_PARAM}}, KM_OP_NORMALIZE},
};
#define N_FUNCTIONS (sizeof functions / sizeof functions[0])

/* ---- leaves ---- */

static int
compare_columns(const void *a, const void *b)
{
    size_t x = *(const size_t *) a, y = *(const size_t *) b;

    return (x > y) - (x < y);
}

static KmStatus
check_distinct(KmContext *ctx, const KmLeaf *leaf)
{
    size_t *sorted;

    KM_TRY(km_alloc(ctx, leaf->n_dims, &sorted));
    memcpy(sorted, leaf->dims, leaf->n_dims * sizeof *sorted);
    qsort(sorted, leaf->n_dims, sizeof *sorted, compare_columns);
    for (size_t k = 1; k < leaf->n_dims; k++)
    {
        if (sorted[k] == sorted[k - 1])
            return km_fail(ctx, KM_INVALID, "dims of %s names column %zu twice", leaf->type->signature.name,
                           sorted[k] + 1);
    }
    km_free(ctx, sorted);
    return KM_OK;
}

/* Columns are counted from 1 in the language, from 0 here. */
static KmStatus
compile_dims(KmContext *ctx, KmLeaf *leaf)
{
    const KmValue *value = km_arg(&leaf->args, "dims");

    leaf->n_dims = value->given ? value->rows : 0;
    if (leaf->n_dims == 0)
        return KM_OK;
    KM_TRY(km_alloc(ctx, leaf->n_dims, &leaf->dims));
    for (size_t k = 0; k < leaf->n_dims; k++)
    {
        if (value->list[k] != floor(value->list[k]))
            return km_fail(ctx, KM_INVALID, "dims of %s must be whole numbers, got %g",
                           leaf->type->signature.name, value->list[k]);
        leaf->dims[k] = (size_t) value->list[k] - 1;
    }
    return check_distinct(ctx, leaf);
}

static bool
leaf_has_grid(const KmLeaf *leaf)
{
    for (size_t i = 0; i < KM_MAX_PARAMS; i++)
    {
        if (leaf->args.value[i].grid)
            return true;
    }
    return false;
}

/* A parameter that another one of its group replaces is absent, so a word found here is in use. */
int
km_leaf_waits_for_data(const KmLeaf *leaf)
{
    const KmParam *params = leaf->type->signature.params;

    for (int i = 0; i < KM_MAX_PARAMS; i++)
    {
        if (leaf->args.value[i].kind == KM_KIND_WORD && params[i].words == km_data_words)
            return i;
    }
    return -1;
}

/* The numbers of a leaf with grids are worked out when each grid has become one value. */
KmStatus
km_leaf_compile(KmContext *ctx, const KmKernelType *type, KmNode *node, KmLeaf *leaf)
{
    leaf->type = type;
    leaf->flags = type->flags;
    leaf->width = 0;
    KM_TRY(km_signature_bind(ctx, &type->signature, node, &leaf->args));
    KM_TRY(compile_dims(ctx, leaf));
    if (type->compile == NULL || leaf_has_grid(leaf))
        return KM_OK;
    return type->compile(ctx, leaf);
}

/* ---- expressions ---- */

/* Numbers given out while the tree is made. */
typedef struct Compiler
{
    KmContext *ctx;
    size_t n_leaves, n_normals, n_nodes;
} Compiler;

static KmStatus compile(Compiler *compiler, KmNode *node, KmKernel **out);

static KmStatus
compile_leaf(Compiler *compiler, const KmKernelType *type, KmNode *node, KmKernel *kernel)
{
    kernel->op = KM_OP_LEAF;
    kernel->n_leaves = 1;
    kernel->leaf.index = compiler->n_leaves++;
    KM_TRY(km_leaf_compile(compiler->ctx, type, node, &kernel->leaf));
    kernel->flags = kernel->leaf.flags;
    return KM_OK;
}

/* A bare number stays one in the text and is the leaf constant(number); *out is the call. */
static KmStatus
call_of(KmContext *ctx, KmNode *node, KmNode **out)
{
    KmNode *value;

    *out = node;
    if (node->kind != KM_NODE_NUMBER)
        return KM_OK;
    KM_TRY(km_node_call(ctx, "constant", out));
    KM_TRY(km_node_number(ctx, node->number, &value));
    (*out)->position = value->position = node->position;
    return km_node_set(ctx, *out, "value", value);
}

static KmStatus
compile_number(Compiler *compiler, KmNode *node, KmKernel *kernel)
{
    KmNode *call;

    KM_TRY(call_of(compiler->ctx, node, &call));
    return compile_leaf(compiler, type_named("constant"), call, kernel);
}

KmStatus
km_kernel_recompile(KmContext *ctx, KmKernel *kernel)
{
    KmNode *call;

    KM_TRY(call_of(ctx, kernel->node, &call));
    return km_leaf_compile(ctx, kernel->leaf.type, call, &kernel->leaf);
}

/* What holds for sums, products and powers of kernels: each flag that all children have.  normalize makes
 * positive semidefinite kernels bounded. */
static unsigned
combined_flags(const KmKernel *kernel)
{
    unsigned flags = KM_STATIONARY | KM_BOUNDED | KM_PSD;

    for (size_t i = 0; i < kernel->n; i++)
        flags &= kernel->child[i]->flags;
    if (kernel->op == KM_OP_NORMALIZE && (flags & KM_PSD))
        flags |= KM_BOUNDED;
    return flags;
}

void
km_kernel_update_flags(KmKernel *kernel)
{
    for (size_t i = 0; i < kernel->n; i++)
        km_kernel_update_flags(kernel->child[i]);
    kernel->flags = kernel->op == KM_OP_LEAF ? kernel->leaf.flags : combined_flags(kernel);
}

static KmStatus
compile_children(Compiler *compiler, KmKernelOp op, size_t n, KmNode **item, KmKernel *kernel)
{
    kernel->op = op;
    kernel->n = n;
    if (op == KM_OP_NORMALIZE)
        kernel->normal = compiler->n_normals++;
    kernel->n_normals = op == KM_OP_NORMALIZE;
    KM_TRY(km_alloc(compiler->ctx, n, &kernel->child));
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(compile(compiler, item[i], &kernel->child[i]));
        kernel->n_leaves += kernel->child[i]->n_leaves;
        kernel->n_normals += kernel->child[i]->n_normals;
        kernel->n_nodes += kernel->child[i]->n_nodes;
    }
    kernel->flags = combined_flags(kernel);
    return KM_OK;
}

static KmStatus
compile_power(Compiler *compiler, KmNode *node, KmKernel *kernel)
{
    const KmNode *power = node->item[1];
    double exponent = power->kind == KM_NODE_NUMBER ? power->number : NAN;

    if (!(exponent >= 1 && exponent <= 1e6 && exponent == floor(exponent)))
        return km_node_fail(compiler->ctx, node,
                            "the power of a kernel must be a whole number between 1 and 1000000");
    kernel->exponent = exponent;
    return compile_children(compiler, KM_OP_POWER, 1, node->item, kernel);
}

/* Names of learners, only for a better message. */
static bool
is_learner_name(const char *name)
{
    static const char *const names[] = {
        "svc", "nu_svc", "svr", "nu_svr", "one_class", "krr", "gp", "gpc", "ridge", "ridge_classifier",
        "logistic", "linear_svc", "linear_svr", "impute", "scale", "minmax", "rff", "orf", "nystroem",
        "poly_features", "kpca", "kmeans"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static KmStatus
unknown_kernel(KmContext *ctx, const KmNode *node)
{
    const KmSignature **known;
    size_t n = 0;

    if (is_learner_name(node->text))
    {
        km_node_fail(ctx, node, "\"%s\" is part of a learner, not a kernel", node->text);
        return km_hint(ctx, KM_INVALID, "A kernel stands inside a learner, as in svc(rbf(gamma=0.5)).");
    }
    while (km_kernel_type(n) != NULL)
        n++;
    KM_TRY(km_alloc(ctx, n + N_FUNCTIONS, &known));
    for (size_t i = 0; i < n; i++)
        known[i] = &km_kernel_type(i)->signature;
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        known[n + i] = &functions[i].signature;
    return km_unknown_name(ctx, node, "kernel", n + N_FUNCTIONS, known);
}

static KmStatus
compile_name(Compiler *compiler, KmNode *node, KmKernel *kernel)
{
    const KmKernelType *type = type_named(node->text);
    KmArgs args;

    if (type != NULL)
        return compile_leaf(compiler, type, node, kernel);
    for (size_t i = 0; i < N_FUNCTIONS; i++)
    {
        if (!km_signature_named(&functions[i].signature, node->text))
            continue;
        KM_TRY(km_signature_bind(compiler->ctx, &functions[i].signature, node, &args));
        return compile_children(compiler, functions[i].op, 1, node->item, kernel);
    }
    return unknown_kernel(compiler->ctx, node);
}

static KmStatus
not_a_kernel(KmContext *ctx, const KmNode *node)
{
    km_node_fail(ctx, node, node->kind == KM_NODE_PIPE ? "a learner stands where a kernel is expected"
                 : "a kernel is expected");
    return km_hint(ctx, KM_INVALID, "Kernels are written as in rbf(gamma=0.5) + 2 * linear.");
}

static KmStatus
compile(Compiler *compiler, KmNode *node, KmKernel **out)
{
    KM_TRY(km_poll(compiler->ctx));
    KM_TRY(km_alloc_zero(compiler->ctx, 1, out));
    (*out)->node = node;
    (*out)->number = compiler->n_nodes++;
    (*out)->n_nodes = 1;
    switch (node->kind)
    {
        case KM_NODE_NUMBER:
            return compile_number(compiler, node, *out);
        case KM_NODE_NAME:
        case KM_NODE_CALL:
            return compile_name(compiler, node, *out);
        case KM_NODE_SUM:
            return compile_children(compiler, KM_OP_SUM, node->n, node->item, *out);
        case KM_NODE_PRODUCT:
            return compile_children(compiler, KM_OP_PRODUCT, node->n, node->item, *out);
        case KM_NODE_POWER:
            return compile_power(compiler, node, *out);
        default:
            return not_a_kernel(compiler->ctx, node);
    }
}

/* The first leaf for which the question is true, or NULL. */
static const KmLeaf *
find_leaf(const KmKernel *kernel, bool (*question)(const KmLeaf *leaf))
{
    if (kernel->op == KM_OP_LEAF)
        return question(&kernel->leaf) ? &kernel->leaf : NULL;
    for (size_t i = 0; i < kernel->n; i++)
    {
        const KmLeaf *found = find_leaf(kernel->child[i], question);

        if (found != NULL)
            return found;
    }
    return NULL;
}

/* ---- white(): for rows of one Gram, so it means something at the top of a sum only ---- */

static bool
is_white(const KmLeaf *leaf)
{
    return leaf->type->geometry == KM_GEOMETRY_SAME;
}

static KmStatus
check_white(KmContext *ctx, const KmKernel *kernel)
{
    for (size_t i = 0; i < kernel->n; i++)
    {
        const KmKernel *child = kernel->child[i];

        if (find_leaf(child, is_white) == NULL || (kernel->op == KM_OP_SUM && child->op == KM_OP_LEAF))
            continue;
        km_node_fail(ctx, kernel->node, "white must stand alone or be a summand of the whole kernel");
        return km_hint(ctx, KM_INVALID, "Write k + white(variance=0.1), with its factor as the variance.");
    }
    return KM_OK;
}

double
km_kernel_white(const KmKernel *kernel)
{
    double variance = 0;

    if (kernel->op == KM_OP_LEAF)
        return is_white(&kernel->leaf) ? kernel->leaf.p[0] : 0;
    for (size_t i = 0; i < kernel->n; i++)
        variance += km_kernel_white(kernel->child[i]);
    return variance;
}

void
km_kernel_clear_white(KmKernel *kernel)
{
    if (kernel->op == KM_OP_LEAF && is_white(&kernel->leaf))
        kernel->leaf.p[0] = 0;
    for (size_t i = 0; i < kernel->n; i++)
        km_kernel_clear_white(kernel->child[i]);
}

/* ---- precomputed: its rows are no vectors ---- */

static bool
is_index(const KmLeaf *leaf)
{
    return leaf->type->domain == KM_DOMAIN_INDEX;
}

static bool
is_of_vectors(const KmLeaf *leaf)
{
    KmGeometry geometry = leaf->type->geometry;

    return !is_index(leaf) && geometry != KM_GEOMETRY_NONE && geometry != KM_GEOMETRY_SAME;
}

bool
km_kernel_is_index(const KmKernel *kernel)
{
    return find_leaf(kernel, is_index) != NULL;
}

static KmStatus
check_domains(KmContext *ctx, const KmKernel *kernel)
{
    const KmLeaf *other = find_leaf(kernel, is_of_vectors);

    if (other == NULL || !km_kernel_is_index(kernel))
        return KM_OK;
    return km_node_fail(ctx, kernel->node,
                        "precomputed and %s cannot be combined: their rows are different things",
                        other->type->signature.name);
}

KmStatus
km_kernel_compile(KmContext *ctx, KmNode *node, KmKernel **out)
{
    Compiler compiler = {.ctx = ctx};

    KM_TRY(compile(&compiler, node, out));
    KM_TRY(check_domains(ctx, *out));
    return check_white(ctx, *out);
}

KmStatus
km_kernel_parse(KmContext *ctx, const char *text, size_t length, KmKernel **out)
{
    KmNode *node;

    KM_TRY(km_spec_parse(ctx, text, length, &node));
    return km_kernel_compile(ctx, node, out);
}

KmStatus
km_kernel_of(KmContext *ctx, const KmArgs *args, KmKernel **out)
{
    return km_kernel_compile(ctx, km_arg(args, "kernel")->node, out);
}

/* ---- questions about a whole expression ---- */

static bool
leaf_needs_data(const KmLeaf *leaf)
{
    return km_leaf_waits_for_data(leaf) >= 0;
}

bool
km_kernel_needs_data(const KmKernel *kernel)
{
    return find_leaf(kernel, leaf_needs_data) != NULL;
}

bool
km_kernel_has_grid(const KmKernel *kernel)
{
    return find_leaf(kernel, leaf_has_grid) != NULL;
}

bool
km_kernel_is_linear(const KmKernel *kernel)
{
    const KmLeaf *leaf = &kernel->leaf;

    return kernel->op == KM_OP_LEAF && strcmp(leaf->type->signature.name, "linear") == 0 &&
        leaf->n_dims == 0 && leaf->n_scale == 0 && leaf->n_factor == 0;
}

KmStatus
km_kernel_check_ready(KmContext *ctx, const KmKernel *kernel)
{
    const KmLeaf *waiting = find_leaf(kernel, leaf_needs_data);

    if (waiting != NULL)
    {
        int i = km_leaf_waits_for_data(waiting);

        km_fail(ctx, KM_UNSUPPORTED, "%s of %s is \"%s\", which needs data to learn from",
                waiting->type->signature.params[i].name, waiting->type->signature.name,
                waiting->args.value[i].word);
        return km_hint(ctx, KM_UNSUPPORTED, "Give a number, as in %s(%s=0.5).", waiting->type->signature.name,
                       waiting->type->signature.params[i].name);
    }
    if (km_kernel_has_grid(kernel))
        return km_fail(ctx, KM_UNSUPPORTED, "a grid stands for many kernels; here one is needed");
    return KM_OK;
}

void
km_kernel_leaves(const KmKernel *kernel, const KmLeaf **out)
{
    if (kernel->op == KM_OP_LEAF)
        out[kernel->leaf.index] = &kernel->leaf;
    for (size_t i = 0; i < kernel->n; i++)
        km_kernel_leaves(kernel->child[i], out);
}

/* ---- dimensions ---- */

static KmStatus
check_leaf_dimension(KmContext *ctx, const KmLeaf *leaf, size_t d)
{
    const char *name = leaf->type->signature.name;
    size_t own = km_leaf_dimension(leaf, d);

    for (size_t k = 0; k < leaf->n_dims; k++)
    {
        if (leaf->dims[k] >= d)
            return km_fail(ctx, KM_DIMENSION, "dims of %s names column %zu, but rows have %zu", name,
                           leaf->dims[k] + 1, d);
    }
    if (leaf->width > 0 && leaf->width != own)
        return km_fail(ctx, KM_DIMENSION, "%s of %s is for %zu columns, but its rows have %zu",
                       leaf->width_of, name, leaf->width, own);
    return KM_OK;
}

KmStatus
km_kernel_check_dimension(KmContext *ctx, const KmKernel *kernel, size_t d)
{
    if (d == 0)
        return km_fail(ctx, KM_DIMENSION, "rows must have at least one column");
    if (kernel->op == KM_OP_LEAF)
        return check_leaf_dimension(ctx, &kernel->leaf, d);
    for (size_t i = 0; i < kernel->n; i++)
        KM_TRY(km_kernel_check_dimension(ctx, kernel->child[i], d));
    return KM_OK;
}
