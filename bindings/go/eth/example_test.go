package eth_test

import (
	"fmt"
	"log"

	bls "github.com/quorate/quorate/bindings/go/eth"
)

func Example() {
	secret, err := bls.RandKey()
	if err != nil {
		log.Fatal(err)
	}
	message := [32]byte{7}
	signature := secret.Sign(message[:])
	fmt.Println(signature.Verify(secret.PublicKey(), message[:]))
	fmt.Println(signature.FastAggregateVerify([]bls.PublicKey{secret.PublicKey()}, [32]byte{8}))
	// Output:
	// true
	// false
}
