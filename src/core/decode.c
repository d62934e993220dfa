/*
 * decode.c: bytes to a model; model.h has the format.  Nothing that the bytes say is believed before it is
 * checked.
 */
#include "codec.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "bits.h"
#include "sizes.h"

typedef struct Reader
{
    KmContext *ctx;
    unsigned char *p;
    size_t left;
} Reader;

static KmStatus
corrupt(KmContext *ctx, const char *what)
{
    km_fail(ctx, KM_CORRUPT, "model is corrupt: %s", what);
    return KM_CORRUPT;
}

static uint64_t
read_unsigned(const unsigned char *p, size_t width)
{
    uint64_t value = 0;

    for (size_t i = 0; i < width; i++)
        value |= (uint64_t) p[i] << 8 * i;
    return value;
}

static KmStatus
take_bytes(Reader *reader, uint64_t length, unsigned char **out)
{
    if (length > reader->left)
        return corrupt(reader->ctx, "a section ends early");
    *out = reader->p;
    reader->p += length;
    reader->left -= length;
    return KM_OK;
}

static KmStatus
take_unsigned(Reader *reader, size_t width, uint64_t *out)
{
    unsigned char *p;

    KM_TRY(take_bytes(reader, width, &p));
    *out = read_unsigned(p, width);
    return KM_OK;
}

static KmStatus
take_double(Reader *reader, double *out)
{
    uint64_t bits;

    KM_TRY(take_unsigned(reader, 8, &bits));
    *out = km_from_bits(bits);
    return KM_OK;
}

static KmStatus
take_zeros(Reader *reader, size_t length)
{
    uint64_t value;

    KM_TRY(take_unsigned(reader, length, &value));
    return value == 0 ? KM_OK : corrupt(reader->ctx, "unused bytes are not zero");
}

/* A copy that ends in NUL, of text without one. */
static KmStatus
take_text(Reader *reader, uint64_t length, const char **out)
{
    unsigned char *p;
    char *copy;

    KM_TRY(take_bytes(reader, length, &p));
    if (memchr(p, '\0', length))
        return corrupt(reader->ctx, "a text has a zero byte");
    KM_TRY(km_alloc(reader->ctx, length + 1, &copy));
    memcpy(copy, p, length);
    copy[length] = '\0';
    *out = copy;
    return KM_OK;
}

static KmStatus
take_name(Reader *reader, uint64_t length, const char **out)
{
    if (length == 0 || length > KM_MODEL_MAX_NAME)
        return corrupt(reader->ctx, "a name is empty or too long");
    return take_text(reader, length, out);
}

/* n numbers of bytes that are there, aligned because every part before them is padded; in the bytes
 * themselves where the machine has their order. */
static KmStatus
view_doubles(KmContext *ctx, size_t n, unsigned char *bytes, double **out)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    (void) ctx;
    (void) n;
    *out = (double *) (void *) bytes;
#else
    KM_TRY(km_alloc(ctx, n, out));
    for (size_t i = 0; i < n; i++)
        (*out)[i] = km_from_bits(read_unsigned(bytes + i * sizeof **out, sizeof **out));
#endif
    return KM_OK;
}

static bool
all_finite(size_t n, const double *values)
{
    bool finite = true;

    for (size_t i = 0; i < n; i++)
        finite &= fabs(values[i]) <= DBL_MAX;
    return finite;
}

static KmStatus
take_doubles(Reader *reader, size_t n, double **out)
{
    unsigned char *bytes;

    KM_TRY(take_bytes(reader, n * sizeof **out, &bytes));
    KM_TRY(view_doubles(reader->ctx, n, bytes, out));
    for (size_t i = 0; i < n; i += KM_CODEC_CHUNK)
    {
        KM_TRY(km_poll(reader->ctx));
        if (!all_finite(min_size(KM_CODEC_CHUNK, n - i), *out + i))
            return corrupt(reader->ctx, "an array value is not finite");
    }
    return KM_OK;
}

static KmStatus
read_learner(Reader *section, KmModel *model)
{
    return take_text(section, section->left, &model->learner);
}

static KmStatus
read_sizes(Reader *section, KmModel *model)
{
    uint64_t features;

    KM_TRY(take_unsigned(section, 8, &model->n_rows));
    KM_TRY(take_unsigned(section, 8, &model->n_skipped));
    KM_TRY(take_unsigned(section, 8, &features));
    if (features == 0 || features > KM_MODEL_MAX_FEATURES)
        return corrupt(section->ctx, "the number of features is out of range");
    model->n_features = features;
    return KM_OK;
}

/* The number of what has none: written as 0. */
static bool
is_no_number(double number)
{
    return number == 0 && !signbit(number);
}

static KmStatus
read_label(Reader *section, KmClasses *classes, size_t i)
{
    uint64_t length;
    double number;

    KM_TRY(take_double(section, &number));
    KM_TRY(take_unsigned(section, 8, &length));
    KM_TRY(take_text(section, length, &classes->text[i]));
    if (classes->kind == KM_LABEL_TEXT && !is_no_number(number))
        return corrupt(section->ctx, "a text label has a number");
    classes->number[i] = classes->kind == KM_LABEL_TEXT ? NAN : number;
    return KM_OK;
}

static KmStatus
read_classes(Reader *section, KmModel *model)
{
    KmClasses *classes = &model->classes;
    uint64_t kind, n;

    KM_TRY(take_unsigned(section, 4, &kind));
    KM_TRY(take_zeros(section, 4));
    KM_TRY(take_unsigned(section, 8, &n));
    if (kind > KM_LABEL_BOOL)
        return corrupt(section->ctx, "a kind of labels is unknown");
    if (n == 0 || n > section->left / 16)
        return corrupt(section->ctx, "the number of classes is out of range");
    classes->kind = kind;
    classes->n = n;
    KM_TRY(km_alloc(section->ctx, n, &classes->text));
    KM_TRY(km_alloc(section->ctx, n, &classes->number));
    for (size_t i = 0; i < n; i++)
        KM_TRY(read_label(section, classes, i));
    return KM_OK;
}

static KmStatus
read_array(Reader *section, KmModel *model)
{
    uint64_t rows, columns, length;
    const char *name;
    double *data;

    KM_TRY(take_unsigned(section, 8, &rows));
    KM_TRY(take_unsigned(section, 8, &columns));
    KM_TRY(take_unsigned(section, 8, &length));
    KM_TRY(take_name(section, length, &name));
    KM_TRY(take_zeros(section, -length % 8));
    if (rows > UINT32_MAX || columns > UINT32_MAX || rows * columns > section->left / 8)
        return corrupt(section->ctx, "an array is larger than its section");
    if (km_model_array(model, name))
        return corrupt(section->ctx, "two arrays have the same name");
    KM_TRY(take_doubles(section, rows * columns, &data));
    return km_model_add_array(section->ctx, model, name, rows, columns, data);
}

/* Counts are exact integers and truth values 0 or 1, so that readers may convert them. */
static bool
is_valid_fact(uint64_t kind, double number, uint64_t text_length)
{
    if (kind != KM_FACT_TEXT && text_length > 0)
        return false;
    if (kind == KM_FACT_COUNT)
        return number >= 0 && number <= 0x1p53 && number == floor(number);
    if (kind == KM_FACT_BOOL)
        return number == 0 || number == 1;
    return kind == KM_FACT_NUMBER || (kind == KM_FACT_TEXT && is_no_number(number));
}

static KmStatus
read_fact(Reader *section, KmModel *model)
{
    uint64_t kind, name_length, text_length;
    double number;
    const char *name, *text;

    KM_TRY(take_unsigned(section, 8, &kind));
    KM_TRY(take_double(section, &number));
    KM_TRY(take_unsigned(section, 8, &name_length));
    KM_TRY(take_unsigned(section, 8, &text_length));
    KM_TRY(take_name(section, name_length, &name));
    KM_TRY(take_text(section, text_length, &text));
    if (!is_valid_fact(kind, number, text_length) || km_model_fact(model, name))
        return corrupt(section->ctx, "a fact about it is not valid");
    if (kind == KM_FACT_TEXT)
        return km_model_add_text(section->ctx, model, name, text);
    return km_model_add_fact(section->ctx, model, name, kind, number);
}

typedef struct SectionType
{
    char tag[5];
    bool once;
    KmStatus (*read)(Reader *section, KmModel *model);
} SectionType;

static const SectionType section_types[] = {
    {"LRNR", true, read_learner},
    {"SIZE", true, read_sizes},
    {"CLAS", true, read_classes},
    {"ARRY", false, read_array},
    {"FACT", false, read_fact}
};

#define N_SECTION_TYPES (sizeof section_types / sizeof section_types[0])
#define REQUIRED 3u             /* bits of LRNR and SIZE */

/* Fail where bytes are left that a reader of this version should know. */
static KmStatus
check_end(const Reader *section, bool newer)
{
    return section->left == 0 || newer ? KM_OK : corrupt(section->ctx, "a section is too long");
}

/* Read one section with its header; *seen has a bit for each type that was read. */
static KmStatus
read_section(Reader *reader, bool newer, KmModel *model, unsigned *seen)
{
    unsigned char *tag;
    Reader section = {.ctx = reader->ctx};
    uint64_t length;

    KM_TRY(take_bytes(reader, 4, &tag));
    KM_TRY(take_zeros(reader, 4));
    KM_TRY(take_unsigned(reader, 8, &length));
    KM_TRY(take_bytes(reader, length, &section.p));
    KM_TRY(take_zeros(reader, -length % 8));
    section.left = length;

    for (size_t i = 0; i < N_SECTION_TYPES; i++)
    {
        const SectionType *type = &section_types[i];

        if (memcmp(type->tag, tag, 4) != 0)
            continue;
        if (type->once && *seen >> i & 1)
            return corrupt(reader->ctx, "a section stands twice");
        *seen |= 1u << i;
        KM_TRY(type->read(&section, model));
        return check_end(&section, newer);
    }
    return newer ? KM_OK : corrupt(reader->ctx, "a section is unknown");
}

/* ---- the header ---- */

typedef struct Header
{
    unsigned minor;             /* of the format that the bytes are in */
    uint32_t head_crc, tail_crc;
    size_t head;                /* bytes of the head, with the header */
} Header;

static KmStatus
check_version(KmContext *ctx, unsigned major, unsigned minor)
{
    if (major == KM_FORMAT_MAJOR)
        return KM_OK;
    if (major < KM_FORMAT_MAJOR)
        return corrupt(ctx, "its format version is unknown");
    km_fail(ctx, KM_UNSUPPORTED, "model has format version %u.%u, but this kernelml reads up to %d.%d",
            major, minor, KM_FORMAT_MAJOR, KM_FORMAT_MINOR);
    return km_hint(ctx, KM_UNSUPPORTED, "Update kernelml, or fit the model again.");
}

/* Of a model of total bytes. */
static KmStatus
read_header(KmContext *ctx, const unsigned char *bytes, size_t total, Header *out)
{
    uint64_t said, head;

    if (total < KM_MODEL_HEADER_BYTES || memcmp(bytes, KM_CODEC_MAGIC, sizeof KM_CODEC_MAGIC - 1) != 0)
        return km_fail(ctx, KM_CORRUPT, "value is not a kernelml model");
    out->minor = (unsigned) read_unsigned(bytes + 6, 2);
    KM_TRY(check_version(ctx, (unsigned) read_unsigned(bytes + 4, 2), out->minor));
    said = read_unsigned(bytes + 8, 8);
    if (said != total)
    {
        corrupt(ctx, "its length is wrong");
        return km_detail(ctx, KM_CORRUPT, "The model says %llu bytes, the value has %zu.",
                         (unsigned long long) said, total);
    }
    out->head_crc = (uint32_t) read_unsigned(bytes + 16, 4);
    out->tail_crc = (uint32_t) read_unsigned(bytes + 20, 4);
    head = read_unsigned(bytes + 24, 8);
    if (head < KM_MODEL_HEADER_BYTES || head > total)
        return corrupt(ctx, "the length of its head is wrong");
    if (head == total && out->tail_crc != 0)
        return corrupt(ctx, "its checksum is wrong");
    out->head = head;
    return KM_OK;
}

static KmStatus
check_sum(KmContext *ctx, const unsigned char *bytes, size_t from, size_t to, uint32_t expected)
{
    uint32_t crc;

    KM_TRY(km_codec_checksum(ctx, bytes, from, to, &crc));
    return crc == expected ? KM_OK : corrupt(ctx, "its checksum is wrong");
}

KmStatus
km_model_head_bytes(KmContext *ctx, const unsigned char *bytes, size_t total, size_t *out)
{
    Header header;

    KM_TRY(read_header(ctx, bytes, total, &header));
    *out = header.head;
    return KM_OK;
}

/* ---- head and tail ---- */

static KmStatus
read_head(KmContext *ctx, unsigned char *bytes, const Header *header, KmModel **out)
{
    Reader reader = {.ctx = ctx, .p = bytes + KM_MODEL_HEADER_BYTES,
                     .left = header->head - KM_MODEL_HEADER_BYTES};
    unsigned seen = 0;

    KM_TRY(check_sum(ctx, bytes, KM_MODEL_HEADER_BYTES, header->head, header->head_crc));
    KM_TRY(km_model_create(ctx, out));
    while (reader.left > 0)
        KM_TRY(read_section(&reader, header->minor > KM_FORMAT_MINOR, *out, &seen));
    return (seen & REQUIRED) == REQUIRED ? KM_OK : corrupt(ctx, "a section is missing");
}

/* Arrays only, of this version. */
static KmStatus
read_tail(KmContext *ctx, unsigned char *bytes, size_t length, const Header *header, KmModel *model)
{
    Reader reader = {.ctx = ctx, .p = bytes + header->head, .left = length - header->head};
    bool newer = header->minor > KM_FORMAT_MINOR;

    KM_TRY(check_sum(ctx, bytes, header->head, length, header->tail_crc));
    while (reader.left > 0)
    {
        size_t n = model->n_arrays;
        unsigned seen = REQUIRED;

        KM_TRY(read_section(&reader, newer, model, &seen));
        if (model->n_arrays > n)
            model->array[n].tail = true;
        else if (!newer)
            return corrupt(ctx, "its tail has more than arrays");
    }
    return KM_OK;
}

KmStatus
km_model_decode(KmContext *ctx, unsigned char *bytes, size_t length, KmModel **out)
{
    Header header;

    KM_TRY(read_header(ctx, bytes, length, &header));
    KM_TRY(read_head(ctx, bytes, &header, out));
    return read_tail(ctx, bytes, length, &header, *out);
}

KmStatus
km_model_decode_head(KmContext *ctx, unsigned char *head, size_t total, KmModel **out)
{
    Header header;

    KM_TRY(read_header(ctx, head, total, &header));
    return read_head(ctx, head, &header, out);
}
