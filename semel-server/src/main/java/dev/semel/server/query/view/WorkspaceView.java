package dev.semel.server.query.view;

public record WorkspaceView(
        String workspace,
        @Described("Whether it is the caller's workspace.") boolean current) {}
