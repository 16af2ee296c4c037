package quorate

import (
	"errors"
	"strings"
	"testing"
)

func TestSuitesHaveTheNumbersOfTheLibrary(t *testing.T) {
	if len(suiteNames) != 23 {
		t.Errorf("found %d suites, expected 23", len(suiteNames))
	}
	for suite, name := range suiteNames {
		found, err := ParseSuite(name)
		if err != nil || found != suite {
			t.Errorf("%s: found %d, %v, expected %d", name, uint32(found), err, uint32(suite))
		}
		if suite.String() != name {
			t.Errorf("found the name %s, expected %s", suite, name)
		}
	}
	// The library has no suite beside these.
	for number := range Suite(256) {
		if _, named := suiteNames[number]; named != (number.PublicKeyLength() > 0) {
			t.Errorf("suite %d: named here is %v", uint32(number), named)
		}
	}
}

func TestLengths(t *testing.T) {
	for _, c := range []struct {
		suite          Suite
		key, signature int
	}{
		{SuiteEth2, 48, 96}, {SuiteMinPkBDN, 48, 96}, {SuiteDrandQuicknet, 96, 48}, {SuiteMinSigBasic, 96, 48},
		{SuiteEigenLayer, 192, 64}, {SuiteBN254SHA256Basic, 128, 64}, {0, 0, 0}, {1000, 0, 0},
	} {
		if key, signature := c.suite.PublicKeyLength(), c.suite.SignatureLength(); key != c.key || signature != c.signature {
			t.Errorf("%s: found %d and %d bytes, expected %d and %d", c.suite, key, signature, c.key, c.signature)
		}
	}
}

func TestUnknownSuite(t *testing.T) {
	for _, name := range []string{"", "eth3", "ETH2", "eth2\x00"} {
		suite, err := ParseSuite(name)
		if suite != 0 || !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), "eth2") {
			t.Errorf("%q: found %v, %v", name, suite, err)
		}
	}
	if Suite(99).String() != "suite 99" {
		t.Errorf("found %s", Suite(99))
	}
	if _, err := GenerateSecretKey(0); !errors.Is(err, ErrSuite) {
		t.Errorf("found %v", err)
	}
	if _, err := NewKeySet(99); !errors.Is(err, ErrSuite) {
		t.Errorf("found %v", err)
	}
	if _, err := Aggregate(99, nil); !errors.Is(err, ErrSuite) {
		t.Errorf("found %v", err)
	}
}
