-- breaking: yes
-- Breaking, because an older worker would write failures down that no list of them shows.

-- Whose a run is that failed or was cancelled; empty for one that completed, which are most. Few among a million are
-- found by these two indexes, and a completed run has no entry in them.
ALTER TABLE semel_end ADD COLUMN ws integer;
ALTER TABLE semel_end ADD COLUMN workflow_id text COLLATE "C";
UPDATE semel_end SET
    ws = (SELECT r.ws FROM semel_run r WHERE r.run = semel_end.run),
    workflow_id = (SELECT r.workflow_id FROM semel_run r WHERE r.run = semel_end.run)
WHERE state > 10;
CREATE INDEX semel_end_failed ON semel_end (ws, run) WHERE state > 10;
CREATE INDEX semel_end_failed_by_workflow ON semel_end (workflow_id, run) WHERE state > 10;
