/* survey.c: statistics of rows that are not kept. */
#include "survey.h"

#include <float.h>
#include <string.h>

#include "data.h"
#include "sample.h"

/* ---- layout ---- */

static KmSurveyColumn *
columns_of(const KmSurvey *survey)
{
    return (KmSurveyColumn *) (survey + 1);
}

static KmSampled *
places_of(const KmSurvey *survey)
{
    return (KmSampled *) (columns_of(survey) + survey->d);
}

static double *
row_of(const KmSurvey *survey, uint64_t slot)
{
    return (double *) (places_of(survey) + survey->capacity) + slot * survey->d;
}

const KmSurveyColumn *
km_survey_column(const KmSurvey *survey, size_t j)
{
    return columns_of(survey) + j;
}

/* False if it overflows. */
static bool
bytes_of(size_t d, size_t capacity, size_t *out)
{
    size_t row, sample, columns;

    return !__builtin_mul_overflow(d, sizeof(double), &row)
        && !__builtin_mul_overflow(row + sizeof(KmSampled), capacity, &sample)
        && !__builtin_mul_overflow(d, sizeof(KmSurveyColumn), &columns)
        && !__builtin_add_overflow(sample, columns + sizeof(KmSurvey), out);
}

KmStatus
km_survey_bytes(KmContext *ctx, size_t d, size_t capacity, size_t *out)
{
    if (!bytes_of(d, capacity, out))
        return km_fail(ctx, KM_LIMIT, "a survey of %zu columns is too large", d);
    return km_reserve(ctx, (double) *out, "a survey of the rows", NULL);
}

void
km_survey_init(size_t d, size_t capacity, size_t bytes, KmSurvey *survey)
{
    memset(survey, 0, bytes);
    *survey = (KmSurvey) {.bytes = bytes, .d = d, .capacity = capacity};
    for (size_t j = 0; j < d; j++)
    {
        columns_of(survey)[j].min = INFINITY;
        columns_of(survey)[j].max = -INFINITY;
    }
}

static bool
places_are_sound(const KmSurvey *survey)
{
    for (size_t i = 0; i < survey->n_sample; i++)
        if (places_of(survey)[i].slot >= survey->capacity)
            return false;
    return true;
}

KmStatus
km_survey_check(KmContext *ctx, const void *bytes, size_t length)
{
    const KmSurvey *survey = bytes;
    size_t expected;

    if (length < sizeof *survey || survey->bytes != length
        || !bytes_of(survey->d, survey->capacity, &expected) || expected != length
        || survey->n_sample > survey->capacity || !places_are_sound(survey))
        return km_fail(ctx, KM_CORRUPT, "these bytes are no survey of rows");
    return KM_OK;
}

/* ---- the sample ---- */

static void
sample_row(KmSurvey *survey, uint64_t hash, const double *x, double weight)
{
    const KmSampled *newcomer = km_sample_offer(survey->capacity, hash, weight, &survey->n_sample,
                                                places_of(survey));

    if (newcomer != NULL)
        memcpy(row_of(survey, newcomer->slot), x, survey->d * sizeof *x);
}

KmStatus
km_survey_sample(KmContext *ctx, const KmSurvey *survey, size_t *n, double **x, double **weight)
{
    *n = survey->n_sample;
    KM_TRY(km_alloc(ctx, *n * survey->d, x));
    KM_TRY(km_alloc(ctx, *n, weight));
    for (size_t i = 0; i < *n; i++)
    {
        const KmSampled *place = places_of(survey) + i;

        memcpy(*x + i * survey->d, row_of(survey, place->slot), survey->d * sizeof **x);
        (*weight)[i] = place->weight;
    }
    return KM_OK;
}

/* ---- rows ---- */

static void
add_value(KmSurveyColumn *column, double x, double weight)
{
    double square = x * x;

    if (km_is_missing(x))
        return;
    km_compensated_add(&column->weight, weight);
    km_compensated_add_product(&column->sum, weight, x);
    km_compensated_add_product(&column->squares, weight, square);
    column->squares.low += weight * fma(x, x, -square);
    column->min = fmin(column->min, x);
    column->max = fmax(column->max, x);
}

void
km_survey_add(KmSurvey *survey, const double *x, double weight)
{
    if (weight == 0)
        return;
    survey->n_rows++;
    for (size_t j = 0; j < survey->d; j++)
        add_value(columns_of(survey) + j, x[j], weight);
    if (survey->capacity > 0)
        sample_row(survey, km_row_hash(survey->d, x), x, weight);
}

KmStatus
km_survey_merge(KmContext *ctx, KmSurvey *a, const KmSurvey *b)
{
    if (a->d != b->d || a->capacity != b->capacity)
        return km_fail(ctx, KM_DIMENSION, "rows have %zu features, others have %zu", (size_t) a->d,
                       (size_t) b->d);
    a->n_rows += b->n_rows;
    for (size_t j = 0; j < a->d; j++)
    {
        KmSurveyColumn *to = columns_of(a) + j;
        const KmSurveyColumn *from = columns_of(b) + j;

        km_compensated_add_multiple(&to->weight, 1, &from->weight);
        km_compensated_add_multiple(&to->sum, 1, &from->sum);
        km_compensated_add_multiple(&to->squares, 1, &from->squares);
        to->min = fmin(to->min, from->min);
        to->max = fmax(to->max, from->max);
    }
    for (size_t i = 0; i < b->n_sample && a->capacity > 0; i++)
    {
        const KmSampled *place = places_of(b) + i;

        sample_row(a, place->hash, row_of(b, place->slot), place->weight);
    }
    return KM_OK;
}

/* ---- what they say ---- */

/* total += sum over the column of weight (x - centre)^2. */
static void
add_deviations(const KmSurveyColumn *column, double centre, KmCompensated *total)
{
    double square = centre * centre;

    km_compensated_add_multiple(total, 1, &column->squares);
    km_compensated_add_multiple(total, -2 * centre, &column->sum);
    km_compensated_add_multiple(total, square, &column->weight);
    total->low += fma(centre, centre, -square) * column->weight.high;
}

static KmStatus
check_finite(KmContext *ctx, size_t j, double value)
{
    if (isfinite(value))
        return KM_OK;
    return km_fail(ctx, KM_RANGE, "sums of feature %zu are too large for double precision", j + 1);
}

/* The mean of a constant column is its value, and no mean leaves the range by rounding. */
KmStatus
km_survey_mean(KmContext *ctx, const KmSurvey *survey, size_t j, double *out)
{
    const KmSurveyColumn *column = columns_of(survey) + j;
    double weight = column->weight.high + column->weight.low;

    *out = fmin(fmax(km_compensated_quotient(&column->sum, weight), column->min), column->max);
    return check_finite(ctx, j, column->sum.high + column->sum.low + weight);
}

KmStatus
km_survey_deviation(KmContext *ctx, const KmSurvey *survey, size_t j, double *out)
{
    const KmSurveyColumn *column = columns_of(survey) + j;
    double magnitude = fmax(fabs(column->min), fabs(column->max)), mean;
    KmCompensated total = {0};

    KM_TRY(km_survey_mean(ctx, survey, j, &mean));
    add_deviations(column, mean, &total);
    *out = sqrt(fmax(0, km_compensated_quotient(&total, column->weight.high + column->weight.low)));
    if (column->min == column->max || *out <= 4 * DBL_EPSILON * magnitude)
        *out = 0;
    return check_finite(ctx, j, column->squares.high + column->squares.low);
}

KmStatus
km_survey_variance(KmContext *ctx, const KmSurvey *survey, size_t n, const size_t *column, double *out)
{
    KmCompensated weight = {0}, sum = {0}, squares = {0};
    double mean;

    for (size_t k = 0; k < n; k++)
    {
        km_compensated_add_multiple(&weight, 1, &columns_of(survey)[column ? column[k] : k].weight);
        km_compensated_add_multiple(&sum, 1, &columns_of(survey)[column ? column[k] : k].sum);
    }
    mean = km_compensated_quotient(&sum, weight.high + weight.low);
    for (size_t k = 0; k < n; k++)
        add_deviations(columns_of(survey) + (column ? column[k] : k), mean, &squares);
    *out = fmax(0, km_compensated_quotient(&squares, weight.high + weight.low));
    return check_finite(ctx, 0, *out);
}
