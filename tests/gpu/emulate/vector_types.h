/*
 * Vector types of CUDA for the emulator. Names, sizes and alignments are those of the toolkit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_VECTOR_TYPES_H
#define SX_TESTS_GPU_EMULATE_VECTOR_TYPES_H

#define SX_VECTORS(type, name, align2, align4)                               \
	struct name##1                                                       \
	{                                                                    \
		type x;                                                      \
	};                                                                   \
	struct __attribute__((aligned(align2))) name##2                      \
	{                                                                    \
		type x, y;                                                   \
	};                                                                   \
	struct name##3                                                       \
	{                                                                    \
		type x, y, z;                                                \
	};                                                                   \
	struct __attribute__((aligned(align4))) name##4                      \
	{                                                                    \
		type x, y, z, w;                                             \
	};                                                                   \
	typedef struct name##1 name##1;                                      \
	typedef struct name##2 name##2;                                      \
	typedef struct name##3 name##3;                                      \
	typedef struct name##4 name##4;                                      \
	static inline name##1 make_##name##1(type x)                         \
	{                                                                    \
		name##1 v = {x};                                             \
		return v;                                                    \
	}                                                                    \
	static inline name##2 make_##name##2(type x, type y)                 \
	{                                                                    \
		name##2 v = {x, y};                                          \
		return v;                                                    \
	}                                                                    \
	static inline name##3 make_##name##3(type x, type y, type z)         \
	{                                                                    \
		name##3 v = {x, y, z};                                       \
		return v;                                                    \
	}                                                                    \
	static inline name##4 make_##name##4(type x, type y, type z, type w) \
	{                                                                    \
		name##4 v = {x, y, z, w};                                    \
		return v;                                                    \
	}

SX_VECTORS(signed char, char, 2, 4)
SX_VECTORS(unsigned char, uchar, 2, 4)
SX_VECTORS(short, short, 4, 8)
SX_VECTORS(unsigned short, ushort, 4, 8)
SX_VECTORS(int, int, 8, 16)
SX_VECTORS(unsigned int, uint, 8, 16)
SX_VECTORS(float, float, 8, 16)
SX_VECTORS(long long int, longlong, 16, 16)
SX_VECTORS(unsigned long long int, ulonglong, 16, 16)
SX_VECTORS(double, double, 16, 16)

struct dim3 {
	unsigned int x, y, z;
#ifdef __cplusplus
	constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_)
	{
	}
#endif
};
typedef struct dim3 dim3;

#endif
