/*
 * spec_parse.c: text to syntax tree, by recursive descent (grammar in spec.h).
 *
 * Items of lists, calls and chains of operators wait on one stack until their
 * number is known, then move into an array of the right size.  Nodes come from
 * an arena: a matrix of millions of numbers costs about 64 bytes a number.
 */
#include "spec.h"

#include <math.h>
#include <string.h>

#include "arena.h"
#include "ascii.h"

#define POLL_INTERVAL 4096      /* nodes */
#define POLL_BYTES ((ptrdiff_t) 1 << 20)
#define LONGEST_NAME 1000       /* bytes; none that means something is nearly as long */
#define EXCERPT 40              /* bytes shown before the place of an error */

typedef struct Item
{
    KmNode *node;
    const char *key;
} Item;

typedef struct Parser
{
    KmContext *ctx;
    const char *text, *end;
    const char *at;             /* next byte to read */
    size_t continuation;        /* bytes before it that continue a UTF-8 character */
    int depth;
    size_t n_nodes;
    KmArena arena;
    Item *stack;
    size_t n_stack, capacity;
} Parser;

static KmStatus parse_chain(Parser *p, int level, KmNode **out);

/* ---- errors ---- */

static size_t
count_characters(const char *from, const char *to)
{
    size_t n = 0;

    for (; from < to; from++)
        n += !km_is_continuation(*from);
    return n;
}

/* End of the name or the single character that starts at c. */
static const char *
token_end(const char *c, const char *end)
{
    const char *limit = end - c > EXCERPT ? c + EXCERPT : end;

    if (c < limit && km_is_name(*c))
        while (c < limit && km_is_name(*c))
            c++;
    else if (c < limit)
        do
            c++;
        while (c < limit && km_is_continuation(*c));
    return c;
}

/* DETAIL with the text up to and including what stands at the place. */
static KmStatus
point_at(Parser *p, KmStatus status, const char *place)
{
    const char *start = place - p->text > EXCERPT ? place - EXCERPT : p->text;
    const char *stop = token_end(place, p->end);
    char excerpt[2 * EXCERPT + 8];
    size_t n = 0;

    while (start < place && km_is_continuation(*start))
        start++;
    for (const char *c = start; c < stop; c++)
        excerpt[n++] = (unsigned char) *c < ' ' || *c == 127 ? ' ' : *c;
    return km_detail(p->ctx, status, "At character %zu: \"%s%.*s\" <-- here.",
                     count_characters(p->text, place) + 1, start > p->text ? "..." : "", (int) n, excerpt);
}

static KmStatus
syntax_error(Parser *p, const char *place, const char *what)
{
    km_fail(p->ctx, KM_SYNTAX, "syntax error in kernel or learner: %s", what);
    return point_at(p, KM_SYNTAX, place);
}

/* ---- characters ---- */

/* The next byte after white space, NUL at the end. */
static char
peek(Parser *p)
{
    while (p->at < p->end && km_is_space(*p->at))
        p->at++;
    return p->at < p->end ? *p->at : '\0';
}

static bool
accept(Parser *p, char symbol)
{
    if (peek(p) != symbol)
        return false;
    p->at++;
    return true;
}

static size_t
position(const Parser *p)
{
    return (size_t) (p->at - p->text) - p->continuation;
}

static KmStatus
enter(Parser *p)
{
    if (++p->depth <= KM_SPEC_MAX_DEPTH)
        return KM_OK;
    km_fail(p->ctx, KM_LIMIT, "kernel or learner nested deeper than %d levels", KM_SPEC_MAX_DEPTH);
    return point_at(p, KM_LIMIT, p->at);
}

/* ---- nodes and the stack of items ---- */

static KmStatus
new_node(Parser *p, KmNodeKind kind, size_t where, KmNode **out)
{
    if (++p->n_nodes > KM_SPEC_MAX_NODES)
        return km_fail(p->ctx, KM_LIMIT, "kernel or learner of more than %d numbers and names",
                       KM_SPEC_MAX_NODES);
    if (p->n_nodes % POLL_INTERVAL == 0)
        KM_TRY(km_poll(p->ctx));
    KM_TRY(km_arena_alloc(p->ctx, &p->arena, 1, out));
    (*out)->kind = kind;
    (*out)->position = where;
    return KM_OK;
}

static KmStatus
push(Parser *p, KmNode *node, const char *key)
{
    if (p->n_stack == p->capacity)
    {
        size_t capacity = p->capacity == 0 ? 16 : 2 * p->capacity;
        Item *stack;

        KM_TRY(km_alloc(p->ctx, capacity, &stack));
        if (p->n_stack > 0)
            memcpy(stack, p->stack, p->n_stack * sizeof *stack);
        km_free(p->ctx, p->stack);
        p->stack = stack;
        p->capacity = capacity;
    }
    p->stack[p->n_stack++] = (Item) {node, key};
    return KM_OK;
}

/* A sum within a sum gives its terms: a + (b + c) is a + b + c. */
static KmStatus
push_flat(Parser *p, KmNodeKind kind, KmNode *node)
{
    if (node->kind != kind)
        return push(p, node, NULL);
    for (size_t i = 0; i < node->n; i++)
        KM_TRY(push(p, node->item[i], NULL));
    return KM_OK;
}

/* Move the items above `base` from the stack into the node. */
static KmStatus
take_items(Parser *p, size_t base, KmNode *node)
{
    const Item *items = p->stack ? p->stack + base : NULL;
    bool keyed = node->kind == KM_NODE_CALL || node->kind == KM_NODE_MAP;

    node->n = p->n_stack - base;
    KM_TRY(km_arena_alloc(p->ctx, &p->arena, node->n, &node->item));
    for (size_t i = 0; i < node->n; i++)
        node->item[i] = items[i].node;
    if (keyed)
    {
        KM_TRY(km_arena_alloc(p->ctx, &p->arena, node->n, &node->key));
        for (size_t i = 0; i < node->n; i++)
            node->key[i] = items[i].key;
    }
    p->n_stack = base;
    return KM_OK;
}

/* ---- tokens ---- */

/* Bytes of the number that starts here, 0 if there is none ("info" is a name). */
static size_t
match_number(const Parser *p, double *value)
{
    size_t length = km_number_read(p->at, (size_t) (p->end - p->at), value);

    if (length > 0 && p->at + length < p->end && km_is_name(p->at[length]))
        return 0;
    return length;
}

static bool
spelled_infinite(const char *number)
{
    return km_is_name_start(number[*number == '+' || *number == '-']);
}

static KmStatus
check_overflow(Parser *p, double value)
{
    if (isfinite(value) || spelled_infinite(p->at))
        return KM_OK;
    km_fail(p->ctx, KM_RANGE, "number too large for double precision");
    return point_at(p, KM_RANGE, p->at);
}

static KmStatus
parse_number(Parser *p, KmNode **out)
{
    double value;
    size_t length;

    peek(p);
    length = match_number(p, &value);
    if (length == 0)
        return syntax_error(p, p->at, "expected a number");
    KM_TRY(check_overflow(p, value));
    KM_TRY(new_node(p, KM_NODE_NUMBER, position(p), out));
    (*out)->number = value;
    p->at += length;
    return KM_OK;
}

static KmStatus
copy_text(Parser *p, const char *from, size_t length, const char **out)
{
    char *copy;

    KM_TRY(km_arena_alloc(p->ctx, &p->arena, length + 1, &copy));
    memcpy(copy, from, length);
    *out = copy;
    return KM_OK;
}

/* The name that starts here, as written or in lower case. */
static KmStatus
take_name(Parser *p, bool lower, const char **out)
{
    const char *start = p->at;
    char *name;

    while (p->at < p->end && km_is_name(*p->at) && p->at - start <= LONGEST_NAME)
        p->at++;
    if (p->at - start > LONGEST_NAME)
        return syntax_error(p, start, "name of more than 1000 bytes");
    KM_TRY(copy_text(p, start, (size_t) (p->at - start), out));
    name = (char *) *out;
    for (; lower && *name != '\0'; name++)
        *name = km_to_lower(*name);
    return KM_OK;
}

/* Up to and with the next quote in [from, end), at most POLL_BYTES. */
static const char *
piece_end(const char *from, const char *end)
{
    const char *limit = end - from > POLL_BYTES ? from + POLL_BYTES : end;
    const char *quote = memchr(from, '\'', (size_t) (limit - from));

    return quote != NULL ? quote + 1 : limit;
}

/* The quote that ends the string at p->at; '' inside stands for a quote. */
static KmStatus
find_quote(Parser *p, const char **out)
{
    const char *c = p->at + 1;

    for (;;)
    {
        const char *next = piece_end(c, p->end), *zero = memchr(c, '\0', (size_t) (next - c));

        KM_TRY(km_poll(p->ctx));
        if (zero != NULL)
            return syntax_error(p, zero, "zero byte in a string");
        if (next > c && next[-1] == '\'' && !(next < p->end && *next == '\''))
        {
            *out = next - 1;
            return KM_OK;
        }
        if (next == p->end)
            return syntax_error(p, p->at, "string without a closing quote");
        c = next[-1] == '\'' ? next + 1 : next;
    }
}

static KmStatus
take_string(Parser *p, const char **out)
{
    const char *quote = NULL;
    char *copy;

    KM_TRY(find_quote(p, &quote));
    KM_TRY(km_arena_alloc(p->ctx, &p->arena, (size_t) (quote - p->at), &copy));
    *out = copy;
    for (p->at++; p->at < quote; p->at += *p->at == '\'')
    {
        const char *next = piece_end(p->at, quote);
        size_t n = (size_t) (next - p->at);

        KM_TRY(km_poll(p->ctx));
        memcpy(copy, p->at, n);
        copy += n;
        p->continuation += n - count_characters(p->at, next);
        p->at = next;
    }
    p->at = quote + 1;
    return KM_OK;
}

/* ---- grammar ---- */

static KmStatus
close_bracket(Parser *p, char bracket, const char *expected)
{
    if (!accept(p, bracket))
        return syntax_error(p, p->at, expected);
    p->depth--;
    return KM_OK;
}

static KmStatus
parse_list(Parser *p, KmNode **out)
{
    size_t base = p->n_stack;
    KmNode *item;

    KM_TRY(new_node(p, KM_NODE_LIST, position(p), out));
    KM_TRY(enter(p));
    p->at++;
    if (peek(p) != ']')
        do
        {
            KM_TRY(parse_chain(p, 1, &item));
            KM_TRY(push(p, item, NULL));
        } while (accept(p, ','));
    KM_TRY(close_bracket(p, ']', "expected \",\" or \"]\""));
    return take_items(p, base, *out);
}

static KmStatus
take_label(Parser *p, const char **out)
{
    char c = peek(p);
    double value;
    size_t length = match_number(p, &value);

    if (c == '\'')
        return take_string(p, out);
    if (length > 0)
    {
        KM_TRY(copy_text(p, p->at, length, out));
        p->at += length;
        return KM_OK;
    }
    if (km_is_name_start(c))
        return take_name(p, false, out);
    syntax_error(p, p->at, "expected a label");
    return km_hint(p->ctx, KM_SYNTAX,
                   "Write a name as it is, other text in single quotes: {ham: 2, 'not ham': 1}.");
}

static KmStatus
parse_map(Parser *p, KmNode **out)
{
    size_t base = p->n_stack;
    const char *label;
    KmNode *item;

    KM_TRY(new_node(p, KM_NODE_MAP, position(p), out));
    KM_TRY(enter(p));
    p->at++;
    if (peek(p) != '}')
        do
        {
            KM_TRY(take_label(p, &label));
            if (!accept(p, ':'))
                return syntax_error(p, p->at, "expected \":\"");
            KM_TRY(parse_number(p, &item));
            KM_TRY(push(p, item, label));
        } while (accept(p, ','));
    KM_TRY(close_bracket(p, '}', "expected \",\" or \"}\""));
    return take_items(p, base, *out);
}

/* Take "name =" if it stands here, else leave *key at NULL and read nothing. */
static KmStatus
take_key(Parser *p, const char **key)
{
    const char *start, *c;

    *key = NULL;
    if (!km_is_name_start(peek(p)))
        return KM_OK;
    start = c = p->at;
    while (c < p->end && km_is_name(*c))
        c++;
    p->at = c;
    if (peek(p) != '=')
    {
        p->at = start;
        return KM_OK;
    }
    p->at = start;
    KM_TRY(take_name(p, true, key));
    accept(p, '=');
    return KM_OK;
}

static KmStatus
parse_arguments(Parser *p, KmNode *call)
{
    size_t base = p->n_stack;
    bool named = false;
    const char *key, *start;
    KmNode *item;

    KM_TRY(enter(p));
    p->at++;
    if (peek(p) != ')')
        do
        {
            peek(p);
            start = p->at;
            KM_TRY(take_key(p, &key));
            KM_TRY(parse_chain(p, 1, &item));
            if (named && key == NULL)
                return syntax_error(p, start, "an argument without a name after one with a name");
            named = key != NULL;
            KM_TRY(push(p, item, key));
        } while (accept(p, ','));
    KM_TRY(close_bracket(p, ')',
                         p->n_stack == base ? "expected \")\" or a value" : "expected \",\" or \")\""));
    if (p->n_stack > base)
    {
        call->kind = KM_NODE_CALL;
        return take_items(p, base, call);
    }
    return KM_OK;
}

static KmStatus
parse_name(Parser *p, KmNode **out)
{
    const char *start = p->at;

    KM_TRY(new_node(p, KM_NODE_NAME, position(p), out));
    KM_TRY(take_name(p, true, &(*out)->text));
    if (strcmp((*out)->text, "nan") == 0)
        return syntax_error(p, start, "NaN is not accepted");
    if (peek(p) == '(')
        KM_TRY(parse_arguments(p, *out));
    return KM_OK;
}

static KmStatus
parse_string(Parser *p, KmNode **out)
{
    KM_TRY(new_node(p, KM_NODE_STRING, position(p), out));
    return take_string(p, &(*out)->text);
}

static KmStatus
parse_parentheses(Parser *p, KmNode **out)
{
    KM_TRY(enter(p));
    p->at++;
    KM_TRY(parse_chain(p, 0, out));
    return close_bracket(p, ')', "expected \")\"");
}

static KmStatus
parse_atom(Parser *p, KmNode **out)
{
    double value;

    switch (peek(p))
    {
        case '(':
            return parse_parentheses(p, out);
        case '[':
            return parse_list(p, out);
        case '{':
            return parse_map(p, out);
        case '\'':
            return parse_string(p, out);
    }
    if (p->at == p->end)
        return syntax_error(p, p->at, "expected a value, found the end");
    if (km_is_name_start(*p->at) && match_number(p, &value) == 0)
        return parse_name(p, out);
    if (km_is_name(*p->at) || strchr("+-.", *p->at) != NULL)
        return parse_number(p, out);
    return syntax_error(p, p->at, "expected a value");
}

static KmStatus
parse_factor(Parser *p, KmNode **out)
{
    size_t base = p->n_stack;
    KmNode *operand, *exponent;

    KM_TRY(parse_atom(p, out));
    if (!accept(p, '^'))
        return KM_OK;
    operand = *out;
    KM_TRY(parse_number(p, &exponent));
    KM_TRY(push(p, operand, NULL));
    KM_TRY(push(p, exponent, NULL));
    KM_TRY(new_node(p, KM_NODE_POWER, operand->position, out));
    return take_items(p, base, *out);
}

/* The operators from the loosest to the tightest; level: index of the loosest
 * that may stand here. */
static KmStatus
parse_chain(Parser *p, int level, KmNode **out)
{
    static const struct { char symbol; KmNodeKind kind; } chains[] = {
        {'|', KM_NODE_PIPE}, {'+', KM_NODE_SUM}, {'*', KM_NODE_PRODUCT}};
    size_t base = p->n_stack;
    KmNode *item;

    if (level == sizeof chains / sizeof chains[0])
        return parse_factor(p, out);
    KM_TRY(parse_chain(p, level + 1, &item));
    *out = item;
    if (peek(p) != chains[level].symbol)
        return KM_OK;
    KM_TRY(push_flat(p, chains[level].kind, item));
    KM_TRY(new_node(p, chains[level].kind, item->position, out));
    while (accept(p, chains[level].symbol))
    {
        KM_TRY(parse_chain(p, level + 1, &item));
        KM_TRY(push_flat(p, chains[level].kind, item));
    }
    return take_items(p, base, *out);
}

KmStatus
km_spec_parse(KmContext *ctx, const char *text, size_t length, KmNode **out)
{
    Parser parser = {.ctx = ctx, .text = text, .at = text, .end = text + length};

    if (length > KM_SPEC_MAX_LENGTH)
        return km_fail(ctx, KM_LIMIT, "kernel or learner of %zu bytes, over the limit of %u", length,
                       KM_SPEC_MAX_LENGTH);
    KM_TRY(parse_chain(&parser, 0, out));
    peek(&parser);
    if (parser.at < parser.end)
    {
        syntax_error(&parser, parser.at, "expected an operator or the end");
        if (peek(&parser) == ',')
            km_hint(ctx, KM_SYNTAX, "Steps and an estimator are joined by |.");
        return KM_SYNTAX;
    }
    km_free(ctx, parser.stack);
    return KM_OK;
}
