// Uses all of stixel.hpp against a live daemon, for test_cpp.py:
//
//	client read INSTANCE FRAMES | client write INSTANCE PAIRS | client errors INSTANCE
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stixel.hpp>
#include <type_traits>

static_assert(!std::is_copy_constructible_v<stixels::reader> &&
	      std::is_nothrow_move_constructible_v<stixels::reader>);
static_assert(!std::is_copy_constructible_v<stixels::pair_writer> &&
	      std::is_nothrow_move_assignable_v<stixels::pair_writer>);

// Prints of each frame what test_cpp.py compares with the Python module.
static int read_frames(const char *instance, int count)
{
	stixels::reader opened(instance);
	stixels::reader reader = std::move(opened);

	if (opened || !reader || reader.instance() != instance)
		return 2;
	reader.want_images(1u << STIXEL_PLANE_LEFT);
	for (const stixels::frame &frame : reader) {
		const auto left = frame.left();
		const auto scan = frame.usual_scan();
		const auto free = frame.free_space();
		std::size_t in_columns = 0, objects = 0;
		double nearest_m = HUGE_VAL;
		unsigned long pixels = 0;

		if (!left)
			continue; // the images come a moment after the request
		for (std::uint32_t u = 0; u < frame.columns(); u++)
			in_columns += frame.column(u).size();
		for (const stixel &s : frame) {
			const double m = frame.depth_m(s);

			objects += s.kind == STIXEL_OBJECT;
			if (s.kind == STIXEL_OBJECT && m > 0)
				nearest_m = std::min(nearest_m, m);
		}
		for (std::uint32_t y = 0; y < left->height(); y++)
			for (const std::uint8_t pixel : (*left)[y])
				pixels += pixel;
		if (in_columns != frame.stixels().size() || !frame.column(frame.columns()).empty() ||
		    frame.disparity() || frame.right() || frame.blind())
			return 3;
		std::printf("%llu %zu %zu %.9g %lu %zu %.9g %zu %zu\n",
			    static_cast<unsigned long long>(frame.number()), in_columns, objects, nearest_m, pixels,
			    free.size(), double(free[free.size() / 2].to_m), scan ? scan->ranges.size() : 0,
			    frame.points({STIXEL_POINTS_OF_OBSTACLES, STIXEL_COORDINATES_CAMERA, 0, 0}).size());
		if (--count == 0)
			break;
	}
	return reader.status().taken > 0 ? 0 : 4;
}

// Draws a wall of random grey levels at a disparity of 20 px.
static int write_pairs(const char *instance, int count)
{
	stixel_pairs_format format{};

	format.width = 320;
	format.height = 240;
	format.pixel = STIXEL_PIXEL_GREY8;
	format.flags = STIXEL_PAIRS_SIMULATED;
	format.fx = format.fy = 200;
	format.cx = 159.5;
	format.cy = 119.5;
	format.baseline_m = 0.06;
	stixels::pair_writer writer(instance, format);
	if (!writer.connect(std::chrono::seconds(10))) {
		std::fprintf(stderr, "%s\n", writer.why().c_str());
		return 1;
	}
	for (int i = 0; i < count; i++) {
		const auto pair = writer.begin(std::chrono::seconds(5));
		unsigned random = 1;

		if (!pair)
			return 2;
		for (std::uint32_t y = 0; y < pair->left.height(); y++)
			for (std::uint32_t x = 0; x < pair->left.width(); x++) {
				random = random * 1664525u + 1013904223u;
				pair->left[y][x] = static_cast<std::uint8_t>(random >> 24);
				if (x >= 20)
					pair->right[y][x - 20] = pair->left[y][x];
			}
		if (!writer.commit(*pair))
			return 3;
	}
	while (writer.begin(std::chrono::seconds(5)) && writer.counters().returned[0] == 0)
		;
	std::printf("%llu\n", static_cast<unsigned long long>(writer.counters().queued));
	return 0;
}

// An instance that does not exist: by code, and by exception.
static int errors(const char *instance)
{
	std::error_code ec;
	stixels::reader none(instance, 0, ec);

	if (none || ec != std::errc::no_such_file_or_directory || ec.category() != stixels::category())
		return 2;
	if (none.wait(stixels::forever, ec) || ec != std::errc::invalid_argument || none.latest(ec) || !ec)
		return 3;
	try {
		stixels::reader reader(instance);
	} catch (const std::system_error &e) {
		if (e.code() != std::errc::no_such_file_or_directory)
			return 4;
		std::printf("%s\n", e.what());
	}
	stixels::pair_writer writer("../x", stixel_pairs_format{}, ec);
	if (writer || ec != std::errc::invalid_argument || writer.begin(stixels::forever, ec) || !ec)
		return 5;
	try {
		stixels::pair_writer bad("../x", stixel_pairs_format{});
		return 6;
	} catch (const stixels::error &e) {
		std::printf("%s\n", e.what());
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && std::strcmp(argv[1], "read") == 0)
		return read_frames(argv[2], std::atoi(argv[3]));
	if (argc == 4 && std::strcmp(argv[1], "write") == 0)
		return write_pairs(argv[2], std::atoi(argv[3]));
	return argc == 3 ? errors(argv[2]) : 64;
}
