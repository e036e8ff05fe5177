package dev.semel.server.channel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Parses one part of a message template. The language only inserts values: it cannot call, compute or include anything,
 * so a template reads nothing but the message data.
 */
final class TemplateParser {
    /** Most nested blocks. */
    static final int DEPTH = 16;

    private final String text;
    private final TemplatePosition.PositionTracker cursor;
    private final Findings findings;
    private final Set<Integer> links;
    private final Deque<Block> open = new ArrayDeque<>();
    private final List<TemplateNode> pieces = new ArrayList<>();

    private TemplateParser(TemplatePart part, String text, Findings findings, Set<Integer> links) {
        this.text = text;
        this.cursor = new TemplatePosition.PositionTracker(part, text);
        this.findings = findings;
        this.links = links;
    }

    /**
     * Problems and data paths found in all parts of a template.
     *
     * @param paths data paths; list items are written `lines[].sku`
     */
    record Findings(List<TemplateProblem> problems, Set<String> paths) {
        /** Most problems to report. */
        private static final int LIMIT = 100;

        void addProblem(TemplatePosition place, String message) {
            if (problems.size() < LIMIT) {
                problems.add(TemplateProblem.at(place, message));
            }
        }
    }

    static List<TemplateNode> read(TemplatePart part, String text, Findings findings) {
        Set<Integer> links = part == TemplatePart.HTML ? HtmlContextValidator.check(text, findings) : Set.of();
        return new TemplateParser(part, text, findings, links).read();
    }

    /** A block that is not closed yet. */
    private static final class Block {
        final TemplateOperand.Path path;
        final @Nullable String item;
        final TemplatePosition place;
        final List<TemplateNode> first = new ArrayList<>();
        final List<TemplateNode> otherwise = new ArrayList<>();
        boolean inElse;

        Block(TemplateOperand.Path path, @Nullable String item, TemplatePosition place) {
            this.path = path;
            this.item = item;
            this.place = place;
        }

        String word() {
            return item == null ? "if" : "each";
        }

        TemplateNode piece() {
            return item == null
                    ? new TemplateNode.If(path, first, otherwise)
                    : new TemplateNode.Each(path, item, first, otherwise, place);
        }
    }

    private List<TemplateNode> read() {
        int at = 0;
        int start = text.indexOf("{{");
        while (start >= 0) {
            int end = text.startsWith("{{!", start) ? text.indexOf("}}", start) : TagTokenizer.end(text, start + 2);
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
            findings.addProblem(block.place, "the block is not closed: {{/%s}} is missing.".formatted(block.word()));
        }
        return pieces;
    }

    private void tag(String tag, int start) {
        char kind = tag.isEmpty() ? ' ' : tag.charAt(0);
        switch (kind) {
            case '!' -> {} // a comment
            case '#' -> beginBlock(new TagTokenizer(tag.substring(1)), start);
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
                    value(new TagTokenizer(tag), start);
                }
            }
        }
    }

    private void beginBlock(TagTokenizer words, int start) {
        String name = words.name();
        TemplateOperand.Path path = words.path();
        String item = null;
        if ("each".equals(name)) {
            item = !words.atEnd() && "as".equals(words.name()) ? words.name() : "this";
        }
        boolean known = "if".equals(name) || "each".equals(name);
        if (!known || path == null || item == null && "each".equals(name) || !words.atEnd()) {
            problem(start, "a block must be {{#if name}}, {{#each name}} or {{#each name as item}}.");
            path = new TemplateOperand.Path(List.of("this")); // so that the closing tag is not reported too
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

    private void value(TagTokenizer words, int start) {
        TemplateOperand operand = words.operand();
        List<TemplateNode.Filter> filters = new ArrayList<>();
        while (operand != null && words.consume('|')) {
            TemplateNode.Filter filter = filter(words, start);
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
        add(new TemplateNode.Value(operand, filters, links.contains(start), place(start)));
    }

    private TemplateNode.@Nullable Filter filter(TagTokenizer words, int start) {
        String name = words.name();
        TemplateOperand argument = words.consume(':') ? words.operand() : null;
        if (argument == null || name == null) {
            problem(start, "after | write default: \"…\" or money: currency.");
            return null;
        }
        recordPath(argument, start);
        return switch (name) {
            case "default" -> new TemplateNode.Filter.Default(argument);
            case "money" -> new TemplateNode.Filter.Money(argument);
            default -> {
                problem(start, "unknown filter; the filters are default and money.");
                yield null;
            }
        };
    }

    /** Records which data is read; loop items are resolved to their lists. */
    private void recordPath(TemplateOperand operand, int start) {
        if (operand instanceof TemplateOperand.Path path) {
            String first = path.names().getFirst();
            boolean item = open.stream().anyMatch(block -> first.equals(block.item) && !block.inElse);
            if (first.equals("this") && !item) {
                problem(start, "`this` is a list item and works only inside {{#each …}}.");
            } else {
                findings.paths().add(resolveItems(path));
            }
        }
    }

    private String resolveItems(TemplateOperand.Path path) {
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
            add(new TemplateNode.Text(text.substring(from, to)));
        }
    }

    private void add(TemplateNode piece) {
        Block block = open.peek();
        List<TemplateNode> into = block == null ? pieces : block.inElse ? block.otherwise : block.first;
        into.add(piece);
    }

    private static boolean hasNoOutput(String tag) {
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

    private TemplatePosition place(int offset) {
        return cursor.positionOf(offset);
    }

    private void problem(int offset, String message) {
        findings.addProblem(place(offset), message);
    }
}
