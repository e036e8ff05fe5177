package dev.semel.server.connectors.template;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The language only inserts values. It cannot call, compute or include, so a template reads only the message data. */
final class NotificationTemplateParser {
    /** Most nested blocks. */
    static final int DEPTH = 16;

    private final String text;
    private final NotificationTemplatePosition.PositionTracker cursor;
    private final Findings findings;
    private final Set<Integer> links;
    private final Deque<Block> open = new ArrayDeque<>();
    private final List<NotificationTemplateNode> pieces = new ArrayList<>();

    private NotificationTemplateParser(
            NotificationTemplatePart part, String text, Findings findings, Set<Integer> links) {
        this.text = text;
        this.cursor = new NotificationTemplatePosition.PositionTracker(part, text);
        this.findings = findings;
        this.links = links;
    }

    /** @param paths data paths; list items are written `lines[].sku` */
    record Findings(List<NotificationTemplateProblem> problems, Set<String> paths) {
        /** Most problems to report. */
        private static final int LIMIT = 100;

        void addProblem(NotificationTemplatePosition templatePosition, String message) {
            if (problems.size() < LIMIT) {
                problems.add(NotificationTemplateProblem.at(templatePosition, message));
            }
        }
    }

    static List<NotificationTemplateNode> read(NotificationTemplatePart part, String text, Findings findings) {
        Set<Integer> links =
                part == NotificationTemplatePart.HTML ? NotificationHtmlInjectionGuard.check(text, findings) : Set.of();
        return new NotificationTemplateParser(part, text, findings, links).read();
    }

    /** A block that is not closed yet. */
    private static final class Block {
        final NotificationTemplateOperand.Path path;
        final @Nullable String item;
        final NotificationTemplatePosition position;
        final List<NotificationTemplateNode> first = new ArrayList<>();
        final List<NotificationTemplateNode> otherwise = new ArrayList<>();
        boolean inElse;

        Block(
                NotificationTemplateOperand.Path path,
                @Nullable String item,
                NotificationTemplatePosition templatePosition) {
            this.path = path;
            this.item = item;
            this.position = templatePosition;
        }

        String word() {
            return item == null ? "if" : "each";
        }

        NotificationTemplateNode piece() {
            return item == null
                    ? new NotificationTemplateNode.If(path, first, otherwise)
                    : new NotificationTemplateNode.Each(path, item, first, otherwise, position);
        }
    }

    private List<NotificationTemplateNode> read() {
        int at = 0;
        int start = text.indexOf("{{");
        while (start >= 0) {
            int end = text.startsWith("{{!", start)
                    ? text.indexOf("}}", start)
                    : NotificationTemplateTokenizer.end(text, start + 2);
            if (end < 0) {
                problem(start, "the tag is not closed: }} is missing.");
                return pieces;
            }
            String tag = text.substring(start + 2, end);
            int lineStart = hasNoOutput(tag) ? backOverSpace(start) : -1;
            int nextLine = lineStart < 0 ? -1 : overSpace(end + 2);
            boolean alone = nextLine >= 0;
            addText(at, alone ? lineStart : start);
            tag(tag, start);
            at = alone ? nextLine : end + 2;
            start = text.indexOf("{{", at);
        }
        addText(at, text.length());
        for (Block block : open) {
            findings.addProblem(block.position, "the block is not closed: {{/%s}} is missing.".formatted(block.word()));
        }
        return pieces;
    }

    private void tag(String tag, int start) {
        char kind = tag.isEmpty() ? ' ' : tag.charAt(0);
        switch (kind) {
            case '!' -> {} // a comment
            case '#' -> beginBlock(new NotificationTemplateTokenizer(tag.substring(1)), start);
            case '/' -> endBlock(tag.substring(1).strip(), start);
            case '{', '&' ->
                problem(start, "unescaped values are not supported: write {{ name }}; Semel always escapes the value.");
            case '>', '^', '%', '@' ->
                problem(
                        start,
                        "{{%c is not supported. Supported: {{ name }}, {{#if name}}, {{#each name}}.".formatted(kind));
            default -> {
                if (tag.strip().equals("else")) {
                    beginElse(start);
                } else {
                    value(new NotificationTemplateTokenizer(tag), start);
                }
            }
        }
    }

    private void beginBlock(NotificationTemplateTokenizer words, int start) {
        String name = words.name();
        NotificationTemplateOperand.Path path = words.path();
        String item = null;
        if ("each".equals(name)) {
            item = !words.atEnd() && "as".equals(words.name()) ? words.name() : "this";
        }
        boolean known = "if".equals(name) || "each".equals(name);
        if (!known || path == null || item == null && "each".equals(name) || !words.atEnd()) {
            problem(start, "a block must be {{#if name}}, {{#each name}} or {{#each name as item}}.");
            path = new NotificationTemplateOperand.Path(List.of("this")); // so that the closing tag is not reported too
        } else {
            recordPath(path, start);
        }
        if (open.size() == DEPTH) {
            problem(start, "blocks are nested more than %d levels deep.".formatted(DEPTH));
        }
        open.push(new Block(path, "each".equals(name) && item == null ? "this" : item, place(start)));
    }

    private void beginElse(int start) {
        Block block = open.peek();
        if (block == null || block.inElse) {
            problem(start, "{{else}} may appear only once, inside {{#if}} or {{#each}}.");
        } else {
            block.inElse = true;
        }
    }

    private void endBlock(String name, int start) {
        Block block = open.peek();
        if (block == null || !block.word().equals(name)) {
            String expected = block == null ? "no block is open" : "{{/%s}} was expected".formatted(block.word());
            problem(start, "this closes a block that is not open: %s.".formatted(expected));
            return;
        }
        open.pop();
        add(block.piece());
    }

    private void value(NotificationTemplateTokenizer words, int start) {
        NotificationTemplateOperand operand = words.operand();
        List<NotificationTemplateNode.Filter> filters = new ArrayList<>();
        while (operand != null && words.consume('|')) {
            NotificationTemplateNode.Filter filter = filter(words, start);
            if (filter == null) {
                return;
            }
            filters.add(filter);
        }
        if (operand == null || !words.atEnd()) {
            problem(start, "this is not a value: write {{ name }}, {{ a.b }} or {{ name | default: \"…\" }}.");
            return;
        }
        recordPath(operand, start);
        add(new NotificationTemplateNode.Value(operand, filters, links.contains(start), place(start)));
    }

    private NotificationTemplateNode.@Nullable Filter filter(NotificationTemplateTokenizer words, int start) {
        String name = words.name();
        NotificationTemplateOperand argument = words.consume(':') ? words.operand() : null;
        if (argument == null || name == null) {
            problem(start, "after | write default: \"…\" or money: currency.");
            return null;
        }
        recordPath(argument, start);
        return switch (name) {
            case "default" -> new NotificationTemplateNode.Filter.Default(argument);
            case "money" -> new NotificationTemplateNode.Filter.Money(argument);
            default -> {
                problem(start, "unknown filter; the filters are default and money.");
                yield null;
            }
        };
    }

    /** Records which data is read; loop items are resolved to their lists. */
    private void recordPath(NotificationTemplateOperand operand, int start) {
        if (operand instanceof NotificationTemplateOperand.Path path) {
            String first = path.names().getFirst();
            boolean item = open.stream().anyMatch(block -> first.equals(block.item) && !block.inElse);
            if (first.equals("this") && !item) {
                problem(start, "`this` is a list item and works only inside {{#each …}}.");
            } else {
                findings.paths().add(resolveItems(path));
            }
        }
    }

    private String resolveItems(NotificationTemplateOperand.Path path) {
        String written = path.toString();
        for (Block block : open) {
            String first = written.split("\\.|\\[", 2)[0];
            if (first.equals(block.item) && !block.inElse) {
                written = block.path + "[]" + written.substring(first.length());
            }
        }
        return written;
    }

    private void addText(int from, int to) {
        if (from < to) {
            add(new NotificationTemplateNode.Text(text.substring(from, to)));
        }
    }

    private void add(NotificationTemplateNode piece) {
        Block block = open.peek();
        List<NotificationTemplateNode> into = block == null ? pieces : block.inElse ? block.otherwise : block.first;
        into.add(piece);
    }

    static boolean hasNoOutput(String tag) {
        return tag.startsWith("#")
                || tag.startsWith("/")
                || tag.startsWith("!")
                || tag.strip().equals("else");
    }

    /**
     * Start of the line if only whitespace precedes the tag, otherwise -1. A tag without output that is alone on its
     * line removes the whole line.
     */
    private int backOverSpace(int from) {
        int at = from;
        while (at > 0 && isSpace(text.charAt(at - 1))) {
            at--;
        }
        return at == 0 || text.charAt(at - 1) == '\n' ? at : -1;
    }

    /** Start of the next line if only whitespace follows the tag, otherwise -1. */
    private int overSpace(int from) {
        int at = from;
        while (at < text.length() && isSpace(text.charAt(at))) {
            at++;
        }
        return at == text.length() ? at : text.charAt(at) == '\n' ? at + 1 : -1;
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c == '\t' || c == '\r';
    }

    private NotificationTemplatePosition place(int offset) {
        return cursor.positionOf(offset);
    }

    private void problem(int offset, String message) {
        findings.addProblem(place(offset), message);
    }
}
