/* arena.c: bump allocation from chunks that double from 1 kB to 1 MB. */
#include "arena.h"

#include <string.h>

#include "sizes.h"

#define FIRST_CHUNK 1024
#define LAST_CHUNK ((size_t) 1 << 20)
#define ALIGNMENT 16

static KmStatus
add_chunk(KmContext *ctx, KmArena *arena, size_t bytes)
{
    if (arena->chunk == 0)
        arena->chunk = FIRST_CHUNK;
    else if (arena->chunk < LAST_CHUNK)
        arena->chunk *= 2;
    arena->left = max_size(bytes, arena->chunk);
    return km_alloc(ctx, arena->left, &arena->next);
}

KmStatus
km_arena_bytes(KmContext *ctx, KmArena *arena, size_t count, size_t size, void **out)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ALIGNMENT)
        return km_fail(ctx, KM_MEMORY, "%zu elements of %zu bytes are more than memory can hold", count,
                       size);
    bytes = round_up(bytes, ALIGNMENT);
    if (bytes > arena->left || arena->next == NULL)
        KM_TRY(add_chunk(ctx, arena, bytes));
    *out = arena->next;
    arena->next += bytes;
    arena->left -= bytes;
    memset(*out, 0, bytes);
    return KM_OK;
}
