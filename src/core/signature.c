/*
 * signature.c: bind a call to the table entry of its name: match arguments with
 * parameters, fill in defaults, write the call back in canonical form.
 */
#include "signature.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "signature_value.h"

#define LIST_LENGTH 400         /* bytes of known names in a HINT */
#define N_ALIASES (sizeof ((KmSignature *) 0)->aliases / sizeof ((KmSignature *) 0)->aliases[0])
#define MAX_NAME 40             /* longer names are not compared for likeness */

/* The argument given for each parameter; NULL where none was. */
typedef struct Matched
{
    KmNode *node[KM_MAX_PARAMS];
} Matched;

/* ---- names ---- */

static size_t
count_params(const KmSignature *signature)
{
    size_t n = 0;

    while (n < KM_MAX_PARAMS && signature->params[n].name != NULL)
        n++;
    return n;
}

static size_t
find_param(const KmSignature *signature, const char *name)
{
    size_t n = count_params(signature);

    for (size_t i = 0; i < n; i++)
    {
        const KmParam *param = &signature->params[i];

        if (strcmp(param->name, name) == 0 || (param->alias != NULL && strcmp(param->alias, name) == 0))
            return i;
    }
    return KM_MAX_PARAMS;
}

bool
km_signature_named(const KmSignature *signature, const char *name)
{
    if (strcmp(signature->name, name) == 0)
        return true;
    for (size_t i = 0; i < N_ALIASES; i++)
        if (signature->aliases[i] != NULL && strcmp(signature->aliases[i], name) == 0)
            return true;
    return false;
}

static size_t
append_name(char *list, size_t length, const char *name)
{
    if (length + strlen(name) + 3 > LIST_LENGTH)
        return length;
    return length + (size_t) snprintf(list + length, LIST_LENGTH - length, "%s%s", length > 0 ? ", " : "",
                                      name);
}

static KmStatus
hint_params(KmContext *ctx, KmStatus status, const KmSignature *signature)
{
    char list[LIST_LENGTH] = "";
    size_t n = count_params(signature), length = 0;

    for (size_t i = 0; i < n; i++)
        length = append_name(list, length, signature->params[i].name);
    if (n == 0)
        return km_hint(ctx, status, "%s has no parameters.", signature->name);
    if (signature->params[0].kinds & KM_KIND_KERNEL)
        return km_hint(ctx, status,
                       "Parameters of %s: %s. Those of its kernel stand inside it: %s(rbf(gamma=1)).",
                       signature->name, list, signature->name);
    return km_hint(ctx, status, "Parameters of %s: %s.", signature->name, list);
}

/* ---- likeness ---- */

static size_t
min3(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Levenshtein distance of two names of at most MAX_NAME bytes. */
static size_t
edit_distance(const char *a, const char *b)
{
    size_t row[MAX_NAME + 1], n = strlen(b);

    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++)
    {
        size_t diagonal = row[0]++;

        for (size_t j = 0; j < n; j++)
        {
            size_t replaced = diagonal + (a[i] != b[j]);

            diagonal = row[j + 1];
            row[j + 1] = min3(replaced, row[j] + 1, diagonal + 1);
        }
    }
    return row[n];
}

static void
consider_name(const char *name, const char *candidate, const char **best, size_t *best_distance)
{
    size_t distance = strlen(candidate) > MAX_NAME ? MAX_NAME : edit_distance(name, candidate);

    if (distance >= *best_distance || 2 * distance >= strlen(name))
        return;
    *best = candidate;
    *best_distance = distance;
}

/* The known name or alias nearest to the given one, NULL if none is near. */
static const char *
nearest_name(const char *name, size_t n, const KmSignature *const *known)
{
    const char *best = NULL;
    size_t best_distance = 3;

    if (strnlen(name, MAX_NAME + 1) > MAX_NAME)
        return NULL;
    for (size_t i = 0; i < n; i++)
    {
        consider_name(name, known[i]->name, &best, &best_distance);
        for (size_t a = 0; a < N_ALIASES && known[i]->aliases[a] != NULL; a++)
            consider_name(name, known[i]->aliases[a], &best, &best_distance);
    }
    return best;
}

KmStatus
km_unknown_name(KmContext *ctx, const KmNode *node, const char *what, size_t n,
                const KmSignature *const *known)
{
    const char *nearest = nearest_name(node->text, n, known);
    char list[LIST_LENGTH] = "", quoted[KM_QUOTE_SIZE];
    size_t length = 0;

    for (size_t i = 0; i < n; i++)
        length = append_name(list, length, known[i]->name);
    km_node_fail(ctx, node, "unknown %s \"%s\"", what, km_quote(node->text, quoted));
    if (nearest != NULL)
        return km_hint(ctx, KM_INVALID, "Perhaps you mean %s. Known: %s.", nearest, list);
    return km_hint(ctx, KM_INVALID, "Known: %s.", list);
}

/* ---- matching arguments with parameters ---- */

static KmStatus
match_positional(KmContext *ctx, const KmSignature *signature, const KmNode *argument, size_t *next,
                 size_t *out)
{
    size_t n = count_params(signature);

    while (*next < n && !signature->params[*next].positional)
        ++*next;
    *out = (*next)++;
    if (*out < n)
        return KM_OK;
    km_node_fail(ctx, argument, "too many arguments without a name for %s %s", signature->what,
                 signature->name);
    return hint_params(ctx, KM_INVALID, signature);
}

static KmStatus
match_named(KmContext *ctx, const KmSignature *signature, const KmNode *call, const char *key, size_t *out)
{
    char quoted[KM_QUOTE_SIZE];

    *out = find_param(signature, key);
    if (*out < KM_MAX_PARAMS)
        return KM_OK;
    km_node_fail(ctx, call, "unknown parameter \"%s\" of %s %s", km_quote(key, quoted), signature->what,
                 signature->name);
    return hint_params(ctx, KM_INVALID, signature);
}

static KmStatus
match_arguments(KmContext *ctx, const KmSignature *signature, const KmNode *call, Matched *matched)
{
    size_t next = 0, index;

    for (size_t i = 0; i < call->n; i++)
    {
        const char *key = call->key[i];

        if (key == NULL)
            KM_TRY(match_positional(ctx, signature, call->item[i], &next, &index));
        else
            KM_TRY(match_named(ctx, signature, call, key, &index));
        if (matched->node[index] != NULL)
            return km_node_fail(ctx, call, "parameter \"%s\" of %s is given twice",
                                signature->params[index].name, signature->name);
        matched->node[index] = call->item[i];
    }
    return KM_OK;
}

/* Another parameter of the group of params[index] that was given, or KM_MAX_PARAMS. */
static size_t
given_in_group(const KmSignature *signature, const Matched *matched, size_t index)
{
    size_t n = count_params(signature);
    int group = signature->params[index].group;

    for (size_t i = 0; i < n && group > 0; i++)
        if (i != index && signature->params[i].group == group && matched->node[i] != NULL)
            return i;
    return KM_MAX_PARAMS;
}

/* ---- values ---- */

static KmStatus
bind_given(KmContext *ctx, const KmSignature *signature, const KmNode *call, const Matched *matched,
           size_t index, KmValue *out)
{
    const KmParam *param = &signature->params[index];
    size_t other = given_in_group(signature, matched, index);

    if (other < KM_MAX_PARAMS)
        return km_node_fail(ctx, call, "only one of \"%s\" and \"%s\" of %s can be given",
                            param->name, signature->params[other].name, signature->name);
    KM_TRY(km_param_value(ctx, signature, param, matched->node[index], out));
    out->given = true;
    return KM_OK;
}

static KmStatus
parse_standard(KmContext *ctx, const KmParam *param, KmNode **out)
{
    KM_TRY(km_spec_parse(ctx, param->standard, strlen(param->standard), out));
    (*out)->position = KM_NO_POSITION;
    return KM_OK;
}

static KmStatus
bind_default(KmContext *ctx, const KmSignature *signature, const KmParam *param, KmValue *out)
{
    KmNode *node;

    if (param->standard == NULL)
        return KM_OK;
    KM_TRY(parse_standard(ctx, param, &node));
    return km_param_value(ctx, signature, param, node, out);
}

static KmStatus
bind_values(KmContext *ctx, const KmSignature *signature, const KmNode *call, const Matched *matched,
            KmArgs *out)
{
    size_t n = count_params(signature);

    for (size_t i = 0; i < n; i++)
    {
        const KmParam *param = &signature->params[i];
        bool replaced = given_in_group(signature, matched, i) < KM_MAX_PARAMS;

        if (matched->node[i] != NULL)
            KM_TRY(bind_given(ctx, signature, call, matched, i, &out->value[i]));
        else if (param->required && !replaced)
        {
            km_node_fail(ctx, call, "parameter \"%s\" of %s is missing", param->name, signature->name);
            return hint_params(ctx, KM_INVALID, signature);
        }
        else if (!replaced)
            KM_TRY(bind_default(ctx, signature, param, &out->value[i]));
    }
    return KM_OK;
}

/* ---- canonical form ---- */

/* The call's own arrays hold exactly as many arguments as were matched. */
static void
rewrite_call(const KmSignature *signature, const KmArgs *args, const Matched *matched, KmNode *call)
{
    size_t n = 0;

    call->text = signature->name;
    for (size_t i = 0; i < KM_MAX_PARAMS; i++)
    {
        if (matched->node[i] == NULL)
            continue;
        call->item[n] = matched->node[i];
        call->key[n] = i == 0 && args->value[i].kind == KM_KIND_KERNEL && signature->params[i].positional
            ? NULL : signature->params[i].name;
        n++;
    }
}

KmStatus
km_signature_bind(KmContext *ctx, const KmSignature *signature, KmNode *node, KmArgs *out)
{
    Matched matched = {{NULL}};

    if (node->kind != KM_NODE_NAME && node->kind != KM_NODE_CALL)
        return km_node_fail(ctx, node, "expected %s %s", signature->what, signature->name);
    out->signature = signature;
    for (size_t i = 0; i < KM_MAX_PARAMS; i++)
        out->value[i] = (KmValue) {.number = NAN};
    KM_TRY(match_arguments(ctx, signature, node, &matched));
    KM_TRY(bind_values(ctx, signature, node, &matched, out));
    rewrite_call(signature, out, &matched, node);
    return KM_OK;
}

/* ---- access ---- */

const KmValue *
km_arg(const KmArgs *args, const char *name)
{
    static const KmValue absent = {.number = NAN};
    size_t index = find_param(args->signature, name);

    return index < KM_MAX_PARAMS ? &args->value[index] : &absent;
}

double
km_arg_number(const KmArgs *args, const char *name)
{
    return km_arg(args, name)->number;
}

bool
km_arg_is(const KmArgs *args, const char *name, const char *word)
{
    const KmValue *value = km_arg(args, name);

    return value->kind == KM_KIND_WORD && strcmp(value->word, word) == 0;
}

KmStatus
km_arg_standard(KmContext *ctx, const KmArgs *args, const char *name, KmNode **out)
{
    return parse_standard(ctx, &args->signature->params[find_param(args->signature, name)], out);
}
