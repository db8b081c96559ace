"""The owners, guardians and permissions of a smart account."""
