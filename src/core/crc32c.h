/* crc32c.h: checksums of stored bytes. */
#ifndef KM_CRC32C_H
#define KM_CRC32C_H

#include <stddef.h>
#include <stdint.h>

extern uint32_t km_crc32c(const void *bytes, size_t length);
/* The CRC of some bytes followed by these, from the CRC of the former (0 for none). */
extern uint32_t km_crc32c_extend(uint32_t crc, const void *bytes, size_t length);
/* The same without the processor's instruction: for processors that have none, and for tests. */
extern uint32_t km_crc32c_by_tables(uint32_t crc, const void *bytes, size_t length);

#endif
