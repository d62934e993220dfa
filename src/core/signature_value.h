/* signature_value.h: inside of signature.c: one argument against one parameter. */
#ifndef KM_SIGNATURE_VALUE_H
#define KM_SIGNATURE_VALUE_H

#include "signature.h"

/* Check the node against the parameter and fill the value (`given` apart).  A quoted
 * word becomes a bare one in the node. */
extern KmStatus km_param_value(KmContext *ctx, const KmSignature *signature, const KmParam *param,
                               KmNode *node, KmValue *out);

/* grid(v1, v2, …) or logspace(a, b, n): n values from 10^a to 10^b. */
extern bool km_is_grid(const KmNode *node);
/* Values not yet checked against any range; *values belongs to the context. */
extern KmStatus km_grid_values(KmContext *ctx, const KmNode *node, size_t *n, double **values);

#endif
