/* sample.c: see sample.h. */
#include "sample.h"

#include <string.h>

/* The first place whose hash is not below the given one. */
static uint64_t
find_place(uint64_t n, const KmSampled *sample, uint64_t hash)
{
    uint64_t low = 0, high = n;

    while (low < high)
    {
        uint64_t middle = (low + high) / 2;

        if (sample[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A row that left never comes back, because only smaller hashes push it out: weights are whole. */
KmSampled *
km_sample_offer(uint64_t capacity, uint64_t hash, double weight, uint64_t *n, KmSampled *sample)
{
    uint64_t place = find_place(*n, sample, hash), last = *n, slot = *n;

    if (place == capacity)
        return NULL;
    if (place < *n && sample[place].hash == hash)
    {
        sample[place].weight += weight;
        return NULL;
    }
    if (*n == capacity)
        slot = sample[--last].slot;
    else
        ++*n;
    memmove(sample + place + 1, sample + place, (last - place) * sizeof *sample);
    sample[place] = (KmSampled) {hash, weight, slot};
    return &sample[place];
}
