/*
 * Memory, copies, launches and queries about the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <map>
#include <mutex>
#include <set>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sx_emulate.h>

#include "tests/gpu/emulate/device.h"
#include "tests/gpu/emulate/faults.h"

#define GARBAGE 0xdb
#define GUARD 0xa7
#ifdef __SANITIZE_ADDRESS__
#define GUARD_BYTES ((size_t)0) /* AddressSanitizer has its own guards */
#else
#define GUARD_BYTES ((size_t)256)
#endif
#define USUAL_SHARED ((size_t)48 << 10)

enum kind { DEVICE, PINNED, REGISTERED };

struct range {
	size_t bytes;
	enum kind kind;
	unsigned flags;
};

typedef std::lock_guard<std::mutex> hold_lock;
static std::mutex lock;
static std::map<const char *, struct range> &ranges = *new std::map<const char *, struct range>;
static std::map<const void *, size_t> &shared_limits = *new std::map<const void *, size_t>;

/* Returns the allocation that contains the whole range, or NULL. The caller holds the lock. */
static const std::pair<const char *const, struct range> *find(const void *at, size_t bytes)
{
	auto r = ranges.upper_bound((const char *)at);

	if (r == ranges.begin())
		return NULL;
	--r;
	return (const char *)at + bytes <= r->first + r->second.bytes ? &*r : NULL;
}

/* Returns true if the range lies inside one allocation of pinned memory. */
static bool is_pinned(const void *at, size_t bytes)
{
	hold_lock hold(lock);
	const auto *r = find(at, bytes);

	return r && r->second.kind != DEVICE;
}

static void *take(size_t bytes, enum kind kind, unsigned flags)
{
	void *memory = NULL;
	char *at;

	if (posix_memalign(&memory, 256, bytes + 2 * GUARD_BYTES) != 0)
		return NULL;
	memset(memory, GUARD, bytes + 2 * GUARD_BYTES);
	at = (char *)memory + GUARD_BYTES;
	memset(at, GARBAGE, bytes);
	hold_lock hold(lock);
	ranges[at] = {bytes, kind, flags};
	sx_emulate_taken(kind == DEVICE ? "device bytes" : "pinned bytes", (long long)bytes);
	return at;
}

static void check_guards(const char *at, size_t bytes)
{
	for (size_t i = 0; i < GUARD_BYTES; i++) {
		if ((unsigned char)at[bytes + i] == GUARD && (unsigned char)at[-1 - (ptrdiff_t)i] == GUARD)
			continue;
		fprintf(stderr, "emulator: memory beside an allocation of %zu bytes was written\n", bytes);
		abort();
	}
}

static cudaError_t give_back(void *memory, enum kind kind)
{
	char *at = (char *)memory;

	if (!at)
		return cudaSuccess;
	sx_emulate_drain();
	{
		hold_lock hold(lock);
		const auto r = ranges.find(at);

		if (r == ranges.end() || r->second.kind != kind)
			return sx_emulate_error(cudaErrorInvalidValue);
		check_guards(at, r->second.bytes);
		sx_emulate_taken(kind == DEVICE ? "device bytes" : "pinned bytes",
				 -(long long)r->second.bytes);
		ranges.erase(r);
	}
	free(at - GUARD_BYTES);
	return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
	SX_ENTER;
	*total = (size_t)sx_emulate_property("memory");
	*free_bytes = *total - (size_t)sx_emulate_count("device bytes");
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **at, size_t bytes)
{
	SX_ENTER;
	if (sx_emulate_forbidden())
		return sx_emulate_error(cudaErrorStreamCaptureUnsupported);
	if (bytes + sx_emulate_count("device bytes") > (size_t)sx_emulate_property("memory"))
		return sx_emulate_error(cudaErrorMemoryAllocation);
	*at = bytes ? take(bytes, DEVICE, 0) : NULL;
	return *at || !bytes ? cudaSuccess : sx_emulate_error(cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *at)
{
	SX_ENTER_ALWAYS;
	const cudaError_t e = give_back(at, DEVICE);
	return e == cudaSuccess ? given_ : e;
}

cudaError_t cudaHostAlloc(void **at, size_t bytes, unsigned int flags)
{
	SX_ENTER;
	if (sx_emulate_forbidden())
		return sx_emulate_error(cudaErrorStreamCaptureUnsupported);
	*at = bytes ? take(bytes, PINNED, flags) : NULL;
	return *at || !bytes ? cudaSuccess : sx_emulate_error(cudaErrorMemoryAllocation);
}

cudaError_t cudaMallocHost(void **at, size_t bytes)
{
	SX_ENTER;
	return cudaHostAlloc(at, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *at)
{
	SX_ENTER_ALWAYS;
	const cudaError_t e = give_back(at, PINNED);
	return e == cudaSuccess ? given_ : e;
}

cudaError_t cudaHostRegister(void *at, size_t bytes, unsigned int flags)
{
	SX_ENTER;
	if (!at || !bytes)
		return sx_emulate_error(cudaErrorInvalidValue);
	if (!sx_emulate_property("register"))
		return sx_emulate_error(cudaErrorNotSupported);
	hold_lock hold(lock);
	const auto after = ranges.upper_bound((const char *)at + bytes - 1);

	if (after != ranges.begin()) {
		const auto r = std::prev(after);

		if (r->first + r->second.bytes > (const char *)at)
			return sx_emulate_error(cudaErrorHostMemoryAlreadyRegistered);
	}
	ranges[(const char *)at] = {bytes, REGISTERED, flags};
	sx_emulate_taken("registrations held", 1);
	return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *at)
{
	SX_ENTER_ALWAYS;
	sx_emulate_drain();
	hold_lock hold(lock);
	const auto r = ranges.find((const char *)at);

	if (r == ranges.end() || r->second.kind != REGISTERED)
		return sx_emulate_error(cudaErrorHostMemoryNotRegistered);
	ranges.erase(r);
	sx_emulate_taken("registrations held", -1);
	return given_;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
	SX_ENTER;
	*device = NULL;
	if (flags || !sx_emulate_property("map") || !is_pinned(host, 1))
		return sx_emulate_error(cudaErrorInvalidValue);
	*device = host;
	return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *host)
{
	SX_ENTER;
	hold_lock hold(lock);
	const auto *r = find(host, 1);

	if (!r || r->second.kind == DEVICE)
		return sx_emulate_error(cudaErrorInvalidValue);
	*flags = r->second.flags;
	return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *at)
{
	SX_ENTER;
	hold_lock hold(lock);
	const auto *r = find(at, 1);

	*attributes = {};
	attributes->type = !r			      ? cudaMemoryTypeUnregistered
			   : r->second.kind == DEVICE ? cudaMemoryTypeDevice
						      : cudaMemoryTypeHost;
	attributes->devicePointer = r ? (void *)at : NULL;
	attributes->hostPointer = r && r->second.kind != DEVICE ? (void *)at : NULL;
	return cudaSuccess;
}

/*
 * Returns true if one side of a copy lies in the memory that the copy kind names. Variables of kernel files
 * are device memory that the emulator does not track.
 */
static bool is_where(const void *at, size_t bytes, bool device)
{
	hold_lock hold(lock);
	const auto *r = find(at, bytes ? bytes : 1), *first = find(at, 1);

	if (first && !r)
		return false; /* the range runs over the end */
	return !r || (r->second.kind == DEVICE) == device;
}

static cudaError_t copy(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
			size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, bool wait)
{
	const size_t dst_bytes = height ? (height - 1) * dst_pitch + width : 0,
		     src_bytes = height ? (height - 1) * src_pitch + width : 0;
	cudaError_t e;

	if (width > dst_pitch || width > src_pitch)
		return sx_emulate_error(cudaErrorInvalidPitchValue);
	if (kind != cudaMemcpyDefault &&
	    (!is_where(dst, dst_bytes, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) ||
	     !is_where(src, src_bytes, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice)))
		return sx_emulate_error(cudaErrorInvalidValue);
	/* pageable host memory has been read or written when the call returns */
	wait |= !sx_emulate_capturing(stream) &&
		((kind == cudaMemcpyHostToDevice && !is_pinned(src, src_bytes)) ||
		 (kind == cudaMemcpyDeviceToHost && !is_pinned(dst, dst_bytes)));
	e = sx_emulate_enqueue(
		"copy",
		[=] {
			for (size_t y = 0; y < height; y++)
				memcpy((char *)dst + y * dst_pitch, (const char *)src + y * src_pitch, width);
		},
		stream);
	return e == cudaSuccess && wait ? sx_emulate_wait(stream) : e;
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	SX_ENTER;
	return copy(dst, bytes, src, bytes, bytes, 1, kind, NULL, true);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	SX_ENTER;
	return copy(dst, bytes, src, bytes, bytes, 1, kind, stream, false);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
			 size_t height, enum cudaMemcpyKind kind)
{
	SX_ENTER;
	return copy(dst, dst_pitch, src, src_pitch, width, height, kind, NULL, true);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
			      size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	SX_ENTER;
	return copy(dst, dst_pitch, src, src_pitch, width, height, kind, stream, false);
}

cudaError_t cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height,
			      cudaStream_t stream)
{
	SX_ENTER;
	if (width > pitch || !is_where(dst, height ? (height - 1) * pitch + width : 0, true))
		return sx_emulate_error(cudaErrorInvalidValue);
	return sx_emulate_enqueue(
		"set",
		[=] {
			for (size_t y = 0; y < height; y++)
				memset((char *)dst + y * pitch, value, width);
		},
		stream);
}

cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
{
	SX_ENTER;
	return cudaMemset2DAsync(dst, bytes, value, bytes, 1, stream);
}

cudaError_t cudaMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
	SX_ENTER;
	return cudaMemset2DAsync(dst, pitch, value, width, height, NULL);
}

cudaError_t cudaMemset(void *dst, int value, size_t bytes)
{
	SX_ENTER;
	return cudaMemset2DAsync(dst, bytes, value, bytes, 1, NULL);
}

static bool fits(const struct sx_emulate_kernel *k)
{
	const dim3 n = k->block, g = k->grid;
	size_t limit = USUAL_SHARED;
	hold_lock hold(lock);
	const auto asked = shared_limits.find(k->function);

	if (asked != shared_limits.end())
		limit = std::max(limit, asked->second);
	return n.x && n.y && n.z && (uint64_t)n.x * n.y * n.z <= 1024 && n.z <= 64 && g.x && g.y && g.z &&
	       g.x <= 0x7fffffff && g.y <= 65535 && g.z <= 65535 && k->shared <= limit;
}

void sx_emulate_submit(sx_emulate_kernel kernel, cudaStream_t stream)
{
	if (sx_emulate_enter("cudaLaunchKernel", __builtin_return_address(0)) != cudaSuccess)
		return;
	const sx_emulate_inside inside;
	if (!fits(&kernel)) {
		fprintf(stderr,
			"emulator: %s: no device runs %ux%ux%u blocks of %ux%ux%u threads with %zu bytes\n",
			kernel.name, kernel.grid.x, kernel.grid.y, kernel.grid.z, kernel.block.x,
			kernel.block.y, kernel.block.z, kernel.shared);
		sx_emulate_error(cudaErrorInvalidConfiguration);
		return;
	}
	sx_emulate_enqueue(
		"kernel", [=] { sx_emulate_run(kernel); }, stream);
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute what, int value)
{
	SX_ENTER;
	if (what == cudaFuncAttributeMaxDynamicSharedMemorySize) {
		if (value < 0 || (size_t)value > sx_emulate_shared_max())
			return sx_emulate_error(cudaErrorInvalidValue);
		hold_lock hold(lock);
		shared_limits[kernel] = (size_t)value;
	}
	return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
	SX_ENTER;
	(void)kernel;
	*attributes = {};
	attributes->maxThreadsPerBlock = 1024;
	attributes->numRegs = 64;
	attributes->binaryVersion = attributes->ptxVersion = (int)sx_emulate_property("cc");
	attributes->maxDynamicSharedSizeBytes = (int)USUAL_SHARED;
	return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads,
							  size_t shared)
{
	SX_ENTER;
	(void)kernel;
	if (threads < 1 || threads > 1024)
		return sx_emulate_error(cudaErrorInvalidValue);
	*blocks = std::min(16, 1024 / threads);
	if (shared)
		*blocks = std::min(*blocks, (int)(sx_emulate_shared_max() / shared));
	return cudaSuccess;
}
