-- breaking: no
-- Times are microseconds since 1970 of the store's clock. Ids of runs are 16 bytes, time first.

CREATE TABLE semel_workspace (
    ws integer PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    secret bytea NOT NULL,
    created_at bigint NOT NULL
);

CREATE TABLE semel_token (
    token_id text COLLATE "C" PRIMARY KEY,
    ws integer NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL UNIQUE,
    scopes text NOT NULL,
    quota_per_minute integer NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint NOT NULL
);

CREATE TABLE semel_catalog (
    one smallint PRIMARY KEY CHECK (one = 1),
    change bigint NOT NULL
);
INSERT INTO semel_catalog (one, change) VALUES (1, 1);

CREATE TABLE semel_workflow (
    ws integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL UNIQUE,
    version integer NOT NULL,
    paused smallint NOT NULL CHECK (paused IN (0, 1)),
    created_at bigint NOT NULL,
    PRIMARY KEY (ws, name)
);

CREATE TABLE semel_version (
    workflow_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    body text NOT NULL,
    published_at bigint NOT NULL,
    published_by text NOT NULL,
    PRIMARY KEY (workflow_id, version)
);

-- Names: keys, chosen run ids, payloads. Narrow, because random keys touch a page each.
CREATE TABLE semel_key (
    ws integer NOT NULL,
    kind smallint NOT NULL,
    key text COLLATE "C" NOT NULL,
    run bytea NOT NULL,
    digest bytea NOT NULL,
    first_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    flags smallint NOT NULL,
    PRIMARY KEY (ws, kind, key)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000);

-- A run as it was admitted; never updated. Where it is now: semel_work while unfinished, semel_end afterwards.
CREATE TABLE semel_run (
    run bytea PRIMARY KEY,
    ws integer NOT NULL,
    chosen_id text COLLATE "C",
    workflow_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    door smallint NOT NULL,
    actor text NOT NULL,
    key text COLLATE "C",
    correlation_id text,
    input text NOT NULL,
    fields bytea NOT NULL,
    lineage bytea NOT NULL,
    previous bytea,
    duplicate_of bytea,
    created_at bigint NOT NULL
);
CREATE INDEX semel_run_by_workflow ON semel_run (ws, workflow_id, run);

-- Unfinished runs. Narrow and busy: a row comes with the admission and goes with the end.
CREATE TABLE semel_work (
    run bytea PRIMARY KEY,
    workflow_id text COLLATE "C" NOT NULL,
    owner bigint,
    claims integer NOT NULL,
    state smallint NOT NULL CHECK (state BETWEEN 1 AND 5),
    held smallint NOT NULL CHECK (held IN (0, 1))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX semel_work_free ON semel_work (run) WHERE owner IS NULL AND held = 0;

CREATE TABLE semel_end (
    run bytea PRIMARY KEY,
    state smallint NOT NULL CHECK (state BETWEEN 10 AND 12),
    ended_at bigint NOT NULL,
    output text,
    error_code text,
    error_message text,
    error_step text,
    entries text NOT NULL
);

CREATE TABLE semel_journal (
    run bytea NOT NULL,
    seq integer NOT NULL,
    at bigint NOT NULL,
    entries text NOT NULL,
    PRIMARY KEY (run, seq)
);

-- Requests that met a known name. The first request of a run is the run itself.
CREATE TABLE semel_request (
    run bytea NOT NULL,
    id bytea NOT NULL,
    ws integer NOT NULL,
    conflict smallint NOT NULL CHECK (conflict IN (0, 1)),
    at bigint NOT NULL,
    status_code smallint NOT NULL,
    actor text NOT NULL,
    changed text,
    times bigint NOT NULL CHECK (times > 0),
    PRIMARY KEY (run, id)
);
CREATE INDEX semel_request_by_workspace ON semel_request (ws, id);

CREATE TABLE semel_use (
    run bytea PRIMARY KEY,
    replays bigint NOT NULL,
    conflicts bigint NOT NULL,
    last_at bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE semel_lease (
    lease bigint PRIMARY KEY,
    worker text NOT NULL,
    started_at bigint NOT NULL,
    until_at bigint NOT NULL
);

CREATE TABLE semel_fence (
    lease bigint NOT NULL,
    slot integer NOT NULL,
    PRIMARY KEY (lease, slot)
);

CREATE TABLE semel_audit (
    id bytea PRIMARY KEY,
    ws integer NOT NULL,
    at bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    reason text NOT NULL
);
CREATE INDEX semel_audit_by_workspace ON semel_audit (ws, id);
