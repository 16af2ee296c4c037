// gnark-crypto as a program that `quorate-bench peers` asks, one JSON object a line. src/peers/program.rs has the protocol.
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
)

type load struct {
	Job, Suite, Tag                     string
	Keys, Messages, Signatures, Scalars []bytes
	// Of each message the places of its keys.
	Sets [][]int
}

type bytes []byte

func (b *bytes) UnmarshalJSON(text []byte) error {
	var digits string
	if err := json.Unmarshal(text, &digits); err != nil {
		return err
	}
	var err error
	*b, err = hex.DecodeString(digits)
	return err
}

// What a task finds: a bool, or a function that encodes a point, which is not timed.
type task struct {
	note string
	work func() any
}

func main() {
	// One thread computes; the collector's work counts, because it is the process's.
	runtime.GOMAXPROCS(1)
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "gnark-crypto:", err)
		os.Exit(1)
	}
}

func serve() error {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	answers := json.NewEncoder(os.Stdout)
	var loaded *task
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		var request struct {
			Load *load
			Run  *struct{}
		}
		if err := json.Unmarshal(line, &request); err != nil {
			return err
		}
		var answer any
		switch {
		case request.Load != nil:
			if made, why := request.Load.task(); why != nil {
				answer = map[string]string{"cannot": why.Error()}
			} else {
				loaded, answer = made, map[string]string{"ready": made.note}
			}
		case request.Run != nil && loaded != nil:
			// After a wait, Go's scheduler is polled by a thread of its own every 20 µs, less often while a program computes. That is
			// a fifth of the CPU time, and no part of the task: a program that verifies all the time does not have it.
			for ready := time.Now(); time.Since(ready) < 30*time.Millisecond; {
			}
			cpu, start := cpuTime(), time.Now()
			found := loaded.work()
			wall, cpu := time.Since(start), cpuTime()-cpu
			if encode, isPoint := found.(func() []byte); isPoint {
				found = hex.EncodeToString(encode())
			}
			answer = map[string]any{"answer": found, "wall_ns": wall.Nanoseconds(), "cpu_ns": cpu.Nanoseconds()}
		default:
			return errors.New("this is not a request, or nothing is loaded")
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}

// The CPU time that this process has taken, on all its threads.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func (l *load) task() (*task, error) {
	if l.Suite == "bn254" {
		if l.Job != "verify" {
			return nil, errors.New("not asked on BN254")
		}
		return l.bn254()
	}
	if l.Suite == "min-sig" {
		if l.Job != "verify" {
			return nil, errors.New("not asked with keys in G2")
		}
		return l.minSig()
	}
	_, _, generator, _ := bls.Generators()
	var minus bls.G1Affine
	minus.Neg(&generator)
	if l.Job == "from-bytes" {
		// Its decoder checks the subgroup.
		return &task{"decoded with the checks of subgroups, then verified as without", func() any {
			keys, signatures, err := l.points()
			return err == nil && noIdentity(keys) && l.batch(keys, signatures, minus)
		}}, nil
	}
	keys, signatures, err := l.points()
	if err != nil {
		return nil, err
	}
	switch l.Job {
	case "verify":
		note := "PairingCheck"
		if len(keys) > 1 {
			note = "PairingCheck of a product with weights of 64 bits, by its verbs"
		}
		return &task{note, func() any { return areMembers(signatures) && l.batch(keys, signatures, minus) }}, nil
	case "same-message":
		return &task{"MultiExp of keys and signatures with weights of 64 bits, then PairingCheck", func() any {
			weights, _ := weights(len(keys))
			var key bls.G1Affine
			if _, err := key.MultiExp(keys, weights, ecc.MultiExpConfig{NbTasks: 1}); err != nil {
				panic(err)
			}
			total := weighted(signatures, weights)
			return areMembers(signatures) && check([]bls.G1Affine{key, minus}, []bls.G2Affine{l.hash(0), total})
		}}, nil
	case "sets":
		sets := make([][]bls.G1Affine, len(l.Sets))
		for i, set := range l.Sets {
			for _, place := range set {
				sets[i] = append(sets[i], keys[place])
			}
		}
		note := "the keys of each set summed, then PairingCheck of a product with weights of 64 bits, by its verbs"
		return &task{note, func() any {
			sums := make([]bls.G1Jac, len(sets))
			for i, set := range sets {
				for j := range set {
					sums[i].AddMixed(&set[j])
				}
			}
			return areMembers(signatures) && l.batch(bls.BatchJacobianToAffineG1(sums), signatures, minus)
		}}, nil
	case "block":
		p := append(keys, minus)
		return &task{"PairingCheck", func() any {
			q := make([]bls.G2Affine, 0, len(p))
			for i := range keys {
				q = append(q, l.hash(i))
			}
			return areMembers(signatures) && check(p, append(q, signatures[0]))
		}}, nil
	case "aggregate":
		return &task{"the keys summed, then PairingCheck", func() any {
			key := sum(keys)
			hash := l.hash(0)
			return areMembers(signatures) && check([]bls.G1Affine{key, minus}, []bls.G2Affine{hash, signatures[0]})
		}}, nil
	case "key-sum":
		return &task{"", func() any {
			point := sum(keys)
			return func() []byte { b := point.Bytes(); return b[:] }
		}}, nil
	case "hash":
		return &task{"", func() any {
			point := l.hash(0)
			return func() []byte { b := point.Bytes(); return b[:] }
		}}, nil
	case "msm":
		scalars := make([]fr.Element, len(l.Scalars))
		for i, scalar := range l.Scalars {
			scalars[i].SetBytes(scalar)
		}
		return &task{"MultiExp, one task", func() any {
			var point bls.G1Affine
			if _, err := point.MultiExp(keys, scalars, ecc.MultiExpConfig{NbTasks: 1}); err != nil {
				panic(err)
			}
			return func() []byte { b := point.Bytes(); return b[:] }
		}}, nil
	}
	return nil, fmt.Errorf("it does not know the task %q", l.Job)
}

func (l *load) hash(i int) bls.G2Affine {
	hash, err := bls.HashToG2(l.Messages[i], []byte(l.Tag))
	if err != nil {
		panic(err)
	}
	return hash
}

func areMembers(signatures []bls.G2Affine) bool {
	for i := range signatures {
		if signatures[i].IsInfinity() || !signatures[i].IsInSubGroup() {
			return false
		}
	}
	return true
}

func noIdentity(keys []bls.G1Affine) bool {
	for i := range keys {
		if keys[i].IsInfinity() {
			return false
		}
	}
	return true
}

func check(p []bls.G1Affine, q []bls.G2Affine) bool {
	one, err := bls.PairingCheck(p, q)
	if err != nil {
		panic(err)
	}
	return one
}

func sum(keys []bls.G1Affine) bls.G1Affine {
	var total bls.G1Jac
	for i := range keys {
		total.AddMixed(&keys[i])
	}
	var point bls.G1Affine
	point.FromJacobian(&total)
	return point
}

// Weights of 64 bits, none of them zero, as elements and as numbers.
func weights(n int) ([]fr.Element, []uint64) {
	random := make([]byte, 8*n)
	if _, err := rand.Read(random); err != nil {
		panic(err)
	}
	weights, numbers := make([]fr.Element, n), make([]uint64, n)
	for i := range weights {
		numbers[i] = binary.LittleEndian.Uint64(random[8*i:]) | 1
		weights[i].SetUint64(numbers[i])
	}
	return weights, numbers
}

func weighted(signatures []bls.G2Affine, weights []fr.Element) bls.G2Affine {
	var total bls.G2Affine
	if _, err := total.MultiExp(signatures, weights, ecc.MultiExpConfig{NbTasks: 1}); err != nil {
		panic(err)
	}
	return total
}

// A product of pairings, with weights if there are several signatures. They are members.
func (l *load) batch(keys []bls.G1Affine, signatures []bls.G2Affine, minus bls.G1Affine) bool {
	if len(keys) == 1 {
		return !signatures[0].IsInfinity() && check([]bls.G1Affine{keys[0], minus}, []bls.G2Affine{l.hash(0), signatures[0]})
	}
	weights, numbers := weights(len(keys))
	products := make([]bls.G1Jac, len(keys))
	q := make([]bls.G2Affine, 0, len(keys)+1)
	for i := range keys {
		if signatures[i].IsInfinity() {
			return false
		}
		var key bls.G1Jac
		key.FromAffine(&keys[i])
		products[i].ScalarMultiplication(&key, new(big.Int).SetUint64(numbers[i]))
		q = append(q, l.hash(i))
	}
	return check(append(bls.BatchJacobianToAffineG1(products), minus), append(q, weighted(signatures, weights)))
}

func (l *load) minSig() (*task, error) {
	keys, err := g2s(l.Keys)
	if err != nil {
		return nil, err
	}
	signatures, err := g1s(l.Signatures)
	if err != nil {
		return nil, err
	}
	if len(keys) != 1 {
		return nil, errors.New("asked for one claim alone")
	}
	_, _, _, generator := bls.Generators()
	var minus bls.G2Affine
	minus.Neg(&generator)
	return &task{"PairingCheck", func() any {
		hash, err := bls.HashToG1(l.Messages[0], []byte(l.Tag))
		if err != nil {
			panic(err)
		}
		member := !signatures[0].IsInfinity() && signatures[0].IsInSubGroup()
		return member && check([]bls.G1Affine{hash, signatures[0]}, []bls.G2Affine{keys[0], minus})
	}}, nil
}

func (l *load) points() ([]bls.G1Affine, []bls.G2Affine, error) {
	keys, err := g1s(l.Keys)
	if err != nil {
		return nil, nil, err
	}
	signatures, err := g2s(l.Signatures)
	return keys, signatures, err
}

func g1s(encodings []bytes) ([]bls.G1Affine, error) {
	points := make([]bls.G1Affine, len(encodings))
	for i, encoding := range encodings {
		if _, err := points[i].SetBytes(encoding); err != nil {
			return nil, err
		}
	}
	return points, nil
}

func g2s(encodings []bytes) ([]bls.G2Affine, error) {
	points := make([]bls.G2Affine, len(encodings))
	for i, encoding := range encodings {
		if _, err := points[i].SetBytes(encoding); err != nil {
			return nil, err
		}
	}
	return points, nil
}

// EigenLayer's hash: the digest is an x, and one is added until x³ + 3 is a square.
func hashToBn254(digest []byte) bn254.G1Affine {
	var x, one, three fp.Element
	x.SetBytes(digest)
	one.SetOne()
	three.SetUint64(3)
	for {
		var right, y fp.Element
		right.Square(&x).Mul(&right, &x).Add(&right, &three)
		if y.Sqrt(&right) != nil {
			return bn254.G1Affine{X: x, Y: y}
		}
		x.Add(&x, &one)
	}
}

// Words in the EVM's order: of a coordinate in Fp², the part of the imaginary unit comes first.
func (l *load) bn254() (*task, error) {
	if len(l.Keys) != 1 || len(l.Keys[0]) != 128 || len(l.Signatures[0]) != 64 {
		return nil, errors.New("asked for one claim alone")
	}
	var key, minus bn254.G2Affine
	for i, word := range []*fp.Element{&key.X.A1, &key.X.A0, &key.Y.A1, &key.Y.A0} {
		word.SetBytes(l.Keys[0][32*i : 32*(i+1)])
	}
	var signature bn254.G1Affine
	signature.X.SetBytes(l.Signatures[0][:32])
	signature.Y.SetBytes(l.Signatures[0][32:])
	if !key.IsInSubGroup() || !signature.IsOnCurve() {
		return nil, errors.New("a point does not decode")
	}
	_, _, _, generator := bn254.Generators()
	minus.Neg(&generator)
	return &task{"PairingCheck", func() any {
		hash := hashToBn254(l.Messages[0])
		one, err := bn254.PairingCheck([]bn254.G1Affine{hash, signature}, []bn254.G2Affine{key, minus})
		if err != nil {
			panic(err)
		}
		return !signature.IsInfinity() && one
	}}, nil
}
