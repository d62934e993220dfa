/*
 * orthogonal.c: Gram and Schmidt's process on blocks of rows, each projection done twice: after the
 * second what is left along the rows before is rounding (Giraud, Langou, Rozloznik 2005).
 *
 * Of Gaussian rows the directions become uniform over all orthonormal frames, and independent of the
 * lengths, which stay as they were drawn: the orthogonal random features of Yu et al. 2016.
 */
#include "orthogonal.h"

#include <math.h>

#include "panel.h"
#include "sizes.h"

/* row -= its parts along the k unit rows before it. */
static void
project_out(size_t k, size_t d, const double *units, double *row)
{
    for (size_t i = 0; i < k; i++)
    {
        const double *unit = units + i * d;
        double along = km_dot_fixed(d, unit, row);

        for (size_t j = 0; j < d; j++)
            row[j] -= along * unit[j];
    }
}

/* Scale to length 1; returns the length. */
static double
normalise(size_t d, double *row)
{
    double length = sqrt(km_dot_fixed(d, row, row));

    for (size_t j = 0; j < d; j++)
        row[j] /= length;
    return length;
}

static KmStatus
orthogonalise_block(KmContext *ctx, size_t m, size_t d, double *w, double *length)
{
    for (size_t i = 0; i < m; i++)
    {
        double *row = w + i * d;

        KM_TRY(km_poll(ctx));
        length[i] = normalise(d, row);
        for (int pass = 0; pass < 2; pass++)
            project_out(i, d, w, row);
        normalise(d, row);
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < d; j++)
            w[i * d + j] *= length[i];
    return KM_OK;
}

KmStatus
km_orthogonalise(KmContext *ctx, size_t m, size_t d, double *w)
{
    double *length;

    KM_TRY(km_alloc(ctx, min_size(d, m), &length));
    for (size_t i = 0; i < m; i += d)
        KM_TRY(orthogonalise_block(ctx, min_size(m - i, d), d, w + i * d, length));
    km_free(ctx, length);
    return KM_OK;
}
