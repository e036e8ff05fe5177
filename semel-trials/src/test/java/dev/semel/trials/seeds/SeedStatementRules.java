package dev.semel.trials.seeds;

import dev.semel.trials.architecture.SourceFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a row of the table must have. */
record SeedStatementRules(int last, TestSources tests) {
    private static final String FIRST_CELL = "| #";

    static List<SeedStatement> rows(SourceFile page) {
        return page.lines().stream()
                .filter(SeedStatement::isRow)
                .map(SeedStatement::of)
                .toList();
    }

    List<String> problems(SourceFile page) {
        List<String> problems = new ArrayList<>();
        for (String line : page.lines()) {
            boolean head = line.startsWith(FIRST_CELL) || line.startsWith("|--");
            if (line.startsWith("|") && !head && !SeedStatement.isRow(line)) {
                problems.add("not a row of four cells with a known verdict: " + line);
            }
        }
        List<SeedStatement> rows = rows(page);
        Map<Integer, Integer> times = new TreeMap<>();
        rows.forEach(row -> times.merge(row.number(), 1, Integer::sum));
        for (int number = 1; number <= last; number++) {
            int found = times.getOrDefault(number, 0);
            if (found != 1) {
                problems.add(number + ": the table has " + found + " rows with this number");
            }
        }
        times.keySet().stream()
                .filter(number -> number < 1 || number > last)
                .forEach(number -> problems.add(number + ": no seed statement has this number"));
        rows.forEach(row -> problems(row).forEach(problem -> problems.add(row.number() + ": " + problem)));
        return problems;
    }

    private List<String> problems(SeedStatement row) {
        List<String> problems = new ArrayList<>();
        for (String test : row.tests()) {
            String problem = tests.problem(test);
            if (!problem.isEmpty()) {
                problems.add(test + ": " + problem);
            }
        }
        switch (row.verdict()) {
            case HOLDS -> {
                if (row.tests().isEmpty()) {
                    problems.add("no test");
                }
                if (!row.reason().isEmpty()) {
                    problems.add("not the name of a test: " + row.reason());
                }
            }
            case DIFFERS_ON_PURPOSE -> {
                String reason = row.reason().replaceAll("\\[[^]]*]\\([^)]*\\)", "");
                if (reason.length() < 20) {
                    problems.add("no reason");
                }
                if (!row.linksToHeading()) {
                    problems.add("no link to the heading of the page that states it");
                }
            }
            case OPEN -> {
                if (row.reason().length() < 20) {
                    problems.add("no reason");
                }
            }
        }
        return problems;
    }
}
