-- breaking: yes

-- differs: PostgreSQL can replace a check in place.
-- State 5 of an effect: perhaps sent, and free to send again, as its protection declares.
ALTER TABLE semel_effect DROP CONSTRAINT semel_effect_state_check;
ALTER TABLE semel_effect ADD CONSTRAINT semel_effect_state_check CHECK (state BETWEEN 1 AND 5);
ALTER TABLE semel_effect_history DROP CONSTRAINT semel_effect_history_state_check;
ALTER TABLE semel_effect_history ADD CONSTRAINT semel_effect_history_state_check CHECK (state BETWEEN 1 AND 5);

-- Unfinished runs whose worker crashed: a crash may have cut a send off.
CREATE INDEX semel_unfinished_run_crashed ON semel_unfinished_run (run) WHERE has_crashed = 1;
