/*
 * Kernels are one function each, so that what is constant in a call is constant in its loops. Under
 * sanitizers they need not be, and take a fifth of the time to compile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC_INLINE_H
#define SX_CPU_VEC_VEC_INLINE_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALWAYS_INLINE inline
#else
#define ALWAYS_INLINE inline __attribute__((always_inline))
#endif

/*
 * Before a loop of few turns, of a number known where it is inlined. clang does it by itself, and with -O1 it
 * complains that it was told to.
 */
#ifdef __clang__
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#endif
