/*
 * accumulator_merge.c: add or take away one accumulator from another.
 *
 * The sums themselves are added element by element; only slices of targets have to be brought under one
 * window first.  Shifting a window moves whole rows and columns of the triangle.
 */
#include "accumulator.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "sums_layout.h"

#define POLL_ELEMENTS ((size_t) 1 << 20)
#define NO_SOURCE SIZE_MAX

/* ---- windows of slices ---- */

static double
slice_square(const KmSums *sums, size_t column)
{
    return km_sums_row(sums, column)[column];
}

/* How far down slices move when a window's top goes from `from` to `to`: negative for up, and no
 * more than the window holds. */
static int
shift_between(int32_t from, int32_t to)
{
    int64_t shift = from == KM_NO_SLICE || to == KM_NO_SLICE ? 0 : (int64_t) to - from;

    return (int) (shift > KM_SLICES ? KM_SLICES : shift < -KM_SLICES ? -KM_SLICES : shift);
}

/* source[i]: the column whose sums belong into column i under the tops given; NO_SOURCE: none, zero. */
static void
find_sources(const KmSums *sums, const int32_t *top, size_t *source)
{
    for (size_t i = 0; i <= sums->features; i++)
        source[i] = i;
    for (size_t t = 0; t < sums->targets; t++)
    {
        size_t first = km_sums_target(sums, t);
        int shift = shift_between(km_sums_top(sums)[t], top[t]), parts = (int) km_sums_parts(sums);

        for (int b = 0; b < parts; b++)
        {
            int from = b - shift;

            source[first + (size_t) b] = from >= 0 && from < parts ? first + (size_t) from : NO_SOURCE;
        }
    }
}

static double
element_from(const KmSums *sums, const size_t *source, size_t i, size_t j)
{
    return source[i] == NO_SOURCE || source[j] == NO_SOURCE ? 0 : km_sums_row(sums, source[i])[source[j]];
}

/* True if some slice that is not zero has no place under the tops given. */
static bool
loses_slices(const KmSums *sums, const int32_t *top)
{
    for (size_t t = 0; t < sums->targets; t++)
    {
        int shift = shift_between(km_sums_top(sums)[t], top[t]);

        for (int b = KM_SLICES - 1; b >= KM_SLICES - shift && b >= 0; b--)
            if (slice_square(sums, km_sums_target(sums, t) + (size_t) b) != 0)
                return true;
    }
    return false;
}

/* Sources lie before (rising tops) or after (falling) what is written, so the order of the walk
 * keeps them whole. */
static void
move_slices(KmSums *sums, const size_t *source, bool rising)
{
    size_t first = sums->features + 1, columns = km_sums_columns(sums);

    for (size_t k = first; k < columns; k++)
    {
        size_t i = rising ? columns - 1 - (k - first) : k;
        double *row = km_sums_row(sums, i);

        for (size_t l = 0; l <= i; l++)
        {
            size_t j = rising ? i - l : l;

            row[j] = element_from(sums, source, i, j);
        }
    }
}

KmStatus
km_sums_move_tops(KmContext *ctx, KmSums *sums, const int32_t *top)
{
    bool rising = false;
    size_t *source;

    KM_TRY(km_alloc(ctx, km_sums_columns(sums), &source));
    find_sources(sums, top, source);
    if (loses_slices(sums, top))
        sums->flags |= KM_SUMS_CLIPPED;
    for (size_t t = 0; t < sums->targets; t++)
        rising = rising || shift_between(km_sums_top(sums)[t], top[t]) > 0;
    move_slices(sums, source, rising);
    memcpy(km_sums_top(sums), top, sums->targets * sizeof *top);
    km_free(ctx, source);
    return KM_OK;
}

/* The top of target t without the slices that are zero, as after a subtraction. */
static int32_t
normal_top(const KmSums *sums, size_t t)
{
    int32_t top = km_sums_top(sums)[t];

    for (size_t b = 0; b < KM_SLICES; b++)
        if (slice_square(sums, km_sums_target(sums, t) + b) != 0)
            return top - (int32_t) b;
    return KM_NO_SLICE;
}

static KmStatus
normalise_tops(KmContext *ctx, KmSums *sums)
{
    int32_t *top;

    KM_TRY(km_alloc(ctx, sums->targets, &top));
    for (size_t t = 0; t < sums->targets; t++)
        top[t] = normal_top(sums, t);
    if (memcmp(top, km_sums_top(sums), sums->targets * sizeof *top) != 0)
    {
        if (sums->flags & KM_SUMS_CLIPPED)
            sums->flags |= KM_SUMS_TRUNCATED;
        KM_TRY(km_sums_move_tops(ctx, sums, top));
    }
    km_free(ctx, top);
    return KM_OK;
}

/* ---- may they be merged? ---- */

static KmStatus
check_maps(KmContext *ctx, const KmSums *a, const KmSums *b)
{
    if (a->learner_bytes != b->learner_bytes
        || memcmp(km_sums_text(a), km_sums_text(b), a->learner_bytes) != 0)
    {
        km_fail(ctx, KM_INVALID, "accumulators of different feature maps cannot be combined");
        return km_detail(ctx, KM_INVALID, "One is of %.*s, the other of %.*s.",
                         (int) (a->learner_bytes < 400 ? a->learner_bytes : 400), km_sums_text(a),
                         (int) (b->learner_bytes < 400 ? b->learner_bytes : 400), km_sums_text(b));
    }
    if (a->d == 0 || b->d == 0)
        return KM_OK;
    if (a->d != b->d)
        return km_fail(ctx, KM_INVALID, "accumulators of rows with %u and %u features cannot be combined",
                       a->d, b->d);
    if (a->features != b->features || km_sums_parts(a) != km_sums_parts(b))
        return km_fail(ctx, KM_INVALID, "accumulators of %u features (flags %#x) and %u (%#x) cannot be "
                       "combined", a->features, a->flags, b->features, b->flags);
    if (a->targets != b->targets)
        return km_fail(ctx, KM_INVALID, "accumulators of %u and %u targets cannot be combined", a->targets,
                       b->targets);
    return KM_OK;
}

/* What is subtracted must have been a part: its counts and its largest targets say so. */
static KmStatus
check_part(KmContext *ctx, const KmSums *a, const KmSums *b)
{
    if (a->n_rows < b->n_rows || a->n_skipped < b->n_skipped)
        return km_fail(ctx, KM_INVALID, "cannot subtract an accumulator of %llu rows (%llu skipped) from one "
                       "of %llu (%llu)", (unsigned long long) b->n_rows, (unsigned long long) b->n_skipped,
                       (unsigned long long) a->n_rows, (unsigned long long) a->n_skipped);
    if (b->total_weight > a->total_weight * (a->flags & b->flags & KM_SUMS_EXACT ? 1 : 1 + 1e-9))
        return km_fail(ctx, KM_INVALID, "cannot subtract an accumulator of weight %g from one of weight %g",
                       b->total_weight, a->total_weight);
    for (size_t t = 0; t < b->targets && a->d > 0; t++)
        if (km_sums_top(b)[t] > km_sums_top(a)[t])
            return km_fail(ctx, KM_INVALID,
                           "cannot subtract an accumulator with larger targets than the other's");
    return KM_OK;
}

/* ---- merge ---- */

size_t
km_sums_merged_bytes(const KmSums *a, const KmSums *b)
{
    size_t fixed = km_sums_fixed_bytes(b);

    return a->bytes > fixed ? a->bytes : fixed;
}

/* How large the sums ever were: rounding is relative to that, not to what a subtraction leaves. */
static double
magnitude_of(const KmSums *sums)
{
    double trace = km_sums_trace(sums);

    return trace > sums->magnitude ? trace : sums->magnitude;
}

static double
merged_magnitude(const KmSums *a, const KmSums *b, int sign)
{
    if (a->flags & b->flags & KM_SUMS_EXACT || (sign > 0 && a->magnitude == 0 && b->magnitude == 0))
        return 0;
    return fmin(magnitude_of(a) + magnitude_of(b), DBL_MAX);
}

static KmStatus
check_total(KmContext *ctx, const KmSums *a, const KmSums *b)
{
    if (a->n_rows <= KM_SUMS_MAX_ROWS - b->n_rows && a->n_skipped <= KM_SUMS_MAX_ROWS - b->n_skipped &&
        isfinite(a->total_weight + b->total_weight))
        return KM_OK;
    return km_fail(ctx, KM_LIMIT, "the counts of merged accumulators overflow: %llu and %llu rows",
                   (unsigned long long) a->n_rows, (unsigned long long) b->n_rows);
}

static void
merge_counts(KmSums *a, const KmSums *b, int sign)
{
    a->magnitude = merged_magnitude(a, b, sign);
    a->n_rows = sign > 0 ? a->n_rows + b->n_rows : a->n_rows - b->n_rows;
    a->n_skipped = sign > 0 ? a->n_skipped + b->n_skipped : a->n_skipped - b->n_skipped;
    a->total_weight = a->n_rows == 0 ? 0 : a->total_weight + sign * b->total_weight;
    a->flags = (a->flags & b->flags & KM_SUMS_EXACT) | ((a->flags | b->flags) & ~(uint32_t) KM_SUMS_EXACT);
    if (a->total_weight > KM_SUMS_MAX_WEIGHT)
        a->flags &= ~(uint32_t) KM_SUMS_EXACT;
}

/* The first value had no map yet. */
static KmStatus
become(KmContext *ctx, KmSums *a, const KmSums *b)
{
    KmSums before = *a;

    KM_TRY(km_sums_copy(ctx, km_sums_fixed_bytes(b), b, a));
    a->crc = 0;
    a->waiting = a->waiting_capacity = 0;
    a->bytes = before.bytes;
    a->n_skipped += before.n_skipped;
    a->flags &= before.flags | ~(uint32_t) KM_SUMS_EXACT;
    return KM_OK;
}

/* Raise a's windows to b's. */
static KmStatus
raise_to(KmContext *ctx, KmSums *a, const KmSums *b)
{
    bool rises = false;
    int32_t *top;

    KM_TRY(km_alloc(ctx, a->targets, &top));
    for (size_t t = 0; t < a->targets; t++)
    {
        int32_t mine = km_sums_top(a)[t], other = km_sums_top(b)[t];

        top[t] = mine > other ? mine : other;
        rises = rises || top[t] != mine;
    }
    if (rises)
        KM_TRY(km_sums_move_tops(ctx, a, top));
    km_free(ctx, top);
    return KM_OK;
}

/* a's triangle += sign times b's, whose slices come from source[]. */
static KmStatus
merge_sums(KmContext *ctx, KmSums *a, const KmSums *b, int sign, const size_t *source)
{
    size_t plain = (a->features + (size_t) 1) * (a->features + (size_t) 2) / 2;
    double *to = km_sums_triangle(a);
    const double *from = km_sums_triangle(b);

    for (size_t e = 0; e < plain; e++)
    {
        if (e % POLL_ELEMENTS == 0)
            KM_TRY(km_poll(ctx));
        to[e] += sign * from[e];
    }
    for (size_t i = a->features + (size_t) 1; i < km_sums_columns(a); i++)
    {
        double *row = km_sums_row(a, i);

        KM_TRY(km_poll(ctx));
        for (size_t j = 0; j <= i; j++)
            row[j] += sign * element_from(b, source, i, j);
    }
    return KM_OK;
}

static KmStatus
finish_subtraction(KmContext *ctx, KmSums *a)
{
    if (a->n_rows == 0)         /* what rounding left of inexact sums */
    {
        KM_TRY(km_sums_clear(ctx, km_sums_elements(a) * sizeof(double), km_sums_triangle(a)));
        a->magnitude = 0;
    }
    return a->flags & KM_SUMS_PLAIN ? KM_OK : normalise_tops(ctx, a);
}

KmStatus
km_sums_merge(KmContext *ctx, KmSums *a, const KmSums *b, int sign)
{
    size_t *source;

    if (a->waiting > 0 || b->waiting > 0)
        return km_fail(ctx, KM_INTERNAL, "accumulators must be flushed before they are merged");
    KM_TRY(check_maps(ctx, a, b));
    KM_TRY(sign < 0 ? check_part(ctx, a, b) : check_total(ctx, a, b));
    if (a->d == 0 && b->d > 0 && a->bytes < km_sums_fixed_bytes(b))
        return km_fail(ctx, KM_INTERNAL, "no room to merge an accumulator into an empty one");
    if (a->d == 0 && b->d > 0 && sign > 0)
        return become(ctx, a, b);
    merge_counts(a, b, sign);
    if (a->d == 0 || b->d == 0)
        return KM_OK;
    KM_TRY(raise_to(ctx, a, b));
    KM_TRY(km_alloc(ctx, km_sums_columns(a), &source));
    find_sources(b, km_sums_top(a), source);
    if (loses_slices(b, km_sums_top(a)))
        a->flags |= KM_SUMS_CLIPPED;
    KM_TRY(merge_sums(ctx, a, b, sign, source));
    km_free(ctx, source);
    return sign > 0 ? km_sums_check_finite(ctx, a) : finish_subtraction(ctx, a);
}
