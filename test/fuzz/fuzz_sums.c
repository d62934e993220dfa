/*
 * fuzz_sums.c: any bytes given as an accumulator are refused or give an answer: what passes the check
 * is merged with itself, subtracted, solved, and gives the errors of its model.  The input is taken as it is,
 * and as patches to a good value whose checksum is then made right, so that what lies behind the checksum is
 * reached.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "crc32c.h"

static void
must(KmContext *ctx, KmStatus status)
{
    if (status == KM_OK)
        return;
    fprintf(stderr, "%s\n%s\n", ctx->message, ctx->detail);
    abort();
}

static void
use(KmContext *ctx, const KmSums *given)
{
    const char *estimator = "ridge(lambda=0.1)";
    size_t bytes = given->bytes;
    KmLearner *learner;
    KmModel *model;
    KmScorer *scorer;
    KmSumsError error;
    KmSums *sums = malloc(bytes);

    memcpy(sums, given, bytes);
    if (km_sums_merge(ctx, sums, given, 1) == KM_OK && km_sums_merge(ctx, sums, given, -1) == KM_OK &&
        km_sums_stored_bytes(sums) != bytes)
        abort();
    must(ctx, km_learner_parse(ctx, estimator, strlen(estimator), &learner));
    if (km_sums_solve(ctx, learner, given, &model) == KM_OK && model != NULL)
    {
        must(ctx, km_scorer_create(ctx, model, &scorer));
        (void) km_sums_error(ctx, model, given, &error);
    }
    free(sums);
}

static void
try_bytes(KmContext *ctx, const void *bytes, size_t length)
{
    if (km_sums_check(ctx, bytes, length) == KM_OK)
        use(ctx, bytes);
}

/* A value of a few rows, exact or plain; its length in *length. */
static KmSums *
good_value(KmContext *ctx, bool exact, size_t *length)
{
    const char *text = exact ? "scale(mean=[0, 1], sd=[1, 2]) | rff(rbf(gamma=1), n_components=2)" : "ridge";
    const double x[2][2] = {{1, 2}, {-1, 0.5}}, y[2][1] = {{1e5}, {-0.25}};
    KmLearner *learner;
    KmFeatureMap *map;
    KmSums *sums, *value;

    must(ctx, km_learner_parse(ctx, text, strlen(text), &learner));
    must(ctx, km_feature_map_create(ctx, learner, 2, 1, &map));
    must(ctx, km_alloc_bytes(ctx, km_sums_full_bytes(map), 1, (void **) &sums));
    must(ctx, km_sums_init(ctx, map, km_sums_full_bytes(map), sums));
    for (size_t i = 0; i < 2; i++)
        must(ctx, km_sums_add(ctx, map, sums, x[i], y[i], 1));
    must(ctx, km_sums_flush(ctx, map, sums));
    *length = km_sums_stored_bytes(sums);
    value = malloc(*length);
    must(ctx, km_sums_store(ctx, sums, value));
    return value;
}

/* Three bytes of input a patch: where (16 bits), what. */
static void
try_patched(KmContext *ctx, bool exact, const uint8_t *data, size_t size)
{
    size_t length, covered = offsetof(KmSums, flags);
    KmSums *value = good_value(ctx, exact, &length);
    unsigned char *bytes = (unsigned char *) value;

    for (size_t i = 0; i + 3 <= size; i += 3)
        bytes[(data[i] << 8 | data[i + 1]) % length] = data[i + 2];
    value->bytes = length;
    value->crc = km_crc32c(bytes + covered, length - covered);
    try_bytes(ctx, value, length);
    free(value);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    KmContext *ctx = km_context_create((size_t) 64 << 20);
    void *copy = malloc(size + 1);      /* aligned, and no longer than it must be */

    memcpy(copy, data, size);
    try_bytes(ctx, copy, size);
    free(copy);
    try_patched(ctx, true, data, size);
    try_patched(ctx, false, data, size);
    km_context_destroy(ctx);
    return 0;
}
