"""Pairing: a vault moves to a new device. The protocol runs over a local HTTP link with a QR code, or over libp2p."""
