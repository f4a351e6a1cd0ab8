/*
 * Counts of calls and device work, ordered failures, and the properties of the emulated device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <map>
#include <mutex>
#include <string>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/emulate/device.h"
#include "tests/gpu/emulate/faults.h"

static std::mutex lock;
static std::map<std::string, unsigned long long> &counts = /* also read when the program ends */
	*new std::map<std::string, unsigned long long>;
static unsigned long long any; /* calls and device work of any name */
static cudaError_t lost = cudaSuccess;
/*
 * initial-exec allocates the variable when the thread starts, also in a module: otherwise its first call
 * would allocate memory
 */
#define OF_THREAD static thread_local __attribute__((tls_model("initial-exec")))
OF_THREAD cudaError_t last = cudaSuccess, doom = cudaSuccess;
static const struct sx_emulate_judge *judge;

struct fault {
	bool hit, hang, skip;
	int code;
};

/* Returns the fault that is ordered for the nth call of name. */
static struct fault find_fault(const char *name, unsigned long long nth)
{
	const size_t length = strlen(name);

	for (const char *at = getenv("SX_EMULATE_FAIL"); at && *at;
	     at += strcspn(at, ","), at += *at == ',') {
		struct fault f = {true, false, false, 0};
		unsigned long long n;
		char *end;

		if (strncmp(at, name, length) != 0 || at[length] != ':')
			continue;
		n = strtoull(at + length + 1, &end, 10);
		if (nth != n && !(*end == '+' && nth > n))
			continue;
		end += *end == '+';
		f.hang = strncmp(end, "=hang", 5) == 0;
		f.skip = strncmp(end, "=skip", 5) == 0;
		if (*end == '=' && !f.hang && !f.skip)
			f.code = (int)strtol(end + 1, NULL, 10);
		return f;
	}
	return {false, false, false, 0};
}

static cudaError_t usual_error(const char *name)
{
	if (strcmp(name, "cudaMalloc") == 0 || strstr(name, "Host"))
		return cudaErrorMemoryAllocation;
	if (strstr(name, "Device"))
		return cudaErrorNoDevice;
	return cudaErrorLaunchFailure;
}

static bool loses_device(cudaError_t e)
{
	return e == cudaErrorECCUncorrectable || e == cudaErrorIllegalAddress ||
	       e == cudaErrorLaunchTimeout || e == cudaErrorAssert ||
	       (e >= cudaErrorHardwareStackError && e <= cudaErrorLaunchFailure) || e == cudaErrorUnknown;
}

static void hang(void)
{
	for (;;)
		pause();
}

/*
 * Counts a call and returns the error ordered for it. If *skip is set, the work is not done and no error is
 * reported.
 */
static cudaError_t count(const char *name, bool *skip)
{
	struct fault f;

	lock.lock();
	f = find_fault(name, ++counts[name]);
	any++;
	if (!f.hit)
		f = find_fault("any", any);
	lock.unlock();
	if (f.hang)
		hang();
	*skip = f.skip;
	return !f.hit || f.skip ? cudaSuccess : f.code ? (cudaError_t)f.code : usual_error(name);
}

cudaError_t sx_emulate_error(cudaError_t error)
{
	if (loses_device(error))
		sx_emulate_lose(error);
	/* the runtime does not treat these two as errors */
	if (error != cudaSuccess && error != cudaErrorNotReady)
		last = error;
	return error;
}

cudaError_t sx_emulate_lost(void)
{
	std::lock_guard<std::mutex> hold(lock);

	return lost;
}

void sx_emulate_judged_by(const struct sx_emulate_judge *who)
{
	judge = who;
}

sx_emulate_inside::sx_emulate_inside()
{
	if (judge)
		judge->begin();
}

sx_emulate_inside::~sx_emulate_inside()
{
	if (judge)
		judge->end();
}

static cudaError_t judge_call(const char *function, const void *caller)
{
	const int error = judge ? judge->call(function, caller) : 0;

	doom = error < 0 ? (cudaError_t)-error : cudaSuccess;
	return error > 0 ? (cudaError_t)error : cudaSuccess;
}

cudaError_t sx_emulate_doom(void)
{
	const cudaError_t e = doom;

	doom = cudaSuccess;
	return e;
}

cudaError_t sx_emulate_enter(const char *function, const void *caller)
{
	bool skip;
	const cudaError_t judged = judge_call(function, caller);
	const sx_emulate_inside inside;
	const cudaError_t ordered = count(function, &skip), e = sx_emulate_lost();

	return sx_emulate_error(e != cudaSuccess ? e : judged != cudaSuccess ? judged : ordered);
}

cudaError_t sx_emulate_enter_always(const char *function, const void *caller)
{
	const cudaError_t judged = judge_call(function, caller);
	const sx_emulate_inside inside;
	const cudaError_t e = sx_emulate_lost();

	sx_emulate_taken(function, 1);
	return sx_emulate_error(e != cudaSuccess ? e : judged);
}

void sx_emulate_lose(cudaError_t error)
{
	std::lock_guard<std::mutex> hold(lock);

	lost = lost == cudaSuccess ? error : lost;
}

bool sx_emulate_may_run(const char *kind)
{
	bool skip;

	if (sx_emulate_lost() != cudaSuccess)
		return false;
	const cudaError_t e = count(kind, &skip);

	if (e != cudaSuccess)
		sx_emulate_lose(e);
	return e == cudaSuccess && !skip;
}

/* Returns true for names that count resources in use rather than events since the reset. */
static bool is_held(const std::string &name)
{
	return name.find(" bytes") != std::string::npos || name.find(" held") != std::string::npos;
}

void sx_emulate_taken(const char *what, long long more)
{
	std::lock_guard<std::mutex> hold(lock);

	counts[what] += (unsigned long long)more;
}

unsigned long long sx_emulate_count(const char *what)
{
	std::lock_guard<std::mutex> hold(lock);
	const auto found = counts.find(what);

	if (strcmp(what, "any") == 0)
		return any;
	if (strcmp(what, "lost") == 0)
		return lost;
	return found == counts.end() ? 0 : found->second;
}

const char *sx_emulate_other_than(const char *const *allowed)
{
	std::lock_guard<std::mutex> hold(lock);

	for (const auto &c : counts) {
		const char *const *a = allowed;

		if (!c.second || is_held(c.first))
			continue;
		while (*a && c.first != *a)
			a++;
		if (!*a)
			return c.first.c_str(); /* valid later: a reset clears only the counts */
	}
	return NULL;
}

void sx_emulate_reset(void)
{
	std::lock_guard<std::mutex> hold(lock);

	for (auto &c : counts)
		if (!is_held(c.first))
			c.second = 0;
	any = 0;
	lost = cudaSuccess;
	last = cudaSuccess;
}

long long sx_emulate_property(const char *name)
{
	static const struct {
		const char *name;
		long long value;
	} usual[] = {
		{"devices", 1},
		{"sms", 16},
		{"cc", 90},
		{"integrated", 0},
		{"map", 1},
		{"memory", 8LL << 30},
		{"driver", 12000},
		{"l2", 32 << 20},
		{"register", 1},
		{"clock", 1980000},
		{"memory_clock", 3201000},
		{"bus", 6144},
	};
	const size_t length = strlen(name);

	for (const char *at = getenv("SX_EMULATE_DEVICE"); at && *at;
	     at += strcspn(at, ","), at += *at == ',')
		if (strncmp(at, name, length) == 0 && at[length] == '=')
			return strtoll(at + length + 1, NULL, 10);
	for (const auto &u : usual)
		if (strcmp(u.name, name) == 0)
			return u.value;
	abort();
}

cudaError_t cudaGetLastError(void)
{
	const cudaError_t e = last;

	last = sx_emulate_lost();
	return e;
}

cudaError_t cudaPeekAtLastError(void)
{
	return last;
}

static const struct {
	cudaError_t error;
	const char *name, *text;
} errors[] = {
	{cudaSuccess, "cudaSuccess", "no error"},
	{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
	{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
	{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
	{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
	 "CUDA driver version is insufficient for CUDA runtime version"},
	{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
	{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
	{cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
	 "no kernel image is available for execution on the device"},
	{cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
	{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
	{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
	{cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
	{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
	{cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
	{cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
	 "operation not permitted when stream is capturing"},
	{cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
	 "capturing stream has unjoined work"},
	{cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
	 "dependency created on uncaptured work in another stream"},
};

const char *cudaGetErrorName(cudaError_t error)
{
	for (const auto &e : errors)
		if (e.error == error)
			return e.name;
	return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
	for (const auto &e : errors)
		if (e.error == error)
			return e.text;
	return "unrecognized error code";
}
