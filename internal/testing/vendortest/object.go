package vendortest

import (
	"bytes"
	"encoding/json"
)

// A list is a JSON array.
type list []any

// object is a JSON object of keys and values, in that order. A value may be
// raw JSON.
func object(pairs ...any) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(encode(pairs[i]))
		out.WriteByte(':')
		out.Write(encode(pairs[i+1]))
	}
	out.WriteByte('}')
	return out.Bytes()
}

// encode is a value as JSON, with its characters as they are.
func encode(value any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // of values that the package itself made
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
