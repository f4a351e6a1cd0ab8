"""stixel-calibrate: K, D, R and T of two raw cameras from views of a board.

Modules: options reads the command line. pairs supplies raw pairs. board finds corners. views decides which views are
kept and what is missing. solve computes. report, page and output print and write. paper and files need no other
module, because they print a board.

SPDX-License-Identifier: Apache-2.0
"""
