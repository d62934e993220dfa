/*
 * fuzz_spec.c: any bytes parse or fail; what parses prints to a text that parses
 * to the same text again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec.h"

static void
must(KmContext *ctx, KmStatus status)
{
    if (status == KM_OK)
        return;
    fprintf(stderr, "%s\n%s\n", ctx->message, ctx->detail);
    abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    KmContext *ctx = km_context_create((size_t) 1 << 30);
    KmText first = {0}, second = {0}, copied = {0};
    KmNode *tree, *again, *copy;

    if (km_spec_parse(ctx, (const char *) data, size, &tree) == KM_OK)
    {
        must(ctx, km_spec_print(ctx, tree, &first));
        must(ctx, km_spec_parse(ctx, first.data, first.length, &again));
        must(ctx, km_spec_print(ctx, again, &second));
        must(ctx, km_node_copy(ctx, tree, &copy));
        must(ctx, km_spec_print(ctx, copy, &copied));
        if (strcmp(first.data, second.data) != 0 || strcmp(first.data, copied.data) != 0)
        {
            fprintf(stderr, "%s\n%s\n%s\n", first.data, second.data, copied.data);
            abort();
        }
    }
    km_context_destroy(ctx);
    return 0;
}
