/* libsvm_names.h: how LIBSVM and kernelml name the same machines and kernels. */
#ifndef KM_LIBSVM_NAMES_H
#define KM_LIBSVM_NAMES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct KmLibsvmType
{
    const char *name;           /* LIBSVM's */
    const char *estimator;
    bool classes;
} KmLibsvmType;

#define KM_LIBSVM_PARAMETERS 3

typedef struct KmLibsvmKernel
{
    const char *name;           /* LIBSVM's */
    const char *kernel;         /* ours; of precomputed, rows are their number alone there: "0:number" */
    struct
    {
        const char *key;        /* the same for both */
        int place;              /* in KmLeaf's p */
    } parameter[KM_LIBSVM_PARAMETERS];
} KmLibsvmKernel;

/* By the estimator's or kernel's name; NULL: LIBSVM does not have it. */
extern const KmLibsvmType *km_libsvm_type_of(const char *estimator);
extern const KmLibsvmKernel *km_libsvm_kernel_of(const char *kernel);
/* By LIBSVM's name, of `length` bytes; NULL: none. */
extern const KmLibsvmType *km_libsvm_type_named(const char *name, size_t length);
extern const KmLibsvmKernel *km_libsvm_kernel_named(const char *name, size_t length);

#endif
