-- A database that V001 created, with one completed run. Frozen: later migrations must open it.
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
    revoked_at bigint NOT NULL,
    created_by text COLLATE "C"
);

CREATE TABLE semel_catalog (
    singleton smallint PRIMARY KEY CHECK (singleton = 1),
    revision bigint NOT NULL
);

CREATE TABLE semel_workflow (
    ws integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL UNIQUE,
    version integer NOT NULL,
    paused smallint NOT NULL CHECK (paused IN (0, 1)),
    created_at bigint NOT NULL,
    candidate_version integer NOT NULL DEFAULT 0 CHECK (candidate_version >= 0),
    rollout_percent integer NOT NULL DEFAULT 0
        CHECK (rollout_percent BETWEEN 0 AND 99 AND (rollout_percent = 0) = (candidate_version = 0)),
    PRIMARY KEY (ws, name)
);

CREATE TABLE semel_workflow_version (
    workflow_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    body text NOT NULL,
    published_at bigint NOT NULL,
    published_by text NOT NULL,
    PRIMARY KEY (workflow_id, version)
);

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
CREATE INDEX semel_key_by_run ON semel_key (run);

CREATE TABLE semel_run (
    run bytea PRIMARY KEY,
    ws integer NOT NULL,
    chosen_id text COLLATE "C",
    workflow_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    trigger_source smallint NOT NULL,
    actor text NOT NULL,
    key text COLLATE "C",
    correlation_id text,
    input text NOT NULL,
    field_hashes bytea NOT NULL,
    lineage bytea NOT NULL,
    previous_run bytea,
    duplicate_of bytea,
    created_at bigint NOT NULL
);
CREATE INDEX semel_run_by_workflow ON semel_run (ws, workflow_id, run);
CREATE INDEX semel_run_by_lineage ON semel_run (lineage) WHERE lineage <> run;

CREATE TABLE semel_unfinished_run (
    run bytea PRIMARY KEY,
    workflow_id text COLLATE "C" NOT NULL,
    owner bigint,
    claim_count integer NOT NULL,
    state smallint NOT NULL CHECK (state BETWEEN 1 AND 6),
    start_blocked smallint NOT NULL CHECK (start_blocked IN (0, 1)),
    due_at bigint NOT NULL DEFAULT 0,
    waiting_for text,
    cancel_requested smallint NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    crash_count smallint NOT NULL DEFAULT 0,
    queue_state smallint NOT NULL DEFAULT 0 CHECK (queue_state BETWEEN 0 AND 2),
    has_crashed smallint NOT NULL DEFAULT 0 CHECK (has_crashed IN (0, 1)),
    started_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX semel_unfinished_run_due ON semel_unfinished_run (due_at, run) WHERE owner IS NULL AND start_blocked = 0;
CREATE INDEX semel_unfinished_run_by_workflow ON semel_unfinished_run (workflow_id, due_at, run)
    WHERE owner IS NULL AND start_blocked = 0;

CREATE TABLE semel_finished_run (
    run bytea PRIMARY KEY,
    state smallint NOT NULL CHECK (state BETWEEN 10 AND 12),
    ended_at bigint NOT NULL,
    output text,
    error_code text,
    error_message text,
    error_step text,
    entries text NOT NULL,
    started_at bigint NOT NULL DEFAULT 0,
    ws integer,
    workflow_id text COLLATE "C"
);
CREATE INDEX semel_finished_run_failed ON semel_finished_run (ws, run) WHERE state > 10;
CREATE INDEX semel_finished_run_failed_by_workflow ON semel_finished_run (workflow_id, run) WHERE state > 10;
CREATE INDEX semel_finished_run_failed_by_time ON semel_finished_run (ws, ended_at, run) WHERE state > 10;

CREATE TABLE semel_journal (
    run bytea NOT NULL,
    seq integer NOT NULL,
    at bigint NOT NULL,
    entries text NOT NULL,
    PRIMARY KEY (run, seq)
);

CREATE TABLE semel_duplicate_request (
    run bytea NOT NULL,
    id bytea NOT NULL,
    ws integer NOT NULL,
    conflict smallint NOT NULL CHECK (conflict IN (0, 1)),
    at bigint NOT NULL,
    status_code smallint NOT NULL,
    actor text NOT NULL,
    changed_fields text,
    request_count bigint NOT NULL CHECK (request_count > 0),
    rejected_key text COLLATE "C",
    PRIMARY KEY (run, id)
);
CREATE INDEX semel_duplicate_request_by_workspace ON semel_duplicate_request (ws, id);
CREATE INDEX semel_duplicate_request_by_key ON semel_duplicate_request (ws, rejected_key, id)
    WHERE rejected_key IS NOT NULL;

CREATE TABLE semel_duplicate_count (
    run bytea PRIMARY KEY,
    replays bigint NOT NULL,
    conflicts bigint NOT NULL,
    last_at bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE semel_lease (
    lease bigint PRIMARY KEY,
    worker text NOT NULL,
    started_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    version text NOT NULL DEFAULT '',
    run_count integer NOT NULL DEFAULT 0,
    renewed_at bigint NOT NULL DEFAULT 0,
    clock_ahead bigint NOT NULL DEFAULT 0
);

CREATE TABLE semel_fence (
    lease bigint NOT NULL,
    slot integer NOT NULL,
    catalog_revision bigint NOT NULL DEFAULT 0,
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

CREATE TABLE semel_run_link (
    run bytea PRIMARY KEY,
    parent bytea,
    replay_of bytea,
    depth integer NOT NULL DEFAULT 0 CHECK (depth >= 0)
);
CREATE INDEX semel_run_link_by_parent ON semel_run_link (parent, run) WHERE parent IS NOT NULL;
CREATE INDEX semel_run_link_by_replay ON semel_run_link (replay_of, run) WHERE replay_of IS NOT NULL;

CREATE TABLE semel_effect (
    ws integer NOT NULL,
    digest text COLLATE "C" NOT NULL,
    step text COLLATE "C" NOT NULL,
    run bytea NOT NULL,
    claim integer NOT NULL,
    reservation integer NOT NULL,
    state smallint NOT NULL CHECK (state BETWEEN 1 AND 4),
    generation integer NOT NULL CHECK (generation > 0),
    attempt integer NOT NULL CHECK (attempt > 0),
    first_at bigint NOT NULL,
    accepted_at bigint NOT NULL,
    window_micros bigint NOT NULL,
    expires_at bigint NOT NULL,
    data text,
    result text,
    key text NOT NULL,
    path text NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    protection text NOT NULL,
    action text NOT NULL,
    object text,
    worth text,
    sent_key text COLLATE "C",
    sent_at bigint NOT NULL,
    content text,
    PRIMARY KEY (ws, digest)
) WITH (fillfactor = 80);
CREATE INDEX semel_effect_by_run ON semel_effect (run);
CREATE INDEX semel_effect_by_object ON semel_effect (ws, object, run, digest) WHERE object IS NOT NULL;
CREATE INDEX semel_effect_by_workspace ON semel_effect (ws, run, digest);
CREATE INDEX semel_effect_unsettled ON semel_effect (ws, state, run, digest) WHERE state > 2;
CREATE INDEX semel_effect_suppressed ON semel_effect (ws, run, digest) WHERE substr(data, 1, 11) = 'suppressed ';
CREATE INDEX semel_effect_by_sent_key ON semel_effect (ws, sent_key) WHERE sent_key IS NOT NULL;

CREATE TABLE semel_effect_history (
    ws integer NOT NULL,
    digest text COLLATE "C" NOT NULL,
    step text COLLATE "C" NOT NULL,
    run bytea NOT NULL,
    claim integer NOT NULL,
    reservation integer NOT NULL,
    state smallint NOT NULL CHECK (state BETWEEN 1 AND 4),
    generation integer NOT NULL CHECK (generation > 0),
    attempt integer NOT NULL CHECK (attempt > 0),
    first_at bigint NOT NULL,
    accepted_at bigint NOT NULL,
    window_micros bigint NOT NULL,
    expires_at bigint NOT NULL,
    data text,
    result text,
    key text NOT NULL,
    path text NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    protection text NOT NULL,
    action text NOT NULL,
    object text,
    worth text,
    sent_key text COLLATE "C",
    sent_at bigint NOT NULL,
    content text,
    PRIMARY KEY (run, digest, generation, attempt)
);
CREATE INDEX semel_effect_history_by_sent_key ON semel_effect_history (ws, sent_key) WHERE sent_key IS NOT NULL;

CREATE TABLE semel_signal (
    run bytea NOT NULL,
    name text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    value text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (run, name, key)
);

CREATE TABLE semel_queue (
    queue text COLLATE "C" PRIMARY KEY,
    last_ticket bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE semel_queue_entry (
    queue text COLLATE "C" NOT NULL,
    ticket bigint NOT NULL,
    run bytea NOT NULL,
    concurrency_limit integer NOT NULL CHECK (concurrency_limit > 0),
    started smallint NOT NULL CHECK (started IN (0, 1)),
    PRIMARY KEY (queue, ticket)
);
CREATE INDEX semel_queue_entry_by_run ON semel_queue_entry (run);

CREATE TABLE semel_rate_limit (
    name text COLLATE "C" PRIMARY KEY,
    next_start_at bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE semel_debounce (
    name text COLLATE "C" PRIMARY KEY,
    run bytea NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX semel_debounce_by_run ON semel_debounce (run);

CREATE TABLE semel_idempotent_response (
    ws integer NOT NULL,
    operation text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    request_digest bytea NOT NULL,
    response text NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (ws, operation, key)
);
CREATE INDEX semel_idempotent_response_by_expiry ON semel_idempotent_response (expires_at);

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

CREATE TABLE semel_event (
    ws integer NOT NULL,
    event_hash text COLLATE "C" NOT NULL,
    seq bytea NOT NULL,
    trigger_source integer NOT NULL,
    source text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    body text NOT NULL,
    at bigint NOT NULL,
    actor text NOT NULL,
    correlation_id text,
    match_count integer NOT NULL CHECK (match_count >= 0),
    notes text NOT NULL,
    PRIMARY KEY (ws, event_hash)
);
CREATE INDEX semel_event_by_time ON semel_event (ws, seq);
CREATE INDEX semel_event_unmatched ON semel_event (ws, seq) WHERE match_count = 0;

CREATE TABLE semel_schedule (
    ws integer NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    spec text NOT NULL,
    paused integer NOT NULL CHECK (paused IN (0, 1)),
    next_nominal bigint NOT NULL,
    next_at bigint NOT NULL CHECK (next_at >= next_nominal),
    claimed_by bytea,
    claimed_until bigint NOT NULL CHECK ((claimed_until = 0) = (claimed_by IS NULL)),
    last_run bytea,
    PRIMARY KEY (workflow_id, name)
);
CREATE INDEX semel_schedule_due ON semel_schedule (next_at, workflow_id, name);
CREATE INDEX semel_schedule_by_workspace ON semel_schedule (ws, workflow_id, name);

CREATE TABLE semel_schedule_tick (
    workflow_id text COLLATE "C" NOT NULL,
    schedule text COLLATE "C" NOT NULL,
    nominal bigint NOT NULL,
    state integer NOT NULL CHECK (state BETWEEN 1 AND 5),
    reason text NOT NULL,
    run bytea CHECK ((run IS NULL AND state > 3) OR (run IS NOT NULL AND state < 4) OR state = 4),
    at bigint NOT NULL,
    skipped_through bigint NOT NULL,
    PRIMARY KEY (workflow_id, schedule, nominal)
);
CREATE INDEX semel_schedule_tick_by_time ON semel_schedule_tick (at, workflow_id, schedule, nominal);

CREATE TABLE semel_signal_wait (
    run bytea NOT NULL,
    path text COLLATE "C" NOT NULL,
    ws integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    waiting_since bigint NOT NULL,
    compensating integer NOT NULL CHECK (compensating IN (0, 1)),
    PRIMARY KEY (run, path)
);
CREATE INDEX semel_signal_wait_by_key ON semel_signal_wait (ws, name, key, waiting_since, run, path);

CREATE TABLE semel_keyed_signal (
    ws integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    signal_id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    digest bytea NOT NULL,
    value text NOT NULL,
    delivered_to text NOT NULL,
    at bigint NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (ws, name, signal_id)
);
CREATE INDEX semel_keyed_signal_pending ON semel_keyed_signal (ws, name, key, at, id) WHERE delivered_to = '';
CREATE INDEX semel_keyed_signal_by_expiry ON semel_keyed_signal (expires_at);

CREATE TABLE semel_webhook_delivery (
    id bytea NOT NULL PRIMARY KEY,
    ws integer NOT NULL,
    webhook text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    event_id text NOT NULL,
    type text NOT NULL,
    outcome integer NOT NULL CHECK (outcome BETWEEN 1 AND 6),
    note text NOT NULL,
    payload text CHECK (payload IS NULL OR outcome IN (1, 3)),
    payload_until bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE INDEX semel_webhook_delivery_by_webhook ON semel_webhook_delivery (ws, webhook, id);
CREATE INDEX semel_webhook_delivery_rejected ON semel_webhook_delivery (ws, webhook, at) WHERE outcome >= 4;
CREATE INDEX semel_webhook_delivery_by_payload ON semel_webhook_delivery (payload_until) WHERE payload IS NOT NULL;
CREATE INDEX semel_webhook_delivery_by_expiry ON semel_webhook_delivery (expires_at);

CREATE TABLE semel_webhook_dedup (
    ws integer NOT NULL,
    webhook text COLLATE "C" NOT NULL,
    dedup_key text COLLATE "C" NOT NULL,
    event_id text NOT NULL,
    first_delivery bytea NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (ws, webhook, dedup_key)
);
CREATE INDEX semel_webhook_dedup_by_expiry ON semel_webhook_dedup (expires_at);

CREATE TABLE semel_replay_plan (
    id bytea NOT NULL PRIMARY KEY,
    ws integer NOT NULL,
    created_by text NOT NULL,
    request text NOT NULL,
    input text,
    created_at bigint NOT NULL,
    valid_until bigint NOT NULL,
    state integer NOT NULL CHECK (state BETWEEN 1 AND 5),
    counts text NOT NULL,
    approved_by text,
    apply_options text CHECK (state <= 2 OR state = 5 OR apply_options IS NOT NULL),
    applied_by text,
    note text NOT NULL,
    claimed_by bytea,
    claimed_until bigint NOT NULL,
    ended_at bigint NOT NULL
);
CREATE INDEX semel_replay_plan_by_workspace ON semel_replay_plan (ws, id);
CREATE INDEX semel_replay_plan_applying ON semel_replay_plan (claimed_until) WHERE state = 3;
CREATE INDEX semel_replay_plan_by_time ON semel_replay_plan (created_at);

CREATE TABLE semel_replay_plan_item (
    plan bytea NOT NULL,
    run bytea NOT NULL,
    worst_action integer NOT NULL,
    actions integer NOT NULL,
    prediction text NOT NULL,
    outcome integer NOT NULL CHECK (outcome BETWEEN 1 AND 5),
    new_run bytea CHECK ((new_run IS NOT NULL) = (outcome = 2)),
    note text NOT NULL,
    PRIMARY KEY (plan, run)
);

CREATE TABLE semel_review (
    ws integer NOT NULL,
    id text COLLATE "C" NOT NULL,
    run bytea NOT NULL,
    step text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    kind smallint NOT NULL CHECK (kind BETWEEN 1 AND 4),
    version integer NOT NULL CHECK (version > 0),
    effect text COLLATE "C" NOT NULL,
    reviewer text COLLATE "C" NOT NULL,
    question text NOT NULL,
    opened_at bigint NOT NULL,
    due_at bigint NOT NULL,
    next_reminder_at bigint NOT NULL,
    decided_at bigint NOT NULL,
    decision text NOT NULL,
    decided_by text NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (ws, id)
) WITH (fillfactor = 80);
CREATE INDEX semel_review_open ON semel_review (ws, due_at, opened_at, id) WHERE decided_at = 0;
CREATE INDEX semel_review_decided ON semel_review (ws, decided_at, id) WHERE decided_at > 0;
CREATE INDEX semel_review_by_reminder ON semel_review (next_reminder_at, ws, id) WHERE decided_at = 0;
CREATE INDEX semel_review_by_effect ON semel_review (ws, effect) WHERE decided_at = 0;
CREATE INDEX semel_review_by_run ON semel_review (run);

CREATE TABLE semel_metric_count (
    ws integer NOT NULL,
    minute bigint NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    metric smallint NOT NULL,
    step text COLLATE "C" NOT NULL,
    span_minutes smallint NOT NULL CHECK (span_minutes IN (1, 60)),
    lease bigint NOT NULL,
    slot integer NOT NULL,
    total bigint NOT NULL CHECK (total > 0),
    PRIMARY KEY (ws, minute, workflow_id, metric, step, span_minutes, lease, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX semel_metric_count_by_span ON semel_metric_count (span_minutes, minute);

CREATE TABLE semel_metric_detail (
    ws integer NOT NULL,
    metric smallint NOT NULL,
    at bigint NOT NULL,
    run bytea NOT NULL,
    digest text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    step text COLLATE "C" NOT NULL,
    object text COLLATE "C",
    worth text,
    data text,
    key_first_at bigint NOT NULL,
    PRIMARY KEY (ws, metric, at, run, digest)
);
CREATE INDEX semel_metric_detail_by_time ON semel_metric_detail (at);

CREATE TABLE semel_migration (
    number integer NOT NULL PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, breaking integer NOT NULL);

CREATE INDEX semel_run_by_correlation ON semel_run (ws, correlation_id, run) WHERE correlation_id IS NOT NULL;

INSERT INTO semel_catalog (singleton, revision)
    VALUES (1, 2);
INSERT INTO semel_effect (ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at, window_micros, expires_at, data, result, key, path, workflow_id, protection, action, object, worth, sent_key, sent_at)
    VALUES (1, 'd1', 'step of run_00000001UDgBndgl4Ohuyt', '\x00000000000f42410000000000000007', 1, 1, 2, 1, 1, 1800000000000000, 1800000000000000, 3600000000, 1800003600000000, 'data', '{"by":1}', 'the key', 'pay', 'wf_one', 'ask', 'create', 'order 1', '12.50 EUR', 'sent d1 1', 1800000000000000);
INSERT INTO semel_finished_run (run, state, ended_at, output, error_code, error_message, error_step, entries, ws, workflow_id)
    VALUES ('\x00000000000f42410000000000000007', 10, 1800000000000000, '{"ok":true}', NULL, NULL, NULL, '[]', NULL, NULL);
INSERT INTO semel_journal (run, seq, at, entries)
    VALUES ('\x00000000000f42410000000000000007', 0, 1800000000000000, '[]');
INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
    VALUES (1, 1, 'order-1', '\x00000000000f42410000000000000007', '\x646967657374', 1800000000000000, 1800086400000000, 1);
INSERT INTO semel_metric_count (ws, minute, workflow_id, metric, step, span_minutes, lease, slot, total)
    VALUES (1, 30000000, 'wf_one', 1, '', 1, 77, 0, 1);
INSERT INTO semel_metric_count (ws, minute, workflow_id, metric, step, span_minutes, lease, slot, total)
    VALUES (1, 30000000, 'wf_one', 8, 'pay', 1, 77, 0, 1);
INSERT INTO semel_metric_detail (ws, metric, at, run, digest, workflow_id, step, object, worth, data, key_first_at)
    VALUES (1, 8, 1800000000000000, '\x00000000000f42410000000000000007', 'd1', 'wf_one', 'pay', 'order 1', '12.50 EUR', 'data', 0);
INSERT INTO semel_run (run, ws, chosen_id, workflow_id, version, trigger_source, actor, key, correlation_id, input, field_hashes, lineage, previous_run, duplicate_of, created_at)
    VALUES ('\x00000000000f42410000000000000007', 1, NULL, 'wf_one', 1, 1, 'actor', 'the key', 'the correlation', '{"a":1}', '\x6669656c6473', '\x00000000000f42410000000000000007', NULL, NULL, 1800000000000000);
INSERT INTO semel_workflow (ws, name, workflow_id, version, paused, created_at, candidate_version, rollout_percent)
    VALUES (1, 'one', 'wf_one', 1, 0, 1800000000000000, 0, 0);
INSERT INTO semel_workflow_version (workflow_id, version, body, published_at, published_by)
    VALUES ('wf_one', 1, 'body of one', 1800000000000000, 'tester');
INSERT INTO semel_workspace (ws, name, secret, created_at)
    VALUES (1, 'one', '\x736563726574206f66206f6e65', 1800000000000000);
INSERT INTO semel_migration (number, name, checksum, breaking)
    VALUES (1, 'V001__schema.sql', 'd6784a91b425513961ac1e5df2cf5185', 0);
