/*
 * spec_print.c: syntax tree to canonical text, with parentheses only where the
 * grammar needs them, and errors that quote a node.
 */
#include "spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ascii.h"

#define POLL_INTERVAL 4096

typedef struct Printer
{
    KmContext *ctx;
    KmText *text;
    size_t limit;               /* bytes that are wanted; nothing is printed or read beyond */
    size_t n_nodes;
} Printer;

/* How tightly a kind binds; a looser node inside a tighter one needs parentheses. */
typedef enum Binding
{
    BIND_PIPE, BIND_SUM, BIND_PRODUCT, BIND_POWER, BIND_ATOM
} Binding;

static KmStatus print_node(Printer *p, const KmNode *node, Binding needed);

static Binding
binding(const KmNode *node)
{
    switch (node->kind)
    {
        case KM_NODE_PIPE:
            return BIND_PIPE;
        case KM_NODE_SUM:
            return BIND_SUM;
        case KM_NODE_PRODUCT:
            return BIND_PRODUCT;
        case KM_NODE_POWER:
            return BIND_POWER;
        default:
            return BIND_ATOM;
    }
}

static size_t
room(const Printer *p)
{
    return p->text->length < p->limit ? p->limit - p->text->length : 0;
}

static KmStatus
put(Printer *p, const char *string)
{
    return km_text_add(p->ctx, p->text, string, strnlen(string, room(p)));
}

static KmStatus
print_quoted(Printer *p, const char *string)
{
    const char *end = string + strnlen(string, room(p)), *quote;

    KM_TRY(put(p, "'"));
    for (; (quote = memchr(string, '\'', (size_t) (end - string))) != NULL; string = quote + 1)
    {
        KM_TRY(km_text_add(p->ctx, p->text, string, (size_t) (quote + 1 - string)));
        KM_TRY(put(p, "'"));
    }
    KM_TRY(km_text_add(p->ctx, p->text, string, (size_t) (end - string)));
    return put(p, "'");
}

static KmStatus
print_items(Printer *p, const KmNode *node, const char *separator, Binding needed)
{
    for (size_t i = 0; i < node->n && room(p) > 0; i++)
    {
        if (i > 0)
            KM_TRY(put(p, separator));
        if (node->kind == KM_NODE_MAP)
        {
            KM_TRY(print_quoted(p, node->key[i]));
            KM_TRY(put(p, ": "));
        }
        else if (node->kind == KM_NODE_CALL && node->key[i] != NULL)
        {
            KM_TRY(put(p, node->key[i]));
            KM_TRY(put(p, "="));
        }
        KM_TRY(print_node(p, node->item[i], needed));
    }
    return KM_OK;
}

static KmStatus
print_bracketed(Printer *p, const KmNode *node, const char *opening, const char *closing)
{
    KM_TRY(put(p, opening));
    KM_TRY(print_items(p, node, ", ", BIND_SUM));
    return put(p, closing);
}

static KmStatus
print_power(Printer *p, const KmNode *node)
{
    KM_TRY(print_node(p, node->item[0], BIND_ATOM));
    KM_TRY(put(p, "^"));
    return print_node(p, node->item[1], BIND_ATOM);
}

static KmStatus
print_call(Printer *p, const KmNode *node)
{
    KM_TRY(put(p, node->text));
    return node->n == 0 ? KM_OK : print_bracketed(p, node, "(", ")");
}

static KmStatus
print_bare(Printer *p, const KmNode *node)
{
    switch (node->kind)
    {
        case KM_NODE_NUMBER:
            return km_text_add_number(p->ctx, p->text, node->number);
        case KM_NODE_STRING:
            return print_quoted(p, node->text);
        case KM_NODE_NAME:
            return put(p, node->text);
        case KM_NODE_LIST:
            return print_bracketed(p, node, "[", "]");
        case KM_NODE_MAP:
            return print_bracketed(p, node, "{", "}");
        case KM_NODE_CALL:
            return print_call(p, node);
        case KM_NODE_SUM:
            return print_items(p, node, " + ", BIND_SUM);
        case KM_NODE_PRODUCT:
            return print_items(p, node, "*", BIND_PRODUCT);
        case KM_NODE_POWER:
            return print_power(p, node);
        case KM_NODE_PIPE:
            return print_items(p, node, " | ", BIND_PIPE);
    }
    return km_fail(p->ctx, KM_INTERNAL, "syntax node of unknown kind %d", (int) node->kind);
}

static KmStatus
print_node(Printer *p, const KmNode *node, Binding needed)
{
    if (++p->n_nodes % POLL_INTERVAL == 0)
        KM_TRY(km_poll(p->ctx));
    if (binding(node) >= needed)
        return print_bare(p, node);
    KM_TRY(put(p, "("));
    KM_TRY(print_bare(p, node));
    return put(p, ")");
}

KmStatus
km_spec_print(KmContext *ctx, const KmNode *node, KmText *out)
{
    Printer printer = {.ctx = ctx, .text = out, .limit = SIZE_MAX};

    return print_node(&printer, node, BIND_PIPE);
}

/* ---- errors at a node ---- */

/* The node's text in out[KM_QUOTE_SIZE], cut to fit; "" if there is no memory to print it. */
static void
quote_node(KmContext *ctx, const KmNode *node, char *out)
{
    KmText text = {0};
    Printer printer = {.ctx = ctx, .text = &text, .limit = KM_QUOTE_SIZE};
    bool printed = print_node(&printer, node, BIND_PIPE) == KM_OK;

    km_quote(printed && text.length > 0 ? text.data : "", out);
    km_free(ctx, text.data);
}

KmStatus
km_node_fail(KmContext *ctx, const KmNode *node, const char *format, ...)
{
    char quoted[KM_QUOTE_SIZE];
    char message[sizeof ctx->message];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    quote_node(ctx, node, quoted);      /* before km_fail: it may fail on its own */
    km_fail(ctx, KM_INVALID, "%s", message);
    if (node->position == KM_NO_POSITION)
        return km_detail(ctx, KM_INVALID, "In \"%s\".", quoted);
    return km_detail(ctx, KM_INVALID, "At character %zu: \"%s\".", node->position + 1, quoted);
}
