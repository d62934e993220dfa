/*
 * panel.h: the scoring micro-kernel: dot products, squared distances and
 * 1-norm distances between query rows and stored rows in one fixed order.
 *
 * For each pair (query row i, stored row j) the sum runs over k = 0..d-1 as one
 * chain of fused multiply-adds, s = fma(x_ik, z_jk, s) or, with t = x_ik - z_jk,
 * s = fma(t, t, s) or s = s + |t|.  Lanes run over j, blocks over i, so one row,
 * a batch and every instruction set give the same bits; a NaN is the same positive
 * quiet one.  Nothing here allocates but km_panel_create.
 *
 * Where the lower halves of all stored values are zero, as of whole numbers up to 2^21, counts, indicators,
 * only the upper halves are kept: half the memory to go through, the same values and so the same bits.
 */
#ifndef KM_PANEL_H
#define KM_PANEL_H

#include "context.h"

#define KM_PANEL_WIDTH 8        /* stored rows per panel, one per lane */

/* n rows of d columns, transposed in panels of KM_PANEL_WIDTH: element (j,k) at
 * data[(j / 8 * d + k) * 8 + j % 8]; the last panel is padded with zeros.  Of narrow panels, data is words of
 * two columns: for even k, that at (j / 8 * ceil(d / 2) + k / 2) * 8 + j % 8 has the upper half of element
 * (j,k) in its upper half, and that of element (j,k+1), or zero, in its lower half. */
typedef struct KmPanel
{
    size_t n, d;
    bool narrow;
    double *data;
} KmPanel;

typedef enum KmPairwise
{
    KM_PAIR_DOT,                /* <x, z> */
    KM_PAIR_SQDIST,             /* |x - z|^2 */
    KM_PAIR_L1,                 /* sum |x_k - z_k| */
    KM_PAIR_COUNT
} KmPairwise;

/* z: n x d row-major; narrow if it can be. */
extern KmStatus km_panel_create(KmContext *ctx, size_t n, size_t d, const double *z, KmPanel *out);
/* Never narrow, for km_panel_add_products. */
extern KmStatus km_panel_create_wide(KmContext *ctx, size_t n, size_t d, const double *z, KmPanel *out);

/* z_jk */
extern double km_panel_element(const KmPanel *panel, size_t j, size_t k);

/* out[i * ld + j - j0] = pairwise(x_i, z_j) for i < m and j0 <= j < j0 + nj <= n; j0 must be
 * a multiple of KM_PANEL_WIDTH; x: m x d row-major; ld >= nj rounded up to 8 (the padding
 * columns are written too). */
extern void km_panel_pairwise(const KmPanel *panel, KmPairwise what, size_t m, const double *x,
                              size_t j0, size_t nj, size_t ld, double *out);

/* False where multiply-adds are emulated: what needs no fixed order is then made faster by a BLAS. */
extern bool km_panel_is_fast(void);

/* The sums of dot products go on over columns k0 <= k < k0 + nk of the stored rows of a wide panel:
 * out[i * ld + j] = fma(x[i * ldx + k - k0], z_jk, out[i * ld + j]) for i < m and all j, the
 * padding columns included. */
extern void km_panel_add_products(const KmPanel *panel, size_t k0, size_t nk, size_t m, size_t ldx,
                                  const double *x, size_t ld, double *out);

/* sum_j a[j] * b[j] in a fixed order: 8 chains of fma by j mod 8, then the chains
 * added as ((0+4)+(2+6))+((1+5)+(3+7)). */
extern double km_dot_fixed(size_t n, const double *a, const double *b);
/* The same for m rows at once, faster: out[i] = km_dot_fixed(n, K + i * ld, coef). */
extern void km_dot_fixed_rows(size_t m, size_t n, size_t ld, const double *K, const double *coef,
                              double *out);

/* The same in pieces: chains of m rows, m x KM_DOT_CHAINS, begin at zero and go on by n elements, a
 * multiple of 8 but for the last piece. */
#define KM_DOT_CHAINS 8
extern void km_dot_go_on(size_t m, size_t n, size_t ld, const double *K, const double *coef, double *chains);
extern double km_dot_end(const double chains[KM_DOT_CHAINS]);

#endif
