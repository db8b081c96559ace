"""Pairing: a new device receives the vault. The protocol runs over a local HTTP link with a QR code, or libp2p."""
