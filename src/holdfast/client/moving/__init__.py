"""Moves a person from one service to another: the vault's copy, the name, and a passkey for the new host."""
