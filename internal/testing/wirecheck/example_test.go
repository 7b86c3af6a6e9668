package wirecheck_test

import (
	"fmt"

	"jp/internal/testing/wirecheck"
)

// A body is judged by its bytes on the wire, and two bodies of one conversation by the change from the first
// to the second.
func Example() {
	first := []byte(`{"model": "m", "max_tokens": 100, "messages": [
		{"role": "user", "content": "Which Go version is this?"}]}`)
	second := []byte(`{"model": "m", "max_tokens": 100, "messages": [
		{"role": "user", "content": "Which Go version is that?"},
		{"role": "assistant", "content": [{"type": "text", "text": "Go 1.26."}]},
		{"role": "user", "content": [{"type": "text", "text": " "}]}]}`)

	for _, v := range wirecheck.Anthropic(second, wirecheck.Capability{}) {
		fmt.Println(v)
	}
	for _, v := range wirecheck.AppendOnly(wirecheck.AnthropicMessages, first, second) {
		fmt.Println(v)
	}
	// Output:
	// A6: messages[2].content[0].text: text is empty or only white space
	// V1: messages[0]: has changed
}
