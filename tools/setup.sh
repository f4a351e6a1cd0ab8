# Functions for scripts of tools/ and tests/: packages, archives, the tree's version, a build folder, progress. Sourced,
# not run.
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

: "${top:?the script that sources this says where the tree is}"
# shellcheck source=tools/progress.sh
. "$top/tools/progress.sh"

say()
{
	[ -z "$progress_watcher" ] || ! progress_on_terminal || printf '\r\033[K' >&2
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die()
{
	say "$*"
	exit 1
}

# Package names of Debian 11 to 13 and Ubuntu. demo_packages: for stixeld, stixelctl and what the demo shows. Then the
# packages for everything.
demo_packages=(gcc libc6-dev meson ninja-build pkg-config python3 libpng-dev libmicrohttpd-dev libinih-dev libyaml-dev
	libjansson-dev)
build_packages=("${demo_packages[@]}" build-essential libjpeg-dev libgnutls28-dev libncurses-dev
	libsystemd-dev libexpat1-dev libzstd-dev libdeflate-dev libprotobuf-c-dev protobuf-c-compiler protobuf-compiler
	scdoc)
export demo_packages build_packages

# Prints the named packages that are not installed.
missing_packages()
{
	local package wanted native

	native=$(dpkg --print-architecture)
	for package in "$@"; do
		# the package may be installed for another architecture, too
		[[ $package == *:* ]] && wanted=${package#*:} || wanted=$native
		dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qxE "($wanted|all) installed" || printf '%s\n' "$package"
	done
}

# as_root COMMAND...: runs a command as root, with sudo if another user runs this script
as_root()
{
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Fetches apt's package lists, once.
apt_fetched=''
fetch_lists()
{
	[ -z "$apt_fetched" ] || return 0
	say "fetching apt's lists of packages"
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update >&2 || die "apt-get update failed"
	apt_fetched=yes
}

# Installs the named packages that are missing, and prints their names first. Changes nothing if all are installed, or
# if STIXEL_NO_INSTALL is set.
need_packages()
{
	local missing

	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
		say "this is no Debian or Ubuntu: going on with what is installed; needed are $*"
		return
	fi
	mapfile -t missing < <(missing_packages "$@")
	[ "${#missing[@]}" -gt 0 ] || return 0
	if [ -n "${STIXEL_NO_INSTALL:-}" ]; then
		say "not installed, as asked: ${missing[*]}"
		return
	fi
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
		die "please install, as root: apt-get install --no-install-recommends ${missing[*]}"
	say "installing with apt, as root: ${missing[*]}"
	fetch_lists
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends \
		"${missing[@]}" >&2 || die "apt-get could not install ${missing[*]}"
}

# Prints the address of the archive from which apt gets this machine's release of Debian or Ubuntu. If there is none,
# prints a sentence and returns 1.
apt_mirror()
{
	local system lines

	# shellcheck source=/dev/null
	system=$(. /etc/os-release && echo "${ID:-another} ${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016 # apt's variables
	lines=$(apt-get indextargets --format '$(CREATED_BY) $(RELEASE) $(COMPONENT) $(REPO_URI)')
	if ! grep -q '^Packages ' <<<"$lines"; then
		say "apt's lists are empty, so that it names no archive: apt-get update fetches them"
		return 1
	fi
	awk -v release="${system#* }" '$1 == "Packages" && $2 == release && $3 == "main" { print $4; exit }' \
		<<<"$lines" | grep . || {
		say "apt knows no archive of $system"
		return 1
	}
}

# Prints the address of Debian's archive, which has every release and architecture. If this machine is not Debian,
# prints a sentence and returns 1.
debian_mirror()
{
	# shellcheck source=/dev/null
	if [ "$(. /etc/os-release && echo "${ID:-}")" != debian ]; then
		say "this is no Debian, whose archive is needed"
		return 1
	fi
	apt_mirror
}

# Installs mmdebstrap. If it cannot make a root here, prints a sentence and returns 1.
need_mmdebstrap()
{
	need_packages mmdebstrap
	[ "$(id -u)" = 0 ] || mmdebstrap --unshare-helper true 2>/dev/null || {
		say "mmdebstrap makes a root of a distribution only for root, or for a user who may have others in" \
			"user namespaces: that needs the package uidmap and a line in /etc/subuid and /etc/subgid"
		return 1
	}
}

# tree_version prints the version of this tree from meson.build. news_heading prints the first heading of NEWS.md, which
# should begin with it.
tree_version()
{
	sed -n "s/^  version: '\([0-9.]*\)',$/\1/p" "$top/meson.build"
}

news_heading()
{
	sed -n 's/^## //p' "$top/NEWS.md" | head -n 1
}

# Runs git on this tree, and not on a repository around it.
git_here()
{
	[ -e "$top/.git" ] && git -C "$top" "$@" 2>/dev/null
}

# Prints the date of files made from this tree, seconds since 1970: SOURCE_DATE_EPOCH, or else the date of the commit.
# If there is neither, returns 1.
source_date()
{
	if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
		echo "$SOURCE_DATE_EPOCH"
	else
		git_here log -1 --format=%ct
	fi
}

# Lets apt install packages of another architecture beside those of the machine.
need_architecture()
{
	! dpkg --print-foreign-architectures | grep -qx "$1" || return 0
	[ -z "${STIXEL_NO_INSTALL:-}" ] || return 0
	say "taking packages of $1, too"
	as_root dpkg --add-architecture "$1" || die "dpkg does not take packages of $1"
	apt_fetched=''
}

# Ends the script if Meson is older than meson.build requires, as in Debian 11 and Ubuntu 20.04.
need_meson()
{
	local least found

	least=$(sed -n "s/.*meson_version: '>=\(.*\)'.*/\1/p" "$top/meson.build")
	found=$(meson --version) || die "Meson cannot be run; $least or newer is needed"
	printf '%s\n' "$least" "$found" | sort -C -V ||
		die "Meson $found is too old, $least is needed; pip has it: apt-get install python3-pip, then" \
			"pip3 install meson, with its folder (/usr/local/bin, ~/.local/bin) first in PATH"
}

# Returns whether the NVIDIA driver shows a device on this machine.
has_nvidia_device()
{
	local node

	for node in /dev/nvidia[0-9]* /dev/nvhost-gpu /dev/nvgpu; do
		[ ! -e "$node" ] || return 0
	done
	nvidia-smi -L 2>/dev/null | grep -q '^GPU'
}

has_nvcc()
{
	command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]
}

# Prints the release of the nvcc that has_nvcc() found, such as 13.0.
nvcc_release()
{
	PATH=$PATH:/usr/local/cuda/bin nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p'
}

# configure FOLDER [MESON OPTIONS]: runs Meson once. Later calls keep the folder, or recreate it if the options differ.
# Paths of files in the options start at the top of the tree.
configure()
{
	local folder=$1

	shift
	if [ ! -f "$folder/build.ninja" ] || [ "$(cat "$folder/options" 2>/dev/null)" != "$*" ]; then
		rm -rf "$folder"
		(cd "$top" && meson setup "$@" "$folder" "$top") || return 1
		printf '%s\n' "$*" >"$folder/options"
	fi
}
