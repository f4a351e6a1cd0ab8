/*
 * The emulator itself: warp functions, barriers and arithmetic give the results of the CUDA manuals, mistakes
 * are reported, and streams, events and graphs keep the required order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/gpu/emulate/emulate.h"
#include "tests/gpu/emulate_kernels.h"

static const char *const orders[] = {"0", "1", "2", "77"};
#define ORDERS ((int)(sizeof(orders) / sizeof(orders[0])))

static cudaStream_t stream;
static uint32_t *device, host[4096];

static int setup(void **state)
{
	assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
	assert_int_equal(cudaMalloc((void **)&device, sizeof(host)), cudaSuccess);
	return 0;
}

static int teardown(void **state)
{
	unsetenv("SX_EMULATE_ORDER");
	unsetenv("SX_EMULATE_FAIL");
	assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
	assert_int_equal(cudaFree(device), cudaSuccess);
	assert_int_equal(sx_emulate_count("device bytes"), 0);
	return 0;
}

static void fetch(size_t words)
{
	assert_int_equal(cudaMemcpyAsync(host, device, words * 4, cudaMemcpyDeviceToHost, stream),
			 cudaSuccess);
	assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
}

static void test_sum(void **state)
{
	uint32_t *in, want = 0;

	assert_int_equal(cudaMalloc((void **)&in, 4000), cudaSuccess);
	for (uint32_t i = 0; i < 1000; i++) {
		host[i] = i * i;
		want += i * i;
	}
	assert_int_equal(cudaMemcpy(in, host, 4000, cudaMemcpyHostToDevice), cudaSuccess);
	for (int i = 0; i < ORDERS; i++) {
		setenv("SX_EMULATE_ORDER", orders[i], 1);
		assert_int_equal(cudaMemsetAsync(device, 0, 4, stream), cudaSuccess);
		assert_int_equal(emulate_sum(in, 1000, device, stream), cudaSuccess);
		fetch(1);
		assert_int_equal(host[0], want);
	}
	cudaFree(in);
}

static void test_groups(void **state)
{
	for (int i = 0; i < ORDERS; i++) {
		setenv("SX_EMULATE_ORDER", orders[i], 1);
		assert_int_equal(emulate_groups(device, 96, stream), cudaSuccess);
		fetch(96);
		for (uint32_t t = 0; t < 96; t++) {
			const uint32_t lane = t % 32,
				       width = lane < 8	   ? 4
					       : lane < 16 ? 8
							   : 16,
				       first = t - lane % width;

			assert_int_equal(host[t], width * first + width * (width - 1) / 2);
		}
	}
}

static void check_lane(const uint32_t *o, uint32_t lane, uint32_t lanes)
{
	const uint32_t all = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
	uint32_t same = 0;

	for (uint32_t l = 0; l < lanes; l++)
		same |= l / 3 == lane / 3 ? 1u << l : 0;
	assert_int_equal(o[0], 0xaaaaaaaau & all);
	assert_int_equal(o[1], 1);
	assert_int_equal(o[2], 1);
	assert_int_equal(o[3], 0);
	assert_int_equal(o[4], 50);
	assert_int_equal(o[5], lane % 8 < 2 ? lane : lane - 2);
	assert_int_equal(o[6], lane % 4 == 3 ? lane : lane + 1);
	assert_int_equal(o[7], lane ^ 3);
	assert_int_equal((int32_t)o[8], -4);
	assert_int_equal(o[9], 0x80000000u);
	assert_int_equal(o[10], same);
	assert_int_equal(o[11], all);
	assert_int_equal(o[12], 3);
	assert_int_equal(o[13], 0x3fc00000);
	assert_int_equal(o[14], 7);
	assert_int_equal(o[15], lane / 8 * 8 + 1);
}

static void test_lanes(void **state)
{
	for (int i = 0; i < ORDERS; i++) {
		for (uint32_t leave = 32; leave >= 24; leave -= 8) {
			setenv("SX_EMULATE_ORDER", orders[i], 1);
			assert_int_equal(emulate_lanes(device, (int)leave, stream), cudaSuccess);
			fetch((size_t)16 * leave);
			for (uint32_t lane = 0; lane < leave; lane++)
				check_lane(host + 16 * lane, lane, leave);
		}
	}
}

static void test_math(void **state)
{
	static const uint32_t want[EMULATE_MATH_COUNT] = {
		0x3f800000,
		0x3f800001,
		0x3de38e39,
		0x3de38e3a,
		0x3eaaaaab,
		0x3eaaaaaa,
		0x33000000,
		2,
		(uint32_t)-4,
		(uint32_t)-1,
		0x7fffffff,
		0,
		0,
		0x80000000,
		0x80000000,
		0x8000fc03,
		8,
		31,
		4,
		0x80000000,
		0x77005522,
		0x80808080,
		0xff80ff80,
		0x6789abcd,
		0x23456789,
		3,
		0x10018001,
		8,
		0x4b800000,
	};

	assert_int_equal(emulate_math(device, stream), cudaSuccess);
	fetch(EMULATE_MATH_COUNT);
	for (int i = 0; i < EMULATE_MATH_COUNT; i++)
		if (host[i] != want[i])
			fail_msg("case %d: want 0x%08x, got 0x%08x", i, want[i], host[i]);
}

/* Reads the report of a faulty kernel. The program ends with this report. */
static void read_report(enum emulate_fault how, char *text, size_t bytes)
{
	int ends[2], status;
	size_t have = 0;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		uint32_t *out;

		dup2(ends[1], 2);
		close(ends[0]);
		cudaMalloc((void **)&out, 256);
		emulate_fault(how, out, NULL);
		cudaDeviceSynchronize();
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], text + have, bytes - 1 - have)) > 0)
		have += (size_t)n;
	text[have] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_reports(void **state)
{
	static const struct {
		enum emulate_fault how;
		const char *words[3];
	} want[] = {
		{EMULATE_MISSING_LANE, {"deadlock", "lane  7", "in __shfl_sync(0xffffffff) at"}},
		{EMULATE_OTHER_FUNCTION, {"different warp functions", "__ballot_sync", "__shfl_sync"}},
		{EMULATE_NOT_NAMED, {"does not name the lane", "lane 16", "__ballot_sync"}},
		{EMULATE_ABSENT_SOURCE,
		 {"reads a lane that does not take part", "lane  4", "emulate_kernels"}},
		{EMULATE_BARRIER, {"different calls of __syncthreads", "fault_kernel", "block (0,0,0)"}},
		{EMULATE_HALF_BARRIER, {"deadlock", "__syncthreads at", "__syncwarp(0xffffffff) at"}},
	};
	static char text[1 << 16];

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		read_report(want[i].how, text, sizeof(text));
		for (int w = 0; w < 3; w++)
			if (!strstr(text, want[i].words[w]))
				fail_msg("fault %d: no '%s' in:\n%s", (int)want[i].how, want[i].words[w],
					 text);
	}
}

static bool fault_shows(enum emulate_fault how, const char *order)
{
	setenv("SX_EMULATE_ORDER", order, 1);
	assert_int_equal(emulate_fault(how, device, stream), cudaSuccess);
	fetch(64);
	for (uint32_t i = 0; i < 64; i++)
		if (host[i] != (i ^ 1))
			return true;
	return false;
}

static void test_silent_faults(void **state)
{
	assert_true(fault_shows(EMULATE_LOCK_STEP, "0"));
/* AddressSanitizer guards shared memory itself, so it holds no garbage (sx_emulate.h) */
#ifndef __SANITIZE_ADDRESS__
	assert_true(fault_shows(EMULATE_LOCK_STEP, "1"));
	assert_true(fault_shows(EMULATE_UNWRITTEN, "0"));
	assert_int_equal(host[0], 0xcdcdcdcd);
#endif
}

static void test_block_order(void **state)
{
	for (int i = 0; i < ORDERS; i++) {
		bool seen[37] = {false}, ascending = true;

		setenv("SX_EMULATE_ORDER", orders[i], 1);
		assert_int_equal(cudaMemsetAsync(device + 100, 0, 4, stream), cudaSuccess);
		assert_int_equal(emulate_blocks(device, device + 100, 37, stream), cudaSuccess);
		fetch(37);
		for (int n = 0; n < 37; n++) {
			assert_true(host[n] < 37 && !seen[host[n]]);
			seen[host[n]] = true;
			ascending &= host[n] == (uint32_t)n;
		}
		assert_int_equal(ascending, i == 0);
	}
}

/* Captures two branches of a graph, joined or not joined by an event. */
static cudaError_t capture(cudaGraphExec_t *exec, bool join)
{
	cudaStream_t side;
	cudaEvent_t fork, done;
	cudaGraph_t graph;
	cudaError_t e;

	cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
	cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
	cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
	assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
	cudaMemsetAsync(device, 0, 400, stream);
	cudaEventRecord(fork, stream);
	cudaStreamWaitEvent(side, fork, 0);
	emulate_add(device, device + 1000, 100, side);
	cudaMemsetAsync(device + 200, 0, 400, stream);
	cudaEventRecord(done, side);
	if (join)
		cudaStreamWaitEvent(stream, done, 0);
	emulate_add(device + 200, device, 100, stream);
	e = cudaStreamEndCapture(stream, &graph);
	if (e == cudaSuccess) {
		e = cudaGraphInstantiateWithFlags(exec, graph, 0);
		cudaGraphDestroy(graph);
	}
	cudaEventDestroy(fork);
	cudaEventDestroy(done);
	cudaStreamDestroy(side);
	return e;
}

static void test_graph(void **state)
{
	cudaGraphExec_t exec;

	assert_int_equal(capture(&exec, false), cudaErrorStreamCaptureUnjoined);
	cudaGetLastError();
	assert_int_equal(capture(&exec, true), cudaSuccess);
	for (int i = 0; i < 20; i++) {
		char order[8];

		snprintf(order, sizeof(order), "%d", i);
		setenv("SX_EMULATE_ORDER", order, 1);
		for (uint32_t n = 0; n < 100; n++)
			host[n] = n * (uint32_t)(i + 1);
		cudaMemcpyAsync(device + 1000, host, 400, cudaMemcpyHostToDevice, stream);
		assert_int_equal(cudaGraphLaunch(exec, stream), cudaSuccess);
		fetch(300);
		for (uint32_t n = 0; n < 100; n++)
			assert_int_equal(host[200 + n], n * (uint32_t)(i + 1));
	}
	assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
}

static void test_capture_rules(void **state)
{
	cudaGraph_t graph;
	void *more;

	assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
	assert_int_equal(cudaMalloc(&more, 16), cudaErrorStreamCaptureUnsupported);
	assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
	assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
	assert_int_equal(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
	assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
	cudaGetLastError();
	assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static void test_ordered_failures(void **state)
{
	void *at;
	int devices;

	setenv("SX_EMULATE_FAIL", "cudaMalloc:2,kernel:2", 1);
	sx_emulate_reset();
	assert_int_equal(cudaMalloc(&at, 16), cudaSuccess);
	assert_int_equal(cudaFree(at), cudaSuccess);
	assert_int_equal(cudaMalloc(&at, 16), cudaErrorMemoryAllocation);
	assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
	assert_int_equal(emulate_math(device, stream), cudaSuccess);
	assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
	assert_int_equal(sx_emulate_count("kernel"), 1);
	emulate_math(device, stream);
	assert_int_equal(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
	assert_int_equal(cudaMalloc(&at, 16), cudaErrorLaunchFailure);
	unsetenv("SX_EMULATE_FAIL");
	sx_emulate_reset();
	setenv("SX_EMULATE_DEVICE", "devices=0", 1);
	assert_int_equal(cudaGetDeviceCount(&devices), cudaErrorNoDevice);
	unsetenv("SX_EMULATE_DEVICE");
	sx_emulate_reset();
}

static void test_copies(void **state)
{
	uint32_t *small;

	assert_int_equal(cudaMalloc((void **)&small, 64), cudaSuccess);
	assert_int_equal(cudaMemcpy(small, host, 68, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	assert_int_equal(cudaMemcpy(host, small, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	assert_int_equal(cudaMemcpy(host, small, 64, cudaMemcpyDeviceToHost), cudaSuccess);
	assert_int_equal(host[15], 0xdbdbdbdb);
	assert_int_equal(cudaFree(small), cudaSuccess);
	cudaGetLastError();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),	      cmocka_unit_test(test_groups),
		cmocka_unit_test(test_lanes),	      cmocka_unit_test(test_math),
		cmocka_unit_test(test_silent_faults), cmocka_unit_test(test_block_order),
		cmocka_unit_test(test_graph),	      cmocka_unit_test(test_capture_rules),
		cmocka_unit_test(test_copies),	      cmocka_unit_test(test_ordered_failures),
	};
	const struct CMUnitTest reports[] = {cmocka_unit_test(test_reports)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	/* reports run first, before the device's thread exists, because a fork would lose the thread */
	return cmocka_run_group_tests_name("emulator reports", reports, NULL, NULL) +
	       cmocka_run_group_tests_name("emulator", tests, setup, teardown);
}
