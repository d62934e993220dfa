/*
 * test_interruption.c: a cancel at any poll and a failure of any allocation come out as what they are,
 * whatever the learner: fitted, in passes, written, read and scored.
 */
#include <stdio.h>

#include "fitting.h"

#include "passes.h"
#include "survey.h"

#define N 40
#define D 2
#define PLACES 60               /* places of a learner's work that are tried, at the most */

typedef struct Trial
{
    const char *learner;
    enum { NUMBER, LABEL, NONE } target;
    size_t classes;
} Trial;

static const Trial trials[] = {
    {"svc(rbf(gamma=median), probability=true)", LABEL, 2},
    {"scale | svc(rbf, multiclass=ovr)", LABEL, 3},
    {"nu_svc(rbf, nu=0.3)", LABEL, 2},
    {"svr(matern(nu=1.3))", NUMBER, 0},
    {"nu_svr", NUMBER, 0},
    {"one_class", NONE, 0},
    {"krr(rbf, lambda=logspace(-6, 2, 9), select=loo)", NUMBER, 0},
    {"krr(rbf, method=cg, rank=5)", NUMBER, 0},
    {"gp(1*rbf(length_scale=[1, 2]) + white, optimize=true)", NUMBER, 0},
    {"gp(rbf, method=cg, variance=false)", NUMBER, 0},
    {"gpc", LABEL, 2},
    {"scale | rff(rbf(gamma=median), 20) | ridge", NUMBER, 0},
    {"minmax | orf(rbf(gamma=scale), 20) | ridge", NUMBER, 0},
    {"nystroem(rbf(gamma=median), 8) | ridge", NUMBER, 0},
    {"nystroem(rbf(gamma=median), 8, method=kmeans) | logistic", LABEL, 3},
    {"impute(mean) | scale | linear_svc(class_weight=balanced)", LABEL, 3},
    {"poly_features(3) | ridge(lambda=logspace(-3, 3, 7), select=gcv)", NUMBER, 0},
    {"scale | ridge_classifier", LABEL, 3},
    {"linear_svr", NUMBER, 0},
};

static double x[N * D], y[N];
static uint32_t label[N];

/* ---- the work ---- */

/* Constants of the steps in passes, as train learns them. */
static KmStatus
learn(KmContext *ctx, KmLearner *learner)
{
    for (;;)
    {
        KmSurvey *survey;
        KmPass *pass;
        size_t next;

        KM_TRY(km_passes_next(ctx, learner, &next));
        if (next == learner->n_steps)
            return KM_OK;
        KM_TRY(km_pass_create(ctx, learner, D, &pass));
        KM_TRY(km_alloc_bytes(ctx, pass->survey_bytes, 1, (void **) &survey));
        km_pass_start(pass, survey);
        for (size_t i = 0; i < N; i++)
            KM_TRY(km_pass_add(ctx, pass, survey, x + i * D, 1.0));
        KM_TRY(km_pass_learn(ctx, learner, survey));
    }
}

static KmStatus
work(KmContext *ctx, const Trial *trial)
{
    KmClasses classes = {.n = trial->classes, .kind = KM_LABEL_NUMBER, .text = (const char **) fitting_digits,
                         .number = (double *) fitting_numbers};
    KmTable table = {.n = N, .d = D, .x = x};
    KmLearner *learner, *again;
    KmModel *model, *back;
    KmScorer *scorer;
    unsigned char *bytes;
    double out[8 * N];

    if (trial->target == NUMBER)
        table.n_targets = 1, table.y = y;
    if (trial->target == LABEL)
        table.label = label, table.classes = &classes;
    KM_TRY(km_learner_parse(ctx, trial->learner, strlen(trial->learner), &learner));
    KM_TRY(km_learner_with_defaults(ctx, learner, &again));
    KM_TRY(learn(ctx, again));
    KM_TRY(km_learner_fit(ctx, learner, &table, &model));
    KM_TRY(km_alloc(ctx, km_model_encoded_size(model), &bytes));
    KM_TRY(km_model_encode(ctx, model, bytes));
    KM_TRY(km_model_decode(ctx, bytes, km_model_encoded_size(model), &back));
    KM_TRY(km_scorer_create(ctx, back, &scorer));
    return km_scorer_values(ctx, scorer, N, x, out);
}

/* ---- what interrupts it ---- */

static size_t polls, allocations, stop_at, fail_at;
static char message[sizeof ((KmContext *) NULL)->message];
static void *(*allocate) (KmContext *ctx, size_t bytes);

static bool
poll(KmContext *ctx)
{
    (void) ctx;
    return ++polls == stop_at;
}

static void *
allocate_or_fail(KmContext *ctx, size_t bytes)
{
    return ++allocations == fail_at ? NULL : allocate(ctx, bytes);
}

static KmStatus
run(const Trial *trial, size_t stop, size_t fail)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmStatus status;

    allocate = ctx->allocate;
    ctx->allocate = allocate_or_fail;
    ctx->poll = poll;
    polls = allocations = 0;
    stop_at = stop;
    fail_at = fail;
    for (size_t i = 0; i < N; i++)
        label[i] = (uint32_t) (i % 3 == 0 || trial->classes == 2 ? x[i * D] > 0 : 2);
    status = work(ctx, trial);
    snprintf(message, sizeof message, "%s", ctx->message);
    km_context_destroy(ctx);
    return status;
}

static void
test_every_interruption_comes_out(void **unused)
{
    (void) unused;
    for (size_t i = 0; i < N; i++)
    {
        x[i * D] = sin(1.7 * (double) i) + 0.01 * (double) i;
        x[i * D + 1] = cos(0.9 * (double) i);
        y[i] = sin((double) i);
    }
    for (size_t t = 0; t < sizeof trials / sizeof *trials; t++)
    {
        size_t all_polls, all_allocations;

        if (run(&trials[t], 0, 0) != KM_OK)
            fail_msg("%s: %s", trials[t].learner, message);
        all_polls = polls;
        all_allocations = allocations;
        for (size_t i = 0; i < PLACES; i++)
        {
            size_t stop = 1 + i * all_polls / PLACES, fail = 1 + i * all_allocations / PLACES;

            if (run(&trials[t], stop, 0) != KM_CANCELLED)
                fail_msg("%s: the cancel at poll %zu of %zu is lost", trials[t].learner, stop, all_polls);
            if (run(&trials[t], 0, fail) != KM_MEMORY)
                fail_msg("%s: the failure of allocation %zu of %zu is lost", trials[t].learner, fail,
                         all_allocations);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_interruption_comes_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
