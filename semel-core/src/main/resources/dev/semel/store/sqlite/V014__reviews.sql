-- breaking: yes
-- Breaking, because an older worker would put runs before people without a question that anybody can find.

-- A question that a run puts to people, by a name made of its run and its step. Asked again after a decision it is the
-- same row with the next version. Kinds: 1 in doubt, 2 changed message, 3 approval, 4 held. due_at, next_at: the largest
-- number for never. decided_at: 0 while it is open.
CREATE TABLE semel_review (
    ws INTEGER NOT NULL,
    id TEXT NOT NULL,
    run BLOB NOT NULL,
    step TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 4),
    version INTEGER NOT NULL CHECK (version > 0),
    effect TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    question TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    decided_at INTEGER NOT NULL,
    decision TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (ws, id)
) STRICT;
CREATE INDEX semel_review_open ON semel_review (ws, due_at, asked_at, id) WHERE decided_at = 0;
CREATE INDEX semel_review_decided ON semel_review (ws, decided_at, id) WHERE decided_at > 0;
CREATE INDEX semel_review_tell ON semel_review (next_at, ws, id) WHERE decided_at = 0;
CREATE INDEX semel_review_by_effect ON semel_review (ws, effect) WHERE decided_at = 0;
CREATE INDEX semel_review_by_run ON semel_review (run);

-- Effects by what they are about; only those that say it.
CREATE INDEX semel_effect_by_object ON semel_effect (ws, object, run, digest) WHERE object IS NOT NULL;

-- Runs that wait for people are taken up once more, and ask in the new way.
UPDATE semel_work SET due_at = 0 WHERE owner IS NULL AND held = 0
    AND (waits LIKE '%"for":"decision"%' OR waits LIKE '%"for":"review"%' OR waits LIKE '%"for":"approval"%'
        OR waits LIKE '%"for":"code"%' OR waits LIKE '%"for":"poison"%' OR waits LIKE '%"for":"store"%');
