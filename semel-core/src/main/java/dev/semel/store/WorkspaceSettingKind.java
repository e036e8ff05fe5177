package dev.semel.store;

/**
 * @param word its stored name
 * @param keepsHistory older versions stay readable by number; otherwise they are deleted
 * @param changesCatalog every worker caches such settings, so a change increases the catalog version and is audited.
 *     Not for settings that change often, because each change briefly blocks all triggers
 */
public record WorkspaceSettingKind(String word, boolean keepsHistory, boolean changesCatalog) {
    public WorkspaceSettingKind {
        if (!word.matches("[a-z][a-z_]{0,31}")) {
            throw new IllegalArgumentException(
                    "a kind of setting has 1 to 32 characters a-z and _ and starts with a-z: " + word);
        }
    }
}
