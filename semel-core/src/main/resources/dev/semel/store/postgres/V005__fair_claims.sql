-- breaking: no

-- Runs that are due, by workflow: a claim takes some of each.
CREATE INDEX semel_work_by_workflow ON semel_work (workflow_id, due_at, run) WHERE owner IS NULL AND held = 0;
