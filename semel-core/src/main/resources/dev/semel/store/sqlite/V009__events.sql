-- breaking: no
-- Not breaking: an older worker does not look here.

-- Events as they came, kept for as long as their names are: to be seen, and to be processed again.
-- The id is a hash of door, source and id of the event, so that the key is short however long those are.
CREATE TABLE semel_event (
    ws INTEGER NOT NULL,
    event TEXT NOT NULL,
    seq BLOB NOT NULL,
    door INTEGER NOT NULL,
    source TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    correlation_id TEXT,
    matched INTEGER NOT NULL CHECK (matched >= 0),
    notes TEXT NOT NULL,
    PRIMARY KEY (ws, event)
) STRICT;
-- Lists, the newest first, and what is swept, the oldest first.
CREATE INDEX semel_event_by_time ON semel_event (ws, seq);
-- What nobody wanted is looked for, and is rare.
CREATE INDEX semel_event_unmatched ON semel_event (ws, seq) WHERE matched = 0;
