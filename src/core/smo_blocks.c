/*
 * smo_blocks.c: SMO by blocks of variables: for rows of K that do not all fit, and for many steps.
 *
 * A round takes the worst violators and the newest quarter of the last block, steps within the block
 * on its own small matrix, then brings the gradient of all variables up to date by the rows that changed.
 * The most violating pair is always in the block, so every round moves on (Lin 2001); only the gap over all
 * variables ends the rounds.
 */
#include <math.h>
#include <string.h>

#include "sizes.h"
#include "smo_state.h"

#define LEAST_BLOCK 512
#define VARIABLES_PER_MEMBER 16 /* a block is this part of the problem */
#define STEPS_PER_VARIABLE 100  /* in one round */
#define ROUND_TOL 0.1           /* of the gap at the start of the round */

/* A variable that wants to move, by what it gains. */
typedef struct Wish
{
    double key;                 /* the smaller, the stronger */
    size_t v;
} Wish;

typedef struct Block
{
    KmRows *rows;
    size_t capacity, n;         /* variables at most, and now */
    size_t *member, *previous;  /* capacity */
    size_t n_previous;
    bool *chosen;               /* per variable of the whole problem */
    Wish *wish;                 /* one per variable of the whole problem */
    double *change;             /* capacity */
    KmSmo smo;                  /* the problem of the block */
    size_t element;             /* bytes of an element of K */
    char *matrix;               /* capacity x capacity, padded */
} Block;

/* Larger blocks for larger problems: a round costs their square, but also changed rows over all variables. */
size_t
km_smo_block_size(size_t n)
{
    size_t size = max_size(LEAST_BLOCK, n / VARIABLES_PER_MEMBER);

    return min_size(n, min_size(KM_ROWS_CORNER, size));
}

static KmStatus
block_create(KmContext *ctx, const KmSmo *smo, KmRows *rows, Block *block)
{
    size_t most = km_smo_block_size(smo->n), stride = round_up(most, KM_SMO_PAD);

    memset(block, 0, sizeof *block);
    block->rows = rows;
    block->capacity = most;
    block->element = km_rows_source(rows)->single ? sizeof(float) : sizeof(double);
    KM_TRY(km_alloc(ctx, most, &block->member));
    KM_TRY(km_alloc(ctx, most, &block->previous));
    KM_TRY(km_alloc_zero(ctx, smo->n, &block->chosen));
    KM_TRY(km_alloc(ctx, smo->n, &block->wish));
    KM_TRY(km_alloc(ctx, most, &block->change));
    KM_TRY(km_alloc_zero(ctx, most * stride * block->element, &block->matrix));
    KM_TRY(km_smo_allocate(ctx, smo->n_groups, stride, &block->smo));
    for (size_t k = 0; k < smo->n_groups; k++)
        KM_TRY(km_alloc(ctx, most, &block->smo.group[k].b));
    block->smo.passes = smo->passes;
    block->smo.kink = smo->kink;
    return KM_OK;
}

static void
block_free(KmContext *ctx, Block *block)
{
    for (size_t k = 0; k < block->smo.n_groups; k++)
        km_free(ctx, block->smo.group[k].b);
    km_smo_free(ctx, &block->smo);
    km_free_all(ctx, block->matrix, block->change, block->wish, block->chosen, block->previous,
                block->member);
}

/* ---- choosing ---- */

static bool
stronger(Wish a, Wish b)
{
    return a.key < b.key || (a.key == b.key && a.v < b.v);
}

static void
swap_wishes(Wish *a, Wish *b)
{
    Wish c = *a;

    *a = *b;
    *b = c;
}

/* Bring the m strongest of n distinct wishes to the front, in no order (Hoare's selection). */
static void
select_wishes(size_t n, size_t m, Wish *wish)
{
    while (m > 0 && m < n)
    {
        Wish pivot = wish[n / 2];
        size_t low = 0, high = n - 1;

        for (;; low++, high--)
        {
            while (stronger(wish[low], pivot))
                low++;
            while (stronger(pivot, wish[high]))
                high--;
            if (low >= high)
                break;
            swap_wishes(&wish[low], &wish[high]);
        }
        /* All before low are at most the pivot, all from low on at least. */
        if (m <= low)
            n = low;
        else
        {
            wish += low;
            n -= low;
            m -= low;
        }
    }
}

/* Add the m variables of a group that most want to rise (sign 1) or fall (sign -1) with some partner. */
static void
add_violators(const KmSmo *smo, const KmSmoGroup *group, Block *block, int sign, size_t m)
{
    double limit = sign > 0 ? group->choice.greatest : -group->choice.least;
    size_t found = 0;

    for (size_t v = 0; v < smo->n; v++)
    {
        double key = sign > 0 ? smo->g[v] + group->up[v] : -smo->g[v] - group->low[v];

        if (key < limit && !block->chosen[v])
            block->wish[found++] = (Wish) {key, v};
    }
    select_wishes(found, m, block->wish);
    for (size_t r = 0; r < found && r < m; r++)
    {
        block->chosen[block->wish[r].v] = true;
        block->member[block->n++] = block->wish[r].v;
    }
}

/* New violators first, of each group half wanting to rise and half to fall, then the newest of the last
 * block. */
static void
choose_block(const KmSmo *smo, Block *block)
{
    size_t fresh = (block->n_previous > 0 ? block->capacity / 4 * 3 : block->capacity) / smo->n_groups;

    block->n = 0;
    for (size_t k = 0; k < smo->n_groups; k++)
    {
        add_violators(smo, &smo->group[k], block, 1, (fresh + 1) / 2);
        add_violators(smo, &smo->group[k], block, -1, fresh / 2);
    }
    for (size_t r = 0; r < block->n_previous && block->n < block->capacity; r++)
        if (!block->chosen[block->previous[r]])
        {
            block->chosen[block->previous[r]] = true;
            block->member[block->n++] = block->previous[r];
        }
    memcpy(block->previous, block->member, block->n * sizeof *block->member);
    block->n_previous = block->n;
    for (size_t r = 0; r < block->n; r++)
        block->chosen[block->member[r]] = false;
}

/* ---- stepping ---- */

static void
copy_group(const KmSmoGroup *from, const Block *block, KmSmoGroup *to)
{
    for (size_t r = 0; r < block->n; r++)
    {
        to->b[r] = from->b[block->member[r]];
        to->lower[r] = from->lower[block->member[r]];
        to->upper[r] = from->upper[block->member[r]];
        km_smo_status(&block->smo, to, r);
    }
}

/* The problem restricted to the block. */
static KmStatus
load_block(KmContext *ctx, const KmSmo *smo, Block *block)
{
    KmSmo *small = &block->smo;
    KmRowSource *source = km_rows_source(block->rows);

    km_smo_begin(small, block->n, round_up(block->n, KM_SMO_PAD));
    for (size_t r = 0; r < block->n; r++)
    {
        small->g[r] = smo->g[block->member[r]];
        small->diagonal[r] = smo->diagonal[block->member[r]];
    }
    for (size_t k = 0; k < smo->n_groups; k++)
        copy_group(&smo->group[k], block, &small->group[k]);
    km_smo_choose(small);
    return source->corner(ctx, source, block->n, block->member, small->stride, block->matrix);
}

static KmStatus
block_row(KmContext *ctx, const KmSmo *smo, void *state, size_t i, const void **row)
{
    const Block *block = state;

    (void) ctx;
    *row = block->matrix + i * smo->stride * block->element;
    return KM_OK;
}

/* Write a row's variables back; returns by how much its b changed. */
static double
unload_row(KmSmo *smo, const Block *block, size_t r)
{
    size_t v = block->member[r];
    double change = 0;

    for (size_t k = 0; k < smo->n_groups; k++)
    {
        KmSmoGroup *group = &smo->group[k];

        change += block->smo.group[k].b[r] - group->b[v];
        group->b[v] = block->smo.group[k].b[r];
        km_smo_status(smo, group, v);
    }
    return change;
}

/* Write b back and update the gradient of all variables by the rows whose b changed. */
static KmStatus
unload_block(KmContext *ctx, KmSmo *smo, Block *block)
{
    size_t changed = 0;

    for (size_t r = 0; r < block->n; r++)
    {
        double change = unload_row(smo, block, r);

        if (change == 0)
            continue;
        block->member[changed] = block->member[r];
        block->change[changed++] = change;
    }
    KM_TRY(km_smo_accumulate(ctx, smo, block->rows, changed, block->member, block->change));
    km_smo_choose(smo);
    return KM_OK;
}

KmStatus
km_smo_blocks(KmContext *ctx, KmSmo *smo, double tol, KmRows *rows)
{
    Block block;
    uint64_t before = smo->iterations - 1;

    KM_TRY(block_create(ctx, smo, rows, &block));
    while (km_smo_gap(smo) >= tol && smo->iterations < smo->max_iter && smo->iterations != before &&
           !km_smo_diverges(smo))
    {
        uint64_t round = smo->iterations + STEPS_PER_VARIABLE * block.capacity;

        before = smo->iterations;
        choose_block(smo, &block);
        KM_TRY(load_block(ctx, smo, &block));
        block.smo.iterations = smo->iterations;
        KM_TRY(km_smo_steps(ctx, &block.smo, fmax(tol, ROUND_TOL * km_smo_gap(smo)),
                            round < smo->max_iter ? round : smo->max_iter, block_row, &block));
        smo->iterations = block.smo.iterations;
        KM_TRY(unload_block(ctx, smo, &block));
        KM_TRY(km_smo_report(ctx, smo));
    }
    block_free(ctx, &block);
    return KM_OK;
}
