"""What takes several steps: registration, payment, pairing. Written once, for asyncio; the blocking face runs them."""
