package dev.semel.run;

import org.jspecify.annotations.Nullable;

/** Path characters in names are escaped, so two locations never share a path. A plain name is its own path. */
public final class JournalStepPathFormat {
    /** The scope of the workflow body. */
    public static final String ROOT = "";

    private static final String BRANCHES = "[]";
    private static final String UNDO = "/undo/";

    private JournalStepPathFormat() {}

    public static String of(String scope, String name) {
        return scope + escaped(name);
    }

    /** The scope of one item of a forEach. */
    public static String branch(String scope, String name, String item) {
        return scope + escaped(name) + "[" + escaped(item) + "]/";
    }

    /** The path of a whole forEach, as its surrounding scope sees it. */
    public static String branches(String scope, String name) {
        return scope + escaped(name) + BRANCHES;
    }

    /** Whether {@link #branches} built this path. */
    public static boolean isBranches(String path) {
        return path.endsWith(BRANCHES);
    }

    /** The forEach that a scope is a branch of; null for the body and for a compensation. */
    public static @Nullable String branchesOf(String scope) {
        if (scope.isEmpty() || !isSyntaxAt(scope, scope.length() - 2, ']')) {
            return null;
        }
        int open = scope.length() - 3;
        while (!isSyntaxAt(scope, open, '[')) {
            open--;
        }
        return scope.substring(0, open) + BRANCHES;
    }

    /** Whether this unescaped character is at this position, as path syntax and not as part of a name. */
    private static boolean isSyntaxAt(String path, int at, char wanted) {
        if (path.charAt(at) != wanted) {
            return false;
        }
        int escapes = 0;
        while (at - escapes > 0 && path.charAt(at - escapes - 1) == '\\') {
            escapes++;
        }
        return escapes % 2 == 0;
    }

    /** The scope of a compensation; no user-chosen name begins like this. */
    public static String compensation(String scope, String name) {
        return scope + UNDO + escaped(name) + "/";
    }

    /** The compensation scope that this scope is or is inside; null if there is none. */
    public static @Nullable String compensationOf(String scope) {
        int begin = 0;
        for (int i = 0; i < scope.length(); i++) {
            char c = scope.charAt(i);
            if (c == '\\') {
                i++; // the next character is escaped
            } else if (c == '/' && i == begin) {
                return scope.substring(0, endOfName(scope, i + UNDO.length()) + 1);
            } else if (c == '/') {
                begin = i + 1;
            }
        }
        return null;
    }

    private static int endOfName(String scope, int from) {
        int i = from;
        while (scope.charAt(i) != '/') {
            i += scope.charAt(i) == '\\' ? 2 : 1;
        }
        return i;
    }

    /** The path of the n-th operation of a kind that has no name. */
    public static String unnamed(String scope, String kind, int n) {
        return scope + "#" + kind + "." + n;
    }

    public static String scopeOf(String path) {
        int end = 0;
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            if (c == '\\') {
                i++; // the next character is escaped
            } else if (c == '/') {
                end = i + 1;
            }
        }
        return path.substring(0, end);
    }

    /** The path with {@code []} for each item of a forEach: all iterations of a step have the same. */
    public static String withoutItems(String path) {
        StringBuilder out = new StringBuilder(path.length());
        boolean inItem = false;
        int end;
        for (int i = 0; i < path.length(); i = end) {
            char c = path.charAt(i);
            end = c == '\\' ? Math.min(i + 2, path.length()) : i + 1; // with the escaped character
            inItem &= c != ']';
            if (!inItem) {
                out.append(path, i, end);
            }
            inItem |= c == '[';
        }
        return out.toString();
    }

    /** The last name of a path, as its author wrote it. */
    public static String nameOf(String path) {
        String name = path.substring(scopeOf(path).length());
        if (name.indexOf('\\') < 0) {
            return name;
        }
        StringBuilder out = new StringBuilder(name.length());
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            out.append(c == '\\' && i + 1 < name.length() ? name.charAt(++i) : c);
        }
        return out.toString();
    }

    private static String escaped(String name) {
        StringBuilder out = null;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '/' || c == '[' || c == ']' || c == '#' || c == '\\') {
                if (out == null) {
                    out = new StringBuilder(name.length() + 8).append(name, 0, i);
                }
                out.append('\\');
            }
            if (out != null) {
                out.append(c);
            }
        }
        return out == null ? name : out.toString();
    }
}
