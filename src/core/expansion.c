/*
 * expansion.c: sums of kernel values (see expansion.h).
 */
#include "expansion.h"

#include <string.h>

#include "kernel_eval.h"
#include "sizes.h"

struct KmExpansion
{
    size_t n, d, columns, groups, n_out, n_terms;
    const double *intercept;    /* n_out */
    /* by kernel values */
    KmTarget *target;
    size_t *first;              /* groups + 1 */
    const double *coef;         /* one column: n */
    KmPanel panel;              /* several: they are the stored rows, of n elements */
    size_t width;               /* columns with padding, or the chains of one */
    double *sum;                /* KM_SCORE_ROWS x groups x width */
    size_t *place;              /* n_out x n_terms: of each term among the sums of a row */
    double *values;             /* KM_SCORE_ROWS x KM_TARGET_BLOCK */
    /* by planes */
    const KmLeaf *leaf;         /* the kernel */
    size_t d_leaf;              /* columns of its rows */
    double *plane;              /* n_out x d_leaf */
    double *x;                  /* KM_SCORE_ROWS x d_leaf: its rows of the queries */
};

/* ---- planes ---- */

/* More planes than stored rows would only cost. */
static bool
has_planes(const KmKernel *kernel, const KmExpansionParts *parts)
{
    return kernel->op == KM_OP_LEAF && (kernel->leaf.flags & KM_PLANE) != 0 && parts->n_out <= parts->n;
}

/* What stored rows j0 .. j0+n-1, in expansion->x as the leaf makes them, add to the planes. */
static void
add_rows(const KmExpansionParts *parts, size_t j0, size_t n, KmExpansion *expansion)
{
    size_t d = expansion->d_leaf;

    for (size_t t = 0; t < parts->n_out * parts->n_terms; t++)
    {
        const KmTerm *term = &parts->term[t];
        size_t first = parts->first[term->group], last = min_size(parts->first[term->group + 1], j0 + n);
        double *w = expansion->plane + t / parts->n_terms * d;

        for (size_t j = first < j0 ? j0 : first; j < last; j++)
            for (size_t k = 0; k < d; k++)
                w[k] += parts->coef[j * parts->columns + term->column] * expansion->x[(j - j0) * d + k];
    }
}

static KmStatus
planes_create(KmContext *ctx, const KmKernel *kernel, const KmExpansionParts *parts, KmExpansion *expansion)
{
    size_t d = km_leaf_dimension(&kernel->leaf, parts->d), n;

    expansion->leaf = &kernel->leaf;
    expansion->d_leaf = d;
    KM_TRY(km_kernel_check_dimension(ctx, kernel, parts->d));
    KM_TRY(km_alloc(ctx, KM_SCORE_ROWS * d, &expansion->x));
    KM_TRY(km_alloc_zero_bytes(ctx, parts->n_out, d * sizeof(double), (void **) &expansion->plane));
    for (size_t j0 = 0; j0 < parts->n; j0 += n)
    {
        n = min_size(KM_SCORE_ROWS, parts->n - j0);
        KM_TRY(km_poll(ctx));
        KM_TRY(km_leaf_rows(ctx, expansion->leaf, n, parts->d, parts->rows + j0 * parts->d, expansion->x));
        add_rows(parts, j0, n, expansion);
    }
    return KM_OK;
}

static KmStatus
planes_run(KmContext *ctx, KmExpansion *expansion, size_t m, const double *x, double *out)
{
    size_t d = expansion->d_leaf, n_out = expansion->n_out;

    KM_TRY(km_leaf_rows(ctx, expansion->leaf, m, expansion->d, x, expansion->x));
    for (size_t i = 0; i < m; i++, out += n_out)
    {
        km_dot_fixed_rows(n_out, d, d, expansion->plane, expansion->x + i * d, out);
        for (size_t o = 0; o < n_out; o++)
            out[o] += expansion->intercept[o];
    }
    return KM_OK;
}

/* ---- kernel values: making ready ---- */

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
    KM_TRY(km_panel_create_wide(ctx, columns, n, transposed, &expansion->panel));
    expansion->width = round_up(columns, KM_PANEL_WIDTH);
    expansion->coef = NULL;
    km_free(ctx, transposed);
    return KM_OK;
}

static KmStatus
values_create(KmContext *ctx, const KmKernel *kernel, const KmExpansionParts *parts, KmExpansion *expansion)
{
    size_t terms = parts->n_out * parts->n_terms;

    KM_TRY(km_target_create(ctx, kernel, parts->n, parts->d, parts->rows, &expansion->target));
    KM_TRY(set_coefficients(ctx, parts->coef, expansion));
    KM_TRY(km_alloc(ctx, parts->groups + 1, &expansion->first));
    memcpy(expansion->first, parts->first, (parts->groups + 1) * sizeof *parts->first);
    KM_TRY(km_alloc_bytes(ctx, parts->groups, KM_SCORE_ROWS * expansion->width * sizeof(double),
                          (void **) &expansion->sum));
    KM_TRY(km_alloc(ctx, KM_SCORE_ROWS * KM_TARGET_BLOCK, &expansion->values));
    KM_TRY(km_alloc(ctx, terms, &expansion->place));
    for (size_t t = 0; t < terms; t++)
        expansion->place[t] = parts->term[t].group * expansion->width + parts->term[t].column;
    return KM_OK;
}

/* ---- kernel values: scoring ---- */

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
                              expansion->groups * expansion->width,
                              expansion->sum + *group * expansion->width);
    }
}

/* One column: its chains become their sum. */
static void
end_chains(KmExpansion *expansion, size_t m)
{
    for (size_t i = 0; i < m; i++)
        expansion->sum[i * KM_DOT_CHAINS] = km_dot_end(expansion->sum + i * KM_DOT_CHAINS);
}

/* A row's outputs from its sums. */
static void
add_terms(const KmExpansion *expansion, const double *sum, double *out)
{
    const size_t *place = expansion->place;

    for (size_t o = 0; o < expansion->n_out; o++)
    {
        double value = 0;

        for (size_t t = 0; t < expansion->n_terms; t++)
            value += sum[*place++];
        out[o] = value + expansion->intercept[o];
    }
}

static KmStatus
values_run(KmContext *ctx, KmExpansion *expansion, size_t m, const double *x, double *out)
{
    size_t group = 0, sums = expansion->groups * expansion->width;

    memset(expansion->sum, 0, m * sums * sizeof *expansion->sum);
    KM_TRY(km_target_query(ctx, expansion->target, m, x));
    for (size_t j0 = 0; j0 < expansion->n; j0 += KM_TARGET_BLOCK)
    {
        size_t n = min_size(expansion->n - j0, KM_TARGET_BLOCK);
        size_t ld = round_up(n, KM_PANEL_WIDTH);

        KM_TRY(km_poll(ctx));
        KM_TRY(km_target_block(ctx, expansion->target, m, j0, n, ld, expansion->values));
        add_block(expansion, m, j0, n, ld, &group);
    }
    if (expansion->columns == 1)
        end_chains(expansion, m);
    for (size_t i = 0; i < m; i++)
        add_terms(expansion, expansion->sum + i * sums, out + i * expansion->n_out);
    return KM_OK;
}

/* ---- either ---- */

KmStatus
km_expansion_create(KmContext *ctx, const KmKernel *kernel, const KmExpansionParts *parts,
                    const double *intercept, KmExpansion **out)
{
    KmExpansion *expansion;

    KM_TRY(km_alloc_zero(ctx, 1, &expansion));
    *expansion = (KmExpansion) {.n = parts->n, .d = parts->d, .columns = parts->columns,
                                .groups = parts->groups, .n_out = parts->n_out, .n_terms = parts->n_terms,
                                .intercept = intercept};
    *out = expansion;
    return (has_planes(kernel, parts) ? planes_create : values_create)(ctx, kernel, parts, expansion);
}

KmStatus
km_expansion_create_columns(KmContext *ctx, const KmKernel *kernel, size_t n, size_t d, const double *rows,
                            size_t columns, const double *coef, const double *intercept, KmExpansion **out)
{
    KmExpansionParts parts = {.n = n, .d = d, .columns = columns, .rows = rows, .coef = coef, .groups = 1,
                              .first = (size_t[]) {0, n}, .n_out = columns, .n_terms = 1};
    KmTerm *term;

    KM_TRY(km_alloc_zero(ctx, columns, &term));
    for (size_t c = 0; c < columns; c++)
        term[c].column = c;
    parts.term = term;
    KM_TRY(km_expansion_create(ctx, kernel, &parts, intercept, out));
    km_free(ctx, term);
    return KM_OK;
}

KmStatus
km_expansion_run(KmContext *ctx, KmExpansion *expansion, size_t m, const double *x, double *out)
{
    return (expansion->plane != NULL ? planes_run : values_run)(ctx, expansion, m, x, out);
}
