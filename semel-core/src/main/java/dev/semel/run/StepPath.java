package dev.semel.run;

/**
 * Where a step stands in a run: the names of the scopes around it and its own. Characters that build paths are escaped
 * in names, so two places never have one path. A plain name is its own path.
 */
public final class StepPath {
    /** The scope of the body itself. */
    public static final String ROOT = "";

    private StepPath() {}

    public static String of(String scope, String name) {
        return scope + escaped(name);
    }

    /** The scope of one item of a forEach. */
    public static String branch(String scope, String name, String item) {
        return scope + escaped(name) + "[" + escaped(item) + "]/";
    }

    /** The scope of an undo; no name of a user begins like this. */
    public static String undo(String scope, String name) {
        return scope + "/undo/" + escaped(name) + "/";
    }

    /** The n-th of something that has no name of its own. */
    public static String unnamed(String scope, String kind, int n) {
        return scope + "#" + kind + "." + n;
    }

    /** The scope that this path lies in. */
    public static String scopeOf(String path) {
        int end = 0;
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            if (c == '\\') {
                i++; // what follows is part of a name
            } else if (c == '/') {
                end = i + 1;
            }
        }
        return path.substring(0, end);
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
