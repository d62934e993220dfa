/*
 * smo.c: the passes of SMO, compiled per instruction set (see smo_ops.h).
 *
 * Both element types come from one always-inlined body with a constant `single`.
 */
#include <math.h>

#include "lanes.h"
#include "simd.h"
#include "smo_ops.h"

#define INLINE static inline __attribute__((always_inline))
#define BLOCK 256               /* variables whose least value is found before asking for its place */

INLINE Lanes
row_load(const void *row, size_t v, bool single)
{
    return single ? lanes_load_single((const float *) row + v) : lanes_load((const double *) row + v);
}

INLINE size_t
place_of(double value, const double *g, const double *up, size_t first)
{
    size_t v = first;

    while (g[v] + up[v] != value)
        v++;
    return v;
}

/* g += t (ki - kj) if `move`, and the choice after it. */
INLINE void
update_pass(size_t n, double t, const void *ki, const void *kj, double *g, const double *up, const double *low,
            KmSmoChoice *out, bool single, bool move)
{
    Lanes step = lanes_splat(t), greatest = lanes_splat(-INFINITY);
    double least = INFINITY;
    size_t least_block = KM_SMO_NONE;

    for (size_t first = 0; first < n; first += BLOCK)
    {
        size_t end = n - first < BLOCK ? n : first + BLOCK;
        Lanes block_least = lanes_splat(INFINITY);

        for (size_t v = first; v < end; v += LANES)
        {
            Lanes gv = lanes_load(g + v);

            if (move)
            {
                gv += step * (row_load(ki, v, single) - row_load(kj, v, single));
                lanes_store(g + v, gv);
            }
            block_least = lanes_min(gv + lanes_load(up + v), block_least);
            greatest = lanes_max(gv + lanes_load(low + v), greatest);
        }
        if (lanes_least(block_least) < least)
        {
            least = lanes_least(block_least);
            least_block = first;
        }
    }
    out->least = least;
    out->greatest = lanes_greatest(greatest);
    out->i = least_block == KM_SMO_NONE ? KM_SMO_NONE : place_of(least, g, up, least_block);
}

static void
choose(size_t n, double *g, const double *up, const double *low, KmSmoChoice *out)
{
    update_pass(n, 0, NULL, NULL, g, up, low, out, false, false);
}

/* The best candidate of each lane: the fraction square / curve, and its place (exact in a double). */
typedef struct Best
{
    Lanes square, curve, place;
} Best;

INLINE void
consider(Best *best, Lanes rise, Lanes curve, Lanes place)
{
    Lanes square = rise * rise;
    LaneMask better = lanes_greater(square * best->curve, best->square * curve);

    best->square = lanes_pick(better, square, best->square);
    best->curve = lanes_pick(better, curve, best->curve);
    best->place = lanes_pick(better, place, best->place);
}

/* The best of all lanes, ties to the lowest place. */
INLINE size_t
best_place(const Best *const sets[2])
{
    double square = 0, curve = 1, place = INFINITY;

    for (int l = 0; l < 2 * LANES; l++)
    {
        const Best *set = sets[l / LANES];
        double mine = set->square[l % LANES] * curve, other = square * set->curve[l % LANES];

        if (mine > other || (mine == other && mine > 0 && set->place[l % LANES] < place))
        {
            square = set->square[l % LANES];
            curve = set->curve[l % LANES];
            place = set->place[l % LANES];
        }
    }
    return square > 0 ? (size_t) place : KM_SMO_NONE;
}

INLINE size_t
partner_pass(size_t n, double gi, double kii, const void *k, const double *g, const double *low,
             const double *diagonal, bool single)
{
    Lanes from = lanes_splat(gi), ki = lanes_splat(kii), tau = lanes_splat(KM_SMO_TAU), zero = {0};
    Best even = {zero, lanes_splat(1), zero}, odd = even;
    Lanes place;

    for (int l = 0; l < LANES; l++)
        place[l] = l;
    for (size_t v = 0; v < n; v += 2 * LANES)
    {
        Lanes k0 = row_load(k, v, single), k1 = row_load(k, v + LANES, single);
        Lanes rise0 = lanes_load(g + v) + lanes_load(low + v) - from;
        Lanes rise1 = lanes_load(g + v + LANES) + lanes_load(low + v + LANES) - from;
        Lanes curve0 = ki + lanes_load(diagonal + v) - (k0 + k0);
        Lanes curve1 = ki + lanes_load(diagonal + v + LANES) - (k1 + k1);

        consider(&even, lanes_max(rise0, zero), lanes_max(curve0, tau), place);
        place += LANES;
        consider(&odd, lanes_max(rise1, zero), lanes_max(curve1, tau), place);
        place += LANES;
    }
    return best_place((const Best *const[2]) {&even, &odd});
}

INLINE void
accumulate_pass(size_t n, size_t m, const void *const *row, const double *coef, double *g, bool single)
{
    size_t r = 0;

    for (; r + 4 <= m; r += 4)
    {
        const void *r0 = row[r], *r1 = row[r + 1], *r2 = row[r + 2], *r3 = row[r + 3];

        for (size_t v = 0; v < n; v += LANES)
            lanes_store(g + v, lanes_load(g + v) +
                        ((coef[r] * row_load(r0, v, single) + coef[r + 1] * row_load(r1, v, single)) +
                         (coef[r + 2] * row_load(r2, v, single) + coef[r + 3] * row_load(r3, v, single))));
    }
    for (; r < m; r++)
        for (size_t v = 0; v < n; v += LANES)
            lanes_store(g + v, lanes_load(g + v) + coef[r] * row_load(row[r], v, single));
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
