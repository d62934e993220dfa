/*
 * fitting.h: learners' texts fitted to small tables, for the tests of support vector machines; twelve points
 * of the plane with labels, targets and weights, on which LIBSVM's values are known.
 */
#ifndef KM_TEST_FITTING_H
#define KM_TEST_FITTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "learner.h"

#define ELEMENTS(a) (sizeof(a) / sizeof(a)[0])
#define MOST_VALUES 16
#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

typedef struct Fitted
{
    KmContext *ctx;
    KmStatus status;
    KmModel *model;
    KmScorer *scorer;
    int warnings, notices;
} Fitted;

static inline void
count_warning(KmContext *ctx, const char *message)
{
    (void) message;
    ((Fitted *) ctx->owner)->warnings++;
}

static inline void
count_notice(KmContext *ctx, const char *message)
{
    assert_non_null(strstr(message, "\"scale\""));
    ((Fitted *) ctx->owner)->notices++;
}

static inline void
fit(Fitted *fitted, const char *text, const KmTable *table)
{
    KmLearner *learner;

    *fitted = (Fitted) {.ctx = km_context_create(SIZE_MAX)};
    fitted->ctx->owner = fitted;
    fitted->ctx->warn = count_warning;
    fitted->ctx->notice = count_notice;
    fitted->status = km_learner_parse(fitted->ctx, text, strlen(text), &learner);
    if (fitted->status == KM_OK)
        fitted->status = km_learner_fit(fitted->ctx, learner, table, &fitted->model);
    if (fitted->status == KM_OK)
        assert_int_equal(km_scorer_create(fitted->ctx, fitted->model, &fitted->scorer), KM_OK);
}

static inline void
end(Fitted *fitted)
{
    km_context_destroy(fitted->ctx);
}

/* Value o of a row. */
static inline double
value(const Fitted *fitted, const double *x, size_t o)
{
    double values[MOST_VALUES];

    assert_int_equal(fitted->status, KM_OK);
    assert_in_range(fitted->scorer->score.n_out, o + 1, MOST_VALUES);
    assert_int_equal(km_scorer_values(fitted->ctx, fitted->scorer, 1, x, values), KM_OK);
    return values[o];
}

static inline double
predicted(const Fitted *fitted, const double *x)
{
    double values[MOST_VALUES], out;

    assert_int_equal(km_scorer_values(fitted->ctx, fitted->scorer, 1, x, values), KM_OK);
    assert_int_equal(km_scorer_predict(fitted->ctx, fitted->scorer, values, &out), KM_OK);
    return out;
}

static inline double
fact(const Fitted *fitted, const char *name)
{
    const KmFact *found = km_model_fact(fitted->model, name);

    assert_non_null(found);
    return found->number;
}

static inline const KmArray *
array(const Fitted *fitted, const char *name)
{
    return km_model_array(fitted->model, name);
}

static const char *const fitting_digits[] = {"0", "1", "2"};
static const double fitting_numbers[] = {0, 1, 2};

static inline KmClasses
numbered(size_t k)
{
    return (KmClasses) {.n = k, .kind = KM_LABEL_NUMBER, .text = (const char **) fitting_digits,
                        .number = (double *) fitting_numbers};
}

/* ---- twelve points; values of LIBSVM by scikit-learn 1.9 at tol=1e-12 ---- */

#define POINTS 12
#define REPEATED 16             /* with weights as repetitions */
#define QUERIES 4

static const double points[2 * POINTS] = {
    0.1, 0.2, 0.4, 1.1, 0.9, 0.3, 1.2, 1.4, 1.7, 0.2, 2.1, 1.9, 2.2, 0.8, 2.8, 1.5, 3.1, 0.1, 3.3, 2.2, 3.9,
    1.2, 4.2, 0.6};
static const double point_weight[POINTS] = {1, 2, 1, 1, 3, 1, 1, 2, 1, 1, 1, 1};
static const uint32_t point_label[POINTS] = {0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1};
static const uint32_t point_class[POINTS] = {0, 0, 1, 2, 1, 0, 1, 2, 1, 2, 2, 1};
static const double queries[2 * QUERIES] = {0.5, 0.5, 1.5, 1, 3, 1, 5, -1};

static inline double
point_target(size_t i)
{
    return sin(points[2 * i]) + 0.5 * points[2 * i + 1];
}

static inline void
check_queries(const Fitted *fitted, const double *expected, double tolerance)
{
    for (size_t i = 0; i < QUERIES; i++)
        assert_near(value(fitted, queries + 2 * i, 0), expected[i], tolerance);
}

/* ---- a weight is so many equal rows ---- */

/* The points with each as often as it weighs. */
typedef struct Repeats
{
    double x[2 * REPEATED], y[REPEATED];
    uint32_t label[REPEATED];
} Repeats;

static inline Repeats
repeat_points(void)
{
    Repeats repeats;
    size_t to = 0;

    for (size_t i = 0; i < POINTS; i++)
        for (int copy = 0; copy < point_weight[i]; copy++, to++)
        {
            memcpy(repeats.x + 2 * to, points + 2 * i, 2 * sizeof *points);
            repeats.y[to] = point_target(i);
            repeats.label[to] = point_label[i];
        }
    return repeats;
}

/* The points with their weights and the repeated ones give the values and keep as many rows; ends both. */
static inline void
check_repeats(Fitted *weighted, Fitted *repeated, const double *expected)
{
    check_queries(weighted, expected, 1e-6);
    check_queries(repeated, expected, 1e-6);
    assert_int_equal(array(weighted, "rows")->rows, array(repeated, "rows")->rows);
    end(weighted);
    end(repeated);
}

#endif
