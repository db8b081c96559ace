"""Flows of several requests: registration, payment. Written once, for asyncio."""
