/*
 * random.c: Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011.  The key is the seed, the counter is
 * (block, stream), low word first.
 */
#include "random.h"
#include "sizes.h"
#include "vmath.h"

#include <math.h>

#define PAIRS 128               /* normals are made this many pairs at a time */

void
km_random_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < 10; round++)
    {
        uint64_t p0 = (uint64_t) 0xd2511f53 * c0, p1 = (uint64_t) 0xcd9e8d57 * c2;

        c0 = (uint32_t) (p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t) p1;
        c2 = (uint32_t) (p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t) p0;
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Numbers 2 * block and 2 * block + 1 of the stream. */
static void
random_block(uint64_t seed, uint64_t stream, uint64_t block, uint64_t out[2])
{
    const uint32_t counter[4] = {(uint32_t) block, (uint32_t) (block >> 32),
                                 (uint32_t) stream, (uint32_t) (stream >> 32)};
    const uint32_t key[2] = {(uint32_t) seed, (uint32_t) (seed >> 32)};
    uint32_t words[4];

    km_random_philox(counter, key, words);
    out[0] = words[0] | (uint64_t) words[1] << 32;
    out[1] = words[2] | (uint64_t) words[3] << 32;
}

/* 52 bits and a half: exact, so neither end is reached by rounding. */
static double
to_uniform(uint64_t bits)
{
    return ((double) (bits >> 12) + 0.5) * 0x1p-52;
}

uint64_t
km_random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t halves[2];

    random_block(seed, stream, index / 2, halves);
    return halves[index % 2];
}

double
km_random_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
    return to_uniform(km_random_bits(seed, stream, index));
}

/* Box and Muller 1958: sqrt(-2 log u) times cos and sin of 2 pi v, u and v the
 * uniforms of blocks block..block+pairs-1. */
static void
normal_pairs(uint64_t seed, uint64_t stream, uint64_t block, size_t pairs, double out[2 * PAIRS])
{
    double radius[PAIRS], angle[PAIRS], sine[PAIRS], cosine[PAIRS];
    uint64_t halves[2];

    for (size_t i = 0; i < pairs; i++)
    {
        random_block(seed, stream, block + i, halves);
        radius[i] = to_uniform(halves[0]);
        angle[i] = 0x1.921fb54442d18p+2 * to_uniform(halves[1]);
    }
    km_log(pairs, radius, radius);
    km_sincos(pairs, angle, sine, cosine);
    for (size_t i = 0; i < pairs; i++)
    {
        double r = sqrt(-2 * radius[i]);

        out[2 * i] = r * cosine[i];
        out[2 * i + 1] = r * sine[i];
    }
}

void
km_random_normal(uint64_t seed, uint64_t stream, uint64_t index0, size_t n, double *out)
{
    double buffer[2 * PAIRS];
    uint64_t block = index0 / 2;
    size_t skip = index0 % 2;

    while (n > 0)
    {
        size_t pairs = n / 2 < PAIRS - 1 ? n / 2 + 1 : PAIRS;
        size_t count = min_size(2 * pairs - skip, n);

        normal_pairs(seed, stream, block, pairs, buffer);
        for (size_t i = 0; i < count; i++)
            out[i] = buffer[skip + i];
        out += count;
        n -= count;
        block += pairs;
        skip = 0;
    }
}
