/*
 * passes.h: the constants of a learner's steps learnt in passes over rows that are not kept: one pass for
 * each step that has none yet, through the steps before it.
 */
#ifndef KM_PASSES_H
#define KM_PASSES_H

#include "learner.h"

/* Number of the first step that needs a pass; n_steps for none. */
extern KmStatus km_passes_next(KmContext *ctx, const KmLearner *learner, size_t *out);

/* A pass for that step, over rows of d columns. */
typedef struct KmPass
{
    size_t d;
    bool takes_missing;
    KmStep before;              /* the steps before it, in one */
    double *z;                  /* a row after them */
    size_t sample_rows;
    size_t survey_bytes;        /* of the survey that the rows go into */
} KmPass;

extern KmStatus km_pass_create(KmContext *ctx, const KmLearner *learner, size_t d, KmPass **out);
extern void km_pass_start(const KmPass *pass, KmSurvey *survey);
/* KM_DATA naming the position of NaN or infinity, KM_INVALID for a bad weight. */
extern KmStatus km_pass_add(KmContext *ctx, const KmPass *pass, KmSurvey *survey, const double *x,
                            double weight);
/* Write what the step learns into the learner, which has every default written out. */
extern KmStatus km_pass_learn(KmContext *ctx, KmLearner *learner, const KmSurvey *survey);

#endif
