package io.quorate;

import static io.quorate.Testing.bytes;
import static io.quorate.Testing.claim;
import static io.quorate.Testing.throwsArgument;
import static io.quorate.Testing.throwsNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(900)
class BatcherTest {
    private static final Claim TRUE = claim(Suite.ETH2, 1);

    @Test
    void aThousandClaimsAreAnsweredOnceEach() throws Exception {
        List<Claim> claims = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            claims.add(claim(Suite.ETH2, i, i % 100 == 42 ? i + 1 : i));
        }
        claims.set(500, Claim.single(Suite.ETH2, bytes("abc"), bytes("m"), bytes("s")));
        // All of them wait at once, also where a machine is slow.
        try (Batcher batcher = Batcher.builder().queue(Duration.ofSeconds(60)).build()) {
            List<CompletableFuture<Verdict>> answers = claims.stream().map(batcher::submit).toList();
            for (int i = 0; i < 1000; i++) {
                Verdict.Code expected = i == 500 ? Verdict.Code.ENCODING : i % 100 == 42 ? Verdict.Code.MISMATCH : Verdict.Code.VALID;
                assertEquals(expected, answers.get(i).get().code(), "claim " + i);
            }
        }
    }

    @Test
    void allUrgenciesAreTaken() throws Exception {
        try (Batcher batcher = Batcher.builder().threads(1).soundness(128).backend("portable").linger(Duration.ofMillis(1)).build()) {
            for (Urgency urgency : Urgency.values()) {
                assertTrue(batcher.submit(TRUE, urgency, Duration.ofMinutes(1)).get().valid());
                assertTrue(batcher.submit(TRUE.withSource("peer"), urgency).get().valid());
            }
            // Longer than any machine runs.
            assertTrue(batcher.submit(TRUE, Urgency.DUTY, Duration.ofSeconds(Long.MAX_VALUE)).get().valid());
        }
    }

    @Test
    void aRefusalSaysNothingAboutTheClaim() throws Exception {
        try (Batcher batcher = Batcher.builder().threads(1).queueBytes(1).build()) {
            Verdict refused = batcher.submit(TRUE).get();
            assertEquals(Verdict.Code.OVERLOADED, refused.code());
            assertFalse(refused.valid());
            assertFalse(refused.decided());
            assertTrue(refused.toString().startsWith("not decided: "), refused.toString());
        }
        try (Batcher batcher = Batcher.builder().threads(1).build()) {
            // A microsecond has passed before a thread takes the claim up.
            Verdict late = batcher.submit(TRUE, Urgency.GOSSIP, Duration.ofNanos(1)).get();
            assertEquals(Verdict.Code.DEADLINE_PASSED, late.code());
            batcher.stop(Duration.ofSeconds(1));
            Verdict stopped = batcher.submit(TRUE).get();
            assertEquals(Verdict.Code.STOPPED, stopped.code());
            assertFalse(stopped.decided());
        }
    }

    @Test
    void closingAnswersEverything() throws Exception {
        Batcher batcher = Batcher.builder().threads(1).build();
        List<CompletableFuture<Verdict>> answers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            answers.add(batcher.submit(claim(Suite.ETH2, i)));
        }
        batcher.close();
        batcher.close();
        for (CompletableFuture<Verdict> answer : answers) {
            Verdict.Code code = answer.get(300, TimeUnit.SECONDS).code();
            assertTrue(code == Verdict.Code.VALID || code == Verdict.Code.STOPPED, code.toString());
        }
        assertThrows(IllegalStateException.class, () -> batcher.submit(TRUE));
        assertThrows(IllegalStateException.class, () -> batcher.stop(Duration.ZERO));
    }

    @Test
    void closingDuringSubmissionsLeavesNoFutureOpen() throws Exception {
        for (int round = 0; round < 10; round++) {
            Batcher batcher = Batcher.create();
            ConcurrentLinkedQueue<CompletableFuture<Verdict>> answers = new ConcurrentLinkedQueue<>();
            ExecutorService threads = Executors.newFixedThreadPool(4);
            for (int i = 0; i < 4; i++) {
                threads.execute(() -> {
                    try {
                        while (true) {
                            answers.add(batcher.submit(TRUE));
                        }
                    } catch (IllegalStateException closed) {
                        // The end that this test waits for.
                    }
                });
            }
            while (answers.size() < 20) {
                Thread.onSpinWait();
            }
            batcher.close();
            threads.shutdown();
            assertTrue(threads.awaitTermination(300, TimeUnit.SECONDS));
            for (CompletableFuture<Verdict> answer : answers) {
                answer.get(300, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void futuresAreCompletedOnTheCallersExecutor() throws Exception {
        ExecutorService own = Executors.newSingleThreadExecutor(task -> new Thread(task, "own"));
        try (Batcher batcher = Batcher.builder().executor(own).build()) {
            assertEquals("own", threadOf(batcher));
            own.shutdown();
            // An executor that takes nothing keeps no answer back.
            assertTrue(threadOf(batcher).startsWith("quorate-answers-"));
        }
        try (Batcher batcher = Batcher.create()) {
            assertFalse(threadOf(batcher).startsWith("quorate"));
        }
    }

    private static String threadOf(Batcher batcher) throws Exception {
        List<String> names = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<Verdict> answer = batcher.submit(TRUE);
        answer.thenRun(() -> names.add(Thread.currentThread().getName())).get();
        // If the answer came before the step was attached, the step ran here: then it is asked again.
        return names.get(0).equals(Thread.currentThread().getName()) ? threadOf(batcher) : names.get(0);
    }

    @Test
    void aStepMayCloseItsBatcherAndThrow() throws Exception {
        Batcher batcher = Batcher.builder().executor(Runnable::run).build();
        CompletableFuture<Void> closed = batcher.submit(TRUE).thenRun(batcher::close);
        closed.get(300, TimeUnit.SECONDS);
        assertThrows(IllegalStateException.class, () -> batcher.submit(TRUE));
        try (Batcher other = Batcher.builder().executor(task -> {
            task.run();
            throw new IllegalStateException("an executor that fails");
        }).build()) {
            for (int i = 0; i < 3; i++) {
                assertTrue(other.submit(TRUE).get(300, TimeUnit.SECONDS).valid());
            }
        }
    }

    @Test
    void anErrorOfTheExecutorKeepsNoAnswerBack() throws Exception {
        try (Batcher batcher = Batcher.builder().threads(1).executor(task -> {
            throw new OutOfMemoryError("no thread can be started");
        }).build()) {
            for (int i = 0; i < 3; i++) {
                assertTrue(batcher.submit(TRUE).get(300, TimeUnit.SECONDS).valid());
            }
        }
    }

    /** A program may set the parallelism of the common pool to 0, and then the pool runs nothing that is handed to it. */
    @Test
    void answersComeWithoutACommonPool() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String property = "-Djava.util.concurrent.ForkJoinPool.common.parallelism=0";
        List<String> command = List.of(java, property, "-cp", System.getProperty("java.class.path"), WithoutPool.class.getName());
        Process program = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed = new String(program.getInputStream().readAllBytes());
        program.waitFor();
        assertTrue(printed.contains("answered valid"), printed);
    }

    /** A program that waits for one answer. */
    static final class WithoutPool {
        public static void main(String[] arguments) throws Exception {
            try (Batcher batcher = Batcher.create()) {
                System.out.println("answered " + batcher.submit(TRUE).get(300, TimeUnit.SECONDS));
            }
        }
    }

    @Test
    void wrongArgumentsAreNamed() {
        throwsArgument("threads", () -> Batcher.builder().threads(-1));
        throwsArgument("threads", () -> Batcher.builder().threads(1025));
        throwsArgument("soundness", () -> Batcher.builder().soundness(0));
        throwsArgument("linger", () -> Batcher.builder().linger(Duration.ZERO));
        throwsArgument("target", () -> Batcher.builder().target(Duration.ofSeconds(-1)));
        throwsArgument("queueBytes", () -> Batcher.builder().queueBytes(0));
        throwsNull("queue", () -> Batcher.builder().queue(null));
        throwsNull("executor", () -> Batcher.builder().executor(null));
        try (Batcher batcher = Batcher.create()) {
            throwsNull("claim", () -> batcher.submit(null));
            throwsNull("urgency", () -> batcher.submit(TRUE, null));
            throwsNull("deadline", () -> batcher.submit(TRUE, Urgency.BLOCK, null));
            throwsArgument("deadline", () -> batcher.submit(TRUE, Urgency.BLOCK, Duration.ZERO));
            throwsNull("within", () -> batcher.stop(null));
            throwsArgument("within", () -> batcher.stop(Duration.ofNanos(-1)));
        }
    }
}
