/* ascii.h: character classes that no locale changes. */
#ifndef KM_ASCII_H
#define KM_ASCII_H

#include <stdbool.h>

static inline bool
km_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool
km_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char
km_to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

static inline bool
km_is_name_start(char c)
{
    return c == '_' || (km_to_lower(c) >= 'a' && km_to_lower(c) <= 'z');
}

static inline bool
km_is_name(char c)
{
    return km_is_name_start(c) || km_is_digit(c);
}

/* A byte inside a UTF-8 character, not its first. */
static inline bool
km_is_continuation(char c)
{
    return ((unsigned char) c & 0xC0) == 0x80;
}

#endif
