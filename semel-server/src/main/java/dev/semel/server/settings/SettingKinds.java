package dev.semel.server.settings;

import dev.semel.store.SettingKind;

/** The kinds of stored setting documents. Workers cache the kinds that runs need for sending, but not personal data. */
final class SettingKinds {
    /** No history: replaced values are deleted. */
    static final SettingKind SECRET = new SettingKind("secret", false, true);

    static final SettingKind TEMPLATE = new SettingKind("template", true, true);
    static final SettingKind CHANNEL = new SettingKind("channel", false, true);
    static final SettingKind ROUTE = new SettingKind("route", false, true);
    static final SettingKind WEBHOOK = new SettingKind("webhook", false, true);
    static final SettingKind ALERT = new SettingKind("alert", false, true);

    /** Alert state: not cached, since it changes often. */
    static final SettingKind ALERT_STATE = new SettingKind("alert_state", false, false);

    static final SettingKind PROFILE = new SettingKind("profile", false, false);

    /** Maps the digest of an email address to the profile that had it last. */
    static final SettingKind ADDRESS = new SettingKind("address", false, false);

    static final SettingKind SUBSCRIPTION = new SettingKind("subscription", false, false);
    static final SettingKind COHORT = new SettingKind("cohort", false, false);
    static final SettingKind MEMBER = new SettingKind("member", false, false);

    /** Keeps all versions, because the first answers are part of the report. */
    static final SettingKind INCIDENT = new SettingKind("incident", true, false);

    static final SettingKind VIEW = new SettingKind("view", false, false);

    private SettingKinds() {}
}
