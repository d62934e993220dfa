/*
 * smo.c: the passes of SMO, compiled per instruction set (see smo_ops.h).
 *
 * Both element types come from one always-inlined body with a constant `single`.
 */
#include <math.h>

#include "simd.h"
#include "smo_ops.h"
#include "vector.h"

#define BLOCK 256               /* variables whose least value is found before asking for its place */

KM_INLINE vd
load_single(const float *from)
{
#if KM_LANES == 8
    return _mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif KM_LANES == 4
    return _mm256_cvtps_pd(_mm_loadu_ps(from));
#else
    return (vd) {from[0], from[1]};
#endif
}

/* a - 2 k, rounded once. */
KM_INLINE vd
less_twice(vd a, vd k)
{
#if KM_LANES > 2
    return vd_fma(vd_set(-2), k, a);
#else
    return a - (k + k);
#endif
}

KM_INLINE double
least_lane(vd v)
{
    double least = v[0];

    for (int l = 1; l < KM_LANES; l++)
        least = v[l] < least ? v[l] : least;
    return least;
}

KM_INLINE vd
row_load(const void *row, size_t v, bool single)
{
    return single ? load_single((const float *) row + v) : vd_load((const double *) row + v);
}

/* The first place from `first` on, a multiple of the lanes, where g + up is `value`. */
KM_INLINE size_t
place_of(double value, const double *g, const double *up, size_t first)
{
    size_t v = first;

    while (!vd_any(vd_eq(vd_load(g + v) + vd_load(up + v), vd_set(value))))
        v += KM_LANES;
    while (g[v] + up[v] != value)
        v++;
    return v;
}

/* g += t (ki - kj) if `move`, and the choice after it. */
KM_INLINE void
update_pass(size_t n, double t, const void *ki, const void *kj, double *g, const double *up,
            const double *low, KmSmoChoice *out, bool single, bool move)
{
    vd step = vd_set(t), greatest = vd_set(-INFINITY);
    double least = INFINITY;
    size_t least_block = KM_SMO_NONE;

    for (size_t first = 0; first < n; first += BLOCK)
    {
        size_t end = n - first < BLOCK ? n : first + BLOCK;
        vd block_least = vd_set(INFINITY);

        for (size_t v = first; v < end; v += KM_LANES)
        {
            vd gv = vd_load(g + v);

            if (move)
            {
                gv += step * (row_load(ki, v, single) - row_load(kj, v, single));
                vd_store(g + v, gv);
            }
            block_least = vd_min(gv + vd_load(up + v), block_least);
            greatest = vd_max(gv + vd_load(low + v), greatest);
        }
        if (vd_any(vd_lt(block_least, vd_set(least))))
        {
            least = least_lane(block_least);
            least_block = first;
        }
    }
    out->least = least;
    out->greatest = -least_lane(-greatest);
    out->i = least_block == KM_SMO_NONE ? KM_SMO_NONE : place_of(least, g, up, least_block);
}

static void
choose(size_t n, double *g, const double *up, const double *low, KmSmoChoice *out)
{
    update_pass(n, 0, NULL, NULL, g, up, low, out, false, false);
}

#define SETS (KM_LANES == 8 ? 4 : 2)    /* of lanes that do not wait for each other, as registers allow */

/* The best candidate of each lane: the fraction square / curve, and its place (exact in a double). */
typedef struct Best
{
    vd square, curve, place;
} Best;

KM_INLINE void
consider(Best *best, vd rise, vd curve, vd place)
{
    vd square = rise * rise;
    vdmask better = vd_lt(best->square * curve, square * best->curve);

    best->square = vd_select(better, square, best->square);
    best->curve = vd_select(better, curve, best->curve);
    best->place = vd_select(better, place, best->place);
}

/* The better of both in each lane, ties to the lower place. */
KM_INLINE Best
better_of(Best a, Best b)
{
    vd mine = a.square * b.curve, other = b.square * a.curve;
    vdmask better = vd_lt(mine, other);
    vd place = vd_select(better, b.place, a.place);

    return (Best) {vd_select(better, b.square, a.square), vd_select(better, b.curve, a.curve),
                   vd_select(vd_eq(mine, other), vd_min(a.place, b.place), place)};
}

/* The best of all lanes, ties to the lowest place. */
KM_INLINE size_t
best_place(Best all)
{
    double square = 0, curve = 1, place = INFINITY;

    for (int l = 0; l < KM_LANES; l++)
    {
        double mine = all.square[l] * curve, other = square * all.curve[l];

        if (mine > other || (mine == other && mine > 0 && all.place[l] < place))
        {
            square = all.square[l];
            curve = all.curve[l];
            place = all.place[l];
        }
    }
    return square > 0 ? (size_t) place : KM_SMO_NONE;
}

KM_INLINE size_t
partner_pass(size_t n, double gi, double kii, const void *k, const double *g, const double *low,
             const double *diagonal, bool single)
{
    vd from = vd_set(gi), ki = vd_set(kii), tau = vd_set(KM_SMO_TAU), zero = {0}, lane, first = zero;
    Best best[SETS];

    for (int l = 0; l < KM_LANES; l++)
        lane[l] = l;
    for (int s = 0; s < SETS; s++)
        best[s] = (Best) {zero, vd_set(1), zero};
    for (size_t v = 0; v < n; v += SETS * KM_LANES)
    {
        KM_UNROLL
        for (size_t s = 0; s < SETS; s++)
            if (v + s * KM_LANES < n)
            {
                size_t at = v + s * KM_LANES;
                vd rise = vd_load(g + at) + vd_load(low + at) - from;
                vd curve = less_twice(ki + vd_load(diagonal + at), row_load(k, at, single));

                consider(&best[s], vd_max(rise, zero), vd_max(curve, tau), first);
            }
        first += SETS * KM_LANES;
    }
    for (int s = 0; s < SETS; s++)
        best[s].place += lane + s * KM_LANES;
    for (int s = 1; s < SETS; s++)
        best[0] = better_of(best[0], best[s]);
    return best_place(best[0]);
}

KM_INLINE void
accumulate_pass(size_t n, size_t m, const void *const *row, const double *coef, double *g, bool single)
{
    size_t r = 0;

    for (; r + 4 <= m; r += 4)
    {
        const void *r0 = row[r], *r1 = row[r + 1], *r2 = row[r + 2], *r3 = row[r + 3];

        for (size_t v = 0; v < n; v += KM_LANES)
            vd_store(g + v, vd_load(g + v) +
                        ((coef[r] * row_load(r0, v, single) + coef[r + 1] * row_load(r1, v, single)) +
                         (coef[r + 2] * row_load(r2, v, single) + coef[r + 3] * row_load(r3, v, single))));
    }
    for (; r < m; r++)
        for (size_t v = 0; v < n; v += KM_LANES)
            vd_store(g + v, vd_load(g + v) + coef[r] * row_load(row[r], v, single));
}

#define PASSES(name, single) \
    static void \
    update_##name(size_t n, double t, const void *ki, const void *kj, double *g, const double *up, \
                  const double *low, KmSmoChoice *out) \
    { \
        update_pass(n, t, ki, kj, g, up, low, out, single, true); \
    } \
    static size_t \
    partner_##name(size_t n, double gi, double kii, const void *k, const double *g, const double *low, \
                   const double *diagonal) \
    { \
        return partner_pass(n, gi, kii, k, g, low, diagonal, single); \
    } \
    static void \
    accumulate_##name(size_t n, size_t m, const void *const *row, const double *coef, double *g) \
    { \
        accumulate_pass(n, m, row, coef, g, single); \
    }

PASSES(single, true)
PASSES(wide, false)

const KmSmoOps KM_VARIANT_NAME(km_smo_ops) = {
    {choose, update_single, partner_single, accumulate_single},
    {choose, update_wide, partner_wide, accumulate_wide}
};
