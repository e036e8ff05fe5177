-- breaking: yes
ALTER TABLE semel_unfinished_run ADD COLUMN shade text;
