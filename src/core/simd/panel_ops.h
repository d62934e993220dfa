/*
 * panel_ops.h: the functions of panel.h, one table per instruction set.
 */
#ifndef KM_PANEL_OPS_H
#define KM_PANEL_OPS_H

#include "../panel.h"

/* m query rows x (m x d, row-major) against `panels` panels of 8 stored rows at
 * z; results in out, m rows of leading dimension ld. */
typedef struct KmPanelBlock
{
    size_t m, panels, d, ld;
    const double *x, *z;
    double *out;
} KmPanelBlock;

typedef struct KmPanelOps
{
    void (*pairwise[KM_PAIR_COUNT])(const KmPanelBlock *block);
    double (*dot_fixed)(size_t n, const double *a, const double *b);
    void (*dot_fixed_rows)(size_t m, size_t n, size_t ld, const double *K, const double *coef, double *out);
} KmPanelOps;

extern const KmPanelOps km_panel_ops_base, km_panel_ops_avx2, km_panel_ops_avx512;

#endif
