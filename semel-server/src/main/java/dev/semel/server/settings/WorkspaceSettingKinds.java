package dev.semel.server.settings;

import dev.semel.store.WorkspaceSettingKind;

/** The kinds of stored setting documents. Workers cache the kinds that runs need for sending, but not personal data. */
final class WorkspaceSettingKinds {
    /** No history: replaced values are deleted. */
    static final WorkspaceSettingKind SECRET = new WorkspaceSettingKind("secret", false, true);

    static final WorkspaceSettingKind TEMPLATE = new WorkspaceSettingKind("template", true, true);
    static final WorkspaceSettingKind CHANNEL = new WorkspaceSettingKind("channel", false, true);
    static final WorkspaceSettingKind ROUTE = new WorkspaceSettingKind("route", false, true);
    static final WorkspaceSettingKind WEBHOOK = new WorkspaceSettingKind("webhook", false, true);
    static final WorkspaceSettingKind ALERT = new WorkspaceSettingKind("alert", false, true);

    /** Alert state: not cached, since it changes often. */
    static final WorkspaceSettingKind ALERT_STATE = new WorkspaceSettingKind("alert_state", false, false);

    static final WorkspaceSettingKind PROFILE = new WorkspaceSettingKind("profile", false, false);

    /** Maps the digest of an email address to the profile that had it last. */
    static final WorkspaceSettingKind ADDRESS = new WorkspaceSettingKind("address", false, false);

    static final WorkspaceSettingKind SUBSCRIPTION = new WorkspaceSettingKind("subscription", false, false);
    static final WorkspaceSettingKind COHORT = new WorkspaceSettingKind("cohort", false, false);
    static final WorkspaceSettingKind MEMBER = new WorkspaceSettingKind("member", false, false);

    /** Keeps all versions, because the first answers are part of the report. */
    static final WorkspaceSettingKind INCIDENT = new WorkspaceSettingKind("incident", true, false);

    static final WorkspaceSettingKind VIEW = new WorkspaceSettingKind("view", false, false);

    private WorkspaceSettingKinds() {}
}
