/*
 * calibrate.h: sigmoids of support vector machines from decision values of rows that they have not seen.
 *
 * For each of five folds a machine is fitted to the other rows, with the boxes and the kernel of the whole
 * problem, on its rows of K, from its solution without the fold's rows.
 */
#ifndef KM_CALIBRATE_H
#define KM_CALIBRATE_H

#include "machines.h"
#include "platt.h"

typedef struct KmCalibration KmCalibration;

/* Folds of the rows with a box over 0.  KM_DATA if a class has fewer different rows than folds. */
extern KmStatus km_calibration_create(KmContext *ctx, const KmArgs *args, const KmTable *table,
                                      const double *box, KmCalibration **out);
/* The sigmoid of the problem that the machine is open for: over the rows member[0..n-1] of the table,
 * positive where p < 0, with the solution b. */
extern KmStatus km_calibrate(KmContext *ctx, KmCalibration *calibration, KmMachine *machine,
                             const KmQuadratic *problem, const size_t *member, const double *b,
                                 KmSigmoid *out);

#endif
