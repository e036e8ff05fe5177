-- breaking: no

-- The only row is the last known time of the store's clock, and the clock since boot at that moment. After a restart the
-- two show whether the clock of the machine jumped.
CREATE TABLE semel_clock (
    singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
    store_time INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    boot_micros INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
