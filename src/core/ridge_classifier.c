/*
 * ridge_classifier.c: classes by ridge regression, the estimator ridge_classifier.
 *
 * Two classes: a target of -1 for the first and +1 for the second.  More: a target for each class, +1 for its
 * rows and -1 for the others (one-vs-rest); the largest value wins.
 */
#include <float.h>
#include <stdio.h>

#include "learner_types.h"
#include "linear.h"
#include "multiclass.h"
#include "ridge.h"

/* y (n x m), m = 1 for two classes, else one for each. */
static KmStatus
make_targets(KmContext *ctx, const KmTable *table, size_t m, double **out)
{
    char what[100];

    snprintf(what, sizeof what, "ridge_classifier on %zu rows of %zu classes", table->n, table->classes->n);
    KM_TRY(km_reserve(ctx, 8.0 * (double) table->n * (double) m, what, NULL));
    KM_TRY(km_alloc_bytes(ctx, table->n, m * sizeof **out, (void **) out));
    for (size_t i = 0; i < table->n; i++)
        for (size_t t = 0; t < m; t++)
            (*out)[i * m + t] = table->label[i] == (m == 1 ? 1 : t) ? 1 : -1;
    return KM_OK;
}

static KmStatus
fit_through(KmContext *ctx, const KmArgs *args, KmNode *node, const KmStep *step, const KmTable *table,
            KmModel *model)
{
    size_t k = table->classes->n, m = k == 2 ? 1 : k;
    KmTable targets;
    KmRidgeFit fit;
    double *y;

    (void) node;
    KM_TRY(km_classes_check(ctx, "ridge_classifier", table));
    KM_TRY(km_class_weights_apply(ctx, args, table, &targets));
    KM_TRY(make_targets(ctx, table, m, &y));
    targets.n_targets = m;
    targets.y = y;
    KM_TRY(km_ridge_fit(ctx, args, step, &targets, &fit));
    km_free(ctx, y);
    return km_linear_store(ctx, "ridge_classifier", fit.d, m, fit.w, fit.intercept, model);
}

static KmStatus
fit(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model)
{
    return fit_through(ctx, args, node, NULL, table, model);
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    (void) args;
    return km_linear_prepare(ctx, model, d, KM_DECISION_CLASSES, out);
}

const KmEstimatorType km_estimator_ridge_classifier = {
    .signature = {
        .name = "ridge_classifier",
        .what = "estimator",
        .params = {
            {.name = "lambda", .alias = "alpha", .kinds = KM_KIND_NUMBER, .standard = "1", .min = 0,
             .max = DBL_MAX, .grid = true, .positional = true},
            {.name = "intercept", .kinds = KM_KIND_BOOL, .standard = "true", .positional = true},
            KM_PARAM_POSITIVE_CLASS_WEIGHT,
        },
    },
    .target = KM_TARGET_LABEL,
    .linear = true,
    .fit = fit,
    .fit_through = fit_through,
    .prepare = prepare,
};
