-- breaking: yes
ALTER TABLE semel_work ADD COLUMN shade text;
