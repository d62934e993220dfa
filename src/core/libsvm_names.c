/* libsvm_names.c: see libsvm_names.h. */
#include "libsvm_names.h"

#include <string.h>

static const KmLibsvmType types[] = {
    {"c_svc", "svc", true},
    {"nu_svc", "nu_svc", true},
    {"one_class", "one_class", false},
    {"epsilon_svr", "svr", false},
    {"nu_svr", "nu_svr", false},
};

static const KmLibsvmKernel kernels[] = {
    {"linear", "linear", {{NULL, 0}}},
    {"polynomial", "poly", {{"degree", 2}, {"gamma", 0}, {"coef0", 1}}},
    {"rbf", "rbf", {{"gamma", 0}}},
    {"sigmoid", "sigmoid", {{"gamma", 0}, {"coef0", 1}}},
    {"precomputed", "precomputed", {{NULL, 0}}},
};

#define N_TYPES (sizeof types / sizeof types[0])
#define N_KERNELS (sizeof kernels / sizeof kernels[0])

static bool
same(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

const KmLibsvmType *
km_libsvm_type_of(const char *estimator)
{
    for (size_t i = 0; i < N_TYPES; i++)
        if (strcmp(types[i].estimator, estimator) == 0)
            return &types[i];
    return NULL;
}

const KmLibsvmKernel *
km_libsvm_kernel_of(const char *kernel)
{
    for (size_t i = 0; i < N_KERNELS; i++)
        if (strcmp(kernels[i].kernel, kernel) == 0)
            return &kernels[i];
    return NULL;
}

const KmLibsvmType *
km_libsvm_type_named(const char *name, size_t length)
{
    for (size_t i = 0; i < N_TYPES; i++)
        if (same(types[i].name, name, length))
            return &types[i];
    return NULL;
}

const KmLibsvmKernel *
km_libsvm_kernel_named(const char *name, size_t length)
{
    for (size_t i = 0; i < N_KERNELS; i++)
        if (same(kernels[i].name, name, length))
            return &kernels[i];
    return NULL;
}
