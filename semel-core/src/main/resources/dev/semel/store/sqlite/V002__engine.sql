-- breaking: yes
-- differs: types, STRICT and WITHOUT ROWID where rows are narrow, no storage parameters.

-- Where an unfinished run stands: when it is due, what it waits for, how often its worker died with it in a row.
-- gated: 0 goes through no queue, 1 has its places, 2 waits for one (and is held).
ALTER TABLE semel_work ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE semel_work ADD COLUMN waits TEXT;
ALTER TABLE semel_work ADD COLUMN cancel INTEGER NOT NULL DEFAULT 0 CHECK (cancel IN (0, 1));
ALTER TABLE semel_work ADD COLUMN falls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE semel_work ADD COLUMN gated INTEGER NOT NULL DEFAULT 0 CHECK (gated BETWEEN 0 AND 2);
DROP INDEX semel_work_free;
CREATE INDEX semel_work_due ON semel_work (due_at, run) WHERE owner IS NULL AND held = 0;

-- Only runs that come from another run have a row here.
CREATE TABLE semel_link (
    run BLOB NOT NULL PRIMARY KEY,
    parent BLOB,
    replay_of BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX semel_link_by_parent ON semel_link (parent, run) WHERE parent IS NOT NULL;
CREATE INDEX semel_link_by_replay ON semel_link (replay_of, run) WHERE replay_of IS NOT NULL;

-- The ledger: one row for each effect key of a workspace. States: 1 reserved, 2 done, 3 unknown, 4 free.
CREATE TABLE semel_effect (
    ws INTEGER NOT NULL,
    digest TEXT NOT NULL,
    step TEXT NOT NULL,
    run BLOB NOT NULL,
    claim INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 4),
    generation INTEGER NOT NULL CHECK (generation > 0),
    attempt INTEGER NOT NULL CHECK (attempt > 0),
    first_at INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    lasts INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    data TEXT,
    result TEXT,
    key TEXT NOT NULL,
    path TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    protection TEXT NOT NULL,
    does TEXT NOT NULL,
    object TEXT,
    worth TEXT,
    PRIMARY KEY (ws, digest)
) STRICT;
CREATE INDEX semel_effect_by_run ON semel_effect (run);
CREATE INDEX semel_effect_unknown ON semel_effect (ws, first_at) WHERE state = 3;

CREATE TABLE semel_signal (
    run BLOB NOT NULL,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    id BLOB NOT NULL,
    value TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (run, name, key)
) STRICT;

-- Queues in front of the start: one row to lock for each queue, one row for each run that is in it.
CREATE TABLE semel_queue (
    queue TEXT NOT NULL PRIMARY KEY,
    tail INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE semel_place (
    queue TEXT NOT NULL,
    ticket INTEGER NOT NULL,
    run BLOB NOT NULL,
    cap INTEGER NOT NULL CHECK (cap > 0),
    begun INTEGER NOT NULL CHECK (begun IN (0, 1)),
    PRIMARY KEY (queue, ticket)
) STRICT, WITHOUT ROWID;
CREATE INDEX semel_place_by_run ON semel_place (run);

CREATE TABLE semel_rate (
    name TEXT NOT NULL PRIMARY KEY,
    next_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE semel_quiet (
    name TEXT NOT NULL PRIMARY KEY,
    run BLOB NOT NULL
) STRICT, WITHOUT ROWID;
