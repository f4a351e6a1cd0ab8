/*
 * Tests the compression of chunks and their checksum. Decompression returns the original bytes, and allocates
 * no memory for sizes that contradict zstd's own header.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recording/codec.h"
#include "recording/mcap.h"

enum { BYTES = 200000 };

static void need_zstd(void)
{
	if (!sx_codec_built())
		skip();
}

static void test_round_trip(void **state)
{
	uint8_t *plain = malloc(BYTES), *packed;
	struct sx_codec *c;

	need_zstd();
	assert_int_equal(sx_codec_create(&c), 0);
	for (int i = 0; i < BYTES; i++)
		plain[i] = (uint8_t)(i % 251 ^ i >> 9);
	for (int images = 0; images < 2; images++) {
		const void *content = plain;
		int64_t n = sx_codec_encode(c, &content, BYTES, images);

		assert_in_range(n, 1, BYTES - 1);
		packed = malloc((size_t)n);
		memcpy(packed, content, (size_t)n);
		content = packed;
		assert_int_equal(sx_codec_decode(c, &content, (size_t)n, BYTES), 0);
		assert_memory_equal(content, plain, BYTES);
		free(packed);
	}
	sx_codec_destroy(c);
	free(plain);
}

/* A few bytes that claim to expand to very many. */
static void test_sizes_disagree(void **state)
{
	static const size_t wrong[] = {0, BYTES - 1, BYTES + 1, (size_t)1 << 60 /* more than there can be */};
	void *plain = calloc(1, BYTES), *packed;
	const void *content = plain;
	struct sx_codec *c;
	size_t n;

	need_zstd();
	assert_int_equal(sx_codec_create(&c), 0);
	n = (size_t)sx_codec_encode(c, &content, BYTES, false);
	packed = malloc(n);
	memcpy(packed, content, n);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		content = packed;
		assert_int_equal(sx_codec_decode(c, &content, n, wrong[i]), -EBADMSG);
		assert_ptr_equal(content, packed);
	}
	assert_int_equal(sx_codec_decode(c, &content, n, BYTES), 0);
	assert_memory_equal(content, plain, BYTES);
	sx_codec_destroy(c);
	free(packed);
	free(plain);
}

static uint32_t bit_by_bit(const uint8_t *p, size_t bytes)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < 8 * bytes; i++) {
		crc ^= i % 8 ? 0 : p[i / 8];
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static void test_checksum(void **state)
{
	uint8_t data[200];

	assert_int_equal(sx_mcap_crc(0, "123456789", 9), 0xcbf43926u);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * i + 3);
	for (size_t n = 0; n < sizeof(data) - 3; n++) {
		const uint32_t want = bit_by_bit(data + n % 3, n),
			       first = sx_mcap_crc(0, data + n % 3, n / 3);

		assert_int_equal(sx_mcap_crc(0, data + n % 3, n), want);
		assert_int_equal(sx_mcap_crc(first, data + n % 3 + n / 3, n - n / 3), want);
		assert_int_equal(
			sx_mcap_crc_joined(first, sx_mcap_crc(0, data + n % 3 + n / 3, n - n / 3), n - n / 3),
			want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_sizes_disagree),
		cmocka_unit_test(test_checksum),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
