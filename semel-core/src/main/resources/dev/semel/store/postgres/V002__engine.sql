-- breaking: yes

-- Where an unfinished run stands: when it is due, what it waits for, how often its worker died with it in a row.
-- gated: 0 goes through no queue, 1 has its places, 2 waits for one (and is held).
ALTER TABLE semel_work ADD COLUMN due_at bigint NOT NULL DEFAULT 0;
ALTER TABLE semel_work ADD COLUMN waits text;
ALTER TABLE semel_work ADD COLUMN cancel smallint NOT NULL DEFAULT 0 CHECK (cancel IN (0, 1));
ALTER TABLE semel_work ADD COLUMN falls smallint NOT NULL DEFAULT 0;
ALTER TABLE semel_work ADD COLUMN gated smallint NOT NULL DEFAULT 0 CHECK (gated BETWEEN 0 AND 2);
DROP INDEX semel_work_free;
CREATE INDEX semel_work_due ON semel_work (due_at, run) WHERE owner IS NULL AND held = 0;

-- Only runs that come from another run have a row here.
CREATE TABLE semel_link (
    run bytea PRIMARY KEY,
    parent bytea,
    replay_of bytea
);
CREATE INDEX semel_link_by_parent ON semel_link (parent, run) WHERE parent IS NOT NULL;
CREATE INDEX semel_link_by_replay ON semel_link (replay_of, run) WHERE replay_of IS NOT NULL;

-- The ledger: one row for each effect key of a workspace. States: 1 reserved, 2 done, 3 unknown, 4 free.
CREATE TABLE semel_effect (
    ws integer NOT NULL,
    digest text COLLATE "C" NOT NULL,
    step text COLLATE "C" NOT NULL,
    run bytea NOT NULL,
    claim integer NOT NULL,
    turn integer NOT NULL,
    state smallint NOT NULL CHECK (state BETWEEN 1 AND 4),
    generation integer NOT NULL CHECK (generation > 0),
    attempt integer NOT NULL CHECK (attempt > 0),
    first_at bigint NOT NULL,
    accepted_at bigint NOT NULL,
    lasts bigint NOT NULL,
    expires_at bigint NOT NULL,
    data text,
    result text,
    key text NOT NULL,
    path text NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    protection text NOT NULL,
    does text NOT NULL,
    object text,
    worth text,
    PRIMARY KEY (ws, digest)
) WITH (fillfactor = 80);
CREATE INDEX semel_effect_by_run ON semel_effect (run);
CREATE INDEX semel_effect_unknown ON semel_effect (ws, first_at) WHERE state = 3;

CREATE TABLE semel_signal (
    run bytea NOT NULL,
    name text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    value text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (run, name, key)
);

-- Queues in front of the start: one row to lock for each queue, one row for each run that is in it.
CREATE TABLE semel_queue (
    queue text COLLATE "C" PRIMARY KEY,
    tail bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE semel_place (
    queue text COLLATE "C" NOT NULL,
    ticket bigint NOT NULL,
    run bytea NOT NULL,
    cap integer NOT NULL CHECK (cap > 0),
    begun smallint NOT NULL CHECK (begun IN (0, 1)),
    PRIMARY KEY (queue, ticket)
);
CREATE INDEX semel_place_by_run ON semel_place (run);

CREATE TABLE semel_rate (
    name text COLLATE "C" PRIMARY KEY,
    next_at bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE semel_quiet (
    name text COLLATE "C" PRIMARY KEY,
    run bytea NOT NULL
) WITH (fillfactor = 50);
