-- breaking: no
-- differs: types, STRICT and WITHOUT ROWID (rows lie in the primary key; no second look-up), no storage parameters.
-- Times are microseconds since 1970 of the store's clock. Ids of runs are 16 bytes, time first.

CREATE TABLE semel_workspace (
    ws INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    secret BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE semel_token (
    token_id TEXT NOT NULL PRIMARY KEY,
    ws INTEGER NOT NULL,
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    quota_per_minute INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE semel_catalog (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    change INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO semel_catalog (one, change) VALUES (1, 1);

CREATE TABLE semel_workflow (
    ws INTEGER NOT NULL,
    name TEXT NOT NULL,
    workflow_id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (ws, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE semel_version (
    workflow_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    published_at INTEGER NOT NULL,
    published_by TEXT NOT NULL,
    PRIMARY KEY (workflow_id, version)
) STRICT, WITHOUT ROWID;

-- Names: keys, chosen run ids, payloads. Narrow, because random keys touch a page each.
CREATE TABLE semel_key (
    ws INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    key TEXT NOT NULL,
    run BLOB NOT NULL,
    digest BLOB NOT NULL,
    first_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    PRIMARY KEY (ws, kind, key)
) STRICT, WITHOUT ROWID;

-- A run as it was admitted; never updated. Where it is now: semel_work while unfinished, semel_end afterwards.
CREATE TABLE semel_run (
    run BLOB NOT NULL PRIMARY KEY,
    ws INTEGER NOT NULL,
    chosen_id TEXT,
    workflow_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    door INTEGER NOT NULL,
    actor TEXT NOT NULL,
    key TEXT,
    correlation_id TEXT,
    input TEXT NOT NULL,
    fields BLOB NOT NULL,
    lineage BLOB NOT NULL,
    previous BLOB,
    duplicate_of BLOB,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX semel_run_by_workflow ON semel_run (ws, workflow_id, run);

-- Unfinished runs. Narrow and busy: a row comes with the admission and goes with the end.
CREATE TABLE semel_work (
    run BLOB NOT NULL PRIMARY KEY,
    workflow_id TEXT NOT NULL,
    owner INTEGER,
    claims INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 5),
    held INTEGER NOT NULL CHECK (held IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE INDEX semel_work_free ON semel_work (run) WHERE owner IS NULL AND held = 0;

CREATE TABLE semel_end (
    run BLOB NOT NULL PRIMARY KEY,
    state INTEGER NOT NULL CHECK (state BETWEEN 10 AND 12),
    ended_at INTEGER NOT NULL,
    output TEXT,
    error_code TEXT,
    error_message TEXT,
    error_step TEXT,
    entries TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE semel_journal (
    run BLOB NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    entries TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- Requests that met a known name. The first request of a run is the run itself.
CREATE TABLE semel_request (
    run BLOB NOT NULL,
    id BLOB NOT NULL,
    ws INTEGER NOT NULL,
    conflict INTEGER NOT NULL CHECK (conflict IN (0, 1)),
    at INTEGER NOT NULL,
    status_code INTEGER NOT NULL,
    actor TEXT NOT NULL,
    changed TEXT,
    times INTEGER NOT NULL CHECK (times > 0),
    PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX semel_request_by_workspace ON semel_request (ws, id);

CREATE TABLE semel_use (
    run BLOB NOT NULL PRIMARY KEY,
    replays INTEGER NOT NULL,
    conflicts INTEGER NOT NULL,
    last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE semel_lease (
    lease INTEGER NOT NULL PRIMARY KEY,
    worker TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    until_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE semel_fence (
    lease INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    PRIMARY KEY (lease, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE semel_audit (
    id BLOB NOT NULL PRIMARY KEY,
    ws INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX semel_audit_by_workspace ON semel_audit (ws, id);
