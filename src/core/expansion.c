/*
 * expansion.c: sums of kernel values (see expansion.h).
 */
#include "expansion.h"

#include <string.h>

#include "sizes.h"

struct KmExpansion
{
    KmTarget *target;
    size_t n, columns, groups;
    size_t *first;              /* groups + 1 */
    const double *coef;         /* one column: n */
    KmPanel panel;              /* several: they are the stored rows, of n elements */
    size_t width;               /* columns with padding, or the chains of one */
    double *sum;                /* KM_SCORE_ROWS x groups x width */
    double *values;             /* KM_SCORE_ROWS x KM_TARGET_BLOCK */
};

/* coef, n x columns, as columns x n. */
static KmStatus
transpose(KmContext *ctx, size_t n, size_t columns, const double *coef, double **out)
{
    KM_TRY(km_alloc_bytes(ctx, n, columns * sizeof **out, (void **) out));
    for (size_t c = 0; c < columns; c++)
        for (size_t j = 0; j < n; j++)
            (*out)[c * n + j] = coef[j * columns + c];
    return KM_OK;
}

static KmStatus
set_coefficients(KmContext *ctx, const double *coef, KmExpansion *expansion)
{
    size_t n = expansion->n, columns = expansion->columns;
    double *transposed;

    KM_TRY(transpose(ctx, n, columns, coef, &transposed));
    expansion->coef = transposed;
    expansion->width = KM_DOT_CHAINS;
    if (columns == 1)
        return KM_OK;
    KM_TRY(km_panel_create(ctx, columns, n, transposed, &expansion->panel));
    expansion->width = (columns + KM_PANEL_WIDTH - 1) / KM_PANEL_WIDTH * KM_PANEL_WIDTH;
    expansion->coef = NULL;
    km_free(ctx, transposed);
    return KM_OK;
}

KmStatus
km_expansion_create(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d, const double *rows,
                    size_t groups, const size_t *first, size_t columns, const double *coef,
                    KmExpansion **out)
{
    KmExpansion *expansion;

    KM_TRY(km_alloc_zero(ctx, 1, &expansion));
    *expansion = (KmExpansion) {.n = n, .columns = columns, .groups = groups};
    KM_TRY(km_target_create(ctx, kernel, n, d, rows, &expansion->target));
    KM_TRY(set_coefficients(ctx, coef, expansion));
    KM_TRY(km_alloc(ctx, groups + 1, &expansion->first));
    memcpy(expansion->first, first, (groups + 1) * sizeof *first);
    KM_TRY(km_alloc_bytes(ctx, groups, KM_SCORE_ROWS * expansion->width * sizeof(double),
                          (void **) &expansion->sum));
    KM_TRY(km_alloc(ctx, KM_SCORE_ROWS * KM_TARGET_BLOCK, &expansion->values));
    *out = expansion;
    return KM_OK;
}

size_t
km_expansion_at(const KmExpansion *expansion, size_t group, size_t column)
{
    return group * expansion->width + column;
}

size_t
km_expansion_stride(const KmExpansion *expansion)
{
    return expansion->groups * expansion->width;
}

/* Values of m rows with stored rows j0 .. j0+n-1, ld apart, into the sums of their groups, of which the
 * first is *group. */
static void
add_block(KmExpansion *expansion, size_t m, size_t j0, size_t n, size_t ld, size_t *group)
{
    const size_t *first = expansion->first;

    if (expansion->columns == 1)
    {
        km_dot_go_on(m, n, ld, expansion->values, expansion->coef + j0, expansion->sum);
        return;
    }
    for (size_t done = 0, count; done < n; done += count)
    {
        while (first[*group + 1] <= j0 + done)
            ++*group;
        count = min_size(n - done, first[*group + 1] - j0 - done);
        km_panel_add_products(&expansion->panel, j0 + done, count, m, ld, expansion->values + done,
                              km_expansion_stride(expansion),
                              expansion->sum + km_expansion_at(expansion, *group, 0));
    }
}

/* One column: its chains become their sum. */
static void
end_chains(KmExpansion *expansion, size_t m)
{
    for (size_t i = 0; i < m; i++)
        expansion->sum[i * KM_DOT_CHAINS] = km_dot_end(expansion->sum + i * KM_DOT_CHAINS);
}

KmStatus
km_expansion_run(KmContext *ctx, KmExpansion *expansion, size_t m, const double *x, const double **sum)
{
    size_t group = 0;

    memset(expansion->sum, 0, m * km_expansion_stride(expansion) * sizeof *expansion->sum);
    KM_TRY(km_target_query(ctx, expansion->target, m, x));
    for (size_t j0 = 0; j0 < expansion->n; j0 += KM_TARGET_BLOCK)
    {
        size_t n = min_size(expansion->n - j0, KM_TARGET_BLOCK);
        size_t ld = (n + KM_PANEL_WIDTH - 1) / KM_PANEL_WIDTH * KM_PANEL_WIDTH;

        KM_TRY(km_poll(ctx));
        KM_TRY(km_target_block(ctx, expansion->target, m, j0, n, ld, expansion->values));
        add_block(expansion, m, j0, n, ld, &group);
    }
    if (expansion->columns == 1)
        end_chains(expansion, m);
    *sum = expansion->sum;
    return KM_OK;
}
