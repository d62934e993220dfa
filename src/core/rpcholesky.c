/*
 * rpcholesky.c: randomly pivoted Cholesky factorisation, by blocks with rejection.
 *
 * Chen, Epperly, Tropp, Webber 2025 (arXiv 2207.06503): pivot s is drawn with a probability proportional to
 * the diagonal of the residual R = A - F F', and the column R_:s / sqrt(R_ss) joins F.  Epperly, Tropp,
 * Webber 2024 (arXiv 2410.03969) draw a block of proposals from one diagonal and accept each with the
 * probability R_ss (after those accepted before it) / R_ss (when drawn): the same distribution, by matrix
 * products.
 */
#include "rpcholesky.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "gram.h"
#include "random.h"
#include "sizes.h"

#define BLOCK ((size_t) 64)     /* proposals drawn together */
#define CHUNK ((size_t) 1024)   /* rows between polls: 0.1 Gflop at rank 1,000 */
#define NOISE (64.0 * DBL_EPSILON)      /* of a diagonal element: what is left below that is rounding */

typedef struct Search
{
    const KmKernel *kernel;
    const KmPoints *points;
    const double *root;
    uint64_t seed, drawn;       /* random numbers used */
    double *diagonal;           /* n: of A = S K S */
    double *left;               /* n: of the residual, 0 where it is rounding */
    double *sum;                /* n: running sums of left */
    double *columns;            /* CHUNK x BLOCK */
    size_t count;               /* proposals; later those accepted */
    size_t row[BLOCK];          /* their row numbers */
    KmPoints *chosen;           /* their points */
    double *chosen_factor;      /* BLOCK x ld: their rows of F */
    double among[BLOCK * BLOCK];        /* the residual among the proposals */
    double l[BLOCK * BLOCK];    /* its factor, of the accepted ones */
} Search;

/* ---- proposals ---- */

static double
next_uniform(Search *search)
{
    return km_random_uniform(search->seed, 0, search->drawn++);
}

static double
sum_left(Search *search, size_t n)
{
    double total = 0.0;

    for (size_t i = 0; i < n; i++)
        search->sum[i] = total += search->left[i];
    return total;
}

/* The first row whose running sum is beyond target; rows with nothing left are passed over. */
static size_t
find_row(const Search *search, size_t n, double target)
{
    size_t low = 0, high = n - 1;

    while (low < high)
    {
        size_t middle = (low + high) / 2;

        if (search->sum[middle] > target)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Points and rows of F of the present rows. */
static void
gather(Search *search, const KmLowRank *f)
{
    km_points_gather(search->points, search->count, search->row, search->chosen);
    for (size_t j = 0; j < search->count; j++)
        memcpy(search->chosen_factor + j * f->ld, f->factor + search->row[j] * f->ld,
               f->rank * sizeof *f->factor);
}

static void
draw_proposals(Search *search, const KmLowRank *f)
{
    double total = search->sum[f->n - 1];

    search->count = BLOCK;
    for (size_t j = 0; j < BLOCK; j++)
        search->row[j] = find_row(search, f->n, next_uniform(search) * total);
    gather(search, f);
}

/* ---- the residual ---- */

/* out (m x count, stride BLOCK) = (A - F F') of m rows and the chosen ones: tile is their kernel on entry;
 * row[i] says which rows they are, factor holds theirs of F. */
static void
finish_residual(const Search *search, const KmLowRank *f, size_t m, const size_t *row, size_t first,
                const double *factor, double *out)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < search->count; j++)
        {
            size_t r = row != NULL ? row[i] : first + i, s = search->row[j];

            if (r == s)
                out[i * BLOCK + j] = search->diagonal[s];
            else if (search->root != NULL)
                out[i * BLOCK + j] *= search->root[r] * search->root[s];
        }
    if (f->rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, search->count, f->rank, -1.0, factor, f->ld,
                    search->chosen_factor, f->ld, 1.0, out, BLOCK);
}

static KmStatus
residual_among(KmContext *ctx, Search *search, const KmLowRank *f)
{
    KM_TRY(km_kernel_tile(ctx, search->kernel, search->chosen, 0, search->count, search->chosen, 0,
                          search->count, BLOCK, search->among));
    finish_residual(search, f, search->count, search->row, 0, search->chosen_factor, search->among);
    return KM_OK;
}

/* ---- acceptance ---- */

/* Proposal p after the first `accepted`: its row of L, and what is left of its diagonal. */
static double
eliminate(const Search *search, size_t p, size_t accepted, const size_t *place, double *row)
{
    double left = search->among[p * BLOCK + p];

    for (size_t q = 0; q < accepted; q++)
    {
        const double *other = search->l + q * BLOCK;

        row[q] = (search->among[p * BLOCK + place[q]] - cblas_ddot(q, row, 1, other, 1)) / other[q];
        left -= row[q] * row[q];
    }
    return left;
}

/* Keep the accepted proposals, at most `room`, with the factor L of the residual among them. */
static void
accept_proposals(Search *search, size_t room)
{
    size_t accepted = 0, place[BLOCK];

    for (size_t p = 0; p < search->count && accepted < room; p++)
    {
        double *row = search->l + accepted * BLOCK;
        double left = eliminate(search, p, accepted, place, row);
        size_t s = search->row[p];

        bool rejected = next_uniform(search) * search->left[s] >= left;

        if (left <= NOISE * search->diagonal[s])
            search->left[s] = 0.0;      /* never drawn again */
        if (rejected || left <= NOISE * search->diagonal[s])
            continue;
        row[accepted] = sqrt(left);
        place[accepted++] = p;
    }
    for (size_t q = 0; q < accepted; q++)
        search->row[q] = search->row[place[q]];
    search->count = accepted;
}

/* ---- new columns of F ---- */

/* L^-1 in place of L, whose pivots are positive: products with it are faster than solves. */
static void
invert_factor(Search *search)
{
    int count = (int) search->count, ld = (int) BLOCK, info;

    dtrtri_("U", "N", &count, search->l, &ld, &info);
}

/* Rows i0 .. i0+m-1 of the new columns, R_:s L^-T, and what they leave of the diagonal. */
static KmStatus
add_columns(KmContext *ctx, Search *search, const KmLowRank *f, size_t i0, size_t m)
{
    size_t count = search->count;
    double *columns = search->columns;

    KM_TRY(km_kernel_tile(ctx, search->kernel, search->points, i0, m, search->chosen, 0, count, BLOCK,
                          columns));
    finish_residual(search, f, m, NULL, i0, f->factor + i0 * f->ld, columns);
    cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, count, 1.0, search->l,
                BLOCK, columns, BLOCK);
    for (size_t i = 0; i < m; i++)
    {
        double *left = &search->left[i0 + i];

        memcpy(f->factor + (i0 + i) * f->ld + f->rank, columns + i * BLOCK, count * sizeof *columns);
        *left -= cblas_ddot(count, columns + i * BLOCK, 1, columns + i * BLOCK, 1);
        if (*left <= NOISE * search->diagonal[i0 + i])
            *left = 0.0;
    }
    return km_matrix_check_finite(ctx, m, count, BLOCK, columns, "a factor of the kernel matrix");
}

/* A row may keep rounding above NOISE; a pivot has nothing left. */
static KmStatus
add_block(KmContext *ctx, Search *search, KmLowRank *f)
{
    gather(search, f);
    invert_factor(search);
    for (size_t i = 0; i < f->n; i += CHUNK)
        KM_TRY(add_columns(ctx, search, f, i, min_size(CHUNK, f->n - i)));
    for (size_t q = 0; q < search->count; q++)
    {
        f->pivot[f->rank + q] = search->row[q];
        search->left[search->row[q]] = 0.0;
    }
    f->rank += search->count;
    return KM_OK;
}

/* ---- the whole ---- */

/* The diagonal of S K S, checked. */
static KmStatus
set_diagonal(KmContext *ctx, Search *search, size_t n)
{
    KM_TRY(km_alloc(ctx, n, &search->diagonal));
    KM_TRY(km_kernel_diagonal(ctx, search->kernel, search->points, search->diagonal));
    KM_TRY(km_matrix_check_finite(ctx, 1, n, n, search->diagonal, "the diagonal of the kernel matrix"));
    for (size_t i = 0; i < n; i++)
    {
        if (search->diagonal[i] < 0.0)
            return km_fail(ctx, KM_SINGULAR,
                           "the kernel is not positive semidefinite: %g for row %zu and itself",
                           search->diagonal[i], i + 1);
        if (search->root != NULL)
            search->diagonal[i] *= search->root[i] * search->root[i];
    }
    return KM_OK;
}

static KmStatus
prepare(KmContext *ctx, Search *search, size_t rank, KmLowRank *f)
{
    size_t n = km_points_count(search->points);

    *f = (KmLowRank) {.n = n, .ld = rank};
    KM_TRY(km_alloc_bytes(ctx, n, rank * sizeof *f->factor, (void **) &f->factor));
    KM_TRY(km_alloc(ctx, rank, &f->pivot));
    KM_TRY(set_diagonal(ctx, search, n));
    KM_TRY(km_alloc(ctx, n, &search->left));
    KM_TRY(km_alloc(ctx, n, &search->sum));
    KM_TRY(km_alloc(ctx, CHUNK * BLOCK, &search->columns));
    KM_TRY(km_alloc_bytes(ctx, rank, BLOCK * sizeof *f->factor, (void **) &search->chosen_factor));
    memcpy(search->left, search->diagonal, n * sizeof *search->left);
    f->trace = f->residual = sum_left(search, n);
    return km_points_reserve(ctx, search->points, BLOCK, &search->chosen);
}

static void
release(KmContext *ctx, Search *search)
{
    km_free_all(ctx, search->diagonal, search->left, search->sum, search->columns, search->chosen_factor,
                search);
}

KmStatus
km_rpcholesky(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, const double *root, size_t rank,
              double tol, uint64_t seed, KmLowRank *out)
{
    Search *search;

    KM_TRY(km_alloc_zero(ctx, 1, &search));
    search->kernel = kernel;
    search->points = points;
    search->root = root;
    search->seed = seed;
    KM_TRY(prepare(ctx, search, min_size(rank, km_points_count(points)), out));
    while (out->rank < out->ld && out->residual > 0.0 && out->residual > tol * out->trace)
    {
        KM_TRY(km_poll(ctx));
        draw_proposals(search, out);
        KM_TRY(residual_among(ctx, search, out));
        accept_proposals(search, out->ld - out->rank);
        if (search->count > 0)
            KM_TRY(add_block(ctx, search, out));
        out->residual = sum_left(search, out->n);
    }
    release(ctx, search);
    return KM_OK;
}

void
km_low_rank_free(KmContext *ctx, KmLowRank *low_rank)
{
    km_free(ctx, low_rank->factor);
    km_free(ctx, low_rank->pivot);
}
