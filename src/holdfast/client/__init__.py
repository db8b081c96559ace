"""The Python client: HTTP, local enclave, vault storage, passkeys, payments, delegation and sync.

Names are imported on first use, so that importing the package stays instant.
"""

from __future__ import annotations
