-- breaking: no
-- Not breaking: an older worker does not look here.

-- Documents that a workspace keeps: secrets, templates, channels and whatever else is configured, one row a version.
-- The highest version of a name is the current one; where that is removed there is none.
CREATE TABLE semel_setting (
    ws INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    body TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    removed INTEGER NOT NULL CHECK (removed = 0 OR (removed = 1 AND body = '')),
    PRIMARY KEY (ws, kind, name, version)
) STRICT;
