/* pairs.c: one-vs-one (see pairs.h). */
#include "pairs.h"

#include <string.h>

static size_t
n_classes(const KmPairs *pairs)
{
    return pairs->machine->table->classes->n;
}

/* ---- which rows ---- */

static KmStatus
too_few(KmContext *ctx, const KmPairs *pairs, size_t present, size_t last)
{
    const char *name = pairs->machine->args->signature->name;
    char quoted[KM_QUOTE_SIZE];

    if (present == 0)
        return km_fail(ctx, KM_DATA, "%s needs at least two classes, all have weight 0", name);
    return km_fail(ctx, KM_DATA, "%s needs at least two classes, found only \"%s\"", name,
                   km_quote(pairs->machine->table->classes->text[last], quoted));
}

KmStatus
km_pairs_count(KmContext *ctx, KmPairs *pairs)
{
    const KmTable *table = pairs->machine->table;
    size_t present = 0, last = 0;

    KM_TRY(km_alloc_zero(ctx, n_classes(pairs), &pairs->size));
    for (size_t i = 0; i < table->n; i++)
        pairs->size[table->label[i]] += pairs->box[i] > 0;
    for (size_t c = 0; c < n_classes(pairs); c++)
        if (pairs->size[c] > 0)
        {
            present++;
            last = c;
        }
    return present >= 2 ? KM_OK : too_few(ctx, pairs, present, last);
}

static KmStatus
list_rows(KmContext *ctx, KmPairs *pairs)
{
    const KmTable *table = pairs->machine->table;
    size_t *next;

    KM_TRY(km_alloc(ctx, table->n, &pairs->row));
    KM_TRY(km_alloc_zero(ctx, n_classes(pairs) + 1, &pairs->first));
    KM_TRY(km_alloc(ctx, n_classes(pairs), &next));
    for (size_t c = 0; c < n_classes(pairs); c++)
    {
        next[c] = pairs->first[c];
        pairs->first[c + 1] = pairs->first[c] + pairs->size[c];
    }
    for (size_t i = 0; i < table->n; i++)
        if (pairs->box[i] > 0)
            pairs->row[next[table->label[i]]++] = i;
    return KM_OK;
}

/* Rows of the largest pair. */
static size_t
largest_pair(const KmPairs *pairs)
{
    size_t first = 0, second = 0;

    for (size_t c = 0; c < n_classes(pairs); c++)
        if (pairs->size[c] > first)
        {
            second = first;
            first = pairs->size[c];
        }
        else if (pairs->size[c] > second)
            second = pairs->size[c];
    return first + second;
}

/* ---- one pair ---- */

static KmStatus
pair_create(KmContext *ctx, size_t n_max, size_t n_groups, KmPair *pair)
{
    KM_TRY(km_alloc(ctx, n_max, &pair->member));
    KM_TRY(km_alloc(ctx, n_max, &pair->linear));
    KM_TRY(km_alloc(ctx, n_groups * n_max, &pair->lower));
    KM_TRY(km_alloc(ctx, n_groups * n_max, &pair->upper));
    return km_alloc(ctx, n_groups * n_max, &pair->b);
}

/* The rows of both classes, merged in table order. */
static void
pair_members(const KmPairs *pairs, size_t p, size_t q, KmPair *pair)
{
    const size_t *a = pairs->row + pairs->first[p], *b = pairs->row + pairs->first[q];
    const size_t *a_end = a + pairs->size[p], *b_end = b + pairs->size[q];

    pair->p = p;
    pair->q = q;
    pair->n = 0;
    while (a < a_end || b < b_end)
        pair->member[pair->n++] = b == b_end || (a < a_end && *a < *b) ? *a++ : *b++;
}

static KmStatus
pair_rows(KmContext *ctx, const KmPairs *pairs, const KmPair *pair)
{
    KmMachine *machine = pairs->machine;

    if (pairs->subset == NULL)
        return km_machine_open(ctx, machine, machine->points);
    if (machine->source->single)
        KM_TRY(km_points_gather_f32(ctx, machine->points, pair->n, pair->member, pairs->subset));
    else
        km_points_gather(machine->points, pair->n, pair->member, pairs->subset);
    return km_machine_open(ctx, machine, pairs->subset);
}

static void
pair_store(const KmPairs *pairs, const KmPair *pair)
{
    KmMachine *machine = pairs->machine;

    for (size_t v = 0; v < pair->n; v++)
    {
        size_t i = pair->member[v], c = machine->table->label[i];
        size_t column = km_pair_column(c, c == pair->p ? pair->q : pair->p);

        for (size_t k = 0; k < pairs->n_groups; k++)
            machine->coef[i * machine->columns + column] += pair->b[k * pair->n + v];
    }
}

/* A class without rows loses to any other: its pairs decide by their intercept alone. */
static KmStatus
solve_pair(KmContext *ctx, const KmPairs *pairs, KmPair *pair, size_t number)
{
    double *intercept = &pairs->machine->intercept[number];
    KmSolution solution = {.b = pair->b};
    KmQuadratic problem = {.p = pair->linear, .lower = pair->lower, .upper = pair->upper,
                           .split = pairs->n_groups == 2};

    if (pairs->size[pair->p] == 0 || pairs->size[pair->q] == 0)
    {
        *intercept = pairs->size[pair->q] > 0 ? 1 : -1;
        return KM_OK;
    }
    problem.n = pair->n;
    pairs->load(pairs, pair);
    KM_TRY(pair_rows(ctx, pairs, pair));
    KM_TRY(km_machine_solve(ctx, pairs->machine, &problem, &solution));
    KM_TRY(pairs->finish(ctx, pairs, pair, &solution));
    pair_store(pairs, pair);
    *intercept = solution.bias;
    if (pairs->calibration == NULL)
        return KM_OK;
    return km_calibrate(ctx, pairs->calibration, pairs->machine, &problem, pair->member, pair->b,
                        &pairs->sigmoid[number]);
}

KmStatus
km_pairs_solve(KmContext *ctx, KmPairs *pairs)
{
    KmMachine *machine = pairs->machine;
    size_t n = machine->table->n, n_max = largest_pair(pairs), done = 0;
    KmPair pair;

    KM_TRY(list_rows(ctx, pairs));
    KM_TRY(pair_create(ctx, n_max, pairs->n_groups, &pair));
    if (n_max < n)
        KM_TRY(km_points_reserve(ctx, machine->points, n_max, &pairs->subset));
    KM_TRY(km_machine_reserve_rows(ctx, machine, n_max, km_largest(n, pairs->box)));
    for (size_t p = 0; p + 1 < n_classes(pairs); p++)
        for (size_t q = p + 1; q < n_classes(pairs); q++)
        {
            pair_members(pairs, p, q, &pair);
            KM_TRY(solve_pair(ctx, pairs, &pair, done++));
        }
    return KM_OK;
}
