/*
 * smo_blocks.c: SMO by blocks of variables: for rows of K that do not all fit, and for many steps.
 *
 * A round takes the worst violators and the newest half of the last block, steps within the block
 * on its own small matrix, then brings the gradient of all variables up to date.  The most
 * violating pair is always in the block, so every round moves on (Lin 2001); only the gap over all
 * variables ends the rounds.
 */
#include <math.h>
#include <string.h>

#include "smo_state.h"

#define BLOCK_SIZE 512
#define STEPS_PER_VARIABLE 100  /* in one round */
#define ROUND_TOL 0.1           /* of the gap at the start of the round */

typedef struct Block
{
    KmRows *rows;
    size_t capacity, n;         /* variables at most, and now */
    size_t *member, *previous;  /* capacity */
    size_t n_previous;
    bool *chosen;               /* per variable of the whole problem */
    double *keys;               /* capacity */
    const void **row;           /* of the members */
    KmSmo smo;                  /* the problem of the block */
    size_t element;             /* bytes of an element of K */
    char *matrix;               /* capacity x smo.stride elements */
} Block;

static KmStatus
block_create(KmContext *ctx, const KmSmo *smo, KmRows *rows, Block *block)
{
    size_t most = km_rows_capacity(rows) < BLOCK_SIZE ? km_rows_capacity(rows) : BLOCK_SIZE;
    size_t stride = (most + KM_SMO_PAD - 1) / KM_SMO_PAD * KM_SMO_PAD;

    memset(block, 0, sizeof *block);
    block->rows = rows;
    block->capacity = most;
    block->element = km_rows_source(rows)->single ? sizeof(float) : sizeof(double);
    KM_TRY(km_alloc(ctx, most, &block->member));
    KM_TRY(km_alloc(ctx, most, &block->previous));
    KM_TRY(km_alloc_zero(ctx, smo->n, &block->chosen));
    KM_TRY(km_alloc(ctx, most, &block->keys));
    KM_TRY(km_alloc(ctx, most, &block->row));
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
    km_free(ctx, block->matrix);
    km_free(ctx, block->row);
    km_free(ctx, block->keys);
    km_free(ctx, block->chosen);
    km_free(ctx, block->previous);
    km_free(ctx, block->member);
}

/* ---- choosing ---- */

static bool
is_chosen(const void *state, size_t v)
{
    return ((const Block *) state)->chosen[v];
}

static void
add_violators(const KmSmo *smo, const KmSmoGroup *group, Block *block, int sign, size_t m)
{
    size_t *added = block->member + block->n;
    size_t found = km_smo_violators(smo, group, sign, m, is_chosen, block, block->keys, added);

    for (size_t r = 0; r < found; r++)
        block->chosen[added[r]] = true;
    block->n += found;
}

/* New violators first, of each group half wanting to rise and half to fall, then the newest of the last
 * block. */
static void
choose_block(const KmSmo *smo, Block *block)
{
    size_t fresh = (block->n_previous > 0 ? block->capacity / 2 : block->capacity) / smo->n_groups;

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
copy_row(Block *block, size_t r)
{
    char *to = block->matrix + r * block->smo.stride * block->element;

    for (size_t s = 0; s < block->n; s++)
        if (block->element == sizeof(float))
            ((float *) to)[s] = ((const float *) block->row[r])[block->member[s]];
        else
            ((double *) to)[s] = ((const double *) block->row[r])[block->member[s]];
}

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
static void
load_block(const KmSmo *smo, Block *block)
{
    KmSmo *small = &block->smo;

    km_smo_begin(small, block->n, (block->n + KM_SMO_PAD - 1) / KM_SMO_PAD * KM_SMO_PAD);
    for (size_t r = 0; r < block->n; r++)
    {
        size_t v = block->member[r];

        small->g[r] = smo->g[v];
        small->diagonal[r] = smo->diagonal[v];
        copy_row(block, r);
    }
    for (size_t k = 0; k < smo->n_groups; k++)
        copy_group(&smo->group[k], block, &small->group[k]);
    km_smo_choose(small);
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
        block->row[changed] = block->row[r];
        block->keys[changed++] = change;
    }
    KM_TRY(km_smo_accumulate(ctx, smo, changed, block->row, block->keys));
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
        KM_TRY(km_rows_take(ctx, rows, block.n, block.member, block.row));
        load_block(smo, &block);
        block.smo.iterations = smo->iterations;
        KM_TRY(km_smo_steps(ctx, &block.smo, fmax(tol, ROUND_TOL * km_smo_gap(smo)),
                            round < smo->max_iter ? round : smo->max_iter, block_row, &block));
        smo->iterations = block.smo.iterations;
        KM_TRY(unload_block(ctx, smo, &block));
    }
    block_free(ctx, &block);
    return KM_OK;
}
