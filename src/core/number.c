/*
 * number.c: double to shortest decimal text and back, whatever the locale.
 *
 * The C library does the exact conversions, but only ever sees or shows whole
 * decimals such as "125e-3", in which no locale changes anything.
 */
#include "context.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascii.h"

/* digits * 10^exponent */
typedef struct Decimal
{
    uint64_t digits;
    int exponent;
} Decimal;

/* ---- printing ---- */

#define MAX_POWER 22            /* 10^22 is the last that a double holds exactly */

/* Whole digits up to 2^53 and exact powers of ten: one operation rounds correctly (Clinger 1990). */
static double
decimal_value(Decimal decimal)
{
    static const double power[MAX_POWER + 1] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21, 1e22
    };
    char text[KM_NUMBER_SIZE];

    if (decimal.digits <= UINT64_C(1) << 53 && abs(decimal.exponent) <= MAX_POWER)
        return decimal.exponent < 0 ? (double) decimal.digits / power[-decimal.exponent]
            : (double) decimal.digits * power[decimal.exponent];
    snprintf(text, sizeof text, "%" PRIu64 "e%d", decimal.digits, decimal.exponent);
    return strtod(text, NULL);
}

/* The nearest decimal of `precision` significant digits, for value > 0. */
static Decimal
decimal_nearest(double value, int precision)
{
    char text[KM_NUMBER_SIZE];
    const char *c;
    Decimal decimal = {0, 0};

    snprintf(text, sizeof text, "%.*e", precision - 1, value);
    for (c = text; *c != 'e'; c++)      /* skips the locale's decimal point */
        if (km_is_digit(*c))
            decimal.digits = 10 * decimal.digits + (uint64_t) (*c - '0');
    decimal.exponent = atoi(c + 1) - (precision - 1);
    return decimal;
}

/* 15 digits are enough to recover any decimal of up to 15 digits from a normal
 * double, so nothing shorter than the 15-digit form (less its zeros) exists. At a
 * power of two the spacing is wider above: the nearest of 16 digits may fall
 * short where the next one reads back. */
static Decimal
decimal_shortest(double value)
{
    int precision = value < DBL_MIN ? 1 : DBL_DIG;
    Decimal decimal = decimal_nearest(value, precision);

    while (precision < DBL_DECIMAL_DIG && decimal_value(decimal) != value)
    {
        decimal.digits++;
        if (precision > DBL_DIG && decimal_value(decimal) == value)
            break;
        decimal = decimal_nearest(value, ++precision);
    }
    while (decimal.digits % 10 == 0)
    {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    return decimal;
}

/* Plain notation for 1e-4 <= value < 1e15, as PostgreSQL prints, else d.ddde+XX. */
static size_t
decimal_print(Decimal decimal, char *out)
{
    char digits[KM_NUMBER_SIZE];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, decimal.digits);
    int leading = decimal.exponent + n - 1;     /* decimal exponent of the first digit */

    if (leading < -4 || leading >= 15)
        return (size_t) snprintf(out, KM_NUMBER_SIZE - 1, "%c%s%se%+03d", digits[0], n > 1 ? "." : "",
                                 digits + 1, leading);
    if (leading < 0)
        return (size_t) snprintf(out, KM_NUMBER_SIZE - 1, "0.%.*s%s", -leading - 1, "000", digits);
    return (size_t) snprintf(out, KM_NUMBER_SIZE - 1, "%.*s.%s", leading + 1, digits, digits + leading + 1);
}

size_t
km_number_print(double value, char *out)
{
    if (isnan(value))
        return (size_t) snprintf(out, KM_NUMBER_SIZE, "nan");
    if (isinf(value))
        return (size_t) snprintf(out, KM_NUMBER_SIZE, value > 0 ? "inf" : "-inf");
    if (fabs(value) < 1e15 && value == floor(value))
        return (size_t) snprintf(out, KM_NUMBER_SIZE, "%.0f", value);
    if (value < 0)
    {
        *out = '-';
        return 1 + decimal_print(decimal_shortest(-value), out + 1);
    }
    return decimal_print(decimal_shortest(value), out);
}

/* ---- reading ---- */

/* 767 significant digits decide how any decimal rounds; of more, it only matters
 * whether one of them is not 0. */
#define MAX_DIGITS 770
#define MAX_EXPONENT 99999

typedef struct Scan
{
    const char *at, *end;
    size_t n;                   /* significant digits kept */
    long long exponent;
    bool seen;                  /* any digit, significant or not */
    bool rest;                  /* a digit other than 0 was dropped */
    char digits[MAX_DIGITS + 16];
} Scan;

/* Digits before the point (step 1) or after it (step 0): the power of ten that one
 * more digit moves, when it is dropped. */
static void
scan_digits(Scan *scan, int step)
{
    for (; scan->at < scan->end && km_is_digit(*scan->at); scan->at++)
    {
        scan->seen = true;
        if (scan->n < MAX_DIGITS)
        {
            if (scan->n > 0 || *scan->at != '0')
                scan->digits[scan->n++] = *scan->at;
            scan->exponent += step - 1;
        }
        else
        {
            scan->rest = scan->rest || *scan->at != '0';
            scan->exponent += step;
        }
    }
}

/* An exponent belongs to the number only if it has digits: "2e" is 2, then "e". */
static void
scan_exponent(Scan *scan)
{
    const char *c = scan->at;
    bool minus;
    long long exponent = 0;

    if (c == scan->end || km_to_lower(*c) != 'e')
        return;
    c++;
    minus = c < scan->end && *c == '-';
    if (c < scan->end && (*c == '-' || *c == '+'))
        c++;
    if (c == scan->end || !km_is_digit(*c))
        return;
    for (; c < scan->end && km_is_digit(*c); c++)
        if (exponent < (1LL << 40))     /* far beyond any length of text */
            exponent = 10 * exponent + (*c - '0');
    scan->exponent += minus ? -exponent : exponent;
    scan->at = c;
}

/* Up to 15 digits and powers up to 10^22 are exact in double, so that one operation
 * rounds correctly (Clinger 1990). */
static bool
scan_value_exact(const Scan *scan, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t digits = 0;

    if (scan->n > DBL_DIG || llabs(scan->exponent) > 22)
        return false;
    for (size_t i = 0; i < scan->n; i++)
        digits = 10 * digits + (uint64_t) (scan->digits[i] - '0');
    *out = scan->exponent < 0 ? (double) digits / powers[-scan->exponent]
                              : (double) digits * powers[scan->exponent];
    return true;
}

static double
scan_value(Scan *scan)
{
    double value;
    long long exponent = scan->exponent;

    if (scan->n == 0)
        return 0;
    if (scan_value_exact(scan, &value))
        return value;
    if (scan->rest)
    {
        scan->digits[scan->n++] = '1';
        exponent--;
    }
    exponent = exponent > MAX_EXPONENT ? MAX_EXPONENT : exponent < -MAX_EXPONENT ? -MAX_EXPONENT : exponent;
    snprintf(scan->digits + scan->n, sizeof scan->digits - scan->n, "e%d", (int) exponent);
    return strtod(scan->digits, NULL);
}

static size_t
match_word(const char *text, size_t length, const char *word)
{
    size_t n = strlen(word);

    if (n > length)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (km_to_lower(text[i]) != word[i])
            return 0;
    return n;
}

static size_t
read_infinity(const char *text, size_t length)
{
    size_t n = match_word(text, length, "infinity");

    return n > 0 ? n : match_word(text, length, "inf");
}

size_t
km_number_read(const char *text, size_t length, double *out)
{
    size_t sign = length > 0 && (*text == '-' || *text == '+');
    size_t infinity = read_infinity(text + sign, length - sign);
    double value = INFINITY;
    Scan scan;

    scan.at = text + sign + infinity;
    if (infinity == 0)
    {
        scan.end = text + length;
        scan.n = 0;
        scan.exponent = 0;
        scan.seen = scan.rest = false;
        scan_digits(&scan, 1);
        if (scan.at < scan.end && *scan.at == '.')
        {
            scan.at++;
            scan_digits(&scan, 0);
        }
        if (!scan.seen)
            return 0;
        scan_exponent(&scan);
        value = scan_value(&scan);
    }
    *out = sign && *text == '-' ? -value : value;
    return (size_t) (scan.at - text);
}
