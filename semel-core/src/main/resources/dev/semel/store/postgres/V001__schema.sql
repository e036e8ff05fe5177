-- breaking: no
-- Times are microseconds since 1970 by the store's clock. Run ids and other row ids have 16 bytes, the time first.
-- `ws` is a workspace's number, `digest` a hash, `actor` who asked. Flags and booleans are 0 or 1.

-- A row is a workspace; `secret` keys the hashes of payload fields.
CREATE TABLE semel_workspace (
    ws integer PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    secret bytea NOT NULL,
    created_at bigint NOT NULL
);

-- A row is an API token, stored as its SHA-256; `revoked_at` is 0 while it is valid, `created_by` the actor that created it.
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

-- The only row counts the changes of workflows, tokens and watched settings, so that admissions can detect a change.
CREATE TABLE semel_catalog (
    singleton smallint PRIMARY KEY CHECK (singleton = 1),
    revision bigint NOT NULL
);
INSERT INTO semel_catalog (singleton, revision) VALUES (1, 1);

-- A row is a workflow; `candidate_version` gets `rollout_percent` of the fresh triggers, both are 0 without a rollout.
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

-- A row is a published version of a workflow.
CREATE TABLE semel_workflow_version (
    workflow_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    body text NOT NULL,
    published_at bigint NOT NULL,
    published_by text NOT NULL,
    PRIMARY KEY (workflow_id, version)
);

-- A row is a unique key that identifies a run: a caller's key, a chosen run id, a payload. flags: 1 the key is in use while
-- its run is unfinished, 2 a failure frees it, 4 released. Rows are narrow, because each random key touches another page.
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
-- Retention deletes a run only after its keys. Run ids rise, so this index grows at one end.
CREATE INDEX semel_key_by_run ON semel_key (run);

-- A row is a run as it was admitted, never updated; its state is in semel_unfinished_run or semel_finished_run.
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
CREATE INDEX semel_run_by_correlation ON semel_run (ws, correlation_id, run) WHERE correlation_id IS NOT NULL;
-- The later runs of a lineage; retention deletes them together with the first one.
CREATE INDEX semel_run_by_lineage ON semel_run (lineage) WHERE lineage <> run;

-- A row is the execution state of a run that has not finished; inserted by the admission and deleted at the end.
-- owner: lease of the worker that executes it. claim_count: how often a worker claimed it, the fencing token of its writes.
-- state: 1 queued, 2 started, 3 running, 4 waiting, 5 in doubt, 6 held.
-- start_blocked: 1 while the workflow is paused or the run waits in a queue. waiting_for: JSON.
-- crash_count: workers that died in a row while they executed it. has_crashed: whether any ever did.
-- queue_state: 0 in no queue, 1 all of its queue entries have started, 2 waits in a queue.
-- started_at: when a queued run started; 0 if it started with its admission, -1 if it was cancelled before.
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
-- Due runs by workflow: a claim takes some of each workflow.
CREATE INDEX semel_unfinished_run_by_workflow ON semel_unfinished_run (workflow_id, due_at, run)
    WHERE owner IS NULL AND start_blocked = 0;

-- A row is the result of a finished run with its last journal entries. state: 10 completed, 11 failed, 12 cancelled.
-- ws and workflow_id are set only where state > 10, so that the indexes have no entry for completed runs.
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

-- A row is a batch of journal entries of a run, in the order of `seq`.
CREATE TABLE semel_journal (
    run bytea NOT NULL,
    seq integer NOT NULL,
    at bigint NOT NULL,
    entries text NOT NULL,
    PRIMARY KEY (run, seq)
);

-- A row is a request that found its key in use: a duplicate, or a conflict. The first request of a run has no row here.
-- rejected_key: the key of a rejected request that met the run by its payload or run id.
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

-- A row is the number of duplicate and conflicting requests of a run.
CREATE TABLE semel_duplicate_count (
    run bytea PRIMARY KEY,
    replays bigint NOT NULL,
    conflicts bigint NOT NULL,
    last_at bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- A row is the lease of a live worker; version, run_count, renewed_at and clock_ahead are for display only.
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

-- A row is a write slot of a lease, which each batch locks; without it the worker cannot write. Catalog changes update it.
CREATE TABLE semel_fence (
    lease bigint NOT NULL,
    slot integer NOT NULL,
    catalog_revision bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (lease, slot)
);

-- A row is an audited change: who changed what, and why.
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

-- A row is the origin of a run that another run started; `depth` is the number of runs above it.
CREATE TABLE semel_run_link (
    run bytea PRIMARY KEY,
    parent bytea,
    replay_of bytea,
    depth integer NOT NULL DEFAULT 0 CHECK (depth >= 0)
);
CREATE INDEX semel_run_link_by_parent ON semel_run_link (parent, run) WHERE parent IS NOT NULL;
CREATE INDEX semel_run_link_by_replay ON semel_run_link (replay_of, run) WHERE replay_of IS NOT NULL;

-- A row is the ledger entry of an effect key. state: 1 reserved, 2 done, 3 in doubt, 4 free to send.
-- data: digest of what was sent; 'noted' for a step's copy of another row; 'suppressed ' and the effect that it repeats.
-- sent_key: the key as the provider received it. content: the sent data, where a review may have to show them.
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
-- Effects in doubt or not done, which are few.
CREATE INDEX semel_effect_unsettled ON semel_effect (ws, state, run, digest) WHERE state > 2;
CREATE INDEX semel_effect_suppressed ON semel_effect (ws, run, digest) WHERE substr(data, 1, 11) = 'suppressed ';
CREATE INDEX semel_effect_by_sent_key ON semel_effect (ws, sent_key) WHERE sent_key IS NOT NULL;

-- A row is a send that the ledger row no longer shows: a crash cut it off (state 1), or another run or generation
-- followed. Columns as in semel_effect.
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

-- A row is a signal to a run.
CREATE TABLE semel_signal (
    run bytea NOT NULL,
    name text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    value text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (run, name, key)
);

-- A row is a queue in front of run starts, or a lock by name; transactions lock it before they change its entries.
CREATE TABLE semel_queue (
    queue text COLLATE "C" PRIMARY KEY,
    last_ticket bigint NOT NULL
) WITH (fillfactor = 50);

-- A row is a run in a queue; `started` is 1 once it may run, `concurrency_limit` the runs that may run at once.
CREATE TABLE semel_queue_entry (
    queue text COLLATE "C" NOT NULL,
    ticket bigint NOT NULL,
    run bytea NOT NULL,
    concurrency_limit integer NOT NULL CHECK (concurrency_limit > 0),
    started smallint NOT NULL CHECK (started IN (0, 1)),
    PRIMARY KEY (queue, ticket)
);
CREATE INDEX semel_queue_entry_by_run ON semel_queue_entry (run);

-- A row is a rate limit and the time of its next start.
CREATE TABLE semel_rate_limit (
    name text COLLATE "C" PRIMARY KEY,
    next_start_at bigint NOT NULL
) WITH (fillfactor = 50);

-- A row is a debounce key and the run that waits under it.
CREATE TABLE semel_debounce (
    name text COLLATE "C" PRIMARY KEY,
    run bytea NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX semel_debounce_by_run ON semel_debounce (run);

-- A row is the response to a change request that had an idempotency key, written in the transaction of the change.
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

-- A row is a version of a configuration document of a workspace: secret, template, channel. The highest version is current.
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

-- A row is an inbound event; `event_hash` is of trigger source, source and id, `match_count` the workflows that it matched.
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

-- A row is a schedule of a workflow's current version and the claim of the worker that fires its next tick.
-- next_nominal: nominal time of the next tick. next_at: when it fires. Both are 9223372036854775807 if no tick follows.
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

-- A row is the outcome of a tick of a schedule. state: 1 fired, 2 caught up, 3 backfilled, 4 skipped, 5 rejected.
-- skipped_through: 0, or the end of a long outage whose ticks share this row.
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

-- A row is a step of a run that waits for a keyed signal; the delivery deletes it.
-- compensating: 1 if the wait continues although a cancel was requested, because it belongs to a compensation.
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

-- A row is a signal to a key, by the id that its sender gave it; `delivered_to` lists the runs that got it.
-- Until then it is empty and `value` is stored here; afterwards `value` is empty.
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

-- A row is a delivery of a webhook. outcome: 1 accepted, 2 replayed, 3 accepted though another id had its signature,
-- 4 invalid signature, 5 stale, 6 rejected.
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

-- A row is an event id or a signature that a webhook received, with the first delivery that had it.
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

-- A row is a plan of a safe replay. state: 1 planning, 2 planned, 3 applying, 4 done, 5 stopped.
-- request, counts, apply_options: JSON. approved_by: NULL until a required approval, '' if none is required.
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

-- A row is a run of a replay plan with its prediction (JSON).
-- outcome: 1 planned, 2 applied, 3 outdated, 4 rejected, 5 skipped.
-- worst_action: number of its most dangerous action, 0 if it cannot be replayed. actions: one bit for each action.
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

-- A row is a question to a user, by a hash of its run and step; asked again it gets the next version.
-- kind: 1 in doubt, 2 changed message, 3 approval, 4 held. due_at, next_reminder_at: the largest number for never.
-- decided_at: 0 while it is open.
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

-- A row is a counter of a metric in a minute, or in an hour (span_minutes 60), written in the transaction that it counts.
-- Each write slot has rows of its own, so that batches do not wait for each other. step: empty if the metric has none.
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

-- A row is one counted occurrence of a metric whose occurrences are rare or are listed.
-- digest: of the effect, or empty. key_first_at: when an expired key was first used, else 0.
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
