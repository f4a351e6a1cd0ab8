/*
 * Calls of other libraries that return memory or threads. Each may fail with ENOMEM. Symbols are weak,
 * because no program has all of these libraries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if __has_include(<jpeglib.h>)
#include <jpeglib.h>

#include <jerror.h>
#endif

#include "tests/torture/torture.h"

/* Handles and types are the library's own. */
#define WRAP_LIBRARY(type, name, parameters, arguments, failed)                                \
	type __real_##name parameters __attribute__((weak));                                   \
	type __wrap_##name parameters;                                                         \
	type __wrap_##name parameters                                                          \
	{                                                                                      \
		static const int errors[] = {ENOMEM, 0};                                       \
                                                                                               \
		if (torture_call(TORTURE_LIBRARY, #name, errors, __builtin_return_address(0))) \
			return failed;                                                         \
		return __real_##name arguments;                                                \
	}

/* libmicrohttpd */
void *MHD_start_daemon_va(unsigned flags, uint16_t port, void *may, void *may_user, void *handler, void *user,
			  va_list options) __attribute__((weak));
void *__wrap_MHD_start_daemon(unsigned flags, uint16_t port, void *may, void *may_user, void *handler,
			      void *user, ...);
void *__wrap_MHD_start_daemon(unsigned flags, uint16_t port, void *may, void *may_user, void *handler,
			      void *user, ...)
{
	static const int errors[] = {ENOMEM, 0};
	va_list options;
	void *daemon;

	if (torture_call(TORTURE_LIBRARY, "MHD_start_daemon", errors, __builtin_return_address(0))) {
		errno = ENOMEM;
		return NULL;
	}
	va_start(options, user);
	daemon = MHD_start_daemon_va(flags, port, may, may_user, handler, user, options);
	va_end(options);
	return daemon;
}

WRAP_LIBRARY(void *, MHD_create_response_from_buffer, (size_t bytes, void *buffer, int mode),
	     (bytes, buffer, mode), NULL)
WRAP_LIBRARY(void *, MHD_create_response_from_callback,
	     (uint64_t size, size_t block, void *reader, void *user, void *freed),
	     (size, block, reader, user, freed), NULL)
WRAP_LIBRARY(int, MHD_add_response_header, (void *response, const char *name, const char *value),
	     (response, name, value), 0)
WRAP_LIBRARY(int, MHD_queue_response, (void *connection, unsigned status, void *response),
	     (connection, status, response), 0)
/* libjpeg reports a failure by a jump out of the call. */
#if __has_include(<jpeglib.h>)
#define WRAP_JPEG(name, pointer)                                                                 \
	void __real_##name(pointer c, int version, size_t bytes) __attribute__((weak));          \
	void __wrap_##name(pointer c, int version, size_t bytes);                                \
	void __wrap_##name(pointer c, int version, size_t bytes)                                 \
	{                                                                                        \
		static const int errors[] = {ENOMEM, 0};                                         \
                                                                                                 \
		if (torture_call(TORTURE_LIBRARY, #name, errors, __builtin_return_address(0))) { \
			c->err->msg_code = JERR_OUT_OF_MEMORY;                                   \
			c->err->error_exit((j_common_ptr)c);                                     \
		}                                                                                \
		__real_##name(c, version, bytes);                                                \
	}
WRAP_JPEG(jpeg_CreateCompress, j_compress_ptr)
WRAP_JPEG(jpeg_CreateDecompress, j_decompress_ptr)
#endif
/* libzstd, libpng, jansson, libyaml, libc */
WRAP_LIBRARY(void *, ZSTD_createCCtx, (void), (), NULL)
WRAP_LIBRARY(void *, ZSTD_createDCtx, (void), (), NULL)
WRAP_LIBRARY(void *, png_create_read_struct, (const char *version, void *p, void *error, void *warning),
	     (version, p, error, warning), NULL)
WRAP_LIBRARY(void *, png_create_write_struct, (const char *version, void *p, void *error, void *warning),
	     (version, p, error, warning), NULL)
WRAP_LIBRARY(void *, png_create_info_struct, (const void *png), (png), NULL)
WRAP_LIBRARY(void *, json_loads, (const char *text, size_t flags, void *error), (text, flags, error), NULL)
WRAP_LIBRARY(int, yaml_parser_initialize, (void *parser), (parser), 0)
WRAP_LIBRARY(void *, newlocale, (int mask, const char *name, void *base), (mask, name, base), NULL)
