/*
 * learner_types.h: every step and estimator, one per file; learner.c lists them.
 */
#ifndef KM_LEARNER_TYPES_H
#define KM_LEARNER_TYPES_H

#include "learner.h"

extern const KmStepType km_step_impute;
extern const KmStepType km_step_scale;
extern const KmStepType km_step_minmax;
extern const KmStepType km_step_rff;
extern const KmStepType km_step_orf;
extern const KmStepType km_step_nystroem;
extern const KmStepType km_step_poly_features;
extern const KmStepType km_step_additive_chi2_features;

extern const KmEstimatorType km_estimator_svc;
extern const KmEstimatorType km_estimator_nu_svc;
extern const KmEstimatorType km_estimator_svr;
extern const KmEstimatorType km_estimator_nu_svr;
extern const KmEstimatorType km_estimator_one_class;
extern const KmEstimatorType km_estimator_krr;
extern const KmEstimatorType km_estimator_gp;
extern const KmEstimatorType km_estimator_gpc;
extern const KmEstimatorType km_estimator_ridge;
extern const KmEstimatorType km_estimator_ridge_classifier;
extern const KmEstimatorType km_estimator_logistic;
extern const KmEstimatorType km_estimator_linear_svc;
extern const KmEstimatorType km_estimator_linear_svr;

#endif
