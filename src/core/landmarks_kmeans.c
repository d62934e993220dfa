/*
 * landmarks_kmeans.c: landmarks as the centres of k-means (Zhang, Tsang, Kwok 2008), begun by k-means++
 * (Arthur, Vassilvitskii 2007), with at most ITERATIONS of Lloyd's steps.
 */
#include <math.h>
#include <string.h>

#include "landmarks.h"
#include "panel.h"
#include "random.h"
#include "sizes.h"

#define STREAM_KMEANS ((UINT64_C(0x6c616e64) << 32) + 1)
#define ITERATIONS 20           /* landmarks need no more: the first few do nearly all */
#define BLOCK 256               /* rows at a time; a multiple of KM_PANEL_WIDTH */

typedef struct Means
{
    const KmDistinct *rows;
    KmPanel panel;              /* the rows */
    size_t k;
    double *centre;             /* k x d */
    size_t *label;              /* n: nearest centre */
    double *distance;           /* n squared distances to the nearest centre; or k x BLOCK */
    double *mass;               /* k */
} Means;

/* ---- k-means++ ---- */

/* The row in which the share u of all the mass lies. */
static size_t
pick(size_t n, const double *weight, const double *distance, double u)
{
    double total = 0, sum = 0;
    size_t last = 0;

    for (size_t i = 0; i < n; i++)
        total += weight[i] * (distance == NULL ? 1 : distance[i]);
    for (size_t i = 0; i < n; i++)
    {
        double mass = weight[i] * (distance == NULL ? 1 : distance[i]);

        sum += mass;
        if (mass > 0)
            last = i;
        if (sum > u * total)
            break;
    }
    return last;
}

/* Distances to the centre, where they are less than to those before. */
static void
come_nearer(const Means *means, const double *centre, bool first, double *room)
{
    for (size_t j0 = 0; j0 < means->rows->n; j0 += BLOCK)
    {
        size_t n = min_size(means->rows->n - j0, BLOCK);

        km_panel_pairwise(&means->panel, KM_PAIR_SQDIST, 1, centre, j0, n, BLOCK, room);
        for (size_t j = 0; j < n; j++)
            if (first || room[j] < means->distance[j0 + j])
                means->distance[j0 + j] = room[j];
    }
}

static KmStatus
begin(KmContext *ctx, Means *means, uint64_t seed)
{
    const KmDistinct *rows = means->rows;
    double room[BLOCK];

    for (size_t c = 0; c < means->k; c++)
    {
        double u = km_random_uniform(seed, STREAM_KMEANS, c);
        size_t i = pick(rows->n, rows->weight, c == 0 ? NULL : means->distance, u);

        KM_TRY(km_poll(ctx));
        memcpy(means->centre + c * rows->d, rows->x + i * rows->d, rows->d * sizeof *rows->x);
        come_nearer(means, rows->x + i * rows->d, c == 0, room);
    }
    return KM_OK;
}

/* ---- Lloyd's steps ---- */

static KmStatus
assign(KmContext *ctx, Means *means, double *room, bool *changed)
{
    *changed = false;
    for (size_t j0 = 0; j0 < means->rows->n; j0 += BLOCK)
    {
        size_t n = min_size(means->rows->n - j0, BLOCK);

        KM_TRY(km_poll(ctx));
        km_panel_pairwise(&means->panel, KM_PAIR_SQDIST, means->k, means->centre, j0, n, BLOCK, room);
        for (size_t j = 0; j < n; j++)
        {
            size_t best = 0;

            for (size_t c = 1; c < means->k; c++)
                if (room[c * BLOCK + j] < room[best * BLOCK + j])
                    best = c;
            *changed |= means->label[j0 + j] != best;
            means->label[j0 + j] = best;
        }
    }
    return KM_OK;
}

/* Centres to the means of their rows; one without rows stays. */
static void
move(Means *means)
{
    const KmDistinct *rows = means->rows;
    size_t d = rows->d;

    memset(means->mass, 0, means->k * sizeof *means->mass);
    for (size_t i = 0; i < rows->n; i++)
    {
        double *centre = means->centre + means->label[i] * d, *mass = &means->mass[means->label[i]];

        *mass += rows->weight[i];
        for (size_t j = 0; j < d; j++)
            if (*mass == rows->weight[i])
                centre[j] = rows->x[i * d + j];
            else
                centre[j] += (rows->x[i * d + j] - centre[j]) * (rows->weight[i] / *mass);
    }
}

KmStatus
km_landmarks_kmeans(KmContext *ctx, const KmKernel *kernel, const KmDistinct *rows, size_t k, uint64_t seed,
                    double *out, size_t *chosen)
{
    Means means = {.rows = rows, .k = k, .centre = out};
    bool changed = true;
    double *room;

    (void) kernel;
    KM_TRY(km_panel_create(ctx, rows->n, rows->d, rows->x, &means.panel));
    KM_TRY(km_alloc(ctx, rows->n, &means.distance));
    KM_TRY(km_alloc_zero(ctx, rows->n, &means.label));
    KM_TRY(km_alloc(ctx, k, &means.mass));
    KM_TRY(km_alloc(ctx, k * BLOCK, &room));
    KM_TRY(begin(ctx, &means, seed));
    for (int iteration = 0; iteration < ITERATIONS && changed; iteration++)
    {
        KM_TRY(assign(ctx, &means, room, &changed));
        if (changed)
            move(&means);
    }
    *chosen = k;
    km_free(ctx, room);
    km_free(ctx, means.panel.data);
    return KM_OK;
}
