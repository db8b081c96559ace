"""The Python client: HTTP calls, a local enclave, vault storage, passkeys, payments, delegation and sync.

Each public name is imported on first use, so importing the package takes only milliseconds.
"""

from __future__ import annotations
