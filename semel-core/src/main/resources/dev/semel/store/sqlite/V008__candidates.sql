-- breaking: yes
-- Breaking, because an older worker would admit a key under the current version that another admits under the candidate.

-- The version that a share of the fresh triggers gets, in per cent; both 0 where there is none.
ALTER TABLE semel_workflow ADD COLUMN candidate INTEGER NOT NULL DEFAULT 0 CHECK (candidate >= 0);
ALTER TABLE semel_workflow ADD COLUMN share INTEGER NOT NULL DEFAULT 0
    CHECK (share BETWEEN 0 AND 99 AND (share = 0) = (candidate = 0));
