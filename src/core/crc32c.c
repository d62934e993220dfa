/*
 * crc32c.c: the CRC-32C of Castagnoli (reflected polynomial 0x82F63B78), eight bytes a step
 * by the slicing of Kounavis and Berry on any machine, by the processor's instruction where it has one.
 *
 * A CRC is linear, so an entry of a table is the exclusive or of the entries at the powers of
 * two in its index: eight numbers define a table of 256.
 */
#include "crc32c.h"

#include <string.h>

#define ENTRY(i, a, b, c, d, e, f, g, h) \
    (((i) & 1 ? a : 0) ^ ((i) & 2 ? b : 0) ^ ((i) & 4 ? c : 0) ^ ((i) & 8 ? d : 0) ^ \
     ((i) & 16 ? e : 0) ^ ((i) & 32 ? f : 0) ^ ((i) & 64 ? g : 0) ^ ((i) & 128 ? h : 0))
#define ENTRIES_4(i, ...) \
    ENTRY(i, __VA_ARGS__), ENTRY((i) + 1, __VA_ARGS__), ENTRY((i) + 2, __VA_ARGS__), \
    ENTRY((i) + 3, __VA_ARGS__)
#define ENTRIES_16(i, ...) \
    ENTRIES_4(i, __VA_ARGS__), ENTRIES_4((i) + 4, __VA_ARGS__), ENTRIES_4((i) + 8, __VA_ARGS__), \
    ENTRIES_4((i) + 12, __VA_ARGS__)
#define ENTRIES_64(i, ...) \
    ENTRIES_16(i, __VA_ARGS__), ENTRIES_16((i) + 16, __VA_ARGS__), ENTRIES_16((i) + 32, __VA_ARGS__), \
    ENTRIES_16((i) + 48, __VA_ARGS__)
#define TABLE(...) \
    {ENTRIES_64(0, __VA_ARGS__), ENTRIES_64(64, __VA_ARGS__), ENTRIES_64(128, __VA_ARGS__), \
     ENTRIES_64(192, __VA_ARGS__)}

/* table[s][b]: the CRC of byte b followed by s zero bytes. */
static const uint32_t table[8][256] = {
    TABLE(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78),
    TABLE(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302, 0xff17c604, 0xfbc3faf9),
    TABLE(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14, 0xc76580d9, 0x8b277743),
    TABLE(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b, 0xaba65fe7, 0x52a0c93f),
    TABLE(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557, 0x37516aae, 0x6ea2d55c),
    TABLE(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d, 0x0e045beb, 0x1c08b7d6),
    TABLE(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a, 0xf56e0ef4),
    TABLE(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599, 0x1a00cb32, 0x34019664)};

static uint32_t
little_endian(const unsigned char *p)
{
    return p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 | (uint32_t) p[3] << 24;
}

#ifdef __x86_64__
/* The processor's own instruction, five times as fast; the caller asks whether it is there. */
__attribute__((target("sse4.2"))) static uint32_t
by_instruction(uint32_t crc, const unsigned char *p, size_t length)
{
    uint64_t wide = crc, word;

    for (; length >= 8; length -= 8, p += 8)
    {
        memcpy(&word, p, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t) wide;
    for (; length > 0; length--, p++)
        crc = __builtin_ia32_crc32qi(crc, *p);
    return crc;
}
#endif

uint32_t
km_crc32c_by_tables(uint32_t crc, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;

    crc = ~crc;
    for (; length >= 8; length -= 8, p += 8)
    {
        uint32_t low = crc ^ little_endian(p);
        uint32_t high = little_endian(p + 4);

        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^
            table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
            table[3][high & 255] ^ table[2][high >> 8 & 255] ^
            table[1][high >> 16 & 255] ^ table[0][high >> 24];
    }
    for (; length > 0; length--, p++)
        crc = crc >> 8 ^ table[0][(crc ^ *p) & 255];
    return ~crc;
}

uint32_t
km_crc32c_extend(uint32_t crc, const void *bytes, size_t length)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2"))
        return ~by_instruction(~crc, bytes, length);
#endif
    return km_crc32c_by_tables(crc, bytes, length);
}

uint32_t
km_crc32c(const void *bytes, size_t length)
{
    return km_crc32c_extend(0, bytes, length);
}
