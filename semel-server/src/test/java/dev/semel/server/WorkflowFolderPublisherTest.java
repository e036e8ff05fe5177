package dev.semel.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.store.DatabaseRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder of workflow files that is edited while the server runs. */
class WorkflowFolderPublisherTest {
    private static final String FILE = "semel: 1\nworkflow: w\ntitle: %s\nsteps: [{id: note, set: {ok: true}}]\n";

    private final List<String> published = new ArrayList<>();
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();

    @TempDir
    Path folder;

    private WorkflowFolderPublisher open() {
        return new WorkflowFolderPublisher(folder, this::publish, this::alerts, said::add);
    }

    private DatabaseRows.WorkflowRow publish(WorkflowDefinition definition) {
        published.add(String.valueOf(definition.title()));
        return new DatabaseRows.WorkflowRow(1, definition.name(), "wf_1", published.size(), false, 0, true);
    }

    private String alerts(String text) {
        published.add("alerts " + text);
        return "1 alert";
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name), text);
    }

    @Test
    void only_changed_files_are_published() throws IOException {
        write("a.yaml", FILE.formatted("One"));
        write("notes.txt", "not a workflow");
        write(".a.yaml.swp.yaml", "half of a file");
        try (WorkflowFolderPublisher open = open()) {
            open.publishChanged();
            open.publishChanged();
            assertEquals(List.of("One"), published);
            write("a.yaml", FILE.formatted("Two"));
            open.publishChanged();
        }
        assertEquals(List.of("One", "Two"), published);
        assertEquals(List.of("a.yaml: w v1 published", "a.yaml: w v2 published"), List.copyOf(said));
    }

    @Test
    void a_changed_alert_file_is_imported_after_the_workflows() throws IOException {
        write("alerts.yaml", "one");
        write("w.yaml", FILE.formatted("W"));
        try (WorkflowFolderPublisher open = open()) {
            open.publishChanged();
            open.publishChanged();
            assertEquals(List.of("W", "alerts one"), published);
            write("alerts.yaml", "two");
            open.publishChanged();
            Files.delete(folder.resolve("alerts.yaml"));
            open.publishChanged();
        }
        assertEquals(List.of("W", "alerts one", "alerts two"), published);
        assertTrue(said.contains("alerts.yaml: 1 alert"), said::toString);
        assertTrue(said.stream().anyMatch(line -> line.contains("Its alerts stay active")), said::toString);
    }

    @Test
    void a_bad_file_is_reported_once_with_its_position_and_the_old_version_stays() throws IOException {
        write("a.yaml", FILE.formatted("One"));
        try (WorkflowFolderPublisher open = open()) {
            open.publishChanged();
            said.clear();
            write("a.yaml", FILE.formatted("Two").replace("set:", "sett:"));
            open.publishChanged();
            open.publishChanged();
            assertEquals(1, said.size());
            String problem = said.remove();
            assertTrue(problem.contains("^") && problem.contains("line 4"), problem);
            assertTrue(problem.contains("stays active"), problem);
            write("a.yaml", FILE.formatted("Three"));
            open.publishChanged();
        }
        assertEquals(List.of("One", "Three"), published);
    }

    @Test
    void a_deleted_file_unpublishes_nothing_and_that_is_logged() throws IOException {
        write("a.yaml", FILE.formatted("One"));
        try (WorkflowFolderPublisher open = open()) {
            open.publishChanged();
            said.clear();
            Files.delete(folder.resolve("a.yaml"));
            open.publishChanged();
            open.publishChanged();
        }
        assertEquals(1, said.size());
        assertTrue(said.element().contains("stays"), said::toString);
        assertEquals(List.of("One"), published);
    }

    @Test
    void a_watched_folder_publishes_changes_automatically() throws Exception {
        try (WorkflowFolderPublisher open = open()) {
            open.publishChanged();
            open.startWatching();
            write("a.yaml", FILE.formatted("One"));
            assertEquals("a.yaml: w v1 published", said.poll(60, TimeUnit.SECONDS));
            Files.writeString(folder.resolve("other"), FILE.formatted("Two"));
            Files.move(folder.resolve("other"), folder.resolve("b.yaml"));
            assertNotNull(said.poll(60, TimeUnit.SECONDS));
        }
    }

    @Test
    void in_production_a_bad_file_stops_the_start() throws IOException {
        write("a.yaml", "semel: 1\nworkflow: w\n");
        try (WorkflowFolderPublisher open = open()) {
            SemelException refused = assertThrows(SemelException.class, open::publishAll);
            assertTrue(refused.detail().startsWith("a.yaml: "), refused::detail);
        }
    }
}
