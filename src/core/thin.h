/*
 * thin.h: float32 dot products of a few rows with many, where a GEMM call would spend its time
 * on packing.  For training rows of K: the bits may differ between instruction sets.
 */
#ifndef KM_THIN_H
#define KM_THIN_H

#include <stddef.h>
#include <stdint.h>

#define KM_THIN_WIDTH 32        /* rows in a panel */

/* A row of which most elements are zero: the others, with zeros up to a multiple of KM_THIN_GROUP. */
#define KM_THIN_GROUP 4
typedef struct KmThinList
{
    size_t n;
    const uint32_t *place;      /* columns, times KM_THIN_WIDTH */
    const float *value;
} KmThinList;

/* Floats that km_thin_pack() writes for n rows of d columns. */
extern size_t km_thin_size(size_t n, size_t d);
/* Panels of rows z (n x d row-major): element (j, k) at [(j / 32 * d + k) * 32 + j % 32], zeros beyond n. */
extern void km_thin_pack(size_t n, size_t d, const float *z, float *panels);
/* out[i * ld + j] = <x_i, z_{j0+j}>, i < m, j < n; j0 a multiple of KM_THIN_WIDTH; x: m x d
 * row-major. */
extern void km_thin_dot(size_t m, size_t n, size_t d, const float *x, const float *panels,
                        size_t j0, size_t ld, float *out);
/* The same for x: m lists; the sums are the same to the bit. */
extern void km_thin_list_dot(size_t m, size_t n, size_t d, const KmThinList *x,
                             const float *panels, size_t j0, size_t ld, float *out);

#endif
