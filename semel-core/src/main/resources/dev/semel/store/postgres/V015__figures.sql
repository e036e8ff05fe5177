-- breaking: no
-- Not breaking: an older worker does not look here and counts nothing; what newer ones count is exact.

-- Whether a worker died with the run at some time. What is known of falls in a row goes with the next step; this stays.
ALTER TABLE semel_work ADD COLUMN fell smallint NOT NULL DEFAULT 0 CHECK (fell IN (0, 1));

-- How often something happened in a minute, or (span 60) in an hour, written in the transaction of what it counts. Each
-- lane of a worker has rows of its own, so that no two batches wait for each other; a question adds them up.
-- step: the name of the step, empty where none is meant.
CREATE TABLE semel_count (
    ws integer NOT NULL,
    minute bigint NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    figure smallint NOT NULL,
    step text COLLATE "C" NOT NULL,
    span smallint NOT NULL CHECK (span IN (1, 60)),
    lease bigint NOT NULL,
    slot integer NOT NULL,
    n bigint NOT NULL CHECK (n > 0),
    PRIMARY KEY (ws, minute, workflow_id, figure, step, span, lease, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX semel_count_by_span ON semel_count (span, minute);

-- What stands behind a count, one by one, where it is rare or where its object is asked for.
-- digest: of the effect, empty where none is meant. since_at: when an expired key was first used, else 0.
CREATE TABLE semel_fact (
    ws integer NOT NULL,
    figure smallint NOT NULL,
    at bigint NOT NULL,
    run bytea NOT NULL,
    digest text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    step text COLLATE "C" NOT NULL,
    object text COLLATE "C",
    worth text,
    data text,
    since_at bigint NOT NULL,
    PRIMARY KEY (ws, figure, at, run, digest)
);
CREATE INDEX semel_fact_by_time ON semel_fact (at);
