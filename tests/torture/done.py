# What tests/torture/run has done already, so that an interrupted run goes on where it was and nights add up: a line for
# each life without a finding in BUILD/torture-done, by what it and its judge are made of. What was changed begins anew.
#
# SPDX-License-Identifier: Apache-2.0
import hashlib
import os

HERE = os.path.dirname(os.path.abspath(__file__))
# What leads lives and judges them: of another one each life is another. tests/night goes by this list as well.
JUDGES = [os.path.join(HERE, name) for name in ("cuda_lives.py", "house.py", "lives.py", "run")]


class Done:
    """Of one build folder."""

    def __init__(self, build):
        self.path, self.programs, self.lines = os.path.join(build, "torture-done"), {}, {}
        if os.path.exists(self.path):
            with open(self.path) as f:
                for line in f:
                    fields = line.split()
                    if len(fields) == 6:  # the last one may be half a line
                        self.lines[tuple(fields[:3])] = fields[3:]

    def key(self, life, order):
        parts = (*life.parts(), *JUDGES)
        if parts not in self.programs:
            both = hashlib.sha256()
            for part in parts:
                with open(part, "rb") as f:
                    both.update(f.read())
            self.programs[parts] = both.hexdigest()[:16]
        return life.name, self.programs[parts], order

    def rest_of(self, orders, tally):
        """Those that are left; the others are told to the tally."""
        rest = []
        for life, order in orders:
            line = self.lines.get(self.key(life, order))
            if line:
                outcome, site, seconds = line
                tally.add(life, order, outcome.replace("_", " "), site.strip("-"), float(seconds))
            else:
                rest.append((life, order))
        return rest

    def add(self, life, order, outcome, site, seconds):
        if not site and "@" in order:
            return  # the next night may have it
        with open(self.path, "a") as f:
            f.write("%s %s %s %s %s %.3f\n" % (*self.key(life, order), outcome.replace(" ", "_"), site or "-",
                                              seconds))
