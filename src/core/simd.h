/*
 * simd.h: one source, several instruction sets, chosen at run time.
 *
 * A file src/core/simd/NAME.c is compiled once per variant, with KM_VARIANT set
 * to base, avx2 or avx512, and defines one constant table of functions,
 * KM_VARIANT_NAME(km_NAME_ops).  The portable caller picks the table for the CPU
 * with KM_PICK(km_NAME_ops).  All variants give the same bits where the header
 * of the module says so.
 */
#ifndef KM_SIMD_H
#define KM_SIMD_H

#define KM_JOIN_(a, b) a##_##b
#define KM_JOIN(a, b) KM_JOIN_(a, b)
#define KM_VARIANT_NAME(name) KM_JOIN(name, KM_VARIANT)

#if defined(__x86_64__)
#define KM_HAS_AVX2() (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#define KM_HAS_AVX512() (KM_HAS_AVX2() && __builtin_cpu_supports("avx512f") && \
    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && \
    __builtin_cpu_supports("avx512bw"))
#define KM_PICK(name) (KM_HAS_AVX512() ? &name##_avx512 : KM_HAS_AVX2() ? &name##_avx2 : &name##_base)
#else
#define KM_PICK(name) (&name##_base)
#endif

#endif
