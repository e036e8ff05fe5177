package dev.semel.trials.attacks;

import dev.semel.trials.attacks.AttackReport.TestRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/** The two halves of `semel-trials/attacks`: lists the tests to run, and prints the table of what they saw. */
public final class AttackSuite {
    private AttackSuite() {}

    /** `tests FOLDER…` deletes old reports and prints the tests; `report FOLDER…` prints the table. */
    public static void main(String[] args) throws Exception {
        AttackCatalog catalog = AttackCatalog.load();
        List<Path> folders = Stream.of(args).skip(1).map(Path::of).toList();
        if (args.length > 0 && args[0].equals("tests")) {
            for (Path report : reports(folders)) {
                Files.delete(report); // an old result must not count as a try
            }
            System.out.println(catalog.mavenTests());
            return;
        }
        List<TestRun> runs = new ArrayList<>();
        for (Path report : reports(folders)) {
            runs.addAll(read(report));
        }
        AttackReport report = AttackReport.of(catalog, runs);
        System.out.print(report.table());
        System.exit(report.allWithstood() ? 0 : 1);
    }

    private static List<Path> reports(List<Path> folders) throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path folder : folders) {
            if (Files.isDirectory(folder)) {
                try (Stream<Path> files = Files.list(folder)) {
                    files.filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
                            .sorted()
                            .forEach(found::add);
                }
            }
        }
        return found;
    }

    static List<TestRun> read(Path report) throws IOException, ParserConfigurationException, SAXException {
        DocumentBuilderFactory xml = DocumentBuilderFactory.newInstance();
        xml.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        var cases = xml.newDocumentBuilder().parse(report.toFile()).getElementsByTagName("testcase");
        List<TestRun> runs = new ArrayList<>();
        for (int i = 0; i < cases.getLength(); i++) {
            runs.add(run((Element) cases.item(i)));
        }
        return runs;
    }

    private static TestRun run(Element testCase) {
        String type = testCase.getAttribute("classname");
        // A parameterized test is named `method(String)[1]`.
        String method = testCase.getAttribute("name").replaceFirst("[^A-Za-z0-9_].*", "");
        String failure = "";
        boolean ran = true;
        for (Node node = testCase.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element) {
                switch (element.getTagName()) {
                    case "failure", "error" -> failure = firstLine(element);
                    case "skipped" -> ran = false;
                    default -> {} // output, reruns
                }
            }
        }
        return new TestRun(type.substring(type.lastIndexOf('.') + 1), method, failure, ran);
    }

    private static String firstLine(Element failure) {
        String text = failure.getAttribute("message").isBlank()
                ? failure.getAttribute("type")
                : failure.getAttribute("message");
        String line = text.lines().findFirst().orElse("failed");
        return line.length() <= 160 ? line : line.substring(0, 159) + "…";
    }
}
