package tbls

import (
	"context"
	"errors"

	quorate "github.com/quorate/quorate/bindings/go"
)

// Quorate is Charon's interface to its BLS library, over quorate. Herumi keeps what splits and recovers keys, and what combines
// partial signatures, because the module has no shared keys.
type Quorate struct{ Herumi }

func (Quorate) GenerateSecretKey() (PrivateKey, error) {
	secret, err := quorate.GenerateSecretKey(quorate.SuiteEth2)
	if err != nil {
		return PrivateKey{}, err
	}
	defer secret.Close()
	bytes, err := secret.Bytes()
	if err != nil {
		return PrivateKey{}, err
	}
	return PrivateKey(bytes), nil
}

func (Quorate) SecretToPublicKey(key PrivateKey) (PublicKey, error) {
	secret, err := quorate.SecretKeyFromBytes(quorate.SuiteEth2, key[:])
	if err != nil {
		return PublicKey{}, err
	}
	defer secret.Close()
	public, err := secret.PublicKey()
	if err != nil {
		return PublicKey{}, err
	}
	return PublicKey(public.Bytes()), nil
}

func (Quorate) Sign(key PrivateKey, data []byte) (Signature, error) {
	secret, err := quorate.SecretKeyFromBytes(quorate.SuiteEth2, key[:])
	if err != nil {
		return Signature{}, err
	}
	defer secret.Close()
	signature, err := secret.Sign(data)
	if err != nil {
		return Signature{}, err
	}
	return Signature(signature.Bytes()), nil
}

func (Quorate) Aggregate(signatures []Signature) (Signature, error) {
	encodings := make([][]byte, len(signatures))
	for i := range signatures {
		encodings[i] = signatures[i][:]
	}
	sum, err := quorate.Aggregate(quorate.SuiteEth2, encodings)
	if err != nil {
		return Signature{}, err
	}
	return Signature(sum.Bytes()), nil
}

func (Quorate) Verify(key PublicKey, data []byte, signature Signature) error {
	return judge(quorate.VerifyOne(quorate.SuiteEth2, key[:], data, signature[:]))
}

func (Quorate) VerifyAggregate(keys []PublicKey, signature Signature, data []byte) error {
	encodings := make([][]byte, len(keys))
	for i := range keys {
		encodings[i] = keys[i][:]
	}
	claim := quorate.Shared(quorate.SuiteEth2, encodings, data, signature[:])
	verdicts, err := quorate.Verify(context.Background(), []quorate.Claim{claim})
	if err != nil {
		return err
	}
	return judge(verdicts[0], nil)
}

func judge(verdict quorate.Verdict, err error) error {
	switch {
	case err != nil:
		return err
	case verdict.Code == quorate.VerdictMismatch:
		return ErrSigNotVerified
	case !verdict.Valid():
		return errors.New(verdict.String())
	default:
		return nil
	}
}
