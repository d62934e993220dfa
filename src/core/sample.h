/*
 * sample.h: a sample of distinct rows that does not depend on their order: those whose contents have the
 * smallest hashes (km_row_hash).
 */
#ifndef KM_SAMPLE_H
#define KM_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct KmSampled
{
    uint64_t hash;
    double weight;              /* of all rows with this content */
    uint64_t slot;              /* where the row is kept */
} KmSampled;

/* Offer a row to a sample of *n <= capacity rows in order of their hashes.  One whose content is there adds its
 * weight.  One whose hash is small enough comes in and is returned; its slot is that of the row which leaves
 * for it, or *n as it was.  Else NULL.  Two contents of one hash would only share their place. */
extern KmSampled *km_sample_offer(uint64_t capacity, uint64_t hash, double weight, uint64_t *n,
                                  KmSampled *sample);

#endif
