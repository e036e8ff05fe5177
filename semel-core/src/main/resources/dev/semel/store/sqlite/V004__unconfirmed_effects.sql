-- breaking: yes

-- differs: SQLite cannot change the check of a column, so both tables are copied.
-- State 5 of an effect: perhaps sent, and free to send again, as its protection declares.
CREATE TABLE semel_effect_new (
    ws INTEGER NOT NULL,
    digest TEXT NOT NULL,
    step TEXT NOT NULL,
    run BLOB NOT NULL,
    claim INTEGER NOT NULL,
    reservation INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 5),
    generation INTEGER NOT NULL CHECK (generation > 0),
    attempt INTEGER NOT NULL CHECK (attempt > 0),
    first_at INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    window_micros INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    data TEXT,
    result TEXT,
    key TEXT NOT NULL,
    path TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    protection TEXT NOT NULL,
    action TEXT NOT NULL,
    object TEXT,
    worth TEXT,
    sent_key TEXT,
    sent_at INTEGER NOT NULL,
    content TEXT,
    PRIMARY KEY (ws, digest)
) STRICT;
INSERT INTO semel_effect_new SELECT * FROM semel_effect;
DROP TABLE semel_effect;
ALTER TABLE semel_effect_new RENAME TO semel_effect;
CREATE INDEX semel_effect_by_run ON semel_effect (run);
CREATE INDEX semel_effect_by_object ON semel_effect (ws, object, run, digest) WHERE object IS NOT NULL;
CREATE INDEX semel_effect_by_workspace ON semel_effect (ws, run, digest);
CREATE INDEX semel_effect_unsettled ON semel_effect (ws, state, run, digest) WHERE state > 2;
CREATE INDEX semel_effect_suppressed ON semel_effect (ws, run, digest) WHERE substr(data, 1, 11) = 'suppressed ';
CREATE INDEX semel_effect_by_sent_key ON semel_effect (ws, sent_key) WHERE sent_key IS NOT NULL;
CREATE INDEX semel_effect_resendable ON semel_effect (expires_at, ws, workflow_id, run, digest)
    WHERE state = 3 AND expires_at > 0;

CREATE TABLE semel_effect_history_new (
    ws INTEGER NOT NULL,
    digest TEXT NOT NULL,
    step TEXT NOT NULL,
    run BLOB NOT NULL,
    claim INTEGER NOT NULL,
    reservation INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 5),
    generation INTEGER NOT NULL CHECK (generation > 0),
    attempt INTEGER NOT NULL CHECK (attempt > 0),
    first_at INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    window_micros INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    data TEXT,
    result TEXT,
    key TEXT NOT NULL,
    path TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    protection TEXT NOT NULL,
    action TEXT NOT NULL,
    object TEXT,
    worth TEXT,
    sent_key TEXT,
    sent_at INTEGER NOT NULL,
    content TEXT,
    PRIMARY KEY (run, digest, generation, attempt)
) STRICT;
INSERT INTO semel_effect_history_new SELECT * FROM semel_effect_history;
DROP TABLE semel_effect_history;
ALTER TABLE semel_effect_history_new RENAME TO semel_effect_history;
CREATE INDEX semel_effect_history_by_sent_key ON semel_effect_history (ws, sent_key) WHERE sent_key IS NOT NULL;

-- Unfinished runs whose worker crashed: a crash may have cut a send off.
CREATE INDEX semel_unfinished_run_crashed ON semel_unfinished_run (run) WHERE has_crashed = 1;
