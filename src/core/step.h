/* step.h: what the steps share: no constants, or constants as lists among their arguments. */
#ifndef KM_STEP_H
#define KM_STEP_H

#include "learner.h"

/* Columns for which constants may be learnt: their text must stay readable (KM_SPEC_MAX_NODES). */
#define KM_STEP_MAX_COLUMNS 1000000

/* is_resolved of steps that learn nothing. */
extern KmStatus km_step_has_no_constants(KmContext *ctx, const KmArgs *args, bool *out);

extern bool km_step_has_list(const KmArgs *args, const char *name);
/* The list, checked to have d numbers. */
extern KmStatus km_step_list(KmContext *ctx, const KmArgs *args, const char *name, size_t d,
                             const double **out);
extern KmStatus km_step_set_list(KmContext *ctx, const KmArgs *args, KmNode *node, const char *name, size_t d,
                                 const double *values);

#endif
