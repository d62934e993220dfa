/*
 * survey.h: statistics of rows that are read once and not kept, from which a step can learn its constants:
 * sums of columns in twice the precision, extremes, and a sample of distinct rows.
 *
 * The sample is of the rows whose content has the smallest hashes, so it does not depend on their order, and
 * two surveys can be merged.  A survey is one block of memory without pointers: this header, d columns,
 * `capacity` places, capacity x d numbers of sampled rows.
 */
#ifndef KM_SURVEY_H
#define KM_SURVEY_H

#include "compensated.h"
#include "context.h"

#define KM_SAMPLE_ROWS 1000     /* distinct rows whose distances give a median */

typedef struct KmSurvey
{
    uint64_t bytes;             /* of the whole */
    uint64_t d, capacity;       /* columns; rows that the sample has room for */
    uint64_t n_rows;            /* seen, those of weight 0 left out */
    uint64_t n_sample;
} KmSurvey;

/* Of the values that are not missing. */
typedef struct KmSurveyColumn
{
    KmCompensated weight, sum, squares;
    double min, max;            /* infinities when there is no value */
} KmSurveyColumn;

extern KmStatus km_survey_bytes(KmContext *ctx, size_t d, size_t capacity, size_t *out);
extern void km_survey_init(size_t d, size_t capacity, size_t bytes, KmSurvey *survey);
/* x: d finite numbers, or missing ones; weight >= 0. */
extern void km_survey_add(KmSurvey *survey, const double *x, double weight);
/* Surveys of the same size. */
extern KmStatus km_survey_merge(KmContext *ctx, KmSurvey *a, const KmSurvey *b);
/* KM_OK if the bytes, at a multiple of 8, are a survey. */
extern KmStatus km_survey_check(KmContext *ctx, const void *bytes, size_t length);

extern const KmSurveyColumn *km_survey_column(const KmSurvey *survey, size_t j);
/* KM_RANGE naming the feature whose sums overflow. */
extern KmStatus km_survey_mean(KmContext *ctx, const KmSurvey *survey, size_t j, double *out);
/* Population standard deviation; 0 for a column that is constant but for rounding. */
extern KmStatus km_survey_deviation(KmContext *ctx, const KmSurvey *survey, size_t j, double *out);
/* Population variance of all entries of n columns together; column: their numbers, NULL for 0 … n-1. */
extern KmStatus km_survey_variance(KmContext *ctx, const KmSurvey *survey, size_t n, const size_t *column,
                                   double *out);
/* The sample, in the order of its hashes: n x d rows and their weights, which count repetitions. */
extern KmStatus km_survey_sample(KmContext *ctx, const KmSurvey *survey, size_t *n, double **x,
                                 double **weight);

#endif
