-- breaking: yes
-- Breaking, because an older worker would publish without telling the fences, and its triggers would not be checked.

-- The catalog that a batch of this slot runs under. Whoever changes the catalog sets it in all slots.
ALTER TABLE semel_fence ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
UPDATE semel_fence SET change = (SELECT change FROM semel_catalog WHERE one = 1);

-- What a change was answered that came with a key of its caller; in the transaction of the change itself.
CREATE TABLE semel_reply (
    ws INTEGER NOT NULL,
    operation TEXT NOT NULL,
    key TEXT NOT NULL,
    id BLOB NOT NULL,
    digest BLOB NOT NULL,
    answer TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (ws, operation, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX semel_reply_by_expiry ON semel_reply (expires_at);
