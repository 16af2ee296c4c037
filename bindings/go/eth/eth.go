// Package eth has Ethereum's BLS signatures under the names that consensus clients written in Go use for them. A client with interfaces
// of its own wraps these in one file. Everything is of the suite eth2.
//
// # What differs
//
//   - Keys and signatures are kept as bytes. The verifier, which the whole program shares, keeps decoded keys for later calls and sums; a
//     signature is decoded and checked again when it is verified.
//   - VerifyMultipleSignatures gives each signature a random weight, also those over one message. VerifyEach says which are false.
//   - Keys that add up to the identity make the identity, which IsInfinite reports, and under which nothing is valid.
//   - A key that is nil or does not decode, which only another implementation of PublicKey can hold, breaks a sum. IsInfinite is true of
//     a broken sum, whose Marshal is 48 zeros. They do not decode, so nothing is valid under it or under what it is added to, whatever
//     keys follow, also where a type of the client's own holds it.
//   - SignatureFromBytesNoValidation checks all the same. Every Signature of this package is in the subgroup.
//   - A secret key is wiped at some time after its last use, because the interface has no method that ends it. Bytes from Marshal are the
//     caller's to wipe.
//   - SecretKey.Sign and PublicKey of SecretKey panic if the library has a fault, because the interface has no errors there.
//   - AggregateSignatures answers nil if a signature does not decode, which only another implementation of Signature can hold.
//   - Errors have other texts. Compare them by [errors.Is] with [quorate.ErrEncoding] and [quorate.ErrMisuse].
package eth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	quorate "github.com/quorate/quorate/bindings/go"
)

const (
	suite     = quorate.SuiteEth2
	keyLength = 48
)

// SecretKey is a secret key of 32 bytes, big-endian.
type SecretKey interface {
	// PublicKey is the public key of the secret.
	PublicKey() PublicKey
	// Sign signs a message.
	Sign(msg []byte) Signature
	// Marshal is the 32 bytes of the secret. The caller wipes them.
	Marshal() []byte
}

// PublicKey is a public key, or a sum of keys.
type PublicKey interface {
	// Marshal is the 48 bytes of the compressed point, and zeros of a broken sum.
	Marshal() []byte
	// Copy is another key with the same value.
	Copy() PublicKey
	// Aggregate adds a key to this one, and answers this one, which is broken if one of both is no key. Nothing else may use it meanwhile.
	Aggregate(p2 PublicKey) PublicKey
	// IsInfinite says whether the key is the identity or a broken sum, under which nothing is valid.
	IsInfinite() bool
	// Equals says whether both keys have the same bytes.
	Equals(p2 PublicKey) bool
}

// Signature is a signature, or a sum of signatures. What its methods cannot verify is false.
type Signature interface {
	// Verify says whether a key signed a message.
	Verify(pubKey PublicKey, msg []byte) bool
	// AggregateVerify says whether each key signed the message at its index. It is false for no keys.
	AggregateVerify(pubKeys []PublicKey, msgs [][32]byte) bool
	// FastAggregateVerify says whether all keys signed one message. It is false for no keys.
	FastAggregateVerify(pubKeys []PublicKey, msg [32]byte) bool
	// Eth2FastAggregateVerify is FastAggregateVerify, but true for no keys and the identity as signature. It is for sync aggregates.
	Eth2FastAggregateVerify(pubKeys []PublicKey, msg [32]byte) bool
	// Marshal is the 96 bytes of the compressed point.
	Marshal() []byte
	// Copy is another signature with the same value.
	Copy() Signature
}

// RandKey makes a new secret key from the random numbers of the operating system.
func RandKey() (SecretKey, error) {
	return newSecretKey(quorate.GenerateSecretKey(suite))
}

// SecretKeyFromBytes reads a secret key: 32 bytes, big-endian, not zero.
func SecretKeyFromBytes(privKey []byte) (SecretKey, error) {
	return newSecretKey(quorate.SecretKeyFromBytes(suite, privKey))
}

// PublicKeyFromBytes reads and checks a public key: canonical, in the subgroup, not the identity.
func PublicKeyFromBytes(pubKey []byte) (PublicKey, error) {
	key, err := quorate.NewPublicKey(suite, pubKey)
	if err != nil {
		return nil, err
	}
	return newPublicKey(key), nil
}

// MultiplePublicKeysFromBytes reads and checks public keys. The error names the first that is not one.
func MultiplePublicKeysFromBytes(pubKeys [][]byte) ([]PublicKey, error) {
	keys := make([]PublicKey, len(pubKeys))
	for i, bytes := range pubKeys {
		key, err := PublicKeyFromBytes(bytes)
		if err != nil {
			return nil, fmt.Errorf("public key %d, counted from 0: %w", i, err)
		}
		keys[i] = key
	}
	return keys, nil
}

// SignatureFromBytes reads and checks a signature: canonical, in the subgroup. The identity is one, because a sum can be it.
func SignatureFromBytes(sig []byte) (Signature, error) {
	checked, err := quorate.NewSignature(suite, sig)
	if err != nil {
		return nil, err
	}
	return newSignature(checked), nil
}

// SignatureFromBytesNoValidation is SignatureFromBytes. It checks the signature.
func SignatureFromBytesNoValidation(sig []byte) (Signature, error) {
	return SignatureFromBytes(sig)
}

// MultipleSignaturesFromBytes reads and checks signatures. The error names the first that is not one; no signatures are an error.
func MultipleSignaturesFromBytes(sigs [][]byte) ([]Signature, error) {
	if len(sigs) == 0 {
		return nil, fmt.Errorf("there are no signatures: %w", quorate.ErrMisuse)
	}
	signatures := make([]Signature, len(sigs))
	for i, bytes := range sigs {
		signature, err := SignatureFromBytes(bytes)
		if err != nil {
			return nil, fmt.Errorf("signature %d, counted from 0: %w", i, err)
		}
		signatures[i] = signature
	}
	return signatures, nil
}

// AggregatePublicKeys adds up encoded public keys. No keys are an error, and so are keys that add up to the identity.
func AggregatePublicKeys(pubs [][]byte) (PublicKey, error) {
	sum, err := quorate.AggregatePublicKeys(suite, pubs)
	if err != nil {
		return nil, err
	}
	return newPublicKey(sum), nil
}

// AggregateMultiplePubkeys adds up public keys. It is the identity for no keys, and broken if one of them is no key.
func AggregateMultiplePubkeys(pubs []PublicKey) PublicKey {
	sum := sumOf(pubs)
	return &sum
}

// AggregateSignatures adds up signatures. It is nil for no signatures.
func AggregateSignatures(sigs []Signature) Signature {
	checked := make([]quorate.Signature, len(sigs))
	for i, sig := range sigs {
		own, is := sig.(*signature)
		if !is {
			return aggregateOthers(sigs)
		}
		checked[i] = own.checked
	}
	sum, err := quorate.AggregateChecked(suite, checked)
	if err != nil {
		return nil
	}
	return newSignature(sum)
}

// aggregateOthers adds up signatures of which some are of another implementation.
func aggregateOthers(sigs []Signature) Signature {
	encoded := make([][]byte, len(sigs))
	for i, signature := range sigs {
		if signature != nil {
			encoded[i] = signature.Marshal()
		}
	}
	sum, err := AggregateCompressedSignatures(encoded)
	if err != nil {
		return nil
	}
	return sum
}

// AggregateCompressedSignatures adds up encoded signatures, which are checked. No signatures are an error.
func AggregateCompressedSignatures(multiSigs [][]byte) (Signature, error) {
	sum, err := quorate.Aggregate(suite, multiSigs)
	if err != nil {
		return nil, err
	}
	return newSignature(sum), nil
}

// NewAggregateSignature is a signature in the place of one that will come. It is valid for nothing, and is not the identity, which is
// valid for a sync aggregate without participants.
func NewAggregateSignature() Signature {
	return blank().Copy()
}

// blank is the signature of a secret that nobody keeps.
var blank = sync.OnceValue(func() Signature {
	secret := certain(quorate.GenerateSecretKey(suite))
	defer secret.Close()
	return newSignature(certain(secret.Sign(nil)))
})

// VerifySignature says whether a key signed a message. A signature or a key that does not decode is an error.
func VerifySignature(sig []byte, msg [32]byte, pubKey PublicKey) (bool, error) {
	verdict, err := quorate.VerifyOne(suite, encodings([]PublicKey{pubKey})[0], msg[:], sig)
	if err != nil {
		return false, err
	}
	if verdict.Code == quorate.VerdictEncoding {
		return false, fmt.Errorf("%s: %w", verdict.Reason, quorate.ErrEncoding)
	}
	return verdict.Valid(), nil
}

// VerifyMultipleSignatures says whether there are signatures, and each is that of the key over the message at its index. What does not
// decode is false. Unequal numbers are an error.
func VerifyMultipleSignatures(sigs [][]byte, msgs [][32]byte, pubKeys []PublicKey) (bool, error) {
	if len(sigs) == 0 || len(pubKeys) == 0 {
		return false, nil
	}
	verdicts, err := VerifyEach(sigs, msgs, pubKeys)
	return err == nil && quorate.AllValid(verdicts), err
}

// VerifyEach verifies signatures, each of the key over the message at its index, together, and gives a verdict for each. Unequal numbers
// are an error.
func VerifyEach(sigs [][]byte, msgs [][32]byte, pubKeys []PublicKey) ([]quorate.Verdict, error) {
	if len(sigs) != len(msgs) || len(sigs) != len(pubKeys) {
		return nil, fmt.Errorf("there are %d signatures, %d messages and %d public keys, expected equal numbers: %w",
			len(sigs), len(msgs), len(pubKeys), quorate.ErrMisuse)
	}
	claims := make([]quorate.Claim, len(sigs))
	for i, key := range encodings(pubKeys) {
		claims[i] = quorate.Single(suite, key, msgs[i][:], sigs[i])
	}
	return quorate.Verify(context.Background(), claims)
}

// VerifyCompressed says whether an encoded key signed a message. What does not decode is false.
func VerifyCompressed(signature, pub, msg []byte) bool {
	verdict, err := quorate.VerifyOne(suite, pub, msg, signature)
	return err == nil && verdict.Valid()
}

type secretKey struct {
	secret *quorate.SecretKey
}

func newSecretKey(secret *quorate.SecretKey, err error) (SecretKey, error) {
	if err != nil {
		return nil, err
	}
	return &secretKey{secret}, nil
}

func (s *secretKey) PublicKey() PublicKey {
	return newPublicKey(certain(s.secret.PublicKey()))
}

func (s *secretKey) Sign(msg []byte) Signature {
	return newSignature(certain(s.secret.Sign(msg)))
}

func (s *secretKey) Marshal() []byte {
	return certain(s.secret.Bytes())
}

// String shows nothing of the secret.
func (s *secretKey) String() string {
	return s.secret.String()
}

// certain is the result of a call that fails only by a fault of the library.
func certain[T any](value T, err error) T {
	if err != nil {
		panic(errors.Join(errors.New("eth: a call that cannot fail has failed"), err))
	}
	return value
}

type publicKey struct {
	// encoding is the point, or brokenKey.
	encoding [keyLength]byte
}

func newPublicKey(key quorate.PublicKey) PublicKey {
	return &publicKey{encoding: [keyLength]byte(key.Bytes())}
}

// sumOf adds up keys, to which the identity adds nothing.
func sumOf(keys []PublicKey) publicKey {
	encoded := slices.DeleteFunc(encodings(keys), func(key []byte) bool { return bytes.Equal(key, identityKey[:]) })
	sum, err := quorate.AggregatePublicKeys(suite, encoded)
	switch {
	case err == nil:
		return publicKey{encoding: [keyLength]byte(sum.Bytes())}
	case errors.Is(err, quorate.ErrMisuse):
		// There are no keys, or they cancel each other.
		return publicKey{encoding: identityKey}
	default:
		return publicKey{encoding: brokenKey}
	}
}

// identityKey is the point at infinity, compressed.
var identityKey = [keyLength]byte{0: 0xc0}

// brokenKey is the bytes of the sum of what is no key. They do not decode, so every sum that has them is broken too, also if the sum only
// sees what Marshal gives.
var brokenKey [keyLength]byte

func (k *publicKey) Marshal() []byte {
	return bytes.Clone(k.encoding[:])
}

func (k *publicKey) Copy() PublicKey {
	copy := *k
	return &copy
}

func (k *publicKey) Aggregate(p2 PublicKey) PublicKey {
	*k = sumOf([]PublicKey{k, p2})
	return k
}

func (k *publicKey) IsInfinite() bool {
	return k.encoding == identityKey || k.encoding == brokenKey
}

func (k *publicKey) Equals(p2 PublicKey) bool {
	return p2 != nil && bytes.Equal(k.encoding[:], p2.Marshal())
}

// encodings are the bytes of keys. A key that is nil has none, so nothing is valid under it, and no sum has it.
func encodings(keys []PublicKey) [][]byte {
	encoded := make([][]byte, len(keys))
	for i, key := range keys {
		switch key := key.(type) {
		case nil:
		case *publicKey:
			encoded[i] = key.encoding[:]
		default:
			encoded[i] = key.Marshal()
		}
	}
	return encoded
}

type signature struct {
	checked quorate.Signature
}

func newSignature(checked quorate.Signature) Signature {
	return &signature{checked}
}

func (s *signature) Verify(pubKey PublicKey, msg []byte) bool {
	return valid(quorate.Single(suite, encodings([]PublicKey{pubKey})[0], msg, s.checked.Bytes()))
}

func (s *signature) AggregateVerify(pubKeys []PublicKey, msgs [][32]byte) bool {
	if len(pubKeys) != len(msgs) {
		return false
	}
	messages := make([][]byte, len(msgs))
	for i := range msgs {
		messages[i] = msgs[i][:]
	}
	return valid(quorate.Each(suite, encodings(pubKeys), messages, s.checked.Bytes()))
}

func (s *signature) FastAggregateVerify(pubKeys []PublicKey, msg [32]byte) bool {
	return valid(quorate.Shared(suite, encodings(pubKeys), msg[:], s.checked.Bytes()))
}

func (s *signature) Eth2FastAggregateVerify(pubKeys []PublicKey, msg [32]byte) bool {
	return valid(quorate.Shared(quorate.SuiteEth2SyncAggregate, encodings(pubKeys), msg[:], s.checked.Bytes()))
}

func (s *signature) Marshal() []byte {
	return s.checked.Bytes()
}

func (s *signature) Copy() Signature {
	copy := *s
	return &copy
}

// valid says whether something proved a claim.
func valid(claim quorate.Claim) bool {
	verdicts, err := quorate.Verify(context.Background(), []quorate.Claim{claim})
	return err == nil && quorate.AllValid(verdicts)
}
