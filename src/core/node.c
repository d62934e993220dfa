/* node.c: build, copy and change syntax trees. */
#include "spec.h"

#include <math.h>
#include <string.h>

#include "arena.h"

#define POLL_INTERVAL 4096

static KmStatus
new_nodes(KmContext *ctx, KmArena *arena, size_t n, KmNodeKind kind, KmNode **out)
{
    KM_TRY(km_arena_alloc(ctx, arena, n, out));
    for (size_t i = 0; i < n; i++)
    {
        (*out)[i].kind = kind;
        (*out)[i].position = KM_NO_POSITION;
    }
    return KM_OK;
}

/* n number nodes in one block; stride: distance of their values in values[]. */
static KmStatus
fill_numbers(KmContext *ctx, KmArena *arena, size_t n, const double *values, KmNode *list)
{
    KmNode *numbers;

    KM_TRY(km_poll(ctx));
    KM_TRY(new_nodes(ctx, arena, n, KM_NODE_NUMBER, &numbers));
    KM_TRY(km_arena_alloc(ctx, arena, n, &list->item));
    list->n = n;
    for (size_t i = 0; i < n; i++)
    {
        if (isnan(values[i]))
            return km_fail(ctx, KM_INVALID, "a parameter cannot be NaN");
        numbers[i].number = values[i];
        list->item[i] = &numbers[i];
    }
    return KM_OK;
}

KmStatus
km_node_number(KmContext *ctx, double value, KmNode **out)
{
    KmArena arena = {0};

    if (isnan(value))
        return km_fail(ctx, KM_INVALID, "a parameter cannot be NaN");
    KM_TRY(new_nodes(ctx, &arena, 1, KM_NODE_NUMBER, out));
    (*out)->number = value;
    return KM_OK;
}

KmStatus
km_node_list(KmContext *ctx, size_t n, const double *values, KmNode **out)
{
    KmArena arena = {0};

    KM_TRY(new_nodes(ctx, &arena, 1, KM_NODE_LIST, out));
    return fill_numbers(ctx, &arena, n, values, *out);
}

KmStatus
km_node_matrix(KmContext *ctx, size_t rows, size_t columns, const double *values, KmNode **out)
{
    KmArena arena = {0};
    KmNode *lists;

    KM_TRY(new_nodes(ctx, &arena, 1, KM_NODE_LIST, out));
    KM_TRY(new_nodes(ctx, &arena, rows, KM_NODE_LIST, &lists));
    KM_TRY(km_arena_alloc(ctx, &arena, rows, &(*out)->item));
    (*out)->n = rows;
    for (size_t i = 0; i < rows; i++)
    {
        (*out)->item[i] = &lists[i];
        KM_TRY(fill_numbers(ctx, &arena, columns, values + i * columns, &lists[i]));
    }
    return KM_OK;
}

static KmStatus
copy_string(KmContext *ctx, KmArena *arena, const char *from, const char **out)
{
    char *copy;

    *out = NULL;
    if (from == NULL)
        return KM_OK;
    KM_TRY(km_arena_alloc(ctx, arena, strlen(from) + 1, &copy));
    strcpy(copy, from);
    *out = copy;
    return KM_OK;
}

KmStatus
km_node_call(KmContext *ctx, const char *name, KmNode **out)
{
    KmArena arena = {0};

    KM_TRY(new_nodes(ctx, &arena, 1, KM_NODE_NAME, out));
    return copy_string(ctx, &arena, name, &(*out)->text);
}

static KmStatus
copy_node(KmContext *ctx, KmArena *arena, const KmNode *node, KmNode **out)
{
    KmNode *copy;

    KM_TRY(km_arena_alloc(ctx, arena, 1, &copy));
    *copy = *node;
    *out = copy;
    KM_TRY(copy_string(ctx, arena, node->text, &copy->text));
    if (node->n > 0)
        KM_TRY(km_arena_alloc(ctx, arena, node->n, &copy->item));
    if (node->n > 0 && node->key != NULL)
        KM_TRY(km_arena_alloc(ctx, arena, node->n, &copy->key));
    for (size_t i = 0; i < node->n; i++)
    {
        if (i % POLL_INTERVAL == 0)
            KM_TRY(km_poll(ctx));
        KM_TRY(copy_node(ctx, arena, node->item[i], &copy->item[i]));
        if (node->key != NULL)
            KM_TRY(copy_string(ctx, arena, node->key[i], &copy->key[i]));
    }
    return KM_OK;
}

KmStatus
km_node_copy(KmContext *ctx, const KmNode *node, KmNode **out)
{
    KmArena arena = {0};

    return copy_node(ctx, &arena, node, out);
}

/* Index of argument `key`, n if it is absent. */
static size_t
find_key(const KmNode *call, const char *key)
{
    size_t i = 0;

    if (call->kind != KM_NODE_CALL)
        return call->n;
    while (i < call->n && (call->key[i] == NULL || strcmp(call->key[i], key) != 0))
        i++;
    return i;
}

static KmStatus
append_argument(KmContext *ctx, KmNode *call, const char *key, KmNode *value)
{
    KmArena arena = {0};
    size_t n = call->n;
    KmNode **item;
    const char **keys;

    KM_TRY(km_arena_alloc(ctx, &arena, n + 1, &item));
    KM_TRY(km_arena_alloc(ctx, &arena, n + 1, &keys));
    KM_TRY(copy_string(ctx, &arena, key, &keys[n]));
    item[n] = value;
    if (n > 0)
    {
        memcpy(item, call->item, n * sizeof *item);
        memcpy(keys, call->key, n * sizeof *keys);
    }
    call->kind = KM_NODE_CALL;
    call->item = item;
    call->key = keys;
    call->n = n + 1;
    return KM_OK;
}

KmStatus
km_node_set(KmContext *ctx, KmNode *call, const char *key, KmNode *value)
{
    size_t i = find_key(call, key);

    if (call->kind != KM_NODE_CALL && call->kind != KM_NODE_NAME)
        return km_fail(ctx, KM_INTERNAL, "parameter \"%s\" set on a node that is no call", key);
    if (i == call->n)
        return append_argument(ctx, call, key, value);
    call->item[i] = value;
    return KM_OK;
}

void
km_node_unset(KmNode *call, const char *key)
{
    size_t i = find_key(call, key);

    if (i == call->n)
        return;
    memmove(call->item + i, call->item + i + 1, (call->n - i - 1) * sizeof *call->item);
    memmove(call->key + i, call->key + i + 1, (call->n - i - 1) * sizeof *call->key);
    if (--call->n == 0)
        call->kind = KM_NODE_NAME;
}

KmNode *
km_node_get(const KmNode *call, const char *key)
{
    size_t i = find_key(call, key);

    return i < call->n ? call->item[i] : NULL;
}
