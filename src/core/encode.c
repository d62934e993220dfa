/*
 * encode.c: a model to bytes; model.h has the format.
 *
 * Byte order is written out, so that every machine reads every model.  One description of
 * each section serves to measure and to write: a writer without output only counts.
 */
#include "codec.h"

#include <string.h>

#include "bits.h"
#include "sizes.h"

#define SECTION_BYTES 16        /* of a section's own header */

typedef struct Writer
{
    KmContext *ctx;             /* NULL while counting */
    unsigned char *out;         /* NULL: only count */
    size_t at;
} Writer;

static void
write_unsigned(unsigned char *out, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++)
        out[i] = (unsigned char) (value >> 8 * i);
}

static void
put_unsigned(Writer *writer, size_t width, uint64_t value)
{
    if (writer->out)
        write_unsigned(writer->out + writer->at, width, value);
    writer->at += width;
}

static void
put_bytes(Writer *writer, const void *bytes, size_t length)
{
    if (writer->out && length)
        memcpy(writer->out + writer->at, bytes, length);
    writer->at += length;
}

static void
put_padding(Writer *writer)
{
    put_unsigned(writer, -writer->at % 8, 0);
}

static void
put_double(Writer *writer, double value)
{
    put_unsigned(writer, 8, km_bits_of(value));
}

/* The bytes of numbers in memory are those of the format on most machines. */
static void
copy_doubles(size_t n, const double *values, unsigned char *out)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(out, values, n * sizeof *values);
#else
    Writer writer = {.out = out};

    for (size_t i = 0; i < n; i++)
        put_double(&writer, values[i]);
#endif
}

static KmStatus
put_doubles(Writer *writer, size_t n, const double *values)
{
    for (size_t i = 0; i < n && writer->out != NULL; i += KM_CODEC_CHUNK)
    {
        KM_TRY(km_poll(writer->ctx));
        copy_doubles(min_size(KM_CODEC_CHUNK, n - i), values + i,
                     writer->out + writer->at + i * sizeof *values);
    }
    writer->at += n * sizeof *values;
    return KM_OK;
}

/* Start a section; returns its place for end_section(), which fills in the length. */
static size_t
begin_section(Writer *writer, const char *tag)
{
    size_t start = writer->at;

    put_bytes(writer, tag, 4);
    put_unsigned(writer, 4, 0);
    put_unsigned(writer, 8, 0);
    return start;
}

static void
end_section(Writer *writer, size_t start)
{
    if (writer->out)
        write_unsigned(writer->out + start + 8, 8, writer->at - start - SECTION_BYTES);
    put_padding(writer);
}

static void
put_learner(Writer *writer, const KmModel *model)
{
    size_t start = begin_section(writer, "LRNR");

    put_bytes(writer, model->learner, strlen(model->learner));
    end_section(writer, start);
}

static void
put_sizes(Writer *writer, const KmModel *model)
{
    size_t start = begin_section(writer, "SIZE");

    put_unsigned(writer, 8, model->n_rows);
    put_unsigned(writer, 8, model->n_skipped);
    put_unsigned(writer, 8, model->n_features);
    end_section(writer, start);
}

static void
put_classes(Writer *writer, const KmClasses *classes)
{
    size_t start;

    if (classes->n == 0)
        return;
    start = begin_section(writer, "CLAS");
    put_unsigned(writer, 4, classes->kind);
    put_unsigned(writer, 4, 0);
    put_unsigned(writer, 8, classes->n);
    for (size_t i = 0; i < classes->n; i++)
    {
        size_t length = strlen(classes->text[i]);

        put_double(writer, classes->kind == KM_LABEL_TEXT ? 0 : classes->number[i]);
        put_unsigned(writer, 8, length);
        put_bytes(writer, classes->text[i], length);
    }
    end_section(writer, start);
}

static KmStatus
put_array(Writer *writer, const KmArray *array)
{
    size_t start = begin_section(writer, "ARRY");
    size_t length = strlen(array->name);

    put_unsigned(writer, 8, array->rows);
    put_unsigned(writer, 8, array->columns);
    put_unsigned(writer, 8, length);
    put_bytes(writer, array->name, length);
    put_padding(writer);
    KM_TRY(put_doubles(writer, array->rows * array->columns, array->data));
    end_section(writer, start);
    return KM_OK;
}

static void
put_fact(Writer *writer, const KmFact *fact)
{
    size_t start = begin_section(writer, "FACT");
    size_t name_length = strlen(fact->name);
    size_t text_length = fact->kind == KM_FACT_TEXT ? strlen(fact->text) : 0;

    put_unsigned(writer, 8, fact->kind);
    put_double(writer, fact->number);
    put_unsigned(writer, 8, name_length);
    put_unsigned(writer, 8, text_length);
    put_bytes(writer, fact->name, name_length);
    put_bytes(writer, fact->text, text_length);
    end_section(writer, start);
}

static KmStatus
put_arrays(Writer *writer, const KmModel *model, bool tail)
{
    for (size_t i = 0; i < model->n_arrays; i++)
        if (model->array[i].tail == tail)
            KM_TRY(put_array(writer, &model->array[i]));
    return KM_OK;
}

/* The header without its lengths and CRCs, then all sections. *head: where the tail begins. */
static KmStatus
put_model(Writer *writer, const KmModel *model, size_t *head)
{
    put_bytes(writer, KM_CODEC_MAGIC, sizeof KM_CODEC_MAGIC - 1);
    put_unsigned(writer, 2, KM_FORMAT_MAJOR);
    put_unsigned(writer, 2, KM_FORMAT_MINOR);
    for (size_t i = 0; i < 3; i++)
        put_unsigned(writer, 8, 0);
    put_learner(writer, model);
    put_sizes(writer, model);
    put_classes(writer, &model->classes);
    KM_TRY(put_arrays(writer, model, false));
    for (size_t i = 0; i < model->n_facts; i++)
        put_fact(writer, &model->fact[i]);
    *head = writer->at;
    return put_arrays(writer, model, true);
}

size_t
km_model_encoded_size(const KmModel *model)
{
    Writer writer = {0};
    size_t head;

    (void) put_model(&writer, model, &head);    /* counting cannot fail */
    return writer.at;
}

KmStatus
km_model_encode(KmContext *ctx, const KmModel *model, unsigned char *out)
{
    Writer writer = {.ctx = ctx, .out = out};
    uint32_t head_crc, tail_crc;
    size_t head;

    KM_TRY(put_model(&writer, model, &head));
    KM_TRY(km_codec_checksum(ctx, out, KM_MODEL_HEADER_BYTES, head, &head_crc));
    KM_TRY(km_codec_checksum(ctx, out, head, writer.at, &tail_crc));
    write_unsigned(out + 8, 8, writer.at);
    write_unsigned(out + 16, 4, head_crc);
    write_unsigned(out + 20, 4, tail_crc);
    write_unsigned(out + 24, 8, head);
    return KM_OK;
}

KmStatus
km_codec_checksum(KmContext *ctx, const unsigned char *bytes, size_t from, size_t to, uint32_t *out)
{
    *out = 0;
    for (size_t at = from; at < to; at += KM_CODEC_CHUNK)
    {
        KM_TRY(km_poll(ctx));
        *out = km_crc32c_extend(*out, bytes + at, min_size(KM_CODEC_CHUNK, to - at));
    }
    return KM_OK;
}
