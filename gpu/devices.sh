#!/bin/sh
# Prints the compute capabilities of this machine's NVIDIA devices, one per line, such as 87. Prints nothing if none.
# devices.sh [FILE]   FILE: device tree entry that identifies a Jetson, which often has no nvidia-smi
# SPDX-License-Identifier: Apache-2.0
tree=${1-/proc/device-tree/compatible}

{
	if [ -r "$tree" ]; then
		tr '\0' '\n' <"$tree" | sed -n -e 's/^nvidia,tegra194$/72/p' -e 's/^nvidia,tegra234$/87/p' \
			-e 's/^nvidia,tegra264$/110/p'
	fi
	# without a device, or if nvidia-smi is too old for the query, its output is no number and is dropped
	nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
		sed -n 's/^ *\([0-9][0-9]*\)\.\([0-9]\) *$/\1\2/p'
} | sort -nu
