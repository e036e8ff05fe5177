package dev.semel.trigger;

/** Where a trigger came in. The codes are stored. */
public enum Door {
    HTTP(1),
    LIBRARY(2),
    CHILD(3),
    REPLAY(4),
    EVENT(5),
    HOOK(6),
    SCHEDULE(7);

    private final int code;

    Door(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    public static Door of(int code) {
        for (Door door : values()) {
            if (door.code == code) {
                return door;
            }
        }
        throw new IllegalArgumentException("no door has the code " + code);
    }
}
