-- breaking: no
-- Not breaking: an older worker does not look here.

-- Deliveries of webhooks, also those that were turned away (verdict 4 and above), which have no payload and are few.
CREATE TABLE semel_delivery (
    id BLOB NOT NULL PRIMARY KEY,
    ws INTEGER NOT NULL,
    hook TEXT NOT NULL,
    at INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    verdict INTEGER NOT NULL CHECK (verdict BETWEEN 1 AND 6),
    note TEXT NOT NULL,
    payload TEXT CHECK (payload IS NULL OR verdict IN (1, 3)),
    payload_until INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX semel_delivery_by_hook ON semel_delivery (ws, hook, id);
CREATE INDEX semel_delivery_turned_away ON semel_delivery (ws, hook, at) WHERE verdict >= 4;
CREATE INDEX semel_delivery_by_payload ON semel_delivery (payload_until) WHERE payload IS NOT NULL;
CREATE INDEX semel_delivery_by_expiry ON semel_delivery (expires_at);

-- Ids and signatures of deliveries that came, with the delivery that brought each first.
CREATE TABLE semel_mark (
    ws INTEGER NOT NULL,
    hook TEXT NOT NULL,
    mark TEXT NOT NULL,
    event_id TEXT NOT NULL,
    delivery BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (ws, hook, mark)
) STRICT, WITHOUT ROWID;
CREATE INDEX semel_mark_by_expiry ON semel_mark (expires_at);
