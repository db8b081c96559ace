"""The two sources that rules take as arguments: time and randomness."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

Clock = Callable[[], float]
Entropy = Callable[[int], bytes]

system_clock: Clock = time.time
system_entropy: Entropy = os.urandom
