/*
 * panel_ops.h: the functions of panel.h, one table per instruction set.
 */
#ifndef KM_PANEL_OPS_H
#define KM_PANEL_OPS_H

#include "../panel.h"
#include "../triangle.h"

/* m query rows x, ldx apart, against `panels` panels of 8 stored rows at z, pitch apart, narrow or (always
 * for add_products) wide; sums over d columns; results in out, m rows of leading dimension ld. */
typedef struct KmPanelBlock
{
    bool narrow;
    size_t m, panels, d, ldx, pitch, ld;
    const double *x, *z;
    double *out;
} KmPanelBlock;

typedef struct KmPanelOps
{
    void (*pairwise[KM_PAIR_COUNT])(const KmPanelBlock *block);
    void (*add_products)(const KmPanelBlock *block);    /* dot products, going on from out */
    void (*dot_chains)(size_t m, size_t n, size_t ld, const double *K, const double *coef, double *chains);
    /* Up to KM_TRIANGLE_ROWS rows from i on of a forward substitution in v, those before being done. */
    void (*substitute)(const KmTriangle *triangle, size_t i, double *v);
} KmPanelOps;

/* The end of km_dot_fixed. */
static inline double
km_chains_sum(const double c[KM_DOT_CHAINS])
{
    return ((c[0] + c[4]) + (c[2] + c[6])) + ((c[1] + c[5]) + (c[3] + c[7]));
}

extern const KmPanelOps km_panel_ops_base, km_panel_ops_avx2, km_panel_ops_avx512;

#endif
