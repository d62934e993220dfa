/*
 * libsvm_read.c: a model from LIBSVM's text (see libsvm.h).
 *
 * Every number of the head is a list under its key; what the lists must look like is checked when all are
 * there.
 */
#include <math.h>
#include <string.h>

#include "learner.h"
#include "libsvm.h"
#include "libsvm_names.h"
#include "libsvm_scan.h"

#define DENSITY_MARKS_COUNT 10     /* of one_class, LIBSVM 3.30 and later */
#define LARGEST_COUNT 9007199254740992.0        /* 2^53 */

typedef enum Key
{
    DEGREE, GAMMA, COEF0, NR_CLASS, TOTAL_SV, RHO, LABEL, PROB_A, PROB_B, NR_SV, DENSITY_MARKS, N_KEYS
} Key;

static const char *const key_names[N_KEYS] = {
    "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "probA", "probB", "nr_sv",
    "prob_density_marks"
};

typedef struct List
{
    bool given;
    size_t n;
    double *value;
} List;

typedef struct Reader
{
    KmScan scan;
    const KmLibsvmType *type;
    const KmLibsvmKernel *kernel;
    List list[N_KEYS];
    size_t k;                   /* classes; 0: none */
    size_t pairs;               /* machines: pairs of classes, or one */
    size_t columns;             /* coefficients of a row */
    size_t n, d;                /* support rows, features */
    size_t *rank;               /* k: place of a class among the sorted labels */
    size_t *first;              /* k + 1: where the rows of a class begin in the text */
    size_t *sorted_first;       /* k + 1: and, by rank, in the model */
    double *rows, *coef;        /* n x d, n x columns */
} Reader;

/* ---- the head ---- */

static KmStatus
read_list(Reader *reader, Key key)
{
    List *list = &reader->list[key];
    KmScan ahead = reader->scan;
    size_t n = 0;

    if (list->given)
        return km_scan_fail(&reader->scan, "%s stands twice", key_names[key]);
    while (km_scan_word(&ahead).length > 0)
        n++;
    *list = (List) {.given = true, .n = n};
    KM_TRY(km_alloc(reader->scan.ctx, n, &list->value));
    for (size_t i = 0; i < n; i++)
        KM_TRY(km_scan_number(&reader->scan, km_scan_word(&reader->scan), &list->value[i]));
    return KM_OK;
}

static KmStatus
read_type(Reader *reader)
{
    KmWord word = km_scan_word(&reader->scan);

    reader->type = km_libsvm_type_named(word.text, word.length);
    return reader->type ? KM_OK : km_scan_fail(&reader->scan, "unknown svm_type");
}

static KmStatus
read_kernel(Reader *reader)
{
    KmWord word = km_scan_word(&reader->scan);

    reader->kernel = km_libsvm_kernel_named(word.text, word.length);
    return reader->kernel ? KM_OK : km_scan_fail(&reader->scan, "unknown or unsupported kernel_type");
}

/* One line of the head. */
static KmStatus
read_key(Reader *reader, KmWord word)
{
    if (km_word_is(word, "svm_type"))
        return read_type(reader);
    if (km_word_is(word, "kernel_type"))
        return read_kernel(reader);
    for (Key key = 0; key < N_KEYS; key++)
        if (km_word_is(word, key_names[key]))
            return read_list(reader, key);
    return km_scan_fail(&reader->scan, "unknown key in the head of a LIBSVM model");
}

static KmStatus
read_head(Reader *reader)
{
    do
    {
        KmWord word = km_scan_word(&reader->scan);

        if (km_word_is(word, "SV"))
            return KM_OK;
        if (word.length > 0)
            KM_TRY(read_key(reader, word));
    } while (km_scan_line(&reader->scan));
    return km_scan_fail(&reader->scan, "a LIBSVM model ends without its SV section");
}

/* ---- what the head must say ---- */

static KmStatus
expect(const Reader *reader, Key key, size_t n)
{
    const List *list = &reader->list[key];

    if (!list->given)
        return km_fail(reader->scan.ctx, KM_SYNTAX, "the LIBSVM model has no %s", key_names[key]);
    if (list->n != n)
        return km_fail(reader->scan.ctx, KM_SYNTAX, "the LIBSVM model has %zu values of %s, expected %zu",
                       list->n,
                       key_names[key], n);
    return KM_OK;
}

static KmStatus
expect_count(const Reader *reader, Key key, size_t i, size_t *out)
{
    double value = reader->list[key].value[i];

    if (!(value >= 0 && value <= LARGEST_COUNT) || value != (double) (size_t) value)
        return km_fail(reader->scan.ctx, KM_SYNTAX, "the LIBSVM model's %s %g is no count", key_names[key],
                       value);
    *out = (size_t) value;
    return KM_OK;
}

/* Ranks of distinct whole labels. */
static KmStatus
rank_labels(Reader *reader)
{
    const double *label = reader->list[LABEL].value;

    KM_TRY(km_alloc_zero(reader->scan.ctx, reader->k, &reader->rank));
    for (size_t c = 0; c < reader->k; c++)
        for (size_t e = 0; e < reader->k; e++)
        {
            if (e != c && label[e] == label[c])
                return km_fail(reader->scan.ctx, KM_SYNTAX, "the LIBSVM model has the label %g twice",
                               label[c]);
            reader->rank[c] += label[e] < label[c];
        }
    return KM_OK;
}

/* Where the rows of each class begin, in the text and in the model. */
static KmStatus
place_classes(Reader *reader)
{
    size_t count = 0;

    KM_TRY(km_alloc_zero(reader->scan.ctx, reader->k + 1, &reader->first));
    KM_TRY(km_alloc_zero(reader->scan.ctx, reader->k + 1, &reader->sorted_first));
    for (size_t c = 0; c < reader->k; c++)
    {
        KM_TRY(expect_count(reader, NR_SV, c, &count));
        if (count > reader->n - reader->first[c])
            break;
        reader->first[c + 1] = reader->first[c] + count;
        reader->sorted_first[reader->rank[c] + 1] = count;
    }
    if (reader->first[reader->k] != reader->n || reader->n == 0)
        return km_fail(reader->scan.ctx, KM_SYNTAX,
                       "the LIBSVM model's nr_sv do not add up to its total_sv %zu",
                       reader->n);
    for (size_t c = 0; c < reader->k; c++)
        reader->sorted_first[c + 1] += reader->sorted_first[c];
    return KM_OK;
}

static KmStatus
check_classes(Reader *reader)
{
    const List *a = &reader->list[PROB_A], *b = &reader->list[PROB_B];

    KM_TRY(expect_count(reader, NR_CLASS, 0, &reader->k));
    if (reader->k < 2)
        return km_fail(reader->scan.ctx, KM_SYNTAX, "the LIBSVM model has %zu classes", reader->k);
    KM_TRY(expect(reader, LABEL, reader->k));
    reader->pairs = reader->k * (reader->k - 1) / 2;
    reader->columns = reader->k - 1;
    KM_TRY(expect(reader, RHO, reader->pairs));
    KM_TRY(expect(reader, NR_SV, reader->k));
    if (a->given || b->given)
    {
        KM_TRY(expect(reader, PROB_A, reader->pairs));
        KM_TRY(expect(reader, PROB_B, reader->pairs));
    }
    KM_TRY(rank_labels(reader));
    return place_classes(reader);
}

/* A regression's probA is the scale of a Laplace distribution of its errors. */
static KmStatus
check_single(Reader *reader)
{
    if (reader->list[PROB_A].given)
    {
        KM_TRY(expect(reader, PROB_A, 1));
        if (!(reader->list[PROB_A].value[0] >= 0))
            return km_fail(reader->scan.ctx, KM_SYNTAX, "the LIBSVM model's probA %g is no scale of errors",
                           reader->list[PROB_A].value[0]);
    }
    return reader->list[DENSITY_MARKS].given ? expect(reader, DENSITY_MARKS, DENSITY_MARKS_COUNT) : KM_OK;
}

static KmStatus
check_head(Reader *reader)
{
    if (reader->type == NULL || reader->kernel == NULL)
        return km_fail(reader->scan.ctx, KM_SYNTAX, "the LIBSVM model has no %s",
                       reader->type == NULL ? "svm_type" : "kernel_type");
    KM_TRY(expect(reader, NR_CLASS, 1));
    KM_TRY(expect(reader, TOTAL_SV, 1));
    KM_TRY(expect_count(reader, TOTAL_SV, 0, &reader->n));
    reader->pairs = reader->columns = 1;
    KM_TRY(reader->type->classes ? check_classes(reader) : check_single(reader));
    return expect(reader, RHO, reader->pairs);
}

/* ---- support rows ---- */

/* A row of precomputed: "0:number" alone.  It needs kernel values up to that number. */
static KmStatus
read_number(Reader *reader, double *x, size_t *needed)
{
    size_t index;
    double number;

    KM_TRY(km_scan_element(&reader->scan, km_scan_word(&reader->scan), &index, &number));
    if (index != 0 || !(number >= 1 && number < (double) KM_MODEL_MAX_FEATURES) || number != floor(number) ||
        km_scan_word(&reader->scan).length > 0)
        return km_scan_fail(&reader->scan, "a row of a precomputed kernel is 0:number, from 1 on");
    if (x != NULL)
        x[0] = number;
    *needed = (size_t) number + 1;
    return KM_OK;
}

/* A row's elements, whose indices ascend. */
static KmStatus
read_elements(Reader *reader, double *x, size_t *needed)
{
    size_t last = 0, index;
    double value;
    KmWord word;

    while ((word = km_scan_word(&reader->scan)).length > 0)
    {
        KM_TRY(km_scan_element(&reader->scan, word, &index, &value));
        if (index <= last)
            return km_scan_fail(&reader->scan, "index %zu after %zu: indices begin at 1 and ascend", index,
                                last);
        last = index;
        if (x != NULL)
            x[index - 1] = value;
    }
    *needed = last;
    return KM_OK;
}

/* One row: its coefficients into coef, its elements into x; either may be NULL.  *largest: the features that
 * it needs if they are more. */
static KmStatus
read_row(Reader *reader, double *coef, double *x, size_t *largest)
{
    bool precomputed = strcmp(reader->kernel->kernel, "precomputed") == 0;
    size_t needed = 0;
    double value;

    for (size_t c = 0; c < reader->columns; c++)
    {
        KM_TRY(km_scan_number(&reader->scan, km_scan_word(&reader->scan), &value));
        if (coef != NULL)
            coef[c] = value;
    }
    KM_TRY(precomputed ? read_number(reader, x, &needed) : read_elements(reader, x, &needed));
    *largest = needed > *largest ? needed : *largest;
    return KM_OK;
}

/* Look at all rows, to know their largest index; the scan stays where it was. */
static KmStatus
measure_rows(Reader *reader, size_t *largest)
{
    KmScan begin = reader->scan;

    for (size_t s = 0; s < reader->n; s++)
    {
        KM_TRY(km_poll(reader->scan.ctx));
        if (!km_scan_line(&reader->scan) || reader->scan.at == reader->scan.end)
            return km_scan_fail(&reader->scan, "the LIBSVM model ends after %zu of %zu support rows", s,
                                reader->n);
        KM_TRY(read_row(reader, NULL, NULL, largest));
    }
    while (km_scan_line(&reader->scan))
        if (km_scan_word(&reader->scan).length > 0)
            return km_scan_fail(&reader->scan, "more than %zu support rows", reader->n);
    reader->scan = begin;
    return KM_OK;
}

static KmStatus
set_features(Reader *reader, size_t d)
{
    size_t largest = 0;

    KM_TRY(measure_rows(reader, &largest));
    if (d > 0 && largest > d)
        return km_fail(reader->scan.ctx, KM_DIMENSION,
                       "the LIBSVM model needs %zu features, over the %zu", largest, d);
    reader->d = d > 0 ? d : largest > 0 ? largest : 1;
    if ((double) reader->n * (double) reader->d * sizeof(double) > (double) KM_MODEL_MAX_BYTES)
        return km_fail(reader->scan.ctx, KM_LIMIT,
                       "%zu support rows of %zu features are over the limit of %zu MB",
                       reader->n, reader->d, KM_MODEL_MAX_BYTES >> 20);
    return KM_OK;
}

/* The pair of classes c and e is positive for the earlier in the text there, for the later label here: the
 * sign of its values in the model. */
static double
pair_sign(const Reader *reader, size_t c, size_t e)
{
    return (c < e) == (reader->rank[c] > reader->rank[e]) ? 1 : -1;
}

/* Coefficients of a row of class c, in the columns of sorted classes. */
static void
sort_coefficients(const Reader *reader, size_t c, const double *from, double *to)
{
    for (size_t e = 0; e < reader->k; e++)
    {
        size_t rank = reader->rank[e];

        if (e != c)
            to[rank - (rank > reader->rank[c])] = pair_sign(reader, c, e) * from[e - (e > c)];
    }
}

static KmStatus
read_rows(Reader *reader)
{
    KmContext *ctx = reader->scan.ctx;
    size_t c = 0, largest = 0;
    double *line;

    KM_TRY(km_alloc(ctx, reader->columns, &line));
    KM_TRY(km_alloc_zero_bytes(ctx, reader->n, reader->d * sizeof *reader->rows, (void **) &reader->rows));
    KM_TRY(km_alloc_bytes(ctx, reader->n, reader->columns * sizeof *reader->coef, (void **) &reader->coef));
    for (size_t s = 0; s < reader->n; s++)
    {
        size_t to = s;

        KM_TRY(km_poll(ctx));
        while (reader->k > 0 && s == reader->first[c + 1])
            c++;
        if (reader->k > 0)
            to = reader->sorted_first[reader->rank[c]] + s - reader->first[c];
        km_scan_line(&reader->scan);
        KM_TRY(read_row(reader, line, reader->rows + to * reader->d, &largest));
        if (reader->k > 0)
            sort_coefficients(reader, c, line, reader->coef + to * reader->columns);
        else
            reader->coef[to] = line[0];
    }
    return KM_OK;
}

/* ---- the model ---- */

static KmStatus
set_learner(Reader *reader, KmModel *model)
{
    KmContext *ctx = reader->scan.ctx;
    bool calibrated = reader->list[PROB_A].given && strcmp(reader->type->estimator, "svc") == 0;
    KmText text = {0}, canonical = {0};
    KmLearner *learner;

    KM_TRY(km_text_addf(ctx, &text, "%s(%s(", reader->type->estimator, reader->kernel->kernel));
    for (size_t i = 0; i < KM_LIBSVM_PARAMETERS && reader->kernel->parameter[i].key != NULL; i++)
        for (Key key = DEGREE; key <= COEF0; key++)
        {
            if (strcmp(key_names[key], reader->kernel->parameter[i].key) != 0)
                continue;
            KM_TRY(expect(reader, key, 1));
            KM_TRY(km_text_addf(ctx, &text, "%s%s=", i > 0 ? ", " : "", key_names[key]));
            KM_TRY(km_text_add_number(ctx, &text, reader->list[key].value[0] + 0.0));
        }
    KM_TRY(km_text_addf(ctx, &text, ")%s)", calibrated ? ", probability=true" : ""));
    KM_TRY(km_learner_parse(ctx, text.data, text.length, &learner));
    KM_TRY(km_learner_print(ctx, learner, &canonical));
    model->learner = canonical.data;
    return KM_OK;
}

static KmStatus
set_classes(const Reader *reader, KmModel *model)
{
    KmContext *ctx = reader->scan.ctx;
    KmClasses *classes = &model->classes;

    *classes = (KmClasses) {.n = reader->k, .kind = KM_LABEL_NUMBER};
    KM_TRY(km_alloc(ctx, reader->k, &classes->text));
    KM_TRY(km_alloc(ctx, reader->k, &classes->number));
    for (size_t c = 0; c < reader->k; c++)
    {
        double label = reader->list[LABEL].value[c] + 0.0;
        KmText text = {0};

        if (label != floor(label) || fabs(label) > LARGEST_COUNT)
            return km_fail(ctx, KM_SYNTAX, "the LIBSVM model's label %g is no whole number", label);
        KM_TRY(km_text_addf(ctx, &text, "%.0f", label));
        classes->text[reader->rank[c]] = text.data;
        classes->number[reader->rank[c]] = label;
    }
    return KM_OK;
}

/* Where the pair of ranks p and q stands among (0,1), (0,2), … */
static size_t
pair_place(size_t k, size_t p, size_t q)
{
    size_t low = p < q ? p : q, high = p < q ? q : p;

    return low * (2 * k - low - 1) / 2 + high - low - 1;
}

/* Intercepts, sigmoids and counts of a classifier. */
static KmStatus
add_class_arrays(const Reader *reader, KmModel *model)
{
    KmContext *ctx = reader->scan.ctx;
    const double *rho = reader->list[RHO].value, *a = reader->list[PROB_A].value,
        *b = reader->list[PROB_B].value;
    double *intercept, *sigmoid, *counts;
    size_t pair = 0;

    KM_TRY(km_alloc(ctx, reader->pairs, &intercept));
    KM_TRY(km_alloc(ctx, 2 * reader->pairs, &sigmoid));
    KM_TRY(km_alloc(ctx, reader->k, &counts));
    for (size_t c = 0; c < reader->k; c++)
        counts[c] = (double) (reader->sorted_first[c + 1] - reader->sorted_first[c]);
    for (size_t c = 0; c + 1 < reader->k; c++)
        for (size_t e = c + 1; e < reader->k; e++, pair++)
        {
            size_t place = pair_place(reader->k, reader->rank[c], reader->rank[e]);
            double sign = pair_sign(reader, c, e);

            intercept[place] = -sign * rho[pair];
            sigmoid[2 * place] = a != NULL ? a[pair] : 0;
            sigmoid[2 * place + 1] = b != NULL ? sign * b[pair] : 0;
        }
    KM_TRY(km_model_add_array(ctx, model, "intercept", 1, reader->pairs, intercept));
    KM_TRY(km_model_add_array(ctx, model, "counts", 1, reader->k, counts));
    return a == NULL ? KM_OK : km_model_add_array(ctx, model, "sigmoid", reader->pairs, 2, sigmoid);
}

/* The intercept of a single function; what LIBSVM estimated of probabilities is kept, and exported again. */
static KmStatus
add_single_arrays(const Reader *reader, KmModel *model)
{
    KmContext *ctx = reader->scan.ctx;
    const List *scale = &reader->list[PROB_A], *marks = &reader->list[DENSITY_MARKS];
    double *intercept;

    KM_TRY(km_alloc(ctx, 1, &intercept));
    *intercept = -reader->list[RHO].value[0];
    KM_TRY(km_model_add_array(ctx, model, "intercept", 1, 1, intercept));
    if (scale->given)
        KM_TRY(km_model_add_fact(ctx, model, "laplace_scale", KM_FACT_NUMBER, scale->value[0]));
    return marks->given ? km_model_add_array(ctx, model, "density_marks", 1, marks->n, marks->value) : KM_OK;
}

static KmStatus
make_model(Reader *reader, KmModel *model)
{
    KmContext *ctx = reader->scan.ctx;

    KM_TRY(set_learner(reader, model));
    model->n_features = reader->d;
    KM_TRY(km_model_add_array(ctx, model, "rows", reader->n, reader->d, reader->rows));
    KM_TRY(km_model_add_array(ctx, model, "coef", reader->n, reader->columns, reader->coef));
    KM_TRY(km_model_add_text(ctx, model, "imported_from", "LIBSVM"));
    KM_TRY(km_model_add_fact(ctx, model, "n_sv", KM_FACT_COUNT, (double) reader->n));
    if (reader->k == 0)
        return add_single_arrays(reader, model);
    KM_TRY(set_classes(reader, model));
    return add_class_arrays(reader, model);
}

KmStatus
km_libsvm_read(KmContext *ctx, const char *text, size_t length, size_t d, KmModel **out)
{
    Reader reader = {.scan = {.ctx = ctx, .at = text, .end = text + length, .line = 1}};
    KmScorer *scorer;

    KM_TRY(read_head(&reader));
    KM_TRY(check_head(&reader));
    KM_TRY(set_features(&reader, d));
    KM_TRY(read_rows(&reader));
    KM_TRY(km_model_create(ctx, out));
    KM_TRY(make_model(&reader, *out));
    return km_scorer_create(ctx, *out, &scorer);
}
