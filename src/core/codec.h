/*
 * codec.h: what writing and reading models share.  Internal to encode.c and decode.c; model.h has the format.
 */
#ifndef KM_CODEC_H
#define KM_CODEC_H

#include "model.h"

#define KM_CODEC_MAGIC "KMLM"
#define KM_CODEC_CHUNK ((size_t) 1 << 20)       /* values or bytes between polls: about a millisecond */

/* CRC-32C of the bytes from one place up to another. */
extern KmStatus km_codec_checksum(KmContext *ctx, const unsigned char *bytes, size_t from, size_t to,
                                  uint32_t *out);

#endif
