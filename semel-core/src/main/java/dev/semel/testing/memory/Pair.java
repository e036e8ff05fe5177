package dev.semel.testing.memory;

/** A key of two parts, ordered by the first and then by the second. */
record Pair<A extends Comparable<A>, B extends Comparable<B>>(A first, B second) implements Comparable<Pair<A, B>> {
    @Override
    public int compareTo(Pair<A, B> other) {
        int byFirst = first.compareTo(other.first);
        return byFirst != 0 ? byFirst : second.compareTo(other.second);
    }
}
