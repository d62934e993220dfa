/*
 * test_smo.c: the quadratic program against an enumeration of all active sets, and the passes, rows and
 * blocks it is made of against plain loops.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "numbers.h"
#include "variants.h"
#include "simd/thin_ops.h"
#include "smo.h"
#include "smo_ops.h"
#include "thin.h"

#define ELEMENTS(a) (sizeof(a) / sizeof(a)[0])

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* ---- a matrix as a source of rows ---- */

typedef struct Matrix
{
    KmRowSource source;
    const double *k;            /* n x n */
    double *diagonal;
    KmRows *rows;
} Matrix;

static KmStatus
make_rows(KmContext *ctx, KmRowSource *source, size_t m, const size_t *i, size_t j0, size_t columns,
          size_t ld,
          void *out)
{
    const double *k = ((const Matrix *) source)->k;

    (void) ctx;
    assert_in_range(m, 1, KM_ROWS_BATCH);
    assert_true(j0 % KM_ROWS_STRIP == 0 && columns <= source->n - j0);
    for (size_t r = 0; r < m; r++)
        for (size_t j = 0; j < columns; j++)
            if (source->single)
                ((float *) out)[r * ld + j] = (float) k[i[r] * source->n + j0 + j];
            else
                ((double *) out)[r * ld + j] = k[i[r] * source->n + j0 + j];
    return KM_OK;
}

static KmStatus
make_corner(KmContext *ctx, KmRowSource *source, size_t m, const size_t *i, size_t ld, void *out)
{
    const double *k = ((const Matrix *) source)->k;

    (void) ctx;
    assert_in_range(m, 1, KM_ROWS_CORNER);
    for (size_t r = 0; r < m; r++)
        for (size_t s = 0; s < m; s++)
            if (source->single)
                ((float *) out)[r * ld + s] = (float) k[i[r] * source->n + i[s]];
            else
                ((double *) out)[r * ld + s] = k[i[r] * source->n + i[s]];
    return KM_OK;
}

static Matrix *
open_matrix(KmContext *ctx, size_t n, const double *k, bool single, size_t budget)
{
    Matrix *matrix;

    assert_int_equal(km_alloc_zero(ctx, 1, &matrix), KM_OK);
    assert_int_equal(km_alloc(ctx, n, &matrix->diagonal), KM_OK);
    for (size_t i = 0; i < n; i++)
        matrix->diagonal[i] = k[i * n + i];
    matrix->k = k;
    matrix->source = (KmRowSource) {.n = n, .single = single, .batch = 4, .diagonal = matrix->diagonal,
                                    .make = make_rows, .corner = make_corner};
    assert_int_equal(km_rows_create(ctx, n, single, budget, &matrix->rows), KM_OK);
    km_rows_open(matrix->rows, &matrix->source);
    return matrix;
}

/* K = A A' of n x rank numbers, plus `ridge` on the diagonal. */
static double *
random_gram(KmContext *ctx, size_t n, size_t rank, double ridge, uint64_t *seed)
{
    double *a, *k;

    assert_int_equal(km_alloc(ctx, n * rank, &a), KM_OK);
    assert_int_equal(km_alloc(ctx, n * n, &k), KM_OK);
    for (size_t e = 0; e < n * rank; e++)
        a[e] = next_uniform(seed, -1, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
        {
            k[i * n + j] = i == j ? ridge : 0;
            for (size_t r = 0; r < rank; r++)
                k[i * n + j] += a[i * rank + r] * a[j * rank + r];
        }
    return k;
}

/* ---- the optimum by enumeration ---- */

#define MOST 5

typedef struct Small
{
    size_t n;
    double k[MOST * MOST], p[MOST], lower[MOST], upper[MOST], kink, sum;
} Small;

static double
small_objective(const Small *s, const double *b)
{
    double value = 0;

    for (size_t i = 0; i < s->n; i++)
    {
        value += s->p[i] * b[i] + s->kink * fabs(b[i]);
        for (size_t j = 0; j < s->n; j++)
            value += b[i] * s->k[i * s->n + j] * b[j] / 2;
    }
    return value;
}

/* Gaussian elimination with pivoting; false if singular. */
static bool
solve_linear(size_t n, double *a, double *x)
{
    for (size_t c = 0; c < n; c++)
    {
        size_t pivot = c;

        for (size_t r = c; r < n; r++)
            pivot = fabs(a[r * n + c]) > fabs(a[pivot * n + c]) ? r : pivot;
        if (fabs(a[pivot * n + c]) < 1e-12)
            return false;
        for (size_t j = 0; j < n; j++)
        {
            double t = a[c * n + j];

            a[c * n + j] = a[pivot * n + j];
            a[pivot * n + j] = t;
        }
        double t = x[c];

        x[c] = x[pivot];
        x[pivot] = t;
        for (size_t r = 0; r < n; r++)
        {
            double f = r == c ? 0 : a[r * n + c] / a[c * n + c];

            for (size_t j = 0; j < n; j++)
                a[r * n + j] -= f * a[c * n + j];
            x[r] -= f * x[c];
        }
    }
    for (size_t c = 0; c < n; c++)
        x[c] /= a[c * n + c];
    return true;
}

enum { AT_LOWER, NEGATIVE, AT_ZERO, POSITIVE, AT_UPPER, STATES };

/* The stationary point of one assignment of states, if it is feasible. */
static bool
candidate(const Small *s, const int *state, double *b)
{
    double a[(MOST + 1) * (MOST + 1)] = {0}, x[MOST + 1] = {0};
    size_t n = s->n, size = n + 1;

    for (size_t i = 0; i < n; i++)
    {
        bool is_free = state[i] == NEGATIVE || state[i] == POSITIVE;

        for (size_t j = 0; j < n && is_free; j++)
            a[i * size + j] = s->k[i * n + j];
        a[i * size + n] = is_free;
        x[i] = is_free ? -s->p[i] - (state[i] == POSITIVE ? s->kink : -s->kink)
            : state[i] == AT_LOWER ? s->lower[i] : state[i] == AT_UPPER ? s->upper[i] : 0;
        if (!is_free)
            a[i * size + i] = 1;
        a[n * size + i] = 1;
    }
    x[n] = s->sum;
    if (!solve_linear(size, a, x))
        return false;
    for (size_t i = 0; i < n; i++)
    {
        b[i] = x[i];
        if (b[i] < s->lower[i] - 1e-9 || b[i] > s->upper[i] + 1e-9)
            return false;
        if (s->kink > 0 && ((state[i] == POSITIVE && b[i] < 0) || (state[i] == NEGATIVE && b[i] > 0)))
            return false;
    }
    return true;
}

/* For a positive definite K the least value over all candidates is the minimum. */
static double
enumerate(const Small *s, double *best_b)
{
    int state[MOST] = {0};
    double best = INFINITY;

    for (;;)
    {
        double b[MOST] = {0};
        size_t i = 0;

        if (candidate(s, state, b) && small_objective(s, b) < best)
        {
            best = small_objective(s, b);
            memcpy(best_b, b, sizeof b);
        }
        while (i < s->n && ++state[i] == STATES)
            state[i++] = 0;
        if (i == s->n)
            return best;
    }
}

/* ---- running it ---- */

static KmSolution
run(KmContext *ctx, const KmQuadratic *problem, Matrix *matrix, double *b)
{
    KmSolution solution = {.b = b};

    assert_int_equal(km_smo_solve(ctx, problem, matrix->rows, &solution), KM_OK);
    return solution;
}

static void
check_small(const Small *s, double *start, bool single)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Matrix *matrix = open_matrix(ctx, s->n, s->k, single, SIZE_MAX);
    KmQuadratic problem = {.n = s->n, .p = s->p, .lower = s->lower, .upper = s->upper, .kink = s->kink,
                           .tol = 1e-10, .max_iter = 100000};
    double b[MOST], expected_b[MOST], sum = 0, expected = enumerate(s, expected_b);
    double near = single ? 1e-5 : 1e-8;
    KmSolution solution;

    memcpy(b, start, sizeof b);
    solution = run(ctx, &problem, matrix, b);
    assert_true(solution.converged);
    assert_near(solution.objective, expected, near);
    assert_near(small_objective(s, b), expected, near);
    for (size_t i = 0; i < s->n; i++)
    {
        assert_true(b[i] >= s->lower[i] && b[i] <= s->upper[i]);
        assert_near(b[i], expected_b[i], 100 * near);
        sum += b[i];
    }
    assert_near(sum, s->sum, 1e-9);
    km_context_destroy(ctx);
}

static Small
random_small(double kink, uint64_t *seed)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Small s = {.n = MOST, .kink = kink};

    memcpy(s.k, random_gram(ctx, s.n, 3, 0.3, seed), sizeof s.k);
    km_context_destroy(ctx);
    for (size_t i = 0; i < s.n; i++)
    {
        s.p[i] = next_uniform(seed, -1.5, 1.5);
        s.upper[i] = next_uniform(seed, 0, 2);
        s.lower[i] = -next_uniform(seed, 0, 2);
    }
    return s;
}

static void
optimum_of_small_problems(void **unused)
{
    uint64_t seed = 1;
    double zeros[MOST] = {0};

    (void) unused;
    for (int trial = 0; trial < 40; trial++)
    {
        Small s = random_small(0, &seed);

        check_small(&s, zeros, false);
        check_small(&s, zeros, true);
    }
}

/* As one_class starts: some variables at their bounds. */
static void
optimum_from_a_start(void **unused)
{
    uint64_t seed = 2;

    (void) unused;
    for (int trial = 0; trial < 20; trial++)
    {
        Small s = random_small(0, &seed);
        double start[MOST] = {0};

        start[1] = s.upper[1];
        start[4] = s.lower[4] / 2;
        s.sum = start[1] + start[4];
        check_small(&s, start, false);
    }
}

static void
optimum_with_kinks(void **unused)
{
    uint64_t seed = 3;
    double zeros[MOST] = {0};

    (void) unused;
    for (int trial = 0; trial < 40; trial++)
    {
        Small s = random_small(trial % 2 ? 0.1 : 0.6, &seed);

        check_small(&s, zeros, false);
    }
}

/* ---- a classification problem of some size ---- */

#define N 300

typedef struct Problem
{
    KmContext *ctx;
    double *k, p[N], lower[N], upper[N], b[N];
    KmQuadratic quadratic;
} Problem;

/* Points in the unit square, labels by a noisy disc, k = exp(-10 r^2). */
static Problem *
classification(KmContext *ctx, double c)
{
    uint64_t seed = 5;
    double x[N][2];
    Problem *problem;

    assert_int_equal(km_alloc_zero(ctx, 1, &problem), KM_OK);
    assert_int_equal(km_alloc(ctx, N * N, &problem->k), KM_OK);
    for (size_t i = 0; i < N; i++)
    {
        double radius = 0;

        for (size_t d = 0; d < 2; d++)
        {
            x[i][d] = next_uniform(&seed, 0, 1);
            radius += (x[i][d] - 0.5) * (x[i][d] - 0.5);
        }
        problem->p[i] = radius + next_uniform(&seed, -0.05, 0.05) < 0.12 ? -1 : 1;
        problem->lower[i] = problem->p[i] < 0 ? 0 : -c;
        problem->upper[i] = problem->p[i] < 0 ? c : 0;
        for (size_t j = 0; j <= i; j++)
            problem->k[i * N + j] = problem->k[j * N + i] =
                exp(-10 * ((x[i][0] - x[j][0]) * (x[i][0] - x[j][0]) +
                           (x[i][1] - x[j][1]) * (x[i][1] - x[j][1])));
    }
    problem->ctx = ctx;
    problem->quadratic = (KmQuadratic) {.n = N, .p = problem->p, .lower = problem->lower,
                                        .upper = problem->upper,
                                        .tol = 1e-3, .max_iter = km_smo_default_steps(N)};
    return problem;
}

static KmSolution
solve(Problem *problem, bool single, size_t budget)
{
    memset(problem->b, 0, sizeof problem->b);
    return run(problem->ctx, &problem->quadratic, open_matrix(problem->ctx, N, problem->k, single, budget),
               problem->b);
}

/* The violation of the pair conditions by long double sums. */
static double
true_gap(const Problem *problem)
{
    double least = INFINITY, greatest = -INFINITY;

    for (size_t i = 0; i < N; i++)
    {
        long double g = problem->p[i];

        for (size_t j = 0; j < N; j++)
            g += (long double) problem->k[i * N + j] * problem->b[j];
        if (problem->b[i] < problem->upper[i])
            least = fmin(least, (double) g);
        if (problem->b[i] > problem->lower[i])
            greatest = fmax(greatest, (double) g);
    }
    return greatest - least;
}

static void
blocks_reach_the_same_optimum(void **unused)
{
    double costs[] = {0.1, 1, 100};

    (void) unused;
    for (size_t t = 0; t < ELEMENTS(costs); t++)
        for (int single = 0; single < 2; single++)
        {
            KmContext *ctx = km_context_create(SIZE_MAX);
            Problem *problem = classification(ctx, costs[t]);
            KmSolution whole, blocks;

            problem->quadratic.tol = 1e-4;
            whole = solve(problem, single, SIZE_MAX);
            assert_true(whole.converged && whole.rows_made <= N);
            assert_true(true_gap(problem) < (single ? 1e-3 : 1.001e-4));
            blocks = solve(problem, single, 0);
            assert_true(blocks.converged && blocks.rows_made > KM_ROWS_BATCH);
            assert_true(true_gap(problem) < (single ? 1e-3 : 1.001e-4));
            assert_near(blocks.objective, whole.objective, 1e-4 * fabs(whole.objective));
            assert_near(blocks.bias, whole.bias, 1e-2);
            km_context_destroy(ctx);
        }
}

static void
turn_label(Problem *problem, size_t i)
{
    double upper = problem->upper[i];

    problem->p[i] = -problem->p[i];
    problem->upper[i] = -problem->lower[i];
    problem->lower[i] = -upper;
}

/* Classes that overlap: pair steps alone would take millions; the conditions of the optimum hold by sums of
 * our own. */
static void
large_boxes(void **unused)
{
    static const struct
    {
        double c;
        bool single;
    } cases[] = {{1e4, false}, {1e6, false}, {1e8, false}, {1e3, true}};

    (void) unused;
    for (size_t t = 0; t < ELEMENTS(cases); t++)
        for (size_t budget = 0; budget < 2; budget++)
        {
            KmContext *ctx = km_context_create(SIZE_MAX);
            Problem *problem = classification(ctx, cases[t].c);
            KmSolution solution;

            for (size_t i = 0; i < N; i += 7)
                turn_label(problem, i);
            solution = solve(problem, cases[t].single, budget ? SIZE_MAX : 0);
            assert_true(solution.converged && solution.iterations < (cases[t].c > 1e7 ? 1000000 : 100000));
            /* What float32 rows leave of 1e3 * N. */
            assert_true(true_gap(problem) < (cases[t].single ? 1e-2 : 1.001e-3));
            km_context_destroy(ctx);
        }
}

static void
same_bits_every_time(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Problem *problem = classification(ctx, 10);
    double first[N];

    (void) unused;
    for (size_t budget = 0; budget < 2; budget++)
    {
        solve(problem, true, budget ? SIZE_MAX : 0);
        memcpy(first, problem->b, sizeof first);
        solve(problem, true, budget ? SIZE_MAX : 0);
        assert_memory_equal(first, problem->b, sizeof first);
    }
    km_context_destroy(ctx);
}

static void
limit_of_steps(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Problem *problem = classification(ctx, 10);
    KmSolution solution;

    (void) unused;
    for (size_t budget = 0; budget < 2; budget++)
    {
        problem->quadratic.max_iter = 17;
        solution = solve(problem, false, budget ? SIZE_MAX : 0);
        assert_false(solution.converged);
        assert_int_equal(solution.iterations, 17);
        assert_near(solution.gap, true_gap(problem), 1e-9);
    }
    assert_int_equal(km_smo_default_steps(5), 10000000);
    assert_int_equal(km_smo_default_steps(1000000), 100000000);
    km_context_destroy(ctx);
}

static void
infinite_boxes(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Problem *problem = classification(ctx, INFINITY);
    KmSolution solution = solve(problem, false, SIZE_MAX);

    (void) unused;
    /* An rbf kernel separates any distinct points. */
    assert_true(!solution.unbounded);
    /* Constant K separates nothing. */
    for (size_t e = 0; e < N * N; e++)
        problem->k[e] = 1;
    for (size_t budget = 0; budget < 2; budget++)
    {
        solution = solve(problem, false, budget ? SIZE_MAX : 0);
        assert_true(solution.unbounded && !solution.converged);
        assert_true(solution.iterations < 100000);
    }
    km_context_destroy(ctx);
}

/* b = +-c on every row of the smaller class: nothing else is feasible or better. */
static void
identical_points(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Problem *problem = classification(ctx, 3);
    double positive = 0, sum = 0;
    KmSolution solution;

    (void) unused;
    for (size_t e = 0; e < N * N; e++)
        problem->k[e] = 1;
    solution = solve(problem, true, SIZE_MAX);
    for (size_t i = 0; i < N; i++)
        positive += problem->p[i] < 0;
    for (size_t i = 0; i < N; i++)
        sum += fabs(problem->b[i]);
    assert_true(solution.converged);
    assert_near(sum, 2 * 3 * fmin(positive, N - positive), 1e-9);
    km_context_destroy(ctx);
}

static void
indefinite_matrix(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Problem *problem = classification(ctx, 10);
    uint64_t seed = 9;

    (void) unused;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++)
            problem->k[i * N + j] = problem->k[j * N + i] = next_uniform(&seed, -1, 1);
    for (size_t budget = 0; budget < 2; budget++)
    {
        KmSolution solution;

        problem->quadratic.max_iter = 200000;
        solution = solve(problem, false, budget ? SIZE_MAX : 0);
        assert_true(isfinite(solution.objective) && isfinite(solution.bias));
        for (size_t i = 0; i < N; i++)
            assert_true(problem->b[i] >= problem->lower[i] && problem->b[i] <= problem->upper[i]);
    }
    km_context_destroy(ctx);
}

static void
values_that_are_not_finite(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Problem *problem = classification(ctx, 10);
    double bad[] = {NAN, INFINITY, 1e308};

    (void) unused;
    for (size_t t = 0; t < ELEMENTS(bad); t++)
    {
        KmSolution solution = {.b = problem->b};
        Matrix *matrix;

        memset(problem->b, 0, sizeof problem->b);
        for (size_t e = 0; e < N * N; e++)
            problem->k[e] = e % (N + 1) == 0 && bad[t] != 1e308 ? 1 : bad[t];
        matrix = open_matrix(ctx, N, problem->k, false, SIZE_MAX);
        assert_int_equal(km_smo_solve(ctx, &problem->quadratic, matrix->rows, &solution), KM_RANGE);
    }
    km_context_destroy(ctx);
}

/* ---- cancelling, memory ---- */

static bool
stop_after_some(KmContext *ctx)
{
    int *left = ctx->owner;

    return --*left < 0;
}

static void
cancelled(void **unused)
{
    (void) unused;
    for (size_t budget = 0; budget < 2; budget++)
    {
        KmContext *ctx = km_context_create(SIZE_MAX);
        Problem *problem = classification(ctx, 10);
        KmSolution solution = {.b = problem->b};
        int left = 3;

        ctx->owner = &left;
        ctx->poll = stop_after_some;
        assert_int_equal(km_smo_solve(ctx, &problem->quadratic,
                                      open_matrix(ctx, N, problem->k, false, budget ? SIZE_MAX : 0)->rows,
                                          &solution),
                         KM_CANCELLED);
        km_context_destroy(ctx);
    }
}

static void
rows_stay_within_their_budget(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    Problem *problem = classification(ctx, 100);
    size_t budget = 100 * 304 * sizeof(float), before = ctx->used_bytes;
    Matrix *matrix = open_matrix(ctx, N, problem->k, true, budget);
    KmSolution solution;

    (void) unused;
    assert_int_equal(km_rows_capacity(matrix->rows), 100);
    memset(problem->b, 0, sizeof problem->b);
    solution = run(ctx, &problem->quadratic, matrix, problem->b);
    assert_true(solution.converged && km_rows_full(matrix->rows));
    km_rows_destroy(ctx, matrix->rows);
    /* What remains is the source; the solver's arrays, a block and a strip came and went. */
    assert_true(ctx->used_bytes - before < 8 * N + 1000);
    assert_true(ctx->peak_bytes - before < budget + sizeof(float) *
                (N * 304 + KM_ROWS_BATCH * KM_ROWS_STRIDE) +
                24 * 8 * N + 40000);
    km_context_destroy(ctx);
}

/* ---- rows ---- */

static void
check_row(const Matrix *matrix, size_t i, const void *row)
{
    size_t n = matrix->source.n;

    assert_non_null(row);
    for (size_t j = 0; j < km_rows_stride(matrix->rows); j++)
    {
        double expected = j < n ? matrix->k[i * n + j] : 0;

        if (matrix->source.single)
            assert_true(((const float *) row)[j] == (float) expected);
        else
            assert_true(((const double *) row)[j] == expected);
    }
}

/* Kept whole, or made in strips. */
static void
rows_are_those_asked_for(void **unused)
{
    uint64_t seed = 11;

    (void) unused;
    for (size_t n = 1; n < 200; n += 33)
        for (int single = 0; single < 2; single++)
        {
            KmContext *ctx = km_context_create(SIZE_MAX);
            double *k = random_gram(ctx, n, 2, 0, &seed);
            Matrix *matrix = open_matrix(ctx, n, k, single, 0);
            size_t capacity = km_rows_capacity(matrix->rows), wanted[KM_ROWS_BATCH];
            const void *strip;

            assert_int_equal(capacity, n < KM_ROWS_BATCH ? n : KM_ROWS_BATCH);
            for (size_t r = 0; r < capacity; r++)
                wanted[r] = (7 + r) % n;
            assert_int_equal(km_rows_keep(ctx, matrix->rows, capacity, wanted), KM_OK);
            for (size_t r = 0; r < capacity; r++)
                check_row(matrix, wanted[r], km_rows_find(matrix->rows, wanted[r]));
            assert_true(km_rows_full(matrix->rows));
            for (size_t r = 0; r < capacity; r++)
                wanted[r] = (7 + capacity + r) % n;
            assert_int_equal(km_rows_strip(ctx, matrix->rows, capacity, wanted, 0, &strip), KM_OK);
            for (size_t r = 0; r < capacity; r++)
                check_row(matrix, wanted[r], (const char *) strip + r * KM_ROWS_STRIDE *
                          (single ? sizeof(float) : sizeof(double)));
            assert_int_equal(km_rows_made(matrix->rows), 2 * capacity);
            km_context_destroy(ctx);
        }
}

static void
rows_opened_again(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    uint64_t seed = 12;
    double *k = random_gram(ctx, 64, 2, 0, &seed);
    Matrix *matrix = open_matrix(ctx, 64, k, true, SIZE_MAX);
    size_t all[64], used;

    (void) unused;
    for (size_t i = 0; i < 64; i++)
        all[i] = 63 - i;
    assert_int_equal(km_rows_keep(ctx, matrix->rows, 32, all), KM_OK);
    assert_int_equal(km_rows_keep(ctx, matrix->rows, 32, all + 32), KM_OK);
    assert_true(km_rows_full(matrix->rows));
    used = ctx->used_bytes;
    matrix->source.n = 10;
    km_rows_open(matrix->rows, &matrix->source);
    assert_null(km_rows_find(matrix->rows, 3));
    assert_int_equal(km_rows_keep(ctx, matrix->rows, 10, all + 54), KM_OK);
    for (size_t i = 0; i < 10; i++)
        check_row(matrix, i, km_rows_find(matrix->rows, i));
    assert_int_equal(ctx->used_bytes, used);
    km_context_destroy(ctx);
}

/* ---- passes of each instruction set ---- */

static const struct
{
    const KmSmoOps *smo;
    const KmThinOps *thin;
} variants[] = {
    {&km_smo_ops_base, &km_thin_ops_base},
#if defined(__x86_64__)
    {&km_smo_ops_avx2, &km_thin_ops_avx2},
    {&km_smo_ops_avx512, &km_thin_ops_avx512},
#endif
};

typedef struct Arrays
{
    size_t n;
    double ki[1024], kj[1024], g[1024], up[1024], low[1024], diagonal[1024];
    float si[1024], sj[1024];
} Arrays;

/* Whole numbers, so that ties are frequent and sums exact. */
static void
fill_arrays(Arrays *a, size_t n, uint64_t *seed)
{
    a->n = n;
    for (size_t v = 0; v < n; v++)
    {
        a->si[v] = (float) (a->ki[v] = (double) (next_bits(seed) % 8));
        a->sj[v] = (float) (a->kj[v] = (double) (next_bits(seed) % 8));
        a->g[v] = (double) (next_bits(seed) % 64) - 32;
        a->up[v] = next_bits(seed) % 4 == 0 ? INFINITY : 0;
        a->low[v] = next_bits(seed) % 4 == 0 ? -INFINITY : 0;
        a->diagonal[v] = (double) (next_bits(seed) % 16);
    }
}

static void
check_update(const KmSmoPasses *passes, const Arrays *a, const void *ki, const void *kj)
{
    double g[1024], least = INFINITY, greatest = -INFINITY;
    size_t place = KM_SMO_NONE;
    KmSmoChoice choice;

    memcpy(g, a->g, sizeof g);
    passes->update(a->n, 0.5, ki, kj, g, a->up, a->low, &choice);
    for (size_t v = 0; v < a->n; v++)
    {
        assert_true(g[v] == a->g[v] + 0.5 * (a->ki[v] - a->kj[v]));
        if (g[v] + a->up[v] < least)
        {
            least = g[v] + a->up[v];
            place = v;
        }
        greatest = fmax(greatest, g[v] + a->low[v]);
    }
    assert_true(choice.least == least && choice.greatest == greatest);
    assert_int_equal(choice.i, place);
}

static void
check_partner(const KmSmoPasses *passes, const Arrays *a, const void *k)
{
    double best = 0, gi = -20, kii = 6;
    size_t place = KM_SMO_NONE;

    for (size_t v = 0; v < a->n; v++)
    {
        double rise = a->g[v] + a->low[v] - gi, curve = fmax(kii + a->diagonal[v] - 2 * a->ki[v], KM_SMO_TAU);

        if (rise > 0 && rise * rise / curve > best * (1 + 1e-12))
        {
            best = rise * rise / curve;
            place = v;
        }
    }
    assert_int_equal(passes->partner(a->n, gi, kii, k, a->g, a->low, a->diagonal), place);
}

static void
check_accumulate(const KmSmoPasses *passes, const Arrays *a, const void *ki, const void *kj)
{
    const void *row[7] = {ki, kj, ki, kj, kj, ki, ki};
    double coef[7] = {1, 2, 4, -8, 16, 32, -64}, g[1024];

    for (size_t m = 0; m <= 7; m++)
    {
        memcpy(g, a->g, sizeof g);
        passes->accumulate(a->n, m, row, coef, g);
        for (size_t v = 0; v < a->n; v++)
        {
            double expected = a->g[v];

            for (size_t r = 0; r < m; r++)
                expected += coef[r] * (row[r] == ki ? a->ki[v] : a->kj[v]);
            assert_true(g[v] == expected);
        }
    }
}

static void
passes_agree_with_loops(void **unused)
{
    static Arrays a;
    uint64_t seed = 13;

    (void) unused;
    for (size_t which = 0; which < n_variants(); which++)
        for (int trial = 0; trial < 200; trial++)
        {
            const KmSmoOps *ops = variants[which].smo;

            fill_arrays(&a, KM_SMO_PAD * (1 + next_bits(&seed) % 64), &seed);
            check_update(&ops->single, &a, a.si, a.sj);
            check_update(&ops->wide, &a, a.ki, a.kj);
            check_partner(&ops->single, &a, a.si);
            check_partner(&ops->wide, &a, a.ki);
            check_accumulate(&ops->single, &a, a.si, a.sj);
            check_accumulate(&ops->wide, &a, a.ki, a.kj);
        }
}

static void
nothing_to_choose(void **unused)
{
    static Arrays a;
    uint64_t seed = 14;
    KmSmoChoice choice;

    (void) unused;
    fill_arrays(&a, 32, &seed);
    for (size_t v = 0; v < 32; v++)
    {
        a.up[v] = INFINITY;
        a.low[v] = -INFINITY;
    }
    for (size_t which = 0; which < n_variants(); which++)
    {
        const KmSmoPasses *passes = &variants[which].smo->single;

        passes->choose(32, a.g, a.up, a.low, &choice);
        assert_int_equal(choice.i, KM_SMO_NONE);
        assert_int_equal(passes->partner(32, 0, 1, a.si, a.g, a.low, a.diagonal), KM_SMO_NONE);
    }
}

static void
thin_products(void **unused)
{
    uint64_t seed = 15;

    (void) unused;
    for (size_t trial = 0; trial < 300; trial++)
    {
        size_t m = 1 + next_bits(&seed) % 9, n = 1 + next_bits(&seed) % 100, d = next_bits(&seed) % 40;
        size_t j0 = n > 40 && trial / 3 % 2 ? KM_THIN_WIDTH : 0, ld = n + 3;
        float *x = test_malloc((m * d + 1) * sizeof *x), *z = test_malloc((n * d + 1) * sizeof *z);
        float *panels = test_malloc((km_thin_size(n, d) + 1) * sizeof *panels),
            *out = test_malloc(m * ld * sizeof *out);

        for (size_t e = 0; e < m * d; e++)
            x[e] = (float) (next_bits(&seed) % 16);
        for (size_t e = 0; e < n * d; e++)
            z[e] = (float) (next_bits(&seed) % 16);
        for (size_t e = 0; e < m * ld; e++)
            out[e] = -1;
        km_thin_pack(n, d, z, panels);
        variants[trial % n_variants()].thin->dot(m, n - j0, d, x, panels + j0 * d, ld, out);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < ld; j++)
            {
                float expected = j < n - j0 ? 0 : -1;

                for (size_t k = 0; k < d && j < n - j0; k++)
                    expected += x[i * d + k] * z[(j0 + j) * d + k];
                assert_true(out[i * ld + j] == expected);
            }
        test_free(x);
        test_free(z);
        test_free(panels);
        test_free(out);
    }
}

/* The elements of a row (d) that are not zero, and zeros up to a whole group; returns how many. */
static size_t
list_row(size_t d, const float *x, uint32_t *place, float *value)
{
    size_t n = 0;

    for (size_t k = 0; k < d; k++)
        if (x[k] != 0)
        {
            place[n] = (uint32_t) (k * KM_THIN_WIDTH);
            value[n++] = x[k];
        }
    for (; n % KM_THIN_GROUP != 0; n++)
    {
        place[n] = 0;
        value[n] = 0;
    }
    return n;
}

#define LIST_ROWS 9
#define LIST_LENGTH 40
#define LIST_COLUMNS 200

/* Lists give the bits of the rows that they stand for. */
static void
thin_products_of_lists(void **unused)
{
    uint64_t seed = 16;

    (void) unused;
    for (size_t trial = 0; trial < 300; trial++)
    {
        size_t m = 1 + next_bits(&seed) % LIST_ROWS, n = 1 + next_bits(&seed) % LIST_COLUMNS;
        size_t d = 1 + next_bits(&seed) % LIST_LENGTH;
        const KmThinOps *ops = variants[trial % n_variants()].thin;
        float x[LIST_ROWS * LIST_LENGTH], value[LIST_ROWS][LIST_LENGTH + KM_THIN_GROUP];
        float z[LIST_COLUMNS * LIST_LENGTH], panels[(LIST_COLUMNS + KM_THIN_WIDTH) * LIST_LENGTH];
        float rows[LIST_ROWS * LIST_COLUMNS], lists[LIST_ROWS * LIST_COLUMNS];
        uint32_t place[LIST_ROWS][LIST_LENGTH + KM_THIN_GROUP];
        KmThinList list[LIST_ROWS];

        for (size_t e = 0; e < m * d; e++)
            x[e] = next_bits(&seed) % 4 ? 0 : (float) next_uniform(&seed, -1, 1);
        for (size_t e = 0; e < n * d; e++)
            z[e] = (float) next_uniform(&seed, -1, 1);
        for (size_t i = 0; i < m; i++)
            list[i] = (KmThinList) {list_row(d, x + i * d, place[i], value[i]), place[i], value[i]};
        km_thin_pack(n, d, z, panels);
        ops->dot(m, n, d, x, panels, n, rows);
        ops->list_dot(m, n, d, list, panels, n, lists);
        for (size_t e = 0; e < m * n; e++)
            assert_true(rows[e] == lists[e]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimum_of_small_problems),
        cmocka_unit_test(optimum_from_a_start),
        cmocka_unit_test(optimum_with_kinks),
        cmocka_unit_test(blocks_reach_the_same_optimum),
        cmocka_unit_test(large_boxes),
        cmocka_unit_test(same_bits_every_time),
        cmocka_unit_test(limit_of_steps),
        cmocka_unit_test(infinite_boxes),
        cmocka_unit_test(identical_points),
        cmocka_unit_test(indefinite_matrix),
        cmocka_unit_test(values_that_are_not_finite),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(rows_stay_within_their_budget),
        cmocka_unit_test(rows_are_those_asked_for),
        cmocka_unit_test(rows_opened_again),
        cmocka_unit_test(passes_agree_with_loops),
        cmocka_unit_test(nothing_to_choose),
        cmocka_unit_test(thin_products),
        cmocka_unit_test(thin_products_of_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
