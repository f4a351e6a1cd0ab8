#!/bin/sh
# Compute capabilities of this machine's NVIDIA devices, one a line, such as 87; none: nothing.
# devices.sh [FILE]   FILE: what a Jetson says of itself; it often has no nvidia-smi
# SPDX-License-Identifier: Apache-2.0
tree=${1-/proc/device-tree/compatible}

{
	if [ -r "$tree" ]; then
		tr '\0' '\n' <"$tree" | sed -n -e 's/^nvidia,tegra194$/72/p' -e 's/^nvidia,tegra234$/87/p' \
			-e 's/^nvidia,tegra264$/110/p'
	fi
	# what it says without a device, or an old one of the question, is no number
	nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
		sed -n 's/^ *\([0-9][0-9]*\)\.\([0-9]\) *$/\1\2/p'
} | sort -nu
