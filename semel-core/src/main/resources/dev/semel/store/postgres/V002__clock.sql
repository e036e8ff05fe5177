-- breaking: no

-- differs: always empty, because the clock of the database is the store's clock.
CREATE TABLE semel_clock (
    singleton smallint PRIMARY KEY CHECK (singleton = 1),
    store_time bigint NOT NULL,
    boot_id text NOT NULL,
    boot_micros bigint NOT NULL
);
