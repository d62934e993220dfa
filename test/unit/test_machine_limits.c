/*
 * test_machine_limits.c: support vector machines under a memory cap, seen by an allocator that counts for
 * itself; how often they poll, also with very long rows; and the progress they report.
 */
#include "fitting.h"
#include "numbers.h"
#include "polling.h"

/* ---- an allocator that counts ---- */

typedef struct Block
{
    _Alignas(64) struct Block *next, *previous;
    size_t bytes;
} Block;

typedef struct Counter
{
    Block all;                  /* head of a ring */
    size_t used, peak;
} Counter;

static void *
counting_allocate(KmContext *ctx, size_t bytes)
{
    Counter *counter = ctx->owner;
    Block *block = aligned_alloc(64, sizeof *block + (bytes + 63) / 64 * 64);

    *block = (Block) {.next = counter->all.next, .previous = &counter->all, .bytes = bytes};
    block->next->previous = block->previous->next = block;
    counter->used += bytes;
    counter->peak = counter->used > counter->peak ? counter->used : counter->peak;
    return block + 1;
}

static void
counting_release(KmContext *ctx, void *data)
{
    Counter *counter = ctx->owner;
    Block *block = (Block *) data - 1;

    counter->used -= block->bytes;
    block->next->previous = block->previous;
    block->previous->next = block->next;
    free(block);
}

static void
counter_begin(KmContext *ctx, Counter *counter, size_t cap)
{
    *counter = (Counter) {.all = {&counter->all, &counter->all, 0}};
    *ctx = (KmContext) {.allocate = counting_allocate, .release = counting_release, .owner = counter,
                        .max_bytes = cap};
}

static void
counter_end(KmContext *ctx, Counter *counter)
{
    while (counter->all.next != &counter->all)
        counting_release(ctx, counter->all.next + 1);
    assert_int_equal(counter->used, 0);
}

/* ---- rows ---- */

#define N 800
#define D 3

typedef struct Rows
{
    double x[N * D], y[N], w[N];
    uint32_t two[N], three[N];
} Rows;

static void
fill(Rows *rows)
{
    uint64_t seed = 31;

    for (size_t i = 0; i < N; i++)
    {
        double *x = rows->x + i * D;

        for (size_t j = 0; j < D; j++)
            x[j] = next_uniform(&seed, -1, 1);
        rows->y[i] = sin(3 * x[0]) + x[1] * x[2] + next_uniform(&seed, -0.2, 0.2);
        rows->w[i] = next_uniform(&seed, 0.5, 2);
        rows->two[i] = rows->y[i] > 0;
        rows->three[i] = rows->y[i] > 0.5 ? 2 : rows->y[i] > -0.5;
    }
}

static KmStatus
fit_in(KmContext *ctx, const char *text, const KmTable *table, KmModel **model)
{
    KmLearner *learner;

    KM_TRY(km_learner_parse(ctx, text, strlen(text), &learner));
    return km_learner_fit(ctx, learner, table, model);
}

typedef struct Machine
{
    const char *text;
    size_t k;                   /* classes; 0: a target, 1: nothing */
    double near;                /* relative: objectives with many rows kept and with few */
} Machine;

static KmTable
table_of(const Rows *rows, const Machine *machine, KmClasses *classes)
{
    KmTable table = {.n = N, .d = D, .x = rows->x, .w = rows->w};

    *classes = numbered(machine->k);
    if (machine->k >= 2)
    {
        table.label = machine->k == 2 ? rows->two : rows->three;
        table.classes = classes;
    }
    else if (machine->k == 0)
    {
        table.y = rows->y;
        table.n_targets = 1;
    }
    return table;
}

/* ---- memory ---- */

static double
number(const KmModel *model, const char *name)
{
    const KmFact *fact = km_model_fact(model, name);

    assert_non_null(fact);
    return fact->number;
}

/* Under any cap a machine is refused before any work, or fits within it to the same optimum; more memory
 * never refuses what less allowed.  Returns how many rows of K were kept. */
static bool
check_cap(const Machine *machine, const Rows *rows, size_t cap, double objective, double *kept)
{
    KmClasses classes;
    KmTable table = table_of(rows, machine, &classes);
    KmModel *model;
    KmContext ctx;
    Counter counter;
    KmStatus status;

    counter_begin(&ctx, &counter, cap);
    status = fit_in(&ctx, machine->text, &table, &model);
    assert_true(counter.peak <= cap);
    assert_int_equal(counter.peak, ctx.peak_bytes);
    if (status == KM_OK)
    {
        assert_true(number(model, "converged") == 1 && number(model, "memory") <= (double) counter.peak);
        assert_near(number(model, "objective"), objective, machine->near * fabs(objective));
        *kept = number(model, "rows_kept");
    }
    else
    {
        assert_int_equal(status, KM_MEMORY);
        assert_true(strstr(ctx.message, " rows") != NULL && strstr(ctx.message, " needs ") != NULL);
    }
    counter_end(&ctx, &counter);
    return status == KM_OK;
}

static const Machine machines[] = {
    {"svc(rbf(gamma=3), c=5)", 2, 1e-5},
    {"svc(rbf(gamma=3), c=5, tol=1e-6)", 2, 1e-8},
    {"svc(rbf(gamma=3), c=5)", 3, 1e-5},
    {"svc(rbf(gamma=3), c=5, tol=1e-6)", 3, 1e-8},
    {"svc(rbf(gamma=3), c=5, multiclass=ovr)", 3, 1e-5},
    {"svc(rbf(gamma=3), c=5, probability=true)", 3, 1e-5},
    {"nu_svc(rbf(gamma=3), nu=0.3)", 2, 1e-3},
    {"nu_svc(rbf(gamma=3), nu=0.3, tol=1e-6)", 3, 1e-5},
    {"svr(rbf(gamma=3), c=5, epsilon=0.05)", 0, 1e-5},
    {"svr(poly(degree=3), c=5, epsilon=0.05)", 0, 1e-5},
    {"nu_svr(rbf(gamma=3), c=5)", 0, 1e-5},
    {"one_class(rbf(gamma=3), nu=0.2)", 1, 1e-5},
    {"scale | one_class(rbf(gamma=3), nu=0.2, tol=1e-6)", 1, 1e-8},
};

static void
memory_stays_under_the_cap(void **unused)
{
    static Rows rows;

    (void) unused;
    fill(&rows);
    for (size_t m = 0; m < ELEMENTS(machines); m++)
    {
        KmClasses classes;
        KmTable table = table_of(&rows, &machines[m], &classes);
        KmContext *ctx = km_context_create(SIZE_MAX);
        bool fitted = false, fits;
        double objective, full, kept = 0, fewest = N;
        KmModel *model;

        assert_int_equal(fit_in(ctx, machines[m].text, &table, &model), KM_OK);
        objective = number(model, "objective");
        full = number(model, "rows_kept");
        assert_true(full > 0 && full <= N);
        assert_in_range(number(model, "memory"), ctx->peak_bytes / 2, ctx->peak_bytes);
        for (double cap = 1e5; cap < 10 * (double) ctx->peak_bytes || !fitted; cap *= 1.25)
        {
            fits = check_cap(&machines[m], &rows, (size_t) cap, objective, &kept);
            assert_true(fits || !fitted);
            fitted = fits;
            fewest = fits && kept < fewest ? kept : fewest;
        }
        assert_true(kept == full && fewest < full);
        km_context_destroy(ctx);
    }
}

/* ---- polls ---- */

#define LONG 20000
#define FEW 240

static void
polls_with_long_rows(void **unused)
{
    static const Machine wide[] = {
        {"svc(rbf(gamma=1e-4))", 2, 0}, {"svc(min)", 2, 0}, {"svc(laplacian(gamma=1e-5))", 2, 0},
        {"svc(linear)", 2, 0}, {"one_class(rbf(gamma=1e-4))", 1, 0},
    };
    double *x = test_malloc(FEW * LONG * sizeof *x);
    uint32_t label[FEW];
    uint64_t seed = 32;
    KmClasses classes = numbered(2);

    (void) unused;
    for (size_t i = 0; i < FEW; i++)
    {
        label[i] = i % 4 > 1;
        /* Every row twice: equal ones become one. */
        for (size_t j = 0; j < LONG; j++)
            x[i * LONG + j] = i % 2 ? x[(i - 1) * LONG + j] : next_uniform(&seed, 0, 1 + label[i]);
    }
    for (size_t m = 0; m < ELEMENTS(wide); m++)
    {
        KmTable table = {.n = FEW, .d = LONG, .x = x, .label = wide[m].k == 2 ? label : NULL,
                         .classes = wide[m].k == 2 ? &classes : NULL};
        KmContext *ctx = km_context_create(SIZE_MAX);
        Polling polling;
        KmModel *model;

        polling_start(ctx, &polling, 0);
        assert_int_equal(fit_in(ctx, wide[m].text, &table, &model), KM_OK);
        polling_end(ctx, &polling);
        assert_true(polling.longest < 0.15);
        assert_true(polling.calls > FEW * LONG / 65536);
        km_context_destroy(ctx);
    }
    test_free(x);
}

/* ---- progress ---- */

typedef struct Progress
{
    size_t calls;
    double least, most;
} Progress;

static void
note_progress(KmContext *ctx, const char *stage, double done, double total)
{
    Progress *progress = ctx->owner;

    assert_string_equal(stage, "support vector machine");
    assert_true(done >= 0 && done <= total && total > 0);
    progress->calls++;
    progress->least = fmin(progress->least, done / total);
    progress->most = fmax(progress->most, done / total);
}

/* Both while all variables take steps and by blocks. */
static void
progress_of_the_gap(void **unused)
{
    static const Machine long_runs[] = {{"svc(rbf(gamma=1), c=1e4)", 2, 0},
                                        {"svr(rbf(gamma=3), c=100, epsilon=0.01)", 0, 0}};
    size_t caps[] = {SIZE_MAX, (size_t) 7 << 20};
    static Rows rows;

    (void) unused;
    fill(&rows);
    for (size_t m = 0; m < ELEMENTS(long_runs); m++)
        for (size_t c = 0; c < ELEMENTS(caps); c++)
        {
            KmClasses classes;
            KmTable table = table_of(&rows, &long_runs[m], &classes);
            KmContext *ctx = km_context_create(caps[c]);
            Progress progress = {.least = INFINITY};
            KmModel *model;

            ctx->owner = &progress;
            ctx->progress = note_progress;
            assert_int_equal(fit_in(ctx, long_runs[m].text, &table, &model), KM_OK);
            assert_true(number(model, "converged") == 1);
            assert_true(progress.calls > 2 && progress.least < 0.1 && progress.most == 1);
            km_context_destroy(ctx);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_stays_under_the_cap),
        cmocka_unit_test(polls_with_long_rows),
        cmocka_unit_test(progress_of_the_gap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
