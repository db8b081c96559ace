"""The PostgreSQL store's writes: encodes the arguments of database functions and decodes their results."""
