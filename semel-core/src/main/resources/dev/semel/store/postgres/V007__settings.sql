-- breaking: no
-- Not breaking: an older worker does not look here.

-- Documents that a workspace keeps: secrets, templates, channels and whatever else is configured, one row a version.
-- The highest version of a name is the current one; where that is removed there is none.
CREATE TABLE semel_setting (
    ws integer NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    body text NOT NULL,
    changed_at bigint NOT NULL,
    changed_by text NOT NULL,
    removed integer NOT NULL CHECK (removed = 0 OR (removed = 1 AND body = '')),
    PRIMARY KEY (ws, kind, name, version)
);
