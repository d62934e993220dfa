/*
 * test_model.c: models, their bytes, and bytes that are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model.h"
#include "numbers.h"

static double coefficients[] = {1.5, -0.0, 5e-324, 1.7e308, -2.25, 1e-300};
static const char *texts[] = {"", "E'O''Ké è", "NULL"};
static const char *number_texts[] = {"9007199254740993", "1e400"};
static double numbers[] = {9007199254740992.0, INFINITY};

static KmModel *
make_model(KmContext *ctx)
{
    KmModel *model;

    assert_int_equal(km_model_create(ctx, &model), KM_OK);
    model->learner = "scale(mean=[1, 2], sd=[1, 1]) | svc(rbf(gamma=0.5))";
    model->n_rows = UINT64_C(0x123456789a);
    model->n_skipped = 7;
    model->n_features = 2;
    model->classes = (KmClasses) {3, KM_LABEL_TEXT, texts, NULL};
    assert_int_equal(km_model_add_array(ctx, model, "coef", 2, 3, coefficients), KM_OK);
    assert_int_equal(km_model_add_array(ctx, model, "rows", 0, 2, NULL), KM_OK);
    assert_int_equal(km_model_add_array(ctx, model, "intercept", 1, 1, coefficients), KM_OK);
    assert_int_equal(km_model_add_fact(ctx, model, "objective", KM_FACT_NUMBER, -INFINITY), KM_OK);
    assert_int_equal(km_model_add_fact(ctx, model, "n_sv", KM_FACT_COUNT, 3), KM_OK);
    assert_int_equal(km_model_add_fact(ctx, model, "converged", KM_FACT_BOOL, 1), KM_OK);
    assert_int_equal(km_model_add_text(ctx, model, "path", "shrunk"), KM_OK);
    return model;
}

static unsigned char *
encode(KmContext *ctx, const KmModel *model, size_t *length)
{
    unsigned char *bytes;

    *length = km_model_encoded_size(model);
    bytes = malloc(*length);            /* exact, so that a sanitiser sees every overrun */
    assert_int_equal(km_model_encode(ctx, model, bytes), KM_OK);
    return bytes;
}

/* A value known from its definition: RFC 3720, B.4, and others from the reference polynomial division. */
static uint32_t
crc_by_definition(const unsigned char *bytes, size_t length)
{
    uint32_t crc = ~0u;

    for (size_t i = 0; i < length; i++)
    {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

static void
test_crc(void **unused)
{
    unsigned char bytes[300];
    uint64_t seed = 1;

    (void) unused;
    memset(bytes, 0, 32);
    assert_int_equal(km_crc32c(bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, 32);
    assert_int_equal(km_crc32c(bytes, 32), 0x62a8ab43);
    assert_int_equal(km_crc32c("123456789", 9), 0xe3069283);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char) next_bits(&seed);
    for (size_t n = 0; n < sizeof bytes; n++)
    {
        uint32_t expected = crc_by_definition(bytes, n);

        assert_int_equal(km_crc32c(bytes, n), expected);
        assert_int_equal(km_crc32c_by_tables(0, bytes, n), expected);
        assert_int_equal(km_crc32c_extend(km_crc32c(bytes, n / 3), bytes + n / 3, n - n / 3), expected);
    }
}

static void
test_round_trip(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model = make_model(ctx), *back;
    size_t length, again;
    unsigned char *bytes = encode(ctx, model, &length), *second;
    const KmArray *array;

    (void) unused;
    assert_int_equal(length % 8, 0);
    assert_int_equal(km_model_decode(ctx, bytes, length, &back), KM_OK);
    assert_string_equal(back->learner, model->learner);
    assert_true(back->n_rows == model->n_rows && back->n_skipped == 7 && back->n_features == 2);
    assert_int_equal(back->classes.n, 3);
    for (size_t i = 0; i < 3; i++)
    {
        assert_string_equal(back->classes.text[i], texts[i]);
        assert_true(isnan(back->classes.number[i]));
    }
    assert_int_equal(back->n_arrays, 3);
    assert_int_equal(km_model_expect(ctx, back, "coef", 2, 3, &array), KM_OK);
    assert_memory_equal(array->data, coefficients, sizeof coefficients);
    assert_int_equal((uintptr_t) array->data % sizeof(double), 0);
    assert_int_equal(km_model_expect(ctx, back, "rows", 0, SIZE_MAX, &array), KM_OK);
    assert_true(km_model_fact(back, "objective")->number == -INFINITY);
    assert_string_equal(km_model_fact(back, "path")->text, "shrunk");
    assert_null(km_model_fact(back, "loo_mse"));

    second = encode(ctx, back, &again);
    assert_int_equal(again, length);
    assert_memory_equal(second, bytes, length);
    free(bytes);
    free(second);
    km_context_destroy(ctx);
}

static void
test_numeric_labels_and_no_labels(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model = make_model(ctx), *back;
    size_t length;
    unsigned char *bytes;

    (void) unused;
    model->classes = (KmClasses) {2, KM_LABEL_NUMBER, number_texts, numbers};
    bytes = encode(ctx, model, &length);
    assert_int_equal(km_model_decode(ctx, bytes, length, &back), KM_OK);
    assert_int_equal(back->classes.kind, KM_LABEL_NUMBER);
    assert_string_equal(back->classes.text[0], "9007199254740993");
    assert_memory_equal(back->classes.number, numbers, sizeof numbers);
    free(bytes);
    model->classes.n = 0;
    bytes = encode(ctx, model, &length);
    assert_int_equal(km_model_decode(ctx, bytes, length, &back), KM_OK);
    assert_int_equal(back->classes.n, 0);
    free(bytes);
    km_context_destroy(ctx);
}

/* The layout is fixed, whatever the machine: the smallest model, byte by byte. */
static void
test_bytes_are_fixed(void **unused)
{
    static const unsigned char expected[] =
        "KMLM\1\0\0\0" "\xd0\0\0\0\0\0\0\0" "CRC4CRC4" "\x98\0\0\0\0\0\0\0"
        "LRNR\0\0\0\0" "\5\0\0\0\0\0\0\0" "scale\0\0\0"
        "SIZE\0\0\0\0" "\x18\0\0\0\0\0\0\0" "\2\1\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" "\3\0\0\0\0\0\0\0"
        "ARRY\0\0\0\0" "\x28\0\0\0\0\0\0\0" "\1\0\0\0\0\0\0\0" "\1\0\0\0\0\0\0\0" "\1\0\0\0\0\0\0\0"
        "b\0\0\0\0\0\0\0" "\0\0\0\0\0\0\xf8\x3f"
        "ARRY\0\0\0\0" "\x28\0\0\0\0\0\0\0" "\1\0\0\0\0\0\0\0" "\1\0\0\0\0\0\0\0" "\4\0\0\0\0\0\0\0"
        "tail\0\0\0\0" "\0\0\0\0\0\0\xf8\x3f";
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model;
    size_t length;
    unsigned char *bytes;
    const size_t head = 0x98;
    uint32_t crc[] = {crc_by_definition(expected + 32, head - 32),
                      crc_by_definition(expected + head, sizeof expected - 1 - head)};

    (void) unused;
    assert_int_equal(km_model_create(ctx, &model), KM_OK);
    model->learner = "scale";
    model->n_rows = 258;
    model->n_features = 3;
    assert_int_equal(km_model_add_tail(ctx, model, "tail", 1, 1, coefficients), KM_OK);
    assert_int_equal(km_model_add_array(ctx, model, "b", 1, 1, coefficients), KM_OK);
    bytes = encode(ctx, model, &length);
    assert_int_equal(length, sizeof expected - 1);
    assert_memory_equal(bytes, expected, 16);
    assert_memory_equal(bytes + 24, expected + 24, length - 24);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(bytes[16 + i], crc[i / 4] >> 8 * (i % 4) & 255);
    free(bytes);
    km_context_destroy(ctx);
}

/* The head alone gives the same model without the arrays of the tail, whatever has become of that. */
static void
test_head_alone(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model = make_model(ctx), *back;
    size_t length, head;
    unsigned char *bytes, *part;

    (void) unused;
    assert_int_equal(km_model_add_tail(ctx, model, "factor", 1, 6, coefficients), KM_OK);
    assert_int_equal(km_model_add_fact(ctx, model, "late", KM_FACT_COUNT, 1), KM_OK);
    bytes = encode(ctx, model, &length);
    assert_int_equal(km_model_head_bytes(ctx, bytes, length, &head), KM_OK);
    assert_in_range(head, 33, length - 6 * 8);
    part = malloc(head);
    memcpy(part, bytes, head);
    assert_int_equal(km_model_decode_head(ctx, part, length, &back), KM_OK);
    assert_int_equal(back->n_arrays, 3);
    assert_non_null(km_model_fact(back, "late"));
    assert_int_equal(km_model_decode_head(ctx, part, head, &back), KM_CORRUPT);
    bytes[length - 1] ^= 1;
    assert_int_equal(km_model_decode_head(ctx, bytes, length, &back), KM_OK);
    assert_int_equal(km_model_decode(ctx, bytes, length, &back), KM_CORRUPT);
    bytes[length - 1] ^= 1;
    assert_int_equal(km_model_decode(ctx, bytes, length, &back), KM_OK);
    assert_int_equal(back->n_arrays, 4);
    assert_true(km_model_array(back, "factor")->tail);
    assert_memory_equal(km_model_array(back, "factor")->data, coefficients, sizeof coefficients);
    free(part);
    free(bytes);
    km_context_destroy(ctx);
}

/* Every truncation is refused; so is every change of a byte, but for the minor version. */
static void
test_damage_is_detected(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model = make_model(ctx), *back;
    size_t length;
    unsigned char *bytes = encode(ctx, model, &length);

    (void) unused;
    for (size_t n = 0; n < length; n++)
    {
        unsigned char *part = malloc(n + 1);

        memcpy(part, bytes, n);
        assert_int_equal(km_model_decode(ctx, part, n, &back), KM_CORRUPT);
        free(part);
    }
    for (size_t i = 0; i < length; i++)
        for (unsigned change = 1; change < 256; change++)
        {
            KmStatus status;

            bytes[i] ^= change;
            status = km_model_decode(ctx, bytes, length, &back);
            if (i == 6 || i == 7)
                assert_int_equal(status, KM_OK);
            else
                assert_true(status == KM_CORRUPT || (status == KM_UNSUPPORTED && (i == 4 || i == 5)));
            bytes[i] ^= change;
        }
    free(bytes);
    km_context_destroy(ctx);
}

static void
put(unsigned char *out, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++)
        out[i] = (unsigned char) (value >> 8 * i);
}

/* Lengths and checksums that are right for bytes that were changed. */
static void
set_header(unsigned char *bytes, size_t head, size_t length)
{
    put(bytes + 8, 8, length);
    put(bytes + 16, 4, crc_by_definition(bytes + 32, head - 32));
    put(bytes + 20, 4, crc_by_definition(bytes + head, length - head));
    put(bytes + 24, 8, head);
}

/* With the checksum made right again, changed bytes give a model or an error, never more memory
 * than a few times their length; and a model that is read is written as the same bytes. */
static void
test_forged_bytes(void **unused)
{
    static const unsigned char values[] = {0, 1, 2, 3, 7, 8, 127, 128, 254, 255};
    KmContext *ctx = km_context_create(1 << 20);
    KmModel *model = make_model(ctx), *back;
    size_t length, head;
    unsigned char *bytes;
    unsigned accepted = 0, refused = 0;

    (void) unused;
    assert_int_equal(km_model_add_tail(ctx, model, "factor", 1, 2, coefficients), KM_OK);
    bytes = encode(ctx, model, &length);
    assert_int_equal(km_model_head_bytes(ctx, bytes, length, &head), KM_OK);
    for (size_t i = 32; i < length; i++)
        for (size_t v = 0; v < sizeof values; v++)
        {
            unsigned char kept = bytes[i];

            bytes[i] = values[v];
            set_header(bytes, head, length);
            km_context_reset(ctx);
            if (km_model_decode(ctx, bytes, length, &back) == KM_OK)
            {
                size_t again;
                unsigned char *second = encode(ctx, back, &again);

                assert_int_equal(again, length);
                assert_memory_equal(second, bytes, length);
                free(second);
                accepted++;
            }
            else
                refused++;
            bytes[i] = kept;
        }
    assert_true(accepted > 100 && refused > 100);
    free(bytes);
    km_context_destroy(ctx);
}

static void
test_versions(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model = make_model(ctx), *back;
    size_t length;
    unsigned char *bytes = encode(ctx, model, &length), *longer = malloc(length + 24);
    static const unsigned char section[24] = "NEWS\0\0\0\0\3\0\0\0\0\0\0\0abc";

    (void) unused;
    bytes[4] = KM_FORMAT_MAJOR + 1;
    bytes[6] = 9;
    assert_int_equal(km_model_decode(ctx, bytes, length, &back), KM_UNSUPPORTED);
    assert_non_null(strstr(ctx->message, "2.9"));
    assert_non_null(strstr(ctx->message, "1.0"));

    bytes[4] = KM_FORMAT_MAJOR;
    memcpy(longer, bytes, length);
    memcpy(longer + length, section, 24);
    for (size_t in_tail = 0; in_tail < 2; in_tail++)
    {
        set_header(longer, in_tail ? length : length + 24, length + 24);
        longer[6] = 9;
        assert_int_equal(km_model_decode(ctx, longer, length + 24, &back), KM_OK);
        assert_int_equal(back->n_arrays, 3);
        longer[6] = KM_FORMAT_MINOR;
        assert_int_equal(km_model_decode(ctx, longer, length + 24, &back), KM_CORRUPT);
    }
    free(bytes);
    free(longer);
    km_context_destroy(ctx);
}

static void
test_values_must_be_finite(void **unused)
{
    static double values[] = {1, NAN, 3};
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model = make_model(ctx), *back;
    size_t length;
    unsigned char *bytes;

    (void) unused;
    assert_int_equal(km_model_add_array(ctx, model, "bad", 3, 1, values), KM_OK);
    bytes = encode(ctx, model, &length);
    assert_int_equal(km_model_decode(ctx, bytes, length, &back), KM_CORRUPT);
    assert_non_null(strstr(ctx->message, "finite"));
    free(bytes);
    km_context_destroy(ctx);
}

static void
test_expect(void **unused)
{
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model = make_model(ctx);
    const KmArray *array;

    (void) unused;
    assert_int_equal(km_model_expect(ctx, model, "coef", SIZE_MAX, SIZE_MAX, &array), KM_OK);
    assert_int_equal(km_model_expect(ctx, model, "coef", 3, 3, &array), KM_CORRUPT);
    assert_non_null(strstr(ctx->message, "\"coef\""));
    assert_int_equal(km_model_expect(ctx, model, "coef", 2, 2, &array), KM_CORRUPT);
    assert_int_equal(km_model_expect(ctx, model, "dual", SIZE_MAX, SIZE_MAX, &array), KM_CORRUPT);
    assert_non_null(strstr(ctx->message, "\"dual\""));
    km_context_destroy(ctx);
}

static void
test_many_arrays(void **unused)
{
    static char names[KM_MODEL_MAX_ITEMS][8];
    KmContext *ctx = km_context_create(SIZE_MAX);
    KmModel *model, *back;
    size_t length;
    unsigned char *bytes;

    (void) unused;
    assert_int_equal(km_model_create(ctx, &model), KM_OK);
    model->n_features = 1;
    for (size_t i = 0; i < KM_MODEL_MAX_ITEMS; i++)
    {
        snprintf(names[i], sizeof names[i], "a%zu", i);
        assert_int_equal(km_model_add_array(ctx, model, names[i], 1, 1, coefficients), KM_OK);
    }
    assert_int_equal(km_model_add_array(ctx, model, "more", 1, 1, coefficients), KM_LIMIT);
    bytes = encode(ctx, model, &length);
    assert_int_equal(km_model_decode(ctx, bytes, length, &back), KM_OK);
    assert_string_equal(back->array[KM_MODEL_MAX_ITEMS - 1].name, names[KM_MODEL_MAX_ITEMS - 1]);
    free(bytes);
    km_context_destroy(ctx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_numeric_labels_and_no_labels),
        cmocka_unit_test(test_bytes_are_fixed),
        cmocka_unit_test(test_head_alone),
        cmocka_unit_test(test_damage_is_detected),
        cmocka_unit_test(test_forged_bytes),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_values_must_be_finite),
        cmocka_unit_test(test_expect),
        cmocka_unit_test(test_many_arrays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
