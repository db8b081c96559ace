-- The tables that the four endpoints of both peers need, with conventional primary keys.
PRAGMA journal_mode = WAL;
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  channel TEXT NOT NULL,
  identifier TEXT NOT NULL,
  did TEXT NOT NULL,
  ip TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (channel, identifier)
) STRICT;
CREATE INDEX sessions_by_ip ON sessions (ip);
CREATE TABLE registered_dids (
  id INTEGER PRIMARY KEY,
  credential_id TEXT NOT NULL UNIQUE,
  identifier TEXT NOT NULL,
  channel TEXT NOT NULL,
  did TEXT NOT NULL,
  tx_hash TEXT NOT NULL,
  block_number INTEGER NOT NULL,
  smart_account TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
