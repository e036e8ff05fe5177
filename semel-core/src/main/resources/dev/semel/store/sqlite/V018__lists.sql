-- breaking: no
-- Not breaking: an older worker finds what it looks for by the new indexes; the notes that it still writes stand in lists
-- beside their deeds.

-- The effects of a workspace, those of the newest runs first.
CREATE INDEX semel_effect_by_workspace ON semel_effect (ws, run, digest);

-- Those in doubt and those that are not done, which are few. It does what the index of those in doubt did.
CREATE INDEX semel_effect_unsettled ON semel_effect (ws, state, run, digest) WHERE state > 2;
DROP INDEX semel_effect_unknown;

-- Those that were suppressed.
CREATE INDEX semel_effect_suppressed ON semel_effect (ws, run, digest) WHERE substr(data, 1, 11) = 'suppressed ';

-- A note of a deed under a key across runs says that it is one. It is made in one moment, and a deed never is.
UPDATE semel_effect SET data = 'noted'
    WHERE data IS NULL AND state = 2 AND lasts = 0 AND attempt = 1 AND key <> step AND first_at = accepted_at;
