/*
 * pipeline.c: the steps of a learner in sequence, and fitting a learner to rows.
 *
 * Fitting goes step by step: learn constants from the rows as they are after the steps before,
 * write them into a copy of the learner's syntax, map all rows; then the estimator.  Where an exact
 * feature map is last before an estimator from sums, rows stream into an accumulator instead.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accumulator.h"
#include "learner.h"
#include "linear.h"
#include "signature_value.h"
#include "sizes.h"

#define MANY_CLASSES 100        /* more than these, … */
#define MANY_ROWS_EACH 4        /* … with fewer rows each, look like a regression's target */

/* ---- steps in sequence ---- */

typedef struct Chain
{
    size_t n;
    KmStep *step;
    double *between[2];         /* rows between steps, KM_SCORE_ROWS each, by turns */
} Chain;

/* The last step by one of its two ways. */
static KmStatus
run_chain(KmContext *ctx, const KmStep *self, bool plain, size_t m, const double *x, double *z)
{
    const Chain *chain = self->state;

    if (chain->n == 0)
        memcpy(z, x, m * self->d_in * sizeof *z);
    for (size_t i = 0; i < chain->n; i++)
    {
        const KmStep *step = &chain->step[i];
        bool last = i + 1 == chain->n;
        double *to = last ? z : chain->between[i % 2];

        KM_TRY((last && plain ? step->apply_plain : step->apply)(ctx, step, m, x, to));
        x = to;
    }
    return KM_OK;
}

static KmStatus
apply_chain(KmContext *ctx, const KmStep *self, size_t m, const double *x, double *z)
{
    return run_chain(ctx, self, false, m, x, z);
}

static KmStatus
apply_chain_plain(KmContext *ctx, const KmStep *self, size_t m, const double *x, double *a)
{
    return run_chain(ctx, self, true, m, x, a);
}

/* x = o + s (o_i + s_i z) for the steps one after the other. */
static KmStatus
undo_chain(KmContext *ctx, const KmStep *self, double *origin, double *size)
{
    const Chain *chain = self->state;
    double *o, *s;

    KM_TRY(km_alloc(ctx, self->d_in, &o));
    KM_TRY(km_alloc(ctx, self->d_in, &s));
    for (size_t j = 0; j < self->d_in; j++)
    {
        origin[j] = 0;
        size[j] = 1;
    }
    for (size_t i = 0; i < chain->n; i++)
    {
        KM_TRY(chain->step[i].undo(ctx, &chain->step[i], o, s));
        for (size_t j = 0; j < self->d_in; j++)
        {
            origin[j] += size[j] * o[j];
            size[j] *= s[j];
        }
    }
    km_free(ctx, o);
    km_free(ctx, s);
    return KM_OK;
}

static bool
can_undo(const Chain *chain)
{
    for (size_t i = 0; i < chain->n; i++)
        if (chain->step[i].undo == NULL)
            return false;
    return true;
}

static KmStatus
prepare_stage(KmContext *ctx, const KmStage *stage, size_t d, KmStep *out)
{
    bool resolved;

    KM_TRY(stage->type->is_resolved(ctx, &stage->args, &resolved));
    if (!resolved)
    {
        km_fail(ctx, KM_UNSUPPORTED, "step \"%s\" has no constants yet", stage->type->signature.name);
        return km_hint(ctx, KM_UNSUPPORTED, "Fit the steps first: learner(model) gives them with constants.");
    }
    KM_TRY(stage->type->prepare(ctx, &stage->args, d, out));
    out->name = stage->type->signature.name;
    return KM_OK;
}

KmStatus
km_steps_prepare(KmContext *ctx, const KmLearner *learner, size_t d, KmStep *out)
{
    size_t n = learner->n_steps;
    size_t d_in = d, widest = 0;
    Chain *chain;

    KM_TRY(km_alloc(ctx, 1, &chain));
    KM_TRY(km_alloc(ctx, n, &chain->step));
    chain->n = n;
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(prepare_stage(ctx, &learner->step[i], d, &chain->step[i]));
        d = chain->step[i].d_out;
        if (i + 1 < n && d > widest)
            widest = d;
    }
    for (size_t i = 0; i < 2; i++)
        KM_TRY(km_alloc_bytes(ctx, widest, KM_SCORE_ROWS * sizeof(double), (void **) &chain->between[i]));
    *out = (KmStep) {.d_in = d_in, .d_out = d, .state = chain, .apply = apply_chain,
                     .undo = can_undo(chain) ? undo_chain : NULL};
    if (n == 0 || chain->step[n - 1].apply_plain == NULL)
        return KM_OK;
    out->apply_plain = apply_chain_plain;
    return KM_OK;
}

/* ---- checks before a fit ---- */

static KmStatus
check_targets(KmContext *ctx, const KmLearner *learner, const KmTable *table)
{
    KmTargetKind target = km_learner_target(learner);

    if (target == KM_TARGET_LABEL && (table->label == NULL || table->classes == NULL))
        return km_fail(ctx, KM_INVALID, "%s needs labels", learner->estimator->signature.name);
    if (target != KM_TARGET_NUMBER)
        return KM_OK;
    if (table->y == NULL || table->n_targets == 0)
        return km_fail(ctx, KM_INVALID, "%s needs a numeric target", learner->estimator->signature.name);
    for (size_t i = 0; i < table->n * table->n_targets; i++)
        if (!isfinite(table->y[i]))
            return km_fail(ctx, KM_DATA, "target is %s", isnan(table->y[i]) ? "NaN" : "infinite");
    return KM_OK;
}

static KmStatus
check_table(KmContext *ctx, const KmLearner *learner, const KmTable *table)
{
    if (table->n == 0)
        return km_fail(ctx, KM_DATA, "no rows to fit");
    if (table->d == 0)
        return km_fail(ctx, KM_DIMENSION, "rows must have at least one feature");
    if (table->d > KM_MODEL_MAX_FEATURES)
        return km_fail(ctx, KM_LIMIT, "rows have %zu features, the limit is %zu", table->d,
                       KM_MODEL_MAX_FEATURES);
    for (size_t i = 0; i < table->n; i++)
    {
        if (i % KM_SCORE_ROWS == 0)
            KM_TRY(km_poll(ctx));
        KM_TRY(km_row_check(ctx, table->d, table->x + i * table->d, km_learner_takes_missing(learner)));
    }
    return check_targets(ctx, learner, table);
}

/* The parameter of the first grid below node; not `chosen`, a name or NULL.  NULL: there is none. */
static const char *
name_of_grid(const KmNode *node, const char *chosen)
{
    for (size_t i = 0; i < node->n; i++)
    {
        const char *key = node->key == NULL ? NULL : node->key[i];
        const char *found = km_is_grid(node->item[i]) ? key : name_of_grid(node->item[i], chosen);

        if (found != NULL && (chosen == NULL || strcmp(found, chosen) != 0))
            return found;
    }
    return NULL;
}

/* "select=loo or select=gcv" */
static void
list_criteria(const KmEstimatorType *estimator, size_t size, char *out)
{
    const KmParam *param = estimator->signature.params;
    size_t length = 0;

    while (strcmp(param->name, "select") != 0)
        param++;
    for (const char *const *word = param->words; *word != NULL && length < size; word++)
        length += (size_t) snprintf(out + length, size - length, "%sselect=%s", length > 0 ? " or " : "",
                                    *word);
}

static KmStatus
check_grid(KmContext *ctx, const KmLearner *learner)
{
    const KmEstimatorType *estimator = learner->estimator;
    const char *path = estimator == NULL ? NULL : estimator->path, *name;
    bool through = path != NULL && km_estimator_goes_through(estimator, &learner->args, path);
    char criteria[100];

    if (!learner->has_grid)
        return KM_OK;
    name = name_of_grid(learner->node, through ? path : NULL);
    km_fail(ctx, KM_UNSUPPORTED, "a learner with a grid of values cannot be fitted");
    if (name == NULL)
        return km_hint(ctx, KM_UNSUPPORTED, "Give one value for each parameter.");
    if (path == NULL || strcmp(name, path) != 0)
        return km_hint(ctx, KM_UNSUPPORTED, "Give one value for %s.", name);
    list_criteria(estimator, sizeof criteria, criteria);
    return km_hint(ctx, KM_UNSUPPORTED, "Give one value for %s, or %s to choose it.", name, criteria);
}

/* Numbers of which nearly every row has its own are hardly names of classes. */
static void
note_many_classes(KmContext *ctx, const KmLearner *learner, const KmTable *table)
{
    const KmClasses *classes = table->classes;

    if (km_learner_target(learner) == KM_TARGET_LABEL && classes->kind == KM_LABEL_NUMBER &&
        classes->n > MANY_CLASSES && classes->n > table->n / MANY_ROWS_EACH)
        km_notice(ctx, "%s: %zu classes in %zu rows; for a number as target use svr, krr or ridge",
                  km_learner_name(learner), classes->n, table->n);
}

static KmStatus
check_size(KmContext *ctx, const KmModel *model)
{
    size_t bytes = km_model_encoded_size(model);

    if (bytes <= KM_MODEL_MAX_BYTES)
        return KM_OK;
    km_fail(ctx, KM_LIMIT, "model has %zu bytes, the limit is %zu", bytes, KM_MODEL_MAX_BYTES);
    return km_hint(ctx, KM_LIMIT, "Fit fewer rows, or put rff before a linear estimator.");
}

/* ---- fitting ---- */

/* Fail where a step made a value that is not finite. */
static KmStatus
check_mapped(KmContext *ctx, const KmStage *stage, size_t m, size_t d, const double *z)
{
    for (size_t i = 0; i < m * d; i++)
        if (!isfinite(z[i]))
            return km_fail(ctx, KM_RANGE, "feature %zu after %s is too large for double precision", i % d + 1,
                           stage->type->signature.name);
    return KM_OK;
}

/* Replace the table's rows by the step's features of them; the new rows are ours. */
static KmStatus
map_rows(KmContext *ctx, const KmStage *stage, const KmStep *step, KmTable *table)
{
    char what[100];
    double *z;

    snprintf(what, sizeof what, "%s on %zu rows", stage->type->signature.name, table->n);
    KM_TRY(km_reserve(ctx, (double) table->n * step->d_out * sizeof(double), what, NULL));
    KM_TRY(km_alloc_bytes(ctx, table->n, step->d_out * sizeof(double), (void **) &z));
    for (size_t i = 0; i < table->n; i += KM_SCORE_ROWS)
    {
        size_t m = min_size(table->n - i, KM_SCORE_ROWS);

        KM_TRY(km_poll(ctx));
        KM_TRY(step->apply(ctx, step, m, table->x + i * step->d_in, z + i * step->d_out));
        KM_TRY(check_mapped(ctx, stage, m, step->d_out, z + i * step->d_out));
    }
    table->x = z;
    table->d = step->d_out;
    return KM_OK;
}

static KmStatus
resolve_stage(KmContext *ctx, KmStage *stage, const KmTable *table)
{
    const KmStepType *type = stage->type;
    bool resolved;

    KM_TRY(type->is_resolved(ctx, &stage->args, &resolved));
    if (resolved)
        return KM_OK;
    KM_TRY(type->resolve(ctx, &stage->args, stage->node, table->n, table->d, table->x, table->w));
    return km_signature_bind(ctx, &type->signature, stage->node, &stage->args);
}

/* Does the estimator make the features of the last step itself, or is there none that wants them? */
static bool
leaves_last(const KmLearner *learner)
{
    return learner->estimator == NULL || learner->estimator->fit_through != NULL;
}

/* Resolve all steps of the learner; rows: in, the raw rows; out, those after the steps, but for a last one
 * that is left to the estimator.  What the steps say of themselves becomes facts of `notes`.  *last: the last
 * step. */
static KmStatus
fit_steps(KmContext *ctx, KmLearner *learner, KmTable *rows, KmModel *notes, KmStep *last)
{
    const double *raw = rows->x;

    for (size_t i = 0; i < learner->n_steps; i++)
    {
        KmStage *stage = &learner->step[i];
        const double *before = rows->x;
        bool is_last = i + 1 == learner->n_steps, streams = false;

        KM_TRY(resolve_stage(ctx, stage, rows));
        KM_TRY(prepare_stage(ctx, stage, rows->d, last));
        if (is_last)
            KM_TRY(km_learner_streams(ctx, learner, &streams));
        if (stage->type->describe != NULL && !streams)
            KM_TRY(stage->type->describe(ctx, &stage->args, last, rows->n, rows->x, notes));
        if (is_last && leaves_last(learner))
            continue;
        KM_TRY(map_rows(ctx, stage, last, rows));
        if (before != raw)
            km_free(ctx, (double *) before);
    }
    return KM_OK;
}

static KmStatus
describe(KmContext *ctx, const KmLearner *learner, const KmTable *table, KmModel *model)
{
    KmText text = {0};

    KM_TRY(km_learner_print(ctx, learner, &text));
    model->learner = text.data;
    model->n_rows = table->n;
    model->n_skipped = table->n_skipped;
    model->n_features = table->d;
    if (km_learner_target(learner) == KM_TARGET_LABEL)
        model->classes = *table->classes;
    return KM_OK;
}

static KmStatus
fit_estimator(KmContext *ctx, KmLearner *learner, const KmTable *raw, const KmStep *last, const KmTable *rows,
              KmModel **out)
{
    const KmEstimatorType *estimator = learner->estimator;
    bool streams;

    KM_TRY(km_learner_streams(ctx, learner, &streams));
    if (streams)
        return km_sums_fit(ctx, learner, raw, out);
    KM_TRY(km_model_create(ctx, out));
    if (estimator != NULL && estimator->fit_through != NULL)
        KM_TRY(estimator->fit_through(ctx, &learner->args, learner->estimator_node,
                                      learner->n_steps > 0 ? last : NULL, rows, *out));
    else if (estimator != NULL)
        KM_TRY(estimator->fit(ctx, &learner->args, learner->estimator_node, rows, *out));
    return describe(ctx, learner, raw, *out);
}

static KmStatus
copy_facts(KmContext *ctx, const KmModel *from, KmModel *to)
{
    for (size_t i = 0; i < from->n_facts; i++)
        KM_TRY(km_model_add_fact(ctx, to, from->fact[i].name, from->fact[i].kind, from->fact[i].number));
    return KM_OK;
}

KmStatus
km_learner_fit(KmContext *ctx, const KmLearner *learner, const KmTable *table, KmModel **out)
{
    KmTable rows = *table;
    KmStep last = {0};
    KmLearner *resolved;
    KmModel *notes;

    KM_TRY(check_grid(ctx, learner));
    KM_TRY(check_table(ctx, learner, table));
    note_many_classes(ctx, learner, table);
    KM_TRY(km_learner_with_defaults(ctx, learner, &resolved));
    KM_TRY(km_model_create(ctx, &notes));
    KM_TRY(fit_steps(ctx, resolved, &rows, notes, &last));
    KM_TRY(fit_estimator(ctx, resolved, table, &last, &rows, out));
    if (resolved->estimator != NULL && resolved->estimator->linear)
        KM_TRY(km_linear_store_plain(ctx, &last, *out));
    KM_TRY(copy_facts(ctx, notes, *out));
    if (rows.x != table->x)
        km_free(ctx, (double *) rows.x);
    return check_size(ctx, *out);
}
