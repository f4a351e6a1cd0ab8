/*
 * CUDA's device functions that need no other lane: atomics, bits, rounding, caching
 * loads. Part of sx_emulate.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_SX_EMULATE_MATH_H
#define SX_TESTS_GPU_EMULATE_SX_EMULATE_MATH_H

#include <fenv.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* One thread runs at a time and never stops inside an atomic function. */
#define SX_ATOMIC(type, name, next)            \
	inline type name(type *at, type value) \
	{                                      \
		const type old = *at;          \
		*at = (type)(next);            \
		return old;                    \
	}
#define SX_ATOMICS(type)                                           \
	SX_ATOMIC(type, atomicExch, value)                         \
	SX_ATOMIC(type, atomicMin, value < old ? value : old)      \
	SX_ATOMIC(type, atomicMax, value > old ? value : old)      \
	SX_ATOMIC(type, atomicAnd, old &value)                     \
	SX_ATOMIC(type, atomicOr, old | value)                     \
	SX_ATOMIC(type, atomicXor, old ^ value)                    \
	inline type atomicCAS(type *at, type expected, type value) \
	{                                                          \
		const type old = *at;                              \
		if (old == expected)                               \
			*at = value;                               \
		return old;                                        \
	}
SX_ATOMICS(int)
SX_ATOMICS(unsigned)
SX_ATOMICS(unsigned long long)
SX_ATOMIC(int, atomicAdd, (unsigned)old + (unsigned)value)
SX_ATOMIC(unsigned, atomicAdd, old + value)
SX_ATOMIC(unsigned long long, atomicAdd, old + value)
SX_ATOMIC(float, atomicAdd, old + value)
SX_ATOMIC(double, atomicAdd, old + value)
SX_ATOMIC(int, atomicSub, (unsigned)old - (unsigned)value)
SX_ATOMIC(unsigned, atomicSub, old - value)
SX_ATOMIC(unsigned, atomicInc, old >= value ? 0 : old + 1)
SX_ATOMIC(unsigned, atomicDec, old == 0 || old > value ? value : old - 1)
SX_ATOMIC(float, atomicExch, value)
#undef SX_ATOMICS
#undef SX_ATOMIC

inline void __threadfence()
{
}

inline void __threadfence_block()
{
}

inline void __threadfence_system()
{
}

inline void __nanosleep(unsigned)
{
}

inline long long clock64()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#define SX_LOAD(name)                                    \
	template <typename T> inline T name(const T *at) \
	{                                                \
		return *at;                              \
	}
SX_LOAD(__ldg)
SX_LOAD(__ldca)
SX_LOAD(__ldcg)
SX_LOAD(__ldcs)
SX_LOAD(__ldlu)
SX_LOAD(__ldcv)
#undef SX_LOAD
#define SX_STORE(name)                                                \
	template <typename T> inline void name(T *at, const T &value) \
	{                                                             \
		*at = value;                                          \
	}
SX_STORE(__stwb)
SX_STORE(__stcg)
SX_STORE(__stcs)
SX_STORE(__stwt)
#undef SX_STORE

inline int __popc(unsigned x)
{
	return __builtin_popcount(x);
}

inline int __popcll(unsigned long long x)
{
	return __builtin_popcountll(x);
}

inline int __clz(int x)
{
	return x ? __builtin_clz((unsigned)x) : 32;
}

inline int __clzll(long long x)
{
	return x ? __builtin_clzll((unsigned long long)x) : 64;
}

inline int __ffs(int x)
{
	return __builtin_ffs(x);
}

inline int __ffsll(long long x)
{
	return __builtin_ffsll(x);
}

inline unsigned __brev(unsigned x)
{
	unsigned y = 0;

	for (int i = 0; i < 32; i++)
		y |= (x >> i & 1u) << (31 - i);
	return y;
}

/* Three bits of each selector count. The instruction prmt evaluates four: see sx_prmt() of gpu/simd.cuh. */
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
	const uint64_t bytes = (uint64_t)b << 32 | a;
	unsigned y = 0;

	for (int i = 0; i < 4; i++)
		y |= ((unsigned)(bytes >> 8 * (selector >> 4 * i & 7)) & 255u) << 8 * i;
	return y;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
	return (unsigned)(((uint64_t)high << 32 | low) << (by & 31) >> 32);
}

inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
	return (unsigned)(((uint64_t)high << 32 | low) >> (by & 31));
}

inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by)
{
	return (unsigned)(((uint64_t)high << 32 | low) >> (by < 32 ? by : 32));
}

inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by)
{
	return by >= 32 ? low : __funnelshift_l(low, high, by);
}

inline unsigned __umulhi(unsigned a, unsigned b)
{
	return (unsigned)((uint64_t)a * b >> 32);
}

inline int __mulhi(int a, int b)
{
	return (int)((int64_t)a * b >> 32);
}

inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
	__extension__ typedef unsigned __int128 wide;

	return (unsigned long long)((wide)a * b >> 64);
}

inline unsigned __sad(int a, int b, unsigned c)
{
	return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a);
}

inline unsigned __usad(unsigned a, unsigned b, unsigned c)
{
	return c + (a > b ? a - b : b - a);
}

/* Packed arithmetic: applies f to lanes of `width` bits. */
template <typename F> inline unsigned sx_emulate_packed(int width, unsigned a, unsigned b, F f)
{
	const unsigned mask = width == 8 ? 255u : 65535u;
	unsigned y = 0;

	for (int i = 0; i < 32; i += width)
		y |= (f(a >> i & mask, b >> i & mask) & mask) << i;
	return y;
}
#define SX_PACKED(name, width, expression)                                                               \
	inline unsigned name(unsigned a, unsigned b)                                                     \
	{                                                                                                \
		return sx_emulate_packed(width, a, b,                                                    \
					 [](unsigned x, unsigned y) -> unsigned { return expression; }); \
	}
SX_PACKED(__vadd2, 16, x + y)
SX_PACKED(__vadd4, 8, x + y)
SX_PACKED(__vsub2, 16, x - y)
SX_PACKED(__vsub4, 8, x - y)
SX_PACKED(__vminu2, 16, x < y ? x : y)
SX_PACKED(__vminu4, 8, x < y ? x : y)
SX_PACKED(__vmaxu2, 16, x > y ? x : y)
SX_PACKED(__vmaxu4, 8, x > y ? x : y)
SX_PACKED(__vmins2, 16, (int16_t)x < (int16_t)y ? x : y)
SX_PACKED(__vmaxs2, 16, (int16_t)x > (int16_t)y ? x : y)
SX_PACKED(__vabsdiffu4, 8, x > y ? x - y : y - x)
SX_PACKED(__vaddus2, 16, x + y > 65535u ? 65535u : x + y)
SX_PACKED(__vaddus4, 8, x + y > 255u ? 255u : x + y)
SX_PACKED(__vsubus2, 16, x > y ? x - y : 0u)
SX_PACKED(__vsubus4, 8, x > y ? x - y : 0u)
SX_PACKED(__vcmpeq4, 8, x == y ? 255u : 0u)
SX_PACKED(__vcmpgtu4, 8, x > y ? 255u : 0u)
SX_PACKED(__vcmpltu4, 8, x < y ? 255u : 0u)
SX_PACKED(__vcmpleu4, 8, x <= y ? 255u : 0u)
SX_PACKED(__vcmpeq2, 16, x == y ? 65535u : 0u)
#undef SX_PACKED

inline unsigned __vsadu4(unsigned a, unsigned b)
{
	const unsigned d = __vabsdiffu4(a, b);

	return (d & 255u) + (d >> 8 & 255u) + (d >> 16 & 255u) + (d >> 24);
}

inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
	for (int i = 0; i < 32; i += 8)
		c += (a >> i & 255u) * (b >> i & 255u);
	return c;
}

inline int __dp4a(int a, int b, int c)
{
	unsigned sum = (unsigned)c; /* the sum wraps */

	for (int i = 0; i < 32; i += 8)
		sum += (unsigned)((int8_t)(a >> i) * (int8_t)(b >> i));
	return (int)sum;
}

#define SX_REINTERPRET(to, name, from)     \
	inline to name(from x)             \
	{                                  \
		to y;                      \
		memcpy(&y, &x, sizeof(y)); \
		return y;                  \
	}
SX_REINTERPRET(int, __float_as_int, float)
SX_REINTERPRET(unsigned, __float_as_uint, float)
SX_REINTERPRET(float, __int_as_float, int)
SX_REINTERPRET(float, __uint_as_float, unsigned)
SX_REINTERPRET(long long, __double_as_longlong, double)
SX_REINTERPRET(double, __longlong_as_double, long long)
#undef SX_REINTERPRET

/*
 * Conversions saturate. A NaN becomes 0 in a conversion from float to 32 bits, otherwise only the upper bit
 * is set, as in the instruction cvt.
 */
template <typename To, typename From> inline To sx_emulate_saturate(From x, To low, To high)
{
	if (x != x)
		return sizeof(From) == 4 && sizeof(To) == 4 ? (To)0 : (To)(1ULL << (8 * sizeof(To) - 1));
	return x <= (From)low ? low : x >= (From)high ? high : (To)x;
}
#define SX_TO_INTEGER(type, name, low, high, float_mode, double_mode)                \
	inline type __float2##name(float x)                                          \
	{                                                                            \
		return sx_emulate_saturate<type, float>(float_mode(x), low, high);   \
	}                                                                            \
	inline type __double2##name(double x)                                        \
	{                                                                            \
		return sx_emulate_saturate<type, double>(double_mode(x), low, high); \
	}
#define SX_TO_INTEGERS(type, name, low, high)                            \
	SX_TO_INTEGER(type, name##_rn, low, high, nearbyintf, nearbyint) \
	SX_TO_INTEGER(type, name##_rz, low, high, truncf, trunc)         \
	SX_TO_INTEGER(type, name##_rd, low, high, floorf, floor)         \
	SX_TO_INTEGER(type, name##_ru, low, high, ceilf, ceil)
SX_TO_INTEGERS(int, int, INT_MIN, INT_MAX)
SX_TO_INTEGERS(unsigned, uint, 0u, UINT_MAX)
SX_TO_INTEGERS(long long, ll, LLONG_MIN, LLONG_MAX)
#undef SX_TO_INTEGERS
#undef SX_TO_INTEGER

/*
 * Arithmetic with a named rounding mode. The compiler rounds to nearest. The other modes change the
 * processor's rounding mode.
 */
template <typename F> inline auto sx_emulate_rounded(int mode, F f) -> decltype(f())
{
	if (mode == FE_TONEAREST)
		return f();
	fesetround(mode);
	volatile decltype(f()) y = f();
	fesetround(FE_TONEAREST);
	return y;
}
#define SX_ROUNDED(type, name, mode, two, three, root)                                       \
	inline type two##add##name(type a, type b)                                           \
	{                                                                                    \
		volatile type x = a, y = b;                                                  \
		return sx_emulate_rounded(mode, [&] { return (type)(x + y); });              \
	}                                                                                    \
	inline type two##sub##name(type a, type b)                                           \
	{                                                                                    \
		volatile type x = a, y = b;                                                  \
		return sx_emulate_rounded(mode, [&] { return (type)(x - y); });              \
	}                                                                                    \
	inline type two##mul##name(type a, type b)                                           \
	{                                                                                    \
		volatile type x = a, y = b;                                                  \
		return sx_emulate_rounded(mode, [&] { return (type)(x * y); });              \
	}                                                                                    \
	inline type two##div##name(type a, type b)                                           \
	{                                                                                    \
		volatile type x = a, y = b;                                                  \
		return sx_emulate_rounded(mode, [&] { return (type)(x / y); });              \
	}                                                                                    \
	inline type two##sqrt##name(type a)                                                  \
	{                                                                                    \
		volatile type x = a;                                                         \
		return sx_emulate_rounded(mode, [&] { return (type)root(x); });              \
	}                                                                                    \
	inline type __fma##three##name(type a, type b, type c)                               \
	{                                                                                    \
		volatile type x = a, y = b, z = c;                                           \
		return sx_emulate_rounded(mode, [&] {                                        \
			return (type)(sizeof(type) == 4 ? fmaf((float)x, (float)y, (float)z) \
							: fma(x, y, z));                     \
		});                                                                          \
	}
SX_ROUNDED(float, _rn, FE_TONEAREST, __f, f, sqrtf)
SX_ROUNDED(float, _rz, FE_TOWARDZERO, __f, f, sqrtf)
SX_ROUNDED(float, _rd, FE_DOWNWARD, __f, f, sqrtf)
SX_ROUNDED(float, _ru, FE_UPWARD, __f, f, sqrtf)
SX_ROUNDED(double, _rn, FE_TONEAREST, __d, , sqrt)
SX_ROUNDED(double, _rz, FE_TOWARDZERO, __d, , sqrt)
SX_ROUNDED(double, _rd, FE_DOWNWARD, __d, , sqrt)
SX_ROUNDED(double, _ru, FE_UPWARD, __d, , sqrt)
#undef SX_ROUNDED

inline float __frcp_rn(float x)
{
	return 1.0f / x;
}

#define SX_FROM_INTEGER(to, name, from)                                          \
	inline to name##_rn(from x)                                              \
	{                                                                        \
		return (to)x;                                                    \
	}                                                                        \
	inline to name##_rz(from x)                                              \
	{                                                                        \
		volatile from y = x;                                             \
		return sx_emulate_rounded(FE_TOWARDZERO, [&] { return (to)y; }); \
	}                                                                        \
	inline to name##_rd(from x)                                              \
	{                                                                        \
		volatile from y = x;                                             \
		return sx_emulate_rounded(FE_DOWNWARD, [&] { return (to)y; });   \
	}                                                                        \
	inline to name##_ru(from x)                                              \
	{                                                                        \
		volatile from y = x;                                             \
		return sx_emulate_rounded(FE_UPWARD, [&] { return (to)y; });     \
	}
SX_FROM_INTEGER(float, __int2float, int)
SX_FROM_INTEGER(float, __uint2float, unsigned)
SX_FROM_INTEGER(float, __ll2float, long long)
SX_FROM_INTEGER(double, __ll2double, long long)
SX_FROM_INTEGER(float, __double2float, double)
#undef SX_FROM_INTEGER

inline double __int2double_rn(int x)
{
	return x;
}

inline double __uint2double_rn(unsigned x)
{
	return x;
}

#define SX_EXTREMES(type, a_type, b_type)                     \
	inline type min(a_type a, b_type b)                   \
	{                                                     \
		return (type)a < (type)b ? (type)a : (type)b; \
	}                                                     \
	inline type max(a_type a, b_type b)                   \
	{                                                     \
		return (type)a > (type)b ? (type)a : (type)b; \
	}
SX_EXTREMES(int, int, int)
SX_EXTREMES(unsigned, unsigned, unsigned)
SX_EXTREMES(unsigned, int, unsigned)
SX_EXTREMES(unsigned, unsigned, int)
SX_EXTREMES(long, long, long)
SX_EXTREMES(unsigned long, unsigned long, unsigned long)
SX_EXTREMES(long long, long long, long long)
SX_EXTREMES(unsigned long long, unsigned long long, unsigned long long)
#undef SX_EXTREMES

inline float min(float a, float b)
{
	return fminf(a, b);
}

inline float max(float a, float b)
{
	return fmaxf(a, b);
}

inline double min(double a, double b)
{
	return fmin(a, b);
}

inline double max(double a, double b)
{
	return fmax(a, b);
}

#endif
