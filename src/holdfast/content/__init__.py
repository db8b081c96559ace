"""Content-addressed formats that service and client share: CIDs, CAR files, snapshots, IPNS names and records."""
