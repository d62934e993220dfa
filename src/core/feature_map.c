/*
 * feature_map.c: the map of an accumulator: resolved steps, none at all, or with a grid map as the last.
 */
#include "feature_map.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "rff.h"
#include "sizes.h"
#include "sums_layout.h"

/* ---- which learners ---- */

KmStatus
km_feature_map_text(KmContext *ctx, const KmLearner *learner, KmText *out)
{
    KmLearner *full;

    if (learner->n_steps == 0)
        return km_text_add(ctx, out, "", 0);
    KM_TRY(km_learner_with_defaults(ctx, learner, &full));
    for (size_t i = 0; i < full->n_steps; i++)
    {
        if (i > 0)
            KM_TRY(km_text_add(ctx, out, " | ", 3));
        KM_TRY(km_spec_print(ctx, full->step[i].node, out));
    }
    return KM_OK;
}

KmStatus
km_feature_map_parse(KmContext *ctx, const char *text, size_t length, KmLearner **out)
{
    return length == 0 ? km_alloc_zero(ctx, 1, out) : km_learner_parse(ctx, text, length, out);
}

KmStatus
km_feature_map_check(KmContext *ctx, const KmLearner *learner)
{
    if (learner->estimator != NULL && !learner->estimator->from_sums)
    {
        km_fail(ctx, KM_UNSUPPORTED, "%s cannot be solved from sums; ridge can", km_learner_name(learner));
        return km_hint(ctx, KM_UNSUPPORTED, "End the learner with ridge, or call fit, which keeps the rows.");
    }
    for (size_t i = 0; i < learner->n_steps; i++)
    {
        const KmStage *stage = &learner->step[i];
        bool resolved;

        KM_TRY(stage->type->is_resolved(ctx, &stage->args, &resolved));
        if (resolved)
            continue;
        km_fail(ctx, KM_UNSUPPORTED, "step %s needs a pass of its own over the rows",
                stage->type->signature.name);
        return km_hint(ctx, KM_UNSUPPORTED,
                       "Give its constants as numbers, from learner(model) of a fitted model, or call "
                       "train().");
    }
    return KM_OK;
}

/* ---- the limit ---- */

static size_t
sums_bytes(const KmFeatureMap *map, size_t features)
{
    KmSums sums = {.d = 1, .features = (uint32_t) features, .targets = (uint32_t) map->targets,
                   .learner_bytes = (uint32_t) map->learner.length,
                   .flags = map->exact ? KM_SUMS_EXACT : KM_SUMS_PLAIN};

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
    if (map->features <= 2 * feasible && sums_bytes(map, map->features) <= KM_SUMS_MAX_BYTES)
        return KM_OK;
    while (feasible > 2 && sums_bytes(map, feasible) > KM_SUMS_MAX_BYTES)
        feasible -= 2;
    km_fail(ctx, KM_LIMIT, "sums of %zu features would pass the limit of %zu MB", map->features,
            (size_t) KM_SUMS_MAX_BYTES >> 20);
    return km_hint(ctx, KM_LIMIT, "The most is n_components = %zu.", feasible);
}

/* ---- made ready ---- */

static KmStatus
prepare_steps(KmContext *ctx, const KmLearner *learner, KmFeatureMap *map)
{
    size_t n = learner->n_steps, d = map->d, widest = map->d;

    map->n_steps = n;
    map->exact = n > 0 && learner->step[n - 1].type->exact;
    KM_TRY(km_alloc(ctx, n, &map->step));
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(learner->step[i].type->prepare(ctx, &learner->step[i].args, d, &map->step[i]));
        d = map->step[i].d_out;
        if (d > widest && !(map->exact && i + 1 == n))
            widest = d;
    }
    map->features = d;
    map->factor = map->exact ? km_rff_factor(&map->step[n - 1]) : 1;
    for (size_t i = 0; i < 2; i++)
        KM_TRY(km_alloc_bytes(ctx, widest, KM_SCORE_ROWS * sizeof(double), (void **) &map->between[i]));
    return KM_OK;
}

KmStatus
km_feature_map_create(KmContext *ctx, const KmLearner *learner, size_t d, size_t targets, KmFeatureMap **out)
{
    KmFeatureMap *map;

    KM_TRY(km_feature_map_check(ctx, learner));
    KM_TRY(km_alloc_zero(ctx, 1, &map));
    map->d = d;
    map->targets = targets;
    map->takes_missing = km_learner_takes_missing(learner);
    KM_TRY(km_feature_map_text(ctx, learner, &map->learner));
    KM_TRY(prepare_steps(ctx, learner, map));
    KM_TRY(check_size(ctx, map));
    map->columns = map->features + 1 + (map->exact ? KM_SLICES : 1) * targets;
    *out = map;
    return KM_OK;
}

bool
km_feature_map_is(const KmFeatureMap *map, const KmText *learner, size_t d, size_t targets)
{
    return map->d == d && map->targets == targets && map->learner.length == learner->length &&
        (learner->length == 0 || memcmp(map->learner.data, learner->data, learner->length) == 0);
}

bool
km_feature_map_takes_missing(const KmFeatureMap *map)
{
    return map->takes_missing;
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

static bool
all_within(size_t n, const double *v, double limit)
{
    bool within = true;

    for (size_t j = 0; j < n; j++)
        within &= fabs(v[j]) <= limit;
    return within;
}

static KmStatus
check_features(KmContext *ctx, const KmFeatureMap *map, size_t m, const double *out)
{
    double limit = map->exact ? KM_RFF_GRID : DBL_MAX;

    for (size_t i = 0; i < m; i++)
        if (!all_within(map->features, out + i * map->columns, limit))
            return km_fail(ctx, KM_RANGE, map->exact
                           ? "a row is too large for random Fourier features: its products with the "
                           "frequencies overflow"
                           : "a row is too large: one of its features overflows");
    return KM_OK;
}

/* The last step writes augmented rows: whole numbers of the grid straight to their places. */
static KmStatus
write_features(KmContext *ctx, const KmFeatureMap *map, size_t m, const double *from, double *room,
               double *out)
{
    const KmStep *last = map->n_steps > 0 ? &map->step[map->n_steps - 1] : NULL;

    if (map->exact)
        return km_rff_grid(ctx, last, m, from, map->columns, out);
    if (last != NULL)
        KM_TRY(last->apply(ctx, last, m, from, room));
    for (size_t i = 0; i < m; i++)
        memcpy(out + i * map->columns, (last != NULL ? room : from) + i * map->features,
               map->features * sizeof *out);
    return KM_OK;
}

static KmStatus
map_few_rows(KmContext *ctx, const KmFeatureMap *map, size_t m, size_t ldx, const double *x, double *out)
{
    double *from = map->between[0], *to = map->between[1];

    for (size_t i = 0; i < m; i++)
        memcpy(from + i * map->d, x + i * ldx, map->d * sizeof *x);
    for (size_t s = 0; s + 1 < map->n_steps; s++)
    {
        double *swap = from;

        KM_TRY(map->step[s].apply(ctx, &map->step[s], m, from, to));
        from = to;
        to = swap;
    }
    KM_TRY(write_features(ctx, map, m, from, to, out));
    return check_features(ctx, map, m, out);
}

KmStatus
km_feature_map_rows(KmContext *ctx, const KmFeatureMap *map, size_t m, size_t ldx, const double *x,
                    double *out)
{
    for (size_t i = 0; i < m; i += KM_SCORE_ROWS)
    {
        size_t rows = min_size(m - i, KM_SCORE_ROWS);

        KM_TRY(km_poll(ctx));
        KM_TRY(map_few_rows(ctx, map, rows, ldx, x + i * ldx, out + i * map->columns));
    }
    return KM_OK;
}
