"""Client flows that consist of several requests: registration and payment. Written once, for asyncio."""
