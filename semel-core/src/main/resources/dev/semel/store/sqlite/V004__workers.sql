-- breaking: no
-- Not breaking: an older worker leaves these as they are and is shown without them.

-- What a worker tells of itself with each heartbeat, for whoever looks at the workers. Nothing is decided by it.
ALTER TABLE semel_lease ADD COLUMN version TEXT NOT NULL DEFAULT '';
ALTER TABLE semel_lease ADD COLUMN runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE semel_lease ADD COLUMN renewed_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE semel_lease ADD COLUMN ahead INTEGER NOT NULL DEFAULT 0;
