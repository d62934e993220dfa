/*
 * accumulator_store.c: the stored form of an accumulator, and the check of bytes from outside.
 *
 * A flushed value is canonical already: sums do not depend on the order of rows, and the top slice of a
 * target is never empty.  Storing trims it and sets the CRC.
 */
#include "accumulator.h"

#include <math.h>
#include <stddef.h>

#include "crc32c.h"
#include "sizes.h"
#include "sums_layout.h"

#define POLL_ELEMENTS ((size_t) 1 << 20)
#define SLICE_BYTES ((size_t) 8 << 20)  /* between polls */
#define MAX_EXACT 0x1p53

size_t
km_sums_stored_bytes(const KmSums *sums)
{
    return km_sums_fixed_bytes(sums);
}

static KmStatus
checksum(KmContext *ctx, const KmSums *sums, uint32_t *crc)
{
    *crc = 0;
    for (size_t i = offsetof(KmSums, flags); i < sums->bytes; i += SLICE_BYTES)
    {
        KM_TRY(km_poll(ctx));
        *crc = km_crc32c_extend(*crc, (const char *) sums + i, min_size(SLICE_BYTES, sums->bytes - i));
    }
    return KM_OK;
}

KmStatus
km_sums_store(KmContext *ctx, const KmSums *sums, KmSums *to)
{
    uint32_t crc;

    KM_TRY(km_sums_copy(ctx, km_sums_fixed_bytes(sums), sums, to));
    to->bytes = km_sums_fixed_bytes(sums);
    to->waiting = to->waiting_capacity = 0;
    KM_TRY(checksum(ctx, to, &crc));
    to->crc = crc;
    return KM_OK;
}

/* ---- bytes from outside ---- */

static KmStatus
corrupt(KmContext *ctx, const char *what)
{
    return km_fail(ctx, KM_CORRUPT, "these bytes are no valid accumulator: %s", what);
}

/* Sizes come first: each is bounded before it is used to find the next part. */
static KmStatus
check_sizes(KmContext *ctx, const KmSums *sums, size_t length)
{
    uint32_t crc;

    if (length < sizeof *sums || sums->magic != KM_SUMS_MAGIC)
        return corrupt(ctx, "they do not begin with its header");
    if (sums->major != KM_SUMS_MAJOR)
        return km_fail(ctx, KM_UNSUPPORTED, "accumulator of format %u.%u; this library reads format %d",
                       sums->major, sums->minor, KM_SUMS_MAJOR);
    if (sums->bytes != length || length > KM_SUMS_MAX_BYTES || sums->learner_bytes > length)
        return corrupt(ctx, "their length is wrong");
    if (sums->d > INT32_MAX || sums->features > KM_SUMS_MAX_BYTES || sums->targets > KM_SUMS_MAX_TARGETS
        || (sums->d == 0) != (sums->features == 0) || (sums->d == 0) != (sums->targets == 0))
        return corrupt(ctx, "their dimensions are impossible");
    if (sums->waiting != 0 || sums->waiting_capacity != 0 || km_sums_fixed_bytes(sums) != length)
        return corrupt(ctx, "their length does not fit their dimensions");
    KM_TRY(checksum(ctx, sums, &crc));
    if (sums->crc != crc)
        return corrupt(ctx, "their checksum is wrong");
    return KM_OK;
}

static KmStatus
check_counts(KmContext *ctx, const KmSums *sums)
{
    bool exact = sums->flags & KM_SUMS_EXACT;

    if (sums->flags & ~(uint32_t) (KM_SUMS_EXACT | KM_SUMS_CLIPPED | KM_SUMS_PLAIN | KM_SUMS_TRUNCATED)
        || (sums->flags & KM_SUMS_PLAIN && sums->flags != KM_SUMS_PLAIN))
        return corrupt(ctx, "their flags are impossible");
    if (!(sums->total_weight >= 0 && isfinite(sums->total_weight)) || (sums->d == 0 && sums->n_rows != 0)
        || sums->n_rows > KM_SUMS_MAX_ROWS || sums->n_skipped > KM_SUMS_MAX_ROWS
        || (sums->n_rows == 0) != (sums->total_weight == 0)
        || (exact && (sums->total_weight > KM_SUMS_MAX_WEIGHT || sums->magnitude != 0))
        || !(sums->magnitude >= 0 && isfinite(sums->magnitude)))
        return corrupt(ctx, "their counts are impossible");
    for (size_t t = 0; t < sums->targets; t++)
    {
        int32_t top = km_sums_top(sums)[t];

        if (top != KM_NO_SLICE && (top < KM_SLICE_LOWEST || top > KM_SLICE_HIGHEST
                                   || sums->flags & KM_SUMS_PLAIN))
            return corrupt(ctx, "a target's range is impossible");
    }
    return KM_OK;
}

static KmStatus
check_sums(KmContext *ctx, const KmSums *sums)
{
    const double *v = km_sums_triangle(sums);
    bool exact = sums->flags & KM_SUMS_EXACT;
    size_t n = km_sums_elements(sums);

    for (size_t e = 0; e < n; e++)
    {
        if (e % POLL_ELEMENTS == 0)
            KM_TRY(km_poll(ctx));
        if (!isfinite(v[e]) || (exact && !(fabs(v[e]) <= MAX_EXACT && (double) (int64_t) v[e] == v[e])))
            return corrupt(ctx, "a sum is impossible");
    }
    return KM_OK;
}

KmStatus
km_sums_check(KmContext *ctx, const void *bytes, size_t length)
{
    KM_TRY(check_sizes(ctx, bytes, length));
    KM_TRY(check_counts(ctx, bytes));
    return check_sums(ctx, bytes);
}
