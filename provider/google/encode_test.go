package google

import (
	"bytes"
	"encoding/json"
	"errors"

	"jp/provider"
)

// sentByTests are the contents of all requests that tests make, as a provider has those of its.
var sentByTests provider.EncodedLists[content]

// encodeTwice encodes with the JSON of earlier requests, and again with its own. The result is the same as
// without it.
func encodeTwice(r *provider.Request, m model, o Options) ([]byte, error) {
	whole, err := json.Marshal(bodyOf(r, m, o))
	if err != nil {
		return nil, err
	}
	for range 2 {
		body, err := encode(r, m, o, &sentByTests)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(body.Bytes(), whole) {
			return nil, errors.New("not the same: " + string(body.Bytes()))
		}
	}
	return whole, nil
}
