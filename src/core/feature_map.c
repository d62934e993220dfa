/*
 * feature_map.c: the map of an accumulator: resolved steps, the last of them a grid map.
 */
#include "feature_map.h"

#include <math.h>
#include <string.h>

#include "rff.h"
#include "sums_layout.h"

/* ---- which learners ---- */

KmStatus
km_feature_map_text(KmContext *ctx, const KmLearner *learner, KmText *out)
{
    KmLearner *full;

    KM_TRY(km_learner_with_defaults(ctx, learner, &full));
    for (size_t i = 0; i < full->n_steps; i++)
    {
        if (i > 0)
            KM_TRY(km_text_add(ctx, out, " | ", 3));
        KM_TRY(km_spec_print(ctx, full->step[i].node, out));
    }
    return KM_OK;
}

static KmStatus
check_learner(KmContext *ctx, const KmLearner *learner)
{
    size_t n = learner->n_steps;

    if (n == 0 || !learner->step[n - 1].type->exact)
    {
        km_fail(ctx, KM_UNSUPPORTED, "sums are kept of random Fourier features only, and this learner %s",
                n == 0 ? "has no feature step" : "does not end its steps with them");
        return km_hint(ctx, KM_UNSUPPORTED, "Write rff(…) as the last step.");
    }
    for (size_t i = 0; i < n; i++)
    {
        const KmStage *stage = &learner->step[i];

        if (stage->type->is_resolved(ctx, &stage->args))
            continue;
        km_fail(ctx, KM_UNSUPPORTED, "step %s needs a pass of its own over the rows",
                stage->type->signature.name);
        return km_hint(ctx, KM_UNSUPPORTED,
                       "Give its constants as numbers; learner(model) of a fitted model has them.");
    }
    return KM_OK;
}

/* ---- the limit ---- */

static size_t
sums_bytes(size_t features, size_t targets, size_t learner_bytes)
{
    KmSums sums = {.d = 1, .features = (uint32_t) features, .targets = (uint32_t) targets,
                   .learner_bytes = (uint32_t) learner_bytes};

    return km_sums_fixed_bytes(&sums);
}

static KmStatus
check_size(KmContext *ctx, const KmFeatureMap *map)
{
    size_t feasible = (size_t) sqrt(2.0 * KM_SUMS_MAX_BYTES / sizeof(double)) & ~(size_t) 1;

    if (map->d > INT32_MAX || map->targets == 0 || map->targets > KM_SUMS_MAX_TARGETS)
        return km_fail(ctx, KM_LIMIT, "sums cannot be kept of %zu columns and %zu targets", map->d,
                       map->targets);
    if (map->learner.length > INT32_MAX)
        return km_fail(ctx, KM_LIMIT, "the learner's text is too long: %zu bytes", map->learner.length);
    if (sums_bytes(map->features, map->targets, map->learner.length) <= KM_SUMS_MAX_BYTES)
        return KM_OK;
    while (feasible > 2 && sums_bytes(feasible, map->targets, map->learner.length) > KM_SUMS_MAX_BYTES)
        feasible -= 2;
    km_fail(ctx, KM_LIMIT, "sums of n_components = %zu would pass the limit of %zu MB", map->features,
            (size_t) KM_SUMS_MAX_BYTES >> 20);
    return km_hint(ctx, KM_LIMIT, "The most is n_components = %zu.", feasible);
}

/* ---- made ready ---- */

static KmStatus
prepare_steps(KmContext *ctx, const KmLearner *learner, KmFeatureMap *map)
{
    size_t n = learner->n_steps, d = map->d, widest = map->d;

    map->n_before = n - 1;
    KM_TRY(km_alloc(ctx, map->n_before, &map->before));
    for (size_t i = 0; i < n; i++)
    {
        KmStep *step = i + 1 < n ? &map->before[i] : &map->last;

        KM_TRY(learner->step[i].type->prepare(ctx, &learner->step[i].args, d, step));
        d = step->d_out;
        if (i + 1 < n && d > widest)
            widest = d;
    }
    for (size_t i = 0; i < 2; i++)
        KM_TRY(km_alloc(ctx, KM_SCORE_ROWS * widest, &map->between[i]));
    return KM_OK;
}

KmStatus
km_feature_map_create(KmContext *ctx, const KmLearner *learner, size_t d, size_t targets, KmFeatureMap **out)
{
    KmFeatureMap *map;

    KM_TRY(check_learner(ctx, learner));
    KM_TRY(km_alloc_zero(ctx, 1, &map));
    map->d = d;
    map->targets = targets;
    map->takes_missing = km_learner_takes_missing(learner);
    KM_TRY(km_feature_map_text(ctx, learner, &map->learner));
    KM_TRY(prepare_steps(ctx, learner, map));
    map->features = map->last.d_out;
    map->columns = map->features + 1 + KM_SLICES * targets;
    map->factor = km_rff_factor(&map->last);
    KM_TRY(check_size(ctx, map));
    *out = map;
    return KM_OK;
}

KmStatus
km_feature_map_reserve(KmContext *ctx, KmFeatureMap *map)
{
    if (map->rows != NULL)
        return KM_OK;
    KM_TRY(km_alloc(ctx, KM_BLOCK_ROWS * KM_TILE_ROWS, &map->scaled));
    KM_TRY(km_alloc(ctx, KM_TILE_ROWS * map->columns, &map->tile));
    KM_TRY(km_alloc(ctx, map->targets, &map->top));
    return km_alloc(ctx, KM_BLOCK_ROWS * map->columns, &map->rows);
}

/* ---- rows ---- */

static KmStatus
check_finite(KmContext *ctx, const KmFeatureMap *map, size_t m, const double *out)
{
    for (size_t i = 0; i < m; i++)
    {
        bool bad = false;

        for (size_t j = 0; j < map->features; j++)
            bad |= !(fabs(out[i * map->columns + j]) <= KM_RFF_GRID);
        if (bad)
            return km_fail(ctx, KM_RANGE, "a row is too large for random Fourier features: its products "
                           "with the frequencies overflow");
    }
    return KM_OK;
}

static KmStatus
map_few_rows(KmContext *ctx, const KmFeatureMap *map, size_t m, size_t ldx, const double *x, double *out)
{
    double *from = map->between[0], *to = map->between[1];

    for (size_t i = 0; i < m; i++)
        memcpy(from + i * map->d, x + i * ldx, map->d * sizeof *x);
    for (size_t s = 0; s < map->n_before; s++)
    {
        double *swap = from;

        KM_TRY(map->before[s].apply(ctx, &map->before[s], m, from, to));
        from = to;
        to = swap;
    }
    KM_TRY(km_rff_grid(ctx, &map->last, m, from, map->columns, out));
    return check_finite(ctx, map, m, out);
}

KmStatus
km_feature_map_rows(KmContext *ctx, const KmFeatureMap *map, size_t m, size_t ldx, const double *x,
                    double *out)
{
    for (size_t i = 0; i < m; i += KM_SCORE_ROWS)
    {
        size_t rows = m - i < KM_SCORE_ROWS ? m - i : KM_SCORE_ROWS;

        KM_TRY(km_poll(ctx));
        KM_TRY(map_few_rows(ctx, map, rows, ldx, x + i * ldx, out + i * map->columns));
    }
    return KM_OK;
}
