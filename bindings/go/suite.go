package quorate

import "fmt"

// Suite is a ciphersuite, or a network's profile of one: which group has the keys, how messages are hashed, and what protects
// aggregates against rogue keys. The numbers are those of the C interface and never change. Zero is not a suite.
type Suite uint32

// Suites on BLS12-381 with public keys of 48 bytes and signatures of 96.
const (
	// SuiteEth2 is that of Ethereum's attestations, blocks and deposits. A claim without keys is not valid.
	SuiteEth2 Suite = 1
	// SuiteEth2SyncAggregate is SuiteEth2, but no keys and the identity as signature are valid. It is for sync aggregates alone.
	SuiteEth2SyncAggregate Suite = 2
	// SuiteChia is that of Chia.
	SuiteChia Suite = 3
	// SuiteDrandChained is that of drand's default chain.
	SuiteDrandChained Suite = 4
	// SuiteDrandUnchained is that of drand's unchained networks with signatures in G2.
	SuiteDrandUnchained Suite = 5
	// SuiteMinPkBasic is BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_.
	SuiteMinPkBasic Suite = 6
	// SuiteMinPkAugmented is BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_AUG_.
	SuiteMinPkAugmented Suite = 7
	// SuiteMinPkProofOfPossession is BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_.
	SuiteMinPkProofOfPossession Suite = 8
	// SuiteMinPkBDN is BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_BDN_: sums with coefficients, so keys need no proofs of possession.
	SuiteMinPkBDN Suite = 9
)

// Suites on BLS12-381 with public keys of 96 bytes and signatures of 48.
const (
	// SuiteDrandQuicknet is that of drand's quicknet.
	SuiteDrandQuicknet Suite = 20
	// SuiteDrandG1Legacy is that of drand's retired fastnet.
	SuiteDrandG1Legacy Suite = 21
	// SuiteMinSigBasic is BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_.
	SuiteMinSigBasic Suite = 22
	// SuiteMinSigAugmented is BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_.
	SuiteMinSigAugmented Suite = 23
	// SuiteMinSigProofOfPossession is BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_.
	SuiteMinSigProofOfPossession Suite = 24
	// SuiteMinSigBDN is BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_BDN_.
	SuiteMinSigBDN Suite = 25
)

// Suites on BN254, in the encodings of the EVM: public keys of 128 bytes and signatures of 64. The curve has about 100 bits of security.
const (
	// SuiteEigenLayer is that of EigenLayer. A public key is a point of each group, 192 bytes, and a message has 32 bytes.
	SuiteEigenLayer Suite = 40
	// SuiteDrandEvmnet is that of drand's evmnet.
	SuiteDrandEvmnet Suite = 41
	// SuiteBN254KeccakBasic is BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_.
	SuiteBN254KeccakBasic Suite = 42
	// SuiteBN254KeccakAugmented is BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_AUG_.
	SuiteBN254KeccakAugmented Suite = 43
	// SuiteBN254KeccakProofOfPossession is BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_POP_.
	SuiteBN254KeccakProofOfPossession Suite = 44
	// SuiteBN254SHA256Basic is BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_NUL_.
	SuiteBN254SHA256Basic Suite = 45
	// SuiteBN254SHA256Augmented is BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_AUG_.
	SuiteBN254SHA256Augmented Suite = 46
	// SuiteBN254SHA256ProofOfPossession is BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_POP_.
	SuiteBN254SHA256ProofOfPossession Suite = 47
)

var suiteNames = map[Suite]string{
	SuiteEth2:                         "eth2",
	SuiteEth2SyncAggregate:            "eth2-sync-aggregate",
	SuiteChia:                         "chia",
	SuiteDrandChained:                 "drand-chained",
	SuiteDrandUnchained:               "drand-unchained",
	SuiteMinPkBasic:                   "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_",
	SuiteMinPkAugmented:               "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_AUG_",
	SuiteMinPkProofOfPossession:       "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_",
	SuiteMinPkBDN:                     "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_BDN_",
	SuiteDrandQuicknet:                "drand-quicknet",
	SuiteDrandG1Legacy:                "drand-g1-legacy",
	SuiteMinSigBasic:                  "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_",
	SuiteMinSigAugmented:              "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_",
	SuiteMinSigProofOfPossession:      "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_",
	SuiteMinSigBDN:                    "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_BDN_",
	SuiteEigenLayer:                   "eigenlayer",
	SuiteDrandEvmnet:                  "drand-evmnet",
	SuiteBN254KeccakBasic:             "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_",
	SuiteBN254KeccakAugmented:         "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_AUG_",
	SuiteBN254KeccakProofOfPossession: "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_POP_",
	SuiteBN254SHA256Basic:             "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_NUL_",
	SuiteBN254SHA256Augmented:         "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_AUG_",
	SuiteBN254SHA256ProofOfPossession: "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_POP_",
}

// String is the name by which [ParseSuite] finds the suite, or its number if it has no name here.
func (s Suite) String() string {
	if name, ok := suiteNames[s]; ok {
		return name
	}
	return fmt.Sprintf("suite %d", uint32(s))
}
