/*
 * Prints the obstacles of each frame as boxes with distance, width and height, until the publisher ends.
 * c++ -std=c++17 boxes.cpp $(pkg-config --cflags --libs stixel) -o boxes && ./boxes front
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cstdio>
#include <stixel.hpp>

constexpr int NEAREST = 5; // boxes to print of a frame

int main(int argc, char **argv)
{
	std::setvbuf(stdout, nullptr, _IOLBF, 0);
	try {
		stixels::reader reader(argc > 1 ? argv[1] : "default");

		for (const stixels::frame &frame : reader) {
			const auto boxes = frame.boxes(); // the nearest first
			int left = NEAREST;

			std::printf("frame %llu: %zu boxes\n",
				    static_cast<unsigned long long>(frame.number()), boxes.size());
			for (const stixel_box &b : boxes) {
				if (left-- == 0)
					break;
				std::printf(
					"  %6.2f m ahead, %6.2f m to the left: %.2f m wide, %.2f m high\n",
					double(b.x_min), double(b.y_min + b.y_max) / 2,
					double(b.y_max - b.y_min), double(b.z_max - b.z_min));
			}
		}
	} catch (const stixels::error &e) {
		std::fprintf(stderr, "%s\n", e.what());
		return 1;
	}
	return 0;
}
