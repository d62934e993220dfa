/*
 * kernel.h: kernels of vectors: the table, compiled expressions, tiles.
 *
 * A kernel expression is a tree of leaves (table entries) under sums, products,
 * powers, exp and normalize.  A leaf's value is a function, element by element,
 * of one geometry of the two rows: their dot product, squared distance, 1-norm
 * distance, or (KM_GEOMETRY_ROWS) of the rows themselves.  So one map serves
 * tiles while training and the fixed-order micro-kernel while scoring.
 *
 * Adding a kernel: one entry with its functions in the file of its family, its
 * test, its row in the README.
 */
#ifndef KM_KERNEL_H
#define KM_KERNEL_H

#include "context.h"
#include "panel.h"
#include "signature.h"
#include "survey.h"

typedef enum KmDomain { KM_DOMAIN_VECTOR, KM_DOMAIN_TEXT, KM_DOMAIN_GRAPH, KM_DOMAIN_INDEX } KmDomain;

typedef enum KmGeometry
{
    KM_GEOMETRY_NONE,           /* the value does not depend on the rows: constant */
    KM_GEOMETRY_SAME,           /* 1 for a row of one set of points with itself, else 0: white */
    KM_GEOMETRY_DOT,            /* <x,z> */
    KM_GEOMETRY_COSINE,         /* <x,z> of rows scaled to length 1 (zero rows stay zero) */
    KM_GEOMETRY_SQDIST,         /* |x-z|^2 */
    KM_GEOMETRY_L1,             /* sum |x-z| */
    KM_GEOMETRY_ROWS            /* what pairs() makes of the rows */
} KmGeometry;

typedef enum KmKernelFlag
{
    KM_STATIONARY = 1,          /* depends on x - z only: columns may be centred */
    KM_BOUNDED = 2,             /* |k| <= k(x,x) <= a constant: float32 rows are safe */
    KM_PSD = 4,                 /* positive semidefinite in every dimension */
    KM_PLANE = 8                /* the dot product of the rows that the leaf makes, but for rounding */
} KmKernelFlag;

typedef struct KmKernelType KmKernelType;

/* A leaf with its numbers worked out. */
typedef struct KmLeaf
{
    const KmKernelType *type;
    KmArgs args;
    unsigned flags;             /* the type's, less those that these numbers forbid (coef0 < 0: not PSD) */
    double p[4];                /* numbers that map() needs, meaning by type */
    void *own;                  /* more of them, for the type's own functions */
    size_t width;               /* columns that a parameter was written for; 0: any */
    const char *width_of;       /* that parameter */
    size_t n_dims;              /* dims=[…]: chosen columns, 0-based; 0: all */
    size_t *dims;
    size_t n_scale;             /* columns are multiplied by these first (ARD); 0: no */
    double *scale;
    size_t n_factor;            /* then x -> L'x (metric = LL'), n_factor x n_factor row-major; 0: no */
    double *factor;
    size_t index;               /* number of the leaf within its kernel */
} KmLeaf;

#define KM_MAX_PAIRS ((size_t) 512)     /* rows z at once in pairs() */
#define KM_MAX_FREE 4

/* A parameter that optimisation may move: a number of the signature, or each element of a list or matrix.
 * Its derivative is one of three: by the chain rule through the geometry value v ~ parameter^power (for a
 * list of length scales, column by column), by shape() at fixed v, or by rows() through what pairs() made.
 * Both are by the value itself, and add sums of a_j times their derivatives to g[0], or to g[element]. */
typedef struct KmFree
{
    const char *name;           /* NULL ends the list */
    bool plain;                 /* values <= 0 are as good as others: the value moves, not its logarithm */
    double power;
    void (*shape)(const KmLeaf *leaf, size_t n, const double *v, const double *k, const double *a, double *g);
    void (*rows)(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, const double *a,
                 double *g);    /* of v */
} KmFree;

struct KmKernelType
{
    KmSignature signature;      /* first, so that an entry is its signature */
    KmDomain domain;
    KmGeometry geometry;
    unsigned flags;
    /* Work out p, own, scale, factor and flags from args, where words that wait for data are NaN.  NULL:
     * nothing to do. */
    KmStatus (*compile)(KmContext *ctx, KmLeaf *leaf);
    /* Geometry values to kernel values, in place; only vmath.h, sqrt, + - * /.  NULL: they are the same. */
    void (*map)(const KmLeaf *leaf, size_t n, double *v);
    /* The same in float32 for training rows; NULL: rows are made in float64. */
    void (*map_f32)(const KmLeaf *leaf, size_t n, float *v);
    /* KM_GEOMETRY_ROWS only: out[j] from x and z_j, n <= KM_MAX_PAIRS rows of d columns, row-major. */
    void (*pairs)(const KmLeaf *leaf, size_t d, const double *x, size_t n, const double *z, double *out);
    bool nonnegative;           /* rows must have no element < 0 */
    double below;               /* geometry values must stay below this; 0: any */
    /* What optimisation may move, and dk/dv from geometry values v and kernel values k (of distances where
     * v > 0, anything finite at 0); NULL: 1. */
    KmFree free[KM_MAX_FREE];
    void (*slope)(const KmLeaf *leaf, size_t n, const double *v, const double *k, double *out);
    /* Instead of slope, of distances whose values and slopes share most of their work: both, from v. */
    void (*both)(const KmLeaf *leaf, size_t n, const double *v, double *k, double *slope);
    /* Spectral sampler: m frequencies (m x d row-major) drawn from the kernel's spectral density, by random.h
     * with the seed, so that k(x,z) = k(x,x) E cos<w, x - z>.  NULL: none exists. */
    KmStatus (*sample)(KmContext *ctx, const KmLeaf *leaf, uint64_t seed, size_t m, size_t d, double *w);
};

/* Entry i of the table, in the order in which names are listed to users; NULL past the end. */
extern const KmKernelType *km_kernel_type(size_t i);

typedef enum KmKernelOp
{
    KM_OP_LEAF, KM_OP_SUM, KM_OP_PRODUCT, KM_OP_POWER, KM_OP_EXP, KM_OP_NORMALIZE
} KmKernelOp;

typedef struct KmKernel KmKernel;

struct KmKernel
{
    KmKernelOp op;
    KmLeaf leaf;                /* KM_OP_LEAF; a bare number is the leaf constant(number) */
    double exponent;            /* KM_OP_POWER: whole, >= 1 */
    size_t n;
    KmKernel **child;
    unsigned flags;             /* of the whole below here */
    size_t n_leaves;            /* below here */
    size_t number;              /* of this node within the whole kernel, 0 the root */
    size_t n_nodes;             /* here and below */
    size_t normal;              /* KM_OP_NORMALIZE: its number among those of the whole kernel */
    size_t n_normals;           /* normalize nodes here and below */
    KmNode *node;               /* canonical syntax, rewritten in place when values are resolved */
};

/* Compile a kernel expression; checks names, parameters and ranges, and rewrites
 * the node canonically.  dims= may stand in any leaf's call.  Data-dependent values (gamma=scale) stay
 * words: km_kernel_needs_data() tells.  white() only alone or as a summand of the whole. */
extern KmStatus km_kernel_compile(KmContext *ctx, KmNode *node, KmKernel **out);
extern KmStatus km_kernel_parse(KmContext *ctx, const char *text, size_t length, KmKernel **out);
/* The kernel that a step or an estimator was given. */
extern KmStatus km_kernel_of(KmContext *ctx, const KmArgs *args, KmKernel **out);
extern bool km_kernel_needs_data(const KmKernel *kernel);
/* True if some value is grid(…) or logspace(…). */
extern bool km_kernel_has_grid(const KmKernel *kernel);
/* Replace gamma = auto, scale, median by numbers learnt from n x d rows x with weights w
 * (NULL: ones), after dims; rewrites kernel->node and recompiles the leaves. */
extern KmStatus km_kernel_resolve(KmContext *ctx, KmKernel *kernel, size_t n, size_t d, const double *x,
                                  const double *w);
/* The same from a survey of rows that were not kept; the median is that of the survey's sample. */
extern KmStatus km_kernel_resolve_survey(KmContext *ctx, KmKernel *kernel, const KmSurvey *survey);
/* Median distance between two rows (weights count as repetitions), from at most 1000 distinct rows chosen
 * by a hash of their content, so in any order of rows; the median of the nonzero distances when it is 0, and
 * 0 when all rows are equal.  what: KM_PAIR_SQDIST for the Euclidean distance (not squared), KM_PAIR_L1. */
extern KmStatus km_median_distance(KmContext *ctx, size_t n, size_t d, const double *x, const double *w,
                                   KmPairwise what, double *out);
/* Total variance of the white() summands: in the diagonal of a Gram, but not in km_kernel_value(x, x). */
extern double km_kernel_white(const KmKernel *kernel);
/* Make it 0. */
extern void km_kernel_clear_white(KmKernel *kernel);
/* True if rows are [number, k(x,1), …, k(x,n)]: precomputed. */
extern bool km_kernel_is_index(const KmKernel *kernel);
/* True if values are <x,z> of the rows as they are. */
extern bool km_kernel_is_linear(const KmKernel *kernel);
/* Of such rows to be fitted (others pass): fail unless their numbers are within them and K is symmetric. */
extern KmStatus km_kernel_check_index(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d,
                                      const double *x);
/* Fail unless the kernel can take rows of d columns (dims, scale lists, metric). */
extern KmStatus km_kernel_check_dimension(KmContext *ctx, const KmKernel *kernel, size_t d);

/* ---- tiles (training, Gram matrices) ---- */

/* Rows made ready for one kernel: per leaf, the chosen and scaled columns,
 * centred for stationary leaves, with squared norms. */
typedef struct KmPoints KmPoints;

/* x: n x d row-major, finite.  like: NULL, or points whose centring must be shared
 * (the other side of a cross Gram).  Checks dimensions and domains; KM_RANGE when squared
 * norms overflow. */
extern KmStatus km_points_create(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d, const double *x,
                                 const KmPoints *like, KmPoints **out);
/* Give the memory back of points made without others that are like them; NULL is fine. */
extern void km_points_free(KmContext *ctx, KmPoints *points);
extern size_t km_points_count(const KmPoints *points);
/* Copy rows row[0..m-1] into `into` (made by km_points_reserve with capacity >= m). */
extern KmStatus km_points_reserve(KmContext *ctx, const KmPoints *like, size_t capacity, KmPoints **out);
extern void km_points_gather(const KmPoints *points, size_t m, const size_t *row, KmPoints *into);
/* The same for float32 tiles only: float64 rows are not copied but read where they are, so `points` must
 * stay. */
extern KmStatus km_points_gather_f32(KmContext *ctx, const KmPoints *points, size_t m, const size_t *row,
                                     KmPoints *into);
/* Before the first float32 tile: rows of mostly equal columns are kept so that tiles of them, and of rows
 * gathered from them, cost only as much as the other elements.  Not for points that others are like. */
extern KmStatus km_points_sparse(KmContext *ctx, const KmPoints *points);

/* out[i * ld + j] = k(a_{i0+i}, b_{j0+j}), m x n, float64.  Where a == b and the indices
 * agree the value is the exact diagonal, and tiles of one Gram are symmetric to the bit
 * when read from one triangle.  Small squared distances are recomputed by differences
 * (below 1e-3 of the norms).  Any m, n: works in blocks inside and polls. */
extern KmStatus km_kernel_tile(KmContext *ctx, const KmKernel *kernel, const KmPoints *a, size_t i0, size_t m,
                               const KmPoints *b, size_t j0, size_t n, size_t ld, double *out);
/* The same in float32, only where km_kernel_has_f32(): a single leaf with map_f32; j0 a multiple of 32
 * (thin.h). */
extern bool km_kernel_has_f32(const KmKernel *kernel);
extern KmStatus km_kernel_tile_f32(KmContext *ctx, const KmKernel *kernel, const KmPoints *a, size_t i0,
                                   size_t m, const KmPoints *b, size_t j0, size_t n, size_t ld, float *out);
/* out[i] = k(a_i, a_i) exactly. */
extern KmStatus km_kernel_diagonal(KmContext *ctx, const KmKernel *kernel, const KmPoints *a, double *out);

/* ---- scoring: the same bits in every form (panel.h), no BLAS, no libm ---- */

/* Stored rows made ready to be compared with; copies z (n x d). */
typedef struct KmTarget KmTarget;
#define KM_SCORE_ROWS 24        /* query rows per call */
extern KmStatus km_target_create(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d, const double *z,
                                 KmTarget **out);
/* out[i * ld + j] = k(x_i, z_j) for m <= KM_SCORE_ROWS rows and all n stored rows; ld >= n
 * rounded up to a multiple of KM_PANEL_WIDTH.  Uses scratch inside the target. */
extern KmStatus km_target_values(KmContext *ctx, KmTarget *target, size_t m, const double *x, size_t ld,
                                 double *out);
extern size_t km_target_stride(const KmTarget *target);        /* the least ld */
/* The same by blocks: first the m rows, then n <= KM_TARGET_BLOCK stored rows from j0 on, a multiple of
 * KM_TARGET_BLOCK, at a time; ld >= n rounded up. */
#define KM_TARGET_BLOCK 256     /* a multiple of KM_PANEL_WIDTH */
extern KmStatus km_target_query(KmContext *ctx, KmTarget *target, size_t m, const double *x);
extern KmStatus km_target_block(KmContext *ctx, KmTarget *target, size_t m, size_t j0, size_t n, size_t ld,
                                double *out);
/* out[i] = k(x_i, x_i) for m <= KM_SCORE_ROWS rows, without white() summands. */
extern KmStatus km_target_self(KmContext *ctx, KmTarget *target, size_t m, const double *x, double *out);

extern void km_target_free(KmContext *ctx, KmTarget *target);

/* One value, by the scoring path; KM_DATA naming the position for NaN or infinity in x or z. */
extern KmStatus km_kernel_value(KmContext *ctx, const KmKernel *kernel, size_t d, const double *x,
                                const double *z, double *out);

#endif
