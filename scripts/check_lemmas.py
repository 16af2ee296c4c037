#!/usr/bin/env python3
"""The lemmas of `proofs/`: Coq proves each without an axiom (those about doubles: on the axioms of real numbers), false variants fail, and
documents and code agree with them.

`check_lemmas.py names` runs without Coq: every lemma that a document links exists, and the numbers that the lemmas are stated for are those
of the code. Without an argument everything is compiled from scratch as well.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROOFS = ROOT / "proofs"
# The CPU time, in seconds, after which Coq has gone astray: some twenty times what the slowest file takes. Not time by the clock, which
# says nothing where other programs have the cores.
PATIENCE = 600
PACKAGES = "coq libcoq-mathcomp-algebra libcoq-coqprime libcoq-flocq"
STATEMENT = re.compile(r"^(?:Lemma|Theorem|Corollary)\s+(\w+)", re.MULTILINE)
COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
# What leaves something unproved. The last check of each lemma would find most of it, and this names the place.
UNPROVED = re.compile(r"\b(Admitted|admit|Abort|Axioms?|Parameters?|Conjecture|bypass_check|Unset Guard Checking)\b")
LINK = re.compile(r"\[`(\w+)`\]\((?:\.\./)*proofs/(\w+)\.v\)")
CLOSED = "Closed under the global context"
# The axioms of Coq's real numbers, and the files whose lemmas rest on them, and on no others.
REALS = {
    "Classical_Prop.classic",
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}
OF_REALS = {"Doubles"}
# An axiom in Coq's list: its name begins a line, and its type follows, on the same line or on the next ones.
AXIOM = re.compile(r"^([\w.]+)(?=\s+:)", re.MULTILINE)

FMA = "crates/quorate-curve/src/backend/fma"
# The numbers of the code: the file, a pattern with one number or several, and what the lemmas are stated for.
NUMBERS = [
    ("crates/quorate-curve/src/backend/lanes/weighted_sum.rs", r"const SIGNS: usize = (\d+);", [29]),
    ("crates/quorate-curve/src/backend/lanes/subgroup.rs", r"Further::Digits\(\[(\d+), (\d+)\]\)", [6, 11]),
    ("crates/quorate-curve/src/bn254/lanes.rs", r"Further::Digits\(\[(\d+), (\d+)\]\)", [0, 0, 0, 0]),
    ("crates/quorate-curve/src/backend/lanes/members.rs", r"const TRITS: usize = (\d+);", [84]),
    ("crates/quorate-curve/src/backend/lanes/members.rs", r"const OF_WORD: usize = (\d+);", [21]),
    ("crates/quorate-threshold/src/one_round/parameters.rs", r"const ROWS: usize = (\d+);", [128]),
    ("crates/quorate/src/bdn/kyber.rs", r"const MOST_MEMBERS: usize = (\d+);", [64]),
    (f"{FMA}/word.rs", r"const DOWN: f64 = (\d+)\.0 / UP;", [1]),
    (f"{FMA}/word.rs", r"const UP: f64 = \(1_u64 << (\d+)\) as f64;", [48]),
    (f"{FMA}/word.rs", r"const MIDDLE: f64 = 1\.5 \* \(1_u128 << (\d+)\) as f64;", [100]),
    (f"{FMA}/word.rs", r"const MIDDLE_OF_INTEGERS: f64 = 1\.5 \* \(1_u64 << (\d+)\) as f64;", [52]),
    (f"{FMA}/x86.rs", r"const TWO_TO_52: i64 = 0x(\d+) << (\d+);", [433, 52]),
    # What the prover of kernels checks at each step is what the lemmas need: `Z.abs … < 2 ^ bits`.
    (f"{FMA}/proofs.rs", r"within\(n, (\d+), \"a number has at most 53 bits\"\)", [53]),
    (f"{FMA}/proofs.rs", r"within\(high, (\d+), \"a sum stays in its binade\"\)", [99]),
    (f"{FMA}/proofs.rs", r"within\(\S+, (\d+), \"a quotient has at most 51 bits\"\)", [51]),
    (f"{FMA}/proofs.rs", r"within\(self, (\d+), \"a number that is cut has at most 98 bits\"\)", [98]),
    (f"{FMA}/proofs.rs", r"within\(.*, (\d+), \"a product stays in its binade\"\)", [99]),
    (f"{FMA}/proofs.rs", r"within\(sum, (\d+), \"a cleared sum has at most 53 bits above 2\^48\"\)", [100]),
]

# The operations that each step of fma/word.rs is made of, by the name of its definition in Doubles.v. Whoever changes the order of the
# operations changes the definition, too.
STEPS = {
    "nearest": ["middle.add_mul_rounded(self, self.set(factor))", "rounded.sub(middle)"],
    "carry": ["self.nearest(DOWN)"],
    "rest": ["self.minus_product(carry, self.set(UP))"],
    "plus_multiple": ["integer(self.add_mul(n, self.set(DOWN)))"],
    "digit": ["middle.add_mul_rounded(self, factor)", "middle.sub(high).add_mul(self, factor)"],
    "cleared": ["multiple = self.add_mul(a, b)"],
    "add_product_high": ["in_binade(sum.high.0.add_mul_rounded(a, b))"],
    "add_product_low": ["sum.high.0.sub(high).add_mul(a, b)", "integer(sum.low.add(low))"],
    "subtract_product_high": ["in_binade(sum.high.0.sub_mul_rounded(a, b))"],
    "subtract_product_low": ["sum.high.0.sub(high).sub_mul(a, b)", "integer(sum.low.add(low))"],
    "plus_high": ["self.set(-MIDDLE_OF_INTEGERS).add_mul(n.0, self.set(DOWN))", "integer(self.add(carry))"],
}


def keys_miss(cofactor: str, order: str, bits: int) -> str:
    """The bound of a lemma on the keys of a set, as `proofs/Curves.v` has it for each group."""
    return (
        f"zmul ({cofactor} * {order}) v = 0) -> ~~ is_member {order} (p k) ->\n"
        f"  (#|passes {order} (@of_words 4 (2 ^ 64) 21)| * 2 ^ {bits} <="
    )


# Variants of the lemmas that are false, or lack a hypothesis: the file, what stands there once, and what stands there in the variant.
VARIANTS = [
    ("Digits", "(1, 2); (-2, -1)", "(1, 2); (-2, -2)"),
    ("Batch", "Hypothesis r_prime : Znumtheory.prime r.", "Hypothesis r_prime : (1 < r)%Z."),
    ("Batch", "size (false_sets s) * #|W|", "(size (false_sets s)).-1 * #|W|"),
    ("Membership", "at_most_equal 2.", "at_most_equal 1."),
    ("Membership", "count (Q k) (iota 0 16) <= 7", "count (Q k) (iota 0 16) <= 6"),
    ("Membership", "Hypothesis h_odd : Z.gcd 2 h = 1%Z.", "Hypothesis h_odd : Z.gcd 3 h = 1%Z."),
    ("Curves", "(2 ^ 66 * (2 ^ 64).-1)", "(2 ^ 66 * 2 ^ 64)"),
    ("Curves", "at_most_equal omega bls_h1 7", "at_most_equal omega bls_h1 6"),
    ("Curves", keys_miss("bls_h1", "bls_r", 133), keys_miss("bls_h1", "bls_r", 134)),
    ("Curves", keys_miss("bls_h2", "bls_r", 133), keys_miss("bls_h2", "bls_r", 134)),
    ("Curves", keys_miss("bn_h2", "bn_r", 133), keys_miss("bn_h2", "bn_r", 134)),
    ("Words", "<= (M %/ b ^ n).+1.", "<= M %/ b ^ n."),
    ("Rows", "(2 ^ rows * #|", "(3 ^ rows * #|"),
    ("Lagrange", "Hypothesis x_inj : injective x.", "Hypothesis x_inj : n = n."),
    ("Search", "<= 2 * #|claims t|) /\\", "<= 2 * #|claims t| - 1) /\\"),
    ("Bdn", "bits == w]| <= 2)%N", "bits == w]| <= 1)%N"),
    ("Doubles", "Z.abs (m + n) < 2 ^ 53", "Z.abs (m + n) < 2 ^ 54"),
    ("Doubles", "Z.abs (m - n) < 2 ^ 53", "Z.abs (m - n) < 2 ^ 54"),
    ("Doubles", "Z.abs (l - m * n) < 2 ^ 53", "Z.abs (l - m * n) < 2 ^ 54"),
    ("Doubles", "Z.abs q < 2 ^ 51)", "Z.abs q < 2 ^ 52)"),
    ("Doubles", "holds x n -> Z.abs n < 2 ^ 98", "holds x n -> Z.abs n < 2 ^ 100"),
    ("Doubles", "Z.abs (l + m * n) < 2 ^ 100", "Z.abs (l + m * n) < 2 ^ 102"),
    ("Doubles", "holds factor n -> Z.abs (m * n) < 2 ^ 99", "holds factor n -> Z.abs (m * n) < 2 ^ 100"),
    ("Doubles", "is_nearest (m * n) k -> Z.abs (h + 2 ^ 48 * k) < 2 ^ 99", "is_nearest (m * n) k -> Z.abs (h + 2 ^ 48 * k) < 2 ^ 100"),
    ("Doubles", "Z.abs (n - 2 ^ 48 * k) <= 2 ^ 47.", "Z.abs (n - 2 ^ 48 * k) < 2 ^ 47."),
    ("Doubles", "(0x463 * 2 ^ 52 + 2 ^ 51)", "(0x463 * 2 ^ 52)"),
    ("Doubles", "(0x433 * 2 ^ 52 + 2 ^ 51)", "(0x433 * 2 ^ 52)"),
    ("Doubles", "(0x3cf * 2 ^ 52)", "(0x3ce * 2 ^ 52)"),
    ("Doubles", "b64_fma mode_NE (b64_opp a) b c", "b64_fma mode_DN (b64_opp a) b c"),
    ("Doubles", "(n : Z) : 0 <= n < 2 ^ 52 -> holds", "(n : Z) : 0 <= n < 2 ^ 53 -> holds"),
]


def statements(text: str) -> list[str]:
    return STATEMENT.findall(COMMENT.sub("", text))


def digits_differ() -> list[str]:
    """Whether the digits of weights are those of the code, by nibble. ω·(a + bω) = -b + (a - b)ω."""
    code = (ROOT / "crates/quorate-curve/src/weight.rs").read_text()
    values = []
    for kind, turn, negative in re.findall(r"digit\(Kind::(\w+), (\d), (true|false)\)", code):
        a, b = {"Zero": (0, 0), "One": (1, 0), "Two": (2, 0), "Theta": (1, -1)}[kind]
        for _ in range(int(turn)):
            a, b = -b, a - b
        values.append((-a, -b) if negative == "true" else (a, b))
    listed = re.search(r"Definition digits .*?\[::(.*?)\]%Z", (PROOFS / "Digits.v").read_text(), re.DOTALL)
    proved = [(int(a), int(b)) for a, b in re.findall(r"\((-?\d+), (-?\d+)\)", listed[1])] if listed else []
    same = len(values) == 16 and values == proved
    return [] if same else [f"proofs/Digits.v: `digits` is {proved}, and crates/quorate-curve/src/weight.rs has {values}"]


def steps_differ() -> list[str]:
    """Whether the steps on doubles are made of the operations that their definitions have."""
    code, definitions = (ROOT / f"{FMA}/word.rs").read_text(), (PROOFS / "Doubles.v").read_text()
    code = code[code.index("impl<F: Fused> Word for F"):]
    wrong = [f"{FMA}/word.rs has no `{operation}`: proofs/Doubles.v defines `{name}` by it"
             for name, operations in STEPS.items() for operation in operations if operation not in code]
    return wrong + [f"proofs/Doubles.v does not define `{name}`" for name in STEPS if f"Definition {name} " not in definitions]


def names() -> list[str]:
    """What is wrong with the names in documents and the numbers in the code."""
    wrong, links = [], 0
    known = {path.stem: set(statements(path.read_text())) for path in PROOFS.glob("*.v")}
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]):
        for lemma, file in LINK.findall(path.read_text()):
            links += 1
            if lemma not in known.get(file, ()):
                wrong.append(f"{path.relative_to(ROOT)}: proofs/{file}.v has no lemma {lemma}")
    if not links:
        wrong.append("no document links a lemma: docs/soundness.md should")
    for file, pattern, expected in NUMBERS:
        found = [int(number) for match in re.findall(pattern, (ROOT / file).read_text())
                 for number in ([match] if isinstance(match, str) else match)]
        if found != expected:
            wrong.append(f"{file}: `{pattern}` finds {found}, and the lemmas are stated for {expected}: change both")
    wrong += digits_differ() + steps_differ()
    print(f"lemmas: {links} links of documents, {sum(map(len, known.values()))} lemmas, {len(NUMBERS)} numbers of the code, {len(wrong)} wrong")
    return wrong


def missing() -> str | None:
    """What has to be installed."""
    if not shutil.which("coqc"):
        return "there is no coqc"
    libraries = subprocess.run(["coqc", "-where"], capture_output=True, check=True, text=True).stdout.strip()
    for library in ("mathcomp/algebra/poly.vo", "Coqprime/PrimalityTest/PocklingtonCertificat.vo", "Flocq/IEEE754/Bits.vo"):
        if not (pathlib.Path(libraries) / "user-contrib" / library).exists():
            return f"Coq has no {library}"
    return None


def coqc(folder: pathlib.Path, file: str) -> subprocess.CompletedProcess[str]:
    options = (PROOFS / "_CoqProject").read_text().replace("-arg ", "").split()
    limited = ["sh", "-c", f'ulimit -t {PATIENCE} && exec coqc "$@"', "coqc", *options, file]
    made = subprocess.run(limited, cwd=folder, capture_output=True, text=True)
    # The system ends what has used up its time by a signal, without a word.
    if made.returncode < 0:
        made.stderr += f"A signal ended Coq ({signal.strsignal(-made.returncode)}); it may take {PATIENCE} s of CPU time."
    return made


def compiled(folder: pathlib.Path) -> list[str]:
    """Compiles all files, each after those that it imports, and returns what is wrong."""
    for path in PROOFS.glob("*.v"):
        shutil.copy(path, folder)
        if found := UNPROVED.search(COMMENT.sub("", path.read_text())):
            return [f"proofs/{path.name}: {found[0]}: every lemma must be proved"]
    command = ["coqdep", "-Q", ".", "Quorate", "-sort", *sorted(path.name for path in folder.glob("*.v"))]
    order = subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True).stdout.split()
    if len(order) != len(list(PROOFS.glob("*.v"))):
        return [f"coqdep orders {len(order)} files: {order}"]
    for file in order:
        start, made = time.monotonic(), coqc(folder, file)
        if made.returncode:
            return [f"proofs/{pathlib.Path(file).name} does not compile:\n{made.stdout}{made.stderr}"]
        print(f"  {pathlib.Path(file).stem}: {time.monotonic() - start:.1f} s", flush=True)
    return []


def assumed(folder: pathlib.Path) -> list[str]:
    """What the lemmas depend on that is unproved. One tuple of all lemmas is searched, and one of those about doubles: theirs are the same
    libraries."""
    wrong = []
    for of_reals in (False, True):
        files = [path.stem for path in sorted(PROOFS.glob("*.v")) if (path.stem in OF_REALS) == of_reals]
        lemmas = [f"@{file}.{name}" for file in files for name in statements((PROOFS / f"{file}.v").read_text())]
        text = "".join(f"From Quorate Require {file}.\n" for file in files)
        (folder / "Assumptions.v").write_text(f"{text}Definition all := ({', '.join(lemmas)}).\nPrint Assumptions all.\n")
        made = coqc(folder, "Assumptions.v")
        first, *rest = made.stdout.splitlines() or [""]
        axioms = set(AXIOM.findall("\n".join(rest)))
        if made.returncode or (first != "Axioms:" or axioms != REALS if of_reals else first != CLOSED or rest):
            allowed = "axioms other than those of real numbers" if of_reals else "an axiom"
            wrong.append(f"a lemma rests on {allowed}, or was not found:\n{made.stdout}{made.stderr}")
        else:
            print(f"  {len(lemmas)} lemmas rest on {'the axioms of real numbers alone' if of_reals else 'no axiom'}")
    return wrong


def variants(folder: pathlib.Path) -> list[str]:
    """The false variants that compile, or of which Coq does not say that a lemma fails."""

    def why_wrong(place: int) -> str | None:
        file, found, changed = VARIANTS[place]
        text = (PROOFS / f"{file}.v").read_text()
        if (times := text.count(found)) != 1:
            return f"proofs/{file}.v has `{found}` {times} times, expected once: change VARIANTS in scripts/check_lemmas.py"
        (folder / f"Variant{place}.v").write_text(text.replace(found, changed))
        made = coqc(folder, f"Variant{place}.v")
        if made.returncode == 0:
            return f"proofs/{file}.v also compiles with `{changed}` in place of `{found}`"
        # A text that is no lemma at all, or one that takes too long, refutes nothing.
        if made.returncode != 1 or "Syntax error" in made.stderr:
            return f"proofs/{file}.v with `{changed}` in place of `{found}` is not refused for its proof:\n{made.stdout}{made.stderr}"
        return None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        wrong = [why for why in threads.map(why_wrong, range(len(VARIANTS))) if why]
    print(f"  {len(VARIANTS) - len(wrong)} of {len(VARIANTS)} false variants fail")
    return wrong


def main() -> None:
    wrong = names()
    if sys.argv[1:] != ["names"]:
        if why := missing():
            print(f"lemmas: skipped, {why} (Debian: apt-get install --no-install-recommends {PACKAGES})")
            sys.exit(bool(wrong) or os.environ.get("CI") == "true")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            wrong += compiled(folder) or assumed(folder) + variants(folder)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
