/*
 * multiclass.h: what classifiers share: weights of classes, and whether a function stands for a pair of
 * classes or for one class against the rest.
 */
#ifndef KM_MULTICLASS_H
#define KM_MULTICLASS_H

#include "data.h"
#include "signature.h"

extern const char *const km_class_weight_words[], *const km_multiclass_words[];

#define KM_PARAM_CLASS_WEIGHT \
    {.name = "class_weight", .kinds = KM_KIND_WORD | KM_KIND_MAP, .min = 0, .max = 1e300, \
     .words = km_class_weight_words}
/* The same without 0. */
#define KM_PARAM_POSITIVE_CLASS_WEIGHT \
    {.name = "class_weight", .kinds = KM_KIND_WORD | KM_KIND_MAP, .min = 0, .max = 1e300, .open = true, \
     .words = km_class_weight_words}
#define KM_PARAM_MULTICLASS \
    {.name = "multiclass", .kinds = KM_KIND_WORD, .standard = "ovo", .words = km_multiclass_words}

/* Fail unless the table has two classes or more; what: "logistic". */
extern KmStatus km_classes_check(KmContext *ctx, const char *what, const KmTable *table);
/* The weight of each class: as given, n / (k n_c) with rows counted by weight (balanced), or 1. */
extern KmStatus km_class_weights(KmContext *ctx, const KmArgs *args, const KmTable *table, double *weight);
/* The table with each row's weight multiplied by its class's. */
extern KmStatus km_class_weights_apply(KmContext *ctx, const KmArgs *args, const KmTable *table,
                                       KmTable *out);
/* multiclass=ovr, where it makes a difference. */
extern bool km_is_one_vs_rest(const KmArgs *args, size_t k);

#endif
