package bn254

import (
	"errors"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	quorate "github.com/quorate/quorate/bindings/go"
)

// Key is an operator's key as claims have it: in G1, then in G2 with the imaginary parts first, as the EVM has them.
func Key(g1 *bn254.G1Affine, g2 *bn254.G2Affine) []byte {
	return append(SerializeG1(g1), swapParts(SerializeG2(g2))...)
}

// SerializeG2 has the real parts first.
func swapParts(g2 []byte) []byte {
	return slices.Concat(g2[32:64], g2[:32], g2[96:], g2[64:96])
}

// VerifySig says whether an operator signed a digest. EigenLayer registers the operator's keys in both groups, and so the suite wants both.
func VerifySig(sig *bn254.G1Affine, g1 *bn254.G1Affine, g2 *bn254.G2Affine, msgBytes [32]byte) (bool, error) {
	verdict, err := quorate.VerifyOne(quorate.SuiteEigenLayer, Key(g1, g2), msgBytes[:], SerializeG1(sig))
	return verdict.Valid(), err
}

// CheckG1AndG2DiscreteLogEquality says whether two keys are of one secret.
func CheckG1AndG2DiscreteLogEquality(g1 *bn254.G1Affine, g2 *bn254.G2Affine) (bool, error) {
	_, err := quorate.NewPublicKey(quorate.SuiteEigenLayer, Key(g1, g2))
	if errors.Is(err, quorate.ErrEncoding) {
		return false, nil
	}
	return err == nil, err
}

// Sign is an operator's signature of a digest. It panics for the secret zero, which is not a key.
func Sign(secret *fr.Element, msgBytes [32]byte) *bn254.G1Affine {
	key := secretKey(secret)
	defer key.Close()
	signature, err := key.Sign(msgBytes[:])
	if err != nil {
		panic(err)
	}
	return DeserializeG1(signature.Bytes())
}

// MulByGeneratorG1 is the key in G1 of a secret. It panics for the secret zero.
func MulByGeneratorG1(a *fr.Element) *bn254.G1Affine {
	return DeserializeG1(publicKey(a)[:64])
}

// MulByGeneratorG2 is the key in G2 of a secret. It panics for the secret zero.
func MulByGeneratorG2(a *fr.Element) *bn254.G2Affine {
	return DeserializeG2(swapParts(publicKey(a)[64:]))
}

func secretKey(secret *fr.Element) *quorate.SecretKey {
	bytes := secret.Bytes()
	defer clear(bytes[:])
	key, err := quorate.SecretKeyFromBytes(quorate.SuiteEigenLayer, bytes[:])
	if err != nil {
		panic(err)
	}
	return key
}

func publicKey(secret *fr.Element) []byte {
	key := secretKey(secret)
	defer key.Close()
	public, err := key.PublicKey()
	if err != nil {
		panic(err)
	}
	return public.Bytes()
}
