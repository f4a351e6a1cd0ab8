"""stixel-calibrate: K, D, R and T of two raw cameras from views of a board.

options reads the command line; pairs gives raw pairs; board finds corners; views decides which views are kept and what
is missing; solve computes; report, page and output tell and write. paper and files need no other module: they print a
board.

SPDX-License-Identifier: Apache-2.0
"""
