package quorate

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fileClaims reads claims as the command line reads them from JSON Lines.
func fileClaims(t testing.TB, name string) []Claim {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var claims []Claim
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct {
			Suite      string   `json:"suite"`
			PublicKey  string   `json:"public_key"`
			PublicKeys []string `json:"public_keys"`
			Message    string   `json:"message"`
			Signature  string   `json:"signature"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		suite, err := ParseSuite(row.Suite)
		if err != nil {
			t.Fatal(err)
		}
		if row.PublicKey != "" {
			row.PublicKeys = append(row.PublicKeys, row.PublicKey)
		}
		var keys [][]byte
		for _, key := range row.PublicKeys {
			keys = append(keys, unhex(t, key))
		}
		claims = append(claims, Shared(suite, keys, unhex(t, row.Message), unhex(t, row.Signature)))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return claims
}

func unhex(t testing.TB, digits string) []byte {
	t.Helper()
	bytes, err := hex.DecodeString(strings.TrimPrefix(digits, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// The command line gives these verdicts about the files.
func TestClaimsOfRealNetworks(t *testing.T) {
	verifier := newVerifier(t, Options{})
	for _, file := range []struct {
		name     string
		verdicts []Verdict
	}{
		{"claims.jsonl", []Verdict{{Code: VerdictValid}, {Code: VerdictValid}, {Code: VerdictValid}, {Code: VerdictValid}, {Code: VerdictValid}, {Code: VerdictValid}}},
		{"one-false.jsonl", []Verdict{{Code: VerdictValid}, {Code: VerdictValid}, {Code: VerdictValid},
			{VerdictMismatch, "the signature does not match the keys and messages"}}},
	} {
		claims := fileClaims(t, file.name)
		if len(claims) != len(file.verdicts) {
			t.Fatalf("%s: found %d claims, expected %d", file.name, len(claims), len(file.verdicts))
		}
		for i, verdict := range verdictsOf(t, verifier, claims) {
			if verdict != file.verdicts[i] {
				t.Errorf("%s, line %d: found %v, expected %v", file.name, i+1, verdict, file.verdicts[i])
			}
		}
		// Every change of a bit makes the claim false.
		for i, claim := range claims {
			if verdict := verdictsOf(t, verifier, []Claim{broken(claim)})[0]; verdict.Valid() {
				t.Errorf("%s, line %d: another message is valid", file.name, i+1)
			}
		}
	}
}
