/*
 * CRC-32C by the processor's instruction if there is one, else by nibbles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/crc32c.h"

#include <stdbool.h>
#include <string.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#endif

uint32_t sx_crc32c_plain(uint32_t crc, const void *data, size_t bytes)
{
	/* Remainders of the 16 nibbles by the reflected polynomial 0x82f63b78. */
	static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
					   0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
					   0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
					   0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
	const uint8_t *p = data;

	crc = ~crc;
	while (bytes--) {
		crc ^= *p++;
		crc = (crc >> 4) ^ table[crc & 15];
		crc = (crc >> 4) ^ table[crc & 15];
	}
	return ~crc;
}

#if defined(__x86_64__)
#define HAVE_INSTRUCTION 1

static bool has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *p, size_t bytes)
{
	uint64_t c = ~crc, word;

	for (; bytes >= 8; bytes -= 8, p += 8) {
		memcpy(&word, p, 8);
		c = __builtin_ia32_crc32di(c, word);
	}
	for (; bytes; bytes--)
		c = __builtin_ia32_crc32qi((uint32_t)c, *p++);
	return ~(uint32_t)c;
}
#elif defined(__aarch64__)
#define HAVE_INSTRUCTION 1

static bool has_instruction(void)
{
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

/* In assembler: intrinsics would require compiling the whole file for a processor that has them. */
static uint32_t by_instruction(uint32_t crc, const uint8_t *p, size_t bytes)
{
	uint64_t word;

	crc = ~crc;
	for (; bytes >= 8; bytes -= 8, p += 8) {
		memcpy(&word, p, 8);
		__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
	}
	for (; bytes; bytes--)
		__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)*p++));
	return ~crc;
}
#endif

uint32_t sx_crc32c(uint32_t crc, const void *data, size_t bytes)
{
#ifdef HAVE_INSTRUCTION
	if (has_instruction())
		return by_instruction(crc, data, bytes);
#endif
	return sx_crc32c_plain(crc, data, bytes);
}
