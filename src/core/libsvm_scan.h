/* libsvm_scan.h: words of lines, numbers, and index:value, as LIBSVM's texts have them. */
#ifndef KM_LIBSVM_SCAN_H
#define KM_LIBSVM_SCAN_H

#include "context.h"

typedef struct KmScan
{
    KmContext *ctx;
    const char *at, *end;
    size_t line;                /* number of the present line, from 1 */
} KmScan;

/* Bytes inside the text, not NUL-terminated. */
typedef struct KmWord
{
    const char *text;
    size_t length;
} KmWord;

/* The next word of the present line; length 0: there is none. */
extern KmWord km_scan_word(KmScan *scan);
/* Go to the next line; false: the text ends. */
extern bool km_scan_line(KmScan *scan);
extern bool km_word_is(KmWord word, const char *text);
/* Fail with KM_SYNTAX: "line 7: …". */
extern KmStatus km_scan_fail(const KmScan *scan, const char *format, ...) __attribute__((format(printf, 2,
                                                                                                3)));
/* A finite number. */
extern KmStatus km_scan_number(const KmScan *scan, KmWord word, double *out);
/* A whole number in [least, most], both below 2^53. */
extern KmStatus km_scan_whole(const KmScan *scan, KmWord word, double least, double most, double *out);
/* "index:value". */
extern KmStatus km_scan_element(const KmScan *scan, KmWord word, size_t *index, double *value);

#endif
