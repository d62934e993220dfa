/*
 * kernel_parameters.c: the free parameters of a kernel: their list, names, and writing them back.
 */
#include "kernel_eval.h"
#include "kernel_gradient.h"
#include "kernel_types.h"

static const double *
elements(const KmValue *value, size_t *n)
{
    bool is_list = value->kind == KM_KIND_LIST || value->kind == KM_KIND_MATRIX;

    *n = is_list ? value->rows * value->columns : value->kind == KM_KIND_NUMBER;
    return is_list ? value->list : &value->number;
}

const double *
km_free_elements(const KmLeaf *leaf, const KmFree *free, size_t *n)
{
    return elements(km_arg(&leaf->args, free->name), n);
}

/* A parameter whose logarithm should move is fixed at 0.  Below, it can only be a scalar, which moves as it
 * is. */
static bool
is_free(const KmFree *free, double value)
{
    return free->plain || value != 0;
}

/* ---- the list ---- */

/* Those of one leaf, written to out unless it is NULL; returns their number. */
static size_t
leaf_parameters(const KmLeaf *leaf, KmParameter *out)
{
    size_t count = 0, n;

    for (const KmFree *free = leaf->type->free; free->name != NULL; free++)
    {
        const double *value = km_free_elements(leaf, free, &n);

        for (size_t e = 0; e < n; e++)
        {
            if (!is_free(free, value[e]))
                continue;
            if (out != NULL)
                out[count] = (KmParameter) {leaf, free, e, !free->plain && value[e] > 0, value[e]};
            count++;
        }
    }
    return count;
}

KmStatus
km_kernel_parameters(KmContext *ctx, const KmKernel *kernel, size_t *n, KmParameter **out)
{
    const KmLeaf **leaf;
    size_t filled = 0;

    KM_TRY(km_kernel_check_ready(ctx, kernel));
    KM_TRY(km_alloc(ctx, kernel->n_leaves, &leaf));
    km_kernel_leaves(kernel, leaf);
    *n = 0;
    for (size_t l = 0; l < kernel->n_leaves; l++)
        *n += leaf_parameters(leaf[l], NULL);
    KM_TRY(km_alloc(ctx, *n, out));
    for (size_t l = 0; l < kernel->n_leaves; l++)
        filled += leaf_parameters(leaf[l], *out + filled);
    km_free(ctx, leaf);
    return KM_OK;
}

KmStatus
km_parameter_name(KmContext *ctx, const KmKernel *kernel, const KmParameter *parameter, KmText *out)
{
    const KmValue *value = km_arg(&parameter->leaf->args, parameter->free->name);

    KM_TRY(km_text_addf(ctx, out, "%s", parameter->free->name));
    if (value->kind == KM_KIND_LIST)
        KM_TRY(km_text_addf(ctx, out, "[%zu]", parameter->element + 1));
    if (value->kind == KM_KIND_MATRIX)
        KM_TRY(km_text_addf(ctx, out, "[%zu][%zu]", parameter->element / value->columns + 1,
                            parameter->element % value->columns + 1));
    KM_TRY(km_text_addf(ctx, out, " of %s", parameter->leaf->type->signature.name));
    if (kernel->n_leaves == 1)
        return KM_OK;
    return km_text_addf(ctx, out, " (part %zu)", parameter->leaf->index + 1);
}

/* ---- writing back ---- */

/* The value's syntax with the numbers given. */
static KmStatus
make_node(KmContext *ctx, const KmValue *value, const double *number, KmNode **out)
{
    if (value->kind == KM_KIND_LIST)
        return km_node_list(ctx, value->rows, number, out);
    if (value->kind == KM_KIND_MATRIX)
        return km_node_matrix(ctx, value->rows, value->columns, number, out);
    return km_node_number(ctx, *number, out);
}

/* Set one parameter of a leaf from *next on, which moves past what was used. */
static KmStatus
set_free(KmContext *ctx, KmKernel *kernel, const KmFree *free, const double **next)
{
    const KmValue *value = km_arg(&kernel->leaf.args, free->name);
    const double *old;
    double *number;
    KmNode *node;
    size_t n;

    old = elements(value, &n);
    if (n == 0)
        return KM_OK;
    KM_TRY(km_alloc(ctx, n, &number));
    for (size_t e = 0; e < n; e++)
        number[e] = is_free(free, old[e]) ? *(*next)++ : old[e];
    if (kernel->node->kind == KM_NODE_NUMBER)
    {
        kernel->node->number = *number;
        return KM_OK;
    }
    KM_TRY(make_node(ctx, value, number, &node));
    km_free(ctx, number);
    return km_node_set(ctx, kernel->node, free->name, node);
}

static KmStatus
set_leaf(KmContext *ctx, KmKernel *kernel, const double **next)
{
    const KmFree *free = kernel->leaf.type->free;

    if (free->name == NULL)
        return KM_OK;
    for (; free->name != NULL; free++)
        KM_TRY(set_free(ctx, kernel, free, next));
    return km_kernel_recompile(ctx, kernel);
}

static KmStatus
set_all(KmContext *ctx, KmKernel *kernel, const double **next)
{
    if (kernel->op == KM_OP_LEAF)
        return set_leaf(ctx, kernel, next);
    for (size_t i = 0; i < kernel->n; i++)
        KM_TRY(set_all(ctx, kernel->child[i], next));
    return KM_OK;
}

KmStatus
km_kernel_set_parameters(KmContext *ctx, KmKernel *kernel, size_t n, const double *value)
{
    const double *next = value;
    KmParameter *old;
    size_t n_old;

    KM_TRY(km_kernel_parameters(ctx, kernel, &n_old, &old));
    if (n != n_old)
        return km_fail(ctx, KM_INTERNAL, "kernel has %zu free parameters, got %zu", n_old, n);
    km_free(ctx, old);
    KM_TRY(set_all(ctx, kernel, &next));
    km_kernel_update_flags(kernel);
    return KM_OK;
}
