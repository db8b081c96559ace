"""What service and client share: error table, JSON shapes, encodings. Imports no other package of Holdfast."""
