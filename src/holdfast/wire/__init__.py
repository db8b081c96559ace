"""What the service and the client share: the error table, JSON types and encodings.

This package imports no other package of Holdfast.
"""
