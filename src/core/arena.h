/*
 * arena.h: many small pieces of context memory at little cost each.
 * Nothing is freed alone; the chunks belong to the context.
 */
#ifndef KM_ARENA_H
#define KM_ARENA_H

#include "context.h"

typedef struct KmArena
{
    char *next;
    size_t left;                /* bytes from next to the end of its chunk */
    size_t chunk;               /* size of the last chunk; they double */
} KmArena;                      /* starts as all zero */

/* Zero-filled, 16-byte aligned. */
extern KmStatus km_arena_bytes(KmContext *ctx, KmArena *arena, size_t count, size_t size, void **out);
#define km_arena_alloc(ctx, arena, count, out) \
    km_arena_bytes((ctx), (arena), (count), sizeof **(out), (void **) (out))

#endif
