-- breaking: no
-- Not breaking: an older worker does not look here, and leaves plans to others.

-- Plans of safe replays. States: 1 being made, 2 planned, 3 being applied, 4 done, 5 stopped.
CREATE TABLE semel_plan (
    id bytea NOT NULL PRIMARY KEY,
    ws integer NOT NULL,
    made_by text NOT NULL,
    wish text NOT NULL,
    input text,
    made_at bigint NOT NULL,
    valid_until bigint NOT NULL,
    state integer NOT NULL CHECK (state BETWEEN 1 AND 5),
    counts text NOT NULL,
    approved_by text,
    how text CHECK (state <= 2 OR state = 5 OR how IS NOT NULL),
    applied_by text,
    note text NOT NULL,
    taken_by bytea,
    taken_until bigint NOT NULL,
    ended_at bigint NOT NULL
);
CREATE INDEX semel_plan_by_workspace ON semel_plan (ws, id);
CREATE INDEX semel_plan_applying ON semel_plan (taken_until) WHERE state = 3;
CREATE INDEX semel_plan_by_time ON semel_plan (made_at);

-- One row for each run of a plan. Fates: 1 planned, 2 applied, 3 outdated, 4 refused, 5 left out.
CREATE TABLE semel_plan_item (
    plan bytea NOT NULL,
    run bytea NOT NULL,
    worst integer NOT NULL,
    actions integer NOT NULL,
    body text NOT NULL,
    fate integer NOT NULL CHECK (fate BETWEEN 1 AND 5),
    made bytea CHECK ((made IS NOT NULL) = (fate = 2)),
    note text NOT NULL,
    PRIMARY KEY (plan, run)
);
