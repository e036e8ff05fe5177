-- breaking: no
-- Not breaking: an older worker does not look here.

-- Deliveries of webhooks, also those that were turned away (verdict 4 and above), which have no payload and are few.
CREATE TABLE semel_delivery (
    id bytea NOT NULL PRIMARY KEY,
    ws integer NOT NULL,
    hook text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    event_id text NOT NULL,
    type text NOT NULL,
    verdict integer NOT NULL CHECK (verdict BETWEEN 1 AND 6),
    note text NOT NULL,
    payload text CHECK (payload IS NULL OR verdict IN (1, 3)),
    payload_until bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE INDEX semel_delivery_by_hook ON semel_delivery (ws, hook, id);
CREATE INDEX semel_delivery_turned_away ON semel_delivery (ws, hook, at) WHERE verdict >= 4;
CREATE INDEX semel_delivery_by_payload ON semel_delivery (payload_until) WHERE payload IS NOT NULL;
CREATE INDEX semel_delivery_by_expiry ON semel_delivery (expires_at);

-- Ids and signatures of deliveries that came, with the delivery that brought each first.
CREATE TABLE semel_mark (
    ws integer NOT NULL,
    hook text COLLATE "C" NOT NULL,
    mark text COLLATE "C" NOT NULL,
    event_id text NOT NULL,
    delivery bytea NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (ws, hook, mark)
);
CREATE INDEX semel_mark_by_expiry ON semel_mark (expires_at);
