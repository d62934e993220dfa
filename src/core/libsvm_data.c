/* libsvm_data.c: a line of sparse data as features (see libsvm.h). */
#include <string.h>

#include "libsvm.h"
#include "libsvm_scan.h"

static KmStatus
set_feature(const KmScan *scan, size_t d, size_t index, double value, bool *seen, double *out)
{
    if (index == 0)
    {
        km_fail(scan->ctx, KM_INVALID, "index 0 in a line of sparse data");
        return km_hint(scan->ctx, KM_INVALID, "Indices begin at 1.");
    }
    if (index > d)
        return km_fail(scan->ctx, KM_DIMENSION, "index %zu is over the %zu features", index, d);
    if (seen[index - 1])
        return km_fail(scan->ctx, KM_INVALID, "index %zu stands twice in a line of sparse data", index);
    seen[index - 1] = true;
    out[index - 1] = value;
    return KM_OK;
}

KmStatus
km_libsvm_features(KmContext *ctx, const char *text, size_t length, size_t d, double *out)
{
    KmScan scan = {.ctx = ctx, .at = text, .end = text + length, .line = 1};
    KmWord word = km_scan_word(&scan);
    double value;
    bool *seen;

    KM_TRY(km_alloc_zero(ctx, d, &seen));
    memset(out, 0, d * sizeof *out);
    if (word.length > 0 && memchr(word.text, ':', word.length) == NULL)
    {
        KM_TRY(km_scan_number(&scan, word, &value));
        word = km_scan_word(&scan);
    }
    for (; word.length > 0; word = km_scan_word(&scan))
    {
        size_t index;

        KM_TRY(km_scan_element(&scan, word, &index, &value));
        KM_TRY(set_feature(&scan, d, index, value, seen, out));
    }
    km_free(ctx, seen);
    if (km_scan_line(&scan) && scan.at < scan.end)
        return km_fail(ctx, KM_SYNTAX, "sparse data of one row must be one line");
    return KM_OK;
}
