/*
 * kernel_types.h: the entries of the kernel table, and the parameters that several of them share.
 * Internal to the kernel modules.
 */
#ifndef KM_KERNEL_TYPES_H
#define KM_KERNEL_TYPES_H

#include "kernel.h"

#include <float.h>

/* The families, one file each; lists that end in NULL. */
extern const KmKernelType *const km_kernels_dot[], *const km_kernels_stationary[], *const km_kernels_matern[],
    *const km_kernels_periodic[], *const km_kernels_histogram[], *const km_kernels_process[],
    *const km_kernels_index[];

/* Words for a value that is learnt from data: auto, scale, median. */
extern const char *const km_data_words[];

/* dims=[1, 3]: columns counted from 1.  Of every leaf but white and precomputed. */
#define KM_PARAM_DIMS \
    {.name = "dims", .kinds = KM_KIND_LIST, .min = 1, .max = 1e9}
/* Any finite number. */
#define KM_PARAM_REAL(title, value) \
    {.name = title, .kinds = KM_KIND_NUMBER, .standard = value, .min = -DBL_MAX, .max = DBL_MAX, \
     .grid = true, .positional = true}
/* A positive number. */
#define KM_PARAM_POSITIVE(title, value) \
    {.name = title, .kinds = KM_KIND_NUMBER, .standard = value, .min = 0, .max = DBL_MAX, .open = true, \
     .grid = true, .positional = true}
/* A factor of distances (> 0) or of dot products (>= 0); the words are kept until data comes. */
#define KM_PARAM_GAMMA(value, above_zero, group_number) \
    {.name = "gamma", .kinds = KM_KIND_NUMBER | KM_KIND_WORD, .standard = value, .min = 0, .max = DBL_MAX, \
     .open = above_zero, .grid = true, .positional = true, .words = km_data_words, .group = group_number}
/* One length, or one for each column. */
#define KM_PARAM_LENGTH_SCALE(value, by_position, group_number) \
    {.name = "length_scale", .kinds = KM_KIND_NUMBER | KM_KIND_WORD | KM_KIND_LIST, .standard = value, \
     .min = 0, .max = DBL_MAX, .open = true, .grid = true, .positional = by_position, \
     .words = km_data_words, .group = group_number}

/* Bind the node to the leaf's type and work its numbers out; rewrites the node.  Used when an expression is
 * compiled, and again when its words have become numbers. */
extern KmStatus km_leaf_compile(KmContext *ctx, const KmKernelType *type, KmNode *node, KmLeaf *leaf);
/* The same from kernel->node, of a kernel that is a leaf; and the flags of a tree whose leaves were worked
 * out again. */
extern KmStatus km_kernel_recompile(KmContext *ctx, KmKernel *kernel);
extern void km_kernel_update_flags(KmKernel *kernel);
/* Index of the leaf's parameter whose value is a word that waits for data, or -1. */
extern int km_leaf_waits_for_data(const KmLeaf *leaf);

/* A rate worked out from parameter `name` into p[0]: it must be a positive number that double precision
 * holds; a word still waits for data. */
extern KmStatus km_leaf_set_rate(KmContext *ctx, KmLeaf *leaf, const char *name, double rate);
/* length_scale=[…]: column k is multiplied by 1 / list[k]. */
extern KmStatus km_leaf_set_scale(KmContext *ctx, KmLeaf *leaf, const KmValue *lengths);
/* The numbers of a free parameter, n of them; 0: it is not in use (kernel_parameters.c). */
extern const double *km_free_elements(const KmLeaf *leaf, const KmFree *free, size_t *n);
/* metric=[[…]]: sets the leaf's factor (kernel_metric.c). */
extern KmStatus km_leaf_set_metric(KmContext *ctx, KmLeaf *leaf, const KmValue *value);

/* Samplers of KmKernelType.sample (kernel_spectrum.c), with the numbers that they find in the leaf.
 * normal: exp(-p[0] |r|^2); cauchy: exp(-p[0] |r|_1); mixed: (1 + p[0] |r|^2)^-p[1]; student: matern with
 * nu = p[3], p[0] = sqrt(2 nu) / length. */
extern KmStatus km_sample_normal(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d,
                                 double *w);
extern KmStatus km_sample_cauchy(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d,
                                 double *w);
extern KmStatus km_sample_mixed(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d,
                                double *w);
extern KmStatus km_sample_student(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d,
                                  double *w);
/* For samplers of their own: standard normals and uniforms of the leaf's stream number s < KM_STREAMS. */
#define KM_STREAMS 8
extern uint64_t km_leaf_stream(const KmLeaf *leaf, unsigned s);
extern KmStatus km_leaf_normals(KmContext *ctx, const KmLeaf *leaf, unsigned s, uint64_t seed, size_t n,
                                double *out);

#endif
