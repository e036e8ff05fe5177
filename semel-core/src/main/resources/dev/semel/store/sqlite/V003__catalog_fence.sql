-- breaking: yes
-- Breaking, because an older worker would publish without telling the fences, and its triggers would not be checked.

-- The catalog that a batch of this slot runs under. Whoever changes the catalog sets it in all slots.
ALTER TABLE semel_fence ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
UPDATE semel_fence SET change = (SELECT change FROM semel_catalog WHERE one = 1);
