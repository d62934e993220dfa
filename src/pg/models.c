/*
 * models.c: models as bytea, and their decoded forms kept at a call site.
 *
 * A model is decoded once per call site and value, not once per row.  The key is
 * the argument's bytes as they come: for a value in TOAST that is its pointer (18
 * bytes that name the stored value), so a large model is neither fetched nor
 * compared again; for an inline value it is the content itself.  Most functions
 * want the head of a model alone: its tail, say a factor, then stays in TOAST.
 */
#include "glue.h"

#include "access/detoast.h"
#include "common/hashfn.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"

#define MAX_ENTRIES 64
#define PIECE ((size_t) 256 << 10)  /* as fast as the whole, and its memory serves again */
#define NAME_SIZE 200           /* of a learner in messages … */
#define NAME_LIST 2             /* … and of its lists */

typedef struct Entry
{
    uint32 hash;
    size_t key_bytes;
    void *key;
    uint64 used;                /* time of last use */
    KmlModel model;
} Entry;

struct KmlModelCache
{
    MemoryContext memory;
    bool whole;                 /* models with their tails */
    uint64 clock;
    Entry *last;                /* the entry of the previous call */
    int n;
    Entry entry[MAX_ENTRIES];
    KmlVectorReader row;        /* of argument 1 */
};

/* Models decoded by this backend, for tests and the curious. */
static uint64 models_decoded = 0;

bytea *
kml_model_to_bytea(KmContext *ctx, const KmModel *model)
{
    size_t bytes = km_model_encoded_size(model);
    bytea *value;

    if (bytes > KM_MODEL_MAX_BYTES)
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                 errmsg("model of %zu MB is over the limit of %zu MB", bytes >> 20,
                        KM_MODEL_MAX_BYTES >> 20)));
    value = palloc(VARHDRSZ + bytes);
    km_advise_huge_pages(value, VARHDRSZ + bytes);
    SET_VARSIZE(value, VARHDRSZ + bytes);
    kml_check(ctx, km_model_encode(ctx, model, (unsigned char *) VARDATA(value)));
    return value;
}

KmlModelCache *
kml_model_cache(FmgrInfo *flinfo)
{
    KmlModelCache *cache = flinfo->fn_extra;

    if (cache == NULL)
    {
        cache = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof *cache);
        cache->memory = flinfo->fn_mcxt;
        flinfo->fn_extra = cache;
    }
    return cache;
}

/* ---- decoding ---- */

static void
check_text(const char *text)
{
    if (!pg_verify_mbstr(GetDatabaseEncoding(), text, strlen(text), true))
        ereport(ERROR,
                (errcode(ERRCODE_DATA_CORRUPTED),
                 errmsg("model has text that is not valid in encoding %s", GetDatabaseEncodingName()),
                 errhint("A model of a database with another encoding must be fitted again.")));
}

/* Labels and words of a model become values of SQL and parts of messages. */
static void
check_texts(const KmModel *model)
{
    check_text(model->learner);
    for (size_t i = 0; i < model->classes.n; i++)
        check_text(model->classes.text[i]);
    for (size_t i = 0; i < model->n_facts; i++)
    {
        check_text(model->fact[i].name);
        if (model->fact[i].kind == KM_FACT_TEXT)
            check_text(model->fact[i].text);
    }
}

static bool
is_compressed(struct varlena *raw)
{
    Datum value = PointerGetDatum(raw);

    if (!VARATT_IS_EXTERNAL_ONDISK(raw))
        return VARATT_IS_COMPRESSED(raw);
    return toast_datum_size(value) < toast_raw_datum_size(value) - VARHDRSZ;
}

static struct varlena *
piece(struct varlena *raw, size_t at, size_t bytes)
{
    return PG_DETOAST_DATUM_SLICE(PointerGetDatum(raw), (int32) at, (int32) bytes);
}

/* The first bytes of a compressed value, at once, because any piece is decompressed from the beginning.
 * Moved over the word of their length they are aligned. */
static unsigned char *
decompress(KmContext *ctx, struct varlena *raw, size_t bytes)
{
    MemoryContext caller = MemoryContextSwitchTo(ctx->owner);
    struct varlena *value;

    kml_check(ctx, km_reserve(ctx, (double) bytes, "the decompressed model", NULL));
    value = piece(raw, 0, bytes);
    MemoryContextSwitchTo(caller);
    return memmove(value, VARDATA_ANY(value), bytes);
}

/* The first bytes of another value, by pieces into large pages: the whole is not in memory twice. */
static unsigned char *
copy(KmContext *ctx, struct varlena *raw, size_t bytes)
{
    unsigned char *out;

    kml_check(ctx, km_alloc(ctx, bytes, &out));
    for (size_t at = 0; at < bytes; at += PIECE)
    {
        size_t count = Min(PIECE, bytes - at);
        struct varlena *part = piece(raw, at, count);

        CHECK_FOR_INTERRUPTS();
        memcpy(out + at, VARDATA_ANY(part), count);
        pfree(part);
    }
    return out;
}

/* Bytes of a model of total bytes that its head takes. */
static size_t
head_bytes(KmContext *ctx, struct varlena *raw, size_t total)
{
    struct varlena *header = piece(raw, 0, Min(total, KM_MODEL_HEADER_BYTES));
    size_t head;

    kml_check(ctx, km_model_head_bytes(ctx, (unsigned char *) VARDATA_ANY(header), total, &head));
    pfree(header);
    return head;
}

static KmModel *
fetch_model(KmContext *ctx, struct varlena *raw, bool whole)
{
    size_t total = toast_raw_datum_size(PointerGetDatum(raw)) - VARHDRSZ;
    size_t size = whole ? total : head_bytes(ctx, raw, total);
    unsigned char *bytes = (is_compressed(raw) ? decompress : copy)(ctx, raw, size);
    KmModel *model;

    kml_check(ctx, (whole ? km_model_decode : km_model_decode_head) (ctx, bytes, total, &model));
    check_texts(model);
    return model;
}

static void
decode(KmlModelCache *cache, struct varlena *raw, KmlModel *out)
{
    KmContext *ctx = kml_context_create(cache->memory);
    size_t width;

    kml_check(ctx, km_scorer_create(ctx, fetch_model(ctx, raw, cache->whole), &out->scorer));
    width = Max(Max(out->scorer->score.n_out, out->scorer->steps.d_out), out->scorer->model->classes.n);
    kml_check(ctx, km_alloc(ctx, width, &out->values));
    out->ctx = ctx;
    models_decoded++;
}

/* A place for a new entry: a free one, or that of the model not used for longest. */
static Entry *
victim(KmlModelCache *cache)
{
    Entry *oldest = &cache->entry[0];

    if (cache->n < MAX_ENTRIES)
        return &cache->entry[cache->n++];
    for (int i = 1; i < MAX_ENTRIES; i++)
        if (cache->entry[i].used < oldest->used)
            oldest = &cache->entry[i];
    return oldest;
}

/* An error while decoding leaves an entry with hash and key cleared, which nothing matches. */
static Entry *
add_entry(KmlModelCache *cache, uint32 hash, struct varlena *raw)
{
    Entry *entry = victim(cache);

    if (entry->key)
        pfree(entry->key);
    if (entry->model.ctx)
        kml_context_delete(entry->model.ctx);
    memset(entry, 0, sizeof *entry);
    decode(cache, raw, &entry->model);
    entry->hash = hash;
    entry->key_bytes = VARSIZE_ANY(raw);
    entry->key = MemoryContextAllocHuge(cache->memory, entry->key_bytes);
    memcpy(entry->key, raw, entry->key_bytes);
    return entry;
}

/* ---- looking up ---- */

static bool
matches(const Entry *entry, const struct varlena *raw)
{
    return entry->key && entry->key_bytes == VARSIZE_ANY(raw) &&
        memcmp(entry->key, raw, entry->key_bytes) == 0;
}

/* Of the ends only: equal hashes are followed by a comparison of all bytes. */
static uint32
hash_ends(const struct varlena *raw)
{
    size_t bytes = VARSIZE_ANY(raw), end = Min(bytes, 64);
    const unsigned char *p = (const unsigned char *) raw;

    return hash_combine(hash_bytes(p, end), hash_bytes(p + bytes - end, end));
}

static Entry *
find(KmlModelCache *cache, struct varlena *raw)
{
    uint32 hash = hash_ends(raw);

    for (int i = 0; i < cache->n; i++)
        if (cache->entry[i].hash == hash && matches(&cache->entry[i], raw))
            return &cache->entry[i];
    return add_entry(cache, hash, raw);
}

KmlModel *
kml_model_lookup(KmlModelCache *cache, Datum datum)
{
    struct varlena *raw = (struct varlena *) DatumGetPointer(datum);

    /* pointers to memory are no names of a value: look at what they point to */
    if (VARATT_IS_EXTERNAL(raw) && !VARATT_IS_EXTERNAL_ONDISK(raw))
        raw = PG_DETOAST_DATUM_PACKED(datum);
    if (cache->last == NULL || !matches(cache->last, raw))
    {
        cache->last = NULL;
        cache->last = find(cache, raw);
    }
    cache->last->used = ++cache->clock;
    return &cache->last->model;
}

/* A parameter is not constant here: PL/pgSQL evaluates a simple expression with other values of its
 * variables, and keeps what the call site has kept. */
static bool
model_is_constant(const FmgrInfo *flinfo)
{
    const FuncExpr *call = (const FuncExpr *) flinfo->fn_expr;

    return call && IsA(call, FuncExpr) && IsA(linitial(call->args), Const);
}

KmlModel *
kml_model_argument(FunctionCallInfo fcinfo)
{
    KmlModelCache *cache = kml_model_cache(fcinfo->flinfo);

    if (cache->last && model_is_constant(fcinfo->flinfo))
        return &cache->last->model;
    return kml_model_lookup(cache, PG_GETARG_DATUM(0));
}

KmlModel *
kml_whole_model_argument(FunctionCallInfo fcinfo)
{
    kml_model_cache(fcinfo->flinfo)->whole = true;
    return kml_model_argument(fcinfo);
}

/* ---- rows for a model ---- */

KmlVectorReader *
kml_row_reader(FmgrInfo *flinfo)
{
    KmlModelCache *cache = kml_model_cache(flinfo);

    if (!OidIsValid(cache->row.type))
        kml_vector_reader_init(&cache->row, get_fn_expr_argtype(flinfo, 1), "x", cache->memory);
    return &cache->row;
}

const char *
kml_model_name(const KmlModel *model)
{
    const char *learner = kml_short_learner(model->ctx, model->scorer->model->learner, NAME_LIST);
    size_t end = NAME_SIZE;

    if (strlen(learner) <= NAME_SIZE)
        return learner;
    while (end > 0 && learner[end] != ' ')
        end--;
    return psprintf("%.*s ...", (int) end, learner);
}

void
kml_model_check_features(const KmlModel *model, size_t n)
{
    if (n != model->scorer->d)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("model expects %zu feature%s, got %zu", model->scorer->d,
                        km_plural(model->scorer->d), n),
                 errdetail("The model's learner is %s.", kml_model_name(model))));
}

const double *
kml_model_row(const KmlModel *model, KmlVectorReader *reader, Datum datum)
{
    kml_vector_read(reader, datum, "x");
    kml_model_check_features(model, reader->n);
    if (reader->first_missing < reader->n && !model->scorer->takes_missing)
        kml_refuse_missing(reader->first_missing, "x");
    return reader->value;
}

static void
check_missing(size_t n, size_t d, const double *x)
{
    for (size_t i = 0; i < n * d; i++)
        if (km_is_missing(x[i]))
            kml_refuse_missing(i % d, psprintf("x in row %zu", i / d + 1));
}

double *
kml_model_rows(const KmlModel *model, Datum datum, size_t *n)
{
    size_t d;
    double *x = kml_matrix_read(datum, "x", n, &d);

    if (*n > 0)
        kml_model_check_features(model, d);
    if (!model->scorer->takes_missing)
        check_missing(*n, d, x);
    return x;
}

void
kml_model_require_estimator(const KmlModel *model)
{
    if (model->scorer->score.n_out == 0)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("model %s has no estimator", kml_model_name(model)),
                 errhint("Use transform(model, x).")));
}

PG_FUNCTION_INFO_V1(kml_models_decoded);

Datum
kml_models_decoded(PG_FUNCTION_ARGS)
{
    PG_RETURN_INT64(models_decoded);
}
