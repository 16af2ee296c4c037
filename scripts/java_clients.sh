#!/usr/bin/env bash
# Runs the BLS tests of a client written in Java with its own library and with the jar, and measures both in one process.
#
# usage: scripts/java_clients.sh teku GIT_REPOSITORY
#
# The repository is a clone of Consensys/teku that holds the commit below; a bare one suffices. Its build is not run: javac compiles the
# module `infrastructure/bls` and its tests, with the versions of libraries that the client names, which Maven fetches. SCRATCH names the
# folder to work in, else a temporary one is made and removed. ROUNDS is how often everything is measured (7).
#
# Needs a JDK of version 21 or later (JAVA_HOME, or else the one in PATH), as a library of the client does, Maven, taskset, and the jar of
# `make java`. Only a quiet machine measures well.
set -euo pipefail

teku=90ed09bbc623b616a6c642deca8119db8902b3b2

# shellcheck source=scripts/clients/common.sh
. "$(dirname "$0")/clients/common.sh"
rounds=${ROUNDS:-7}
tools=${JAVA_HOME:+$JAVA_HOME/bin/}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
jar=$root/bindings/java/target/quorate-$version.jar
[[ -f $jar ]] || { echo "There is no $jar: run \`make java\`" >&2; exit 1; }

# The libraries that the module and its tests name, with the versions of gradle/versions.gradle.
fetch_libraries() {
	local library
	{
		echo '<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies>'
		for library in io.consensys.tuweni:tuweni-{bytes,ssz}:2.7.2 tech.pegasys:jblst:0.3.17 com.google.guava:guava:33.6.0-jre \
			org.bouncycastle:bcprov-jdk18on:1.85.2 org.apache.logging.log4j:log4j-core:2.26.1 org.assertj:assertj-core:3.27.7 \
			org.junit.jupiter:junit-jupiter:5.14.4 org.junit.platform:junit-platform-console:1.14.4; do
			IFS=: read -r group artifact number <<< "$library"
			echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$number</version></dependency>"
		done
		echo '</dependencies></project>'
	} > pom.xml
	mvn -q -B dependency:copy-dependencies -DoutputDirectory=libraries
}

# Without its program for timing, which sets up Teku's logging.
compile() { # folder
	find "$1/infrastructure" -name '*.java' ! -name BLSPerformanceRunner.java > "$1/sources"
	"${tools}javac" -nowarn -proc:none -d "$1/classes" -cp "libraries/*:$jar" @"$1/sources" 2> "$1/compiled" ||
		{ cat "$1/compiled" >&2; exit 1; }
	cp -r "$1/infrastructure/bls/src/test/resources/." "$1/classes/"
}

run_tests() { # folder, title
	local log=$1/tests status=0
	"${tools}java" -cp "$1/classes:libraries/*:$jar" org.junit.platform.console.ConsoleLauncher execute --scan-classpath "$1/classes" \
		--disable-banner --disable-ansi-colors --details=summary > "$log" 2>&1 || status=$?
	count() { sed -nE "s/^\[ *([0-9]+) tests $1.*/\1/p" "$log"; }
	echo "$2: $(count successful) pass, $(count failed) fail, $(count skipped) skipped"
	if [[ $status != 0 || $(count successful) = 0 ]]; then
		head -60 "$log" >&2
		exit 1
	fi
}

run_teku() {
	local provider=infrastructure/bls/src/main/java/tech/pegasys/teku/bls/impl
	echo "Teku $teku: infrastructure/bls, $("${tools}java" -version 2>&1 | head -n 1)"
	fetch_libraries
	extract "$teku" blst infrastructure/bls infrastructure/crypto/src/main
	compile blst
	run_tests blst "with blst"

	extract "$teku" quorate infrastructure/bls infrastructure/crypto/src/main
	mv "quorate/$provider/blst" "quorate/$provider/original"
	sed -i 's/\(teku\.bls\.impl\)\.blst/\1.original/' "quorate/$provider"/original/*.java
	mkdir "quorate/$provider/blst"
	cp "$root/scripts/clients/teku_adapter.java" "quorate/$provider/blst/BlstLoader.java"
	cp "$root/scripts/clients/teku_compare.java" quorate/infrastructure/bls/src/main/java/tech/pegasys/teku/bls/Compare.java
	compile quorate
	run_tests quorate "with quorate by an adapter ($(grep -c . "$root/scripts/clients/teku_adapter.java") lines)"

	compare() { # command before it, threads
		$1 "${tools}java" -Dthreads="$2" -cp "quorate/classes:libraries/*:$jar" tech.pegasys.teku.bls.Compare "$rounds" 2> /dev/null
	}
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
	echo "one core:"
	compare "taskset -c 0" 1
	echo "all cores for both:"
	compare "" "$(nproc)"
	echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
}

case $what in
teku) run_teku ;;
*) usage ;;
esac
