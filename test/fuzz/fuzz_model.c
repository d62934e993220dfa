/*
 * fuzz_model.c: any bytes as a model: an answer or an error, never a crash, within bounded memory.
 *
 * The bytes are tried as they are, then with a right header, so that the checksum does not hide the
 * sections.  A model that is read must be written in as many bytes, which read again.
 */
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

#define MAX_MEMORY ((size_t) 256 << 20)
#define MAX_SCORED 4096         /* features of rows to score, values: beyond, time is all that is tested */

/* out: room for what one row has, before the steps or after them. */
static void
inspect(KmContext *ctx, const KmScorer *scorer, const double *x, double *out)
{
    KmInspection inspection;
    KmShare shares[3];
    size_t n = 3;
    double intercept;

    if (km_inspect(ctx, scorer, &inspection) != KM_OK)
        return;
    (void) km_inspect_plane(ctx, &inspection, inspection.n_out - 1, out, &intercept);
    (void) km_inspect_explain(ctx, &inspection, x, inspection.n_out - 1, &n, shares);
    for (size_t s = 0; s < inspection.n; s++)
    {
        km_inspect_row(&inspection, s, out);
        (void) km_inspect_coefficient(&inspection, s, 0);
    }
}

static void
score(KmContext *ctx, const KmModel *model)
{
    KmScorer *scorer;
    double *x, *out, value;

    if (km_scorer_create(ctx, model, &scorer) != KM_OK || scorer->d > MAX_SCORED ||
        scorer->steps.d_out > MAX_SCORED || scorer->score.n_out > MAX_SCORED || model->classes.n > MAX_SCORED)
        return;
    if (km_alloc(ctx, scorer->d, &x) != KM_OK || km_alloc(ctx, MAX_SCORED, &out) != KM_OK)
        return;
    for (size_t j = 0; j < scorer->d; j++)
        x[j] = j % 3 == 2 && scorer->takes_missing ? km_missing() : 0.5 * (double) j;
    (void) km_scorer_transform(ctx, scorer, 1, x, out);
    if (km_scorer_values(ctx, scorer, 1, x, out) == KM_OK)
    {
        (void) km_scorer_class(scorer, out);
        (void) km_scorer_predict(ctx, scorer, out, &value);
    }
    (void) km_scorer_proba(ctx, scorer, 1, x, out);
    inspect(ctx, scorer, x, out);
}

/* Bytes of a newer minor version may hold what is not written again. */
static void
check_rewritten(KmContext *ctx, const KmModel *model, const unsigned char *bytes, size_t length)
{
    unsigned char *again;
    KmModel *second;

    if ((bytes[6] | bytes[7] << 8) > KM_FORMAT_MINOR)
        return;
    if (km_model_encoded_size(model) != length)
        abort();
    if (km_alloc(ctx, length, &again) != KM_OK || km_model_encode(ctx, model, again) != KM_OK ||
        km_model_decode(ctx, again, length, &second) != KM_OK)
        abort();
}

static void
try_bytes(unsigned char *bytes, size_t length)
{
    KmContext *ctx = km_context_create(MAX_MEMORY);
    KmModel *model;

    if (km_model_decode_head(ctx, bytes, length, &model) == KM_OK)
        score(ctx, model);
    if (km_model_decode(ctx, bytes, length, &model) == KM_OK)
    {
        check_rewritten(ctx, model, bytes, length);
        score(ctx, model);
    }
    if (ctx->peak_bytes > MAX_MEMORY)
        abort();
    km_context_destroy(ctx);
}

static void
put(unsigned char *out, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++)
        out[i] = (unsigned char) (value >> 8 * i);
}

/* A right header; the length of the head stays where it may. */
static void
put_header(unsigned char *bytes, size_t size)
{
    size_t head = 0;

    for (size_t i = 0; i < 8; i++)
        head |= (size_t) bytes[24 + i] << 8 * i;
    if (head < KM_MODEL_HEADER_BYTES || head > size)
        head = size;
    memcpy(bytes, "KMLM", 4);
    put(bytes + 4, 2, KM_FORMAT_MAJOR);
    put(bytes + 8, 8, size);
    put(bytes + 16, 4, km_crc32c(bytes + KM_MODEL_HEADER_BYTES, head - KM_MODEL_HEADER_BYTES));
    put(bytes + 20, 4, km_crc32c(bytes + head, size - head));
    put(bytes + 24, 8, head);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size + 1);

    memcpy(bytes, data, size);
    try_bytes(bytes, size);
    if (size >= KM_MODEL_HEADER_BYTES)
    {
        put_header(bytes, size);
        try_bytes(bytes, size);
    }
    free(bytes);
    return 0;
}
