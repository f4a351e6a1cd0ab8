# Writes the completion script of a shell from the table of a program's command line.
#
#   PROGRAM --generate table | complete.py bash|zsh|fish
#
# The script needs no other file, and starts no program of stixeld while a user waits.
# SPDX-License-Identifier: Apache-2.0
import json
import re
import sys

# Templates. @WORD@ is replaced.
BASH = """\
# bash completion of @PROGRAM@, made from its own table of options.
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

@FUNCTIONS@@NAME@()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev words files back=1@LOCALS@

	COMPREPLY=()
	# bash cuts --option=word into three
	[ "$cur" = '=' ] && cur='' back=0
	prev=${COMP_WORDS[COMP_CWORD - back]}
	[ "$prev" = '=' ] && prev=${COMP_WORDS[COMP_CWORD - back - 1]}
@KEY_VALUE@	case $prev in
@ARGUMENTS@	esac
@WORDS@	if [[ $cur == -* || -z $files ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	else
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen "$files" -- "$cur")
	fi
}

complete -F @NAME@ @PROGRAM@
"""
BASH_INSTANCES = """\
# Instances that have a configuration, and those that run.
@NAME@_instances()
{
	local path

	for path in /etc/stixeld/*.conf @SYSTEM@/*/@SOCKET@ \\
		"${@VARIABLE@:-@USER@/$UID}"@FOLDER@/*/@SOCKET@ \\
		"@USER@/$UID"@FOLDER@/*/@SOCKET@; do
		[ -e "$path" ] || continue
		path=${path%.conf}
		path=${path%/@SOCKET@}
		printf '%s\\n' "${path##*/}"
	done | sort -u
}

"""
BASH_KEYS = """\
# Values of a key that has few.
@NAME@_values()
{
	case $1 in
@VALUES@	esac
}

@NAME@_keys='@KEYS@'

"""
BASH_KEY_VALUE = """\
	# SECTION.KEY=VALUE is cut at the "=" too
	if [ "${COMP_WORDS[COMP_CWORD - back]}" = '=' ] && [[ ${COMP_WORDS[COMP_CWORD - back - 1]} == *.* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(@NAME@_values "${COMP_WORDS[COMP_CWORD - back - 1]}")" -- "$cur")
		return
	fi
"""
BASH_COMMAND = """\
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
	@SKIP@) [ "${COMP_WORDS[i + 1]}" = '=' ] && i=$((i + 1)); i=$((i + 1)) ;;
		-*) ;;
		*) command=${COMP_WORDS[i]}; break ;;
		esac
	done
	case $command in
	'') words='@ALL@' files='' ;;
@COMMANDS@	esac
"""
# Arguments of compgen for each kind of offer, and the option that compopt gets before.
BASH_OFFERS = {"file": ("-f", "filenames"), "folder": ("-d", "filenames"), "section": ("-W '@SECTIONS@'", ""),
               "instance": ('-W "$(@NAME@_instances)"', ""), "setting": ('-W "$@NAME@_keys"', "nospace")}

ZSH = """\
#compdef @PROGRAM@
# zsh completion of @PROGRAM@, made from its own table of options.
# SPDX-License-Identifier: Apache-2.0

@FUNCTIONS@@NAME@() {
	local curcontext=$curcontext state line expl
	local -a commands

	_arguments -s@OPTIONS@
}

@NAME@ "$@"
"""
ZSH_INSTANCES = """\
@NAME@_instances() {
	local -aU names
	names=(/etc/stixeld/*.conf(N:t:r) @SYSTEM@/*/@SOCKET@(N:h:t)
		${@VARIABLE@:-@USER@/$UID}@FOLDER@/*/@SOCKET@(N:h:t)
		@USER@/$UID@FOLDER@/*/@SOCKET@(N:h:t))
	_wanted instances expl instance compadd -a names
}

"""
ZSH_KEYS = """\
@NAME@_settings() {
	local -a keys
	case $PREFIX in
@VALUES@	*=*) return ;;
	esac
	keys=(@KEYS@
	)
	_describe -t keys key keys -S =
}

"""
ZSH_COMMANDS = """ \\
		'1: :->command' '*:: :->rest' && return

	case $state in
	command)
		commands=(@COMMANDS@
		)
		_describe -t commands command commands
		;;
	rest)
		case $words[1] in
@CASES@		esac
		;;
	esac"""
ZSH_OFFERS = {"nothing": " ", "file": "_files", "folder": "_files -/", "section": "(@SECTIONS@)",
              "instance": "@NAME@_instances", "setting": "@NAME@_settings"}

FISH = """\
# fish completion of @PROGRAM@, made from its own table of options.
# SPDX-License-Identifier: Apache-2.0

"""
FISH_INSTANCES = """\
function _@NAME@_instances
	set -l user @USER@/(id -u)
	set -l runtime $@VARIABLE@
	test -n "$runtime"; or set runtime $user
	for path in /etc/stixeld/*.conf @SYSTEM@/*/@SOCKET@ $runtime@FOLDER@/*/@SOCKET@ $user@FOLDER@/*/@SOCKET@
		string replace -r '(\\.conf|/@SOCKET_PATTERN@)$' '' -- $path | string replace -r '^.*/' ''
	end | sort -u
end

"""
FISH_KEYS = """\
function _@NAME@_settings
	printf '%b\\n'@KEYS@
end

"""
# Fish function that prints the command on the line, or nothing. Skips words that belong to an option.
FISH_COMMAND = """\
function _@NAME@_command
	set -l words (commandline -opc)
	set -e words[1]
	set -l skip no
	for word in $words
		if test $skip = yes
			set skip no
			continue
		end
		switch $word
			case @SKIP@
				set skip yes
			case '-*'
			case '*'
				echo $word
				return 0
		end
	end
	return 1
end

function _@NAME@_in
	contains -- (_@NAME@_command) $argv
end

"""
FISH_OFFERS = {"nothing": "-x", "file": "-r -F", "folder": "-x -a '(__fish_complete_directories)'",
               "section": "-x -a '@SECTIONS@'", "instance": "-x -a '(_@NAME@_instances)'",
               "setting": "-x -a '(_@NAME@_settings)'"}


class Table:
    """The table of a program, and the words for the templates."""

    def __init__(self, table):
        self.options, self.commands, self.own = table["options"], table["commands"], table["own"]
        self.keys = [(name, key["help"], ["yes", "no"] if key["kind"] == "bool" else key.get("words", []))
                     for name, key in table["keys"].items()]
        self.offers = {o["offer"] for o in self.options}
        self.words = {"PROGRAM": table["program"], "NAME": "_" + table["program"].replace("-", "_"),
                      "SECTIONS": " ".join(table["sections"]), "FOLDER": table["places"]["program"],
                      "SOCKET_PATTERN": re.escape(table["places"]["socket"])}
        self.words.update((place.upper(), path) for place, path in table["places"].items() if place != "program")

    def fill(self, template, **words):
        return re.sub("@([A-Z_]+)@", lambda m: {**self.words, **words}[m.group(1)], template)

    def of(self, command):
        """Returns the options that a command accepts (None: options without a command), one per name."""
        return once(o for o in self.options if not o["commands"] or command in o["commands"])

    def skipped(self, between):
        """Returns the names of the options that take a word."""
        return between.join(between.join(names(o)) for o in once(self.options) if o["words"] and not o["optional"])


def once(options):
    """Returns the first option of each name."""
    found = {}
    for o in options:
        found.setdefault(o["name"], o)
    return list(found.values())


def names(option):
    return (["-" + option["letter"]] if option["letter"] else []) + ["--" + option["name"]]


def quoted(text, extra=""):
    """Escapes text for single quotes of bash and zsh. Characters in `extra` get a backslash in front."""
    return "".join("\\" + c if c in extra else c for c in text).replace("'", r"'\''")


def fish_quoted(text):
    return "'%s'" % re.sub(r"['\\]", r"\\\g<0>", text)


# ---- bash ----

def bash_case(t, pattern, offer, choices=()):
    words, before = BASH_OFFERS[offer] if offer != "nothing" else ("-W '%s'" % " ".join(choices), "")
    return "\t%s)\n%s\t\tmapfile -t COMPREPLY < <(compgen %s -- \"$cur\")\n\t\treturn\n\t\t;;\n" % (
        pattern, "\t\tcompopt -o %s 2>/dev/null\n" % before if before else "", t.fill(words))


def bash_arguments(t):
    cases, taking = "", [o for o in once(t.options) if o["words"]]
    for offer in BASH_OFFERS:
        these = [" | ".join(names(o)) for o in taking if o["offer"] == offer]
        cases += bash_case(t, " | ".join(these), offer) if these else ""
    for o in t.options:
        cases += bash_case(t, "--" + o["name"], "nothing", o["choices"]) if o["choices"] else ""
    rest = [" | ".join(names(o)) for o in taking if o["offer"] == "nothing" and not o["choices"]]
    return cases + ("\t%s) return ;;\n" % " | ".join(rest) if rest else "")


def bash_words(t):
    def files(command):
        return {"file": "files=-f", "folder": "files=-d"}.get(command["offer"], "files=''")

    def long(command, first=()):
        return " ".join([*first, *("--" + o["name"] for o in t.of(command))])

    if not t.commands:
        return "\twords='%s'\n\t%s\n" % (long(None), files(t.own))
    return t.fill(BASH_COMMAND, SKIP="\t" + t.skipped(" | "), ALL=long(None, (c["name"] for c in t.commands)),
                  COMMANDS="".join("\t%s) words='%s' %s ;;\n" % (c["name"], long(c["name"]), files(c))
                                   for c in t.commands))


def bash(t):
    functions = t.fill(BASH_INSTANCES) if "instance" in t.offers else ""
    if "setting" in t.offers:
        functions += t.fill(BASH_KEYS, KEYS="\n\t".join(name + "=" for name, _, _ in t.keys), VALUES="".join(
            "\t%s) echo '%s' ;;\n" % (name, " ".join(words)) for name, _, words in t.keys if words))
    return t.fill(BASH, FUNCTIONS=functions, LOCALS=" command='' i" if t.commands else "", WORDS=bash_words(t),
                  KEY_VALUE=t.fill(BASH_KEY_VALUE) if "setting" in t.offers else "", ARGUMENTS=bash_arguments(t))


# ---- zsh: specifications of _arguments ----

def zsh_word(t, shown, offer, choices=()):
    return ":%s:%s" % (quoted(shown, ":"), "(%s)" % " ".join(choices) if choices else t.fill(ZSH_OFFERS[offer]))


def zsh_options(t, command):
    text = ""
    for o in t.of(command):
        equals = "=" if o["words"] == 1 and not o["optional"] else ""
        text += " \\\n\t\t" + ("'*'" if o["many"] else "'(-%(letter)s --%(name)s)'" % o if o["letter"] else "")
        long = "--" + o["name"] + equals
        text += "{-%s%s,%s}" % (o["letter"], "+" if equals else "", long) if o["letter"] else long
        text += "'[%s]" % quoted(o["help"], "[]:") + (":" if o["optional"] else "")  # a second ":": may be left out
        text += o["words"] * zsh_word(t, o.get("argument", ""), o["offer"], o["choices"]) + "'"
    return text


def zsh_operands(t, command):
    word = zsh_word(t, command["operands"], command["offer"])
    return " \\\n\t\t'*%s'" % word if command["most"] > 2 else command["most"] * (" \\\n\t\t'%s'" % word)


def zsh(t):
    functions = t.fill(ZSH_INSTANCES) if "instance" in t.offers else ""
    if "setting" in t.offers:
        functions += t.fill(
            ZSH_KEYS, KEYS="".join("\n\t\t'%s:%s'" % (name, quoted(text)) for name, text, _ in t.keys),
            VALUES="".join("\t%s=*) compset -P '*='; compadd %s; return ;;\n" % (name, " ".join(words))
                           for name, _, words in t.keys if words))
    if not t.commands:
        return t.fill(ZSH, FUNCTIONS=functions, OPTIONS=zsh_options(t, None) + zsh_operands(t, t.own))
    return t.fill(ZSH, FUNCTIONS=functions, OPTIONS=" -C" + zsh_options(t, None) + t.fill(
        ZSH_COMMANDS, COMMANDS="".join("\n\t\t\t'%s:%s'" % (c["name"], quoted(c["help"])) for c in t.commands),
        CASES="".join("\t\t%s) _arguments -s%s%s ;;\n" % (c["name"], zsh_options(t, c["name"]), zsh_operands(t, c))
                      for c in t.commands)))


# ---- fish ----

def fish_option(t, o):
    text = t.fill("complete -c @PROGRAM@")
    if o["commands"]:
        text += t.fill(" -n '_@NAME@_in ") + " ".join(o["commands"]) + "'"
    text += (" -s " + o["letter"] if o["letter"] else "") + " -l " + o["name"]
    if o["words"]:
        text += " " + t.fill(FISH_OFFERS[o["offer"]]) + (" -a '%s'" % " ".join(o["choices"]) if o["choices"] else "")
    return text + " -d %s\n" % fish_quoted(o["help"])


def fish(t):
    text = t.fill(FISH) + (t.fill(FISH_INSTANCES) if "instance" in t.offers else "")
    if "setting" in t.offers:
        text += t.fill(FISH_KEYS, KEYS="".join(
            " \\\n\t\t%s=\\\\t%s" % (name, fish_quoted(text)) + "".join(" %s=%s" % (name, word) for word in words)
            for name, text, words in t.keys))
    if t.commands:
        text += t.fill(FISH_COMMAND, SKIP=t.skipped(" "))
    if t.commands or t.own["offer"] != "file":
        text += t.fill("complete -c @PROGRAM@ -f\n")
    for c in t.commands:
        text += t.fill("complete -c @PROGRAM@ -n 'not _@NAME@_command >/dev/null' -a @COMMAND@ -d @HELP@\n",
                       COMMAND=c["name"], HELP=fish_quoted(c["help"]))
        if c["offer"] == "file":
            text += t.fill("complete -c @PROGRAM@ -n '_@NAME@_in @COMMAND@' -F\n", COMMAND=c["name"])
    return text + "".join(fish_option(t, o) for o in t.options)


if __name__ == "__main__":
    sys.stdout.write({"bash": bash, "zsh": zsh, "fish": fish}[sys.argv[1]](Table(json.load(sys.stdin))))
