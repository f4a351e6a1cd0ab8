/*
 * CRC-32C (Castagnoli polynomial, as in iSCSI, RFC 3720 appendix B.4).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CRC32C_H
#define SX_IPC_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues from crc (0 to begin): crc32c(crc32c(0, a), b) is the CRC of a followed by b. Any thread. */
uint32_t sx_crc32c(uint32_t crc, const void *data, size_t bytes);

/* Same result without the processor's instruction: for the test, and for processors without it. */
uint32_t sx_crc32c_plain(uint32_t crc, const void *data, size_t bytes);

#endif
