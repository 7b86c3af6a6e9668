package gitcmd

import (
	"bytes"
	"slices"
)

// mentions reports whether one of the words stands in a configuration, in any case of
// letters. Git knows no other way to write the name of a setting.
func mentions(config []byte, words ...string) bool {
	text := bytes.ToLower(config)
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(word)) })
}
