package quorate_test

import (
	"context"
	"fmt"
	"log"
	"time"

	quorate "github.com/quorate/quorate/bindings/go"
)

// derive makes a secret key from fixed material, so that the examples print the same each time. Use GenerateSecretKey.
func derive(suite quorate.Suite, seed byte) (*quorate.SecretKey, []byte) {
	secret, err := quorate.DeriveSecretKey(suite, append(make([]byte, 31), seed), nil)
	if err != nil {
		log.Fatal(err)
	}
	key, err := secret.PublicKey()
	if err != nil {
		log.Fatal(err)
	}
	return secret, key.Bytes()
}

func sign(secret *quorate.SecretKey, message string) []byte {
	signature, err := secret.Sign([]byte(message))
	if err != nil {
		log.Fatal(err)
	}
	return signature.Bytes()
}

// voters are four keys, and the signature of each over "vote".
func voters() (keys, votes [][]byte) {
	for seed := range byte(4) {
		secret, key := derive(quorate.SuiteEth2, seed)
		defer secret.Close()
		keys, votes = append(keys, key), append(votes, sign(secret, "vote"))
	}
	return keys, votes
}

func ExampleVerify() {
	secret, key := derive(quorate.SuiteEth2, 1)
	defer secret.Close()
	signature := sign(secret, "block 7")

	claims := []quorate.Claim{
		quorate.Single(quorate.SuiteEth2, key, []byte("block 7"), signature),
		quorate.Single(quorate.SuiteEth2, key, []byte("block 8"), signature),
	}
	verdicts, err := quorate.Verify(context.Background(), claims)
	if err != nil {
		log.Fatal(err) // Nothing was verified.
	}
	for i, verdict := range verdicts {
		if !verdict.Valid() {
			fmt.Printf("claim %d is not valid: %s\n", i, verdict.Reason)
		}
	}
	// Output: claim 1 is not valid: the signature does not match the keys and messages
}

func ExampleVerifyOne() {
	secret, key := derive(quorate.SuiteDrandQuicknet, 1)
	defer secret.Close()
	verdict, err := quorate.VerifyOne(quorate.SuiteDrandQuicknet, key, []byte("hello"), sign(secret, "hello"))
	fmt.Println(verdict, err)
	// Output: valid <nil>
}

func ExampleParseSuite() {
	suite, err := quorate.ParseSuite("eigenlayer")
	fmt.Println(uint32(suite), suite, suite.PublicKeyLength(), suite.SignatureLength(), err)
	// Output: 40 eigenlayer 192 64 <nil>
}

func ExampleAggregate() {
	a, keyA := derive(quorate.SuiteEth2, 1)
	b, keyB := derive(quorate.SuiteEth2, 2)
	defer a.Close()
	defer b.Close()
	sum, err := quorate.Aggregate(quorate.SuiteEth2, [][]byte{sign(a, "one"), sign(b, "two")})
	if err != nil {
		log.Fatal(err)
	}
	messages := [][]byte{[]byte("one"), []byte("two")}
	claim := quorate.Each(quorate.SuiteEth2, [][]byte{keyA, keyB}, messages, sum.Bytes())
	verdicts, err := quorate.Verify(context.Background(), []quorate.Claim{claim})
	fmt.Println(quorate.AllValid(verdicts), err)
	// Output: true <nil>
}

func ExampleKeySet() {
	keys, votes := voters()
	committee, err := quorate.NewKeySet(quorate.SuiteEth2)
	if err != nil {
		log.Fatal(err)
	}
	defer committee.Close()
	if err := committee.PushAssumed(keys...); err != nil {
		log.Fatal(err)
	}
	sum, err := quorate.Aggregate(quorate.SuiteEth2, [][]byte{votes[0], votes[1], votes[3]})
	if err != nil {
		log.Fatal(err)
	}
	for _, members := range []quorate.Bitmap{quorate.BitmapOf(0, 1, 3), quorate.BitmapOf(0, 1, 2)} {
		verdict, err := committee.Verify(members, []byte("vote"), sum.Bytes())
		fmt.Println(verdict.Valid(), err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

func ExampleOfMembers() {
	keys, votes := voters()
	committee, err := quorate.NewKeySet(quorate.SuiteEth2)
	if err != nil {
		log.Fatal(err)
	}
	defer committee.Close()
	if err := committee.PushAssumed(keys...); err != nil {
		log.Fatal(err)
	}
	sum, err := quorate.Aggregate(quorate.SuiteEth2, [][]byte{votes[0], votes[1], votes[3]})
	if err != nil {
		log.Fatal(err)
	}
	claims := []quorate.Claim{
		quorate.OfMembers(committee, quorate.BitmapOf(0, 1, 3), []byte("vote"), sum.Bytes()),
		quorate.OfMembers(committee, quorate.BitmapOf(2), []byte("vote"), votes[2]),
		quorate.OfMembers(committee, quorate.BitmapOf(4), []byte("vote"), votes[2]),
	}
	verdicts, err := quorate.Verify(context.Background(), claims)
	if err != nil {
		log.Fatal(err)
	}
	for _, verdict := range verdicts {
		fmt.Println(verdict)
	}
	// Output:
	// valid
	// valid
	// key set: the claim names member 4 of a key set of 4
}

func ExampleBatcher() {
	batcher, err := quorate.NewBatcher(quorate.BatcherOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer batcher.Close()
	secret, key := derive(quorate.SuiteEth2, 1)
	defer secret.Close()

	claim := quorate.Single(quorate.SuiteEth2, key, []byte("attestation"), sign(secret, "attestation"))
	claim.Source = "peer 4"
	answer := <-batcher.Submit(claim, quorate.ClassGossip, time.Now().Add(time.Minute))
	fmt.Println(answer.Verdict.Valid(), answer.Err)
	// Output: true <nil>
}
