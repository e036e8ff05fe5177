-- breaking: no

-- Number and bytes of the signals that no wait of the run has recorded yet. The value of a recorded signal becomes ''.
ALTER TABLE semel_unfinished_run ADD COLUMN unread_signals INTEGER NOT NULL DEFAULT 0;
ALTER TABLE semel_unfinished_run ADD COLUMN unread_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE semel_unfinished_run SET
    unread_signals = (SELECT count(*) FROM semel_signal s WHERE s.run = semel_unfinished_run.run),
    unread_bytes = (SELECT COALESCE(sum(octet_length(s.value)), 0) FROM semel_signal s
        WHERE s.run = semel_unfinished_run.run);
