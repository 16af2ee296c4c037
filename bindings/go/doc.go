// Package quorate verifies BLS signatures in bulk, and says which claims are false.
//
// A [Claim] says: these keys signed these messages, and this is the sum of their signatures. [Verify] takes any number of claims, of
// any suites, and gives one [Verdict] for each. A claim is valid only if something proved it. Keys, signatures and messages are
// bytes: compressed points on BLS12-381, words of the EVM on BN254.
//
// Three kinds of answers are never mixed. A false claim, or one that does not decode, is a verdict. A call that cannot be carried out
// is an error, and then nothing is valid. Bytes that are not a key, where a key is wanted, are an error that is [ErrEncoding].
//
// # Lifetimes
//
// [Verifier], [SecretKey], [KeySet] and [Batcher] hold memory of the C library. Any number of goroutines can use one. Close frees it:
// it waits for the calls that run, and every later call answers [ErrClosed]. Memory of a value that nobody closed is freed at some time
// after the last use of the value.
//
// # Possession
//
// Nobody checks here that the owners of public keys hold their secrets, but [KeySet.Prove] and claims of [Possession]. Without that, the
// owner of a rogue key can forge aggregates over one message, in suites whose scheme is proof of possession.
package quorate
