package quorate

import "strconv"

// VerdictCode is what a claim got. The numbers are those of the C interface and never change.
type VerdictCode uint8

const (
	// VerdictUndecided says that nothing proved or refuted the claim. From a verifier, it is an internal error.
	VerdictUndecided VerdictCode = 0
	// VerdictValid says that something proved the claim.
	VerdictValid VerdictCode = 1
	// VerdictMismatch says that the signature is not the one that these keys make over these messages.
	VerdictMismatch VerdictCode = 2
	// VerdictEncoding says that a key, the signature or a message does not decode.
	VerdictEncoding VerdictCode = 3
	// VerdictRule says that the claim breaks a rule of its suite: no keys, equal messages, keys that add up to the identity, other
	// counts.
	VerdictRule VerdictCode = 4
	// VerdictKeySet says that the claim does not fit the [KeySet] that it names: a set of keys in the other group, a member that the set
	// does not have, or several members of whom one has not proven its key. The set can be older than the claim, so this says nothing about
	// who sent it.
	VerdictKeySet VerdictCode = 5
	// VerdictOverloaded says that nobody looked at the claim, because as much work waits as the settings of the batcher allow, or
	// because it alone is larger.
	VerdictOverloaded VerdictCode = 16
	// VerdictBanned says that nobody looked at the claim, because its source sent false claims.
	VerdictBanned VerdictCode = 17
	// VerdictDeadlinePassed says that nobody looked at the claim before its deadline.
	VerdictDeadlinePassed VerdictCode = 18
	// VerdictStopped says that nobody looked at the claim, because the batcher stops.
	VerdictStopped VerdictCode = 19
	// VerdictFailed is an internal error of the batcher.
	VerdictFailed VerdictCode = 20
)

var verdictNames = map[VerdictCode]string{
	VerdictUndecided:      "undecided",
	VerdictValid:          "valid",
	VerdictMismatch:       "mismatch",
	VerdictEncoding:       "encoding",
	VerdictRule:           "rule",
	VerdictKeySet:         "key set",
	VerdictOverloaded:     "overloaded",
	VerdictBanned:         "banned",
	VerdictDeadlinePassed: "deadline passed",
	VerdictStopped:        "stopped",
	VerdictFailed:         "failed",
}

// String is the code in one or two words.
func (c VerdictCode) String() string {
	if name, ok := verdictNames[c]; ok {
		return name
	}
	return "verdict " + strconv.Itoa(int(c))
}

// Verdict is the verdict about one claim. The zero Verdict is undecided, and so not valid.
type Verdict struct {
	// Code is what the claim got.
	Code VerdictCode
	// Reason is why the claim is not valid. It is empty if the claim is valid.
	Reason string
}

// Valid says whether something proved the claim.
func (v Verdict) Valid() bool {
	return v.Code == VerdictValid
}

// False says whether the claim was looked at and is not true, so that its sender is at fault. A claim that nobody looked at, that is
// undecided, or that does not fit its key set, is neither valid nor false.
func (v Verdict) False() bool {
	return v.Code == VerdictMismatch || v.Code == VerdictEncoding || v.Code == VerdictRule
}

// String is "valid", or the code and the reason.
func (v Verdict) String() string {
	if v.Reason == "" {
		return v.Code.String()
	}
	return v.Code.String() + ": " + v.Reason
}

// AllValid says whether there are verdicts and all of them are valid. Nothing to verify is not a success.
func AllValid(verdicts []Verdict) bool {
	for _, verdict := range verdicts {
		if !verdict.Valid() {
			return false
		}
	}
	return len(verdicts) > 0
}
