package command

import "jp/tool"

// Decode is decode, for tests.
func Decode(text []byte) (kind string, result tool.Result, is bool) {
	a, is := decode(text)
	return a.kind, a.result, is
}
