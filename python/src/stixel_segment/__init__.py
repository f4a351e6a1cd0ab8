"""stixel-segment: runs a segmentation network on the left images of an instance, and writes its class scores.

See docs/use/semantics.md.

program.py reads the command line (text.py) and the model file (model.py, tables.py). supervisor.py runs worker.py in a
process of its own, starts it again if it hangs or dies, counts and reports. The worker reads the images, runs the
network (network.py, with a back end of backends.py) and writes the scores. instance.py compares the classes with those
of the daemon. picture.py draws labels.

SPDX-License-Identifier: Apache-2.0
"""
