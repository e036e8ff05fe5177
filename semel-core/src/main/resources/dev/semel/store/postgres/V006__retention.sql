-- breaking: no

-- Which names stand for a run: it is not removed before they are. Ids rise, so that this index grows at one end.
CREATE INDEX semel_key_by_run ON semel_key (run);
-- The other runs of a lineage, which go together with the first one.
CREATE INDEX semel_run_by_lineage ON semel_run (lineage) WHERE lineage <> run;
CREATE INDEX semel_quiet_by_run ON semel_quiet (run);
