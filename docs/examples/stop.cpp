/*
 * Says stop when something is nearer than 1 m, go when all columns ahead are free, and stop when nothing is
 * known.
 *
 * c++ -std=c++17 stop.cpp $(pkg-config --cflags --libs stixel) -o stop && ./stop front
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stixel.hpp>

constexpr double STOP_M = 1.0;		       // distance from the camera at which to stop
constexpr double HALF_WIDTH_M = 0.3;	       // half of the vehicle's width: other columns do not matter
constexpr std::chrono::milliseconds LATE{500}; // timeout: a later frame counts as missing

/* Returns how far the way ahead is free, m; 0 if that is not known. */
static double free_ahead(const stixels::frame &frame)
{
	const stixel_frame_header &h = frame.header();
	double nearest_m = HUGE_VAL;
	std::uint32_t u = 0;

	for (const stixel_free_column &c : frame.free_space()) {
		const double middle = (u++ + 0.5) * h.column_width - 0.5;
		const double left_m = (h.cx - middle) / h.fx * STOP_M; // offset of the column at STOP_M

		if (std::abs(left_m) < HALF_WIDTH_M) // a column that was not seen is free up to 0 m
			nearest_m = std::min(nearest_m, double(c.to_m));
	}
	return std::isinf(nearest_m) && u == 0 ? 0.0 : nearest_m;
}

int main(int argc, char **argv)
{
	std::setvbuf(stdout, nullptr, _IOLBF, 0);
	try {
		stixels::reader reader(argc > 1 ? argv[1] : "default", STIXEL_OPEN_FOLLOW);

		for (;;) {
			if (!reader.wait(LATE)) {
				std::puts("stop: no frame");
				continue;
			}
			const auto frame = reader.latest(); // skips older frames
			const double ahead_m = frame ? free_ahead(*frame) : 0.0;

			std::printf("%s: free for %.2f m\n", ahead_m < STOP_M ? "stop" : "go", ahead_m);
		}
	} catch (const stixels::error &e) {
		std::fprintf(stderr, "%s\n", e.what());
		return 1;
	}
}
