package dev.semel.server.settings;

import dev.semel.store.WorkspaceSettingName;

/** The kinds of stored setting documents. Workers cache the kinds that runs need for sending, but not personal data. */
final class WorkspaceSettingKinds {
    /** No history: replaced values are deleted. */
    static final WorkspaceSettingName.SettingKind SECRET = new WorkspaceSettingName.SettingKind("secret", false, true);

    static final WorkspaceSettingName.SettingKind TEMPLATE =
            new WorkspaceSettingName.SettingKind("template", true, true);
    static final WorkspaceSettingName.SettingKind CHANNEL =
            new WorkspaceSettingName.SettingKind("channel", false, true);
    static final WorkspaceSettingName.SettingKind ROUTE = new WorkspaceSettingName.SettingKind("route", false, true);
    static final WorkspaceSettingName.SettingKind WEBHOOK =
            new WorkspaceSettingName.SettingKind("webhook", false, true);
    static final WorkspaceSettingName.SettingKind ALERT = new WorkspaceSettingName.SettingKind("alert", false, true);

    /** Alert state: not cached, since it changes often. */
    static final WorkspaceSettingName.SettingKind ALERT_STATE =
            new WorkspaceSettingName.SettingKind("alert_state", false, false);

    static final WorkspaceSettingName.SettingKind PROFILE =
            new WorkspaceSettingName.SettingKind("profile", false, false);

    /** Maps the digest of an email address to the profile that had it last. */
    static final WorkspaceSettingName.SettingKind ADDRESS =
            new WorkspaceSettingName.SettingKind("address", false, false);

    static final WorkspaceSettingName.SettingKind SUBSCRIPTION =
            new WorkspaceSettingName.SettingKind("subscription", false, false);
    static final WorkspaceSettingName.SettingKind COHORT = new WorkspaceSettingName.SettingKind("cohort", false, false);
    static final WorkspaceSettingName.SettingKind MEMBER = new WorkspaceSettingName.SettingKind("member", false, false);

    /** Keeps all versions, because the first answers are part of the report. */
    static final WorkspaceSettingName.SettingKind INCIDENT =
            new WorkspaceSettingName.SettingKind("incident", true, false);

    static final WorkspaceSettingName.SettingKind VIEW = new WorkspaceSettingName.SettingKind("view", false, false);

    private WorkspaceSettingKinds() {}
}
