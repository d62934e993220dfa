/* inspect.c: what models are made of (see inspect.h). */
#include "inspect.h"

#include <math.h>
#include <string.h>

#include "machines.h"

/* ---- the parts ---- */

static KmStatus
set_units(KmContext *ctx, KmInspection *inspection)
{
    const KmStep *steps = &inspection->scorer->steps;

    if (steps->undo == NULL)
        return KM_OK;
    KM_TRY(km_alloc(ctx, steps->d_in, &inspection->origin));
    KM_TRY(km_alloc(ctx, steps->d_in, &inspection->size));
    return steps->undo(ctx, steps, inspection->origin, inspection->size);
}

/* Whole counts that add up to the rows, else the rows have no classes. */
static KmStatus
set_classes(KmContext *ctx, KmInspection *inspection)
{
    const KmModel *model = inspection->scorer->model;
    const KmArray *counts = km_model_array(model, "counts");
    size_t k = model->classes.n, *first;

    if (counts == NULL || k == 0 || counts->rows != 1 || counts->columns != k)
        return KM_OK;
    KM_TRY(km_alloc_zero(ctx, k + 1, &first));
    for (size_t c = 0; c < k; c++)
    {
        double count = counts->data[c];

        if (!(count >= 0 && count <= (double) (inspection->n - first[c])))
            return KM_OK;
        first[c + 1] = first[c] + (size_t) count;
    }
    inspection->first = first[k] == inspection->n ? first : NULL;
    return KM_OK;
}

static KmStatus
fail_without_rows(KmContext *ctx, const KmScorer *scorer)
{
    return km_fail(ctx, KM_UNSUPPORTED, "%s keeps nothing to be inspected", km_learner_name(scorer->learner));
}

/* Rows and a kernel. */
static KmStatus
set_dual(KmContext *ctx, const KmArray *rows, const KmArray *coef, KmInspection *inspection)
{
    const KmScore *score = &inspection->scorer->score;

    KM_TRY(km_kernel_of(ctx, &inspection->scorer->learner->args, &inspection->kernel));
    inspection->n = rows->rows;
    inspection->rows = rows->data;
    KM_TRY(set_classes(ctx, inspection));
    inspection->pairs = score->decision == KM_DECISION_PAIRS;
    if (inspection->pairs ? inspection->first == NULL ||
        coef->columns + 1 != inspection->scorer->model->classes.n
        : coef->columns != inspection->n_out)
        return fail_without_rows(ctx, inspection->scorer);
    return KM_OK;
}

KmStatus
km_inspect(KmContext *ctx, const KmScorer *scorer, KmInspection *out)
{
    const KmModel *model = scorer->model;
    const KmArray *rows = km_model_array(model, "rows"), *coef = km_model_array(model, "coef");
    const KmArray *intercept = km_model_array(model, "intercept");
    size_t d = scorer->steps.d_out;

    *out = (KmInspection) {.scorer = scorer, .n_out = scorer->score.n_out, .d = d};
    if (coef == NULL || out->n_out == 0 || (rows != NULL && (rows->columns != d ||
                                                             rows->rows != coef->rows)) ||
        (rows == NULL && (coef->rows != d || coef->columns != out->n_out)))
        return fail_without_rows(ctx, scorer);
    out->columns = coef->columns;
    out->coef = coef->data;
    if (intercept != NULL && intercept->columns == out->n_out)
        out->intercept = intercept->data;
    KM_TRY(set_units(ctx, out));
    return rows == NULL ? KM_OK : set_dual(ctx, rows, coef, out);
}

KmStatus
km_inspect_expect_rows(KmContext *ctx, const KmInspection *inspection)
{
    if (inspection->kernel != NULL)
        return KM_OK;
    km_fail(ctx, KM_UNSUPPORTED, "%s keeps no rows", km_learner_name(inspection->scorer->learner));
    return km_hint(ctx, KM_UNSUPPORTED, "Use coefficients(model).");
}

/* ---- rows ---- */

void
km_inspect_row(const KmInspection *inspection, size_t s, double *x)
{
    const double *row = inspection->rows + s * inspection->d;

    for (size_t j = 0; j < inspection->d; j++)
        x[j] = inspection->size == NULL ? row[j] : inspection->origin[j] + inspection->size[j] * row[j];
}

size_t
km_inspect_class(const KmInspection *inspection, size_t s)
{
    size_t c = 0;

    if (inspection->first == NULL)
        return SIZE_MAX;
    while (s >= inspection->first[c + 1])
        c++;
    return c;
}

void
km_inspect_classes(const KmInspection *inspection, size_t o, size_t *label, size_t *against)
{
    KmDecision decision = inspection->scorer->score.decision;
    size_t k = inspection->scorer->model->classes.n, p = 0;

    *label = *against = SIZE_MAX;
    if (decision == KM_DECISION_CLASSES && k > 2)
        *label = o;
    else if (decision == KM_DECISION_CLASSES || decision == KM_DECISION_PAIRS)
    {
        for (; o >= k - 1 - p; p++)
            o -= k - 1 - p;
        *against = p;
        *label = p + 1 + o;
    }
}

double
km_inspect_coefficient(const KmInspection *inspection, size_t s, size_t o)
{
    const double *coef = inspection->coef + s * inspection->columns;
    size_t p, q, c;

    if (!inspection->pairs)
        return coef[o];
    c = km_inspect_class(inspection, s);
    km_inspect_classes(inspection, o, &q, &p);
    if (c != p && c != q)
        return 0;
    return coef[km_pair_column(c, c == p ? q : p)];
}

/* ---- planes ---- */

/* w of the features after the steps. */
static KmStatus
plane_after_steps(KmContext *ctx, const KmInspection *inspection, size_t o, double *w)
{
    size_t d = inspection->d;

    memset(w, 0, d * sizeof *w);
    for (size_t j = 0; j < d && inspection->kernel == NULL; j++)
        w[j] = inspection->coef[j * inspection->columns + o];
    for (size_t s = 0; s < inspection->n; s++)
    {
        double coef = km_inspect_coefficient(inspection, s, o);

        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j < d; j++)
            w[j] += coef * inspection->rows[s * d + j];
    }
    return KM_OK;
}

/* z = (x - origin) / size; a column of size 0 is constant after the steps. */
KmStatus
km_inspect_plane(KmContext *ctx, const KmInspection *inspection, size_t o, double *w, double *intercept)
{
    if (inspection->kernel != NULL && !km_kernel_is_linear(inspection->kernel))
    {
        km_fail(ctx, KM_UNSUPPORTED, "coefficients need the linear kernel");
        return km_hint(ctx, KM_UNSUPPORTED, "Use support_vectors(model), or explain(model, x, n).");
    }
    KM_TRY(plane_after_steps(ctx, inspection, o, w));
    *intercept = inspection->intercept == NULL ? 0 : inspection->intercept[o];
    for (size_t j = 0; j < inspection->d && inspection->size != NULL; j++)
    {
        w[j] = inspection->size[j] == 0 ? 0 : w[j] / inspection->size[j];
        *intercept -= w[j] * inspection->origin[j];
    }
    return KM_OK;
}

/* ---- one decision ---- */

/* Put a share among the *n largest of at most `most`, ties to the earlier row. */
static void
insert_share(const KmShare *share, size_t most, size_t *n, KmShare *shares)
{
    size_t at = *n;

    while (at > 0 && fabs(shares[at - 1].contribution) < fabs(share->contribution))
        at--;
    if (at == most)
        return;
    *n += *n < most;
    memmove(shares + at + 1, shares + at, (*n - 1 - at) * sizeof *shares);
    shares[at] = *share;
}

/* values: k(x, row) of all stored rows. */
static void
rank_rows(const KmInspection *inspection, const double *values, size_t o, size_t *n, KmShare *shares)
{
    size_t most = *n;
    double total = 0;

    *n = 0;
    for (size_t s = 0; s < inspection->n; s++)
    {
        KmShare share = {.row = s, .contribution = km_inspect_coefficient(inspection, s, o) * values[s]};

        total += fabs(share.contribution);
        if (fabs(share.contribution) > 0)
            insert_share(&share, most, n, shares);
    }
    for (size_t i = 0; i < *n; i++)
        shares[i].share = fabs(shares[i].contribution) / total;
}

KmStatus
km_inspect_explain(KmContext *ctx, const KmInspection *inspection, const double *x, size_t o, size_t *n,
                   KmShare *shares)
{
    KmTarget *target;
    double *z, *values;

    KM_TRY(km_inspect_expect_rows(ctx, inspection));
    KM_TRY(km_alloc(ctx, inspection->d, &z));
    KM_TRY(km_scorer_transform(ctx, inspection->scorer, 1, x, z));
    if (isnan(z[0]))
    {
        *n = 0;
        return KM_OK;
    }
    KM_TRY(km_target_create(ctx, inspection->kernel, inspection->n, inspection->d, inspection->rows,
                            &target));
    KM_TRY(km_alloc(ctx, km_target_stride(target), &values));
    KM_TRY(km_target_values(ctx, target, 1, z, km_target_stride(target), values));
    rank_rows(inspection, values, o, n, shares);
    return KM_OK;
}
