/*
 * machine_score.c: values of support vector machines (see machines.h for the arrays).
 *
 * A row's kernel values with all support rows are made once and serve every machine: expansion.h sums
 * them per class, and a machine's value is that of its terms.
 */
#include "expansion.h"
#include "machines.h"
#include "platt.h"

#include <math.h>

typedef struct Scorer
{
    KmExpansionParts parts;     /* outputs are machines */
    const double *intercept;    /* n_out */
    KmExpansion *expansion;
    size_t n_out;
    size_t k;                   /* classes of pairs */
    const KmSigmoid *sigmoid;   /* n_out; NULL: no probabilities */
    double *raw;                /* room for KM_SCORE_ROWS x n_out, and k */
    double *work;               /* probabilities of pairs, n_out; k x k */
} Scorer;

static KmStatus
run(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    const Scorer *scorer = score->state;

    return km_expansion_run(ctx, scorer->expansion, m, z, out);
}

/* ---- making ready ---- */

/* The arrays that every machine has; columns and n_out may be SIZE_MAX: any. */
static KmStatus
load(KmContext *ctx, const KmModel *model, size_t d, size_t columns, size_t n_out, Scorer **out)
{
    const KmArray *rows, *coef, *intercept;
    Scorer *scorer;

    KM_TRY(km_model_expect(ctx, model, "rows", SIZE_MAX, d, &rows));
    KM_TRY(km_model_expect(ctx, model, "coef", rows->rows, columns, &coef));
    KM_TRY(km_model_expect(ctx, model, "intercept", 1, n_out, &intercept));
    KM_TRY(km_alloc_zero(ctx, 1, &scorer));
    scorer->parts = (KmExpansionParts) {.n = rows->rows, .d = d, .columns = coef->columns, .rows = rows->data,
                                        .coef = coef->data};
    scorer->intercept = intercept->data;
    scorer->n_out = intercept->columns;
    *out = scorer;
    return KM_OK;
}

/* The expansion, whose columns are the machines unless there are pairs of classes. */
static KmStatus
prepare(KmContext *ctx, const KmArgs *args, Scorer *scorer, KmScore *out)
{
    const KmExpansionParts *parts = &scorer->parts;
    KmKernel *kernel;

    KM_TRY(km_kernel_of(ctx, args, &kernel));
    *out = (KmScore) {.d = parts->d, .n_out = scorer->n_out, .state = scorer, .run = run};
    if (parts->term != NULL)
        return km_expansion_create(ctx, kernel, parts, scorer->intercept, &scorer->expansion);
    return km_expansion_create_columns(ctx, kernel, parts->n, parts->d, parts->rows, parts->columns,
                                       parts->coef, scorer->intercept, &scorer->expansion);
}

/* ---- probabilities ---- */

/* P(class | row), k of them, from the row's values. */
static void
couple(const Scorer *scorer, const double *values, double *out)
{
    double *second = scorer->work;

    for (size_t pair = 0; pair < scorer->n_out; pair++)
        second[pair] = km_sigmoid_value(&scorer->sigmoid[pair], values[pair]);
    if (scorer->k > 2)
        km_couple_pairs(scorer->k, second, second + scorer->n_out, out);
    else
    {
        out[0] = 1 - second[0];
        out[1] = second[0];
    }
}

static KmStatus
proba(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    const Scorer *scorer = score->state;

    KM_TRY(score->run(ctx, score, m, z, scorer->raw));
    for (size_t i = 0; i < m; i++)
        couple(scorer, scorer->raw + i * scorer->n_out, out + i * scorer->k);
    return KM_OK;
}

/* The most probable class, the earlier of equals. */
static size_t
probable_class(const KmScore *score, const double *values)
{
    const Scorer *scorer = score->state;
    size_t best = 0;

    couple(scorer, values, scorer->raw);
    for (size_t c = 1; c < scorer->k; c++)
        if (scorer->raw[c] > scorer->raw[best])
            best = c;
    return best;
}

static KmStatus
prepare_proba(KmContext *ctx, const KmModel *model, Scorer *scorer, KmScore *out)
{
    size_t k = model->classes.n;
    const KmArray *sigmoid;

    if (km_model_array(model, "sigmoid") == NULL)
        return KM_OK;
    KM_TRY(km_model_expect(ctx, model, "sigmoid", scorer->n_out, 2, &sigmoid));
    KM_TRY(km_alloc_bytes(ctx, scorer->n_out + k, KM_SCORE_ROWS * sizeof *scorer->raw,
                          (void **) &scorer->raw));
    KM_TRY(km_alloc_bytes(ctx, scorer->n_out + k * k, sizeof *scorer->work, (void **) &scorer->work));
    scorer->k = k;
    scorer->sigmoid = (const KmSigmoid *) sigmoid->data;
    out->proba = proba;
    out->class_of = probable_class;
    return KM_OK;
}

/* ---- pairs ---- */

/* first[c]: where the support rows of class c of k begin, from whole counts that add up to the rows. */
static KmStatus
find_classes(KmContext *ctx, size_t k, const double *counts, size_t n_sv, size_t **first)
{
    KM_TRY(km_alloc_zero(ctx, k + 1, first));
    for (size_t c = 0; c < k; c++)
    {
        size_t left = n_sv - (*first)[c];

        if (!(counts[c] >= 0 && counts[c] <= (double) left) || counts[c] != floor(counts[c]))
            return km_fail(ctx, KM_CORRUPT, "class %zu has %g of %zu support rows", c + 1, counts[c], n_sv);
        (*first)[c + 1] = (*first)[c] + (size_t) counts[c];
    }
    if ((*first)[k] != n_sv || n_sv == 0)
        return km_fail(ctx, KM_CORRUPT, "model has %zu support rows, its classes %zu", n_sv, (*first)[k]);
    return KM_OK;
}

/* A class is a group; the machine of two has a term of either. */
static KmStatus
use_classes(KmContext *ctx, size_t k, const size_t *first, Scorer *scorer)
{
    KmTerm *term;

    KM_TRY(km_alloc(ctx, k * (k - 1), &term));
    scorer->parts.groups = k;
    scorer->parts.first = first;
    scorer->parts.n_out = scorer->n_out;
    scorer->parts.n_terms = 2;
    scorer->parts.term = term;
    for (size_t p = 0; p + 1 < k; p++)
        for (size_t q = p + 1; q < k; q++)
        {
            *term++ = (KmTerm) {.group = p, .column = km_pair_column(p, q)};
            *term++ = (KmTerm) {.group = q, .column = km_pair_column(q, p)};
        }
    return KM_OK;
}

/* The one machine of two classes is a column of all its support rows. */
KmStatus
km_machine_prepare_pairs(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    size_t k = model->classes.n, *first;
    const KmArray *counts;
    Scorer *scorer;

    if (k < 2)
        return km_fail(ctx, KM_CORRUPT, "model has %zu classes", k);
    KM_TRY(load(ctx, model, d, k - 1, k * (k - 1) / 2, &scorer));
    KM_TRY(km_model_expect(ctx, model, "counts", 1, k, &counts));
    KM_TRY(find_classes(ctx, k, counts->data, scorer->parts.n, &first));
    if (k > 2)
        KM_TRY(use_classes(ctx, k, first, scorer));
    KM_TRY(prepare(ctx, args, scorer, out));
    out->decision = KM_DECISION_PAIRS;
    return prepare_proba(ctx, model, scorer, out);
}

/* ---- columns ---- */

KmStatus
km_machine_prepare_columns(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    Scorer *scorer;

    KM_TRY(load(ctx, model, d, SIZE_MAX, SIZE_MAX, &scorer));
    if (scorer->parts.columns != scorer->n_out || scorer->n_out == 0)
        return km_fail(ctx, KM_CORRUPT, "model has %zu columns of coefficients and %zu intercepts",
                       scorer->parts.columns, scorer->n_out);
    return prepare(ctx, args, scorer, out);
}
