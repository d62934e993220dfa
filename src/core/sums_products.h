/*
 * sums_products.h: products of true features and targets out of an accumulator.  Internal to accumulator*.c.
 *
 * Sums of whole numbers give centred products without loss, however large the means: each n Z'Z_ij - s_i s_j
 * is a difference of two products made by Kahan's algorithm with fused multiply-adds (Jeannerod, Louvet,
 * Muller 2013: within 1.5 ulp).  Targets are in units of 2^exponent, so that none overflows on the way.
 */
#ifndef KM_SUMS_PRODUCTS_H
#define KM_SUMS_PRODUCTS_H

#include "accumulator.h"

typedef struct KmProducts
{
    const KmSums *sums;
    const KmLearner *steps;     /* their map, as typed and made ready */
    const KmFeatureMap *map;
    double n;                   /* total weight */
    double unit;                /* a power of two near 1/n */
    double factor;              /* true features over those in the sums */
    bool centred;               /* deviations from the means */
} KmProducts;

/* KM_CORRUPT if the map in the sums is not one of their dimensions. */
extern KmStatus km_products_open(KmContext *ctx, const KmSums *sums, KmProducts *out);
/* Of features i and j; of feature j and target t; of target t with itself. */
extern double km_product(const KmProducts *products, size_t i, size_t j);
extern double km_product_with_target(const KmProducts *products, size_t j, size_t t);
extern double km_product_of_target(const KmProducts *products, size_t t);
extern double km_feature_mean(const KmProducts *products, size_t j);
extern double km_target_mean(const KmProducts *products, size_t t);
/* Binary exponent of the units of target t. */
extern int km_target_exponent(const KmProducts *products, size_t t);

/* Bound of the relative error that rounding left in the squares of the sums: 0 when they are exact. */
extern double km_products_error(const KmProducts *products);

#endif
