#!/bin/sh
# stixel-calibrate(1): starts the program of the package stixel-calibrate, or says that this package is missing.
# SPDX-License-Identifier: Apache-2.0
program=/usr/share/stixeld/calibrate/stixel-calibrate
if [ ! -e "$program" ]; then
	echo "stixel-calibrate: the program is not installed: apt install stixel-calibrate" >&2
	exit 69
fi
exec "$program" "$@"
