/*
 * FastDT: the passes to the right, to the left and down. stages/stereo/fastdt.h defines the result. Cells and
 * recurrence: gpu/fastdt/fastdt.cuh. Pass up and winner: gpu/fastdt/fastdt_winner.cu. Weights and gain:
 * gpu/fastdt/fastdt_guide.cu.
 *
 * Work:    D/4 lanes walk a line (a row or a column), four disparities each. Lines and lanes are one flat
 *          index. No lane waits for another lane.
 * Memory:  D bytes of costs per pixel. The pass to the right replaces them with A, also one byte if the sum
 *          of the largest cost fits a byte. The pass to the left replaces A with codes of 8 bits (int8), or
 *          writes B to the second volume, 16 bits per cell. The pass down works there in place. Cells are
 *          fetched 8 to 24 positions ahead into shared memory, 16 to 32 KB per block. Weights and subtracted
 *          values are fetched one batch ahead into registers.
 * Ranges:  gpu/fastdt/fastdt.cuh.
 * Shapes:  any width and height, D any multiple of 32.
 * Speed:   bound by the integer pipe, with many multiprocessors by latency; tests/lab/lab-performance.md,
 *          "CUDA: FastDT".
 *
 * After the plane of the lowest disparity is subtracted from itself, it is 0 everywhere. From then on its
 * place holds O, whose input is 0 before the subtraction. All code relies on V(0) = 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/fastdt/fastdt.cuh"

#include <errno.h>
#include <stdlib.h>

#include "gpu/fastdt/fastdt_cuda.h"
#include "gpu/fastdt/fastdt_priv.h"

#define THREADS 128
#define BATCH SX_DT_BATCH

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

struct pass {
	const uint8_t *in;
	uint8_t *out;
	/*
	 * planes of uint16_t and int16_t, as the kernels cast them; typed here, they compile to more
	 * instructions
	 */
	const void *weights, *subtracted;
	void *lowest; /* receives the cells at the first disparity's place; NULL: not needed */
	int width, height, lanes;
	size_t pitch;
	uint32_t most; /* Cmax in each byte */
};

/* Number of batches that are fetched ahead and processed: 32 words per lane. */
template <int WORDS> __host__ __device__ constexpr int batches_of()
{
	return WORDS == 1 ? 4 : 2;
}

/* State of a lane on its line. */
template <typename IN, typename OUT, bool ACROSS, bool BACK> struct walk {
	sx_dt_ring<IN::words, BATCH, batches_of<IN::words>(), BACK, THREADS> ring;
	uint8_t *to;
	int to_step;
	bool is_first; /* the lane has the lowest disparity */
	int v[4];
	uint16_t carried; /* BACK: weight between this position and the previous one */
};

__device__ __forceinline__ void subtract(int (&v)[4], int lowest, bool is_first)
{
	v[0] = is_first ? 0 : v[0];
#pragma unroll
	for (int k = 0; k < 4; k++)
		v[k] -= lowest;
}

/*
 * Processes a batch. CUT: some of its positions do not exist. firsts: receives the stored values of the
 * lane's first disparity.
 */
template <typename IN, typename OUT, bool ACROSS, bool BACK, bool SUBTRACT, bool CUT>
__device__ __forceinline__ void walk_batch(struct walk<IN, OUT, ACROSS, BACK> &w, const uint32_t *slots,
					   const sx_dt_along<uint16_t, BATCH, ACROSS> &weights,
					   const sx_dt_along<int16_t, BATCH, ACROSS> &subtracted,
					   sx_dt_along<int16_t, BATCH, ACROSS> &firsts, uint32_t most)
{
	uint32_t in_words[BATCH]
			 /* loads all at once: shared memory has latency, and few warps hide it */
			 [IN::words];

#pragma unroll
	for (int i = 0; i < BATCH; i++)
		sx_words_load<IN::words>(in_words[i], slots + i * w.ring.stride);
#pragma unroll
	for (int i = 0; i < BATCH; i++) {
		const int place = BACK ? BATCH - 1 - i : i;
		const uint16_t weight = BACK ? w.carried : weights.get(place);
		uint32_t stored[OUT::words];
		int in[4];

		if (!CUT || w.ring.exists(i)) {
			IN::get(in, in_words[i], most);
			if (SUBTRACT)
				subtract(in, subtracted.get(place), w.is_first);
#pragma unroll
			for (int k = 0; k < 4; k++)
				w.v[k] = sx_dt_step(in[k], w.v[k], weight);
			OUT::put(stored, w.v);
			sx_words_store<OUT::words>(w.to + sx_dt_apart<BACK>(i, w.to_step), stored);
		}
		w.carried = weights.get(place);
		firsts.set(place, (int16_t)w.v[0]);
	}
	w.to += (ptrdiff_t)BATCH * w.to_step;
}

/* Starts a walk. line: number of the line. lane: index of the lane on the line. */
template <typename IN, typename OUT, bool ACROSS, bool BACK>
__device__ __forceinline__ void start_walk(struct walk<IN, OUT, ACROSS, BACK> &w, const struct pass &p,
					   int lanes, int line, int lane, uint32_t *shared)
{
	const int length = ACROSS ? p.width : p.height;
	const size_t pixel = ACROSS ? (size_t)line * (size_t)p.width : (size_t)line;
	const size_t at = pixel * (size_t)lanes + (size_t)lane;
	const int next = (ACROSS ? 1 : p.width) * lanes; /* lanes from position to position */

	w.ring.start(p.in + at * (IN::words * 4), next * (IN::words * 4), length, shared);
	w.to_step = (BACK ? -next : next) * (OUT::words * 4);
	w.to = p.out + at * (OUT::words * 4);
	if (BACK)
		w.to -= (ptrdiff_t)(w.ring.batches * BATCH - 1) * w.to_step;
	w.is_first = lane == 0;
	w.carried = 0;
#pragma unroll
	for (int k = 0; k < 4; k++)
		w.v[k] = 0;
}

/* A walk along a line, with the values of planes that it needs. Values of the next batch are loaded ahead. */
template <typename IN, typename OUT, bool ACROSS, bool BACK, bool SUBTRACT> struct travel {
	struct walk<IN, OUT, ACROSS, BACK> w;
	/* position 0 of the line */
	const uint16_t *weights;
	const int16_t *subtracted;
	int16_t *lowest; /* output of lane 0 for the lowest disparity; down: in `beside`; NULL: none */
	size_t pitch, lowest_pitch;
	sx_dt_along<uint16_t, BATCH, ACROSS> weights_here, weights_next;
	sx_dt_along<int16_t, BATCH, ACROSS> subtracted_here, subtracted_next;

	/* b: batches from the start of the walk */
	__device__ __forceinline__ size_t place(int b, size_t row) const
	{
		return (size_t)(BACK ? w.ring.batches - 1 - b : b) * (BATCH * (ACROSS ? 1 : row));
	}
	__device__ __forceinline__ void load(int b)
	{
		weights_next.load(weights + place(b, pitch), pitch);
		if (SUBTRACT)
			subtracted_next.load(subtracted + place(b, pitch), pitch);
	}
	__device__ __forceinline__ void arrive()
	{
		weights_here = weights_next;
		if (SUBTRACT)
			subtracted_here = subtracted_next;
	}
	template <bool CUT> __device__ __forceinline__ void go(int b, uint32_t most)
	{
		const uint32_t *slots = w.ring.turn();
		sx_dt_along<int16_t, BATCH, ACROSS> firsts = {};

		load(min(b + 1, w.ring.batches - 1));
		walk_batch<IN, OUT, ACROSS, BACK, SUBTRACT, CUT>(w, slots, weights_here, subtracted_here,
								 firsts, most);
		if (lowest)
			firsts.store(lowest + place(b, lowest_pitch), lowest_pitch);
		arrive();
	}
};

/* LANES: lanes per line, or 0 if only known at run time. The compiler should know it for 128 disparities. */
template <typename IN, typename OUT, bool ACROSS, bool BACK, bool SUBTRACT, int LANES>
__global__ void __launch_bounds__(THREADS) pass_kernel(const struct pass p)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);
	struct travel<IN, OUT, ACROSS, BACK, SUBTRACT> t;
	const int index = (int)(blockIdx.x * THREADS + threadIdx.x);
	const int lanes = LANES ? LANES : p.lanes, line = index / lanes, lane = index % lanes;
	const size_t plane = ACROSS ? (size_t)line * p.pitch : (size_t)line;

	if (line >= (ACROSS ? p.height : p.width)) /* no barrier follows */
		return;
	start_walk(t.w, p, lanes, line, lane, shared);
	t.weights = (const uint16_t *)p.weights + plane;
	t.subtracted = (const int16_t *)p.subtracted + (SUBTRACT ? plane : 0);
	t.lowest_pitch = ACROSS ? p.pitch : SX_DT_BESIDE * p.pitch;
	t.lowest = lane == 0 && p.lowest
			   ? (int16_t *)p.lowest + (ACROSS ? plane : SX_DT_BESIDE * plane + SX_DT_LEAST)
			   : NULL;
	t.pitch = p.pitch;
	t.load(0);
	t.arrive();

	const bool cut = t.w.ring.cut < BATCH;
	const int whole = t.w.ring.batches - cut;
	int b = 0;

	if (BACK && cut)
		t.template go<true>(b++, p.most);
	for (int i = 0; i < whole; i++)
		t.template go<false>(b++, p.most);
	if (!BACK && cut)
		t.template go<true>(b, p.most);
	sx_words_wait<0>();
}

template <typename IN, typename OUT, bool ACROSS, bool BACK, bool SUBTRACT>
cudaError_t launch_pass(const struct pass &p, cudaStream_t stream)
{
	const int threads = (ACROSS ? p.height : p.width) * p.lanes;
	const size_t shared = (size_t)BATCH * batches_of<IN::words>() * THREADS * IN::words * 4;

	const dim3 blocks((unsigned)(threads + THREADS - 1) / THREADS);

	if (p.lanes == 32)
		SX_LAUNCH((pass_kernel<IN, OUT, ACROSS, BACK, SUBTRACT, 32>), blocks, dim3(THREADS), shared,
			  stream, p);
	else
		SX_LAUNCH((pass_kernel<IN, OUT, ACROSS, BACK, SUBTRACT, 0>), blocks, dim3(THREADS), shared,
			  stream, p);
	return SX_LAUNCHED();
}

} // namespace

struct sx_fastdt_cuda {
	struct sx_stereo_params p;
	struct sx_dt_planes planes;
	uint8_t *narrow; /* one byte per cell: costs, A, codes of B */
	uint8_t *wide;	 /* two bytes per cell: A, B, U */
	bool bytes;	 /* A fits the narrow volume */
	bool held;	 /* V may exceed 16 bits and is clamped */
	bool keep;
};

static bool is_coded(const struct sx_fastdt_cuda *s)
{
	return s->p.fastdt == SX_FASTDT_INT8;
}

/* Returns the sum to which the largest input grows on an endless line of the largest weight. */
static int largest_sum(const struct sx_fastdt_weights *w, int in)
{
	int sum = in, before;

	do {
		before = sum;
		sum = sx_dt_step(in, before, w->fixed[0]);
	} while (sum > before);
	return sum;
}

/* Computes the ranges of A and V, which decide which cells and which arithmetic suffice. */
static void find_ranges(struct sx_fastdt_cuda *s, const struct sx_fastdt_weights *w)
{
	const int a = largest_sum(w, sx_cost_max(s->p.cost)), b = largest_sum(w, a) + (is_coded(s) ? 32 : 0);

	s->bytes = a <= UINT8_MAX;
	s->held = largest_sum(w, largest_sum(w, b)) >= INT16_MAX;
}

static void take_planes(struct sx_fastdt_cuda *s, struct sx_cuda_memory *m, const struct sx_fastdt_weights *w)
{
	struct sx_dt_planes *p = &s->planes;
	const size_t pixels = (size_t)p->rows * p->pitch;

	p->table = (const uint16_t *)sx_cuda_upload(m, w->fixed, sizeof(w->fixed));
	p->across = (uint16_t *)sx_cuda_take(m, pixels * sizeof(*p->across));
	p->down = (uint16_t *)sx_cuda_take(m, pixels * sizeof(*p->down));
	p->lowest = (int16_t *)sx_cuda_take(m, pixels * sizeof(*p->lowest));
	p->gain = (uint32_t *)sx_cuda_take(m, pixels * sizeof(*p->gain));
	p->beside = (uint16_t *)sx_cuda_take(m, pixels * sizeof(*p->beside) * SX_DT_BESIDE);
	p->keys = (uint32_t *)sx_cuda_take(m, pixels * sizeof(*p->keys));
}

/* Returns the cells of a volume, including the rest of the last batch after it. */
static size_t fastdt_cells(const struct sx_context_config *c)
{
	const int rows = (c->height + SX_DT_BATCH - 1) / SX_DT_BATCH * SX_DT_BATCH;

	return ((size_t)c->width * (size_t)rows + SX_DT_BATCH) * (size_t)c->params.stereo.disparities;
}

size_t sx_fastdt_cuda_cost_bytes(const struct sx_context_config *c)
{
	return fastdt_cells(c);
}

int sx_fastdt_cuda_create(struct sx_fastdt_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_context_config *c, uint8_t *costs)
{
	struct sx_fastdt_cuda *s = (struct sx_fastdt_cuda *)calloc(1, sizeof(*s));
	const size_t wide = 2 * fastdt_cells(c);
	struct sx_fastdt_weights w;

	if (!s)
		return -ENOMEM;
	s->p = c->params.stereo;
	s->keep = c->keep_volume;
	s->planes.width = c->width;
	s->planes.height = c->height;
	s->planes.rows = (c->height + SX_DT_BATCH - 1) / SX_DT_BATCH * SX_DT_BATCH;
	s->planes.pitch = ((size_t)c->width + SX_DT_BATCH - 1) / SX_DT_BATCH * SX_DT_BATCH;
	sx_fastdt_weights_init(&w, &s->p);
	find_ranges(s, &w);
	take_planes(s, m, &w);
	s->narrow = costs;
	s->wide = (uint8_t *)sx_cuda_take(m, wide);
	if (m->error != cudaSuccess) {
		sx_fastdt_cuda_destroy(s);
		return -ENOMEM;
	}
	if (!c->keep_volume)
		sx_cuda_lend(m, s->wide, wide);
	*ret = s;
	return 0;
}

void sx_fastdt_cuda_destroy(struct sx_fastdt_cuda *s)
{
	free(s);
}

/* Returns the traffic per frame, bytes: C, A, B and U are each written and read again. */
size_t sx_fastdt_cuda_traffic(const struct sx_fastdt_cuda *s)
{
	const size_t cells = (size_t)s->planes.width * (size_t)s->planes.height * (size_t)s->p.disparities;
	const size_t a = s->bytes ? 1 : 2, b = is_coded(s) ? 1 : 2;

	return 2 * cells * (1 + a + b + 2);
}

/* Run one pass each, on the cells that the previous pass left. */
static cudaError_t run_right(const struct sx_fastdt_cuda *s, struct pass p, cudaStream_t stream)
{
	p.in = s->narrow;
	p.lowest = is_coded(s) ? s->planes.lowest : NULL;
	if (s->bytes) {
		p.out = s->narrow;
		return launch_pass<sx_dt_matches, sx_dt_bytes, true, false, false>(p, stream);
	}
	p.out = s->wide;
	return launch_pass<sx_dt_matches, sx_dt_halves, true, false, false>(p, stream);
}

static cudaError_t run_left(const struct sx_fastdt_cuda *s, struct pass p, cudaStream_t stream)
{
	p.in = s->bytes ? s->narrow : s->wide;
	if (is_coded(s)) {
		p.out = s->narrow;
		p.subtracted = s->planes.lowest;
		return s->bytes ? launch_pass<sx_dt_bytes, sx_dt_codes, true, true, true>(p, stream)
				: launch_pass<sx_dt_halves, sx_dt_codes, true, true, true>(p, stream);
	}
	p.out = s->wide;
	p.lowest = s->planes.lowest;
	return s->bytes ? launch_pass<sx_dt_bytes, sx_dt_halves, true, true, false>(p, stream)
			: launch_pass<sx_dt_halves, sx_dt_halves, true, true, false>(p, stream);
}

static cudaError_t run_down(const struct sx_fastdt_cuda *s, struct pass p, cudaStream_t stream)
{
	if (is_coded(s)) {
		p.in = s->narrow;
		return launch_pass<sx_dt_codes, sx_dt_halves, false, false, false>(p, stream);
	}
	p.in = s->wide;
	p.subtracted = s->planes.lowest;
	return launch_pass<sx_dt_halves, sx_dt_halves, false, false, true>(p, stream);
}

cudaError_t sx_fastdt_cuda_passes(const struct sx_fastdt_cuda *s, cudaStream_t stream)
{
	const uint32_t most = (uint32_t)sx_cost_max(s->p.cost) * 0x01010101u;
	const struct sx_dt_planes *planes = &s->planes;
	struct pass across = {}, down;
	cudaError_t e;

	across.weights = planes->across;
	across.width = planes->width;
	across.height = planes->height;
	across.lanes = s->p.disparities / 4;
	across.pitch = planes->pitch;
	across.most = most;
	down = across;
	down.weights = planes->down;
	down.out = s->wide;
	down.lowest = planes->beside;
	if ((e = run_right(s, across, stream)) || (e = run_left(s, across, stream)))
		return e;
	return run_down(s, down, stream);
}

cudaError_t sx_fastdt_cuda_weights(const struct sx_fastdt_cuda *s, const struct sx_image *grey,
				   cudaStream_t stream)
{
	return sx_dt_weights_run(&s->planes, grey, stream);
}

cudaError_t sx_fastdt_cuda_gain(const struct sx_fastdt_cuda *s, cudaStream_t stream)
{
	return sx_dt_gain_run(&s->planes, sx_cost_max(s->p.cost), stream);
}

cudaError_t sx_fastdt_cuda_winner(const struct sx_fastdt_cuda *s, const struct sx_image *winner,
				  const struct sx_image *winner_right, const struct sx_image *confidence,
				  cudaStream_t stream)
{
	return sx_dt_winner_run(&s->planes, &s->p, s->wide, s->keep, s->held, winner, winner_right,
				confidence, stream);
}

cudaError_t sx_fastdt_cuda_sum(const struct sx_fastdt_cuda *s, const struct sx_image *sum,
			       cudaStream_t stream)
{
	return sx_dt_sum_run(&s->planes, &s->p, s->wide, sum, stream);
}
