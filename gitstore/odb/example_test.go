package odb_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"jp/gitstore/odb"
)

// Two writers append to one ref. Each names the value that it has seen, so the second learns that it was
// late, and can retry.
func Example() {
	dir, err := os.MkdirTemp("", "odb")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if _, err := tryGit(dir, "", "init", "-q", "--bare"); err != nil {
		panic(err)
	}
	store, err := odb.Open(dir, odb.Options{Format: testFormat})
	if err != nil {
		panic(err)
	}
	defer store.Close()

	write := func(text string) error {
		data := []byte(text)
		o := odb.Object{Kind: "blob", OID: odb.HashObject(testFormat, "blob", data), Data: data}
		return store.Write(context.Background(), odb.Batch{
			Objects: []odb.Object{o},
			Updates: []odb.RefUpdate{{Ref: "refs/jp/example", New: o.OID}},
		})
	}
	fmt.Println(write("first\n"))
	fmt.Println(errors.Is(write("second\n"), odb.ErrRefExists))

	oid, _ := store.ReadRef("refs/jp/example")
	kind, data, _ := store.ReadObject(oid)
	fmt.Printf("%t %s: %s", oid == odb.HashObject(testFormat, kind, data), kind, data)
	// Output:
	// <nil>
	// true
	// true blob: first
}
