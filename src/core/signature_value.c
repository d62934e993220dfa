/*
 * signature_value.c: one argument against one parameter of a signature: which of
 * the accepted kinds it is, and whether its numbers lie in the range.
 */
#include "signature_value.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascii.h"

#define SUBJECT_LENGTH 200

/* What is being read, for the messages. */
typedef struct Target
{
    KmContext *ctx;
    const KmSignature *signature;
    const KmParam *param;
    KmNode *node;               /* the whole argument */
} Target;

/* ---- ranges ---- */

static bool
in_range(const KmParam *param, double value)
{
    return value >= param->min && value <= param->max && !(param->open && value == param->min);
}

/* "greater than 0 and at most 1"; a bound at the end of double precision is none. */
static void
describe_range(const KmParam *param, double value, size_t size, char *out)
{
    bool lower = param->min > -DBL_MAX, upper = param->max < DBL_MAX;
    char min[KM_NUMBER_SIZE], max[KM_NUMBER_SIZE];

    km_number_print(param->min, min);
    km_number_print(param->max, max);
    if (isinf(value) && !(value > 0 ? upper : lower))
        snprintf(out, size, "finite");
    else if (lower && upper && !param->open)
        snprintf(out, size, "between %s and %s", min, max);
    else if (lower && upper)
        snprintf(out, size, "greater than %s and at most %s", min, max);
    else if (lower)
        snprintf(out, size, "%s %s", param->open ? "greater than" : "at least", min);
    else
        snprintf(out, size, "at most %s", max);
}

/* subject: 'parameter "c"', 'element 2 of parameter "length_scale"'. */
static KmStatus
out_of_range(const Target *target, const KmNode *node, const char *subject, double value)
{
    char range[100], got[KM_NUMBER_SIZE];

    describe_range(target->param, value, sizeof range, range);
    km_number_print(value, got);
    return km_node_fail(target->ctx, node, "%s of %s must be %s, got %s", subject, target->signature->name,
                        range, got);
}

static KmStatus
check_scalar(const Target *target, unsigned kind, double value)
{
    char subject[SUBJECT_LENGTH], got[KM_NUMBER_SIZE];

    snprintf(subject, sizeof subject, "parameter \"%s\"", target->param->name);
    if (kind == KM_KIND_INTEGER && !(isfinite(value) && value == floor(value)))
    {
        km_number_print(value, got);
        return km_node_fail(target->ctx, target->node, "%s of %s must be a whole number, got %s", subject,
                            target->signature->name, got);
    }
    if (!in_range(target->param, value))
        return out_of_range(target, target->node, subject, value);
    return KM_OK;
}

/* ---- kinds ---- */

static void
describe_words(const KmParam *param, size_t size, char *out)
{
    size_t length = (size_t) snprintf(out, size, "%s", param->words[1] == NULL ? "" : "one of ");

    for (size_t i = 0; param->words[i] != NULL && length < size; i++)
        length += (size_t) snprintf(out + length, size - length, "%s%s", i > 0 ? ", " : "", param->words[i]);
}

/* "a number or one of auto, scale, median" */
static void
describe_kinds(const KmParam *param, size_t size, char *out)
{
    static const struct { unsigned kind; const char *text; } kinds[] = {
        {KM_KIND_NUMBER, "a number"}, {KM_KIND_INTEGER, "a whole number"},
        {KM_KIND_BOOL, "true or false"}, {KM_KIND_LIST, "a list of numbers"},
        {KM_KIND_MATRIX, "a matrix"}, {KM_KIND_MAP, "a map of labels to numbers"},
        {KM_KIND_KERNEL, "a kernel"}, {KM_KIND_WORD, NULL}};
    char words[200];
    size_t length = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && length < size; i++)
    {
        const char *text = kinds[i].text;

        if ((param->kinds & kinds[i].kind) == 0)
            continue;
        if (text == NULL)
        {
            describe_words(param, sizeof words, words);
            text = words;
        }
        length += (size_t) snprintf(out + length, size - length, "%s%s", length > 0 ? " or " : "", text);
    }
}

static KmStatus
wrong_kind(const Target *target)
{
    char kinds[300], number[KM_NUMBER_SIZE];
    const char *example = target->param->standard;

    if (km_is_grid(target->node))
        return km_node_fail(target->ctx, target->node, "a grid cannot stand for parameter \"%s\" of %s",
                            target->param->name, target->signature->name);
    describe_kinds(target->param, sizeof kinds, kinds);
    if (example != NULL && example[0] != '[')
        example = NULL;
    km_node_fail(target->ctx, target->node, "parameter \"%s\" of %s must be %s%s%s", target->param->name,
                 target->signature->name, kinds, example == NULL ? "" : ", such as ",
                 example == NULL ? "" : example);
    if (target->param->grid && target->node->kind == KM_NODE_LIST)
        return km_hint(target->ctx, KM_INVALID, "Several values to choose from are written grid(0.1, 1).");
    if (target->param->kinds != KM_KIND_KERNEL || target->node->kind != KM_NODE_NUMBER)
        return KM_INVALID;
    km_number_print(target->node->number, number);
    return km_hint(target->ctx, KM_INVALID,
                   "A kernel is such as rbf or linear; the constant one is constant(%s).", number);
}

static unsigned
number_kind(const KmParam *param)
{
    return param->kinds & KM_KIND_NUMBER ? KM_KIND_NUMBER : param->kinds & KM_KIND_INTEGER;
}

static KmStatus
read_number(const Target *target, KmValue *out)
{
    out->kind = number_kind(target->param);
    if (out->kind == 0)
        return wrong_kind(target);
    out->number = target->node->number;
    return check_scalar(target, out->kind, out->number);
}

static KmStatus
read_grid(const Target *target, KmValue *out)
{
    out->kind = number_kind(target->param);
    if (out->kind == 0 || !target->param->grid)
        return wrong_kind(target);
    out->grid = true;
    out->columns = 1;
    KM_TRY(km_grid_values(target->ctx, target->node, &out->rows, &out->list));
    for (size_t i = 0; i < out->rows; i++)
        KM_TRY(check_scalar(target, out->kind, out->list[i]));
    return KM_OK;
}

/* The word of the table that the text spells, NULL if none; text in any case. */
static const char *
find_word(const KmParam *param, const char *text)
{
    for (const char *const *word = param->words; word != NULL && *word != NULL; word++)
    {
        size_t i = 0;

        while (text[i] != '\0' && km_to_lower(text[i]) == (*word)[i])
            i++;
        if (text[i] == '\0' && (*word)[i] == '\0')
            return *word;
    }
    return NULL;
}

static KmStatus
read_word(const Target *target, KmValue *out)
{
    KmNode *node = target->node;
    const char *word = target->param->kinds & KM_KIND_WORD ? find_word(target->param, node->text) : NULL;
    bool truth = strcmp(node->text, "true") == 0;

    if (word != NULL)
    {
        out->kind = KM_KIND_WORD;
        out->word = word;
        node->kind = KM_NODE_NAME;
        node->text = word;
        return KM_OK;
    }
    if (node->kind == KM_NODE_NAME && target->param->kinds & KM_KIND_BOOL &&
        (truth || strcmp(node->text, "false") == 0))
    {
        out->kind = KM_KIND_BOOL;
        out->number = truth;
        return KM_OK;
    }
    return wrong_kind(target);
}

/* ---- lists, matrices, maps ---- */

static void
describe_element(const Target *target, size_t row, size_t column, size_t size, char *out)
{
    const KmNode *node = target->node;
    char quoted[KM_QUOTE_SIZE];

    if (node->kind == KM_NODE_MAP)
        snprintf(out, size, "number of label '%s' in parameter \"%s\"", km_quote(node->key[row], quoted),
                 target->param->name);
    else if (node->item[0]->kind == KM_NODE_LIST)
        snprintf(out, size, "element [%zu,%zu] of parameter \"%s\"", row + 1, column + 1,
                 target->param->name);
    else
        snprintf(out, size, "element %zu of parameter \"%s\"", row + 1, target->param->name);
}

/* The number at (row, column) of a matrix, or at row of a list or map. */
static KmStatus
read_element(const Target *target, size_t row, size_t column, const KmNode *node, double *out)
{
    char subject[SUBJECT_LENGTH];

    *out = node->number;
    if (node->kind == KM_NODE_NUMBER && in_range(target->param, node->number))
        return KM_OK;
    describe_element(target, row, column, sizeof subject, subject);
    if (node->kind == KM_NODE_NUMBER)
        return out_of_range(target, node, subject, node->number);
    if (km_is_grid(node))
        return km_node_fail(target->ctx, node, "a grid cannot stand inside a list");
    return km_node_fail(target->ctx, node, "%s of %s must be a number", subject, target->signature->name);
}

static KmStatus
refuse_empty(const Target *target)
{
    if (target->node->n > 0)
        return KM_OK;
    return km_node_fail(target->ctx, target->node, "parameter \"%s\" of %s must not be empty",
                        target->param->name, target->signature->name);
}

static KmStatus
read_elements(const Target *target, KmValue *out)
{
    const KmNode *node = target->node;

    out->rows = node->n;
    out->columns = 1;
    KM_TRY(km_alloc(target->ctx, node->n, &out->list));
    for (size_t i = 0; i < node->n; i++)
        KM_TRY(read_element(target, i, 0, node->item[i], &out->list[i]));
    return KM_OK;
}

static KmStatus
check_row(const Target *target, size_t row, size_t columns)
{
    const KmNode *node = target->node->item[row];

    if (node->kind != KM_NODE_LIST)
        return km_node_fail(target->ctx, node, "row %zu of parameter \"%s\" of %s must be a list of numbers",
                            row + 1, target->param->name, target->signature->name);
    if (node->n != columns || columns == 0)
        return km_node_fail(target->ctx, node,
                            "row %zu of parameter \"%s\" of %s has %zu numbers, expected %zu",
                            row + 1, target->param->name, target->signature->name, node->n,
                            columns > 0 ? columns : 1);
    return KM_OK;
}

static KmStatus
read_matrix(const Target *target, KmValue *out)
{
    const KmNode *node = target->node;
    size_t columns = node->item[0]->n;

    out->kind = KM_KIND_MATRIX;
    out->rows = node->n;
    out->columns = columns;
    for (size_t i = 0; i < node->n; i++)
        KM_TRY(check_row(target, i, columns));
    KM_TRY(km_alloc(target->ctx, node->n * columns, &out->list));
    for (size_t i = 0; i < node->n; i++)
        for (size_t j = 0; j < columns; j++)
            KM_TRY(read_element(target, i, j, node->item[i]->item[j], &out->list[i * columns + j]));
    return KM_OK;
}

static KmStatus
read_list(const Target *target, KmValue *out)
{
    const KmNode *node = target->node;
    bool nested = node->n > 0 && node->item[0]->kind == KM_NODE_LIST;

    if (!(target->param->kinds & (nested ? KM_KIND_MATRIX : KM_KIND_LIST | KM_KIND_MATRIX)))
        return wrong_kind(target);
    KM_TRY(refuse_empty(target));
    if (nested)
        return read_matrix(target, out);
    if (!(target->param->kinds & KM_KIND_LIST))
        return wrong_kind(target);
    out->kind = KM_KIND_LIST;
    return read_elements(target, out);
}

static int
compare_labels(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static KmStatus
check_labels(const Target *target)
{
    const KmNode *node = target->node;
    const char **sorted;
    char quoted[KM_QUOTE_SIZE];

    KM_TRY(km_alloc(target->ctx, node->n, &sorted));
    memcpy(sorted, node->key, node->n * sizeof *sorted);
    qsort(sorted, node->n, sizeof *sorted, compare_labels);
    for (size_t i = 1; i < node->n; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return km_node_fail(target->ctx, node, "label '%s' stands twice in parameter \"%s\" of %s",
                                km_quote(sorted[i], quoted), target->param->name, target->signature->name);
    km_free(target->ctx, sorted);
    return KM_OK;
}

static KmStatus
read_map(const Target *target, KmValue *out)
{
    const KmNode *node = target->node;

    if (!(target->param->kinds & KM_KIND_MAP))
        return wrong_kind(target);
    KM_TRY(refuse_empty(target));
    out->kind = KM_KIND_MAP;
    out->label = node->key;
    KM_TRY(check_labels(target));
    return read_elements(target, out);
}

KmStatus
km_param_value(KmContext *ctx, const KmSignature *signature, const KmParam *param, KmNode *node, KmValue *out)
{
    Target target = {ctx, signature, param, node};

    *out = (KmValue) {.number = NAN, .node = node};
    if (km_is_grid(node))
        return read_grid(&target, out);
    switch (node->kind)
    {
        case KM_NODE_NUMBER:
            return read_number(&target, out);
        case KM_NODE_LIST:
            return read_list(&target, out);
        case KM_NODE_MAP:
            return read_map(&target, out);
        case KM_NODE_STRING:
            return read_word(&target, out);
        case KM_NODE_NAME:
            if (!(param->kinds & KM_KIND_KERNEL) || find_word(param, node->text) != NULL)
                return read_word(&target, out);
            break;
        case KM_NODE_PIPE:
            return wrong_kind(&target);
        default:
            break;
    }
    if (!(param->kinds & KM_KIND_KERNEL))
        return wrong_kind(&target);
    out->kind = KM_KIND_KERNEL;
    return KM_OK;
}
