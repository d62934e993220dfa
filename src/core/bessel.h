/*
 * bessel.h: the Matérn function M_nu(s) = 2^(1-nu) / Gamma(nu) s^nu K_nu(s) of any order nu > 0, M_nu(0) = 1.
 *
 * Only vmath.h, sqrt, + - * /: the same bits on every machine.  Relative error below 1e-12 where the result
 * is a normal number.
 */
#ifndef KM_BESSEL_H
#define KM_BESSEL_H

#include "context.h"

typedef struct KmMatern KmMatern;

/* What depends on nu only. */
extern KmStatus km_matern_create(KmContext *ctx, double nu, KmMatern **out);
/* out[j] = M_nu(s[j]), s >= 0; NaN gives NaN.  In place is allowed. */
extern void km_matern_values(const KmMatern *matern, size_t n, const double *s, double *out);
/* out[j] = s/2 dM/ds, which is dM/dlog s^2. */
extern void km_matern_slopes(const KmMatern *matern, size_t n, const double *s, double *out);

#endif
