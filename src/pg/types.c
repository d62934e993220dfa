/*
 * types.c: the SQL types kernel and learner.
 *
 * A value is a varlena of canonical text; input parses, checks and prints, so
 * equal specs are equal bytes.
 */
#include "glue.h"

#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

#define WIRE_VERSION 1

/* ---- specs as text ---- */

KmKernel *
kml_kernel_parse(KmContext *ctx, const struct varlena *spec)
{
    KmKernel *kernel;

    kml_check(ctx, km_kernel_parse(ctx, VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec), &kernel));
    return kernel;
}

KmLearner *
kml_learner_parse(KmContext *ctx, const struct varlena *spec)
{
    KmLearner *learner;

    kml_check(ctx, km_learner_parse(ctx, VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec), &learner));
    return learner;
}

struct varlena *
kml_spec_make(const char *text, size_t length)
{
    struct varlena *spec = palloc(VARHDRSZ + length);

    SET_VARSIZE(spec, VARHDRSZ + length);
    memcpy(VARDATA(spec), text, length);
    return spec;
}

bool
kml_varlena_equal(const struct varlena *a, const struct varlena *b)
{
    size_t length = VARSIZE_ANY_EXHDR(a);

    return a == b || (length == VARSIZE_ANY_EXHDR(b) && memcmp(VARDATA_ANY(a), VARDATA_ANY(b), length) == 0);
}

/* Parse, check and print `text` as the given type does. */
typedef KmStatus (*Canonical)(KmContext *ctx, const char *text, size_t length, KmText *out);

static KmStatus
canonical_kernel(KmContext *ctx, const char *text, size_t length, KmText *out)
{
    KmKernel *kernel;

    KM_TRY(km_kernel_parse(ctx, text, length, &kernel));
    return km_spec_print(ctx, kernel->node, out);
}

static KmStatus
canonical_learner(KmContext *ctx, const char *text, size_t length, KmText *out)
{
    KmLearner *learner;

    KM_TRY(km_learner_parse(ctx, text, length, &learner));
    return km_learner_print(ctx, learner, out);
}

static Datum
spec_from_text(Canonical canonical, const char *text, size_t length)
{
    KmContext *ctx = kml_context_create(CurrentMemoryContext);
    KmText out = {0};
    struct varlena *spec;

    kml_check(ctx, canonical(ctx, text, length, &out));
    spec = kml_spec_make(out.data, out.length);
    kml_context_delete(ctx);
    return PointerGetDatum(spec);
}

static Datum
spec_from_wire(Canonical canonical, StringInfo message)
{
    int version = pq_getmsgbyte(message);
    char *text;
    int length;

    if (version != WIRE_VERSION)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                 errmsg("kernelml spec has wire version %d, expected %d", version, WIRE_VERSION)));
    text = pq_getmsgtext(message, message->len - message->cursor, &length);
    return spec_from_text(canonical, text, length);
}

static bytea *
spec_to_wire(const struct varlena *spec)
{
    StringInfoData message;

    pq_begintypsend(&message);
    pq_sendbyte(&message, WIRE_VERSION);
    pq_sendtext(&message, VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec));
    return pq_endtypsend(&message);
}

PG_FUNCTION_INFO_V1(kml_kernel_in);
PG_FUNCTION_INFO_V1(kml_kernel_recv);
PG_FUNCTION_INFO_V1(kml_learner_in);
PG_FUNCTION_INFO_V1(kml_learner_recv);
PG_FUNCTION_INFO_V1(kml_spec_out);
PG_FUNCTION_INFO_V1(kml_spec_send);

Datum
kml_kernel_in(PG_FUNCTION_ARGS)
{
    char *text = PG_GETARG_CSTRING(0);

    return spec_from_text(canonical_kernel, text, strlen(text));
}

Datum
kml_kernel_recv(PG_FUNCTION_ARGS)
{
    return spec_from_wire(canonical_kernel, (StringInfo) PG_GETARG_POINTER(0));
}

Datum
kml_learner_in(PG_FUNCTION_ARGS)
{
    char *text = PG_GETARG_CSTRING(0);

    return spec_from_text(canonical_learner, text, strlen(text));
}

Datum
kml_learner_recv(PG_FUNCTION_ARGS)
{
    return spec_from_wire(canonical_learner, (StringInfo) PG_GETARG_POINTER(0));
}

Datum
kml_spec_out(PG_FUNCTION_ARGS)
{
    PG_RETURN_CSTRING(text_to_cstring(PG_GETARG_TEXT_PP(0)));
}

Datum
kml_spec_send(PG_FUNCTION_ARGS)
{
    PG_RETURN_BYTEA_P(spec_to_wire(PG_GETARG_VARLENA_PP(0)));
}

/* ---- order and hash: bytewise on the canonical text ---- */

static int
compare(FunctionCallInfo fcinfo)
{
    struct varlena *a = PG_GETARG_VARLENA_PP(0);
    struct varlena *b = PG_GETARG_VARLENA_PP(1);
    size_t na = VARSIZE_ANY_EXHDR(a), nb = VARSIZE_ANY_EXHDR(b);
    int order = memcmp(VARDATA_ANY(a), VARDATA_ANY(b), Min(na, nb));

    PG_FREE_IF_COPY(a, 0);
    PG_FREE_IF_COPY(b, 1);
    return order ? order : (na > nb) - (na < nb);
}

#define COMPARISON(name, test) \
    PG_FUNCTION_INFO_V1(name); \
    Datum name(PG_FUNCTION_ARGS) { PG_RETURN_BOOL(compare(fcinfo) test 0); }

COMPARISON(kml_spec_lt, <)
COMPARISON(kml_spec_le, <=)
COMPARISON(kml_spec_eq, ==)
COMPARISON(kml_spec_ne, !=)
COMPARISON(kml_spec_ge, >=)
COMPARISON(kml_spec_gt, >)

PG_FUNCTION_INFO_V1(kml_spec_cmp);
PG_FUNCTION_INFO_V1(kml_spec_hash);
PG_FUNCTION_INFO_V1(kml_spec_hash_extended);

Datum
kml_spec_cmp(PG_FUNCTION_ARGS)
{
    PG_RETURN_INT32(compare(fcinfo));
}

Datum
kml_spec_hash(PG_FUNCTION_ARGS)
{
    struct varlena *spec = PG_GETARG_VARLENA_PP(0);

    return hash_any((unsigned char *) VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec));
}

Datum
kml_spec_hash_extended(PG_FUNCTION_ARGS)
{
    struct varlena *spec = PG_GETARG_VARLENA_PP(0);

    return hash_any_extended((unsigned char *) VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec),
                             PG_GETARG_INT64(1));
}
