"""A vault moves to a new device: the protocol over any channel, a local HTTP link with a QR code, and libp2p."""
