/* sparse.c: rows of mostly usual values (see sparse.h). */
#include "sparse.h"

#include "sizes.h"

#define SAMPLE ((size_t) 32)

/* The value most often met among n, the first of equals; *times: how often. */
static double
most_common(size_t n, const double *values, size_t *times)
{
    double best = 0;

    *times = 0;
    for (size_t i = 0; i < n; i++)
    {
        size_t found = 0;

        for (size_t j = i; j < n; j++)
            found += values[j] == values[i];
        if (found > *times)
        {
            *times = found;
            best = values[i];
        }
    }
    return best;
}

KmStatus
km_usual_values(KmContext *ctx, size_t n, size_t d, const double *rows, double *usual, double *share)
{
    size_t count = min_size(n, SAMPLE), same = 0, times;
    double values[SAMPLE];

    for (size_t k = 0; k < d; k++)
    {
        KM_TRY(km_poll_row(ctx, k, SAMPLE * SAMPLE));
        for (size_t i = 0; i < count; i++)
            values[i] = rows[(i * n / count) * d + k];
        usual[k] = most_common(count, values, &times);
        same += times;
    }
    *share = 1 - (double) same / (double) (count * d);
    return KM_OK;
}

/* ---- lists ---- */

static size_t
list_length(size_t d, const float *row)
{
    size_t length = 0;

    for (size_t k = 0; k < d; k++)
        length += row[k] != 0;
    return round_up(length, KM_THIN_GROUP);
}

static void
fill_list(size_t d, const float *row, size_t length, uint32_t *place, float *value)
{
    size_t found = 0;

    for (size_t k = 0; k < d; k++)
        if (row[k] != 0)
        {
            place[found] = (uint32_t) (k * KM_THIN_WIDTH);
            value[found++] = row[k];
        }
    for (; found < length; found++)
    {
        place[found] = 0;
        value[found] = 0;
    }
}

KmStatus
km_sparse_create(KmContext *ctx, size_t n, size_t d, const float *rows, KmSparse **out)
{
    KmSparse *sparse;
    size_t length = 0;

    KM_TRY(km_alloc_zero(ctx, 1, &sparse));
    KM_TRY(km_alloc(ctx, n + 1, &sparse->first));
    for (size_t i = 0; i < n; i++)
    {
        KM_TRY(km_poll_row(ctx, i, d));
        sparse->first[i] = length;
        length += list_length(d, rows + i * d);
    }
    sparse->first[n] = length;
    KM_TRY(km_alloc(ctx, length, &sparse->place));
    KM_TRY(km_alloc(ctx, length, &sparse->value));
    for (size_t i = 0; i < n; i++)
    {
        size_t first = sparse->first[i];

        KM_TRY(km_poll_row(ctx, i, d));
        fill_list(d, rows + i * d, sparse->first[i + 1] - first, sparse->place + first,
                  sparse->value + first);
    }
    *out = sparse;
    return KM_OK;
}

void
km_sparse_free(KmContext *ctx, KmSparse *sparse)
{
    if (sparse == NULL)
        return;
    km_free(ctx, sparse->first);
    km_free(ctx, sparse->place);
    km_free(ctx, sparse->value);
    km_free(ctx, sparse);
}
