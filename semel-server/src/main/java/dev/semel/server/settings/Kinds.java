package dev.semel.server.settings;

import dev.semel.store.SettingKind;

/** The sorts of documents. What a run may send by is remembered by every worker; what is known of people is not. */
final class Kinds {
    /** Without a history: a value that was replaced is gone. */
    static final SettingKind SECRET = new SettingKind("secret", false, true);

    static final SettingKind TEMPLATE = new SettingKind("template", true, true);
    static final SettingKind CHANNEL = new SettingKind("channel", false, true);
    static final SettingKind ROUTE = new SettingKind("route", false, true);
    static final SettingKind HOOK = new SettingKind("hook", false, true);
    static final SettingKind ALERT = new SettingKind("alert", false, true);

    /** How an alert stands: not watched, since it changes by itself. */
    static final SettingKind ALARM = new SettingKind("alarm", false, false);

    static final SettingKind PROFILE = new SettingKind("profile", false, false);

    /** From the digest of an address to the id of the profile that had it last. */
    static final SettingKind ADDRESS = new SettingKind("address", false, false);

    static final SettingKind SUBSCRIPTION = new SettingKind("subscription", false, false);
    static final SettingKind COHORT = new SettingKind("cohort", false, false);
    static final SettingKind MEMBER = new SettingKind("member", false, false);

    /** Every version stays: what was answered first is part of a review. */
    static final SettingKind INCIDENT = new SettingKind("incident", true, false);

    static final SettingKind VIEW = new SettingKind("view", false, false);

    private Kinds() {}
}
