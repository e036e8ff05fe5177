package dev.semel.store;

/**
 * A sort of document that a workspace keeps.
 *
 * @param word how it is stored
 * @param keepsHistory older versions stay, and can be read by their number; where not, nothing of them is left
 * @param watched every worker remembers such documents, so a change moves the catalog's number and is in the audit. Not
 *     for what changes all the time, since such a change stops all triggers for a moment
 */
public record SettingKind(String word, boolean keepsHistory, boolean watched) {
    public SettingKind {
        if (!word.matches("[a-z][a-z_]{0,31}")) {
            throw new IllegalArgumentException("a kind is 1 to 32 of a-z and _, beginning with a letter: " + word);
        }
    }
}
