package dev.semel.store;

/** Identifies a setting by workspace, kind and name. It has at most one current version. */
public record WorkspaceSettingName(int workspace, WorkspaceSettingKind kind, String text) {
    private static final int LONGEST = 300;

    public WorkspaceSettingName {
        if (text.isEmpty() || text.length() > LONGEST) {
            throw new IllegalArgumentException(
                    "the name of a setting has 1 to " + LONGEST + " characters, not " + text.length());
        }
    }
}
