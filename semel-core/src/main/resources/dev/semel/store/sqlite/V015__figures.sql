-- breaking: no
-- Not breaking: an older worker does not look here and counts nothing; what newer ones count is exact.
-- differs: types, STRICT and WITHOUT ROWID.

-- Whether a worker died with the run at some time. What is known of falls in a row goes with the next step; this stays.
ALTER TABLE semel_work ADD COLUMN fell INTEGER NOT NULL DEFAULT 0 CHECK (fell IN (0, 1));

-- How often something happened in a minute, or (span 60) in an hour, written in the transaction of what it counts. Each
-- lane of a worker has rows of its own, so that no two batches wait for each other; a question adds them up.
-- step: the name of the step, empty where none is meant.
CREATE TABLE semel_count (
    ws INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    workflow_id TEXT NOT NULL,
    figure INTEGER NOT NULL,
    step TEXT NOT NULL,
    span INTEGER NOT NULL CHECK (span IN (1, 60)),
    lease INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    n INTEGER NOT NULL CHECK (n > 0),
    PRIMARY KEY (ws, minute, workflow_id, figure, step, span, lease, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX semel_count_by_span ON semel_count (span, minute);

-- What stands behind a count, one by one, where it is rare or where its object is asked for.
-- digest: of the effect, empty where none is meant. since_at: when an expired key was first used, else 0.
CREATE TABLE semel_fact (
    ws INTEGER NOT NULL,
    figure INTEGER NOT NULL,
    at INTEGER NOT NULL,
    run BLOB NOT NULL,
    digest TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    step TEXT NOT NULL,
    object TEXT,
    worth TEXT,
    data TEXT,
    since_at INTEGER NOT NULL,
    PRIMARY KEY (ws, figure, at, run, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX semel_fact_by_time ON semel_fact (at);
