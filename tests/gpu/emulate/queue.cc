/*
 * Streams, events and graphs. A separate thread is the device. It takes work that may run, from any stream,
 * in any order that events and streams allow (order.h), and runs it to its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <stdlib.h>
#include <time.h>

#include <sx_emulate.h>

#include "tests/gpu/emulate/device.h"
#include "tests/gpu/emulate/faults.h"
#include "tests/gpu/emulate/order.h"

/* fails: if it is not cudaSuccess, the device does not run the work and is lost with this error. */
struct op {
	const char *kind;
	std::function<void()> run;
	cudaError_t fails;
};

/* done: number of the last record that the device has reached. */
struct marker {
	uint64_t recorded, done;
	double time_ms;
};

/* Node of a graph: work to run, or an external event that other streams see. */
struct node {
	struct op op;
	std::shared_ptr<marker> external;
	std::vector<size_t> after;
};

struct CUgraph_st {
	std::vector<node> nodes;
	bool broken;
	enum cudaStreamCaptureMode mode;
};

struct CUgraphExec_st {
	std::shared_ptr<CUgraph_st> graph;
};

struct CUevent_st {
	std::shared_ptr<marker> mark;
	unsigned flags;
	CUgraph_st *graph; /* graph of the capture in which the event was recorded */
	std::vector<size_t> after;
};

enum what { RUN, RECORD, WAIT, GRAPH };

struct item {
	enum what what;
	struct op op;
	std::shared_ptr<marker> mark;
	uint64_t number;
	std::shared_ptr<CUgraph_st> graph;
	std::vector<uint64_t> numbers; /* numbers of the graph's external events, in order of nodes */
	uint64_t turn;		       /* position from 1 among all items of all streams */
};

struct CUstream_st {
	std::deque<item> items;
	bool busy;
	uint64_t turn; /* turn of the item that runs or ran last */
	unsigned flags;
	CUgraph_st *graph; /* graph of the current capture */
	bool origin;
	std::vector<size_t> after; /* nodes that the next one follows */
};

/* Never destroyed, because the device's thread runs until the process ends. */
static std::mutex &lock = *new std::mutex;
static std::condition_variable &changed = *new std::condition_variable;
static CUstream_st &default_stream = *new CUstream_st();
static std::vector<CUstream_st *> &streams = *new std::vector<CUstream_st *>{&default_stream};
static std::set<CUgraph_st *> &captures = *new std::set<CUgraph_st *>;
static bool started;
static uint64_t turns;
typedef std::unique_lock<std::mutex> hold_lock;

static CUstream_st *resolve(cudaStream_t stream)
{
	return stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread ? &default_stream
											     : stream;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void reach(marker *m, uint64_t number)
{
	m->done = std::max(m->done, number);
	m->time_ms = now_ms();
}

static void run_op(const struct op &o)
{
	if (o.fails != cudaSuccess)
		sx_emulate_lose(o.fails);
	else if (sx_emulate_may_run(o.kind))
		o.run();
}

static void run_short(void);

/* Runs the nodes in any order that the edges allow. */
static void run_graph(const CUgraph_st &g, const std::vector<uint64_t> &numbers)
{
	struct sx_order order = sx_order_begin();
	std::vector<size_t> missing(g.nodes.size()), ready;
	std::vector<uint64_t> number(g.nodes.size());
	size_t externals = 0;

	for (size_t i = 0; i < g.nodes.size(); i++) {
		missing[i] = g.nodes[i].after.size();
		if (g.nodes[i].external)
			number[i] = numbers[externals++];
		if (!missing[i])
			ready.push_back(i);
	}
	while (!ready.empty()) {
		const size_t turn = sx_order_pick(&order, (unsigned)ready.size()), at = ready[turn];

		ready.erase(ready.begin() + (ptrdiff_t)turn);
		if (g.nodes[at].external) {
			hold_lock hold(lock);

			reach(g.nodes[at].external.get(), number[at]);
			changed.notify_all();
		} else if (g.nodes[at].op.run) {
			run_op(g.nodes[at].op);
		}
		for (size_t i = 0; i < g.nodes.size(); i++)
			for (size_t before : g.nodes[i].after)
				if (before == at && --missing[i] == 0)
					ready.push_back(i);
		run_short();
	}
}

static bool may_start(const CUstream_st *s)
{
	return !s->items.empty() &&
	       (s->items.front().what != WAIT || s->items.front().mark->done >= s->items.front().number);
}

static void run_item(CUstream_st *s, hold_lock *hold)
{
	const struct item i = s->items.front();

	s->items.pop_front();
	s->busy = true;
	s->turn = i.turn;
	if (i.what == RECORD) {
		reach(i.mark.get(), i.number);
	} else if (i.what != WAIT) {
		hold->unlock();
		if (i.what == RUN || i.op.fails != cudaSuccess)
			run_op(i.op);
		else
			run_graph(*i.graph, i.numbers);
		hold->lock();
	}
	s->busy = false;
	changed.notify_all();
}

/* Runs the ready items of other streams, except graphs: they do not have to wait for the end of a graph. */
static void run_short(void)
{
	hold_lock hold(lock);
	size_t i = 0;

	while (i < streams.size()) {
		if (!streams[i]->busy && may_start(streams[i]) && streams[i]->items.front().what != GRAPH)
			run_item(streams[i], &hold);
		else
			i++;
	}
}

static void work(void)
{
	const sx_emulate_inside inside;
	hold_lock hold(lock);

	for (;;) {
		struct sx_order order = sx_order_begin();
		std::vector<CUstream_st *> ready;

		for (CUstream_st *s : streams)
			if (may_start(s))
				ready.push_back(s);
		if (ready.empty())
			changed.wait(hold);
		else
			run_item(ready[sx_order_pick(&order, (unsigned)ready.size())], &hold);
	}
}

static bool idle(const CUstream_st *s)
{
	return s->items.empty() && !s->busy;
}

/* The default stream and streams without cudaStreamNonBlocking wait for each other. */
static void push(hold_lock *hold, CUstream_st *s, struct item i)
{
	if (s == &default_stream)
		sx_emulate_taken("default stream", 1);
	if (!started) {
		started = true;
		std::thread(work).detach();
	}
	changed.wait(*hold, [&] {
		return std::all_of(streams.begin(), streams.end(), [&](const CUstream_st *other) {
			const bool related =
				s == &default_stream
					? !(other->flags & cudaStreamNonBlocking)
					: other == &default_stream && !(s->flags & cudaStreamNonBlocking);

			return !related || other == s || idle(other);
		});
	});
	i.turn = ++turns;
	s->items.push_back(std::move(i));
	changed.notify_all();
}

static void record_node(CUstream_st *s, struct node n)
{
	n.after = s->after;
	s->graph->nodes.push_back(std::move(n));
	s->after = {s->graph->nodes.size() - 1};
}

cudaError_t sx_emulate_enqueue(const char *kind, std::function<void()> run, cudaStream_t stream)
{
	CUstream_st *s = resolve(stream);
	struct op op = {kind, std::move(run), sx_emulate_doom()};
	hold_lock hold(lock);

	if (s == &default_stream && !captures.empty())
		return sx_emulate_error(cudaErrorStreamCaptureImplicit);
	if (s->graph)
		record_node(s, {std::move(op), NULL, {}});
	else
		push(&hold, s, {RUN, std::move(op), NULL, 0, NULL, {}});
	return cudaSuccess;
}

void sx_emulate_drain(void)
{
	hold_lock hold(lock);
	const uint64_t last = turns;

	if (!std::all_of(streams.begin(), streams.end(), idle))
		sx_emulate_taken("freed in flight", 1);
	changed.wait(hold, [&] {
		return std::all_of(streams.begin(), streams.end(), [&](const CUstream_st *s) {
			return (!s->busy || s->turn > last) &&
			       (s->items.empty() || s->items.front().turn > last);
		});
	});
}

bool sx_emulate_forbidden(void)
{
	hold_lock hold(lock);

	for (CUgraph_st *g : captures) {
		if (g->mode != cudaStreamCaptureModeRelaxed) {
			g->broken = true;
			return true;
		}
	}
	return false;
}

bool sx_emulate_capturing(cudaStream_t stream)
{
	hold_lock hold(lock);

	return resolve(stream)->graph != NULL;
}

static cudaError_t finished(void)
{
	return sx_emulate_error(sx_emulate_lost());
}

cudaError_t cudaDeviceSynchronize(void)
{
	SX_ENTER;
	if (sx_emulate_forbidden())
		return sx_emulate_error(cudaErrorStreamCaptureUnsupported);
	hold_lock hold(lock);
	changed.wait(hold, [] { return std::all_of(streams.begin(), streams.end(), idle); });
	return finished();
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
	SX_ENTER;
	(void)priority;
	*stream = new CUstream_st();
	(*stream)->flags = flags;
	sx_emulate_taken("streams held", 1);
	hold_lock hold(lock);
	streams.push_back(*stream);
	return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	SX_ENTER;
	return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	SX_ENTER;
	return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

/* Removes all streams from the capture into g. */
static void leave(CUgraph_st *g)
{
	for (CUstream_st *other : streams) {
		if (other->graph == g) {
			other->graph = NULL;
			other->origin = false;
			other->after.clear();
		}
	}
	captures.erase(g);
}

/* Drops a capture that cannot end, because its stream is destroyed or the device is lost. */
static void abandon(CUgraph_st *g)
{
	leave(g);
	delete g;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	SX_ENTER_ALWAYS;
	hold_lock hold(lock);

	if (!stream)
		return sx_emulate_error(cudaErrorInvalidResourceHandle);
	changed.wait(hold, [&] { return idle(stream); });
	if (stream->graph && stream->origin)
		abandon(stream->graph);
	streams.erase(std::find(streams.begin(), streams.end(), stream));
	delete stream;
	sx_emulate_taken("streams held", -1);
	return given_;
}

cudaError_t sx_emulate_wait(cudaStream_t stream)
{
	hold_lock hold(lock);
	CUstream_st *s = resolve(stream);

	if (s->graph) {
		s->graph->broken = true;
		return sx_emulate_error(cudaErrorStreamCaptureUnsupported);
	}
	changed.wait(hold, [&] { return idle(s); });
	return finished();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	SX_ENTER;
	return sx_emulate_wait(stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	SX_ENTER;
	hold_lock hold(lock);

	return idle(resolve(stream)) ? cudaSuccess : cudaErrorNotReady;
}

static void join_capture(CUstream_st *s, const CUevent_st *event)
{
	s->graph = event->graph;
	for (size_t n : event->after)
		if (std::find(s->after.begin(), s->after.end(), n) == s->after.end())
			s->after.push_back(n);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	SX_ENTER;
	CUstream_st *s = resolve(stream);
	hold_lock hold(lock);

	(void)flags;
	if (event->graph && s->graph && event->graph != s->graph)
		return sx_emulate_error(cudaErrorStreamCaptureMerge);
	if (s->graph && !event->graph)
		return sx_emulate_error(cudaErrorStreamCaptureIsolation);
	if (event->graph && captures.count(event->graph))
		join_capture(s, event);
	else
		push(&hold, s, {WAIT, {}, event->mark, event->mark->recorded, NULL, {}});
	return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
	SX_ENTER;
	return sx_emulate_enqueue(
		"host", [=] { function(data); }, stream);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	SX_ENTER;
	CUstream_st *s = resolve(stream);
	hold_lock hold(lock);

	if (s == &default_stream || s->graph)
		return sx_emulate_error(cudaErrorStreamCaptureUnsupported);
	s->graph = new CUgraph_st();
	s->graph->mode = mode;
	s->origin = true;
	s->after.clear();
	captures.insert(s->graph);
	return cudaSuccess;
}

/* Returns true if everything recorded leads to the end of the capture. */
static bool joined(const CUgraph_st &g, const std::vector<size_t> &ends)
{
	std::vector<size_t> open = ends;
	std::set<size_t> seen(ends.begin(), ends.end());

	while (!open.empty()) {
		const size_t n = open.back();

		open.pop_back();
		for (size_t before : g.nodes[n].after)
			if (seen.insert(before).second)
				open.push_back(before);
	}
	return seen.size() == g.nodes.size();
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	SX_ENTER;
	CUstream_st *s = resolve(stream);
	hold_lock hold(lock);
	CUgraph_st *g = s->graph;
	cudaError_t e = cudaSuccess;

	*graph = NULL;
	if (!g || !s->origin)
		return sx_emulate_error(cudaErrorIllegalState);
	if (g->broken)
		e = cudaErrorStreamCaptureInvalidated;
	else if (!joined(*g, s->after))
		e = cudaErrorStreamCaptureUnjoined;
	leave(g);
	if (e == cudaSuccess) {
		*graph = g;
		sx_emulate_taken("graphs held", 1);
	} else {
		delete g;
	}
	return sx_emulate_error(e);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	SX_ENTER;
	hold_lock hold(lock);
	const CUgraph_st *g = resolve(stream)->graph;

	*status = !g	      ? cudaStreamCaptureStatusNone
		  : g->broken ? cudaStreamCaptureStatusInvalidated
			      : cudaStreamCaptureStatusActive;
	return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	SX_ENTER;
	*event = new CUevent_st();
	(*event)->mark = std::make_shared<marker>();
	(*event)->flags = flags;
	sx_emulate_taken("events held", 1);
	return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	SX_ENTER;
	return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	SX_ENTER_ALWAYS;
	if (!event)
		return sx_emulate_error(cudaErrorInvalidResourceHandle);
	delete event;
	sx_emulate_taken("events held", -1);
	return given_;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
	SX_ENTER;
	CUstream_st *s = resolve(stream);
	hold_lock hold(lock);

	if (s->graph && flags & cudaEventRecordExternal) {
		record_node(s, {{}, event->mark, {}});
		event->graph = NULL;
	} else if (s->graph) {
		event->graph = s->graph;
		event->after = s->after;
	} else {
		event->graph = NULL;
		push(&hold, s, {RECORD, {}, event->mark, ++event->mark->recorded, NULL, {}});
	}
	return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	SX_ENTER;
	return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	SX_ENTER;
	hold_lock hold(lock);

	if (event->graph)
		return sx_emulate_error(cudaErrorCapturedEvent);
	return event->mark->done >= event->mark->recorded ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	SX_ENTER;
	hold_lock hold(lock);

	if (event->graph)
		return sx_emulate_error(cudaErrorCapturedEvent);
	changed.wait(hold, [&] { return event->mark->done >= event->mark->recorded; });
	return finished();
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	SX_ENTER;
	hold_lock hold(lock);

	if ((from->flags | to->flags) & cudaEventDisableTiming || !from->mark->recorded ||
	    !to->mark->recorded)
		return sx_emulate_error(cudaErrorInvalidResourceHandle);
	if (from->mark->done < from->mark->recorded || to->mark->done < to->mark->recorded)
		return cudaErrorNotReady;
	*ms = (float)(to->mark->time_ms - from->mark->time_ms);
	return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	SX_ENTER;
	(void)flags;
	*exec = new CUgraphExec_st{std::make_shared<CUgraph_st>(*graph)};
	sx_emulate_taken("graphs held", 1);
	return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	SX_ENTER;
	return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
	SX_ENTER;
	(void)exec;
	(void)stream;
	return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	SX_ENTER;
	CUstream_st *s = resolve(stream);
	std::vector<uint64_t> numbers;
	hold_lock hold(lock);

	if (s->graph)
		return sx_emulate_error(cudaErrorNotSupported);
	for (const struct node &n : exec->graph->nodes)
		if (n.external)
			numbers.push_back(++n.external->recorded);
	push(&hold, s, {GRAPH, {NULL, {}, sx_emulate_doom()}, NULL, 0, exec->graph, std::move(numbers)});
	return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	SX_ENTER_ALWAYS;
	delete exec;
	sx_emulate_taken("graphs held", -1);
	return given_;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	SX_ENTER_ALWAYS;
	delete graph;
	sx_emulate_taken("graphs held", -1);
	return given_;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
	SX_ENTER;
	if (nodes)
		return sx_emulate_error(cudaErrorNotSupported);
	*count = graph->nodes.size();
	return cudaSuccess;
}
