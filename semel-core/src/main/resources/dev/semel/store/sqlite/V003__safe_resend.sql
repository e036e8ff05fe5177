-- breaking: no

-- Effects whose outcome is unknown and that are safe to send again with the same key until `expires_at`; they are few.
CREATE INDEX semel_effect_resendable ON semel_effect (expires_at, ws, workflow_id, run, digest)
    WHERE state = 3 AND expires_at > 0;
