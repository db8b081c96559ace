"""Flows that take several requests: registration and payment. Written once, for asyncio."""
