/*
 * signature.h: what a name of the language accepts, as tables.
 *
 * A kernel, step or estimator is a table entry that begins with a KmSignature.
 * km_signature_bind() checks a syntax node against it and fills KmArgs; it also
 * rewrites the node in canonical form: aliases replaced, positional arguments
 * named (but a kernel stays first and positional), table order.  Arguments
 * that were not given stay absent in the node, and take their default in KmArgs
 * (none, where another parameter of their group was given).
 */
#ifndef KM_SIGNATURE_H
#define KM_SIGNATURE_H

#include "spec.h"

/* Kinds of value, a bit each: a parameter may accept several. */
typedef enum KmKind
{
    KM_KIND_NUMBER = 1,         /* a real number (may be inf if max is) */
    KM_KIND_INTEGER = 2,        /* a whole number */
    KM_KIND_BOOL = 4,           /* true, false */
    KM_KIND_WORD = 8,           /* one of words[] */
    KM_KIND_LIST = 16,          /* numbers */
    KM_KIND_MATRIX = 32,        /* list of lists of one length */
    KM_KIND_MAP = 64,           /* {label: number} */
    KM_KIND_KERNEL = 128        /* a kernel expression */
} KmKind;

#define KM_MAX_PARAMS 14

typedef struct KmParam
{
    const char *name;
    const char *alias;          /* NULL, or another accepted name */
    unsigned kinds;             /* KmKind bits */
    const char *standard;       /* default as text; NULL: optional without default */
    double min, max;            /* for numbers, and elements of lists, matrices, maps */
    bool open;                  /* min itself is refused */
    bool grid;                  /* grid(…) and logspace(…) may stand here */
    bool positional;            /* accepts a value without a name, in table order */
    bool required;
    const char *const *words;   /* NULL-terminated, for KM_KIND_WORD */
    int group;                  /* of parameters with the same group > 0, at most one may be given */
} KmParam;

typedef struct KmSignature
{
    const char *name;
    const char *aliases[3];     /* NULL-terminated */
    const char *what;           /* "kernel", "step", "estimator" */
    KmParam params[KM_MAX_PARAMS];      /* ends at name == NULL */
} KmSignature;

typedef struct KmValue
{
    unsigned kind;              /* one KmKind bit; 0: absent; */
    bool given;                 /* false: the default */
    bool grid;                  /* node is grid(…) or logspace(…): list holds its values */
    double number;              /* NUMBER, INTEGER, BOOL (0/1); else NaN */
    const char *word;           /* WORD: pointer from the parameter's words[] */
    size_t rows, columns;       /* LIST: rows = n, columns = 1; MATRIX; MAP: rows = n */
    double *list;               /* row-major */
    const char **label;         /* MAP */
    KmNode *node;               /* the value's syntax (KERNEL: compile this) */
} KmValue;

typedef struct KmArgs
{
    const KmSignature *signature;
    KmValue value[KM_MAX_PARAMS];       /* by index of the parameter */
} KmArgs;

/* Bind a NAME or CALL node.  Errors (KM_INVALID) name the parameter, its value
 * and its range, and list the known parameters for an unknown one.  The
 * KERNEL values are not looked into here. The node is rewritten in place. */
extern KmStatus km_signature_bind(KmContext *ctx, const KmSignature *signature, KmNode *node, KmArgs *out);

/* The value of a parameter by name (absent for a name outside of the table), and its
 * number: NaN where there is none, as for a word, a list, a grid. */
extern const KmValue *km_arg(const KmArgs *args, const char *name);
extern double km_arg_number(const KmArgs *args, const char *name);
extern bool km_arg_is(const KmArgs *args, const char *name, const char *word);
/* The default of a parameter that has one, as syntax. */
extern KmStatus km_arg_standard(KmContext *ctx, const KmArgs *args, const char *name, KmNode **out);

/* True if name is the signature's name or alias (both lower case). */
extern bool km_signature_named(const KmSignature *signature, const char *name);

/* Fail with KM_INVALID for a name that no table knows: 'unknown kernel "rbff"',
 * DETAIL where it stands, HINT listing the known names (and the nearest). */
extern KmStatus km_unknown_name(KmContext *ctx, const KmNode *node, const char *what,
                                size_t n, const KmSignature *const *known);

#endif
