/* libsvm_scan.c: words, numbers and elements of LIBSVM's texts (see libsvm_scan.h). */
#include "libsvm_scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "sizes.h"

#define SHOWN 40                /* bytes of a word in a message */

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

KmWord
km_scan_word(KmScan *scan)
{
    KmWord word;

    while (scan->at < scan->end && is_blank(*scan->at))
        scan->at++;
    word.text = scan->at;
    while (scan->at < scan->end && !is_blank(*scan->at) && *scan->at != '\n')
        scan->at++;
    word.length = (size_t) (scan->at - word.text);
    return word;
}

bool
km_scan_line(KmScan *scan)
{
    const char *newline = memchr(scan->at, '\n', (size_t) (scan->end - scan->at));

    if (newline == NULL)
    {
        scan->at = scan->end;
        return false;
    }
    scan->at = newline + 1;
    scan->line++;
    return true;
}

bool
km_word_is(KmWord word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

KmStatus
km_scan_fail(const KmScan *scan, const char *format, ...)
{
    char message[300];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return km_fail(scan->ctx, KM_SYNTAX, "line %zu: %s", scan->line, message);
}

/* A word as a message may show it: its first bytes, others than plain ones as '?'. */
static KmStatus
fail_word(const KmScan *scan, KmWord word, const char *what)
{
    char shown[SHOWN + 1];
    size_t n = min_size(word.length, SHOWN);

    for (size_t i = 0; i < n; i++)
        shown[i] = word.text[i] >= ' ' && word.text[i] <= '~' ? word.text[i] : '?';
    shown[n] = '\0';
    return km_scan_fail(scan, "\"%s\" is no %s", shown, what);
}

KmStatus
km_scan_number(const KmScan *scan, KmWord word, double *out)
{
    if (word.length == 0)
        return km_scan_fail(scan, "a number is missing");
    if (km_number_read(word.text, word.length, out) != word.length || !isfinite(*out))
        return fail_word(scan, word, "finite number");
    return KM_OK;
}

KmStatus
km_scan_whole(const KmScan *scan, KmWord word, double least, double most, double *out)
{
    KM_TRY(km_scan_number(scan, word, out));
    if (*out != floor(*out) || *out < least || *out > most)
        return km_scan_fail(scan, "%g is no whole number from %.0f to %.0f", *out, least, most);
    return KM_OK;
}

KmStatus
km_scan_element(const KmScan *scan, KmWord word, size_t *index, double *value)
{
    const char *colon = memchr(word.text, ':', word.length);
    KmWord left, right;
    double number;

    if (colon == NULL)
        return fail_word(scan, word, "index:value");
    left = (KmWord) {word.text, (size_t) (colon - word.text)};
    right = (KmWord) {colon + 1, word.length - left.length - 1};
    KM_TRY(km_scan_whole(scan, left, 0, (double) KM_MODEL_MAX_FEATURES, &number));
    KM_TRY(km_scan_number(scan, right, value));
    *index = (size_t) number;
    return KM_OK;
}
