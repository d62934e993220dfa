/* folds.c: rows in folds (see folds.h). */
#include "folds.h"

#include <string.h>

#include "random.h"

#define MOST_FOLDS 255
#define ROWS_PER_POLL 4096

/* What rows are sorted by: the class, then a number drawn for the content.  Two contents of one number would
 * only share their fold. */
typedef struct Draw
{
    double class;               /* k: left out */
    double number;
} Draw;

static const double *
draw_of(const void *draws, size_t i)
{
    return (const double *) ((const Draw *) draws + i);
}

static KmStatus
draw_rows(KmContext *ctx, const KmTable *table, const double *takes_part, uint64_t seed, Draw *draw)
{
    for (size_t i = 0; i < table->n; i++)
    {
        uint32_t label = table->label[i];

        if (i % ROWS_PER_POLL == 0)
            KM_TRY(km_poll(ctx));
        if (takes_part != NULL && !(takes_part[i] > 0))
            label = (uint32_t) table->classes->n;
        draw[i].class = label;
        draw[i].number = km_random_uniform(seed, km_row_hash(table->d, table->x + i * table->d), label);
    }
    return KM_OK;
}

static bool
same_draw(const Draw *a, const Draw *b)
{
    return a->class == b->class && a->number == b->number;
}

/* The fold of least weight, the first of equals. */
static size_t
lightest(size_t n_folds, const double *weight)
{
    size_t best = 0;

    for (size_t f = 1; f < n_folds; f++)
        if (weight[f] < weight[best])
            best = f;
    return best;
}

/* Rows in sorted order, each new content to the fold that is lightest in its class. */
static void
deal_rows(const KmTable *table, const Draw *draw, const size_t *order, size_t n_folds, unsigned char *fold,
          size_t *distinct)
{
    double weight[MOST_FOLDS] = {0};
    size_t now = 0;

    for (size_t r = 0; r < table->n; r++)
    {
        const Draw *mine = &draw[order[r]];
        bool first_of_class = r == 0 || mine->class != draw[order[r - 1]].class;

        if (mine->class == (double) table->classes->n)
        {
            fold[order[r]] = KM_FOLD_NONE;
            continue;
        }
        if (first_of_class)
            memset(weight, 0, sizeof weight);
        if (first_of_class || !same_draw(mine, &draw[order[r - 1]]))
        {
            now = lightest(n_folds, weight);
            distinct[(size_t) mine->class]++;
        }
        weight[now] += km_table_weight(table, order[r]);
        fold[order[r]] = (unsigned char) now;
    }
}

KmStatus
km_folds_by_class(KmContext *ctx, const KmTable *table, const double *takes_part, size_t n_folds,
                  uint64_t seed, unsigned char *fold, size_t *distinct)
{
    size_t *order;
    Draw *draw;

    if (n_folds < 2 || n_folds > MOST_FOLDS)
        return km_fail(ctx, KM_INVALID, "%zu folds, must be from 2 to %d", n_folds, MOST_FOLDS);
    KM_TRY(km_alloc(ctx, table->n, &draw));
    KM_TRY(km_alloc(ctx, table->n, &order));
    KM_TRY(draw_rows(ctx, table, takes_part, seed, draw));
    KM_TRY(km_rows_order(ctx, table->n, 2, draw_of, draw, order));
    memset(distinct, 0, table->classes->n * sizeof *distinct);
    deal_rows(table, draw, order, n_folds, fold, distinct);
    km_free(ctx, order);
    km_free(ctx, draw);
    return KM_OK;
}
