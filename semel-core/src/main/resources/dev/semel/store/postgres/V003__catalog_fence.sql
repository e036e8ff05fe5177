-- breaking: yes
-- Breaking, because an older worker would publish without telling the fences, and its triggers would not be checked.

-- The catalog that a batch of this slot runs under. Whoever changes the catalog sets it in all slots.
ALTER TABLE semel_fence ADD COLUMN change bigint NOT NULL DEFAULT 0;
UPDATE semel_fence SET change = (SELECT change FROM semel_catalog WHERE one = 1);

-- What a change was answered that came with a key of its caller; in the transaction of the change itself.
CREATE TABLE semel_reply (
    ws integer NOT NULL,
    operation text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    digest bytea NOT NULL,
    answer text NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (ws, operation, key)
);
CREATE INDEX semel_reply_by_expiry ON semel_reply (expires_at);
