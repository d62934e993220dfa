/* signature_grid.c: the values that grid(…) and logspace(…) stand for. */
#include "signature_value.h"

#include <math.h>
#include <string.h>

#define MAX_GRID 10000

bool
km_is_grid(const KmNode *node)
{
    return (node->kind == KM_NODE_CALL || node->kind == KM_NODE_NAME) &&
        (strcmp(node->text, "grid") == 0 || strcmp(node->text, "logspace") == 0);
}

static KmStatus
check_arguments(KmContext *ctx, const KmNode *node)
{
    char quoted[KM_QUOTE_SIZE];

    for (size_t i = 0; i < node->n; i++)
    {
        if (node->key[i] != NULL)
            return km_node_fail(ctx, node, "%s takes arguments without names, got \"%s\"", node->text,
                                km_quote(node->key[i], quoted));
        if (node->item[i]->kind != KM_NODE_NUMBER)
            return km_node_fail(ctx, node->item[i], "argument %zu of %s must be a number", i + 1, node->text);
    }
    return KM_OK;
}

static KmStatus
grid_values(KmContext *ctx, const KmNode *node, size_t *n, double **values)
{
    if (node->n == 0 || node->n > MAX_GRID)
        return km_node_fail(ctx, node, "grid takes 1 to %d values, got %zu", MAX_GRID, node->n);
    KM_TRY(km_alloc(ctx, node->n, values));
    *n = node->n;
    for (size_t i = 0; i < node->n; i++)
        (*values)[i] = node->item[i]->number;
    return KM_OK;
}

/* As numpy.logspace: equal steps of the exponent, both ends included. */
static KmStatus
logspace_values(KmContext *ctx, const KmNode *node, size_t *n, double **values)
{
    double start, stop, count, step;

    if (node->n != 3)
        return km_node_fail(ctx, node, "logspace takes 3 numbers, the first and the last exponent of ten and "
                            "the number of values, got %zu", node->n);
    start = node->item[0]->number;
    stop = node->item[1]->number;
    count = node->item[2]->number;
    if (!isfinite(start) || !isfinite(stop))
        return km_node_fail(ctx, node, "the exponents of logspace must be finite");
    if (!(count >= 1 && count <= MAX_GRID && count == floor(count)))
        return km_node_fail(ctx, node->item[2], "logspace takes 1 to %d values", MAX_GRID);
    *n = (size_t) count;
    step = *n > 1 ? (stop - start) / (count - 1) : 0;
    KM_TRY(km_alloc(ctx, *n, values));
    for (size_t i = 0; i < *n; i++)
    {
        (*values)[i] = pow(10, i > 0 && i == *n - 1 ? stop : start + (double) i * step);
        if (!isfinite((*values)[i]))
            return km_node_fail(ctx, node, "a value of logspace is too large for double precision");
    }
    return KM_OK;
}

KmStatus
km_grid_values(KmContext *ctx, const KmNode *node, size_t *n, double **values)
{
    KM_TRY(check_arguments(ctx, node));
    if (strcmp(node->text, "grid") == 0)
        return grid_values(ctx, node, n, values);
    return logspace_values(ctx, node, n, values);
}
