package blst

import (
	"testing"

	"github.com/OffchainLabs/prysm/v7/testing/assert"
	"github.com/OffchainLabs/prysm/v7/testing/require"
)

func TestCopy(t *testing.T) {
	priv, err := RandKey()
	require.NoError(t, err)
	signatureA := priv.Sign([]byte("foo")).(*Signature)
	signatureB, ok := signatureA.Copy().(*Signature)
	require.Equal(t, true, ok)
	assert.NotEqual(t, signatureA, signatureB)
	assert.DeepEqual(t, signatureA, signatureB)
	*signatureA = *priv.Sign([]byte("bar")).(*Signature)
	assert.DeepNotEqual(t, signatureA, signatureB)
}
