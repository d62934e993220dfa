/* blas.h: the BLAS and LAPACK entry points that core calls, row-major where cblas is. */
#ifndef KM_BLAS_H
#define KM_BLAS_H

#include <cblas.h>

extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
extern void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info);
extern void dlauum_(const char *uplo, const int *n, double *a, const int *lda, int *info);
extern void dsyevr_(const char *jobz, const char *range, const char *uplo, const int *n, double *a,
                    const int *lda, const double *vl, const double *vu, const int *il, const int *iu,
                    const double *abstol, int *m, double *w, double *z, const int *ldz, int *isuppz,
                    double *work, const int *lwork, int *iwork, const int *liwork, int *info);
extern void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
                    double *work, const int *lwork, int *iwork, const int *liwork, int *info);
extern void dsytrd_(const char *uplo, const int *n, double *a, const int *lda, double *d, double *e,
                    double *tau, double *work, const int *lwork, int *info);
extern void dsterf_(const int *n, double *d, double *e, int *info);
extern void dstemr_(const char *jobz, const char *range, const int *n, double *d, double *e, const double *vl,
                    const double *vu, const int *il, const int *iu, int *m, double *w, double *z,
                    const int *ldz, const int *nzc, int *isuppz, int *tryrac, double *work,
                    const int *lwork, int *iwork, const int *liwork, int *info);
extern void dlarfg_(const int *n, double *alpha, double *x, const int *incx, double *tau);

#endif
