# Shows that long work goes on: on a terminal a line that moves, elsewhere a line from time to time. Sourced by
# tools/setup.sh.
#
#	progress_begin "building" LOG
#	COMMAND >LOG 2>&1
#	progress_end
#
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

# Seconds between lines where stderr is no terminal: in the first minute, and later.
progress_seconds=(10 30)
# Not empty: nothing is shown, because several works go on at the same time.
progress_off=''
progress_watcher=''

# Returns whether stderr is a terminal that can draw a line again.
progress_on_terminal()
{
	[ -t 2 ] && [ "${TERM:-dumb}" != dumb ]
}

# progress_step LOG: prints ": " and how far the work is, from the last line of its log: the steps of ninja, Meson and
# tests are counted ("[12/538] ..." or "12/93 ..."), other lines are printed as they are. Prints nothing without lines.
progress_step()
{
	tail -c 4096 "$1" 2>/dev/null | tr '\r' '\n' | tr -d '\000-\010\013-\037\177' | awk '
		/[^ \t]/ { line = $0 }
		END {
			if (match(line, /^ *\[?[0-9]+\/[0-9]+[] ]/)) {
				split(substr(line, RSTART, RLENGTH), n, /[^0-9]+/)
				first = n[1] == "" ? 2 : 1
				printf ": %d of %d", n[first], n[first + 1]
			} else {
				gsub(/[ \t]+/, " ", line)
				sub(/^ /, "", line)
				if (line != "")
					print ": " line
			}
		}'
}

# progress_watch WHAT LOG OWNER: prints lines until OWNER, the process that started this one, has ended.
progress_watch()
{
	local began=$SECONDS shown=$SECONDS every now line columns=0 parent=$3

	! progress_on_terminal || columns=$(stty size <&2 2>/dev/null | cut -d ' ' -f 2)
	while sleep 0.5 >/dev/null 2>&1; do # keeps no pipe of the script open
		read -r _ _ _ parent _ <"/proc/$BASHPID/stat"
		[ "$parent" = "$3" ] || return 0
		now=$((SECONDS - began))
		if [ "$columns" != 0 ]; then
			printf -v line '%s: %s, %d s%s' "${0##*/}" "$1" "$now" "$(progress_step "$2")"
			printf '\r\033[K%.*s' "$((${columns:-80} - 1))" "$line" >&2
			continue
		fi
		every=${progress_seconds[$((now > 60))]}
		if [ $((SECONDS - shown)) -ge "$every" ]; then
			shown=$SECONDS
			printf '%s: %s, %d s%.72s\n' "${0##*/}" "$1" "$now" "$(progress_step "$2")" >&2
		fi
	done
}

# progress_begin WHAT [LOG]: begins to show work, whose last line in LOG says how far it is.
progress_begin()
{
	local owner=$BASHPID

	progress_end
	[ -z "$progress_off" ] || return 0
	progress_watch "$1" "${2:-/dev/null}" "$owner" &
	progress_watcher=$!
}

# Ends what progress_begin() began, and removes the line. Harmless without it.
progress_end()
{
	[ -n "$progress_watcher" ] || return 0
	# Not by SIGTERM: a shell that was just started would run this script's trap for EXIT. Ctrl-C may have
	# ended the watcher already.
	kill -KILL "$progress_watcher" 2>/dev/null || true
	wait "$progress_watcher" 2>/dev/null || true
	progress_watcher=''
	! progress_on_terminal || printf '\r\033[K' >&2
}
