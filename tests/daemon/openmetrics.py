# A strict parser of OpenMetrics 1.0 text as stixeld writes it. It raises an error where a scraper could fail.
#
# SPDX-License-Identifier: Apache-2.0
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"')
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")
# type: suffixes that its samples may have
SUFFIXES = {"counter": {"_total", "_created"}, "gauge": {""}, "info": {"_info"}, "stateset": {""},
            "summary": {"", "_count", "_sum", "_created"}, "histogram": {"_bucket", "_count", "_sum", "_created"},
            "unknown": {""}}


class Family:
    def __init__(self, name):
        self.name, self.type, self.unit, self.help, self.samples = name, None, None, None, {}


def fail(number, line, why):
    raise ValueError("line %d: %s: %r" % (number, why, line))


def parse_labels(text, number, line):
    labels, at = {}, 0
    while at < len(text):
        m = LABEL.match(text, at)
        if not m:
            fail(number, line, "bad label")
        if m.group(1) in labels:
            fail(number, line, "label twice")
        value = m.group(2)
        labels[m.group(1)] = re.sub(r"\\(.)", lambda e: "\n" if e.group(1) == "n" else e.group(1), value)
        at = m.end()
        if at < len(text):
            if text[at] != ",":
                fail(number, line, "comma expected")
            at += 1
            if at == len(text):
                fail(number, line, "comma at the end")
    return labels


def parse_sample(line, number, family):
    m = re.match(r"([^{ ]+)(?:\{(.*)\})? ([^ ]+)\Z", line)
    if not m or not NAME.match(m.group(1)):
        fail(number, line, "not a sample")
    if not NUMBER.match(m.group(3)):
        fail(number, line, "bad value")
    name, labels, value = m.group(1), parse_labels(m.group(2) or "", number, line), float(m.group(3))
    if family is None or not name.startswith(family.name) or \
            name[len(family.name):] not in SUFFIXES[family.type]:
        fail(number, line, "sample outside its family")
    key = (name, tuple(sorted(labels.items())))
    if key in family.samples:
        fail(number, line, "sample twice")
    check_value(line, number, family, name, labels, value)
    family.samples[key] = value


def check_value(line, number, family, name, labels, value):
    if family.type in ("counter", "summary") and value < 0:
        fail(number, line, "negative")
    if family.type == "info" and value != 1:
        fail(number, line, "info is not 1")
    if family.type == "stateset" and (value not in (0, 1) or family.name not in labels):
        fail(number, line, "bad state")
    if family.type == "summary":
        quantile = labels.get("quantile")
        if (name == family.name) != (quantile is not None) or (quantile and not 0 <= float(quantile) <= 1):
            fail(number, line, "bad quantile")


def parse(text):
    """Parses the text and returns {family name: Family}."""
    if not text.endswith("\n"):
        raise ValueError("no line feed at the end")
    lines = text[:-1].split("\n")
    if lines[-1] != "# EOF":
        raise ValueError("no EOF")
    families, family = {}, None
    for number, line in enumerate(lines[:-1], 1):
        if not line.startswith("#"):
            parse_sample(line, number, family)
            continue
        m = re.match(r"# (TYPE|UNIT|HELP) (\S+) (.+)\Z", line)
        if not m:
            fail(number, line, "bad comment")
        word, name, rest = m.groups()
        if not NAME.match(name):
            fail(number, line, "bad name")
        if family is None or family.name != name:
            if name in families:
                fail(number, line, "family is not in one piece")
            family = families[name] = Family(name)
        if family.samples:
            fail(number, line, "after the samples")
        attribute = word.lower()
        if getattr(family, attribute) is not None:
            fail(number, line, "said twice")
        if word == "TYPE" and rest not in SUFFIXES:
            fail(number, line, "unknown type")
        if word == "UNIT" and not name.endswith("_" + rest):
            fail(number, line, "unit is not the end of the name")
        setattr(family, attribute, rest)
    for f in families.values():
        if f.type is None or f.help is None or not f.samples:
            raise ValueError("family %s lacks type, help or samples" % f.name)
        if f.type == "stateset":
            sets = {}  # labels without the state's own label: sum of the values
            for (_, labels), value in f.samples.items():
                rest = tuple(label for label in labels if label[0] != f.name)
                sets[rest] = sets.get(rest, 0) + value
            if set(sets.values()) != {1}:
                raise ValueError("family %s: not exactly one state" % f.name)
    return families


def value(families, family, suffix="", **labels):
    return families[family].samples[(family + suffix, tuple(sorted(labels.items())))]
