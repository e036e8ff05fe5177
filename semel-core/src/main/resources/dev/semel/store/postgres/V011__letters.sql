-- breaking: no
-- Not breaking: an older worker does not look here; a run that it drives does not listen.

-- A wait of a run that listens for signals by a key. One letter ends it: the row goes with the delivery.
-- undoing: it listens although its run is asked to end.
CREATE TABLE semel_listener (
    run bytea NOT NULL,
    path text COLLATE "C" NOT NULL,
    ws integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    since bigint NOT NULL,
    undoing integer NOT NULL CHECK (undoing IN (0, 1)),
    PRIMARY KEY (run, path)
);
CREATE INDEX semel_listener_by_key ON semel_listener (ws, name, key, since, run, path);

-- A signal that was sent to a key and not to a run, by the id its sender gave it. runs: who has it, by id; none while it
-- is kept for the first that listens. Its value goes to the signals of whoever gets it and is empty here from then on.
CREATE TABLE semel_letter (
    ws integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    letter text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    digest bytea NOT NULL,
    value text NOT NULL,
    runs text NOT NULL,
    at bigint NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (ws, name, letter)
);
CREATE INDEX semel_letter_kept ON semel_letter (ws, name, key, at, id) WHERE runs = '';
CREATE INDEX semel_letter_by_expiry ON semel_letter (expires_at);
