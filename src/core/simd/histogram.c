/*
 * histogram.c: sums of terms of rows of counts (see histogram_ops.h), whose divisions go by vectors.
 */
#include "histogram_ops.h"
#include "panel_ops.h"
#include "simd.h"
#include "vector.h"

#define CHAINS KM_DOT_CHAINS
#define CHAIN_VECTORS (CHAINS / KM_LANES)

/* In an order that does not overflow. */
KM_INLINE vd
chi2_term(vd x, vd z)
{
    vd sum = x + z, t = x - z;

    return vd_select(vd_eq(sum, vd_set(0)), vd_set(0), t * (t / sum));
}

KM_INLINE vd
mercer_term(vd x, vd z)
{
    vd sum = x + z;

    return vd_select(vd_eq(sum, vd_set(0)), vd_set(0), 2.0 * x * (z / sum));
}

/* NaN in either stays. */
KM_INLINE vd
smaller(vd x, vd z)
{
    return vd_select(vd_lt(x, z), x, vd_select(vd_eq(x, x), z, x));
}

KM_INLINE void
add_eight(vd (*term)(vd, vd), const double *x, const double *z, vd sum[CHAIN_VECTORS])
{
KM_UNROLL
    for (size_t v = 0; v < CHAIN_VECTORS; v++)
        sum[v] += term(vd_load(x + v * KM_LANES), vd_load(z + v * KM_LANES));
}

/* The end of a row is padded with zeros, whose terms are 0. */
KM_INLINE void
sum_terms(vd (*term)(vd, vd), size_t d, const double *x, size_t n, const double *z, double *out)
{
    const size_t whole = d - d % CHAINS;
    double x_tail[CHAINS] = {0}, z_tail[CHAINS] = {0}, chains[CHAINS];

    for (size_t k = whole; k < d; k++)
        x_tail[k - whole] = x[k];
    for (size_t j = 0; j < n; j++, z += d)
    {
        vd sum[CHAIN_VECTORS] = {0};

        for (size_t k = 0; k < whole; k += CHAINS)
            add_eight(term, x + k, z + k, sum);
        for (size_t k = whole; k < d; k++)
            z_tail[k - whole] = z[k];
        if (whole < d)
            add_eight(term, x_tail, z_tail, sum);
KM_UNROLL
        for (size_t v = 0; v < CHAIN_VECTORS; v++)
            vd_store(chains + v * KM_LANES, sum[v]);
        out[j] = km_chains_sum(chains);
    }
}

static void
sum_chi2(size_t d, const double *x, size_t n, const double *z, double *out)
{
    sum_terms(chi2_term, d, x, n, z, out);
}

static void
sum_mercer(size_t d, const double *x, size_t n, const double *z, double *out)
{
    sum_terms(mercer_term, d, x, n, z, out);
}

static void
sum_smaller(size_t d, const double *x, size_t n, const double *z, double *out)
{
    sum_terms(smaller, d, x, n, z, out);
}

const KmHistogramOps KM_VARIANT_NAME(km_histogram_ops) = {
    .chi2 = sum_chi2,
    .mercer = sum_mercer,
    .smaller = sum_smaller,
};
