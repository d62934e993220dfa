/* approximation.c: kernel values beside products of features (see approximation.h). */
#include "approximation.h"

#include <math.h>
#include <string.h>

#include "landmarks.h"
#include "sizes.h"

#define ERROR_ROWS 200
#define TRACE_ROWS 300

/* At most `most` distinct rows, evenly spaced: of rows in canonical order, from all over the table. */
typedef struct Sample
{
    size_t n;
    double *x;                  /* n x d_in */
    double *z;                  /* n x d_out */
} Sample;

/* The features of the sample's rows; those made of plainer ones all at once. */
static KmStatus
map_sample(KmContext *ctx, const KmStep *step, Sample *sample)
{
    size_t n = sample->n, d = step->d_out;
    double *columns;

    for (size_t i = 0; i < n; i += KM_SCORE_ROWS)
    {
        KM_TRY(km_poll(ctx));
        KM_TRY((step->push != NULL ? step->apply_plain : step->apply)(
                   ctx, step, min_size(KM_SCORE_ROWS, n - i), sample->x + i * step->d_in, sample->z + i * d));
    }
    if (step->push == NULL)
        return KM_OK;
    KM_TRY(km_alloc_bytes(ctx, n, d * sizeof *columns, (void **) &columns));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            columns[j * n + i] = sample->z[i * d + j];
    KM_TRY(step->push(ctx, step, n, columns));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            sample->z[i * d + j] = columns[j * n + i];
    km_free(ctx, columns);
    return KM_OK;
}

static KmStatus
take_sample(KmContext *ctx, const KmStep *step, size_t n, const double *x, size_t most, Sample *out)
{
    size_t d = step->d_in;
    KmDistinct rows;

    KM_TRY(km_distinct_rows(ctx, n, d, x, NULL, &rows));
    out->n = min_size(rows.n, most);
    KM_TRY(km_alloc_bytes(ctx, out->n, d * sizeof(double), (void **) &out->x));
    KM_TRY(km_alloc_bytes(ctx, out->n, step->d_out * sizeof(double), (void **) &out->z));
    for (size_t i = 0; i < out->n; i++)
        memcpy(out->x + i * d, rows.x + i * rows.n / out->n * d, d * sizeof *x);
    km_free(ctx, rows.weight);
    if (rows.x != x)
        km_free(ctx, (double *) rows.x);
    return map_sample(ctx, step, out);
}

static void
free_sample(KmContext *ctx, Sample *sample)
{
    km_free(ctx, sample->x);
    km_free(ctx, sample->z);
}

/* The share, where double precision can say it. */
static KmStatus
add_share(KmContext *ctx, KmModel *model, const char *name, double part, double whole)
{
    double share = whole > 0 ? part / whole : part;

    return isfinite(share) ? km_model_add_fact(ctx, model, name, KM_FACT_NUMBER, share) : KM_OK;
}

KmStatus
km_approximation_error(KmContext *ctx, const KmKernel *kernel, const KmStep *step, size_t n, const double *x,
                       KmModel *model)
{
    size_t d = step->d_out;
    double error = 0, size = 0, *k, *product;
    KmTarget *target;
    Sample sample;

    KM_TRY(take_sample(ctx, step, n, x, ERROR_ROWS, &sample));
    KM_TRY(km_target_create(ctx, kernel, sample.n, step->d_in, sample.x, &target));
    KM_TRY(km_alloc(ctx, km_target_stride(target), &k));
    KM_TRY(km_alloc(ctx, sample.n, &product));
    for (size_t i = 0; i < sample.n; i++)
    {
        KM_TRY(km_target_values(ctx, target, 1, sample.x + i * step->d_in, km_target_stride(target), k));
        km_dot_fixed_rows(i + 1, d, d, sample.z, sample.z + i * d, product);
        for (size_t j = 0; j <= i; j++)
        {
            double times = j < i ? 2 : 1;

            error += times * (product[j] - k[j]) * (product[j] - k[j]);
            size += times * k[j] * k[j];
        }
    }
    km_free(ctx, product);
    km_free(ctx, k);
    km_target_free(ctx, target);
    free_sample(ctx, &sample);
    return add_share(ctx, model, "kernel_error", sqrt(error), sqrt(size));
}

KmStatus
km_approximation_residual(KmContext *ctx, const KmKernel *kernel, const KmStep *step, size_t n,
                          const double *x, KmModel *model)
{
    double left = 0, trace = 0, self[KM_SCORE_ROWS];
    KmTarget *target;
    Sample sample;

    KM_TRY(take_sample(ctx, step, n, x, TRACE_ROWS, &sample));
    KM_TRY(km_target_create(ctx, kernel, 1, step->d_in, sample.x, &target));
    for (size_t i = 0; i < sample.n; i++)
    {
        const double *z = sample.z + i * step->d_out;

        if (i % KM_SCORE_ROWS == 0)
            KM_TRY(km_target_self(ctx, target, min_size(KM_SCORE_ROWS, sample.n - i),
                                  sample.x + i * step->d_in, self));
        left += self[i % KM_SCORE_ROWS] - km_dot_fixed(step->d_out, z, z);
        trace += self[i % KM_SCORE_ROWS];
    }
    km_target_free(ctx, target);
    free_sample(ctx, &sample);
    return add_share(ctx, model, "residual_trace", fmax(left, 0), trace);
}
