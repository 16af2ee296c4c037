package crypto

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/drand/kyber"
	"github.com/drand/kyber/share"
	"github.com/drand/kyber/sign"

	quorate "github.com/quorate/quorate/bindings/go"
)

var quorateSuites = map[string]quorate.Suite{
	DefaultSchemeID:            quorate.SuiteDrandChained,
	UnchainedSchemeID:          quorate.SuiteDrandUnchained,
	SigsOnG1ID:                 quorate.SuiteDrandQuicknet,
	ShortSigSchemeID:           quorate.SuiteDrandG1Legacy,
	BN254UnchainedOnG1SchemeID: quorate.SuiteDrandEvmnet,
}

// OverQuorate makes quorate sign and verify for a scheme. Kyber keeps the groups, random keys, and the polynomials of shares.
func OverQuorate(scheme *Scheme) *Scheme {
	auth := Quorate{scheme.AuthScheme, quorateSuites[scheme.Name]}
	scheme.AuthScheme = auth
	scheme.ThresholdScheme = quorateThreshold{scheme.ThresholdScheme, auth, scheme.SigGroup}
	return scheme
}

// Quorate is kyber's interface to signatures, over quorate.
type Quorate struct {
	sign.Scheme
	suite quorate.Suite
}

// Sign is the signature of a message.
func (q Quorate) Sign(private kyber.Scalar, message []byte) ([]byte, error) {
	bytes, err := private.MarshalBinary()
	if err != nil {
		return nil, err
	}
	defer clear(bytes)
	secret, err := quorate.SecretKeyFromBytes(q.suite, bytes)
	if err != nil {
		return nil, err
	}
	defer secret.Close()
	signature, err := secret.Sign(message)
	if err != nil {
		return nil, err
	}
	return signature.Bytes(), nil
}

// Verify is an error for a signature that is not valid.
func (q Quorate) Verify(public kyber.Point, message, signature []byte) error {
	key, err := public.MarshalBinary()
	if err != nil {
		return err
	}
	return judge(quorate.VerifyOne(q.suite, key, message, signature))
}

// VerifyEach verifies signatures of keys over messages in one call, and has an error for each that is not valid.
func (q Quorate) VerifyEach(publics []kyber.Point, messages, signatures [][]byte) ([]error, error) {
	if len(publics) != len(messages) || len(publics) != len(signatures) {
		return nil, fmt.Errorf("%d keys, %d messages and %d signatures are not as many", len(publics), len(messages), len(signatures))
	}
	claims := make([]quorate.Claim, len(publics))
	for i, public := range publics {
		key, err := public.MarshalBinary()
		if err != nil {
			return nil, err
		}
		claims[i] = quorate.Single(q.suite, key, messages[i], signatures[i])
	}
	verdicts, err := quorate.Verify(context.Background(), claims)
	if err != nil {
		return nil, err
	}
	each := make([]error, len(verdicts))
	for i, verdict := range verdicts {
		each[i] = judge(verdict, nil)
	}
	return each, nil
}

func judge(verdict quorate.Verdict, err error) error {
	if err == nil && !verdict.Valid() {
		err = errors.New(verdict.String())
	}
	return err
}

// A partial signature is the index of its share in two bytes, and a signature.
type quorateThreshold struct {
	sign.ThresholdScheme
	auth  Quorate
	group kyber.Group
}

const indexLength = 2

func (q quorateThreshold) Sign(private *share.PriShare, message []byte) ([]byte, error) {
	signature, err := q.auth.Sign(private.V, message)
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint16(nil, uint16(private.I)), signature...), nil
}

func (q quorateThreshold) VerifyPartial(public *share.PubPoly, message, partial []byte) error {
	index, err := q.IndexOf(partial)
	if err != nil {
		return err
	}
	return q.auth.Verify(public.Eval(index).V, message, partial[indexLength:])
}

func (q quorateThreshold) VerifyRecovered(public kyber.Point, message, signature []byte) error {
	return q.auth.Verify(public, message, signature)
}

// Recover verifies all partial signatures in one call, and interpolates the first `threshold` valid ones of different indices.
func (q quorateThreshold) Recover(public *share.PubPoly, message []byte, partials [][]byte, threshold, members int) ([]byte, error) {
	var indices []int
	var keys []kyber.Point
	var messages, signatures [][]byte
	for _, partial := range partials {
		if index, err := q.IndexOf(partial); err == nil {
			indices, keys = append(indices, index), append(keys, public.Eval(index).V)
			messages, signatures = append(messages, message), append(signatures, partial[indexLength:])
		}
	}
	each, err := q.auth.VerifyEach(keys, messages, signatures)
	if err != nil {
		return nil, err
	}
	seen := make(map[int]bool)
	var shares []*share.PubShare
	for i, index := range indices {
		if each[i] != nil || seen[index] || len(shares) == threshold {
			continue
		}
		point := q.group.Point()
		if err := point.UnmarshalBinary(signatures[i]); err != nil {
			return nil, err
		}
		seen[index] = true
		shares = append(shares, &share.PubShare{I: index, V: point})
	}
	if len(shares) < threshold {
		return nil, errors.New("not enough valid partial signatures")
	}
	commit, err := share.RecoverCommit(q.group, shares, threshold, members)
	if err != nil {
		return nil, err
	}
	return commit.MarshalBinary()
}
