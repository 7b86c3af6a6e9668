package provider

import "bytes"

// escapedNUL is a NUL in JSON.
var escapedNUL = []byte(`\u0000`)

// withoutNUL is a JSON value whose strings have U+FFFD in the place of each NUL, since some servers refuse
// NUL.
func withoutNUL(value []byte) []byte {
	if !bytes.Contains(value, escapedNUL) {
		return value
	}
	out := make([]byte, 0, len(value))
	for len(value) > 0 {
		at := bytes.IndexByte(value, '\\')
		if at < 0 || at+1 >= len(value) {
			break
		}
		out, value = append(out, value[:at]...), value[at:]
		if bytes.HasPrefix(value, escapedNUL) {
			out, value = append(out, `\ufffd`...), value[len(escapedNUL):]
			continue
		}
		out, value = append(out, value[:2]...), value[2:]
	}
	return append(out, value...)
}

// holdsNUL reports whether a string of a JSON value has a NUL in it.
func holdsNUL(value []byte) bool { return !bytes.Equal(withoutNUL(value), value) }
