# Runs groups of tests in the guest. Prints one line for each test, and all facts about a failed test.
#
# SPDX-License-Identifier: Apache-2.0
import sys
import time
import unittest

import guest


class Lines(unittest.TestResult):
    """Prints GROUP.CLASS.TEST, ok, FAILED or skipped, and the seconds of each test."""

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def say(self, test, word, detail=""):
        name = test.id().removeprefix("test_")
        print("%-64s %s, %.1f s%s" % (name, word, time.monotonic() - self.began, detail), flush=True)

    def addSuccess(self, test):
        self.say(test, "ok")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say(test, "skipped", ": " + reason)

    def say_failed(self, test, trace):
        evidence = getattr(test, "evidence", str)()
        self.say(test, "FAILED", "\n".join(["", trace + "--- log of stixeld:", evidence[-6000:],
                                            "--- threads that have cameras open, or wait for ever:", *guest.stuck()]))

    def addError(self, test, err):
        super().addError(test, err)
        self.say_failed(test, self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say_failed(test, self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.say_failed(subtest, (self.failures + self.errors)[-1][1])


suite = unittest.defaultTestLoader.loadTestsFromNames("test_" + name for name in sys.argv[1:])
result = Lines()
suite.run(result)
print("%d tests, %d failed, %d skipped" % (result.testsRun, len(result.failures) + len(result.errors),
                                           len(result.skipped)))
sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)
