package dev.semel.store;

/** Which document: it has one current version at most. */
public record SettingName(int workspace, SettingKind kind, String text) {
    private static final int LONGEST = 300;

    public SettingName {
        if (text.isEmpty() || text.length() > LONGEST) {
            throw new IllegalArgumentException(
                    "the name of a setting has 1 to " + LONGEST + " characters, not " + text.length());
        }
    }
}
