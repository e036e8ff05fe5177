-- breaking: no
-- differs: types.

-- Failures by when they happened: what is asked after an outage. A completed run has no entry in it.
CREATE INDEX semel_end_failed_at ON semel_end (ws, ended_at, run) WHERE state > 10;

-- Who made a token: two credentials of one person are no two people, however old the row of the audit is that tells it.
-- Empty where an older worker made it.
ALTER TABLE semel_token ADD COLUMN made_by TEXT;
UPDATE semel_token SET made_by = (
    SELECT a.actor FROM semel_audit a
    WHERE a.action = 'token.create' AND a.target = semel_token.token_id ORDER BY a.id LIMIT 1);
