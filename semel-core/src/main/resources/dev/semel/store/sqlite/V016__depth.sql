-- breaking: no
-- Not breaking: an older worker starts runs that nobody counts, and a loop is then found some runs later.

-- How many runs, each started by a step of the one before, stand between this run and whoever began.
ALTER TABLE semel_link ADD COLUMN depth INTEGER NOT NULL DEFAULT 0 CHECK (depth >= 0);
