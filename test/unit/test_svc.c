/*
 * test_svc.c: support vector classification: worked examples, optima of real data from an independent
 * solver (LIBSVM, polished to a duality gap of 1e-12), bug reports of other libraries, and what goes wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "learner.h"
#include "numbers.h"
#include "smo.h"

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))
#define ELEMENTS(a) (sizeof(a) / sizeof(a)[0])
#define MOST_CLASSES 10

/* ---- fitting a text to rows ---- */

typedef struct Fitted
{
    KmContext *ctx;
    KmStatus status;
    KmModel *model;
    KmScorer *scorer;
    int warnings;
} Fitted;

typedef struct Labels
{
    KmClasses classes;
    const char *text[MOST_CLASSES];
    double number[MOST_CLASSES];
} Labels;

static void
count_warning(KmContext *ctx, const char *message)
{
    int *warnings = ctx->owner;

    assert_non_null(strstr(message, "did not converge"));
    ++*warnings;
}

static void
begin(Fitted *fitted, size_t max_bytes)
{
    *fitted = (Fitted) {.ctx = km_context_create(max_bytes)};
    fitted->ctx->owner = &fitted->warnings;
    fitted->ctx->warn = count_warning;
}

static void
run(Fitted *fitted, const char *text, const KmTable *table)
{
    KmLearner *learner;

    fitted->status = km_learner_parse(fitted->ctx, text, strlen(text), &learner);
    if (fitted->status == KM_OK)
        fitted->status = km_learner_fit(fitted->ctx, learner, table, &fitted->model);
    if (fitted->status == KM_OK)
        assert_int_equal(km_scorer_create(fitted->ctx, fitted->model, &fitted->scorer), KM_OK);
}

/* Labels 0 … k-1, or their texts. */
static Fitted
fit_table(const char *text, size_t n, size_t d, const double *x, const uint32_t *label, const double *w,
          const KmClasses *classes)
{
    KmTable table = {.n = n, .d = d, .x = x, .label = label, .classes = classes, .w = w};
    Fitted fitted;

    begin(&fitted, SIZE_MAX);
    fitted.ctx->owner = NULL;
    fitted.ctx->warn = NULL;
    run(&fitted, text, &table);
    return fitted;
}

static const char *const digits[MOST_CLASSES] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
static const double numbers[MOST_CLASSES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static KmClasses
numbered(size_t k)
{
    return (KmClasses) {.n = k, .kind = KM_LABEL_NUMBER, .text = (const char **) digits,
                        .number = (double *) numbers};
}

static Fitted
fit(const char *text, size_t n, size_t d, const double *x, const uint32_t *label)
{
    KmClasses classes = numbered(2);

    return fit_table(text, n, d, x, label, NULL, &classes);
}

static void
end(Fitted *fitted)
{
    km_context_destroy(fitted->ctx);
}

static double
decision(const Fitted *fitted, const double *x)
{
    double out;

    assert_int_equal(fitted->scorer->score.n_out, 1);
    assert_int_equal(km_scorer_values(fitted->ctx, fitted->scorer, 1, x, &out), KM_OK);
    return out;
}

static double
fact(const Fitted *fitted, const char *name)
{
    const KmFact *found = km_model_fact(fitted->model, name);

    assert_non_null(found);
    return found->number;
}

static double
intercept(const Fitted *fitted)
{
    return km_model_array(fitted->model, "intercept")->data[0];
}

/* w of a linear machine, from differences of its decisions. */
static void
check_plane(const Fitted *fitted, double w0, double w1, double b)
{
    double zero[2] = {0, 0}, first[2] = {1, 0}, second[2] = {0, 1};

    assert_near(decision(fitted, zero), b, 1e-6);
    assert_near(decision(fitted, first) - decision(fitted, zero), w0, 1e-6);
    assert_near(decision(fitted, second) - decision(fitted, zero), w1, 1e-6);
}

/* ---- worked examples ---- */

static const double points[] = {1, 3, 3, 1, 3, 3, 1, 1, 0, 0, 1, -1, 2, 2};
static const uint32_t point_label[] = {1, 1, 1, 0, 0, 0, 0};

static void
hard_margin(void **unused)
{
    const char *texts[] = {"svc(linear, c=inf, tol=1e-9)", "svc(linear, c=1, tol=1e-9)"};

    (void) unused;
    for (size_t t = 0; t < ELEMENTS(texts); t++)
    {
        Fitted fitted = fit(texts[t], 6, 2, points, point_label);

        assert_int_equal(fitted.status, KM_OK);
        check_plane(&fitted, 1, 1, -3);
        assert_near(fact(&fitted, "objective"), 1, 1e-8);
        assert_near(fact(&fitted, "n_sv"), 3, 0);
        end(&fitted);
    }
}

static void
soft_margin(void **unused)
{
    Fitted fitted = fit("svc(linear, c=2, tol=1e-9)", 7, 2, points, point_label);

    (void) unused;
    check_plane(&fitted, 1, 1, -3);
    assert_near(fact(&fitted, "objective"), 5, 1e-7);
    end(&fitted);
    fitted = fit("svc(linear, c=0.25, tol=1e-9)", 7, 2, points, point_label);
    check_plane(&fitted, 1.0 / 3, 1.0 / 3, -1);
    assert_near(fact(&fitted, "objective"), 17.0 / 18, 1e-8);
    end(&fitted);
    fitted = fit("svc(linear, cost=0.5, tol=1e-9)", 7, 2, points, point_label);
    assert_near(fact(&fitted, "objective"), 1.75, 1e-8);
    assert_near(intercept(&fitted), -1.5, 1e-8);
    end(&fitted);
}

/* Rows x of class 1 and -x of class 0 with equal weights, all within the margin: w = 2 c sum w_i x_i, every
 * alpha at its bound, and b by symmetry 0, the middle of an interval about as wide as 2. */
static void
every_row_at_its_bound(void **unused)
{
    enum { HALF = 40 };
    double x[2 * HALF], w[2 * HALF], slope;
    uint32_t label[2 * HALF];
    KmClasses classes = numbered(2);
    uint64_t seed = 21;

    (void) unused;
    for (int trial = 0; trial < 50; trial++)
    {
        Fitted fitted;

        slope = 0;
        for (size_t i = 0; i < HALF; i++)
        {
            size_t mirror = 2 * HALF - 1 - i;

            x[i] = -(x[mirror] = next_uniform(&seed, 0.1, 1));
            w[i] = w[mirror] = next_uniform(&seed, 0.1, 3);
            label[i] = 0;
            label[mirror] = 1;
            slope += 2 * 0.001 * w[i] * x[mirror];
        }
        fitted = fit_table("svc(linear, c=0.001)", 2 * HALF, 1, x, label, w, &classes);
        assert_int_equal(fitted.status, KM_OK);
        assert_near(intercept(&fitted), 0, 1e-12);
        assert_near(decision(&fitted, (double[]) {1}), slope, 1e-12);
        for (size_t s = 0; s < 2 * HALF; s++)
            assert_true(fabs(km_model_array(fitted.model, "coef")->data[s]) == 0.001 * w[s]);
        end(&fitted);
    }
}

static void
exclusive_or(void **unused)
{
    double x[] = {-1, -1, -1, 1, 1, -1, 1, 1}, z[] = {0.3, -0.7};
    uint32_t label[] = {0, 1, 1, 0};
    Fitted fitted = fit("svc(poly(degree=2, gamma=1, coef0=1), c=inf, tol=1e-9)", 4, 2, x, label);
    const KmArray *coef;

    (void) unused;
    coef = km_model_array(fitted.model, "coef");
    assert_int_equal(coef->rows, 4);
    for (size_t i = 0; i < 4; i++)
        assert_near(fabs(coef->data[i]), 0.125, 1e-9);
    assert_near(fact(&fitted, "objective"), 0.25, 1e-9);
    assert_near(decision(&fitted, z), 0.21, 1e-9);
    end(&fitted);
}

/* ---- real data, with the optima of reference solvers ---- */

#define MOST_ROWS 600
#define MOST_FEATURES 30

typedef struct Data
{
    size_t n_train, n_test, d;
    double train[MOST_ROWS * MOST_FEATURES], test[MOST_ROWS * MOST_FEATURES];
    uint32_t label[MOST_ROWS], test_label[MOST_ROWS];
} Data;

/* A line's d features from its numbers, and the last field; brackets and quotes count as commas. */
static char *
parse_line(char *line, double *id, size_t d, double *x)
{
    char *at = line;

    *id = strtod(at, &at);
    for (size_t j = 0; j < d; j++)
    {
        at += strspn(at, ",\"{");
        x[j] = strtod(at, &at);
    }
    at += strspn(at, ",\"}");
    at[strcspn(at, "\r\n")] = '\0';
    return at;
}

static void
standardise(Data *data)
{
    for (size_t j = 0; j < data->d; j++)
    {
        double mean = 0, square = 0, sd;

        for (size_t i = 0; i < data->n_train; i++)
            mean += data->train[i * data->d + j] / (double) data->n_train;
        for (size_t i = 0; i < data->n_train; i++)
            square += (data->train[i * data->d + j] - mean) * (data->train[i * data->d + j] - mean);
        sd = sqrt(square / (double) data->n_train);
        for (size_t i = 0; i < data->n_train; i++)
            data->train[i * data->d + j] = (data->train[i * data->d + j] - mean) / sd;
        for (size_t i = 0; i < data->n_test; i++)
            data->test[i * data->d + j] = (data->test[i * data->d + j] - mean) / sd;
    }
}

/* Test rows: the last feature is 1 if flagged, else id % 3 = 0. */
static Data *
load(const char *path, size_t d, bool flagged, uint32_t (*label_of)(const char *text))
{
    Data *data = test_calloc(1, sizeof *data);
    char line[4096];
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    data->d = d - flagged;
    while (fgets(line, sizeof line, file) != NULL)
    {
        double id, x[MOST_FEATURES];
        uint32_t label = label_of(parse_line(line, &id, d, x));
        bool is_test = flagged ? x[d - 1] == 1 : fmod(id, 3) == 0;
        size_t at = is_test ? data->n_test++ : data->n_train++;

        assert_true(at < MOST_ROWS);
        memcpy((is_test ? data->test : data->train) + at * data->d, x, data->d * sizeof *x);
        (is_test ? data->test_label : data->label)[at] = label;
    }
    fclose(file);
    if (!flagged)
        standardise(data);
    return data;
}

static uint32_t
moons_label(const char *text)
{
    return text[0] != '0' && text[0] != '-';
}

static uint32_t
cancer_label(const char *text)
{
    return text[0] == 'b' || text[0] == 'B';
}

static uint32_t
iris_label(const char *text)
{
    return text[0] == 's' ? 0 : text[2] == 'r' && text[1] == 'e' ? 1 : 2;
}

static size_t
correct(const Fitted *fitted, const Data *data)
{
    size_t count = 0;
    double values[MOST_CLASSES * MOST_CLASSES];

    for (size_t i = 0; i < data->n_test; i++)
    {
        assert_int_equal(km_scorer_values(fitted->ctx, fitted->scorer, 1, data->test + i * data->d,
                                          values), KM_OK);
        count += km_scorer_class(fitted->scorer, values) == (int) data->test_label[i];
    }
    return count;
}

static void
two_moons(void **unused)
{
    static const struct
    {
        const char *kernel;
        double objective;
        size_t n_sv, correct;
    } cases[] = {
        {"rbf(gamma=0.01)", 162.19644758929155, 198, 248}, {"rbf(gamma=0.1)", 108.27784781703963, 125, 255},
        {"rbf(gamma=1)", 62.38237776806374, 79, 264}, {"rbf(gamma=10)", 58.312626129450145, 126, 265},
        {"rbf(gamma=100)", 90.10151882539212, 256, 257}, {"rbf(gamma=1000)", 134.46358231647085, 299, 196},
        {"linear", 93.37244371061178, 98, 256},
    };
    Data *data = load("test/data/moons.csv", 3, true, moons_label);

    (void) unused;
    for (size_t c = 0; c < ELEMENTS(cases); c++)
        for (int exact = 0; exact < 2; exact++)
        {
            char text[100];
            Fitted fitted;

            snprintf(text, sizeof text, "svc(%s%s)", cases[c].kernel, exact ? ", tol=1e-8" : "");
            fitted = fit(text, data->n_train, data->d, data->train, data->label);
            assert_int_equal(fitted.status, KM_OK);
            assert_near(fact(&fitted, "objective"), cases[c].objective, exact ? 1e-7 : 1e-3);
            if (exact)
                assert_int_equal((int) fact(&fitted, "n_sv"), cases[c].n_sv);
            assert_near((double) correct(&fitted, data), (double) cases[c].correct, 1);
            end(&fitted);
        }
    test_free(data);
}

static void
breast_cancer(void **unused)
{
    static const struct
    {
        const char *learner;
        double objective, b, first, second;
        size_t n_sv, correct;
    } cases[] = {
        {"svc(rbf(gamma=0.03333333333333333), tol=1e-8)", 46.30694025554408, -0.2957927314507713,
         -2.203249647331707, -0.6466057379015615, 101, 182},
        {"svc(linear, tol=1e-8)", 19.85932882216234, -0.04318300537198308,
         -9.398239872446862, -1.4545673305215268, 33, 182},
        {"svc(poly(degree=3, gamma=0.03333333333333333, coef0=1), tol=1e-8)", 24.97327905562674,
         0.3243624863379544, -4.655558445058894, -0.15393138882058333, 55, 184},
        {"svc(matern(nu=1.5, length_scale=5), c=2, tol=1e-8)", 64.30018634745981, -0.2705294635869921,
         -2.100375693140849, -0.49410993588943236, 96, 184},
    };
    Data *data = load("test/data/breast_cancer.csv", 30, false, cancer_label);

    (void) unused;
    for (size_t c = 0; c < ELEMENTS(cases); c++)
    {
        Fitted fitted = fit(cases[c].learner, data->n_train, data->d, data->train, data->label);

        assert_int_equal(fitted.status, KM_OK);
        assert_near(fact(&fitted, "objective"), cases[c].objective, 1e-8 * (1 + cases[c].objective));
        assert_near(intercept(&fitted), cases[c].b, 1e-6);
        assert_near(decision(&fitted, data->test), cases[c].first, 1e-6);
        assert_near(decision(&fitted, data->test + data->d), cases[c].second, 1e-6);
        assert_int_equal((int) fact(&fitted, "n_sv"), cases[c].n_sv);
        assert_int_equal(correct(&fitted, data), cases[c].correct);
        end(&fitted);
    }
    test_free(data);
}

/* The reference's pairs are positive for the first class: signs turn. */
static void
iris(void **unused)
{
    static const double b[] = {-0.04346401806769302, -0.1928490850777433, 0.018716122056900954};
    static const double first[] = {1.185356357828404, 1.1301531174469022, 0.547768550655495};
    Data *data = load("test/data/iris.csv", 4, false, iris_label);
    KmClasses classes = numbered(3);
    Fitted fitted = fit_table("svc(rbf(gamma=0.25), tol=1e-8)", data->n_train, 4, data->train, data->label,
                              NULL,
                              &classes);
    const double *counts;
    double values[3];

    (void) unused;
    assert_int_equal(fitted.status, KM_OK);
    assert_near(fact(&fitted, "objective"), 2.7294968870226812 + 2.6051522858042793 + 17.727783900642955,
                1e-6);
    assert_int_equal((int) fact(&fitted, "n_sv"), 40);
    counts = km_model_array(fitted.model, "counts")->data;
    assert_true(counts[0] == 8 && counts[1] == 17 && counts[2] == 15);
    assert_int_equal(km_scorer_values(fitted.ctx, fitted.scorer, 1, data->test, values), KM_OK);
    for (size_t pair = 0; pair < 3; pair++)
    {
        assert_near(km_model_array(fitted.model, "intercept")->data[pair], -b[pair], 1e-6);
        assert_near(values[pair], -first[pair], 1e-6);
    }
    assert_int_equal(correct(&fitted, data), 46);
    end(&fitted);
    test_free(data);
}

/* ---- reports from other libraries ---- */

/* scikit-learn 4262, 30478: the sign of the decision, and weights on the right class. */
static void
class_weights(void **unused)
{
    double x[] = {0, 7, 6}, reversed[] = {7, 6, 0}, z[] = {0, 7, 6, 3};
    double expected[] = {-1, 4.0 / 3, 1, 0};
    uint32_t label[] = {0, 0, 1}, reversed_label[] = {0, 1, 0};
    KmClasses classes = {.n = 2, .kind = KM_LABEL_NUMBER, .text = (const char *[]) {"-1", "1"},
                         .number = (double[]) {-1, 1}};
    const char *texts[] = {"svc(linear, c=40, class_weight={-1: 0.25, 1: 1}, tol=1e-8)",
                           "svc(linear, c=40, class_weight={-1.0: 0.25}, tol=1e-8)"};

    (void) unused;
    for (size_t t = 0; t < ELEMENTS(texts); t++)
        for (int turn = 0; turn < 2; turn++)
        {
            Fitted fitted = fit_table(texts[t], 3, 1, turn ? reversed : x, turn ? reversed_label : label,
                                      NULL,
                                      &classes);

            assert_int_equal(fitted.status, KM_OK);
            for (size_t i = 0; i < ELEMENTS(z); i++)
                assert_near(decision(&fitted, z + i), expected[i], 1e-4);
            assert_near(fact(&fitted, "objective"), 23.3889, 1e-3);
            end(&fitted);
        }
}

static void
class_weights_by_text(void **unused)
{
    double x[] = {0, 1, 2, 3, 2.2}, z[] = {0, 2, 3}, expected[] = {1, -0.8182, -1.7273};
    double unweighted[] = {2, 0, -1};
    uint32_t label[] = {1, 1, 1, 0, 0};
    KmClasses classes = {.n = 2, .kind = KM_LABEL_TEXT, .text = (const char *[]) {"hi", "lo"},
                         .number = (double[]) {NAN, NAN}};
    Fitted fitted = fit_table("svc(linear, c=0.5, class_weight={hi: 3}, tol=1e-6)", 5, 1, x, label, NULL,
                              &classes);

    (void) unused;
    for (size_t i = 0; i < 3; i++)
        assert_near(decision(&fitted, z + i), expected[i], 1e-3);
    end(&fitted);
    fitted = fit_table("svc(linear, c=0.5, tol=1e-6)", 5, 1, x, label, NULL, &classes);
    for (size_t i = 0; i < 3; i++)
        assert_near(decision(&fitted, z + i), unweighted[i], 1e-3);
    end(&fitted);
    fitted = fit_table("svc(linear, class_weight={hi: 3, medium: 2})", 5, 1, x, label, NULL, &classes);
    assert_int_equal(fitted.status, KM_INVALID);
    assert_non_null(strstr(fitted.ctx->message, "\"medium\""));
    end(&fitted);
}

/* n / (k n_c): 3 rows against 1 make weights 2/3 and 2. */
static void
balanced_weights(void **unused)
{
    double x[] = {0, 0.5, 2, 1.4};
    uint32_t label[] = {0, 0, 0, 1};
    Fitted balanced = fit("svc(linear, c=0.3, class_weight=balanced, tol=1e-9)", 4, 1, x, label);
    Fitted given = fit("svc(linear, c=0.3, class_weight={0: 0.6666666666666666, 1: 2}, tol=1e-9)", 4, 1, x,
                       label);

    (void) unused;
    assert_int_equal(balanced.status, KM_OK);
    assert_near(fact(&balanced, "objective"), fact(&given, "objective"), 1e-12);
    assert_near(intercept(&balanced), intercept(&given), 1e-12);
    end(&balanced);
    end(&given);
}

/* scikit-learn 30056 */
static void
weights_are_repeated_rows(void **unused)
{
    double x[] = {0, 0, 1, 1, 2, 0, 3, 1, 0, 2, 3, 3}, w[] = {1, 2, 1, 3, 1, 1};
    double repeated[] = {0, 0, 1, 1, 1, 1, 2, 0, 3, 1, 3, 1, 3, 1, 0, 2, 3, 3};
    uint32_t label[] = {0, 0, 1, 1, 0, 1}, repeated_label[] = {0, 0, 0, 1, 1, 1, 1, 0, 1};
    double first[] = {1, 2}, second[] = {2.5, 0.5};
    KmClasses classes = numbered(2);
    Fitted weighted = fit_table("svc(rbf(gamma=0.5), tol=1e-6)", 6, 2, x, label, w, &classes);
    Fitted again = fit("svc(rbf(gamma=0.5), tol=1e-6)", 9, 2, repeated, repeated_label);

    (void) unused;
    assert_near(decision(&weighted, first), -0.787417, 1e-5);
    assert_near(decision(&weighted, second), 1.014752, 1e-5);
    assert_near(decision(&again, first), -0.787417, 1e-5);
    assert_near(decision(&again, second), 1.014752, 1e-5);
    end(&weighted);
    end(&again);
}

/* skordinal 83: constant features, every label twice. */
static void
constant_features(void **unused)
{
    double x[] = {3, 3, 3, 3, 3, 3, 3, 3};
    uint32_t label[] = {0, 1, 0, 1};
    Fitted fitted = fit("svc(rbf(gamma=scale))", 4, 2, x, label);

    (void) unused;
    assert_int_equal(fitted.status, KM_OK);
    assert_non_null(strstr(fitted.model->learner, "gamma=1"));
    assert_near(decision(&fitted, x), 0, 1e-6);
    end(&fitted);
}

/* scikit-learn 4611: K = I. */
static void
identity_kernel(void **unused)
{
    double x[] = {0, 10, 20}, z[] = {5, 0, 20}, expected[] = {1.0 / 3, 1, -1};
    uint32_t label[] = {1, 1, 0};
    Fitted fitted = fit("svc(rbf(gamma=1e6), c=10, tol=1e-6)", 3, 1, x, label);

    (void) unused;
    for (size_t i = 0; i < 3; i++)
        assert_near(decision(&fitted, z + i), expected[i], 1e-5);
    end(&fitted);
}

/* thundersvm 125 */
static void
large_cost(void **unused)
{
    double x[] = {2, 2, 3, 3, 0, 0, 1, 0}, expected[] = {1, 2.2, -1.4, -1};
    uint32_t label[] = {1, 1, 0, 0};
    const char *costs[] = {"1e3", "1e5", "1e8", "1e10", "inf"};

    (void) unused;
    for (size_t c = 0; c < ELEMENTS(costs); c++)
    {
        char text[60];
        Fitted fitted;

        snprintf(text, sizeof text, "svc(linear, c=%s)", costs[c]);
        fitted = fit(text, 4, 2, x, label);
        for (size_t i = 0; i < 4; i++)
            assert_near(decision(&fitted, x + 2 * i), expected[i], 1e-3);
        assert_near(fact(&fitted, "objective"), 0.4, 1e-3);
        end(&fitted);
    }
}

/* scikit-learn 8277: three votes for three classes. */
static void
tie_of_votes(void **unused)
{
    double x[] = {6, 0, 4, 7, 8, 1, 6, 2, 2, 1, 3, 5}, z[] = {5, 9}, values[3];
    uint32_t label[] = {0, 0, 1, 1, 2, 2};
    KmClasses classes = numbered(3);
    Fitted fitted = fit_table("svc(linear, tol=1e-6)", 6, 2, x, label, NULL, &classes);

    (void) unused;
    assert_int_equal(km_scorer_values(fitted.ctx, fitted.scorer, 1, z, values), KM_OK);
    assert_near(values[0], 0.375, 1e-3);
    assert_near(values[1], -3, 1e-3);
    assert_near(values[2], 0.4667, 1e-3);
    assert_int_equal(km_scorer_class(fitted.scorer, values), 0);
    end(&fitted);
}

/* A kernel that is not positive semidefinite. */
static void
indefinite_kernel(void **unused)
{
    double x[] = {0.766655, 0.682869, 0.228259, 0.215964, 0.844907, 0.622898, 0.107109, 0.237776, 0.5, 0.9,
                  0.3, 0.1};
    uint32_t label[] = {0, 1, 0, 1, 1, 0};
    Fitted fitted = fit("svc(sigmoid(gamma=4, coef0=-3), c=10)", 6, 2, x, label);
    const KmArray *coef;

    (void) unused;
    assert_int_equal(fitted.status, KM_OK);
    coef = km_model_array(fitted.model, "coef");
    for (size_t i = 0; i < coef->rows; i++)
        assert_true(isfinite(coef->data[i]) && fabs(coef->data[i]) <= 10);
    assert_true(fact(&fitted, "iterations") < 1000);
    end(&fitted);
}

static void
opposite_duplicates(void **unused)
{
    double x[] = {1, 1, 1, 1, 5, -5};
    uint32_t label[] = {0, 1, 0, 1, 1, 0};
    Fitted fitted = fit("svc(rbf(gamma=0.5), c=1e6, max_iter=100000)", 6, 1, x, label);

    (void) unused;
    assert_int_equal(fitted.status, KM_OK);
    assert_near(decision(&fitted, x), 0, 1e-3);
    assert_true(fact(&fitted, "objective") > 0);
    end(&fitted);
}

/* The bisector, half a distance away: w = 2 (x1 - x0) / |x1 - x0|^2. */
static void
two_rows(void **unused)
{
    double x[] = {1, 2, 4, 6};
    uint32_t label[] = {0, 1};
    Fitted fitted = fit("svc(linear, c=10)", 2, 2, x, label);

    (void) unused;
    check_plane(&fitted, 2 * 3 / 25.0, 2 * 4 / 25.0, -(2 * 3 * 2.5 + 2 * 4 * 4) / 25);
    end(&fitted);
}

static void
values_that_overflow(void **unused)
{
    double x[] = {1e160, 0, -1e160, 1};
    uint32_t label[] = {1, 0};
    Fitted fitted = fit("svc(linear)", 2, 2, x, label);

    (void) unused;
    assert_int_equal(fitted.status, KM_RANGE);
    end(&fitted);
}

/* ---- what goes wrong ---- */

static void
classes_that_are_missing(void **unused)
{
    double x[] = {1, 2, 3, 4, 5}, values[3];
    uint32_t one[] = {0, 0, 0, 0, 0}, two[] = {0, 0, 0, 1, 1}, three[] = {0, 0, 1, 2, 2};
    KmClasses single = {.n = 1, .kind = KM_LABEL_BOOL, .text = (const char *[]) {"false"},
                        .number = (double[]) {0}};
    KmClasses classes = numbered(3);
    Fitted fitted = fit_table("svc", 5, 1, x, one, NULL, &single);

    (void) unused;
    assert_int_equal(fitted.status, KM_DATA);
    assert_string_equal(fitted.ctx->message, "svc needs at least two classes, found only \"false\"");
    end(&fitted);
    fitted = fit("svc(class_weight={1: 0})", 5, 1, x, two);
    assert_string_equal(fitted.ctx->message, "svc needs at least two classes, found only \"0\"");
    end(&fitted);
    fitted = fit("svc(class_weight={0: 0, 1: 0})", 5, 1, x, two);
    assert_int_equal(fitted.status, KM_DATA);
    end(&fitted);
    /* A class left out loses to the others; those are decided as ever. */
    fitted = fit_table("svc(linear, class_weight={1: 0})", 5, 1, x, three, NULL, &classes);
    for (size_t i = 0; i < 5; i++)
    {
        assert_int_equal(km_scorer_values(fitted.ctx, fitted.scorer, 1, x + i, values), KM_OK);
        assert_int_equal(km_scorer_class(fitted.scorer, values), i < 3 ? 0 : 2);
    }
    end(&fitted);
}

static void
parameters_out_of_range(void **unused)
{
    static const char *const texts[] = {"svc(c=0)", "svc(c=-1)", "svc(c=nan)", "svc(tol=0)",
                                        "svc(max_iter=0)",
                                        "svc(max_iter=1.5)", "svc(class_weight={0: -1})",
                                            "svc(class_weight=fair)",
                                        "svc(gama=1)", "svc(multiclass=all)", "svc(rbf(gamma=-1))",
                                        "svc(rbf(degree=2))", "svc(probability=maybe)"};
    double x[] = {0, 1, 2, 3};
    uint32_t label[] = {0, 0, 1, 1};

    (void) unused;
    for (size_t t = 0; t < ELEMENTS(texts); t++)
    {
        Fitted fitted = fit(texts[t], 4, 1, x, label);

        assert_true(fitted.status == KM_INVALID || fitted.status == KM_SYNTAX);
        end(&fitted);
    }
}

static void
inseparable_hard_margin(void **unused)
{
    double x[] = {0, 1, 2, 3}, same[] = {1, 1};
    uint32_t label[] = {0, 1, 0, 1};
    Fitted fitted = fit("svc(linear, c=inf)", 4, 1, x, label);

    (void) unused;
    assert_int_equal(fitted.status, KM_DATA);
    assert_non_null(strstr(fitted.ctx->message, "\"0\" and \"1\""));
    assert_non_null(strstr(fitted.ctx->hint, "finite c"));
    end(&fitted);
    fitted = fit("svc(c=inf)", 2, 1, same, label);
    assert_int_equal(fitted.status, KM_DATA);
    end(&fitted);
}

static void
warning_without_convergence(void **unused)
{
    Data *data = load("test/data/breast_cancer.csv", 30, false, cancer_label);
    KmClasses classes = numbered(2);
    KmTable table = {.n = data->n_train, .d = data->d, .x = data->train, .label = data->label,
                     .classes = &classes};
    Fitted fitted;

    (void) unused;
    begin(&fitted, SIZE_MAX);
    run(&fitted, "svc(max_iter=10)", &table);
    assert_int_equal(fitted.status, KM_OK);
    assert_int_equal(fitted.warnings, 1);
    assert_true(fact(&fitted, "converged") == 0 && fact(&fitted, "iterations") == 10);
    assert_true(fact(&fitted, "gap") > 1e-3);
    end(&fitted);
    test_free(data);
}

/* ---- memory and cancelling ---- */

#define LARGE 3000

static void
noisy_disc(double *x, uint32_t *label)
{
    uint64_t seed = 21;

    for (size_t i = 0; i < LARGE; i++)
    {
        x[2 * i] = next_uniform(&seed, -1, 1);
        x[2 * i + 1] = next_uniform(&seed, -1, 1);
        label[i] = x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1] + next_uniform(&seed, -0.3, 0.3) < 0.6;
    }
}

static void
within_the_memory_cap(void **unused)
{
    static double x[2 * LARGE];
    static uint32_t label[LARGE];
    KmClasses classes = numbered(2);
    KmTable table = {.n = LARGE, .d = 2, .x = x, .label = label, .classes = &classes};
    size_t caps[] = {SIZE_MAX, (size_t) 9 << 20, (size_t) 1 << 20};
    double objective = 0;

    (void) unused;
    noisy_disc(x, label);
    for (size_t c = 0; c < ELEMENTS(caps); c++)
    {
        Fitted fitted;

        begin(&fitted, caps[c]);
        run(&fitted, "svc(rbf(gamma=3), c=5)", &table);
        assert_true(fitted.ctx->peak_bytes <= caps[c]);
        if (c == 0)
            objective = fact(&fitted, "objective");
        else if (c == 1)
            assert_near(fact(&fitted, "objective"), objective, 1e-5 * objective);
        else
        {
            assert_int_equal(fitted.status, KM_MEMORY);
            assert_non_null(strstr(fitted.ctx->message, "svc on 3000 rows"));
        }
        end(&fitted);
    }
}

/* The value of the primal, 1/2 |w|^2 + c sum of hinge losses, from decision values alone. */
static double
primal(const Fitted *fitted, double c, size_t n, const double *x, const uint32_t *label)
{
    const KmArray *rows = km_model_array(fitted->model, "rows");
    const KmArray *coef = km_model_array(fitted->model, "coef");
    double value = 0;

    for (size_t s = 0; s < rows->rows; s++)
        value += coef->data[s] * (decision(fitted, rows->data + s * rows->columns) - intercept(fitted)) / 2;
    for (size_t i = 0; i < n; i++)
        value += c * fmax(0, 1 - (label[i] == 1 ? 1 : -1) * decision(fitted, x + i * rows->columns));
    return value;
}

/* More steps than rows, so that blocks take over: the dual still meets the primal. */
static void
duality_gap_of_a_long_run(void **unused)
{
    static double x[2 * LARGE];
    static uint32_t label[LARGE];
    const char *texts[] = {"svc(rbf(gamma=3), c=1000)", "svc(rbf(gamma=3) + 0.1*linear, c=1000)"};

    (void) unused;
    noisy_disc(x, label);
    for (size_t t = 0; t < ELEMENTS(texts); t++)
    {
        Fitted fitted = fit(texts[t], LARGE, 2, x, label);
        double objective = fact(&fitted, "objective");

        assert_true(fact(&fitted, "converged") == 1 && fact(&fitted, "iterations") > 2 * LARGE);
        assert_near(primal(&fitted, 1000, LARGE, x, label), objective, 1e-3 * objective);
        end(&fitted);
    }
}

static bool
stop_later(KmContext *ctx)
{
    int *left = ctx->owner;

    return --*left < 0;
}

/* Two clouds that overlap, with large boxes: the dual meets the primal after few steps. */
static void
overlap_with_large_costs(void **unused)
{
    enum { N = 200 };
    static const struct
    {
        const char *kernel;
        double c;
    } cases[] = {{"linear", 1e4}, {"linear", 1e8}, {"rbf(gamma=1)", 1e4}, {"rbf(gamma=1)", 1e6},
                 {"rbf(gamma=1)", 1e8}, {"poly(degree=3)", 1e6}};
    double x[2 * N];
    uint32_t label[N];
    uint64_t seed = 23;
    KmClasses classes = numbered(2);
    KmTable table = {.n = N, .d = 2, .x = x, .label = label, .classes = &classes};
    Fitted fitted;

    (void) unused;
    for (size_t i = 0; i < N; i++)
    {
        label[i] = next_bits(&seed) % 2;
        x[2 * i] = next_uniform(&seed, -1, 1) + next_uniform(&seed, -1, 1) + label[i];
        x[2 * i + 1] = next_uniform(&seed, -1, 1) + next_uniform(&seed, -1, 1);
    }
    for (size_t t = 0; t < ELEMENTS(cases); t++)
    {
        char text[100];

        snprintf(text, sizeof text, "svc(%s, c=%g)", cases[t].kernel, cases[t].c);
        fitted = fit(text, N, 2, x, label);
        assert_true(fact(&fitted, "converged") == 1 && fact(&fitted, "iterations") < 100000);
        /* Each row's loss is known to tol. */
        assert_near(primal(&fitted, cases[t].c, N, x, label), fact(&fitted, "objective"),
                    1e-3 * cases[t].c * N);
        end(&fitted);
    }
    /* Sums of 1e14 are known to about 0.1: a warning, and soon. */
    begin(&fitted, SIZE_MAX);
    run(&fitted, "svc(linear, c=1e13)", &table);
    assert_true(fitted.status == KM_OK && fitted.warnings == 1);
    assert_true(fact(&fitted, "converged") == 0 && fact(&fitted, "iterations") < 1000000);
    end(&fitted);
}

static void
cancelled(void **unused)
{
    static double x[2 * LARGE];
    static uint32_t label[LARGE];
    KmClasses classes = numbered(2);
    KmTable table = {.n = LARGE, .d = 2, .x = x, .label = label, .classes = &classes};

    (void) unused;
    noisy_disc(x, label);
    for (int polls = 1000; polls < 5000; polls += 1500)
    {
        Fitted fitted;
        int left = polls;

        begin(&fitted, SIZE_MAX);
        fitted.ctx->warn = NULL;
        fitted.ctx->owner = &left;
        fitted.ctx->poll = stop_later;
        run(&fitted, "svc(rbf(gamma=3), c=5)", &table);
        assert_int_equal(fitted.status, KM_CANCELLED);
        end(&fitted);
    }
}

/* Whatever the bytes say, a model is checked before it is used. */
static void
models_that_are_wrong(void **unused)
{
    Fitted fitted = fit("svc(linear)", 6, 2, points, point_label);
    KmModel *model = fitted.model;
    KmScorer *scorer;

    (void) unused;
    for (size_t a = 0; a < model->n_arrays; a++)
    {
        KmArray kept = model->array[a];

        model->array[a].rows--;
        assert_int_equal(km_scorer_create(fitted.ctx, model, &scorer), KM_CORRUPT);
        model->array[a] = kept;
    }
    km_model_array(model, "counts")->data[0] = 1e300;
    assert_int_equal(km_scorer_create(fitted.ctx, model, &scorer), KM_CORRUPT);
    km_model_array(model, "counts")->data[0] = NAN;
    assert_int_equal(km_scorer_create(fitted.ctx, model, &scorer), KM_CORRUPT);
    km_model_array(model, "counts")->data[0] = 0.5;
    assert_int_equal(km_scorer_create(fitted.ctx, model, &scorer), KM_CORRUPT);
    km_model_array(model, "counts")->data[0] = 0;
    assert_int_equal(km_scorer_create(fitted.ctx, model, &scorer), KM_CORRUPT);
    end(&fitted);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_margin),
        cmocka_unit_test(soft_margin),
        cmocka_unit_test(every_row_at_its_bound),
        cmocka_unit_test(exclusive_or),
        cmocka_unit_test(two_moons),
        cmocka_unit_test(breast_cancer),
        cmocka_unit_test(iris),
        cmocka_unit_test(class_weights),
        cmocka_unit_test(class_weights_by_text),
        cmocka_unit_test(balanced_weights),
        cmocka_unit_test(weights_are_repeated_rows),
        cmocka_unit_test(constant_features),
        cmocka_unit_test(identity_kernel),
        cmocka_unit_test(large_cost),
        cmocka_unit_test(tie_of_votes),
        cmocka_unit_test(indefinite_kernel),
        cmocka_unit_test(opposite_duplicates),
        cmocka_unit_test(two_rows),
        cmocka_unit_test(values_that_overflow),
        cmocka_unit_test(classes_that_are_missing),
        cmocka_unit_test(parameters_out_of_range),
        cmocka_unit_test(inseparable_hard_margin),
        cmocka_unit_test(warning_without_convergence),
        cmocka_unit_test(within_the_memory_cap),
        cmocka_unit_test(duality_gap_of_a_long_run),
        cmocka_unit_test(overlap_with_large_costs),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(models_that_are_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
