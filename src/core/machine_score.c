/*
 * machine_score.c: values of support vector machines (see machines.h for the arrays).
 *
 * A row's kernel values with all support rows are made once and serve every machine.  The linear
 * kernel without changes to its columns needs no support rows: w = sum_i b_i x_i.
 */
#include "machines.h"
#include "platt.h"

#include <math.h>
#include <string.h>

/* Support rows first … first + n - 1 with their coefficients in one machine. */
typedef struct Term
{
    size_t first, n;
    const double *coef;
} Term;

typedef struct Scorer
{
    size_t d, n_sv;
    const double *rows;         /* n_sv x d */
    const double *intercept;    /* n_out */
    size_t columns;
    double *coef;               /* columns x n_sv */
    size_t n_out;               /* machines */
    size_t n_terms;             /* of each machine */
    Term *term;                 /* n_out x n_terms */
    KmTarget *target;
    size_t stride;
    double *values;             /* KM_SCORE_ROWS x stride */
    double *w;                  /* n_out x d, for the linear kernel */
    size_t k;                   /* classes of pairs */
    const KmSigmoid *sigmoid;   /* n_out; NULL: no probabilities */
    double *raw;                /* room for KM_SCORE_ROWS x n_out, and k */
    double *work;               /* probabilities of pairs, n_out; k x k */
} Scorer;

/* ---- values ---- */

static double
machine_value(const Scorer *scorer, const double *values, size_t o)
{
    const Term *term = scorer->term + o * scorer->n_terms;
    double sum = 0;

    for (size_t t = 0; t < scorer->n_terms; t++)
        sum += km_dot_fixed(term[t].n, values + term[t].first, term[t].coef);
    return sum + scorer->intercept[o];
}

static KmStatus
run_kernel(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out)
{
    const Scorer *scorer = score->state;

    KM_TRY(km_target_values(ctx, scorer->target, m, z, scorer->stride, scorer->values));
    for (size_t i = 0; i < m; i++)
        for (size_t o = 0; o < score->n_out; o++)
            out[i * score->n_out + o] = machine_value(scorer, scorer->values + i * scorer->stride, o);
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
    const double *row = scorer->rows + term->first * scorer->d;

    for (size_t s = 0; s < term->n; s++, row += scorer->d)
        for (size_t j = 0; j < scorer->d; j++)
            w[j] += term->coef[s] * row[j];
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
    KM_TRY(km_target_create(ctx, kernel, scorer->n_sv, scorer->d, scorer->rows, &scorer->target));
    scorer->stride = km_target_stride(scorer->target);
    return km_alloc_bytes(ctx, scorer->stride, KM_SCORE_ROWS * sizeof *scorer->values,
                          (void **) &scorer->values);
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

/* The arrays that every machine has, with coef transposed; columns and n_out may be SIZE_MAX: any. */
static KmStatus
load(KmContext *ctx, const KmModel *model, size_t d, size_t columns, size_t n_out, Scorer **out)
{
    const KmArray *rows, *coef, *intercept;
    Scorer *scorer;

    KM_TRY(km_model_expect(ctx, model, "rows", SIZE_MAX, d, &rows));
    KM_TRY(km_model_expect(ctx, model, "coef", rows->rows, columns, &coef));
    KM_TRY(km_model_expect(ctx, model, "intercept", 1, n_out, &intercept));
    KM_TRY(km_alloc(ctx, 1, &scorer));
    *scorer = (Scorer) {.d = d, .n_sv = rows->rows, .rows = rows->data, .intercept = intercept->data,
                        .columns = coef->columns, .n_out = intercept->columns};
    KM_TRY(km_alloc_bytes(ctx, coef->columns, coef->rows * sizeof *scorer->coef, (void **) &scorer->coef));
    for (size_t s = 0; s < coef->rows; s++)
        for (size_t c = 0; c < coef->columns; c++)
            scorer->coef[c * coef->rows + s] = coef->data[s * coef->columns + c];
    *out = scorer;
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

/* The support rows of class c in its machine against class e. */
static Term
class_term(const Scorer *scorer, const size_t *first, size_t c, size_t e)
{
    return (Term) {.first = first[c], .n = first[c + 1] - first[c],
                   .coef = scorer->coef + km_pair_column(c, e) * scorer->n_sv + first[c]};
}

KmStatus
km_machine_prepare_pairs(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out)
{
    size_t k = model->classes.n, *first;
    const KmArray *counts;
    Scorer *scorer;
    Term *term;

    if (k < 2)
        return km_fail(ctx, KM_CORRUPT, "model has %zu classes", k);
    KM_TRY(load(ctx, model, d, k - 1, k * (k - 1) / 2, &scorer));
    KM_TRY(km_model_expect(ctx, model, "counts", 1, k, &counts));
    KM_TRY(find_classes(ctx, k, counts->data, scorer->n_sv, &first));
    scorer->n_terms = 2;
    KM_TRY(km_alloc(ctx, k * (k - 1), &scorer->term));
    term = scorer->term;
    for (size_t p = 0; p + 1 < k; p++)
        for (size_t q = p + 1; q < k; q++)
        {
            *term++ = class_term(scorer, first, p, q);
            *term++ = class_term(scorer, first, q, p);
        }
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
    if (scorer->columns != scorer->n_out || scorer->n_out == 0)
        return km_fail(ctx, KM_CORRUPT, "model has %zu columns of coefficients and %zu intercepts",
                       scorer->columns, scorer->n_out);
    scorer->n_terms = 1;
    KM_TRY(km_alloc(ctx, scorer->n_out, &scorer->term));
    for (size_t c = 0; c < scorer->n_out; c++)
        scorer->term[c] = (Term) {.n = scorer->n_sv, .coef = scorer->coef + c * scorer->n_sv};
    return prepare(ctx, args, scorer, out);
}
