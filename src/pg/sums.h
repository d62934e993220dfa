/*
 * sums.h: values made by one query of train and read by the next: surveys and
 * accumulators.
 */
#ifndef KML_SUMS_H
#define KML_SUMS_H

#include "glue.h"

#include "accumulator.h"

/* An aligned copy, checked. */
extern KmSurvey *kml_survey_from_bytea(KmContext *ctx, const bytea *bytes);
/* The sums in a value of type accumulator, detoasted and checked. */
extern KmSums *kml_sums_of_accumulator(KmContext *ctx, struct varlena *value);

#endif
