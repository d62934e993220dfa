/*
 * spec.h: the language of kernels and learners, as a syntax tree.
 *
 *   pipeline := expression ('|' expression)*
 *   expression := term ('+' term)*          term := factor ('*' factor)*
 *   factor := atom ('^' number)?            atom := number | 'string' | list |
 *     map | name | name '(' arguments ')' | '(' pipeline ')'
 *   list := '[' (value (',' value)*)? ']'   (a matrix is a list of lists)
 *   map := '{' label ':' number (',' …)* '}' (label: name, number, string, or
 *     a word such as true)
 *   arguments := positional values, then name '=' value
 *
 * Numbers are decimal with optional sign and exponent, or inf.  Names are
 * [A-Za-z_][A-Za-z0-9_]*, matched without case in the "C" sense and printed in
 * lower case.  Strings and map labels in single quotes, '' for a quote.
 * The tree knows no kernels: meaning comes from signature.h.
 *
 * A sum inside a sum (and so for * and |) is flattened; a call without arguments
 * is a NAME.  Printed: "rbf(gamma=0.5) + 2*linear^2", [1, 2], {'a': 1}.
 *
 * Precedence: ^ over * over + over |.  "2.5 * k", "k * 2.5" and constants
 * mixed into sums are all accepted as written.
 */
#ifndef KM_SPEC_H
#define KM_SPEC_H

#include "context.h"
#include "text.h"

#define KM_SPEC_MAX_DEPTH 64            /* nesting of calls, lists, brackets */
#define KM_SPEC_MAX_NODES 5000000       /* numbers in lists included */
#define KM_SPEC_MAX_LENGTH (128u << 20) /* bytes of text */
#define KM_NO_POSITION SIZE_MAX         /* position of a node that was not parsed */

typedef enum KmNodeKind
{
    KM_NODE_NUMBER,             /* number */
    KM_NODE_STRING,             /* text: 'quoted' */
    KM_NODE_NAME,               /* text: bare word (mean, auto, true, linear) */
    KM_NODE_LIST,               /* item[n] */
    KM_NODE_MAP,                /* item[n] numbers, key[n] labels as written, unquoted */
    KM_NODE_CALL,               /* text(item[n]), key[i] NULL where positional */
    KM_NODE_SUM,                /* item[n] summed, n >= 2 */
    KM_NODE_PRODUCT,            /* item[n] multiplied, n >= 2 */
    KM_NODE_POWER,              /* item[0] ^ item[1] (a number) */
    KM_NODE_PIPE                /* item[n] in sequence, n >= 2 */
} KmNodeKind;

typedef struct KmNode KmNode;

struct KmNode
{
    KmNodeKind kind;
    size_t position;            /* offset in the text in characters, for errors */
    double number;
    const char *text;           /* NUL-terminated; names in lower case */
    size_t n;
    KmNode **item;
    const char **key;           /* MAP and CALL only */
};

/* Parse text[length] (need not end in NUL).  Errors: KM_SYNTAX with a message
 * and a DETAIL that quotes the text around the place and points at it;
 * KM_LIMIT over depth, nodes or length. */
extern KmStatus km_spec_parse(KmContext *ctx, const char *text, size_t length, KmNode **out);

/* Canonical text: km_spec_parse(km_spec_print(tree)) is the same tree and
 * prints the same bytes. */
extern KmStatus km_spec_print(KmContext *ctx, const KmNode *node, KmText *out);

/* Builders, for trees with resolved values.  NaN is refused. */
extern KmStatus km_node_number(KmContext *ctx, double value, KmNode **out);
extern KmStatus km_node_list(KmContext *ctx, size_t n, const double *values, KmNode **out);
extern KmStatus km_node_matrix(KmContext *ctx, size_t rows, size_t columns, const double *values,
                               KmNode **out);
extern KmStatus km_node_call(KmContext *ctx, const char *name, KmNode **out);
/* Deep copy. */
extern KmStatus km_node_copy(KmContext *ctx, const KmNode *node, KmNode **out);
/* Set (replace or append) argument `key` of a CALL; a NAME becomes a CALL. */
extern KmStatus km_node_set(KmContext *ctx, KmNode *call, const char *key, KmNode *value);
/* Remove argument `key`; nothing happens if it is absent. */
extern void km_node_unset(KmNode *call, const char *key);
extern KmNode *km_node_get(const KmNode *call, const char *key);   /* NULL if absent */

/* Fail with KM_INVALID at a node: the message as given, and the printed node in
 * the DETAIL (shortened). */
extern KmStatus km_node_fail(KmContext *ctx, const KmNode *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
