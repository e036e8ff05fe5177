-- breaking: no

-- Effects whose outcome is unknown and that are safe to send again with the same key until `expires_at`; they are few.
CREATE INDEX semel_effect_resendable ON semel_effect (expires_at, ws, workflow_id, run, digest)
    WHERE state = 3 AND expires_at > 0;

-- `resend_until`: until when the first re-send of the run with the same key is safe; the largest number if it has none.
ALTER TABLE semel_replay_plan_item ADD COLUMN resend_until bigint NOT NULL DEFAULT 9223372036854775807;
CREATE INDEX semel_replay_plan_item_by_resend ON semel_replay_plan_item (plan, resend_until, run);
