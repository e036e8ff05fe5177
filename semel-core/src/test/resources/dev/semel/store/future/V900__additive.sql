-- breaking: no
ALTER TABLE semel_lease ADD COLUMN mood text NOT NULL DEFAULT 'well';
ALTER TABLE semel_run ADD COLUMN colour text;
