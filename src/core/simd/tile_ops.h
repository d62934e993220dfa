/*
 * tile_ops.h: the inner loops of tiles of K, one table per instruction set.
 */
#ifndef KM_TILE_OPS_H
#define KM_TILE_OPS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct KmTileOps
{
    /* v[j] = <x, z_j> becomes the squared distance max(0, norm + norms[j] - 2 v[j]).  True if one of them is
     * below small * (norm + norms[j]), where too few digits are left. */
    bool (*sqdist)(size_t n, double norm, const double *norms, double small, double *v);
    bool (*sqdist_f32)(size_t n, float norm, const float *norms, float small, float *v);
    /* |x - z|^2 by differences; exactly 0 for equal rows. */
    double (*sqdist_pair)(size_t d, const double *x, const double *z);
    /* to[j * ld_to + i] = from[i * ld_from + j] for a block of rows x columns. */
    void (*transpose)(size_t rows, size_t columns, size_t ld_from, const double *from, size_t ld_to,
                      double *to);
} KmTileOps;

extern const KmTileOps km_tile_ops_base, km_tile_ops_avx2, km_tile_ops_avx512;

#endif
