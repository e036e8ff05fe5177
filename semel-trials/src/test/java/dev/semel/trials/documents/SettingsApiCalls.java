package dev.semel.trials.documents;

/** Every route to settings, asked as the description says. */
final class SettingsApiCalls {
    private SettingsApiCalls() {}

    static void ask(OpenApiClient client) throws Exception {
        client.without();
        secrets(client);
        documents(client);
        people(client);
    }

    private static void secrets(OpenApiClient client) throws Exception {
        client.ask(200, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter22\"}");
        client.with("Idempotency-Key", "secret_1").ask(200, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter23\"}");
        client.ask(200, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter23\"}");
        client.ask(422, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter24\"}");
        client.without().with("If-Match", "\"9\"").ask(412, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter25\"}");
        client.without().ask(400, "PUT", "/v1/secrets/{name}", "{\"value\":1}");
        client.ask(200, "GET", "/v1/secrets", "");
        client.ask(200, "GET", "/v1/secrets/{name}", "");
        client.ask(200, "DELETE", "/v1/secrets/{name}", "");
        client.ask(404, "GET", "/v1/secrets/{name}", "");
    }

    private static void documents(OpenApiClient client) throws Exception {
        document(client, "/v1/templates", "{name}", "{\"channel\":\"sms\",\"text\":\"Hello {{ name }}\"}");
        client.ask(200, "GET", "/v1/templates/{name}/versions", "");
        client.ask(200, "GET", "/v1/templates/{name}/versions/{version}", "");
        document(client, "/v1/channels", "{name}", "{\"kind\":\"chat\",\"url_secret\":\"room\"}");
        document(
                client,
                "/v1/routes",
                "{notification}",
                "{\"notification\":\"lead.welcome\",\"channels\":[{\"channel\":\"one\",\"template\":\"one\"}]}");
        document(
                client,
                "/v1/alerts",
                "{name}",
                "{\"metric\":\"conflict_rate\",\"above\":0.1,\"channel\":\"room\",\"to\":\"ops\"}");
        client.ask(200, "GET", "/v1/alerts/{name}/state", "");
        document(client, "/v1/views", "{name}", "{\"filter\":\"status:failed since:24h\"}");
        document(client, "/v1/cohorts", "{name}", "{\"description\":\"Those who pay\"}");
    }

    private static void document(OpenApiClient client, String path, String name, String body) throws Exception {
        String one = path + "/" + name;
        String another = body.replace("Hello", "Hi")
                .replace("room", "hall")
                .replace("template\":\"one", "template\":\"two")
                .replace("pay", "paid")
                .replace("24h", "1h");
        client.ask(200, "PUT", one, body);
        client.with("If-None-Match", "*").ask(412, "PUT", one, another);
        client.without().ask(400, "PUT", one, "[]");
        client.ask(200, "GET", one, "");
        client.ask(200, "GET", path + "?limit=1", "");
        client.ask(200, "DELETE", one, "");
        client.ask(404, "GET", one, "");
        client.ask(200, "PUT", one, body);
    }

    private static void people(OpenApiClient client) throws Exception {
        String profile = "{\"email\":\"Anna@Example.com\",\"phone\":\"+4930123456\",\"attributes\":{\"plan\":\"pro\"}}";
        client.ask(200, "PUT", "/v1/profiles/{profile}", profile);
        client.ask(200, "PUT", "/v1/profiles/{profile}/subscriptions/{topic}", "{\"subscribed\":false}");
        client.ask(400, "PUT", "/v1/profiles/{profile}/subscriptions/{topic}", "{}");
        client.ask(200, "PUT", "/v1/cohorts/{name}/members/{profile}", "{}");
        client.ask(200, "GET", "/v1/cohorts/{name}/members", "");
        client.ask(200, "GET", "/v1/profiles?email=anna%40example.com", "");
        client.ask(200, "GET", "/v1/profiles/{profile}", "");
        client.ask(200, "POST", "/v1/profiles/{profile}/reveal", "{\"reason\":\"a test\"}");
        client.ask(400, "POST", "/v1/profiles/{profile}/reveal", "{}");
        client.ask(200, "DELETE", "/v1/cohorts/{name}/members/{profile}", "");
        client.ask(200, "DELETE", "/v1/profiles/{profile}", "");
        client.ask(404, "GET", "/v1/profiles/{profile}", "");
    }
}
