/* step.h: what the steps share: constants as lists among their arguments. */
#ifndef KM_STEP_H
#define KM_STEP_H

#include "learner.h"

/* Columns for which constants may be learnt: their text must stay readable (KM_SPEC_MAX_NODES). */
#define KM_STEP_MAX_COLUMNS 1000000

extern bool km_step_has_list(const KmArgs *args, const char *name);
/* The list, checked to have d numbers. */
extern KmStatus km_step_list(KmContext *ctx, const KmArgs *args, const char *name, size_t d,
                             const double **out);
extern KmStatus km_step_set_list(KmContext *ctx, const KmArgs *args, KmNode *node, const char *name, size_t d,
                                 const double *values);

#endif
