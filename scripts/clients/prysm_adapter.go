// Package blst is Prysm's interface to its BLS library, over quorate.
package blst

import (
	"errors"
	"fmt"
	"strings"

	"github.com/OffchainLabs/prysm/v7/crypto/bls/common"
	quorate "github.com/quorate/quorate/bindings/go"
	"github.com/quorate/quorate/bindings/go/eth"
)

type bls12SecretKey struct{ eth.SecretKey }

func newSecretKey(key eth.SecretKey, err error) (common.SecretKey, error) {
	if err != nil {
		return nil, err
	}
	return &bls12SecretKey{key}, nil
}

func RandKey() (common.SecretKey, error) { return newSecretKey(eth.RandKey()) }

func SecretKeyFromBytes(privKey []byte) (common.SecretKey, error) {
	if len(privKey) != 32 {
		return nil, errors.New("secret key must be 32 bytes")
	}
	key, err := eth.SecretKeyFromBytes(privKey)
	if errors.Is(err, quorate.ErrEncoding) {
		err = common.ErrSecretUnmarshal
	}
	return newSecretKey(key, err)
}

func IsZero(sKey []byte) bool {
	b := byte(0)
	for _, s := range sKey {
		b |= s
	}
	return b == 0
}

func (s *bls12SecretKey) PublicKey() common.PublicKey { return &PublicKey{s.SecretKey.PublicKey()} }

func (s *bls12SecretKey) Sign(msg []byte) common.Signature { return &Signature{s.SecretKey.Sign(msg)} }

type PublicKey struct{ eth.PublicKey }

func newPublicKey(key eth.PublicKey, err error) (common.PublicKey, error) {
	switch {
	case err == nil:
		return &PublicKey{key}, nil
	case strings.Contains(err.Error(), "identity") || strings.Contains(err.Error(), "subgroup"):
		return nil, common.ErrInfinitePubKey
	default:
		return nil, fmt.Errorf("could not unmarshal bytes into public key: %w", err)
	}
}

func keysOf(keys []common.PublicKey) []eth.PublicKey {
	inner := make([]eth.PublicKey, len(keys))
	for i, key := range keys {
		inner[i] = key.(*PublicKey).PublicKey
	}
	return inner
}

func PublicKeyFromBytes(pubKey []byte) (common.PublicKey, error) {
	if len(pubKey) != 48 {
		return nil, errors.New("public key must be 48 bytes")
	}
	return newPublicKey(eth.PublicKeyFromBytes(pubKey))
}

func AggregatePublicKeys(pubs [][]byte) (common.PublicKey, error) {
	if len(pubs) == 0 {
		return nil, errors.New("nil or empty public keys")
	}
	return newPublicKey(eth.AggregatePublicKeys(pubs))
}

func AggregateMultiplePubkeys(pubkeys []common.PublicKey) common.PublicKey {
	return &PublicKey{eth.AggregateMultiplePubkeys(keysOf(pubkeys))}
}

func (p *PublicKey) Copy() common.PublicKey { return &PublicKey{p.PublicKey.Copy()} }

func (p *PublicKey) Equals(p2 common.PublicKey) bool {
	return p.PublicKey.Equals(p2.(*PublicKey).PublicKey)
}

func (p *PublicKey) Aggregate(p2 common.PublicKey) common.PublicKey {
	p.PublicKey.Aggregate(p2.(*PublicKey).PublicKey)
	return p
}

type Signature struct{ eth.Signature }

func signatureError(err error) error {
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "subgroup"):
		return fmt.Errorf("signature not in group: %w", err)
	default:
		return fmt.Errorf("could not unmarshal bytes into signature: %w", err)
	}
}

func SignatureFromBytes(sig []byte) (common.Signature, error) {
	if len(sig) != 96 {
		return nil, errors.New("signature must be 96 bytes")
	}
	signature, err := eth.SignatureFromBytes(sig)
	if err != nil {
		return nil, signatureError(err)
	}
	return &Signature{signature}, nil
}

func SignatureFromBytesNoValidation(sig []byte) (common.Signature, error) {
	return SignatureFromBytes(sig)
}

func MultipleSignaturesFromBytes(multiSigs [][]byte) ([]common.Signature, error) {
	if len(multiSigs) == 0 {
		return nil, errors.New("0 signatures provided to the method")
	}
	signatures := make([]common.Signature, len(multiSigs))
	for i, bytes := range multiSigs {
		signature, err := SignatureFromBytes(bytes)
		if err != nil {
			return nil, err
		}
		signatures[i] = signature
	}
	return signatures, nil
}

func NewAggregateSignature() common.Signature { return &Signature{eth.NewAggregateSignature()} }

func AggregateSignatures(sigs []common.Signature) common.Signature {
	inner := make([]eth.Signature, len(sigs))
	for i, signature := range sigs {
		inner[i] = signature.(*Signature).Signature
	}
	sum := eth.AggregateSignatures(inner)
	if sum == nil {
		return nil
	}
	return &Signature{sum}
}

func AggregateCompressedSignatures(multiSigs [][]byte) (common.Signature, error) {
	sum, err := eth.AggregateCompressedSignatures(multiSigs)
	if err != nil {
		return nil, err
	}
	return &Signature{sum}, nil
}

func VerifySignature(sig []byte, msg [32]byte, pubKey common.PublicKey) (bool, error) {
	valid, err := eth.VerifySignature(sig, msg, pubKey.(*PublicKey).PublicKey)
	return valid, signatureError(err)
}

func VerifyMultipleSignatures(sigs [][]byte, msgs [][32]byte, pubKeys []common.PublicKey) (bool, error) {
	return eth.VerifyMultipleSignatures(sigs, msgs, keysOf(pubKeys))
}

func VerifyCompressed(signature, pub, msg []byte) bool {
	return eth.VerifyCompressed(signature, pub, msg)
}

func (s *Signature) Verify(pubKey common.PublicKey, msg []byte) bool {
	return s.Signature.Verify(pubKey.(*PublicKey).PublicKey, msg)
}

func (s *Signature) AggregateVerify(pubKeys []common.PublicKey, msgs [][32]byte) bool {
	return s.Signature.AggregateVerify(keysOf(pubKeys), msgs)
}

func (s *Signature) FastAggregateVerify(pubKeys []common.PublicKey, msg [32]byte) bool {
	return s.Signature.FastAggregateVerify(keysOf(pubKeys), msg)
}

func (s *Signature) Eth2FastAggregateVerify(pubKeys []common.PublicKey, msg [32]byte) bool {
	return s.Signature.Eth2FastAggregateVerify(keysOf(pubKeys), msg)
}

func (s *Signature) Copy() common.Signature { return &Signature{s.Signature.Copy()} }
