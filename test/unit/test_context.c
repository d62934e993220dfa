/* test_context.c: memory and its accounting, errors, numbers as text. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "context.h"
#include "numbers.h"
#include "text.h"

#define CAP ((size_t) 1 << 20)

static int
set_up(void **state)
{
    *state = km_context_create(CAP);
    return *state == NULL;
}

static int
tear_down(void **state)
{
    km_context_destroy(*state);
    return 0;
}

/* ---- memory ---- */

static void
blocks_are_aligned_and_counted(void **state)
{
    KmContext *ctx = *state;
    double *a;
    char *b, *none;
    size_t with_a;

    assert_int_equal(km_alloc(ctx, 1000, &a), KM_OK);
    with_a = ctx->used_bytes;
    assert_in_range(with_a, 8000, 8000 + 64);
    assert_int_equal(km_alloc(ctx, 1, &b), KM_OK);
    assert_int_equal(km_alloc(ctx, 0, &none), KM_OK);
    assert_non_null(none);
    assert_int_equal((uintptr_t) a % 64, 0);
    assert_int_equal((uintptr_t) b % 64, 0);
    memset(a, 1, 8000);
    km_free(ctx, b);
    km_free(ctx, none);
    km_free(ctx, NULL);
    assert_int_equal(ctx->used_bytes, with_a);
    assert_true(ctx->peak_bytes > with_a);
    km_free(ctx, a);
    assert_int_equal(ctx->used_bytes, 0);
}

static void
shrunk_blocks_keep_their_front(void **state)
{
    KmContext *ctx = *state;
    size_t whole = CAP / 2, front = whole / 3 + 5;
    unsigned char *block, *other;

    assert_int_equal(km_alloc(ctx, whole, &block), KM_OK);
    for (size_t i = 0; i < whole; i++)
        block[i] = (unsigned char) (i % 251);
    km_shrink(ctx, block, front);
    assert_in_range(ctx->used_bytes, front, front + 64);
    for (size_t i = 0; i < front; i++)
        assert_int_equal(block[i], i % 251);
    assert_int_equal(km_alloc(ctx, CAP - front - 256, &other), KM_OK);
    km_free(ctx, other);
    km_free(ctx, block);
    assert_int_equal(ctx->used_bytes, 0);
}

static void
zeroed_memory_is_zero(void **state)
{
    KmContext *ctx = *state;
    unsigned char *a;

    for (int turn = 0; turn < 2; turn++)
    {
        assert_int_equal(km_alloc_zero(ctx, 5000, &a), KM_OK);
        for (size_t i = 0; i < 5000; i++)
            assert_int_equal(a[i], 0);
        memset(a, 255, 5000);
        km_free(ctx, a);
    }
}

static void
cap_holds(void **state)
{
    KmContext *ctx = *state;
    char *a, *b;

    assert_int_equal(km_alloc(ctx, CAP - 64, &a), KM_OK);
    assert_int_equal(km_alloc(ctx, 1, &b), KM_MEMORY);
    assert_non_null(strstr(ctx->message, "1048576"));
    assert_int_equal(ctx->used_bytes, CAP);
    km_free(ctx, a);
    assert_int_equal(km_alloc(ctx, CAP - 63, &a), KM_MEMORY);
    assert_int_equal(km_alloc(ctx, 1, &b), KM_OK);
}

static void
overflow_is_refused(void **state)
{
    KmContext *ctx = *state;
    double *a;

    ctx->max_bytes = SIZE_MAX;
    assert_int_equal(km_alloc(ctx, SIZE_MAX / 8 + 1, &a), KM_MEMORY);
    assert_int_equal(km_alloc(ctx, SIZE_MAX / 8, &a), KM_MEMORY);
    assert_int_equal(km_alloc(ctx, SIZE_MAX / 8 - 8, &a), KM_MEMORY);
    assert_int_equal(km_alloc_zero(ctx, SIZE_MAX / 4, &a), KM_MEMORY);
    assert_int_equal(ctx->used_bytes, 0);
}

static void
reset_frees_everything(void **state)
{
    KmContext *ctx = *state;
    char *a;

    for (int turn = 0; turn < 10; turn++)
    {
        for (int i = 0; i < 100; i++)
            assert_int_equal(km_alloc(ctx, 5000, &a), KM_OK);
        km_free(ctx, a);
        km_context_reset(ctx);
        assert_int_equal(ctx->used_bytes, 0);
    }
}

static void
large_blocks_can_be_used(void **state)
{
    KmContext *ctx = *state;
    char *a;

    ctx->max_bytes = SIZE_MAX;
    assert_int_equal(km_alloc(ctx, 9000000, &a), KM_OK);
    memset(a, 1, 9000000);
    km_free(ctx, a);
}

static void
arena_pieces_do_not_overlap(void **state)
{
    KmContext *ctx = *state;
    KmArena arena = {0};
    unsigned char *piece[300];

    for (size_t i = 0; i < 300; i++)
    {
        assert_int_equal(km_arena_alloc(ctx, &arena, 7 * i, &piece[i]), KM_OK);
        assert_int_equal((uintptr_t) piece[i] % 16, 0);
        for (size_t j = 0; j < 7 * i; j++)
            assert_int_equal(piece[i][j], 0);
        memset(piece[i], (int) (i % 251), 7 * i);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < 7 * i; j++)
            assert_int_equal(piece[i][j], i % 251);
    assert_int_equal(km_arena_bytes(ctx, &arena, SIZE_MAX / 2, 3, (void **) &piece[0]), KM_MEMORY);
}

static void
reserve_compares_with_what_is_left(void **state)
{
    KmContext *ctx = *state;
    char *a;

    assert_int_equal(km_reserve(ctx, CAP, "ridge", NULL), KM_OK);
    assert_int_equal(km_reserve(ctx, CAP + 1.0, "ridge on 7 rows", "Use nystroem."), KM_MEMORY);
    assert_string_equal(ctx->message,
                        "ridge on 7 rows needs 1048577 bytes of memory, over the limit of 1048576");
    assert_string_equal(ctx->detail, "");
    assert_string_equal(ctx->hint, "Use nystroem, or raise kernelml.max_memory.");
    assert_int_equal(km_reserve(ctx, CAP + 1.0, "ridge", "Use it, or raise kernelml.max_memory."), KM_MEMORY);
    assert_string_equal(ctx->hint, "Use it, or raise kernelml.max_memory.");
    assert_int_equal(km_alloc(ctx, CAP, &a), KM_MEMORY);
    assert_string_equal(ctx->hint, "Raise kernelml.max_memory.");
    assert_int_equal(km_alloc(ctx, 1000, &a), KM_OK);
    assert_int_equal(km_reserve(ctx, CAP, "ridge", NULL), KM_MEMORY);
    assert_string_equal(ctx->detail, "1064 bytes are in use.");
    assert_int_equal(km_reserve(ctx, NAN, "ridge", NULL), KM_MEMORY);
    assert_int_equal(km_reserve(ctx, 1e300, "ridge", NULL), KM_MEMORY);
}

/* ---- errors ---- */

static void
errors_keep_message_detail_hint(void **state)
{
    KmContext *ctx = *state;

    assert_int_equal(km_fail(ctx, KM_DATA, "row %d", 3), KM_DATA);
    assert_int_equal(km_detail(ctx, KM_DATA, "because %s", "so"), KM_DATA);
    assert_int_equal(km_hint(ctx, KM_DATA, "try"), KM_DATA);
    assert_string_equal(ctx->message, "row 3");
    assert_string_equal(ctx->detail, "because so");
    assert_string_equal(ctx->hint, "try");
    km_fail(ctx, KM_DATA, "fold 2: %s", ctx->message);
    assert_string_equal(ctx->message, "fold 2: row 3");
    assert_string_equal(ctx->detail, "");
    assert_string_equal(ctx->hint, "");
}

static void
long_errors_end_between_characters(void **state)
{
    KmContext *ctx = *state;
    char text[3001];

    for (size_t i = 0; i < 3000; i += 3)
        memcpy(text + i, "\u20ac", 3);
    text[3000] = '\0';
    km_fail(ctx, KM_DATA, "%s", text);
    assert_int_equal(strlen(ctx->message), 510);        /* 511 is no multiple of 3 */
    km_fail(ctx, KM_DATA, "x%s", text);
    assert_int_equal(strlen(ctx->message), 511);
    km_detail(ctx, KM_DATA, "x%s", text);
    assert_int_equal(strlen(ctx->detail), 1021);
}

static void
quotes_are_short(void **state)
{
    static const char *const cases[][2] = {
        {"", ""}, {"iris", "iris"},
        {"123456789 123456789 123456789 123456789 123456789 123456789 123",     /* 63 bytes fit */
         "123456789 123456789 123456789 123456789 123456789 123456789 123"},
        {"123456789 123456789 123456789 123456789 123456789 123456789 1234",
         "123456789 123456789 123456789 123456789 123456789 123456789 ..."},
        {"123456789 123456789 123456789 123456789 123456789 123456789\u20ac123",
         "123456789 123456789 123456789 123456789 123456789 123456789..."}};
    char out[KM_QUOTE_SIZE];

    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(km_quote(cases[i][0], out), cases[i][1]);
    assert_string_equal(km_quote_part(2, "iris", sizeof out, out), "ir");
    assert_string_equal(km_quote_part(4, "iris", 5, out), "iris");
    assert_string_equal(km_quote_part(9, "iris", 4, out), "...");
}

static char warned[600];

static void
keep_warning(KmContext *ctx, const char *message)
{
    (void) ctx;
    snprintf(warned, sizeof warned, "%s", message);
}

static bool
stop(KmContext *ctx)
{
    return ctx->owner != NULL;
}

static void
hooks_are_called(void **state)
{
    KmContext *ctx = *state;

    km_warn(ctx, "nobody listens");
    assert_int_equal(km_poll(ctx), KM_OK);
    ctx->warn = keep_warning;
    km_warn(ctx, "%d iterations", 5);
    assert_string_equal(warned, "5 iterations");
    ctx->poll = stop;
    assert_int_equal(km_poll(ctx), KM_OK);
    ctx->owner = ctx;
    assert_int_equal(km_poll(ctx), KM_CANCELLED);
}

static void
each_status_has_a_text(void **state)
{
    (void) state;
    assert_string_equal(km_status_text(KM_OK), "no error");
    assert_string_equal(km_status_text(KM_INTERNAL), "a defect of the library");
    assert_string_equal(km_status_text(KM_STATUS_COUNT), "unknown status");
}

/* ---- texts ---- */

static void
texts_grow(void **state)
{
    KmContext *ctx = *state;
    KmText text = {0};

    for (int i = 0; i < 2000; i++)
        assert_int_equal(km_text_addf(ctx, &text, "%04d", i), KM_OK);
    assert_int_equal(km_text_add(ctx, &text, "ab\0c", 4), KM_OK);
    assert_int_equal(km_text_add_number(ctx, &text, 0.1), KM_OK);
    assert_int_equal(text.length, 8007);
    assert_memory_equal(text.data + 4 * 1234, "1234", 4);
    assert_memory_equal(text.data + 8000, "ab\0c0.1", 8);
    assert_int_equal(km_text_add(ctx, &text, "", SIZE_MAX), KM_MEMORY);
}

/* ---- numbers ---- */

/* Digits from Python's repr(), notation from PostgreSQL's float8out. */
static void
numbers_print_as_expected(void **state)
{
    static const struct { double value; const char *text; } cases[] = {
        {0, "0"}, {-0.0, "-0"}, {1, "1"}, {-12, "-12"}, {0.1, "0.1"}, {0.1 + 0.2, "0.30000000000000004"},
        {1e-5, "1e-05"}, {1e-4, "0.0001"}, {0.00012345, "0.00012345"}, {123.456, "123.456"}, {-2.5, "-2.5"},
        {123456789012345, "123456789012345"}, {1e14, "100000000000000"}, {1e15, "1e+15"},
        {12345678901234567.0, "1.2345678901234568e+16"}, {123456789012345.6, "123456789012345.6"},
        {1e22, "1e+22"}, {1e23, "1e+23"}, {9007199254740993.0, "9.007199254740992e+15"},
        {0x1p-44, "5.684341886080802e-14"}, {0x1p-1022, "2.2250738585072014e-308"},
        {5e-324, "5e-324"}, {1.5e-323, "1.5e-323"}, {DBL_MAX, "1.7976931348623157e+308"},
        {M_PI, "3.141592653589793"}, {1.0 / 3, "0.3333333333333333"}, {2.0 / 3, "0.6666666666666666"},
        {INFINITY, "inf"}, {-INFINITY, "-inf"}, {NAN, "nan"}};
    char text[KM_NUMBER_SIZE];

    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
        assert_int_equal(km_number_print(cases[i].value, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
}

static size_t
count_digits(const char *text)
{
    size_t n = 0;

    for (; *text != '\0' && *text != 'e'; text++)
        if ((*text >= '1' && *text <= '9') || (*text == '0' && n > 0))
            n++;
    return n;
}

/* Neither neighbour of one digit less reads back. */
static void
assert_shortest(double value, const char *text)
{
    size_t n = count_digits(text);
    char shorter[64];

    if (n < 2 || strchr(text, 'e') == NULL)
        return;
    snprintf(shorter, sizeof shorter, "%.*e", (int) n - 2, value);
    assert_true(strtod(shorter, NULL) != value);
}

static void
random_numbers_read_back(void **state)
{
    uint64_t seed = 7;
    char text[KM_NUMBER_SIZE];

    (void) state;
    for (int i = 0; i < 200000; i++)
    {
        uint64_t bits = next_bits(&seed);
        double value, back;
        size_t length;

        if (i % 3 == 0)
            bits &= 0x800fffffffffffffu;        /* subnormal */
        if (i % 3 == 1)
            value = (double) (int64_t) bits / (double) ((uint64_t) 1 << bits % 60);
        else
            memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        length = km_number_print(value, text);
        assert_int_equal(length, strlen(text));
        assert_true(length < KM_NUMBER_SIZE);
        assert_int_equal(km_number_read(text, length, &back), length);
        assert_memory_equal(&back, &value, sizeof value);
        assert_true(strtod(text, NULL) == value);
        assert_shortest(value, text);
    }
}

/* Random decimals against the C library, which rounds correctly. */
static void
random_decimals_read_as_strtod(void **state)
{
    uint64_t seed = 11;
    char text[1200];

    (void) state;
    for (int i = 0; i < 100000; i++)
    {
        size_t n = 0, digits = next_bits(&seed) % (i % 100 == 0 ? 1000 : 25) + 1;
        size_t point = next_bits(&seed) % (digits + 1);
        double value;

        if (next_bits(&seed) % 2)
            text[n++] = "+-"[next_bits(&seed) % 2];
        for (size_t j = 0; j < digits; j++)
        {
            if (j == point)
                text[n++] = '.';
            text[n++] = (char) ('0' + (next_bits(&seed) % 3 ? next_bits(&seed) % 10 : 0));
        }
        if (next_bits(&seed) % 2)
            n += (size_t) sprintf(text + n, "e%d", (int) (next_bits(&seed) % 700) - 350);
        text[n] = '\0';
        assert_int_equal(km_number_read(text, n, &value), n);
        assert_true(value == strtod(text, NULL));
    }
}

static void
only_numbers_are_read(void **state)
{
    static const struct { const char *text; size_t used; double value; } cases[] = {
        {"", 0, 0}, {"-", 0, 0}, {".", 0, 0}, {"-.e5", 0, 0}, {"e5", 0, 0}, {"abc", 0, 0}, {" 1", 0, 0},
        {"nan", 0, 0},
        {"0x10", 1, 0}, {"1.", 2, 1}, {".5", 2, 0.5}, {"2e", 1, 2}, {"2e+", 1, 2}, {"2e+3x", 4, 2000},
        {"1.5.2", 3, 1.5}, {"1,5", 1, 1}, {"INF", 3, INFINITY}, {"-Infinity", 9, -INFINITY},
        {"info", 3, INFINITY},
        {"1e999", 5, INFINITY}, {"1e-999", 6, 0}, {"1e99999999999999999999", 22, INFINITY},
        {"0e99999999999999999999", 22, 0}, {"0.000e5", 7, 0}};
    double value;

    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
        value = 0;
        assert_int_equal(km_number_read(cases[i].text, strlen(cases[i].text), &value), cases[i].used);
        assert_true(value == cases[i].value);
    }
    assert_int_equal(km_number_read("123", 2, &value), 2);      /* no byte beyond the length is read */
    assert_true(value == 12);
}

/* 2^53 + 1 lies halfway; what follows after 900 zeros decides. */
static void
digits_far_out_decide(void **state)
{
    char text[1100];
    double value;
    size_t n = (size_t) sprintf(text, "9007199254740993.%0900d1", 0);

    (void) state;
    km_number_read(text, n, &value);
    assert_true(value == 9007199254740994.0);
    km_number_read(text, n - 1, &value);
    assert_true(value == 9007199254740992.0);
}

static void
locale_changes_nothing(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    char text[KM_NUMBER_SIZE];
    double value;
    size_t i = 0;

    (void) state;
    while (i < 4 && setlocale(LC_ALL, names[i]) == NULL)
        i++;
    if (i == 4)
        skip();
    km_number_print(0.1, text);
    assert_string_equal(text, "0.1");
    assert_int_equal(km_number_read("12.0000000000000001e-5", 22, &value), 22);
    setlocale(LC_ALL, "C");
    assert_true(value == 12.0000000000000001e-5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_are_aligned_and_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(zeroed_memory_is_zero, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shrunk_blocks_keep_their_front, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cap_holds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(overflow_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reset_frees_everything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_blocks_can_be_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arena_pieces_do_not_overlap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reserve_compares_with_what_is_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_keep_message_detail_hint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_errors_end_between_characters, set_up, tear_down),
        cmocka_unit_test(quotes_are_short),
        cmocka_unit_test_setup_teardown(hooks_are_called, set_up, tear_down),
        cmocka_unit_test(each_status_has_a_text),
        cmocka_unit_test_setup_teardown(texts_grow, set_up, tear_down),
        cmocka_unit_test(numbers_print_as_expected),
        cmocka_unit_test(random_numbers_read_back),
        cmocka_unit_test(random_decimals_read_as_strtod),
        cmocka_unit_test(only_numbers_are_read),
        cmocka_unit_test(digits_far_out_decide),
        cmocka_unit_test(locale_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
