/* multiclass.c: what classifiers share (see multiclass.h). */
#include "multiclass.h"

#include <string.h>

#include "machines.h"

const char *const km_class_weight_words[] = {"balanced", NULL};
const char *const km_multiclass_words[] = {"ovo", "ovr", NULL};

KmStatus
km_classes_check(KmContext *ctx, const char *what, const KmTable *table)
{
    char quoted[KM_QUOTE_SIZE];

    if (table->classes->n >= 2)
        return KM_OK;
    return km_fail(ctx, KM_DATA, "%s needs at least two classes, found only \"%s\"", what,
                   km_quote(table->classes->text[0], quoted));
}

static KmStatus
find_class(KmContext *ctx, const KmClasses *classes, const char *key, size_t *out)
{
    char quoted[KM_QUOTE_SIZE];

    *out = km_classes_find(classes, key);
    if (*out < classes->n)
        return KM_OK;
    km_fail(ctx, KM_INVALID, "class_weight names \"%s\", which is none of the classes",
            km_quote(key, quoted));
    return km_hint(ctx, KM_INVALID, "Write labels as they are printed, the first of them here is \"%s\".",
                   km_quote(classes->text[0], quoted));
}

static void
balance_classes(const KmTable *table, size_t k, double *weight)
{
    double total = 0;

    memset(weight, 0, k * sizeof *weight);
    for (size_t i = 0; i < table->n; i++)
    {
        weight[table->label[i]] += km_table_weight(table, i);
        total += km_table_weight(table, i);
    }
    for (size_t c = 0; c < k; c++)
        weight[c] = total / ((double) k * weight[c]);
}

KmStatus
km_class_weights(KmContext *ctx, const KmArgs *args, const KmTable *table, double *weight)
{
    const KmValue *value = km_arg(args, "class_weight");
    size_t c, k = table->classes->n;

    for (c = 0; c < k; c++)
        weight[c] = 1;
    if (value->kind == KM_KIND_WORD)
        balance_classes(table, k, weight);
    for (size_t r = 0; value->kind == KM_KIND_MAP && r < value->rows; r++)
    {
        KM_TRY(find_class(ctx, table->classes, value->label[r], &c));
        weight[c] = value->list[r];
    }
    return KM_OK;
}

KmStatus
km_class_weights_apply(KmContext *ctx, const KmArgs *args, const KmTable *table, KmTable *out)
{
    double *of_class, *of_row;

    *out = *table;
    if (km_arg(args, "class_weight")->kind == 0)
        return KM_OK;
    KM_TRY(km_alloc(ctx, table->classes->n, &of_class));
    KM_TRY(km_alloc(ctx, table->n, &of_row));
    KM_TRY(km_class_weights(ctx, args, table, of_class));
    for (size_t i = 0; i < table->n; i++)
        of_row[i] = of_class[table->label[i]] * km_table_weight(table, i);
    km_free(ctx, of_class);
    out->w = of_row;
    return KM_OK;
}

bool
km_is_one_vs_rest(const KmArgs *args, size_t k)
{
    return k > 2 && km_arg_is(args, "multiclass", "ovr");
}
