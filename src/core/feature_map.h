/*
 * feature_map.h: raw rows to the features of an accumulator.  Internal to accumulator*.c.
 */
#ifndef KM_FEATURE_MAP_H
#define KM_FEATURE_MAP_H

#include "accumulator.h"

#define KM_BLOCK_ROWS 256       /* rows added into the sums at once */
#define KM_TILE_ROWS 192        /* rows of the triangle made at once */

struct KmFeatureMap
{
    size_t d, features, targets;
    size_t columns;             /* of an augmented row */
    bool exact;                 /* features are whole numbers on a grid, targets are cut into slices */
    bool takes_missing;
    KmText learner;             /* canonical text of the steps */
    size_t n_steps;
    KmStep *step;               /* exact: the last is the grid map */
    double factor;              /* true features over those in the sums */
    double *between[2];         /* rows between steps: KM_SCORE_ROWS x the widest */
    /* Room for a flush, made by the first one. */
    double *rows;               /* KM_BLOCK_ROWS x columns: augmented rows */
    double *scaled;             /* KM_BLOCK_ROWS x KM_TILE_ROWS: one side of a product times the weights */
    double *tile;               /* KM_TILE_ROWS x columns */
    int32_t *top;               /* targets */
};

/* The first `features` elements of m augmented rows (stride map->columns) from raw rows x of stride ldx.
 * KM_RANGE if one of them is not finite. */
extern KmStatus km_feature_map_rows(KmContext *ctx, const KmFeatureMap *map, size_t m, size_t ldx,
                                    const double *x, double *out);
/* Make the room for a flush, once. */
extern KmStatus km_feature_map_reserve(KmContext *ctx, KmFeatureMap *map);

#endif
