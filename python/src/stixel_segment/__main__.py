"""Program "python3 -m stixel_segment".

SPDX-License-Identifier: Apache-2.0
"""
import sys

from .program import main

if __name__ == "__main__":
    sys.exit(main())
