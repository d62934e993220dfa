/*
 * accumulator.h: Gram sums of a feature map over rows, in one flat value that
 * can be stored, merged, subtracted and solved.
 *
 * For each row with features z (grid values k/2^14, |z| <= 1, before the factor sqrt(2/D)) and target y
 * it adds the outer product of the augmented row a = [z, 1, s_1 … s_S], where s_b are
 * the slices of y on absolute grids 2^(12 e): y is cut from the top into pieces
 * of 12 bits.  Every product is a multiple of a power of two that leaves room for 2^25 rows, so
 * sums are exact in float64 in any order, by any blocking, and subtract undoes merge.
 * y beyond 12*S bits below the largest |y| seen is dropped (2^-84 of it for S = 8).
 * Whole-number weights count as repeated rows and stay exact; with fractional ones the sums are
 * ordinary float64 ones and `exact` is false.
 *
 * The value is one block of memory without pointers: header, learner text, packed lower
 * triangle, waiting rows.  It is the state of the aggregate (grown by doubling) and, flushed and
 * trimmed, the SQL value.
 */
#ifndef KM_ACCUMULATOR_H
#define KM_ACCUMULATOR_H

#include "learner.h"

#define KM_SLICES 8
#define KM_SLICE_BITS 12

/* Header of the flat value; starts at a multiple of 8 bytes. See accumulator.c for what follows it. */
typedef struct KmSums
{
    uint32_t magic;             /* "KMLA" */
    uint16_t major, minor;
    uint64_t bytes;             /* of the whole flat value */
    uint32_t crc;               /* over everything after it, when stored; 0 while in use */
    uint32_t flags;             /* KM_SUMS_EXACT, … */
    uint64_t n_rows;            /* rows added, each once */
    uint64_t n_skipped;
    double total_weight;
    uint32_t d, features;       /* raw columns, D */
    int32_t top;                /* exponent index of the highest slice of y; INT32_MIN: none yet */
    uint32_t learner_bytes;     /* length of the map's canonical text */
    uint32_t waiting;           /* rows not yet added into the sums */
    uint32_t waiting_capacity;
} KmSums;

/* What the sums are of: a prepared feature map, kept beside the flat value while rows come. */
typedef struct KmFeatureMap KmFeatureMap;
/* From a learner whose steps are resolved and end in an exact map; KM_UNSUPPORTED naming the step that
 * needs a pass of its own otherwise.  d: columns of the raw rows. */
extern KmStatus km_feature_map_create(KmContext *ctx, const KmLearner *learner, size_t d, KmFeatureMap **out);

extern size_t km_sums_initial_bytes(const KmFeatureMap *map);
extern void km_sums_init(const KmFeatureMap *map, size_t bytes, KmSums *sums);
/* Bytes wanted before one more row can be added; > sums->bytes: the caller must copy the value into a
 * larger block first (km_sums_grow). */
extern size_t km_sums_wanted_bytes(const KmFeatureMap *map, const KmSums *sums);
extern void km_sums_grow(const KmSums *from, size_t bytes, KmSums *to);
extern KmStatus km_sums_add(KmContext *ctx, KmFeatureMap *map, KmSums *sums, const double *x, double y, double weight);
/* Add waiting rows into the sums. */
extern KmStatus km_sums_flush(KmContext *ctx, KmFeatureMap *map, KmSums *sums);
/* a += b or a -= b; both flushed.  KM_INVALID naming the difference for other maps. */
extern KmStatus km_sums_merge(KmContext *ctx, KmSums *a, const KmSums *b, int sign);
/* The map's canonical learner text (not NUL-terminated). */
extern const char *km_sums_learner(const KmSums *sums);
/* Canonical stored form: flushed, trimmed, top slices normalised, CRC set. bytes needed, then the copy. */
extern size_t km_sums_stored_bytes(const KmSums *sums);
extern void km_sums_store(const KmSums *sums, KmSums *to);
/* Check bytes from outside. */
extern KmStatus km_sums_check(KmContext *ctx, const void *bytes, size_t length);

/* Ridge from sums: a model of the learner (the map, then the estimator). */
extern KmStatus km_sums_solve(KmContext *ctx, const KmLearner *learner, const KmSums *sums, KmModel **out);

#endif
