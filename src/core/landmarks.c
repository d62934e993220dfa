/*
 * landmarks.c: distinct rows, and landmarks drawn from them by weight.
 */
#include "landmarks.h"

#include <math.h>
#include <string.h>

#include "data.h"
#include "random.h"
#include "rpcholesky.h"
#include "vmath.h"

#define STREAM_DRAW (UINT64_C(0x6c616e64) << 32)
#define CHUNK 1024              /* rows between polls */
#define MIN_CANDIDATES 2000     /* rows among which pivots are looked for: at least these, … */
#define CANDIDATES_EACH 4      /* … and so many for each landmark */
#define TOLERANCE 1e-12         /* of the trace: the landmarks so far span the kernel */

/* ---- distinct rows ---- */

/* As values: -0 is 0. */
static bool
repeats(const double *x, size_t d, size_t i)
{
    size_t j = 0;

    if (i == 0)
        return false;
    while (j < d && x[i * d + j] == x[(i - 1) * d + j])
        j++;
    return j == d;
}

static KmStatus
count_distinct(KmContext *ctx, size_t n, size_t d, const double *x, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < n; i++)
    {
        if (i % CHUNK == 0)
            KM_TRY(km_poll(ctx));
        *count += !repeats(x, d, i);
    }
    return KM_OK;
}

KmStatus
km_distinct_rows(KmContext *ctx, size_t n, size_t d, const double *x, const double *w, KmDistinct *out)
{
    double *rows = NULL;
    size_t kept = 0;

    *out = (KmDistinct) {.d = d, .x = x};
    KM_TRY(count_distinct(ctx, n, d, x, &out->n));
    KM_TRY(km_alloc_zero(ctx, out->n, &out->weight));
    if (out->n < n)
    {
        KM_TRY(km_alloc_bytes(ctx, out->n, d * sizeof *rows, (void **) &rows));
        out->x = rows;
    }
    for (size_t i = 0; i < n; i++)
    {
        bool is_new = !repeats(x, d, i);

        if (is_new && rows != NULL)
            memcpy(rows + kept * d, x + i * d, d * sizeof *x);
        kept += is_new;
        out->weight[kept - 1] += w == NULL ? 1 : w[i];
    }
    return KM_OK;
}

/* ---- drawn by weight ---- */

static const double *
time_of(const void *times, size_t i)
{
    return (const double *) times + i;
}

/* The first of exponential races, -log(u_i) / w_i (Efraimidis, Spirakis 2006). */
KmStatus
km_draw_rows(KmContext *ctx, const KmDistinct *rows, size_t count, uint64_t seed, size_t *row)
{
    double *time;
    size_t *order;

    KM_TRY(km_alloc(ctx, rows->n, &time));
    KM_TRY(km_alloc(ctx, rows->n, &order));
    for (size_t i = 0; i < rows->n; i++)
        time[i] = -km_log1(km_random_uniform(seed, STREAM_DRAW, i)) / rows->weight[i];
    KM_TRY(km_rows_order(ctx, rows->n, 1, time_of, time, order));
    memcpy(row, order, count * sizeof *row);
    km_free(ctx, time);
    km_free(ctx, order);
    return KM_OK;
}

static void
copy_rows(const KmDistinct *rows, size_t count, const size_t *row, double *out)
{
    for (size_t j = 0; j < count; j++)
        memcpy(out + j * rows->d, rows->x + row[j] * rows->d, rows->d * sizeof *out);
}

KmStatus
km_landmarks_uniform(KmContext *ctx, const KmKernel *kernel, const KmDistinct *rows, size_t k, uint64_t seed,
                     double *out, size_t *chosen)
{
    size_t *row;

    (void) kernel;
    KM_TRY(km_alloc(ctx, k, &row));
    KM_TRY(km_draw_rows(ctx, rows, k, seed, row));
    copy_rows(rows, k, row, out);
    *chosen = k;
    km_free(ctx, row);
    return KM_OK;
}

/* ---- pivots ---- */

/* The rows among which pivots are looked for: all, or a sample, whose rows then have no weight any more. */
static KmStatus
take_candidates(KmContext *ctx, const KmDistinct *rows, size_t most, uint64_t seed, KmDistinct *out)
{
    size_t *row;
    double *x;

    *out = *rows;
    if (rows->n <= most)
        return KM_OK;
    KM_TRY(km_alloc(ctx, most, &row));
    KM_TRY(km_alloc_bytes(ctx, most, rows->d * sizeof *x, (void **) &x));
    KM_TRY(km_draw_rows(ctx, rows, most, seed, row));
    copy_rows(rows, most, row, x);
    km_free(ctx, row);
    *out = (KmDistinct) {.n = most, .d = rows->d, .x = x};
    return KM_OK;
}

static KmStatus
roots_of(KmContext *ctx, const KmDistinct *rows, double **out)
{
    *out = NULL;
    if (rows->weight == NULL)
        return KM_OK;
    KM_TRY(km_alloc(ctx, rows->n, out));
    for (size_t i = 0; i < rows->n; i++)
        (*out)[i] = sqrt(rows->weight[i]);
    return KM_OK;
}

KmStatus
km_landmarks_rpcholesky(KmContext *ctx, const KmKernel *kernel, const KmDistinct *rows, size_t k,
                        uint64_t seed, double *out, size_t *chosen)
{
    size_t most = k > MIN_CANDIDATES / CANDIDATES_EACH ? k * CANDIDATES_EACH : MIN_CANDIDATES;
    KmLowRank low_rank;
    KmDistinct candidates;
    KmPoints *points;
    double *root;

    KM_TRY(take_candidates(ctx, rows, most, seed, &candidates));
    KM_TRY(km_reserve(ctx, 8.0 * (double) candidates.n * (double) k, "the choice of landmarks",
                      "Use fewer landmarks, or method=uniform."));
    KM_TRY(roots_of(ctx, &candidates, &root));
    KM_TRY(km_points_create(ctx, kernel, candidates.n, rows->d, candidates.x, NULL, &points));
    KM_TRY(km_rpcholesky(ctx, kernel, points, root, k, TOLERANCE, seed, &low_rank));
    copy_rows(&candidates, low_rank.rank, low_rank.pivot, out);
    *chosen = low_rank.rank;
    km_low_rank_free(ctx, &low_rank);
    km_free(ctx, root);
    return KM_OK;
}
