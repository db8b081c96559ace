"""A vault's snapshots on servers: uploading after each change, publishing under a name, and recovery."""
