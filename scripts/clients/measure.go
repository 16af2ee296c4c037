// Package measure times calls of a client beside calls of the Go module, in one process. The script copies it into the client.
package measure

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Rounds is how often everything is measured.
func Rounds() int {
	rounds, err := strconv.Atoi(os.Getenv("ROUNDS"))
	if err != nil || rounds < 1 {
		panic("ROUNDS must be a number from 1 on")
	}
	return rounds
}

// Head prints the head of a table whose rows Row prints.
func Head(columns ...string) {
	fmt.Printf("GOMAXPROCS=%d, %d cores, %d rounds, %s; ms, median (least)\n", runtime.GOMAXPROCS(0), runtime.NumCPU(), Rounds(), runtime.Version())
	line := "|--|"
	fmt.Print("| ")
	for _, column := range columns {
		fmt.Printf("| %s ", column)
		line += "--:|"
	}
	fmt.Printf("|\n%s\n", line)
}

// Row prints what the calls take that prepare makes for each round, in the order of the columns. They run in turn, and each is the first
// one in some round. A round before the first shows the keys to those that keep them.
//
// With one thread it is the CPU time of the process, so that other work on the machine counts little; with more, the time that passes.
func Row(name string, prepare func(round int) []func()) {
	now := passed
	if runtime.GOMAXPROCS(0) == 1 {
		now = spent
	}
	var times [][]time.Duration
	for round := range Rounds() + 1 {
		calls := prepare(round)
		if times == nil {
			times = make([][]time.Duration, len(calls))
		}
		for turn := range calls {
			call := (round + turn) % len(calls)
			// What the preparation left is not collected on the account of a call.
			runtime.GC()
			start := now()
			calls[call]()
			if took := now() - start; round > 0 {
				times[call] = append(times[call], took)
			}
		}
	}
	fmt.Printf("| %s ", name)
	for _, all := range times {
		slices.SortFunc(all, cmp.Compare)
		fmt.Printf("| %.2f (%.2f) ", all[len(all)/2].Seconds()*1e3, all[0].Seconds()*1e3)
	}
	fmt.Println("|")
}

var start = time.Now()

// The time that passes.
func passed() time.Duration { return time.Since(start) }

// The CPU time of all threads of the process.
func spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
