"""Several instances as one: frames that were captured together, in the vehicle's frame (base_link, REP 105).

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations
