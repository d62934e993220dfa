/*
 * libsvm.h: LIBSVM's texts: models out and in, lines of sparse data (Chang, Lin 2011).
 *
 * A model's text is lines "key value …" (svm_type, kernel_type, gamma, nr_class, total_sv, rho, label, probA,
 * probB, nr_sv), then "SV" and a line "coefficient … index:value …" for each support row.  Its classes stand
 * in any order; the pair (i, j) is positive for i, where kernelml's are sorted and pairs positive for the
 * second.
 */
#ifndef KM_LIBSVM_H
#define KM_LIBSVM_H

#include "model.h"

/* A support vector machine with one of LIBSVM's kernels, without steps; KM_UNSUPPORTED with a hint else. */
extern KmStatus km_libsvm_write(KmContext *ctx, const KmModel *model, KmText *out);
/* d: features of its rows; 0: as many as the largest index.  KM_SYNTAX naming the line for what is no model.
 * */
extern KmStatus km_libsvm_read(KmContext *ctx, const char *text, size_t length, size_t d, KmModel **out);
/* A line of data, "index:value …" with indices from 1 in any order, after a label or without one, as d
 * features; those not named are 0. */
extern KmStatus km_libsvm_features(KmContext *ctx, const char *text, size_t length, size_t d, double *out);

#endif
