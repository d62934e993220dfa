/*
 * test_accumulator.c: exact sums: against integers, in every order and blocking, merged and subtracted,
 * weighted, stored, and solved.
 */
#include "accumulator_support.h"

#include "rff_reference.h"
#include "sums_layout.h"

#define NARROW_MAP "rff(rbf(gamma=0.3), 4, seed=3)"
#define WIDE_MAP "rff(rbf(gamma=0.3), 150, seed=3)"
/* ---- the sums are what they say ---- */

static double
joined(const KmSums *sums, size_t t, size_t column)
{
    double y = 0;

    for (size_t b = KM_SLICES; b-- > 0;)
        y = y / 4096 + km_sums_row(sums, km_sums_target(sums, t) + b)[column];
    return ldexp(y, 12 * km_sums_top(sums)[t]);
}

/* Z'Z, Z'1, Z'y as whole numbers by 64-bit integers; y whole too. */
static void
check_against_integers(KmContext *ctx, const char *text, const double *w)
{
    Rows rows = make_rows(ctx, 700, 2, false);
    KmSums *sums;
    size_t d;
    double *z = features_of(ctx, text, rows.n, D, rows.x, &d), factor = sqrt(2.0 / (double) d) / 16384;
    int64_t *a = calloc((d + 3) * (d + 3), sizeof *a), *k = calloc(d + 3, sizeof *k);

    rows.w = w;
    sums = sums_of(ctx, map_of(ctx, text, 2), &rows, 0, rows.n, 1);
    for (size_t i = 0; i < rows.n; i++)
    {
        for (size_t j = 0; j < d + 3; j++)
            k[j] = j < d ? llround(z[i * d + j] / factor) : j == d ? 1 : llround(rows.y[2 * i + j - d - 1]);
        for (size_t p = 0; p < d + 3; p++)
            for (size_t q = 0; q <= p; q++)
                a[p * (d + 3) + q] += (w ? (int64_t) w[i] : 1) * k[p] * k[q];
    }
    for (size_t p = 0; p <= d; p++)
        for (size_t q = 0; q <= p; q++)
            assert_true(km_sums_row(sums, p)[q] == (double) a[p * (d + 3) + q]);
    for (size_t t = 0; t < 2; t++)
        for (size_t q = 0; q <= d; q++)
            assert_true(joined(sums, t, q) == (double) a[(d + 1 + t) * (d + 3) + q]);
    assert_true(sums->flags == KM_SUMS_EXACT);
    free(a);
    free(k);
}

static void
test_integers(void **state)
{
    double w[700];

    check_against_integers(*state, NARROW_MAP, NULL);
    check_against_integers(*state, WIDE_MAP, NULL);
    for (size_t i = 0; i < 700; i++)
        w[i] = (double) (i % 5 + 1);
    check_against_integers(*state, NARROW_MAP, w);
    check_against_integers(*state, WIDE_MAP, w);
}

static void
test_slices(void **state)
{
    uint64_t seed = 9;

    (void) state;
    for (int i = 0; i < 100000; i++)
    {
        double y = next_any(&seed), q[KM_SLICES];
        long double sum = 0;
        int32_t top;

        if (!isfinite(y))
            continue;
        top = km_slice_top(y);
        assert_true(km_slice_cut(y, top, q));
        for (int b = 0; b < KM_SLICES; b++)
        {
            assert_true(fabs(q[b]) < 4096 && q[b] == trunc(q[b]));
            sum += ldexpl(q[b], 12 * (top - b));
        }
        assert_true(sum == y && q[0] != 0);
        /* in a higher window the same slices stand lower, until digits are lost */
        assert_true(km_slice_cut(y, top + 2, q) && q[0] == 0 && q[1] == 0 && q[2] != 0);
        assert_false(km_slice_cut(y, top + KM_SLICES, q));
    }
    assert_false(km_slice_cut(5e-324, KM_SLICE_HIGHEST, (double[KM_SLICES]) {0}));
    assert_int_equal(km_slice_top(0), KM_NO_SLICE);
    assert_int_equal(km_slice_top(5e-324), KM_SLICE_LOWEST);
    assert_int_equal(km_slice_top(1.7e308), KM_SLICE_HIGHEST);
    assert_int_equal(km_slice_top(-4095.9), 0);
    assert_int_equal(km_slice_top(4096), 1);
    assert_int_equal(km_slice_top(0x1p-12), -1);
    assert_int_equal(km_slice_top(0.9 * 0x1p-12), -2);
}

/* ---- order, blocks, merge, subtract ---- */

/* The same bytes from any order, any capacity for waiting rows, and any tree of merges. */
static void
check_orders(KmContext *ctx, const char *text, size_t targets, bool wild)
{
    Rows rows = make_rows(ctx, 611, targets, wild);
    KmFeatureMap *map = map_of(ctx, text, targets);
    KmSums *whole = sums_of(ctx, map, &rows, 0, rows.n, 1), *full, *parts[5];

    assert_int_equal(whole->n_rows, rows.n);
    assert_same(ctx, whole, sums_of(ctx, map, &rows, 0, rows.n, 410));
    assert_same(ctx, whole, sums_of(ctx, map, &rows, 0, rows.n, rows.n - 1));

    full = block_of(ctx, km_sums_full_bytes(map));
    ok(km_sums_init(ctx, map, km_sums_full_bytes(map), full));
    for (size_t i = 0; i < rows.n; i++)
    {
        add_row(ctx, map, &rows, i, &full);
        if (i % 97 == 0)
            ok(km_sums_flush(ctx, map, full));
    }
    ok(km_sums_flush(ctx, map, full));
    assert_same(ctx, whole, full);

    for (size_t p = 0; p < 5; p++)
        parts[p] = sums_of(ctx, map, &rows, p * rows.n / 5, (p + 1) * rows.n / 5, 1);
    ok(km_sums_merge(ctx, parts[3], parts[4], 1));
    ok(km_sums_merge(ctx, parts[1], parts[0], 1));
    ok(km_sums_merge(ctx, parts[3], parts[1], 1));
    ok(km_sums_merge(ctx, parts[2], parts[3], 1));
    assert_same(ctx, whole, parts[2]);
}

static void
test_orders(void **state)
{
    check_orders(*state, NARROW_MAP, 1, true);
    check_orders(*state, NARROW_MAP, 3, true);
    check_orders(*state, WIDE_MAP, 1, false);
    check_orders(*state, WIDE_MAP, 2, true);
}

static void
check_subtract(KmContext *ctx, const char *text)
{
    Rows rows = make_rows(ctx, 400, 2, false);
    double *y = (double *) rows.y;
    KmFeatureMap *map = map_of(ctx, text, 2);
    KmSums *a, *b, *both, *none;

    for (size_t i = 0; i < 300; i++)
        y[2 * i] *= 0x1p-20;            /* the other part raises the window */
    a = sums_of(ctx, map, &rows, 0, 300, 1);
    b = sums_of(ctx, map, &rows, 300, 400, 1);
    both = sums_of(ctx, map, &rows, 0, 400, 1);
    ok(km_sums_merge(ctx, both, b, -1));
    assert_same(ctx, both, a);
    ok(km_sums_merge(ctx, both, a, -1));
    none = sums_of(ctx, map, &rows, 0, 0, 1);
    assert_same(ctx, both, none);
    ok(km_sums_merge(ctx, none, a, 1));
    assert_same(ctx, none, a);

    assert_int_equal(km_sums_merge(ctx, b, a, -1), KM_INVALID);
    assert_non_null(strstr(ctx->message, "300"));
    assert_same(ctx, b, sums_of(ctx, map, &rows, 300, 400, 1));
    assert_int_equal(km_sums_merge(ctx, a, b, -1), KM_INVALID);
    assert_non_null(strstr(ctx->message, "larger targets"));
}

static void
test_subtract(void **state)
{
    check_subtract(*state, NARROW_MAP);
    check_subtract(*state, WIDE_MAP);
}

/* Digits far below the largest target are dropped, in any order alike, and that is said. */
static void
test_clipped(void **state)
{
    KmContext *ctx = *state;
    double x[2 * D] = {1, 2, 3, 3, 2, 1}, y[2] = {1, 0x1p100};
    Rows rows = {.n = 2, .targets = 1, .x = x, .y = y};
    KmFeatureMap *map = map_of(ctx, NARROW_MAP, 1);
    KmSums *small = sums_of(ctx, map, &rows, 0, 1, 1), *large = sums_of(ctx, map, &rows, 1, 2, 1), *both;

    assert_false(small->flags & KM_SUMS_CLIPPED);
    both = sums_of(ctx, map, &rows, 0, 2, 1);
    assert_true(both->flags & KM_SUMS_CLIPPED);
    ok(km_sums_merge(ctx, small, large, 1));
    assert_same(ctx, both, small);
    y[1] = 0x1p80;
    assert_false(sums_of(ctx, map, &rows, 0, 2, 1)->flags & KM_SUMS_CLIPPED);
}

/* ---- weights ---- */

static void
check_weights(KmContext *ctx, const char *text)
{
    Rows rows = make_rows(ctx, 300, 1, true), many = {.targets = 1};
    double *w, *x, *y;
    KmFeatureMap *map = map_of(ctx, text, 1);
    KmSums *weighted, *repeated;

    ok(km_alloc(ctx, 300, &w));
    ok(km_alloc(ctx, 300 * 4 * D, &x));
    ok(km_alloc(ctx, 300 * 4, &y));
    for (size_t i = 0; i < 300; i++)
    {
        w[i] = (double) (i % 4);
        for (size_t r = 0; r < i % 4; r++, many.n++)
        {
            memcpy(x + many.n * D, rows.x + i * D, D * sizeof *x);
            y[many.n] = rows.y[i];
        }
    }
    many.x = x;
    many.y = y;
    rows.w = w;
    weighted = sums_of(ctx, map, &rows, 0, 300, 1);
    repeated = sums_of(ctx, map, &many, 0, many.n, 1);
    assert_int_equal(weighted->n_rows, 225);
    assert_int_equal(repeated->n_rows, many.n);
    weighted->n_rows = repeated->n_rows;
    assert_same(ctx, weighted, repeated);
}

static void
test_whole_weights(void **state)
{
    check_weights(*state, NARROW_MAP);
    check_weights(*state, WIDE_MAP);
}

/* Fractional weights: in any order and blocking to 1e-12 of the sums. */
static void
test_fractional_weights(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 500, 1, false);
    KmFeatureMap *map = map_of(ctx, WIDE_MAP, 1);
    double *w = random_numbers(ctx, 3, 500);
    KmSums *a, *b;

    for (size_t i = 0; i < 500; i++)
        w[i] = fabs(w[i]);
    rows.w = w;
    a = sums_of(ctx, map, &rows, 0, 500, 1);
    b = sums_of(ctx, map, &rows, 250, 500, 1);
    assert_false(a->flags & KM_SUMS_EXACT);
    ok(km_sums_merge(ctx, b, sums_of(ctx, map, &rows, 0, 250, 3), 1));
    assert_all_close(km_sums_elements(a), km_sums_triangle(a), km_sums_triangle(b), 1e-12);
    ok(km_sums_merge(ctx, b, a, -1));
    assert_int_equal(b->n_rows, 0);
    stored(ctx, b);
}

/* Beyond a weight of 2^25 nothing is promised to the bit; up to it sums are below 2^53. */
static void
test_weight_limit(void **state)
{
    KmContext *ctx = *state;
    double w[2] = {0x1p25 - 1, 1};
    Rows rows = make_rows(ctx, 2, 1, false);
    KmFeatureMap *map = map_of(ctx, NARROW_MAP, 1);
    KmSums *sums;

    rows.w = w;
    sums = sums_of(ctx, map, &rows, 0, 2, 1);
    assert_true(sums->flags & KM_SUMS_EXACT);
    stored(ctx, sums);
    ok(km_sums_merge(ctx, sums, sums_of(ctx, map, &rows, 1, 2, 1), 1));
    assert_false(sums->flags & KM_SUMS_EXACT);
    w[1] = 2;
    assert_false(sums_of(ctx, map, &rows, 0, 2, 1)->flags & KM_SUMS_EXACT);
}

/* ---- refusals ---- */

static void
test_bad_rows(void **state)
{
    KmContext *ctx = *state;
    KmFeatureMap *map = map_of(ctx, NARROW_MAP, 1);
    KmSums *sums = block_of(ctx, km_sums_initial_bytes(map)), *before;
    const double x[D] = {1, 2, 3}, bad_x[D] = {1, NAN, 3}, huge_x[D] = {1e308, 1e308, 1e308};
    const double y = 1, bad_y = INFINITY;

    ok(km_sums_init(ctx, map, km_sums_initial_bytes(map), sums));
    before = stored(ctx, sums);
    assert_int_equal(km_sums_add(ctx, map, sums, bad_x, &y, 1), KM_DATA);
    assert_non_null(strstr(ctx->message, "2 is NaN"));
    assert_int_equal(km_sums_add(ctx, map, sums, x, &bad_y, 1), KM_DATA);
    assert_int_equal(km_sums_add(ctx, map, sums, x, &y, -1), KM_INVALID);
    assert_int_equal(km_sums_add(ctx, map, sums, x, &y, NAN), KM_INVALID);
    assert_int_equal(km_sums_add(ctx, map, sums, x, &y, INFINITY), KM_INVALID);
    ok(km_sums_add(ctx, map, sums, x, &y, 0));
    assert_same(ctx, sums, before);
    ok(km_sums_add(ctx, map, sums, huge_x, &y, 1));
    assert_int_equal(km_sums_flush(ctx, map, sums), KM_RANGE);
}

static void
test_maps(void **state)
{
    KmContext *ctx = *state;
    const struct { const char *text; KmStatus status; const char *says; } cases[] = {
        {"krr(rbf(gamma=1))", KM_UNSUPPORTED, "krr cannot be solved from sums"},
        {"scale | ridge", KM_UNSUPPORTED, "step scale needs a pass"},
        {"scale(mean=[0], sd=[1]) | ridge", KM_DIMENSION, "expects 1 feature, got 3"},
        {"rff(rbf) | ridge", KM_UNSUPPORTED, "step rff needs a pass"},
        {"scale | rff(rbf(gamma=1)) | ridge", KM_UNSUPPORTED, "step scale needs a pass"},
        {"rff(rbf(gamma=1), 20000) | ridge", KM_LIMIT, "sums of 20000 features"},
    };
    KmFeatureMap *map;
    char largest[80];
    size_t feasible = 0;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
        KmLearner *learner = learner_of(ctx, cases[i].text);

        assert_int_equal(km_feature_map_create(ctx, learner, D, 1, &map), cases[i].status);
        assert_non_null(strstr(ctx->message, cases[i].says));
    }
    assert_int_equal(sscanf(ctx->hint, "The most is n_components = %zu", &feasible), 1);
    snprintf(largest, sizeof largest, "rff(rbf(gamma=1), %zu)", feasible);
    assert_true(km_sums_initial_bytes(map_of(ctx, largest, 1)) <= KM_SUMS_MAX_BYTES + 1000);
    snprintf(largest, sizeof largest, "rff(rbf(gamma=1), %zu)", feasible + 2);
    assert_int_equal(km_feature_map_create(ctx, learner_of(ctx, largest), D, 1, &map), KM_LIMIT);
}

static void
test_different_maps(void **state)
{
    KmContext *ctx = *state;
    Rows one = make_rows(ctx, 5, 1, false), two = make_rows(ctx, 5, 2, false);
    KmSums *a = sums_of(ctx, map_of(ctx, NARROW_MAP, 1), &one, 0, 5, 1), *before = stored(ctx, a);
    KmSums *b = sums_of(ctx, map_of(ctx, "rff(rbf(gamma=0.3), 4, seed=4)", 1), &one, 0, 5, 1);

    assert_int_equal(km_sums_merge(ctx, a, b, 1), KM_INVALID);
    assert_non_null(strstr(ctx->detail, "seed=3"));
    assert_non_null(strstr(ctx->detail, "seed=4"));
    b = sums_of(ctx, map_of(ctx, NARROW_MAP, 2), &two, 0, 5, 1);
    assert_int_equal(km_sums_merge(ctx, a, b, 1), KM_INVALID);
    assert_non_null(strstr(ctx->message, "1 and 2 targets"));
    assert_same(ctx, a, before);
}

/* Values of rows that were all skipped know no map; they merge either way. */
static void
test_empty_values(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 20, 1, false);
    KmFeatureMap *map = map_of(ctx, NARROW_MAP, 1);
    KmSums *whole = sums_of(ctx, map, &rows, 0, 20, 1), *empty, *grown;
    KmSums *expected = sums_of(ctx, map, &rows, 0, 20, 1);
    size_t length = whole->learner_bytes, bytes = km_sums_empty_bytes(length);
    KmModel *model;

    empty = block_of(ctx, bytes);
    km_sums_init_empty(length, km_sums_learner(whole), empty);
    empty->n_skipped = 3;
    expected->n_skipped = 3;
    stored(ctx, empty);
    ok(km_sums_solve(ctx, learner_of(ctx, "ridge"), empty, &model));
    assert_null(model);

    ok(km_sums_merge(ctx, whole, empty, 1));
    assert_same(ctx, whole, expected);
    bytes = km_sums_merged_bytes(empty, whole);
    grown = block_of(ctx, bytes);
    ok(km_sums_grow(ctx, empty, bytes, grown));
    expected->n_skipped = 6;
    ok(km_sums_merge(ctx, grown, whole, 1));
    assert_same(ctx, grown, expected);
    assert_int_equal(km_sums_merge(ctx, empty, whole, -1), KM_INVALID);
}

/* Counts that are possible one by one, but not together. */
static void
test_counts_overflow(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 20, 1, false);
    KmFeatureMap *map = map_of(ctx, NARROW_MAP, 1);
    KmSums *a = sums_of(ctx, map, &rows, 0, 20, 1), *b = sums_of(ctx, map, &rows, 0, 20, 1), *before;

    a->n_rows = KM_SUMS_MAX_ROWS - 20;
    ok(km_sums_merge(ctx, a, b, 1));
    assert_true(a->n_rows == KM_SUMS_MAX_ROWS);
    before = stored(ctx, a);
    assert_int_equal(km_sums_merge(ctx, a, b, 1), KM_LIMIT);
    assert_non_null(strstr(ctx->message, "9007199254740992 and 20 rows"));
    assert_same(ctx, a, before);
    b->n_skipped = KM_SUMS_MAX_ROWS;
    a->n_rows = a->n_skipped = 1;
    assert_int_equal(km_sums_merge(ctx, a, b, 1), KM_LIMIT);
    b->n_skipped++;
    ok(km_sums_store(ctx, b, before));
    assert_int_equal(km_sums_check(ctx, before, before->bytes), KM_CORRUPT);
}

/* The cap holds for sums before they are made. */
static void
test_memory(void **state)
{
    KmContext *ctx = *state;
    KmFeatureMap *map = map_of(ctx, "rff(rbf(gamma=1), 2000)", 1);

    ok(km_sums_reserve(ctx, map));
    ctx->max_bytes = ctx->used_bytes + ((size_t) 8 << 20);
    assert_int_equal(km_sums_reserve(ctx, map), KM_MEMORY);
    assert_non_null(strstr(ctx->message, "a Gram accumulator of 2000 features"));
    assert_non_null(strstr(ctx->hint, "kernelml.max_memory"));
}

/* ---- bytes from outside ---- */

static void
test_bad_bytes(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 20, 1, false);
    KmSums *good = stored(ctx, sums_of(ctx, map_of(ctx, NARROW_MAP, 1), &rows, 0, 20, 1));
    size_t bytes = good->bytes;

    for (size_t i = 0; i < bytes; i++)
    {
        unsigned char *copy = malloc(bytes);

        memcpy(copy, good, bytes);
        copy[i] ^= (unsigned char) (1 << i % 8);
        if (i < 6 || i >= 8)    /* a minor version may differ */
            assert_int_not_equal(km_sums_check(ctx, copy, bytes), KM_OK);
        free(copy);
    }
    for (size_t length = 0; length < bytes; length++)
    {
        unsigned char *copy = malloc(length + 1);

        memcpy(copy, good, length);
        assert_int_equal(km_sums_check(ctx, copy, length), KM_CORRUPT);
        free(copy);
    }
    good->major = 2;
    assert_int_equal(km_sums_check(ctx, good, bytes), KM_UNSUPPORTED);
}

/* A state of four features is small enough for tens of thousands of groups. */
static void
test_small_state(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 2000, 1, false);
    KmFeatureMap *map = map_of(ctx, NARROW_MAP, 1);

    assert_true(km_sums_initial_bytes(map) < 1200);
    assert_true(sums_of(ctx, map, &rows, 0, 2000, 1)->bytes < 2048);
}

/* ---- models ---- */

static void
assert_same_coef(const KmModel *a, const KmModel *b)
{
    const KmArray *p = km_model_array(a, "coef"), *q = km_model_array(b, "coef");

    assert_int_equal(p->rows * p->columns, q->rows * q->columns);
    assert_memory_equal(p->data, q->data, p->rows * p->columns * sizeof *p->data);
}

static void
check_solution(KmContext *ctx, const char *text, const char *estimator, double lambda, bool centred,
               const Rows *rows, double tolerance)
{
    size_t m = rows->targets, d;
    char whole[200];
    double *z = features_of(ctx, text, rows->n, D, rows->x, &d), *w, *intercept;
    KmSums *sums = stored(ctx, sums_of(ctx, map_of(ctx, text, m), rows, 0, rows->n, 1));
    KmTable table = {.n = rows->n, .d = D, .x = rows->x, .n_targets = m, .y = rows->y, .w = rows->w};
    KmModel *model, *fitted;

    snprintf(whole, sizeof whole, "%s | %s", text, estimator);
    ok(km_alloc(ctx, d * m, &w));
    ok(km_alloc(ctx, m, &intercept));
    ridge_by_definition(rows->n, d, m, z, rows->y, rows->w, lambda, centred, w, intercept);
    ok(km_sums_solve(ctx, learner_of(ctx, estimator), sums, &model));
    assert_all_close(d * m, km_model_array(model, "coef")->data, w, tolerance);
    assert_all_close(m, km_model_array(model, "intercept")->data, intercept, tolerance);

    ok(km_sums_solve(ctx, learner_of(ctx, whole), sums, &fitted));
    assert_same_coef(model, fitted);
    ok(km_learner_fit(ctx, learner_of(ctx, whole), &table, &fitted));
    assert_same_coef(model, fitted);
    assert_string_equal(model->learner, fitted->learner);
    assert_int_equal(model->n_rows, rows->n);
}

static void
test_solve(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 200, 2, false);
    double *w = random_numbers(ctx, 3, 200), *y = (double *) rows.y;

    check_solution(ctx, NARROW_MAP, "ridge", 1, true, &rows, 1e-12);
    check_solution(ctx, "rff(3*rbf(gamma=0.3), 40)", "ridge(lambda=0.01)", 0.01, true, &rows, 1e-11);
    check_solution(ctx, "scale(mean=[1, 0, 2], sd=[1, 3, 2]) | rff(laplacian(gamma=1), 20)",
                   "ridge(lambda=2, intercept=false)", 2, false, &rows, 1e-12);
    for (size_t i = 0; i < 200; i++)
        w[i] = fabs(w[i]) + 0.1;
    rows.w = w;
    check_solution(ctx, "rff(rbf(gamma=0.3), 30)", "ridge(lambda=0.1)", 0.1, true, &rows, 1e-11);
    /* whole weights: a mean of 1e6 times the spread costs nothing, nor do sizes whose squares underflow */
    for (size_t i = 0; i < 200; i++)
    {
        w[i] = (double) (i % 3 + 1);
        y[2 * i] = 1e-290 * y[2 * i];
        y[2 * i + 1] = 1e6 + 1e-3 * y[2 * i + 1];
    }
    check_solution(ctx, "rff(rbf(gamma=0.3), 30)", "ridge(lambda=0.1)", 0.1, true, &rows, 1e-12);
}

/* Nearly constant features: 1e9 times as large as their spread, over a weight of 2e6. */
static void
test_solve_without_cancellation(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 200, 1, false);
    double w[200];

    for (size_t i = 0; i < 200; i++)
        w[i] = 10007;
    rows.w = w;
    check_solution(ctx, "rff(rbf(gamma=1e-5), 4, seed=2)", "ridge(lambda=1e-3)", 1e-3, true, &rows, 1e-11);
}

static void
test_solve_refusals(void **state)
{
    KmContext *ctx = *state;
    Rows rows = make_rows(ctx, 50, 1, false);
    KmSums *sums = sums_of(ctx, map_of(ctx, NARROW_MAP, 1), &rows, 0, 50, 1);
    const struct { const char *learner; KmStatus status; } cases[] = {
        {"krr(rbf(gamma=1))", KM_UNSUPPORTED},
        {NARROW_MAP, KM_UNSUPPORTED},
        {"ridge(lambda=grid(1, 2))", KM_UNSUPPORTED},
        {"rff(rbf(gamma=0.3), 4) | ridge", KM_INVALID},
    };
    KmModel *model;

    for (size_t i = 0; i < 4; i++)
    {
        KmLearner *learner = learner_of(ctx, cases[i].learner);

        assert_int_equal(km_sums_solve(ctx, learner, sums, &model), cases[i].status);
    }
    assert_non_null(strstr(ctx->detail, "seed=3"));
    /* three rows cannot tell four features apart */
    sums = sums_of(ctx, map_of(ctx, NARROW_MAP, 1), &rows, 0, 3, 1);
    assert_int_equal(km_sums_solve(ctx, learner_of(ctx, "ridge(lambda=0)"), sums, &model), KM_SINGULAR);
    ok(km_sums_solve(ctx, learner_of(ctx, "ridge(lambda=1e-3)"), sums, &model));
}

/* As D grows the model tends to kernel ridge regression without a mean: K (K + lambda I)^-1 y. */
static void
test_limit_is_krr(void **state)
{
    enum { N = REFERENCE_ROWS };
    KmContext *ctx = *state;
    const size_t sizes[] = {50, 2000};
    double y[N], expected[N], error[2];
    long double gram[N * N], alpha[N];
    KmTable table = {.n = N, .d = 3, .x = reference_x, .n_targets = 1, .y = y};

    for (size_t i = 0; i < N; i++)
    {
        alpha[i] = y[i] = sin(3 * reference_x[3 * i]) + reference_x[3 * i + 1];
        for (size_t j = 0; j < N; j++)
        {
            double r2 = 0;

            for (size_t k = 0; k < 3; k++)
                r2 += pow(reference_x[3 * i + k] - reference_x[3 * j + k], 2);
            gram[i * N + j] = expl(-0.3L * r2) + (i == j ? 0.1L : 0);
        }
    }
    solve_by_elimination(N, 1, gram, alpha);
    for (size_t i = 0; i < N; i++)
        expected[i] = (double) (y[i] - 0.1L * alpha[i]);
    for (size_t s = 0; s < 2; s++)
    {
        char text[100];
        KmModel *model;
        double *got;

        snprintf(text, sizeof text, "rff(rbf(gamma=0.3), %zu, seed=1) | ridge(lambda=0.1, intercept=false)",
                 sizes[s]);
        ok(km_learner_fit(ctx, learner_of(ctx, text), &table, &model));
        got = scores_of(ctx, model, N, reference_x);
        error[s] = 0;
        for (size_t i = 0; i < N; i++)
            error[s] = fmax(error[s], fabs(got[i] - expected[i]));
    }
    assert_true(error[1] < 0.03 && error[1] < error[0] / 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_integers), TEST(test_slices), TEST(test_orders), TEST(test_subtract), TEST(test_clipped),
        TEST(test_whole_weights), TEST(test_fractional_weights), TEST(test_weight_limit), TEST(test_bad_rows),
        TEST(test_maps), TEST(test_different_maps), TEST(test_counts_overflow), TEST(test_memory),
        TEST(test_empty_values), TEST(test_bad_bytes),
        TEST(test_small_state), TEST(test_solve), TEST(test_solve_without_cancellation),
        TEST(test_solve_refusals), TEST(test_limit_is_krr),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
