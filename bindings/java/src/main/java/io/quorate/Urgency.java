package io.quorate;

/** How urgent a claim is, for a {@link Batcher}. */
public enum Urgency {
    /** A block: at once, on all threads. */
    BLOCK,
    /** What a node needs for its own duties. */
    DUTY,
    /** Everything else, which an overloaded batcher refuses first. */
    GOSSIP
}
