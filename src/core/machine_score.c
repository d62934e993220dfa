/*
 * machine_score.c: values of support vector machines (see machines.h for the arrays).
 *
 * A row's kernel values with all support rows are made once and serve every machine: expansion.h sums
 * them per class, and a machine's value is that of its terms.  The linear kernel without changes to its
 * columns needs no support rows: w = sum_i b_i x_i.
 */
#include "expansion.h"
#include "machines.h"
#include "platt.h"

#include <math.h>
#include <string.h>

/* A machine's support rows of one group, with their coefficients in one column. */
typedef struct Term
{
    size_t group, column;
} Term;

typedef struct Scorer
{
    size_t d;
    const KmArray *rows;        /* n_sv x d */
    const KmArray *coef;        /* n_sv x columns */
    const double *intercept;    /* n_out */
    size_t groups, *first;      /* support rows in groups: where each begins, and their end */
    size_t n_out;               /* machines */
    size_t n_terms;             /* of each machine */
    Term *term;                 /* n_out x n_terms */
    KmExpansion *expansion;
    size_t *place;              /* of each term in the sums of a row, n_out x n_terms */
    double *w;                  /* n_out x d, for the linear kernel */
    size_t k;                   /* classes of pairs */
    const KmSigmoid *sigmoid;   /* n_out; NULL: no probabilities */
    double *raw;                /* room for KM_SCORE_ROWS x n_out, and k */
    double *work;               /* probabilities of pairs, n_out; k x k */
} Scorer;

/* ---- values ---- */

/* A row's values from the sums of the expansion. */
static void
add_terms(const Scorer *scorer, const double *sum, double *out)
{
    const size_t *term = scorer->place;

    for (size_t o = 0; o < scorer->n_out; o++)
    {
        double value = 0;

        for (size_t t = 0; t < scorer->n_terms; t++)
            value += sum[*term++];
        out[o] = value + scorer->intercept[o];
    }
}

static KmStatus
run_kernel(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    const Scorer *scorer = score->state;
    const double *sum;

    KM_TRY(km_expansion_run(ctx, scorer->expansion, m, z, &sum));
    for (size_t i = 0; i < m; i++)
        add_terms(scorer, sum + i * km_expansion_stride(scorer->expansion), out + i * score->n_out);
    return KM_OK;
}

static KmStatus
run_linear(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    const Scorer *scorer = score->state;
    size_t d = scorer->d;

    (void) ctx;
    for (size_t i = 0; i < m; i++)
        for (size_t o = 0; o < score->n_out; o++)
            out[i * score->n_out + o] = km_dot_fixed(d, z + i * d, scorer->w + o * d) + scorer->intercept[o];
    return KM_OK;
}

/* ---- making ready ---- */

static void
add_term(const Scorer *scorer, const Term *term, double *w)
{
    size_t d = scorer->d, columns = scorer->coef->columns;

    for (size_t s = scorer->first[term->group]; s < scorer->first[term->group + 1]; s++)
        for (size_t j = 0; j < d; j++)
            w[j] += scorer->coef->data[s * columns + term->column] * scorer->rows->data[s * d + j];
}

static KmStatus
prepare_linear(KmContext *ctx, Scorer *scorer)
{
    KM_TRY(km_alloc_zero_bytes(ctx, scorer->n_out, scorer->d * sizeof *scorer->w, (void **) &scorer->w));
    for (size_t o = 0; o < scorer->n_out; o++)
        for (size_t t = 0; t < scorer->n_terms; t++)
            add_term(scorer, scorer->term + o * scorer->n_terms + t, scorer->w + o * scorer->d);
    return KM_OK;
}

static KmStatus
prepare_kernel(KmContext *ctx, const KmKernel *kernel, Scorer *scorer)
{
    size_t count = scorer->n_out * scorer->n_terms;

    KM_TRY(km_expansion_create(ctx, kernel, scorer->rows->rows, scorer->d, scorer->rows->data, scorer->groups,
                               scorer->first, scorer->coef->columns, scorer->coef->data, &scorer->expansion));
    KM_TRY(km_alloc(ctx, count, &scorer->place));
    for (size_t t = 0; t < count; t++)
        scorer->place[t] = km_expansion_at(scorer->expansion, scorer->term[t].group, scorer->term[t].column);
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, const KmArgs *args, Scorer *scorer, KmScore *out)
{
    KmKernel *kernel;

    KM_TRY(km_kernel_compile(ctx, km_arg(args, "kernel")->node, &kernel));
    *out = (KmScore) {.d = scorer->d, .n_out = scorer->n_out, .state = scorer, .run = run_kernel};
    if (!km_kernel_is_linear(kernel))
        return prepare_kernel(ctx, kernel, scorer);
    out->run = run_linear;
    return prepare_linear(ctx, scorer);
}

/* The arrays that every machine has; columns and n_out may be SIZE_MAX: any. */
static KmStatus
load(KmContext *ctx, const KmModel *model, size_t d, size_t columns, size_t n_out, Scorer **out)
{
    const KmArray *intercept;
    Scorer *scorer;

    KM_TRY(km_alloc_zero(ctx, 1, &scorer));
    scorer->d = d;
    KM_TRY(km_model_expect(ctx, model, "rows", SIZE_MAX, d, &scorer->rows));
    KM_TRY(km_model_expect(ctx, model, "coef", scorer->rows->rows, columns, &scorer->coef));
    KM_TRY(km_model_expect(ctx, model, "intercept", 1, n_out, &intercept));
    scorer->intercept = intercept->data;
    scorer->n_out = intercept->columns;
    *out = scorer;
    return KM_OK;
}

/* All support rows are one group, and each machine is a column of theirs. */
static KmStatus
use_one_group(KmContext *ctx, Scorer *scorer)
{
    scorer->groups = scorer->n_terms = 1;
    KM_TRY(km_alloc_zero(ctx, 2, &scorer->first));
    scorer->first[1] = scorer->rows->rows;
    KM_TRY(km_alloc(ctx, scorer->n_out, &scorer->term));
    for (size_t c = 0; c < scorer->n_out; c++)
        scorer->term[c] = (Term) {.group = 0, .column = c};
    return KM_OK;
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
    KM_TRY(km_alloc_bytes(ctx, scorer->n_out + k, KM_SCORE_ROWS * sizeof *scorer->raw, (void **) &scorer->raw));
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
use_classes(KmContext *ctx, size_t k, size_t *first, Scorer *scorer)
{
    Term *term;

    scorer->groups = k;
    scorer->first = first;
    scorer->n_terms = 2;
    KM_TRY(km_alloc(ctx, k * (k - 1), &scorer->term));
    term = scorer->term;
    for (size_t p = 0; p + 1 < k; p++)
        for (size_t q = p + 1; q < k; q++)
        {
            *term++ = (Term) {.group = p, .column = km_pair_column(p, q)};
            *term++ = (Term) {.group = q, .column = km_pair_column(q, p)};
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
    KM_TRY(find_classes(ctx, k, counts->data, scorer->rows->rows, &first));
    KM_TRY(k == 2 ? use_one_group(ctx, scorer) : use_classes(ctx, k, first, scorer));
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
    if (scorer->coef->columns != scorer->n_out || scorer->n_out == 0)
        return km_fail(ctx, KM_CORRUPT, "model has %zu columns of coefficients and %zu intercepts",
                       scorer->coef->columns, scorer->n_out);
    KM_TRY(use_one_group(ctx, scorer));
    return prepare(ctx, args, scorer, out);
}
