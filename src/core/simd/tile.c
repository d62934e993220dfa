/*
 * tile.c: the inner loops of tiles of K (tile_ops.h).  Values may differ in their
 * last bits between instruction sets: tiles serve training, not scoring.
 */
#include "simd.h"
#include "tile_ops.h"
#include "vector.h"

/* One vector of squared distances; *margin keeps the least value of d2 - small * (norm + norms). */
KM_INLINE vd
sqdist_lanes(vd dot, vd sum, vd small, vd *margin)
{
    vd d2 = vd_max(sum - (dot + dot), vd_set(0));

    *margin = vd_min(*margin, d2 - small * sum);
    return d2;
}

static bool
sqdist(size_t n, double norm, const double *norms, double small, double *v)
{
    vd margin = vd_set(0);
    size_t j = 0;

    for (; j + KM_LANES <= n; j += KM_LANES)
    {
        vd sum = vd_set(norm) + vd_load(norms + j);

        vd_store(v + j, sqdist_lanes(vd_load(v + j), sum, vd_set(small), &margin));
    }
    if (j < n)
    {
        vd sum = vd_set(norm) + vd_load_first(norms + j, n - j);

        vd_store_first(v + j, n - j,
                       sqdist_lanes(vd_load_first(v + j, n - j), sum, vd_set(small), &margin));
    }
    return vd_any(vd_lt(margin, vd_set(0)));
}

KM_INLINE vf
sqdist_lanes_f32(vf dot, vf sum, vf small, vf *margin)
{
    vf d2 = vf_max(sum - (dot + dot), vf_set(0));

    *margin = vf_min(*margin, d2 - small * sum);
    return d2;
}

static bool
sqdist_f32(size_t n, float norm, const float *norms, float small, float *v)
{
    vf margin = vf_set(0);
    size_t j = 0;
    float least = 0;

    for (; j + KM_LANES_F32 <= n; j += KM_LANES_F32)
    {
        vf sum = vf_set(norm) + vf_load(norms + j);

        vf_store(v + j, sqdist_lanes_f32(vf_load(v + j), sum, vf_set(small), &margin));
    }
    if (j < n)
    {
        vf sum = vf_set(norm) + vf_load_first(norms + j, n - j);

        vf_store_first(v + j, n - j,
                       sqdist_lanes_f32(vf_load_first(v + j, n - j), sum, vf_set(small), &margin));
    }
    for (size_t lane = 0; lane < KM_LANES_F32; lane++)
        least = margin[lane] < least ? margin[lane] : least;
    return least < 0;
}

static double
sqdist_pair(size_t d, const double *x, const double *z)
{
    vd sums = vd_set(0);
    double sum = 0;
    size_t k = 0;

    for (; k + KM_LANES <= d; k += KM_LANES)
    {
        vd t = vd_load(x + k) - vd_load(z + k);

        sums += t * t;
    }
    for (; k < d; k++)
        sum += (x[k] - z[k]) * (x[k] - z[k]);
    for (size_t lane = 0; lane < KM_LANES; lane++)
        sum += sums[lane];
    return sum;
}

/* KM_LANES x KM_LANES values: in each round the rows of the first half are zipped with those of the second,
 * which turns the bits of an element's number, row then column, by one place; log2(KM_LANES) swap the two. */
KM_INLINE void
transpose_square(size_t ld_from, const double *from, size_t ld_to, double *to)
{
    vd row[KM_LANES], zipped[KM_LANES];

KM_UNROLL
    for (size_t i = 0; i < KM_LANES; i++)
        row[i] = vd_load(from + i * ld_from);
KM_UNROLL
    for (size_t round = 1; round < KM_LANES; round *= 2)
    {
KM_UNROLL
        for (size_t i = 0; i < KM_LANES / 2; i++)
        {
            zipped[2 * i] = vd_zip_low(row[i], row[i + KM_LANES / 2]);
            zipped[2 * i + 1] = vd_zip_high(row[i], row[i + KM_LANES / 2]);
        }
KM_UNROLL
        for (size_t i = 0; i < KM_LANES; i++)
            row[i] = zipped[i];
    }
KM_UNROLL
    for (size_t i = 0; i < KM_LANES; i++)
        vd_store(to + i * ld_to, row[i]);
}

/* Along the rows that are written. */
static void
transpose(size_t rows, size_t columns, size_t ld_from, const double *from, size_t ld_to, double *to)
{
    size_t whole_rows = rows - rows % KM_LANES, whole_columns = columns - columns % KM_LANES;

    for (size_t j = 0; j < whole_columns; j += KM_LANES)
        for (size_t i = 0; i < whole_rows; i += KM_LANES)
            transpose_square(ld_from, from + i * ld_from + j, ld_to, to + j * ld_to + i);
    for (size_t j = 0; j < columns; j++)
        for (size_t i = j < whole_columns ? whole_rows : 0; i < rows; i++)
            to[j * ld_to + i] = from[i * ld_from + j];
}

const KmTileOps KM_VARIANT_NAME(km_tile_ops) = {sqdist, sqdist_f32, sqdist_pair, transpose};
