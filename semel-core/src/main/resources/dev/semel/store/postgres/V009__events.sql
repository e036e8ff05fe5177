-- breaking: no
-- Not breaking: an older worker does not look here.

-- Events as they came, kept for as long as their names are: to be seen, and to be processed again.
-- The id is a hash of door, source and id of the event, so that the key is short however long those are.
CREATE TABLE semel_event (
    ws integer NOT NULL,
    event text COLLATE "C" NOT NULL,
    seq bytea NOT NULL,
    door integer NOT NULL,
    source text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    body text NOT NULL,
    at bigint NOT NULL,
    actor text NOT NULL,
    correlation_id text,
    matched integer NOT NULL CHECK (matched >= 0),
    notes text NOT NULL,
    PRIMARY KEY (ws, event)
);
-- Lists, the newest first, and what is swept, the oldest first.
CREATE INDEX semel_event_by_time ON semel_event (ws, seq);
-- What nobody wanted is looked for, and is rare.
CREATE INDEX semel_event_unmatched ON semel_event (ws, seq) WHERE matched = 0;
