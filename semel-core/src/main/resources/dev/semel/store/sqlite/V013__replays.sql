-- breaking: no
-- Not breaking: an older worker does not look here, and leaves plans to others.

-- Plans of safe replays. States: 1 being made, 2 planned, 3 being applied, 4 done, 5 stopped.
CREATE TABLE semel_plan (
    id BLOB NOT NULL PRIMARY KEY,
    ws INTEGER NOT NULL,
    made_by TEXT NOT NULL,
    wish TEXT NOT NULL,
    input TEXT,
    made_at INTEGER NOT NULL,
    valid_until INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 5),
    counts TEXT NOT NULL,
    approved_by TEXT,
    how TEXT CHECK (state <= 2 OR state = 5 OR how IS NOT NULL),
    applied_by TEXT,
    note TEXT NOT NULL,
    taken_by BLOB,
    taken_until INTEGER NOT NULL,
    ended_at INTEGER NOT NULL
) STRICT;
CREATE INDEX semel_plan_by_workspace ON semel_plan (ws, id);
CREATE INDEX semel_plan_applying ON semel_plan (taken_until) WHERE state = 3;
CREATE INDEX semel_plan_by_time ON semel_plan (made_at);

-- One row for each run of a plan. Fates: 1 planned, 2 applied, 3 outdated, 4 refused, 5 left out.
CREATE TABLE semel_plan_item (
    plan BLOB NOT NULL,
    run BLOB NOT NULL,
    worst INTEGER NOT NULL,
    actions INTEGER NOT NULL,
    body TEXT NOT NULL,
    fate INTEGER NOT NULL CHECK (fate BETWEEN 1 AND 5),
    made BLOB CHECK ((made IS NOT NULL) = (fate = 2)),
    note TEXT NOT NULL,
    PRIMARY KEY (plan, run)
) STRICT, WITHOUT ROWID;
