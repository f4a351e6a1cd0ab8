/*
 * Small kernels for the test of the emulator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sx_emulate.h>

#include "gpu/simd.cuh"
#include "tests/gpu/emulate_kernels.h"

#define ALL 0xffffffffu

template <int WARPS> static __global__ void sum_kernel(const uint32_t *__restrict__ in, int n, uint32_t *out)
{
	__shared__ uint32_t part[WARPS];
	const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
	uint32_t v = i < (unsigned)n ? __ldg(in + i) : 0;

#pragma unroll
	for (int by = 16; by > 0; by >>= 1)
		v += __shfl_down_sync(ALL, v, by);
	if (lane == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	if (threadIdx.x < WARPS) {
		v = part[threadIdx.x];
		v = __reduce_add_sync((1u << WARPS) - 1, v);
		if (threadIdx.x == 0)
			atomicAdd(out, v);
	}
}

cudaError_t emulate_sum(const uint32_t *in, int n, uint32_t *out, cudaStream_t stream)
{
	SX_LAUNCH((sum_kernel<4>), (n + 127) / 128, 128, 0, stream, in, n, out);
	return SX_LAUNCHED();
}

static __global__ void groups_kernel(uint32_t *out)
{
	const int lane = (int)(threadIdx.x & 31);
	const int width = lane < 4 ? 4 : lane < 8 ? 4 : lane < 16 ? 8 : 16;
	const unsigned mask = (width == 16 ? 0xffffu : (1u << width) - 1) << (lane / width * width);
	uint32_t v = threadIdx.x;

	/* the number of rounds differs between groups */
	for (int round = 0; round <= lane / width; round++) {
		uint32_t s = v;

		for (int with = 1; with < width; with *= 2)
			s += __shfl_xor_sync(mask, s, with, width);
		__syncwarp(mask);
		if (round == lane / width)
			out[blockIdx.x * blockDim.x + threadIdx.x] = s;
	}
	__syncwarp();
}

cudaError_t emulate_groups(uint32_t *out, int threads, cudaStream_t stream)
{
	SX_LAUNCH(groups_kernel, 1, threads, 0, stream, out);
	return SX_LAUNCHED();
}

static __global__ void lanes_kernel(uint32_t *out, int leave)
{
	const int lane = (int)threadIdx.x;
	uint32_t *o = out + 16 * lane;

	if (lane >= leave)
		return;
	o[0] = __ballot_sync(ALL, lane & 1);
	o[1] = (uint32_t)__any_sync(ALL, lane == 3);
	o[2] = (uint32_t)__all_sync(ALL, lane < 100);
	o[3] = (uint32_t)__all_sync(ALL, lane != 3);
	o[4] = (uint32_t)__shfl_sync(ALL, lane * 10, 5);
	o[5] = (uint32_t)__shfl_up_sync(ALL, lane, 2, 8);
	o[6] = (uint32_t)__shfl_down_sync(ALL, lane, 1, 4);
	o[7] = (uint32_t)__shfl_xor_sync(ALL, lane, 3, 4);
	o[8] = (uint32_t)__reduce_min_sync(ALL, lane - 4);
	o[9] = __reduce_max_sync(ALL, 0x80000000u - (unsigned)lane);
	o[10] = __match_any_sync(ALL, lane / 3);
	o[11] = __reduce_xor_sync(ALL, 1u << lane);
	o[12] = (uint32_t)(__shfl_sync(ALL, (unsigned long long)lane << 33, 3) >> 33);
	o[13] = __float_as_uint(__shfl_sync(ALL, 0.5f * (float)lane, 3));
	o[14] = __reduce_or_sync(1u << lane, 7u);
	o[15] = (uint32_t)__shfl_sync(ALL, lane, 9, 8);
}

cudaError_t emulate_lanes(uint32_t *out, int leave, cudaStream_t stream)
{
	SX_LAUNCH(lanes_kernel, 1, 32, 0, stream, out, leave);
	return SX_LAUNCHED();
}

static __global__ void math_kernel(uint32_t *o)
{
	const float third = __fdiv_rn(1.0f, 3.0f);

	*o++ = __float_as_uint(__fadd_rd(1.0f, 1e-10f));
	*o++ = __float_as_uint(__fadd_ru(1.0f, 1e-10f));
	*o++ = __float_as_uint(__fmul_rd(third, third));
	*o++ = __float_as_uint(__fmul_ru(third, third));
	*o++ = __float_as_uint(__fdiv_ru(1.0f, 3.0f));
	*o++ = __float_as_uint(__fdiv_rd(1.0f, 3.0f));
	*o++ = __float_as_uint(__fmaf_rd(third, 3.0f, -1.0f));
	*o++ = (uint32_t)__float2int_rn(2.5f);
	*o++ = (uint32_t)__float2int_rn(-3.5f);
	*o++ = (uint32_t)__float2int_rd(-0.5f);
	*o++ = (uint32_t)__float2int_rz(3e9f);
	*o++ = (uint32_t)__double2int_rn(0.5);
	*o++ = (uint32_t)__float2int_rn(NAN);
	*o++ = (uint32_t)__double2int_rn(NAN);
	*o++ = (uint32_t)(__float2ll_rn(NAN) >> 32);
	*o++ = (uint32_t)__dp4a(0x7f7f7f7f, 0x7f7f7f7f, INT_MAX);
	*o++ = __popc(0xf0f0u);
	*o++ = (uint32_t)__clz(1);
	*o++ = (uint32_t)__ffs(8);
	*o++ = __brev(1);
	*o++ = __byte_perm(0x33221100u, 0x77665544u, 0x7052);
	*o++ = __byte_perm(0x80000000u, 0, 0xb3b3);
	*o++ = sx_prmt(0x80000000u, 0, 0xb3b3);
	*o++ = __funnelshift_r(0x89abcdefu, 0x01234567u, 8);
	*o++ = __funnelshift_l(0x89abcdefu, 0x01234567u, 8);
	*o++ = __umulhi(0x80000000u, 6);
	*o++ = __vminu4(0x10ff8001u, 0x20018002u);
	*o++ = (uint32_t)max(-1, 3) + (uint32_t)min(7u, 5u);
	*o++ = __float_as_uint(__int2float_rd(16777217));
}

cudaError_t emulate_math(uint32_t *out, cudaStream_t stream)
{
	SX_LAUNCH(math_kernel, 1, 1, 0, stream, out);
	return SX_LAUNCHED();
}

static __global__ void add_kernel(uint32_t *out, const uint32_t *in, int n)
{
	SX_DYNAMIC_SHARED(uint32_t, copy);
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	copy[threadIdx.x] = i < n ? in[i] : 0;
	__syncthreads();
	if (i < n)
		out[i] += copy[threadIdx.x];
}

cudaError_t emulate_add(uint32_t *out, const uint32_t *in, int n, cudaStream_t stream)
{
	SX_LAUNCH(add_kernel, (n + 63) / 64, 64, 64 * sizeof(uint32_t), stream, out, in, n);
	return SX_LAUNCHED();
}

static __global__ void blocks_kernel(uint32_t *list, uint32_t *count)
{
	if (threadIdx.x == 0)
		list[atomicAdd(count, 1u)] = blockIdx.x;
}

cudaError_t emulate_blocks(uint32_t *list, uint32_t *count, int blocks, cudaStream_t stream)
{
	SX_LAUNCH(blocks_kernel, blocks, 32, 0, stream, list, count);
	return SX_LAUNCHED();
}

static __global__ void fault_kernel(enum emulate_fault how, uint32_t *out)
{
	__shared__ uint32_t box[64];
	const unsigned lane = threadIdx.x;

	switch (how) {
	case EMULATE_MISSING_LANE:
		if (lane != 7)
			out[lane] = __shfl_sync(ALL, lane, 0);
		else
			__syncthreads();
		break;
	case EMULATE_OTHER_FUNCTION:
		if (lane & 1)
			out[lane] = __ballot_sync(ALL, 1);
		else
			out[lane] = __shfl_sync(ALL, lane, 0);
		break;
	case EMULATE_NOT_NAMED:
		out[lane] = __ballot_sync(0xffff, 1);
		break;
	case EMULATE_ABSENT_SOURCE:
		if (lane < 8)
			out[lane] = __shfl_down_sync(0xff, lane, 4);
		break;
	case EMULATE_BARRIER:
		if (lane < 32)
			__syncthreads();
		else
			__syncthreads();
		break;
	case EMULATE_HALF_BARRIER:
		if (lane & 16)
			__syncthreads();
		else
			__syncwarp();
		break;
	case EMULATE_UNWRITTEN:
		out[lane] = box[lane];
		break;
	case EMULATE_LOCK_STEP:
		box[lane] = lane;
		out[lane] = box[lane ^ 1];
		break;
	default:
		break;
	}
}

cudaError_t emulate_fault(enum emulate_fault how, uint32_t *out, cudaStream_t stream)
{
	SX_LAUNCH(fault_kernel, 1, 64, 0, stream, how, out);
	return SX_LAUNCHED();
}
