/* text.h: a growing text buffer in context memory. */
#ifndef KM_TEXT_H
#define KM_TEXT_H

#include "context.h"

typedef struct KmText
{
    char *data;                 /* NUL-terminated once anything was added */
    size_t length;
    size_t capacity;
} KmText;

extern KmStatus km_text_add(KmContext *ctx, KmText *text, const char *bytes, size_t length);
extern KmStatus km_text_addf(KmContext *ctx, KmText *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
extern KmStatus km_text_add_number(KmContext *ctx, KmText *text, double value);

#endif
