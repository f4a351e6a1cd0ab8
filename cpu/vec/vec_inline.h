/*
 * Inlining of kernels. Each kernel is one function, so that values that are constant in a call are constant
 * in its loops. Under sanitizers it need not be one function, and then takes a fifth of the time to compile.
 * Nor with plain vectors, where a function would have up to 770 KB: an operation that is one instruction of
 * other kernel sets is many of theirs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC_INLINE_H
#define SX_CPU_VEC_VEC_INLINE_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(SX_VEC_PLAIN)
#define ALWAYS_INLINE inline
#else
#define ALWAYS_INLINE inline __attribute__((always_inline))
#endif

/*
 * Put it before a loop of few turns whose number is known where it is inlined. clang unrolls without it, and
 * with -O1 clang warns about the request.
 */
#ifdef __clang__
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#endif
