/*
 * Calls each function of intrinsics.h once. Add a row here for each new function of the emulator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/gpu/device/intrinsics.h"

#include <math.h>

#include "gpu/cuda.cuh"
#include "gpu/simd.cuh"
#include "gpu/stereo/compare.cuh"
#include "gpu/stereo/median.cuh"
#include "gpu/stereo/mma.cuh"
#include "gpu/stereo/winner.cuh"
#include "gpu/warp.cuh"

#define ALL 0xffffffffu

/* ---- operands ---- */

/* Makes a pair word of gpu/simd.cuh with |v| <= 1023. */
static __device__ uint32_t pair_of(uint32_t w)
{
	uint32_t r = 0;

	for (int i = 0; i < 2; i++) {
		const int v = (int)((w >> 16 * i & 0xffff) % 2047) - 1023;

		r |= (uint32_t)(v < 0 ? 0x8000 - v : v) << 16 * i;
	}
	return r;
}

/* Makes two halves that are positive and finite as fp16. */
static __device__ uint32_t keys_of(uint32_t w)
{
	return (w & 0xffff) % 0x7c00 | (w >> 16) % 0x7c00 << 16;
}

/* Makes a float. NaNs are quiet, because C and CUDA treat signalling NaNs differently. */
static __device__ float float_of(uint32_t w)
{
	return __uint_as_float((w & 0x7fffffffu) > 0x7f800000u ? w | 0x00400000u : w);
}

static __device__ double double_of(uint64_t w)
{
	const uint64_t quiet =
		(w & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? 0x0008000000000000ull : 0;

	return __longlong_as_double((long long)(w | quiet));
}

/* ---- results ---- */

static __device__ uint64_t bits(float v)
{
	return v != v ? 0x7fc00000u : __float_as_uint(v);
}

static __device__ uint64_t bits(double v)
{
	return v != v ? 0x7ff8000000000000ull : (uint64_t)__double_as_longlong(v);
}

static __device__ uint64_t bits(int v)
{
	return (uint32_t)v;
}

static __device__ uint64_t bits(unsigned v)
{
	return v;
}

static __device__ uint64_t bits(long long v)
{
	return (uint64_t)v;
}

static __device__ uint64_t bits(unsigned long long v)
{
	return v;
}

static __device__ uint64_t bits(int4 v)
{
	return (uint64_t)((uint32_t)v.x ^ (uint32_t)v.y * 3) << 32 | ((uint32_t)v.z ^ (uint32_t)v.w * 5);
}

/* Replaces -0 by 0, because CUDA does not define the sign. */
template <typename T> static __device__ uint64_t unsigned_zero(T v)
{
	return bits(v + (T)0);
}

/*
 * Joins the value that an atomic function returned and the value in memory after it. f: takes the address of
 * `first`.
 */
template <typename T, typename F> static __device__ uint64_t atomic(uint64_t *cell, T first, F f)
{
	T *at = reinterpret_cast<T *>(cell);
	T old, now;

	*at = first;
	old = f(at);
	now = *at;
	return bits(old) ^ (bits(now) << 32 | bits(now) >> 32);
}

/* Runs a store and a load with a caching hint. */
template <typename F> static __device__ uint64_t through(uint64_t *cell, uint64_t value, F f)
{
	*cell = value;
	f(reinterpret_cast<unsigned long long *>(cell));
	return *cell;
}

#if defined(SX_EMULATE) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define FROM_80(expression) expression
#else
#define FROM_80(expression) INTRINSIC_ABSENT
#endif

/* ---- functions ---- */

#define ATOMICS(X, suffix, type, one, two, three)                                                   \
	X(atomicExch##suffix, atomic<type>(cell, one, [&](type *p) { return atomicExch(p, two); })) \
	X(atomicMin##suffix, atomic<type>(cell, one, [&](type *p) { return atomicMin(p, two); }))   \
	X(atomicMax##suffix, atomic<type>(cell, one, [&](type *p) { return atomicMax(p, two); }))   \
	X(atomicAnd##suffix, atomic<type>(cell, one, [&](type *p) { return atomicAnd(p, two); }))   \
	X(atomicOr##suffix, atomic<type>(cell, one, [&](type *p) { return atomicOr(p, two); }))     \
	X(atomicXor##suffix, atomic<type>(cell, one, [&](type *p) { return atomicXor(p, two); }))   \
	X(atomicAdd##suffix, atomic<type>(cell, one, [&](type *p) { return atomicAdd(p, two); }))   \
	X(atomicCAS##suffix, atomic<type>(cell, one, [&](type *p) { return atomicCAS(p, three, two); }))

#define MEMORY(X)                                                                                     \
	ATOMICS(X, _int, int, (int)a, (int)b, (c & 1 ? (int)a : (int)c))                              \
	ATOMICS(X, _unsigned, unsigned, a, b, (c & 1 ? a : c))                                        \
	ATOMICS(X, _long, unsigned long long, la, lb, (c & 1 ? la : lb))                              \
	X(atomicSub_int, atomic<int>(cell, (int)a, [&](int *p) { return atomicSub(p, (int)b); }))     \
	X(atomicSub, atomic<unsigned>(cell, a, [&](unsigned *p) { return atomicSub(p, b); }))         \
	X(atomicInc, atomic<unsigned>(cell, a, [&](unsigned *p) { return atomicInc(p, b); }))         \
	X(atomicDec, atomic<unsigned>(cell, a, [&](unsigned *p) { return atomicDec(p, b); }))         \
	X(atomicAdd_float,                                                                            \
	  atomic<float>(cell, normal(a), [&](float *p) { return atomicAdd(p, normal(b)); }))          \
	X(atomicAdd_double, atomic<double>(cell, da, [&](double *p) { return atomicAdd(p, db); }))    \
	X(atomicExch_float, atomic<float>(cell, fa, [&](float *p) { return atomicExch(p, fb); }))     \
	X(ldg, bits((unsigned long long)__ldg(&in->la)))                                              \
	X(ldca, bits(__ldca(&in->a)))                                                                 \
	X(ldcg, bits(__ldcg(&in->b)))                                                                 \
	X(ldcs, bits(__ldcs(&in->c)))                                                                 \
	X(ldlu, bits(__ldlu(&in->a)))                                                                 \
	X(ldcv, bits(__ldcv(&in->b)))                                                                 \
	X(stwb, through(cell, la, [&](unsigned long long *p) { __stwb(p, (unsigned long long)lb); })) \
	X(stcg, through(cell, la, [&](unsigned long long *p) { __stcg(p, (unsigned long long)lb); })) \
	X(stcs, through(cell, la, [&](unsigned long long *p) { __stcs(p, (unsigned long long)lb); })) \
	X(stwt, through(cell, la, [&](unsigned long long *p) { __stwt(p, (unsigned long long)lb); }))

#define INTEGERS(X)                                                                     \
	X(popc, bits(__popc(a)))                                                        \
	X(popcll, bits(__popcll(la)))                                                   \
	X(clz, bits(__clz((int)a)))                                                     \
	X(clzll, bits(__clzll((long long)la)))                                          \
	X(ffs, bits(__ffs((int)a)))                                                     \
	X(ffsll, bits(__ffsll((long long)la)))                                          \
	X(brev, bits(__brev(a)))                                                        \
	X(byte_perm, bits(__byte_perm(a, b, c)))                                        \
	X(prmt, bits(sx_prmt(a, b, c)))                                                 \
	X(funnelshift_l, bits(__funnelshift_l(a, b, c)))                                \
	X(funnelshift_r, bits(__funnelshift_r(a, b, c)))                                \
	X(funnelshift_lc, bits(__funnelshift_lc(a, b, c % 80)))                         \
	X(funnelshift_rc, bits(__funnelshift_rc(a, b, c % 80)))                         \
	X(umulhi, bits(__umulhi(a, b)))                                                 \
	X(mulhi, bits(__mulhi((int)a, (int)b)))                                         \
	X(umul64hi, bits(__umul64hi(la, lb)))                                           \
	X(sad, bits(__sad((int)a, (int)b, c)))                                          \
	X(usad, bits(__usad(a, b, c)))                                                  \
	X(vadd2, bits(__vadd2(a, b)))                                                   \
	X(vadd4, bits(__vadd4(a, b)))                                                   \
	X(vsub2, bits(__vsub2(a, b)))                                                   \
	X(vsub4, bits(__vsub4(a, b)))                                                   \
	X(vminu2, bits(__vminu2(a, b)))                                                 \
	X(vminu4, bits(__vminu4(a, b)))                                                 \
	X(vmaxu2, bits(__vmaxu2(a, b)))                                                 \
	X(vmaxu4, bits(__vmaxu4(a, b)))                                                 \
	X(vmins2, bits(__vmins2(a, b)))                                                 \
	X(vmaxs2, bits(__vmaxs2(a, b)))                                                 \
	X(vabsdiffu4, bits(__vabsdiffu4(a, b)))                                         \
	X(vaddus2, bits(__vaddus2(a, b)))                                               \
	X(vaddus4, bits(__vaddus4(a, b)))                                               \
	X(vsubus2, bits(__vsubus2(a, b)))                                               \
	X(vsubus4, bits(__vsubus4(a, b)))                                               \
	X(vcmpeq2, bits(__vcmpeq2(a, b)))                                               \
	X(vcmpeq4, bits(__vcmpeq4(a, b)))                                               \
	X(vcmpgtu4, bits(__vcmpgtu4(a, b)))                                             \
	X(vcmpltu4, bits(__vcmpltu4(a, b)))                                             \
	X(vcmpleu4, bits(__vcmpleu4(a, b)))                                             \
	X(vsadu4, bits(__vsadu4(a, b)))                                                 \
	X(dp4a_unsigned, bits(__dp4a(a, b, c)))                                         \
	X(dp4a_int, bits(__dp4a((int)a, (int)b, (int)c)))                               \
	X(min_int, bits(min((int)a, (int)b)))                                           \
	X(max_int, bits(max((int)a, (int)b)))                                           \
	X(min_unsigned, bits(min(a, b)))                                                \
	X(max_unsigned, bits(max(a, b)))                                                \
	X(min_mixed, bits(min((int)a, b)))                                              \
	X(max_mixed, bits(max(a, (int)b)))                                              \
	X(min_long, bits(min((long long)la, (long long)lb)))                            \
	X(max_long, bits(max((long long)la, (long long)lb)))                            \
	X(min_unsigned_long, bits(min((unsigned long long)la, (unsigned long long)lb))) \
	X(max_unsigned_long, bits(max((unsigned long long)la, (unsigned long long)lb)))

#define ROUNDED(X, mode)                                             \
	X(fadd_##mode, bits(__fadd_##mode(fa, fb)))                  \
	X(fsub_##mode, bits(__fsub_##mode(fa, fb)))                  \
	X(fmul_##mode, bits(__fmul_##mode(fa, fb)))                  \
	X(fdiv_##mode, bits(__fdiv_##mode(fa, fb)))                  \
	X(fsqrt_##mode, bits(__fsqrt_##mode(fa)))                    \
	X(fmaf_##mode, bits(__fmaf_##mode(fa, fb, fc)))              \
	X(dadd_##mode, bits(__dadd_##mode(da, db)))                  \
	X(dsub_##mode, bits(__dsub_##mode(da, db)))                  \
	X(dmul_##mode, bits(__dmul_##mode(da, db)))                  \
	X(ddiv_##mode, bits(__ddiv_##mode(da, db)))                  \
	X(dsqrt_##mode, bits(__dsqrt_##mode(da)))                    \
	X(fma_##mode, bits(__fma_##mode(da, db, dc)))                \
	X(float2int_##mode, bits(__float2int_##mode(fa)))            \
	X(float2uint_##mode, bits(__float2uint_##mode(fa)))          \
	X(float2ll_##mode, bits(__float2ll_##mode(fa)))              \
	X(double2int_##mode, bits(__double2int_##mode(da)))          \
	X(double2uint_##mode, bits(__double2uint_##mode(da)))        \
	X(double2ll_##mode, bits(__double2ll_##mode(da)))            \
	X(int2float_##mode, bits(__int2float_##mode((int)a)))        \
	X(uint2float_##mode, bits(__uint2float_##mode(a)))           \
	X(ll2float_##mode, bits(__ll2float_##mode((long long)la)))   \
	X(ll2double_##mode, bits(__ll2double_##mode((long long)la))) \
	X(double2float_##mode, bits(__double2float_##mode(da)))

#define FLOATS(X)                                             \
	ROUNDED(X, rn)                                        \
	ROUNDED(X, rz)                                        \
	ROUNDED(X, rd)                                        \
	ROUNDED(X, ru)                                        \
	X(frcp_rn, bits(__frcp_rn(fa)))                       \
	X(int2double_rn, bits(__int2double_rn((int)a)))       \
	X(uint2double_rn, bits(__uint2double_rn(a)))          \
	X(float_as_int, bits(__float_as_int(fa)))             \
	X(float_as_uint, bits(__float_as_uint(fa)))           \
	X(int_as_float, bits(__int_as_float((int)a)))         \
	X(double_as_longlong, bits(__double_as_longlong(da))) \
	X(min_float, unsigned_zero(min(fa, fb)))              \
	X(max_float, unsigned_zero(max(fa, fb)))              \
	X(min_double, unsigned_zero(min(da, db)))             \
	X(max_double, unsigned_zero(max(da, db)))             \
	X(fminf, unsigned_zero(fminf(fa, fb)))                \
	X(fmaxf, unsigned_zero(fmaxf(fa, fb)))                \
	X(fmaf, bits(fmaf(fa, fb, fc)))                       \
	X(add, bits(fa + fb))                                 \
	X(multiply, bits(fa *fb))                             \
	X(divide, bits(fa / fb))                              \
	X(divide_double, bits(da / db))                       \
	X(sqrt, bits(sqrt(da)))                               \
	X(rint, bits(rint(da)))                               \
	X(floor, bits(floor(da)))                             \
	X(fabsf, bits(fabsf(fa)))

/* low: lane numbers of the lower half of a warp. Each half uses its own mask. */
#define HALF (lane < 16 ? 0xffffu : 0xffff0000u)
#define LANES(X)                                                                           \
	X(ballot, bits(__ballot_sync(ALL, (int)(a & 3))))                                  \
	X(ballot_half, bits(__ballot_sync(HALF, (int)(a & 1))))                            \
	X(any, bits(__any_sync(ALL, a % 40 == 0) != 0))                                    \
	X(all, bits(__all_sync(ALL, a % 40 != 0) != 0))                                    \
	X(shfl, bits(__shfl_sync(ALL, a, (int)b)))                                         \
	X(shfl_8, bits(__shfl_sync(ALL, (int)a, (int)b, 8)))                               \
	X(shfl_long, bits(__shfl_sync(ALL, (unsigned long long)la, (int)(b % 32))))        \
	X(shfl_float, bits(__shfl_sync(ALL, fa, (int)(b % 32))))                           \
	X(shfl_double, bits(__shfl_sync(ALL, da, (int)(b % 32))))                          \
	X(shfl_half, bits(__shfl_sync(HALF, a, (int)(b % 16), 16)))                        \
	X(shfl_up, bits(__shfl_up_sync(ALL, a, which_lanes)))                              \
	X(shfl_up_8, bits(__shfl_up_sync(ALL, a, which_lanes % 8, 8)))                     \
	X(shfl_down, bits(__shfl_down_sync(ALL, a, which_lanes)))                          \
	X(shfl_down_4, bits(__shfl_down_sync(ALL, a, which_lanes % 4, 4)))                 \
	X(shfl_xor, bits(__shfl_xor_sync(ALL, a, (int)which_lanes)))                       \
	X(shfl_xor_16, bits(__shfl_xor_sync(ALL, a, (int)which_lanes, 16)))                \
	X(match_any, bits(__match_any_sync(ALL, a % 7)))                                   \
	X(match_any_long, bits(__match_any_sync(ALL, (unsigned long long)(la % 5 << 40)))) \
	X(reduce_add, FROM_80(bits(__reduce_add_sync(ALL, a))))                            \
	X(reduce_add_int, FROM_80(bits(__reduce_add_sync(ALL, (int)a))))                   \
	X(reduce_min, FROM_80(bits(__reduce_min_sync(ALL, a))))                            \
	X(reduce_min_int, FROM_80(bits(__reduce_min_sync(HALF, (int)a))))                  \
	X(reduce_max, FROM_80(bits(__reduce_max_sync(HALF, a))))                           \
	X(reduce_max_int, FROM_80(bits(__reduce_max_sync(ALL, (int)a))))                   \
	X(reduce_and, FROM_80(bits(__reduce_and_sync(ALL, a | b))))                        \
	X(reduce_or, FROM_80(bits(__reduce_or_sync(HALF, a &b &c))))                       \
	X(reduce_xor, FROM_80(bits(__reduce_xor_sync(ALL, a))))                            \
	X(warp_sum, bits(sx_warp_sum(a)))                                                  \
	X(warp_max, bits(sx_warp_max(a)))                                                  \
	X(warp_min, bits(sx_warp_min(a)))                                                  \
	X(warp_sum64, bits((long long)sx_warp_sum64((int64_t)la / 32)))                    \
	X(warp_prefix, bits(sx_warp_prefix(a, lane)))                                      \
	X(syncthreads_count, bits(__syncthreads_count((int)(a & 1))))                      \
	X(syncthreads_and, bits(__syncthreads_and(a % 300 != 0) != 0))                     \
	X(syncthreads_or, bits(__syncthreads_or(a % 300 == 0) != 0))                       \
	X(mma_s8u8,                                                                        \
	  bits(sx_mma_s8u8(a, b, c, (uint32_t)la, (uint32_t)(la >> 32), (uint32_t)lb,      \
			   make_int4((int)(a % 999), (int)(b % 999), -(int)(c % 999), (int)(lb % 999)))))

#define PAIRS(X)                                                                                  \
	X(pair_add, bits(sx_pair_add(pair_of(a), pair_of(b))))                                    \
	X(pair_sub, bits(sx_pair_sub(pair_of(a), pair_of(b))))                                    \
	X(pair_add_clamp, bits(sx_pair_add_clamp(pair_of(a), pair_of(b))))                        \
	X(pair_max, bits(sx_pair_max(pair_of(a), pair_of(b))))                                    \
	X(pair_max_across, bits(sx_pair_max_across(pair_of(a))))                                  \
	X(pair_odd, bits(sx_pair_odd(a)))                                                         \
	X(pair_bytes, bits(sx_pair_bytes(a & 0x00ff00ff, b & 0x00ff00ff)))                        \
	X(pair_join, bits(sx_pair_join(a & 255, b & 255)))                                        \
	X(pair_above, bits(sx_pair_above(pair_of(a), pair_of(b))))                                \
	X(pair_put_above_3, bits(sx_pair_put_above<3>(c & 0x00070007, pair_of(a), pair_of(b))))   \
	X(pair_put_above_12, bits(sx_pair_put_above<12>(c & 0x0fff0fff, pair_of(a), pair_of(b)))) \
	X(median_min, bits(sx_median_min(keys_of(a), keys_of(b))))                                \
	X(median_max, bits(sx_median_max(keys_of(a), keys_of(b))))                                \
	X(key_max, bits(sx_key_max(keys_of(a), keys_of(b))))                                      \
	X(winner_refine_trunc,                                                                    \
	  bits(sx_winner_refine((int)(a & 0x1fff), (int)(b & 0x1fff), SX_SUBPIXEL_TRUNC)))        \
	X(winner_refine_floor,                                                                    \
	  bits(sx_winner_refine((int)(a & 0x1fff), (int)(b & 0x1fff), SX_SUBPIXEL_FLOOR)))

#define FUNCTIONS(X) MEMORY(X) INTEGERS(X) FLOATS(X) LANES(X) PAIRS(X)

#define NUMBER(name, expression) FUNCTION_##name,
enum function { FUNCTIONS(NUMBER) };
#undef NUMBER

/*
 * Returns a float that is not subnormal, because atomic additions of floats flush subnormal numbers on a
 * device.
 */
static __device__ float normal(uint32_t w)
{
	return __uint_as_float((w & 0x807fffffu) | ((w >> 23 & 255) % 200 + 27) << 23);
}

static __device__ uint64_t value_of(enum function which, const struct intrinsic_operands *in, uint64_t *cell)
{
	const uint32_t a = in->a, b = in->b, c = in->c;
	const unsigned long long la = in->la, lb = in->lb;
	const float fa = float_of(a), fb = float_of(b), fc = float_of(c);
	const double da = double_of(la), db = double_of(lb), dc = double_of(la ^ lb << 7);
	const int lane = (int)threadIdx.x % 32;
	const unsigned which_lanes = blockIdx.x % 32;

	switch (which) {
#define CASE(name, expression) \
	case FUNCTION_##name:  \
		return expression;
		FUNCTIONS(CASE)
#undef CASE
	}
	return 0;
}

static __global__ void __launch_bounds__(INTRINSICS_THREADS)
	intrinsic(enum function which, const struct intrinsic_operands *in, uint64_t *out)
{
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	out[i] = value_of(which, in + i, out + i);
}

#ifdef SX_EMULATE
#define NAME(name, expression) #name,
extern "C" const char *const intrinsic_names[] = {FUNCTIONS(NAME) NULL};
#undef NAME

/* Runs the blocks with the emulator's core alone, because its runtime has the same names as the device's. */
extern "C" void intrinsic_emulated(int which, const struct intrinsic_operands *in, int n, uint64_t *out)
{
	sx_emulate_run({"intrinsic", (const void *)intrinsic, dim3((unsigned)(n / INTRINSICS_THREADS)),
			dim3(INTRINSICS_THREADS), 0, [=] { intrinsic((enum function)which, in, out); }});
}
#else
extern "C" int intrinsic_on_device(int which, const struct intrinsic_operands *in, int n, uint64_t *out)
{
	SX_LAUNCH(intrinsic, (unsigned)(n / INTRINSICS_THREADS), INTRINSICS_THREADS, 0, NULL,
		  (enum function)which, in, out);
	return (int)SX_LAUNCHED();
}
#endif
