/*
 * random.h: a seeded counter-based generator (Philox 4x32-10, Salmon et al. 2011):
 * number i of stream s is a pure function of (seed, stream, i), on every platform.
 */
#ifndef KM_RANDOM_H
#define KM_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* The block function: 128 random bits for a counter under a key. */
extern void km_random_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Numbers 2b and 2b+1 of a stream are the two halves of block b. */
extern uint64_t km_random_bits(uint64_t seed, uint64_t stream, uint64_t index);
/* Uniform in (0, 1): odd multiples of 2^-53, never 0 or 1. */
extern double km_random_uniform(uint64_t seed, uint64_t stream, uint64_t index);
/* Standard normals index0..index0+n-1 by Box-Muller on km_log and km_sincos;
 * normals 2b and 2b+1 come from uniforms 2b and 2b+1. */
extern void km_random_normal(uint64_t seed, uint64_t stream, uint64_t index0, size_t n, double *out);

#endif
