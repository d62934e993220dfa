/*
 * glue.h: what the SQL topics share: core's context inside a memory context,
 * errors, feature arguments, specs, and decoded models.
 */
#ifndef KML_GLUE_H
#define KML_GLUE_H

#include "compat.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "learner.h"

/* Settings (kernelml.c). */
extern int kml_max_memory_kb;

/* ---- context.c: a KmContext on a memory context ---- */

/* A KmContext whose memory is a child of `parent`; dies with it, or by
 * kml_context_delete().  Capped by kernelml.max_memory. */
extern KmContext *kml_context_create(MemoryContext parent);
extern void kml_context_delete(KmContext *ctx);
/* Raise the error of a failed core call; nothing for KM_OK. */
extern void kml_check(KmContext *ctx, KmStatus status);
/* The same for an error kept as texts. */
pg_noreturn extern void kml_raise(KmStatus status, const char *message, const char *detail, const char *hint);

/* ---- vectors.c: rows of features as arguments ---- */

/* How to read one argument as doubles, worked out once per query. */
typedef struct KmlVectorReader
{
    Oid type;                   /* base type of the argument, or InvalidOid: not set up */
    Oid element;                /* element type of the array that arrives */
    FmgrInfo cast;              /* implicit cast to real[] or float8[]; fn_oid 0: none */
    int cast_args;              /* 1 to 3 */
    FmgrInfo input;             /* text: input function of float8[] */
    MemoryContext memory;       /* of `value` */
    double *value;              /* the row last read */
    size_t n, capacity;
    size_t first_missing;       /* index of the first NULL element, or n */
} KmlVectorReader;

/* Set up for values of `type`; what: "x" in errors. */
extern void kml_vector_reader_init(KmlVectorReader *reader, Oid type, const char *what, MemoryContext memory);
/* Read a one-dimensional array (or text) of at least one element into reader->value; NULL elements become
 * km_missing().  Raises an error for anything else. */
extern void kml_vector_read(KmlVectorReader *reader, Datum datum, const char *what);
/* Raise unless every element is a finite number; row: number of the row to name, 0: none. */
extern void kml_check_finite(size_t n, const double *x, const char *what, size_t row);
/* Raise the error for element i, which is NULL. */
pg_noreturn extern void kml_refuse_missing(size_t i, const char *what);

/* A two-dimensional float8[] as a row-major matrix, copied.  The empty array is 0 x 0.  NULL elements
 * become km_missing(); the finite form raises for them and for what is no finite number. */
extern double *kml_matrix_read(Datum datum, const char *what, size_t *rows, size_t *columns);
extern double *kml_finite_matrix_read(Datum datum, const char *what, size_t *rows, size_t *columns);
/* A symmetric matrix of finite numbers, in gram.c; its errors call it g.  copies: of it that the caller
 * makes, this one too; over the cap it is not read. */
extern double *kml_symmetric_read(KmContext *ctx, Datum datum, size_t copies, size_t *n);
/* A float8[] of one or two dimensions; rows == 0: one dimension.  kml_matrix_make gives memory to fill:
 * *values points into the array. Errors (54000) when it cannot be one value. */
extern Datum kml_matrix_make(size_t rows, size_t columns, double **values);
/* The same for values of a kernel, in kernels.c: over the cap it is not made. */
extern Datum kml_kernel_values_make(KmContext *ctx, size_t rows, size_t columns, double **values);
extern Datum kml_vector_make(size_t n, const double *values);

/* ---- spec.c in types.c: text of the types kernel and learner ---- */

/* A parsed spec kept in flinfo->fn_extra or another cache, keyed by its bytes. */
extern KmKernel *kml_kernel_parse(KmContext *ctx, const struct varlena *spec);
/* The same for a kernel whose every value must be a number (kernels.c). */
extern KmKernel *kml_kernel_parse_fixed(KmContext *ctx, const struct varlena *spec);
extern KmLearner *kml_learner_parse(KmContext *ctx, const struct varlena *spec);
extern struct varlena *kml_spec_make(const char *text, size_t length);
/* Equal bytes, whatever the headers. */
extern bool kml_varlena_equal(const struct varlena *a, const struct varlena *b);

/* ---- call_site.c ---- */

/* What the functions of one aggregate in a query keep between calls: `bytes`, zero at first, and the context
 * that lives as long.  An ordinary function may ask too. */
extern void *kml_call_site(FunctionCallInfo fcinfo, size_t bytes, MemoryContext *memory);

/* ---- model_info.c ---- */

/* A learner's text with lists of more than `longest` constants as their counts, "" for "". */
#define KML_LONG_LIST 8         /* as model_info has them */
extern const char *kml_short_learner(KmContext *ctx, const char *learner, size_t longest);

/* ---- models.c: models as bytea, decoded once ---- */

extern bytea *kml_model_to_bytea(KmContext *ctx, const KmModel *model);

/* A decoded model. */
typedef struct KmlModel
{
    KmContext *ctx;             /* owns everything here */
    KmScorer *scorer;
    double *values;             /* room for what one row gives: raw values, features, probabilities */
} KmlModel;

/* What a call site keeps: decoded models by their bytes, and readers of the other arguments. */
typedef struct KmlModelCache KmlModelCache;
extern KmlModelCache *kml_model_cache(FmgrInfo *flinfo);
/* The decoded form of a model; decodes only if the cache does not hold its bytes. */
extern KmlModel *kml_model_lookup(KmlModelCache *cache, Datum datum);
/* The model in argument 0 of an ordinary function, without the tail that distributions need; and with it. */
extern KmlModel *kml_model_argument(FunctionCallInfo fcinfo);
extern KmlModel *kml_whole_model_argument(FunctionCallInfo fcinfo);
/* The reader of argument 1. */
extern KmlVectorReader *kml_row_reader(FmgrInfo *flinfo);
/* Read a row for the model into the reader; checks the number of features and NULL elements. */
extern const double *kml_model_row(const KmlModel *model, KmlVectorReader *reader, Datum datum);
/* The same for the rows of a two-dimensional float8[], copied. */
extern double *kml_model_rows(const KmlModel *model, Datum datum, size_t *n);
extern void kml_model_check_features(const KmlModel *model, size_t n);
/* The learner of a model with long constants as their counts, for messages. */
extern const char *kml_model_name(const KmlModel *model);
/* Raise unless the model has an estimator. */
extern void kml_model_require_estimator(const KmlModel *model);

#endif
