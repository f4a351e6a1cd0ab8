# Completion of stixelctl and stixeld for bash.
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

# Instances that have a configuration, and those that run.
_stixel_instances()
{
	local path

	for path in /etc/stixeld/*.conf /run/stixeld/*/status.sock; do
		[ -e "$path" ] || continue
		path=${path%.conf}
		path=${path%/status.sock}
		printf '%s\n' "${path##*/}"
	done | sort -u
}

# "section.key=" of every key, as the program itself lists them.
_stixel_keys()
{
	local word rest section=

	while read -r word rest; do
		case $word in
		'['*']') section=${word//[\[\]]/} ;;
		'#'*) ;;
		*) [[ $rest == =* ]] && printf '%s.%s=\n' "$section" "$word" ;;
		esac
	done < <("${COMP_WORDS[0]}" --print-config -s source.kind=synthetic 2>/dev/null)
}

# Words that begin like the current one, from standard input.
_stixel_reply()
{
	local word

	COMPREPLY=()
	while read -r word; do
		[[ $word == "${COMP_WORDS[COMP_CWORD]}"* ]] && COMPREPLY+=("$word")
	done
}

_stixelctl()
{
	local before=${COMP_WORDS[COMP_CWORD - 1]}

	case $before in
	-i | --instance) _stixel_reply < <(_stixel_instances) ;;
	-c | --config | snapshot) mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}") ;;
	--frames | --interval | --timeout) COMPREPLY=() ;;
	*)
		_stixel_reply < <(printf '%s\n' status dump wait snapshot metrics doctor --instance --config --json --watch \
			--frames --interval --timeout --help --version)
		;;
	esac
}

_stixeld()
{
	local before=${COMP_WORDS[COMP_CWORD - 1]}

	case $before in
	-i | --instance) _stixel_reply < <(_stixel_instances) ;;
	-c | --config) mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}") ;;
	--frames) COMPREPLY=() ;;
	-s | --set)
		compopt -o nospace
		_stixel_reply < <(_stixel_keys)
		;;
	*) _stixel_reply < <(printf '%s\n' --config --set --instance --frames --check-config --print-config --help --version) ;;
	esac
}

complete -F _stixelctl stixelctl
complete -F _stixeld stixeld
