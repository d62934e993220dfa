/* libsvm_write.c: a model as LIBSVM's text (see libsvm.h). */
#include <math.h>
#include <string.h>

#include "learner.h"
#include "libsvm.h"
#include "libsvm_names.h"

#define LARGEST_LABEL 2147483647.0      /* labels are C ints there */

/* A model's parts, each looked up once. */
typedef struct Writer
{
    KmContext *ctx;
    KmText *out;
    const KmModel *model;
    const KmScorer *scorer;
    const KmLibsvmType *type;
    bool precomputed;
    const KmArray *rows, *coef, *intercept, *counts, *sigmoid;
} Writer;

/* ---- what LIBSVM has no word for ---- */

static KmStatus
refuse(const Writer *writer, const char *what, const char *hint)
{
    km_fail(writer->ctx, KM_UNSUPPORTED, "LIBSVM has no %s", what);
    return km_hint(writer->ctx, KM_UNSUPPORTED, "%s", hint);
}

static KmStatus
check_labels(const Writer *writer)
{
    const KmClasses *classes = &writer->model->classes;
    char quoted[KM_QUOTE_SIZE];

    for (size_t c = 0; c < classes->n; c++)
        if (!(classes->number[c] == floor(classes->number[c]) && fabs(classes->number[c]) <= LARGEST_LABEL))
        {
            km_fail(writer->ctx, KM_UNSUPPORTED, "label \"%s\" is no whole number as LIBSVM's are",
                    km_quote(classes->text[c], quoted));
            return km_hint(writer->ctx, KM_UNSUPPORTED,
                           "Fit the model to whole numbers that stand for the labels.");
        }
    return KM_OK;
}

static KmStatus
check(Writer *writer)
{
    const KmLearner *learner = writer->scorer->learner;

    writer->type = learner->estimator ? km_libsvm_type_of(learner->estimator->signature.name) : NULL;
    if (writer->type == NULL)
        return refuse(writer, learner->estimator
                      ? learner->estimator->signature.name : "models of steps alone",
                      "It has svc, nu_svc, svr, nu_svr and one_class.");
    if (learner->n_steps > 0)
        return refuse(writer, "steps",
                      "Fit the machine alone to rows that the steps have made: transform(model, x).");
    if (writer->type->classes && writer->scorer->score.decision != KM_DECISION_PAIRS)
        return refuse(writer, "machines of one class against the rest", "Fit with multiclass=ovo.");
    if (!writer->type->classes && writer->scorer->score.n_out > 1)
        return refuse(writer, "machines of several targets", "Fit one model for each target.");
    return check_labels(writer);
}

/* ---- the head ---- */

/* + 0.0: no minus sign at zeros. */
static KmStatus
add_values(const Writer *writer, const char *key, size_t n, size_t stride, double sign, const double *values)
{
    KM_TRY(km_text_addf(writer->ctx, writer->out, "%s", key));
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_text_add(writer->ctx, writer->out, " ", 1));
        KM_TRY(km_text_add_number(writer->ctx, writer->out, sign * values[i * stride] + 0.0));
    }
    return km_text_add(writer->ctx, writer->out, "\n", 1);
}

static KmStatus
add_kernel(Writer *writer)
{
    const KmLibsvmKernel *name;
    KmKernel *kernel;
    const KmLeaf *leaf;

    KM_TRY(km_kernel_of(writer->ctx, &writer->scorer->learner->args, &kernel));
    leaf = &kernel->leaf;
    name = kernel->op == KM_OP_LEAF ? km_libsvm_kernel_of(leaf->type->signature.name) : NULL;
    if (name == NULL || leaf->n_dims > 0 || leaf->n_scale > 0 || leaf->n_factor > 0)
        return refuse(writer, "such kernels",
                      "It has linear, poly, rbf of one gamma, sigmoid and precomputed.");
    writer->precomputed = km_kernel_is_index(kernel);
    KM_TRY(km_text_addf(writer->ctx, writer->out, "kernel_type %s\n", name->name));
    for (size_t i = 0; i < KM_LIBSVM_PARAMETERS && name->parameter[i].key != NULL; i++)
        KM_TRY(add_values(writer, name->parameter[i].key, 1, 1, 1, &leaf->p[name->parameter[i].place]));
    return KM_OK;
}

/* What an imported machine of a single function knows of probabilities. */
static KmStatus
add_errors(const Writer *writer)
{
    const KmFact *scale = km_model_fact(writer->model, "laplace_scale");
    const KmArray *marks = km_model_array(writer->model, "density_marks");

    if (scale != NULL && scale->kind == KM_FACT_NUMBER)
        KM_TRY(add_values(writer, "probA", 1, 1, 1, &scale->number));
    return marks == NULL ? KM_OK
        : add_values(writer, "prob_density_marks", marks->columns, 1, 1, marks->data);
}

/* Pair (p, q) is positive for p there, so coefficients and intercept change their signs, and LIBSVM subtracts
 * rho: the intercept itself.  For the others there is nothing to change but that. */
static KmStatus
add_head(Writer *writer)
{
    const KmModel *model = writer->model;
    size_t k = model->classes.n, pairs = writer->intercept->columns;

    KM_TRY(km_text_addf(writer->ctx, writer->out, "svm_type %s\n", writer->type->name));
    KM_TRY(add_kernel(writer));
    KM_TRY(km_text_addf(writer->ctx, writer->out, "nr_class %zu\ntotal_sv %zu\n", writer->type->classes
                        ? k : 2,
                        writer->rows->rows));
    KM_TRY(add_values(writer, "rho", pairs, 1, writer->type->classes ? 1 : -1, writer->intercept->data));
    if (!writer->type->classes)
        return add_errors(writer);
    KM_TRY(add_values(writer, "label", k, 1, 1, model->classes.number));
    if (writer->sigmoid != NULL)
    {
        KM_TRY(add_values(writer, "probA", pairs, 2, 1, writer->sigmoid->data));
        KM_TRY(add_values(writer, "probB", pairs, 2, -1, writer->sigmoid->data + 1));
    }
    return add_values(writer, "nr_sv", k, 1, 1, writer->counts->data);
}

/* ---- support rows ---- */

static KmStatus
add_row(const Writer *writer, size_t s)
{
    const double *coef = writer->coef->data + s * writer->coef->columns;
    const double *row = writer->rows->data + s * writer->rows->columns;

    for (size_t c = 0; c < writer->coef->columns; c++)
    {
        KM_TRY(km_text_add_number(writer->ctx, writer->out, (writer->type->classes
                                                             ? -coef[c] : coef[c]) + 0.0));
        KM_TRY(km_text_add(writer->ctx, writer->out, " ", 1));
    }
    if (writer->precomputed)
        return km_text_addf(writer->ctx, writer->out, "0:%.0f \n", row[0]);
    for (size_t j = 0; j < writer->rows->columns; j++)
    {
        if (row[j] == 0)
            continue;
        KM_TRY(km_text_addf(writer->ctx, writer->out, "%zu:", j + 1));
        KM_TRY(km_text_add_number(writer->ctx, writer->out, row[j]));
        KM_TRY(km_text_add(writer->ctx, writer->out, " ", 1));
    }
    return km_text_add(writer->ctx, writer->out, "\n", 1);
}

KmStatus
km_libsvm_write(KmContext *ctx, const KmModel *model, KmText *out)
{
    Writer writer = {.ctx = ctx, .out = out, .model = model};
    KmScorer *scorer;

    KM_TRY(km_scorer_create(ctx, model, &scorer));
    writer.scorer = scorer;
    KM_TRY(check(&writer));
    writer.rows = km_model_array(model, "rows");
    writer.coef = km_model_array(model, "coef");
    writer.intercept = km_model_array(model, "intercept");
    writer.counts = km_model_array(model, "counts");
    writer.sigmoid = km_model_array(model, "sigmoid");
    KM_TRY(add_head(&writer));
    KM_TRY(km_text_add(ctx, out, "SV\n", 3));
    for (size_t s = 0; s < writer.rows->rows; s++)
    {
        KM_TRY(km_poll(ctx));
        KM_TRY(add_row(&writer, s));
    }
    return KM_OK;
}
