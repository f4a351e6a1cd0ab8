/*
 * CUDA's kernel language for the kernel files of gpu/, compiled as C++ for the processor. Kernels run in
 * tests/gpu/emulate/block.cc, launches go to its memory.cc.
 *
 * The emulator checks: results; every lane named by a mask meets in the same warp function; no shuffle reads
 * a missing lane; all threads of a block reach __syncthreads at one place; nothing relies on lanes, warps or
 * blocks running in a certain order (SX_EMULATE_ORDER); shared and device memory is not read before it is
 * written (both start as garbage); work of several streams is ordered by events; a captured graph needs no
 * more order than its edges give; with sanitizers also bounds, alignment and overflow.
 * The emulator cannot check races in code between two meetings of lanes, memory ordering, time and registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_SX_EMULATE_H
#define SX_TESTS_GPU_EMULATE_SX_EMULATE_H

#include <functional>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tuple>
#include <utility>

#include <cuda_runtime.h>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline /* forced inlining takes gcc minutes, and runs no faster here */
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))

/*
 * Shared memory is static, because blocks run one after the other. It lies in a separate section, so that
 * block.cc can fill it with garbage. AddressSanitizer guards only variables in usual sections, so a build
 * with AddressSanitizer uses no separate section.
 */
#ifdef __SANITIZE_ADDRESS__
#define __shared__ static
#else
#define __shared__ static __attribute__((section("sx_shared")))
#endif
#define SX_DYNAMIC_SHARED(type, name) type *const name = static_cast<type *>(sx_emulate_dynamic_shared())

/* Place of a lane in the source. A report shows it if the lane waits forever. */
struct sx_site {
	const char *name, *file;
	int line;
};
#define SX_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

extern uint3 sx_emulate_thread, sx_emulate_block;
extern dim3 sx_emulate_block_dim, sx_emulate_grid_dim;
#define threadIdx (static_cast<const uint3 &>(sx_emulate_thread))
#define blockIdx (static_cast<const uint3 &>(sx_emulate_block))
#define blockDim (static_cast<const dim3 &>(sx_emulate_block_dim))
#define gridDim (static_cast<const dim3 &>(sx_emulate_grid_dim))
constexpr int warpSize = 32;

void *sx_emulate_dynamic_shared();
unsigned sx_emulate_lane();
unsigned sx_emulate_active();
/* Stops the program with a report of the running thread. */
[[noreturn]] void sx_emulate_fault(const char *what);

enum sx_lanes_op {
	SX_LANES_SYNC,
	SX_LANES_SHUFFLE, /* arg: lane from which to read */
	SX_LANES_BALLOT,
	SX_LANES_ANY,
	SX_LANES_ALL,
	SX_LANES_ADD,
	SX_LANES_MIN, /* minimum of int64_t; the other comparing operations use int64_t too */
	SX_LANES_MAX,
	SX_LANES_AND,
	SX_LANES_OR,
	SX_LANES_XOR,
	SX_LANES_MATCH
};
/* Lets the calling lane meet the other lanes of the mask. Returns the lane's result. */
uint64_t sx_emulate_warp(enum sx_lanes_op op, unsigned mask, uint64_t value, unsigned arg,
			 struct sx_site site);

enum sx_block_op { SX_BLOCK_SYNC, SX_BLOCK_COUNT, SX_BLOCK_AND, SX_BLOCK_OR };
int sx_emulate_barrier(enum sx_block_op op, int predicate, struct sx_site site);

inline void __syncthreads(SX_SITE)
{
	sx_emulate_barrier(SX_BLOCK_SYNC, 0, {"__syncthreads", file, line});
}

inline int __syncthreads_count(int predicate, SX_SITE)
{
	return sx_emulate_barrier(SX_BLOCK_COUNT, predicate, {"__syncthreads_count", file, line});
}

inline int __syncthreads_and(int predicate, SX_SITE)
{
	return sx_emulate_barrier(SX_BLOCK_AND, predicate, {"__syncthreads_and", file, line});
}

inline int __syncthreads_or(int predicate, SX_SITE)
{
	return sx_emulate_barrier(SX_BLOCK_OR, predicate, {"__syncthreads_or", file, line});
}

inline void __syncwarp(unsigned mask = 0xffffffffu, SX_SITE)
{
	sx_emulate_warp(SX_LANES_SYNC, mask, 0, 0, {"__syncwarp", file, line});
}

inline unsigned __activemask()
{
	return sx_emulate_active();
}

inline unsigned __ballot_sync(unsigned mask, int predicate, SX_SITE)
{
	return (unsigned)sx_emulate_warp(SX_LANES_BALLOT, mask, predicate != 0, 0,
					 {"__ballot_sync", file, line});
}

inline int __any_sync(unsigned mask, int predicate, SX_SITE)
{
	return (int)sx_emulate_warp(SX_LANES_ANY, mask, predicate != 0, 0, {"__any_sync", file, line});
}

inline int __all_sync(unsigned mask, int predicate, SX_SITE)
{
	return (int)sx_emulate_warp(SX_LANES_ALL, mask, predicate != 0, 0, {"__all_sync", file, line});
}

template <typename T> inline uint64_t sx_emulate_bits(T value)
{
	uint64_t bits = 0;

	memcpy(&bits, &value, sizeof(value));
	return bits;
}

template <typename T>
inline T sx_emulate_shuffle(unsigned mask, T value, unsigned from, const char *name, const char *file,
			    int line)
{
	const uint64_t bits =
		sx_emulate_warp(SX_LANES_SHUFFLE, mask, sx_emulate_bits(value), from, {name, file, line});

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* first, last: lanes of the segment of `width` lanes around the caller. */
#define SX_SHUFFLES(type)                                                                                  \
	inline type __shfl_sync(unsigned mask, type value, int from, int width = 32, SX_SITE)              \
	{                                                                                                  \
		const unsigned w = (unsigned)width - 1, lane = sx_emulate_lane();                          \
		return sx_emulate_shuffle(mask, value, (lane & ~w) | ((unsigned)from & w), "__shfl_sync",  \
					  file, line);                                                     \
	}                                                                                                  \
	inline type __shfl_up_sync(unsigned mask, type value, unsigned by, int width = 32, SX_SITE)        \
	{                                                                                                  \
		const unsigned lane = sx_emulate_lane(), first = lane & ~((unsigned)width - 1);            \
		return sx_emulate_shuffle(mask, value, lane < first + by ? lane : lane - by,               \
					  "__shfl_up_sync", file, line);                                   \
	}                                                                                                  \
	inline type __shfl_down_sync(unsigned mask, type value, unsigned by, int width = 32, SX_SITE)      \
	{                                                                                                  \
		const unsigned lane = sx_emulate_lane(), last = lane | ((unsigned)width - 1);              \
		return sx_emulate_shuffle(mask, value, lane + by > last ? lane : lane + by,                \
					  "__shfl_down_sync", file, line);                                 \
	}                                                                                                  \
	inline type __shfl_xor_sync(unsigned mask, type value, int with, int width = 32, SX_SITE)          \
	{                                                                                                  \
		const unsigned lane = sx_emulate_lane(), last = lane | ((unsigned)width - 1);              \
		const unsigned from = lane ^ (unsigned)with;                                               \
		return sx_emulate_shuffle(mask, value, from > last ? lane : from, "__shfl_xor_sync", file, \
					  line);                                                           \
	}
SX_SHUFFLES(int)
SX_SHUFFLES(unsigned)
SX_SHUFFLES(long)
SX_SHUFFLES(unsigned long)
SX_SHUFFLES(long long)
SX_SHUFFLES(unsigned long long)
SX_SHUFFLES(float)
SX_SHUFFLES(double)
#undef SX_SHUFFLES

#define SX_REDUCE(type, name, op)                                                                         \
	inline type name(unsigned mask, type value, SX_SITE)                                              \
	{                                                                                                 \
		return (type)sx_emulate_warp(op, mask, (uint64_t)(int64_t)value, 0, {#name, file, line}); \
	}
SX_REDUCE(int, __reduce_add_sync, SX_LANES_ADD)
SX_REDUCE(unsigned, __reduce_add_sync, SX_LANES_ADD)
SX_REDUCE(int, __reduce_min_sync, SX_LANES_MIN)
SX_REDUCE(unsigned, __reduce_min_sync, SX_LANES_MIN)
SX_REDUCE(int, __reduce_max_sync, SX_LANES_MAX)
SX_REDUCE(unsigned, __reduce_max_sync, SX_LANES_MAX)
SX_REDUCE(unsigned, __reduce_and_sync, SX_LANES_AND)
SX_REDUCE(unsigned, __reduce_or_sync, SX_LANES_OR)
SX_REDUCE(unsigned, __reduce_xor_sync, SX_LANES_XOR)
#undef SX_REDUCE

template <typename T> inline unsigned __match_any_sync(unsigned mask, T value, SX_SITE)
{
	return (unsigned)sx_emulate_warp(SX_LANES_MATCH, mask, sx_emulate_bits(value), 0,
					 {"__match_any_sync", file, line});
}

/* A launch: the function of each thread, and the numbers of threads. */
struct sx_emulate_kernel {
	const char *name;
	const void *function;
	dim3 grid, block;
	size_t shared;
	std::function<void()> thread;
};
void sx_emulate_submit(sx_emulate_kernel kernel, cudaStream_t stream);
/* Runs every block of the kernel. Only the device's thread may call it. */
void sx_emulate_run(const sx_emulate_kernel &kernel);

template <typename Call, size_t... I>
inline std::function<void()> sx_emulate_bind(const Call &call, std::index_sequence<I...>)
{
	return [call] { std::get<0>(call)(std::get<I + 1>(call)...); };
}

template <typename... P, typename... A>
inline void sx_emulate_launch(const char *name, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared,
			      cudaStream_t stream, A &&...args)
{
	const std::tuple<void (*)(P...), typename std::decay<P>::type...> call(kernel,
									       std::forward<A>(args)...);

	sx_emulate_submit({name, (const void *)kernel, grid, block, shared,
			   sx_emulate_bind(call, std::make_index_sequence<sizeof...(P)>())},
			  stream);
}
#define SX_LAUNCH(kernel, grid, block, shared, stream, ...) \
	sx_emulate_launch(#kernel, kernel, grid, block, shared, stream, ##__VA_ARGS__)

#include <sx_emulate_math.h>

#endif
