"""The sources of time and randomness, which are passed as arguments so that tests can replace them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

Clock = Callable[[], float]
Entropy = Callable[[int], bytes]

system_clock: Clock = time.time
system_entropy: Entropy = os.urandom
