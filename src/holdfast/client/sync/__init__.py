"""Pairing: a new device receives the vault from another, over a local HTTP link with a QR code, or over libp2p."""
