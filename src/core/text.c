/* text.c: a text buffer that doubles as it grows. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_CAPACITY 128

/* Room for `more` bytes and the NUL. */
static KmStatus
make_room(KmContext *ctx, KmText *text, size_t more)
{
    size_t needed, capacity;
    char *data;

    if (__builtin_add_overflow(text->length, more, &needed) || needed > SIZE_MAX / 4)
        return km_fail(ctx, KM_MEMORY, "text of more than %zu bytes", SIZE_MAX / 4);
    needed++;
    if (needed <= text->capacity)
        return KM_OK;
    capacity = text->capacity == 0 ? FIRST_CAPACITY : 2 * text->capacity;
    if (capacity < needed)
        capacity = needed;
    KM_TRY(km_poll(ctx));
    KM_TRY(km_alloc(ctx, capacity, &data));
    if (text->length > 0)
        memcpy(data, text->data, text->length);
    km_free(ctx, text->data);
    text->data = data;
    text->capacity = capacity;
    return KM_OK;
}

KmStatus
km_text_add(KmContext *ctx, KmText *text, const char *bytes, size_t length)
{
    KM_TRY(make_room(ctx, text, length));
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
    return KM_OK;
}

KmStatus
km_text_addf(KmContext *ctx, KmText *text, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return km_fail(ctx, KM_INTERNAL, "a text could not be formatted");
    KM_TRY(make_room(ctx, text, (size_t) length));
    va_start(args, format);
    vsnprintf(text->data + text->length, (size_t) length + 1, format, args);
    va_end(args);
    text->length += (size_t) length;
    return KM_OK;
}

KmStatus
km_text_add_number(KmContext *ctx, KmText *text, double value)
{
    char digits[KM_NUMBER_SIZE];

    return km_text_add(ctx, text, digits, km_number_print(value, digits));
}
