/*
 * The CUDA engine as a module for torture-stixeld. Its sources are linked with the emulated runtime of
 * tests/gpu/emulate. Each call of that runtime is counted and fails like those of wraps.c, kind "cuda". This
 * file has the errors of each call, and reports what the device still holds when the program ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "tests/gpu/emulate/emulate.h"
#include "tests/torture/torture.h"

#define MOST_ERRORS 4
/*
 * The call succeeds, but the work that it starts fails. The next call that waits for the work returns the
 * error.
 */
#define LATER(error) (-(int)(error))

/*
 * Errors that the runtime documents for each call. All other calls have the usual ones. With the second error
 * the device is lost.
 */
static const int usual[MOST_ERRORS] = {cudaErrorInvalidValue, cudaErrorLaunchFailure};
static const struct {
	const char *name;
	int errors[MOST_ERRORS];
} calls[] = {
	{"cudaDriverGetVersion", {cudaErrorInvalidValue}},
	{"cudaRuntimeGetVersion", {cudaErrorInvalidValue}},
	{"cudaGetDeviceCount",
	 {cudaErrorNoDevice, cudaErrorInsufficientDriver, cudaErrorInitializationError}},
	{"cudaGetDeviceProperties", {cudaErrorInvalidDevice}},
	{"cudaDeviceGetAttribute", {cudaErrorInvalidDevice}},
	{"cudaSetDevice", {cudaErrorDevicesUnavailable, cudaErrorLaunchFailure}},
	{"cudaFree", {cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorLaunchFailure}},
	{"cudaMalloc", {cudaErrorMemoryAllocation, cudaErrorLaunchFailure}},
	{"cudaHostAlloc", {cudaErrorMemoryAllocation, cudaErrorLaunchFailure}},
	{"cudaHostRegister", {cudaErrorMemoryAllocation, cudaErrorNotSupported, cudaErrorLaunchFailure}},
	{"cudaStreamCreateWithPriority", {cudaErrorMemoryAllocation, cudaErrorLaunchFailure}},
	{"cudaEventCreateWithFlags", {cudaErrorMemoryAllocation, cudaErrorLaunchFailure}},
	{"cudaMemcpyAsync", {cudaErrorInvalidValue, cudaErrorLaunchFailure, LATER(cudaErrorIllegalAddress)}},
	{"cudaMemcpy2DAsync",
	 {cudaErrorInvalidValue, cudaErrorLaunchFailure, LATER(cudaErrorIllegalAddress)}},
	{"cudaMemsetAsync", {cudaErrorInvalidValue, cudaErrorLaunchFailure, LATER(cudaErrorIllegalAddress)}},
	{"cudaMemset2DAsync",
	 {cudaErrorInvalidValue, cudaErrorLaunchFailure, LATER(cudaErrorIllegalAddress)}},
	{"cudaLaunchKernel",
	 {cudaErrorLaunchOutOfResources, cudaErrorNoKernelImageForDevice, LATER(cudaErrorIllegalAddress)}},
	{"cudaGraphLaunch", {cudaErrorInvalidValue, cudaErrorLaunchFailure, LATER(cudaErrorLaunchFailure)}},
	{"cudaStreamEndCapture", {cudaErrorStreamCaptureInvalidated, cudaErrorLaunchFailure}},
	{"cudaGraphInstantiateWithFlags", {cudaErrorMemoryAllocation, cudaErrorLaunchFailure}},
	{"cudaStreamSynchronize", {cudaErrorInvalidResourceHandle, cudaErrorECCUncorrectable}},
	{"cudaEventSynchronize", {cudaErrorInvalidResourceHandle, cudaErrorECCUncorrectable}},
	{"cudaEventQuery", {cudaErrorNotReady, cudaErrorInvalidResourceHandle, cudaErrorLaunchFailure}},
};

static int judge_call(const char *function, const void *caller)
{
	int errors[MOST_ERRORS + 1] = {0};
	size_t i = 0;

	while (i < sizeof(calls) / sizeof(calls[0]) && strcmp(calls[i].name, function) != 0)
		i++;
	memcpy(errors, i < sizeof(calls) / sizeof(calls[0]) ? calls[i].errors : usual, sizeof(usual));
	return torture_call(TORTURE_CUDA, function, errors, caller);
}

__attribute__((constructor)) static void cuda_begin(void)
{
	static const struct sx_emulate_judge judge = {judge_call, torture_begin_own, torture_end_own};

	sx_emulate_judged_by(&judge);
}

/* Checks that a daemon which ends normally holds no resources of the device. A lost device keeps them. */
__attribute__((destructor)) static void cuda_end(void)
{
	static const char *const held[] = {"device bytes", "pinned bytes", "registrations held",
					   "streams held", "events held",  "graphs held"};

	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		if (sx_emulate_count(held[i]))
			torture_note("wrong held by the device: %llu %s", sx_emulate_count(held[i]), held[i]);
	if (sx_emulate_count("lost"))
		torture_note("lost %llu", sx_emulate_count("lost"));
}
