-- breaking: no
-- Not breaking: an older worker does not look here and fires nothing; newer ones do.

-- When a workflow starts by itself: one row a schedule of its current version.
-- next_nominal is the tick that comes next and next_at when it fires; both 9223372036854775807 where none comes any more.
-- A worker that sees to a tick takes the row for a while; who it is stands beside it, so that a late one is refused.
CREATE TABLE semel_schedule (
    ws integer NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    spec text NOT NULL,
    paused integer NOT NULL CHECK (paused IN (0, 1)),
    next_nominal bigint NOT NULL,
    next_at bigint NOT NULL CHECK (next_at >= next_nominal),
    taken_by bytea,
    taken_until bigint NOT NULL CHECK ((taken_until = 0) = (taken_by IS NULL)),
    last_run bytea,
    PRIMARY KEY (workflow_id, name)
);
CREATE INDEX semel_schedule_due ON semel_schedule (next_at, workflow_id, name);
CREATE INDEX semel_schedule_ws ON semel_schedule (ws, workflow_id, name);

-- What became of each nominal time. 1 fired, 2 caught up, 3 backfilled, 4 skipped, 5 refused.
-- through: 0, or up to when nothing was made up for after an outage so long that its ticks are not told one by one.
CREATE TABLE semel_tick (
    workflow_id text COLLATE "C" NOT NULL,
    schedule text COLLATE "C" NOT NULL,
    nominal bigint NOT NULL,
    state integer NOT NULL CHECK (state BETWEEN 1 AND 5),
    reason text NOT NULL,
    run bytea CHECK ((run IS NULL AND state > 3) OR (run IS NOT NULL AND state < 4) OR state = 4),
    at bigint NOT NULL,
    through bigint NOT NULL,
    PRIMARY KEY (workflow_id, schedule, nominal)
);
CREATE INDEX semel_tick_old ON semel_tick (at, workflow_id, schedule, nominal);
