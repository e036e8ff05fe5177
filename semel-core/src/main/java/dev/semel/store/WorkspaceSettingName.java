package dev.semel.store;

/** Identifies a setting by workspace, kind and name. It has at most one current version. */
public record WorkspaceSettingName(int workspace, SettingKind kind, String text) {
    private static final int LONGEST = 300;

    public WorkspaceSettingName {
        if (text.isEmpty() || text.length() > LONGEST) {
            throw new IllegalArgumentException(
                    "the name of a setting has 1 to " + LONGEST + " characters, not " + text.length());
        }
    }

    /**
     * @param word its stored name
     * @param keepsHistory older versions stay readable by number; otherwise they are deleted
     * @param changesCatalog every worker caches such settings, so a change increases the catalog version and is audited.
     *     Not for settings that change often, because each change briefly blocks all triggers
     */
    public record SettingKind(String word, boolean keepsHistory, boolean changesCatalog) {
        public SettingKind {
            if (!word.matches("[a-z][a-z_]{0,31}")) {
                throw new IllegalArgumentException(
                        "a kind of setting has 1 to 32 characters a-z and _ and starts with a-z: " + word);
            }
        }
    }
}
