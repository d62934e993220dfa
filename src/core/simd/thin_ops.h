/* thin_ops.h: the table that simd/thin.c defines once per instruction set. */
#ifndef KM_THIN_OPS_H
#define KM_THIN_OPS_H

#include "thin.h"

typedef struct KmThinOps
{
    void (*dot)(size_t m, size_t n, size_t d, const float *x, const float *panels, size_t ld,
                float *out);
    void (*list_dot)(size_t m, size_t n, size_t d, const KmThinList *x, const float *panels,
                     size_t ld, float *out);
} KmThinOps;

extern const KmThinOps km_thin_ops_base, km_thin_ops_avx2, km_thin_ops_avx512;

#endif
