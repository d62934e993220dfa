/*
 * accumulator.h: Gram sums of a feature map over rows, in one flat value that
 * can be stored, merged, subtracted and solved.
 *
 * Random Fourier features: each row adds the outer product of a = [k_1 … k_D, 1, q_1 … q_S of every
 * target], all whole numbers:
 * k = 2^14 z for grid features |z| <= 1, and q_b the slices of y, 12 bits each, cut from the top on
 * absolute grids: y = sum_b q_b 2^(12 (top - b)).  A product is at most 2^28, so sums over a total weight
 * of 2^25 are whole numbers up to 2^53: exact in float64 in any order and any blocking, for every
 * finite y, denormal or 1e308, and subtract undoes merge.  Slices are absolute, so they do not
 * depend on other rows; `top` is the highest slice of any row, and what lies more than S slices below it
 * is dropped (at most 2^-84 of the largest |y|; KM_SUMS_CLIPPED says that it happened).
 * Whole-number weights multiply one side of the product and stay exact; with fractional ones, or beyond
 * 2^25, sums are ordinary float64 ones, equal to 1e-12 normwise, and KM_SUMS_EXACT is gone for good.
 *
 * Any other features (landmarks, monomials, the raw columns) are summed as they are, a = [z_1 … z_D, 1,
 * y_1 … y_T]: KM_SUMS_PLAIN, ordinary float64 sums by blocks.  `magnitude` remembers how large what has been
 * added and taken away was, so that solving can tell the digits that a subtraction has lost.
 *
 * The value is one block of memory without pointers: this header, top[targets], the map's learner
 * text, the packed lower triangle of the sums (row by row), waiting raw rows [x, y, weight].  It is the
 * state of the aggregate (grown by doubling) and, flushed and trimmed, the SQL value.  d = 0: no row has
 * come yet, so the map is not known; such a value is a header and the text only.
 */
#ifndef KM_ACCUMULATOR_H
#define KM_ACCUMULATOR_H

#include "learner.h"

#define KM_SLICES 8
#define KM_SLICE_BITS 12
#define KM_SUMS_MAX_WEIGHT 0x1p25       /* total weight up to which sums are exact */
#define KM_SUMS_MAX_BYTES KM_MODEL_MAX_BYTES
#define KM_SUMS_MAX_TARGETS 1000
#define KM_SUMS_MAX_ROWS (UINT64_C(1) << 53)

enum
{
    KM_SUMS_EXACT = 1,          /* whole-number weights, total up to KM_SUMS_MAX_WEIGHT, always so far */
    KM_SUMS_CLIPPED = 2,        /* low bits of some y were dropped below the window of slices */
    KM_SUMS_PLAIN = 4,          /* features of any size; targets themselves, not slices */
    KM_SUMS_TRUNCATED = 8       /* clipped, and the large y have been subtracted since */
};

/* Header of the flat value; starts at a multiple of 8 bytes. */
typedef struct KmSums
{
    uint32_t magic;             /* "KMLA" */
    uint16_t major, minor;
    uint64_t bytes;             /* of the whole flat value */
    uint32_t crc;               /* of everything after it, when stored; 0 while in use */
    uint32_t flags;             /* KM_SUMS_EXACT, … */
    uint64_t n_rows;            /* rows added, each once, weight 0 left out */
    uint64_t n_skipped;         /* rows left out for a NULL; counted by the caller */
    double total_weight;
    double magnitude;           /* of all that was added or taken away, as a trace; 0: nothing taken away */
    uint32_t d, features, targets;      /* raw columns, D, numbers in y */
    uint32_t learner_bytes;     /* length of the map's canonical text */
    uint32_t waiting;           /* rows not yet added into the sums */
    uint32_t waiting_capacity;
} KmSums;

/* What the sums are of: a prepared feature map, kept beside the flat values while rows come. */
typedef struct KmFeatureMap KmFeatureMap;

/* KM_UNSUPPORTED unless the learner's steps are resolved, naming one that needs a pass of its own, and its
 * estimator, if any, can be solved from sums. */
extern KmStatus km_feature_map_check(KmContext *ctx, const KmLearner *learner);
/* The map of such a learner; KM_LIMIT naming the largest feasible D if the sums would pass 500 MB.
 * d: columns of the raw rows. */
extern KmStatus km_feature_map_create(KmContext *ctx, const KmLearner *learner, size_t d, size_t targets,
                                      KmFeatureMap **out);
/* Is it the map of these columns and of the learner with this canonical text? */
extern bool km_feature_map_is(const KmFeatureMap *map, const KmText *learner, size_t d, size_t targets);
extern bool km_feature_map_takes_missing(const KmFeatureMap *map);
/* Canonical text of the steps alone, "" for none: what a value keeps of its learner; and back. */
extern KmStatus km_feature_map_text(KmContext *ctx, const KmLearner *learner, KmText *out);
extern KmStatus km_feature_map_parse(KmContext *ctx, const char *text, size_t length, KmLearner **out);

/* ---- rows ---- */

extern size_t km_sums_initial_bytes(const KmFeatureMap *map);
extern size_t km_sums_full_bytes(const KmFeatureMap *map);      /* with all the room it will ever want */
/* KM_MEMORY, with a hint, if such a value would pass the cap; before it is made. */
extern KmStatus km_sums_reserve(KmContext *ctx, const KmFeatureMap *map);
extern KmStatus km_sums_init(KmContext *ctx, const KmFeatureMap *map, size_t bytes, KmSums *sums);
/* A value without a map, for rows that were all skipped. */
extern size_t km_sums_empty_bytes(size_t learner_bytes);
extern void km_sums_init_empty(size_t learner_bytes, const char *learner, KmSums *sums);
/* Bytes wanted before one more row can be added; > sums->bytes: the caller must copy the value into a
 * larger block first (km_sums_grow). */
extern size_t km_sums_wanted_bytes(const KmFeatureMap *map, const KmSums *sums);
extern KmStatus km_sums_grow(KmContext *ctx, const KmSums *from, size_t bytes, KmSums *to);
/* Add one row: x (d), y (targets).  KM_DATA naming the position of NaN or infinity; nothing is added then. */
extern KmStatus km_sums_add(KmContext *ctx, KmFeatureMap *map, KmSums *sums, const double *x, const double *y,
                            double weight);
/* Add waiting rows into the sums.  After a failure (or a cancel) the value must not be used. */
extern KmStatus km_sums_flush(KmContext *ctx, KmFeatureMap *map, KmSums *sums);

/* ---- values, all flushed ---- */

/* Bytes that a must have before b is merged into it (more than a->bytes when a has no map yet). */
extern size_t km_sums_merged_bytes(const KmSums *a, const KmSums *b);
/* a += b (sign 1) or a -= b (sign -1).  KM_INVALID naming the difference for other maps, and for what would
 * leave a negative count, KM_LIMIT for one of more than KM_SUMS_MAX_ROWS; a is unchanged then. */
extern KmStatus km_sums_merge(KmContext *ctx, KmSums *a, const KmSums *b, int sign);
/* The map's canonical learner text (not NUL-terminated). */
extern const char *km_sums_learner(const KmSums *sums);
/* Canonical stored form of a flushed value: trimmed, CRC set; equal contents give equal bytes. */
extern size_t km_sums_stored_bytes(const KmSums *sums);
extern KmStatus km_sums_store(KmContext *ctx, const KmSums *sums, KmSums *to);
/* Check bytes from outside, at an address that is a multiple of 8: KM_OK if they are a stored value. */
extern KmStatus km_sums_check(KmContext *ctx, const void *bytes, size_t length);

/* ---- models ---- */

/* Ridge from sums: a model of the map, then the estimator.  The learner is the estimator alone, or the
 * whole, whose steps must be those of the sums.  No rows: *out is NULL.  Warns when rounding in the sums has
 * cost more than half of the digits of some column. */
extern KmStatus km_sums_solve(KmContext *ctx, const KmLearner *learner, const KmSums *sums, KmModel **out);
/* The one way to fit `… | exact map | ridge` to raw rows, D x D and never n x D; all steps resolved. */
extern KmStatus km_sums_fit(KmContext *ctx, const KmLearner *learner, const KmTable *table, KmModel **out);

/* How well a linear model of the same map fits the rows in the sums, all targets together. */
typedef struct KmSumsError
{
    double weight;              /* total */
    double sse;                 /* sum of squared errors */
    double sst;                 /* of squared deviations from the mean */
} KmSumsError;

extern KmStatus km_sums_error(KmContext *ctx, const KmModel *model, const KmSums *sums, KmSumsError *out);

#endif
