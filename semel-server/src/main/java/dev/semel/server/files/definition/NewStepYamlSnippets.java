package dev.semel.server.files.definition;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

public final class NewStepYamlSnippets {
    private static final Map<String, String> BY_KIND = new LinkedHashMap<>();

    static {
        BY_KIND.put("send", """
            - id: %s
              send:
                channel: mail
                to: ${ input.email }
                template: welcome
              idempotent:
                key: ${ key("%s", input.id) }
                time: 12
                unit: hours
              protect: at_most_once
            """);
        BY_KIND.put("notify", """
            - id: %s
              notify: lead.welcome
              to: ${ input.profile_id }
              idempotent:
                key: ${ key("%s", input.id) }
                time: 12
                unit: hours
              protect: at_most_once
            """);
        BY_KIND.put("digest", """
            - id: %s
              digest:
                key: ${ key("%s", input.id) }
                collect_for: 15m
                item: ${ input.id }
              send:
                channel: mail
                to: ${ input.email }
                template: digest
              protect: at_most_once
            """);
        BY_KIND.put("http", """
            - id: %s
              http:
                method: POST
                url: https://api.example.com/things
                body:
                  id: ${ input.id }
              idempotent:
                key: ${ key("%s", input.id) }
              protect: provider_key
              provider_window: 24h
            """);
        BY_KIND.put("set", """
            - id: %s
              set:
                ok: true
            """);
        BY_KIND.put("sleep", """
            - id: %s
              sleep: 1h
            """);
        BY_KIND.put("wait_for", """
            - id: %s
              wait_for:
                signal: %s.done
                timeout: 3d
            """);
        BY_KIND.put("wait_for_reply", """
            - id: %s
              wait_for_reply:
                from: ${ input.phone }
                timeout: 1d
            """);
        BY_KIND.put("approval", """
            - id: %s
              approval:
                to: role:ops
                title: May the run continue?
                timeout: 1d
                on_timeout: reject
            """);
        BY_KIND.put("user_profile", """
            - id: %s
              user_profile:
                find_or_create: ${ input.email }
            """);
        BY_KIND.put("subscription", """
            - id: %s
              subscription:
                profile: ${ input.email }
                topic: lead.welcome
                subscribed: false
            """);
        BY_KIND.put("cohort", """
            - id: %s
              cohort:
                profile: ${ input.email }
                name: vip
                member: true
            """);
        BY_KIND.put("template_search", """
            - id: %s
              template_search:
                prefix: welcome
            """);
        BY_KIND.put("workflow", """
            - id: %s
              workflow: other_workflow
              key: ${ key("%s", input.id) }
            """);
        BY_KIND.put("choose", """
            - id: %s
              choose:
                - when: ${ input.id != "" }
                  steps:
                    - id: %s_yes
                      set:
                        ok: true
                - else: true
                  steps:
                    - id: %s_no
                      set:
                        ok: false
            """);
        BY_KIND.put("for_each", """
            - id: %s
              for_each: ${ input.lines }
              as: line
              item_key: ${ line.id }
              steps:
                - id: %s_one
                  set:
                    ok: true
            """);
        BY_KIND.put("parallel", """
            - id: %s
              parallel:
                one:
                  - id: %s_one
                    set:
                      ok: true
                two:
                  - id: %s_two
                    set:
                      ok: true
            """);
    }

    private NewStepYamlSnippets() {}

    /** The kinds that users can add, those with effects first. */
    public static List<String> kinds() {
        return List.copyOf(BY_KIND.keySet());
    }

    static String snippet(String kind, String id) {
        if (!id.matches("[a-z][a-z0-9_]{0,59}")) {
            throw WorkflowDraftEdit.invalid(
                    "a step id must begin with a lower-case letter, followed by up to 59 lower-case letters, digits or"
                            + " _");
        }
        if (!BY_KIND.containsKey(kind)) {
            throw WorkflowDraftEdit.invalid("the kind must be one of " + String.join(", ", kinds()));
        }
        return Objects.requireNonNull(BY_KIND.get(kind)).replace("%s", id);
    }
}
