/*
 * learner.h: learners: feature steps, then an estimator, as tables.
 *
 * A new step or estimator is one table entry in its own file.
 */
#ifndef KM_LEARNER_H
#define KM_LEARNER_H

#include "kernel.h"
#include "model.h"
#include "posterior.h"
#include "survey.h"

/* ---- feature steps ---- */

/* A step whose constants are known, ready to map rows; the mapping uses only the fixed-order
 * operations (panel.h, vmath.h), so that features have the same bits everywhere. */
typedef struct KmStep KmStep;
struct KmStep
{
    const char *name;           /* of its type, for messages; set by who calls prepare */
    size_t d_in, d_out;
    void *state;
    /* z (m x d_out) from x (m x d_in), m <= KM_SCORE_ROWS. */
    KmStatus (*apply)(KmContext *ctx, const KmStep *step, size_t m, const double *x, double *z);
    /* How a row comes back, x_j = origin_j + size_j z_j; NULL: not so, column by column. */
    KmStatus (*undo)(KmContext *ctx, const KmStep *step, double *origin, double *size);
    /* Where z = U a, U square, of as many plainer features a (m x d_out): these, under the rules of apply;
     * linear models are fitted to them and score them.  NULL: there are none. */
    KmStatus (*apply_plain)(KmContext *ctx, const KmStep *step, size_t m, const double *x, double *a);
    /* For training, in place: b (d_out x m) becomes U b, or U'b, for which <z, b> = <a, U'b>; and about how
     * large the square of U's norm is. */
    KmStatus (*push)(KmContext *ctx, const KmStep *step, size_t m, double *b);
    KmStatus (*pull)(KmContext *ctx, const KmStep *step, size_t m, double *b);
    KmStatus (*plain_growth)(KmContext *ctx, const KmStep *step, double *out);
};

typedef struct KmStepType
{
    KmSignature signature;
    bool takes_missing;         /* impute */
    /* What the table of parameters cannot say, checked when the learner is typed; NULL: nothing. */
    KmStatus (*check)(KmContext *ctx, const KmArgs *args);
    /* Do args hold every constant, so that no pass over the rows is needed? */
    KmStatus (*is_resolved)(KmContext *ctx, const KmArgs *args, bool *out);
    /* Learn constants from rows (n x d, weights w or NULL) and write them into the step's syntax node. */
    KmStatus (*resolve)(KmContext *ctx, const KmArgs *args, KmNode *node, size_t n, size_t d, const double *x,
                        const double *w);
    /* The same from a survey of rows that were not kept; NULL: the sample of rows in it will do. */
    KmStatus (*resolve_survey)(KmContext *ctx, const KmArgs *args, KmNode *node, const KmSurvey *survey);
    /* Make ready, from resolved args, for rows of d columns; checks everything. */
    KmStatus (*prepare)(KmContext *ctx, const KmArgs *args, size_t d, KmStep *out);
    /* Add facts to a model that was fitted with the step made ready: how well it approximates, on the rows
     * (n x d_in) that came in; n is 0 where only their sums are at hand.  NULL: nothing to say. */
    KmStatus (*describe)(KmContext *ctx, const KmArgs *args, const KmStep *step, size_t n, const double *x,
                         KmModel *model);
    /* A grid feature map (cos/sin pairs rounded to 2^-14): sums of its features are exact.
     * scale: factor of the true features over the grid ones.  false: not such a map. */
    bool exact;
} KmStepType;

extern size_t km_step_types(const KmStepType *const **out);

/* ---- estimators ---- */

typedef enum KmTargetKind { KM_TARGET_NONE, KM_TARGET_NUMBER, KM_TARGET_LABEL } KmTargetKind;

/* What the raw values of a row say; k classes. */
typedef enum KmDecision
{
    KM_DECISION_VALUES,         /* predictions, one for each target */
    KM_DECISION_PAIRS,          /* k(k-1)/2: a vote for each pair of classes, positive = the second */
    KM_DECISION_CLASSES,        /* k > 2: a value for each class, the largest wins; k = 2: one value,
                                 * positive = the second class */
    KM_DECISION_SIGN            /* one value: an inlier (+1) where it is positive, else an outlier (-1) */
} KmDecision;

/* A model made ready to score. */
typedef struct KmScore KmScore;
struct KmScore
{
    size_t d;                   /* features after the steps */
    size_t n_out;               /* values per row, as many as the decision wants */
    KmDecision decision;
    void *state;
    /* out (m x n_out), m <= KM_SCORE_ROWS; fixed order, no BLAS, no libm. */
    KmStatus (*run)(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out);
    /* Probabilities of the k classes, out (m x k), under the same rules; NULL: the model has none. */
    KmStatus (*proba)(KmContext *ctx, const KmScore *score, size_t m, const double *z, double *out);
    /* The class of a row from its raw values, none of them NaN; NULL: as the decision says. */
    size_t (*class_of)(const KmScore *score, const double *values);
    const KmPosterior *posterior;       /* distribution of the latent value; NULL: there is none */
    double noise;               /* variance that an observation adds to it; NaN: does not apply */
};

typedef struct KmEstimatorType
{
    KmSignature signature;
    KmTargetKind target;
    bool linear;                /* its scores are linear in the features: arrays and scores of linear.h */
    bool from_sums;             /* fitted from a Gram accumulator of its features (ridge) */
    /* The parameter whose grid fit() goes through itself where select= is given (lambda); NULL: none. */
    const char *path;
    /* What the table of parameters cannot say, checked when the learner is typed; NULL: nothing. */
    KmStatus (*check)(KmContext *ctx, const KmArgs *args);
    /* Fit to rows after the steps; adds arrays and facts to the model; may rewrite node (gamma=scale
     * becomes its number).  node is the estimator's syntax. */
    KmStatus (*fit)(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmModel *model);
    /* The same for rows of which `step` makes the features, a block at a time; NULL: all are made before. */
    KmStatus (*fit_through)(KmContext *ctx, const KmArgs *args, KmNode *node, const KmStep *step,
                            const KmTable *table, KmModel *model);
    /* Check the model's arrays and make ready; d is the number of features after the steps. */
    KmStatus (*prepare)(KmContext *ctx, const KmArgs *args, const KmModel *model, size_t d, KmScore *out);
} KmEstimatorType;

extern size_t km_estimator_types(const KmEstimatorType *const **out);
/* The kernel among an estimator's arguments with numbers for gamma=scale, written back into its syntax, and
 * fit for the rows of the table: what a fit begins with. */
extern KmStatus km_estimator_kernel(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table,
                                    KmKernel **out);
/* Does fit() itself choose this parameter's value from a grid? */
extern bool km_estimator_goes_through(const KmEstimatorType *type, const KmArgs *args, const char *parameter);

/* ---- learners ---- */

typedef struct KmStage
{
    const KmStepType *type;
    KmArgs args;
    KmNode *node;
} KmStage;

typedef struct KmLearner
{
    KmNode *node;               /* canonical */
    size_t n_steps;
    KmStage *step;
    const KmEstimatorType *estimator;   /* NULL: steps alone */
    KmArgs args;
    KmNode *estimator_node;
    bool has_grid;              /* of a parameter that the estimator does not go through itself */
} KmLearner;

extern KmStatus km_learner_parse(KmContext *ctx, const char *text, size_t length, KmLearner **out);
extern KmStatus km_learner_compile(KmContext *ctx, KmNode *node, KmLearner **out);
extern KmStatus km_learner_print(KmContext *ctx, const KmLearner *learner, KmText *out);
/* A copy of the learner with every default written out. */
extern KmStatus km_learner_with_defaults(KmContext *ctx, const KmLearner *learner, KmLearner **out);
extern KmTargetKind km_learner_target(const KmLearner *learner);
/* What errors call a model: by its estimator, or "a model of steps alone". */
extern const char *km_learner_name(const KmLearner *learner);
extern bool km_learner_takes_missing(const KmLearner *learner);
/* True if the learner can be fitted from one pass over the rows that keeps sums only:
 * every step resolved, the last one exact, the estimator from_sums. */
extern KmStatus km_learner_streams(KmContext *ctx, const KmLearner *learner, bool *out);

/* Fit to a table in canonical order.  Estimates memory first. */
extern KmStatus km_learner_fit(KmContext *ctx, const KmLearner *learner, const KmTable *table, KmModel **out);

/* All steps of a learner with resolved constants, in one; KM_UNSUPPORTED naming a step that has none yet. */
extern KmStatus km_steps_prepare(KmContext *ctx, const KmLearner *learner, size_t d, KmStep *out);

/* ---- scoring a whole model ---- */

typedef struct KmScorer
{
    const KmModel *model;
    KmLearner *learner;
    size_t d;                   /* raw features expected */
    KmStep steps;               /* steps.d_out features after them */
    bool plain;                 /* the score is of the steps' plainer features */
    KmScore score;              /* n_out = 0 when the model has no estimator */
    bool takes_missing;
    double *z;                  /* workspace, KM_SCORE_ROWS x features of the score: one call at a time */
} KmScorer;

extern KmStatus km_scorer_create(KmContext *ctx, const KmModel *model, KmScorer **out);
/* Raw values: out is m x score.n_out, any m; x m x d.  NaN in a row gives NaN in all its outputs; a
 * missing element without impute is KM_DATA. */
extern KmStatus km_scorer_values(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x,
                                 double *out);
/* Features after the steps: out is m x steps.d_out, NaN as above. */
extern KmStatus km_scorer_transform(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x,
                                    double *out);
/* Probabilities of the classes: out is m x classes, NaN as above; KM_UNSUPPORTED with a hint for a model that
 * has none. */
extern KmStatus km_scorer_proba(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x,
                                double *out);
/* Pairs (mean, variance) of the latent value: out is m x 2; NaN as above; KM_UNSUPPORTED for a model without.
 * The batch goes by BLAS and agrees with the other to 1e-10. */
extern KmStatus km_scorer_moments(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x,
                                  double *out);
extern KmStatus km_scorer_moments_batch(KmContext *ctx, const KmScorer *scorer, size_t m, const double *x,
                                        double *out);
/* The class of one row from its raw values, by the score's class_of or decision: exactly 0 is the first class
 * of two, ties go to the earlier class; -1 for NaN. */
extern int km_scorer_class(const KmScorer *scorer, const double *values);
/* What predict() returns: the regression value, the number of the class, or +1 and -1; KM_UNSUPPORTED with a
 * hint to predict_label for labels that are not numbers. */
extern KmStatus km_scorer_predict(KmContext *ctx, const KmScorer *scorer, const double *values, double *out);

#endif
