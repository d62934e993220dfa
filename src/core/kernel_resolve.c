/*
 * kernel_resolve.c: values learnt from data: gamma = auto, scale, median, and
 * length_scale = 1 / sqrt(2 gamma).
 *
 *   auto    1 / d
 *   scale   1 / (d v), v the population variance of all entries
 *   median  1 / (2 m^2), m the median Euclidean distance; 1 / m_1 for kernels of the 1-norm
 *
 * d and the entries count after dims; weights count as repetitions.  1 where the variance or median is 0, or so
 * small that the result is infinite; an error where they are too large.
 */
#include "kernel_types.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "bits.h"
#include "columns.h"
#include "data.h"
#include "sample.h"
#include "sizes.h"

#define ROWS_PER_POLL 4096

/* Rows of one leaf: the columns it chose. */
typedef struct Rows
{
    size_t n, d;
    const double *x;            /* n x d */
    const double *w;            /* NULL: ones */
    const KmSurvey *survey;     /* of all rows, where these are a sample; else NULL */
    const size_t *column;       /* the leaf's columns in it; NULL: all */
} Rows;

static double
weight_of(const Rows *rows, size_t i)
{
    return rows->w != NULL ? rows->w[i] : 1;
}

/* ---- scale ---- */

static KmStatus
gamma_scale(KmContext *ctx, const Rows *rows, KmPairwise distance, double *out)
{
    double variance;

    (void) distance;
    if (rows->survey != NULL)
        KM_TRY(km_survey_variance(ctx, rows->survey, rows->d, rows->column, &variance));
    else
        KM_TRY(km_entries_variance(ctx, rows->n, rows->d, rows->x, rows->w, &variance));
    *out = 1 / ((double) rows->d * variance);
    return KM_OK;
}

/* ---- the sample of distinct rows ---- */

/* Slots are numbers of rows. */
typedef struct Sample
{
    uint64_t n;
    KmSampled row[KM_SAMPLE_ROWS];
} Sample;

static KmStatus
sample_fill(KmContext *ctx, const Rows *rows, Sample *sample)
{
    for (size_t i = 0; i < rows->n; i++)
    {
        KmSampled *newcomer;

        if (i % ROWS_PER_POLL == 0)
            KM_TRY(km_poll(ctx));
        newcomer = km_sample_offer(KM_SAMPLE_ROWS, km_row_hash(rows->d, rows->x + i * rows->d),
                                   weight_of(rows, i), &sample->n, sample->row);
        if (newcomer != NULL)
            newcomer->slot = i;
    }
    return KM_OK;
}

/* ---- the median distance ---- */

/* Two rows of different content: their distance, squared where KM_PAIR_SQDIST (the order is the same), and
 * how often there are two such rows. */
typedef struct Pair
{
    double distance, weight;
} Pair;

/* Divide the weights by a power of two, so that no product of two is too large or too small; exact. */
static double
scale_weights(Sample *sample)
{
    double largest = 0;
    int exponent;

    for (size_t i = 0; i < sample->n; i++)
        largest = fmax(largest, sample->row[i].weight);
    frexp(largest, &exponent);
    for (size_t i = 0; i < sample->n; i++)
        sample->row[i].weight = ldexp(sample->row[i].weight, -exponent);
    return ldexp(1, -exponent);
}

/* All pairs of the sampled rows. */
static KmStatus
fill_pairs(KmContext *ctx, const Rows *rows, const Sample *sample, KmPairwise what, Pair *out)
{
    size_t n = sample->n, ld = round_up(n, KM_PANEL_WIDTH);
    KmPanel panel;
    double *x, *distance;

    KM_TRY(km_alloc(ctx, n * rows->d, &x));
    KM_TRY(km_alloc(ctx, ld, &distance));
    for (size_t i = 0; i < n; i++)
        memcpy(x + i * rows->d, rows->x + sample->row[i].slot * rows->d, rows->d * sizeof *x);
    KM_TRY(km_panel_create(ctx, n, rows->d, x, &panel));
    for (size_t i = 1; i < n; i++)
    {
        KM_TRY(km_poll(ctx));
        km_panel_pairwise(&panel, what, 1, x + i * rows->d, 0, i, ld, distance);
        for (size_t j = 0; j < i; j++)
            *out++ = (Pair) {distance[j], sample->row[i].weight * sample->row[j].weight};
    }
    km_free(ctx, panel.data);
    km_free(ctx, distance);
    km_free(ctx, x);
    return KM_OK;
}

/* Pairs (counted by weight) within one content, w (w - 1) / 2, all at distance 0; weights in units of
 * `one`. */
static double
equal_pairs(const Sample *sample, double one)
{
    double weight = 0;

    for (size_t i = 0; i < sample->n; i++)
        weight += fmax(0, sample->row[i].weight * (sample->row[i].weight - one) / 2);
    return weight;
}

/* Pairs on either side of a limit: how many lie within, what both sides weigh, the least distance beyond. */
typedef struct Split
{
    size_t within;
    double weight_within, weight_beyond, next;
} Split;

/* Move those at a distance <= limit to the front. */
static Split
split_pairs(size_t n, Pair *pair, double limit)
{
    Split split = {.next = INFINITY};

    for (size_t i = 0; i < n; i++)
    {
        Pair here = pair[i];
        bool within = here.distance <= limit;

        pair[i] = pair[split.within];
        pair[split.within] = here;
        split.within += within;
        split.weight_within += within ? here.weight : 0;
        split.weight_beyond += within ? 0 : here.weight;
        split.next = within || here.distance >= split.next ? split.next : here.distance;
    }
    return split;
}

static void
find_range(size_t n, const Pair *pair, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (size_t i = 0; i < n; i++)
    {
        *least = pair[i].distance < *least ? pair[i].distance : *least;
        *most = pair[i].distance > *most ? pair[i].distance : *most;
    }
}

/* The distance up to which pairs weigh `half`, by bisection over the bits of the answer, which are ordered as
 * the values of doubles that are not negative; each pass sees only the pairs that may still be it.  `below`:
 * the weight of what comes before them all.  Between two distances, the lower and the upper one. */
static KmStatus
middle_pair(KmContext *ctx, size_t n, Pair *pair, double below, double half, double *lower, double *upper)
{
    double least, most, beyond = INFINITY;
    uint64_t low, high;

    find_range(n, pair, &least, &most);
    low = km_bits_of(least);
    high = km_bits_of(most);
    while (low < high)
    {
        uint64_t middle = low + (high - low) / 2;
        Split split = split_pairs(n, pair, km_from_bits(middle));
        bool is_within = below + split.weight_within >= half;

        KM_TRY(km_poll(ctx));
        if (is_within && split.within < n)
            beyond = split.next;
        low = is_within ? low : middle + 1;
        high = is_within ? middle : high;
        below += is_within ? 0 : split.weight_within;
        pair += is_within ? 0 : split.within;
        n = is_within ? split.within : n - split.within;
    }
    *lower = *upper = km_from_bits(low);
    if (below + split_pairs(n, pair, *lower).weight_within == half)
        *upper = beyond;
    return KM_OK;
}

static double
distance_of(KmPairwise what, double value)
{
    return what == KM_PAIR_SQDIST ? sqrt(value) : value;
}

/* zero: the weight of the pairs of equal rows.  Distances of others may underflow to 0 as well.  Where most are
 * 0, the median of the rest. */
static KmStatus
median_of(KmContext *ctx, size_t n, Pair *pair, double zero, KmPairwise what, double *out)
{
    Split split = split_pairs(n, pair, 0);
    double rest = split.weight_beyond, lower = 0, upper = split.next;

    zero += split.weight_within;
    *out = 0;
    if (rest == 0)
        return KM_OK;
    if (zero != rest)
        KM_TRY(middle_pair(ctx, n - split.within, pair + split.within, zero < rest ? zero : 0,
                           zero < rest ? (zero + rest) / 2 : rest / 2, &lower, &upper));
    *out = (distance_of(what, lower) + distance_of(what, upper)) / 2;
    if (isfinite(*out))
        return KM_OK;
    km_fail(ctx, KM_RANGE, "the median distance of the rows is too large for double precision");
    return km_hint(ctx, KM_RANGE, "Scale the features first.");
}

static KmStatus
median_distance(KmContext *ctx, const Rows *rows, KmPairwise what, double *out)
{
    Sample *sample;
    Pair *pair;
    size_t n_pairs;
    double one;

    KM_TRY(km_alloc_zero(ctx, 1, &sample));
    KM_TRY(sample_fill(ctx, rows, sample));
    one = scale_weights(sample);
    n_pairs = sample->n * (sample->n - 1) / 2;
    KM_TRY(km_alloc(ctx, n_pairs, &pair));
    KM_TRY(fill_pairs(ctx, rows, sample, what, pair));
    KM_TRY(median_of(ctx, n_pairs, pair, equal_pairs(sample, one), what, out));
    km_free(ctx, pair);
    km_free(ctx, sample);
    return KM_OK;
}

KmStatus
km_median_distance(KmContext *ctx, size_t n, size_t d, const double *x, const double *w, KmPairwise what,
                   double *out)
{
    Rows rows = {.n = n, .d = d, .x = x, .w = w};

    return median_distance(ctx, &rows, what, out);
}

/* ---- the words ---- */

static KmStatus
gamma_auto(KmContext *ctx, const Rows *rows, KmPairwise distance, double *out)
{
    (void) ctx;
    (void) distance;
    *out = 1 / (double) rows->d;
    return KM_OK;
}

static KmStatus
gamma_median(KmContext *ctx, const Rows *rows, KmPairwise distance, double *out)
{
    double median;

    KM_TRY(median_distance(ctx, rows, distance, &median));
    *out = distance == KM_PAIR_L1 ? 1 / median : 1 / (2 * median * median);
    return KM_OK;
}

static const struct
{
    const char *word;
    KmStatus (*gamma)(KmContext *ctx, const Rows *rows, KmPairwise distance, double *out);
} words[] = {{"auto", gamma_auto}, {"scale", gamma_scale}, {"median", gamma_median}};

static KmStatus
gamma_of_word(KmContext *ctx, const Rows *rows, KmPairwise distance, const char *word, double *out)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    {
        if (strcmp(words[i].word, word) == 0)
            KM_TRY(words[i].gamma(ctx, rows, distance, out));
    }
    if (!(*out >= DBL_MIN))
    {
        km_fail(ctx, KM_RANGE, "gamma=%s: the rows spread too widely for double precision", word);
        return km_hint(ctx, KM_RANGE, "Scale the features first.");
    }
    if (!isfinite(*out))
        *out = 1;
    return KM_OK;
}

/* ---- leaves ---- */

/* The rows with the leaf's columns only; *copy is what to free afterwards. */
static KmStatus
choose_columns(KmContext *ctx, const KmLeaf *leaf, const Rows *all, Rows *out, double **copy)
{
    *out = *all;
    *copy = NULL;
    if (leaf->n_dims == 0)
        return KM_OK;
    out->d = leaf->n_dims;
    out->column = leaf->dims;
    KM_TRY(km_alloc_bytes(ctx, all->n, out->d * sizeof(double), (void **) copy));
    for (size_t i = 0; i < all->n; i++)
    {
        for (size_t k = 0; k < out->d; k++)
            (*copy)[i * out->d + k] = all->x[i * all->d + leaf->dims[k]];
    }
    out->x = *copy;
    return KM_OK;
}

static KmStatus
resolve_leaf(KmContext *ctx, KmKernel *kernel, const Rows *all)
{
    KmLeaf *leaf = &kernel->leaf;
    int i = km_leaf_waits_for_data(leaf);
    const char *name;
    double gamma = 1, *copy;
    KmNode *value;
    Rows rows;

    if (i < 0)
        return KM_OK;
    name = leaf->type->signature.params[i].name;
    KM_TRY(choose_columns(ctx, leaf, all, &rows, &copy));
    KM_TRY(gamma_of_word(ctx, &rows, leaf->type->geometry == KM_GEOMETRY_L1 ? KM_PAIR_L1 : KM_PAIR_SQDIST,
                         leaf->args.value[i].word, &gamma));
    km_free(ctx, copy);
    KM_TRY(km_node_number(ctx, strcmp(name, "length_scale") == 0 ? 1 / sqrt(2 * gamma) : gamma, &value));
    KM_TRY(km_node_set(ctx, kernel->node, name, value));
    return km_leaf_compile(ctx, leaf->type, kernel->node, leaf);
}

static KmStatus
resolve(KmContext *ctx, KmKernel *kernel, const Rows *rows)
{
    if (kernel->op == KM_OP_LEAF)
        return resolve_leaf(ctx, kernel, rows);
    for (size_t i = 0; i < kernel->n; i++)
        KM_TRY(resolve(ctx, kernel->child[i], rows));
    return KM_OK;
}

KmStatus
km_kernel_resolve(KmContext *ctx, KmKernel *kernel, size_t n, size_t d, const double *x, const double *w)
{
    Rows rows = {.n = n, .d = d, .x = x, .w = w};

    KM_TRY(km_kernel_check_dimension(ctx, kernel, d));
    return resolve(ctx, kernel, &rows);
}

KmStatus
km_kernel_resolve_survey(KmContext *ctx, KmKernel *kernel, const KmSurvey *survey)
{
    Rows rows = {.d = survey->d, .survey = survey};
    double *x, *w;

    KM_TRY(km_kernel_check_dimension(ctx, kernel, rows.d));
    KM_TRY(km_survey_sample(ctx, survey, &rows.n, &x, &w));
    rows.x = x;
    rows.w = w;
    return resolve(ctx, kernel, &rows);
}
