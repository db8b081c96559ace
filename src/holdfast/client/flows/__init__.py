"""What takes several steps: registration, payment, pairing. Written once, for asyncio."""
