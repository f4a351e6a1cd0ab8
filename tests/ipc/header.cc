// Tests the installed headers alone from C++: they compile, link, and their structs keep their layout.
//
// SPDX-License-Identifier: Apache-2.0
#include <stixel.h>
#include <stixel_convert.h>
#include <stixel_disparity.h>
#include <stixel_messages.h>
#include <stixel_pairs.h>

int main()
{
	struct stixel_reader *reader = nullptr;
	stixel_frame_header header{};
	stixel s{};

	s.disparity_q7 = 128;
	header.fx = 2.0;
	header.baseline_m = 0.5;
	if (stixel_open(&reader, "no-such-instance", 0) >= 0 || reader)
		return 1;
	return stixel_depth_m(&header, &s) == 1.0 ? 0 : 2;
}
