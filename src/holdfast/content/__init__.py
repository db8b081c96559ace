"""Content-addressed formats that service and client share: CIDs, CAR files, snapshot roots, IPNS names and records."""
