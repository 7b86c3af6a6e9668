package google

import (
	"testing"

	"jp/provider"
)

const (
	askedQ     = `{"role":"user","parts":[{"text":"Q"}]}`
	askedAgain = `{"role":"user","parts":[{"text":"Q2"}]}`
)

// The states of a conversation, as the projection renders them.
func TestContents(t *testing.T) {
	const asked = `{"role":"user","parts":[{"text":"Q"}]}`
	const called = `{"role":"model","parts":[
		{"text":"M"},
		{"functionCall":{"id":"c1","name":"read","args":{"path":"a"}}},
		{"functionCall":{"id":"c2","name":"write","args":{}}}]}`
	const answered = `{"role":"user","parts":[
		{"functionResponse":{"id":"c1","name":"read","response":{"output":"one"}}},
		{"functionResponse":{"id":"c2","name":"write","response":{"error":"two"}}}]}`
	step := []provider.Message{
		user(text("Q")),
		said(text("M"), call("c1", "read", `{"path":"a"}`), call("c2", "write", `{}`)),
		results(result("c1", "read", "one"), failed(result("c2", "write", "two"))),
	}
	for _, test := range []struct {
		name     string
		messages []provider.Message
		want     string
	}{
		{"asked", []provider.Message{user(text("Q"))}, asked},
		{
			"asked and resumed", []provider.Message{user(text("Q"), text("R"))},
			`{"role":"user","parts":[{"text":"Q"},{"text":"R"}]}`,
		},
		{
			"next turn", []provider.Message{user(text("Q")), said(text("M")), user(text("Q2"))},
			asked + `,{"role":"model","parts":[{"text":"M"}]},{"role":"user","parts":[{"text":"Q2"}]}`,
		},
		{"results", step, asked + "," + called + "," + answered},
		{
			"results, then the user", append(step[:3:3], user(text("R"))),
			asked + "," + called + "," + answered + `,{"role":"user","parts":[{"text":"R"}]}`,
		},
		{
			"two steps", append(step[:3:3], said(call("c3", "read", `{}`)), results(result("c3", "read", "three"))),
			asked + "," + called + "," + answered +
				`,{"role":"model","parts":[{"functionCall":{"id":"c3","name":"read","args":{}}}]}` +
				`,{"role":"user","parts":[{"functionResponse":{"id":"c3","name":"read","response":{"output":"three"}}}]}`,
		},
		{"paused elsewhere", []provider.Message{user(text("Q")), said(text("M"))}, asked},
		{
			"paused elsewhere, and gone on", []provider.Message{user(text("Q")), said(text("M")), said(text("N")), user(text("Q2"))},
			asked + `,{"role":"model","parts":[{"text":"M"},{"text":"N"}]},{"role":"user","parts":[{"text":"Q2"}]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			requireContents(t, "gemini-2.5-pro", "["+test.want+"]", test.messages...)
		})
	}
}

// The model's earlier parts go back to it as they came, if possible.
func TestReceivedAnswers(t *testing.T) {
	const signedCall = `{"functionCall":{"name":"read","args":{"n":12345678901234567890,"b":1.0},"id":"x"},"thoughtSignature":"c2ln","more":{"z":1,"a":2}}`
	for _, test := range []struct {
		name   string
		blocks []provider.Block
		want   string
	}{
		{"no item", []provider.Block{text("Hello")}, `{"text":"Hello"}`},
		{
			"a signature behind the text", []provider.Block{with(text("Hello"), `{"text":"","thoughtSignature":"c2ln"}`)},
			`{"text":"Hello"},{"text":"","thoughtSignature":"c2ln"}`,
		},
		{
			"signed text among unsigned", []provider.Block{with(text("Hello you"), `[{"text":"He"},{"text":"llo"},{"text":" ","thoughtSignature":"c2ln"},{"text":"\n"},{"text":"you","thoughtSignature":"c2lo"}]`)},
			`{"text":"Hello"},{"text":" ","thoughtSignature":"c2ln"},{"text":"you","thoughtSignature":"c2lo"}`,
		},
		{
			"a signed thought", []provider.Block{with(reasoning("Hm."), `[{"text":"Hm","thought":true},{"text":".","thought":true,"thoughtSignature":"c2ln"}]`), text("A")},
			`{"text":".","thought":true,"thoughtSignature":"c2ln"},{"text":"A"}`,
		},
		{"an unsigned thought", []provider.Block{with(reasoning("Hm."), `{"text":"Hm.","thought":true}`), text("A")}, `{"text":"A"}`},
		{"a damaged item", []provider.Block{with(text("A"), `[{"text":"B"},7]`)}, `{"text":"A"}`},
		{"an item of another kind", []provider.Block{with(text("A"), signedCall), with(reasoning("B"), signedCall)}, `{"text":"A"}`},
		{"an item with a NUL", []provider.Block{with(text("A"), `{"text":"\u0000","thoughtSignature":"c2ln"}`)}, `{"text":"A"}`},
		{"an empty list", []provider.Block{with(text("A"), `[]`)}, `{"text":"A"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			requireContents(t, "gemini-3-flash", `[`+askedQ+`,{"role":"model","parts":[`+test.want+`]},`+askedAgain+`]`,
				user(text("Q")), said(test.blocks...), user(text("Q2")))
		})
	}
}

func TestCalls(t *testing.T) {
	const skip = `"thoughtSignature":"skip_thought_signature_validator"`
	one := call("c1", "read", `{"n":1}`)
	two := call("c2", "read", `{"n":2}`)
	for _, test := range []struct {
		name, model string
		blocks      []provider.Block
		want        string
		ids         [2]string // in the responses
	}{
		{
			"as received", "gemini-3-flash",
			[]provider.Block{
				with(one, `{"functionCall":{"name":"read","args":{"n":12345678901234567890},"id":"c1"},"thoughtSignature":"c2ln","more":true}`),
				with(two, `[{"functionCall":{"name":"read"}},{"text":"","thoughtSignature":"c2lo"}]`),
			},
			`{"functionCall":{"name":"read","args":{"n":12345678901234567890},"id":"c1"},"thoughtSignature":"c2ln","more":true},
			{"functionCall":{"name":"read"}},{"text":"","thoughtSignature":"c2lo"}`,
			[2]string{`"id":"c1",`, ``},
		},
		{
			"made elsewhere", "gemini-3-flash", []provider.Block{one, two},
			`{"functionCall":{"id":"c1","name":"read","args":{"n":1}},` + skip + `},{"functionCall":{"id":"c2","name":"read","args":{"n":2}}}`,
			[2]string{`"id":"c1",`, `"id":"c2",`},
		},
		{
			"made elsewhere, for a model that does not sign", "gemini-2.5-flash", []provider.Block{one, two},
			`{"functionCall":{"id":"c1","name":"read","args":{"n":1}}},{"functionCall":{"id":"c2","name":"read","args":{"n":2}}}`,
			[2]string{`"id":"c1",`, `"id":"c2",`},
		},
		{
			"received unsigned", "gemini-3-flash",
			[]provider.Block{with(one, `{"functionCall":{"name":"read","args":{"n":1.0}},"more":1}`), two},
			`{"functionCall":{"name":"read","args":{"n":1.0}},"more":1,` + skip + `},{"functionCall":{"id":"c2","name":"read","args":{"n":2}}}`,
			[2]string{``, `"id":"c2",`},
		},
		{
			"under a name that is not on the wire", "gemini-3-flash",
			[]provider.Block{with(one, `{"functionCall":{"name":"re ad","args":{"n":5},"id":"x"},"thoughtSignature":"c2ln"}`), two},
			`{"functionCall":{"id":"c1","name":"read","args":{"n":1}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"c2","name":"read","args":{"n":2}}}`,
			[2]string{`"id":"c1",`, `"id":"c2",`},
		},
		{
			"with arguments that are no object", "gemini-3-flash",
			[]provider.Block{with(one, `{"functionCall":{"name":"read","args":[1]},"thoughtSignature":"c2ln"}`), two},
			`{"functionCall":{"id":"c1","name":"read","args":{"n":1}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"c2","name":"read","args":{"n":2}}}`,
			[2]string{`"id":"c1",`, `"id":"c2",`},
		},
		{
			"with more than itself in the item", "gemini-2.5-flash",
			[]provider.Block{with(one, `[{"functionCall":{"name":"read","args":{}}},{"functionCall":{"name":"read","args":{}}}]`), two},
			`{"functionCall":{"id":"c1","name":"read","args":{"n":1}}},{"functionCall":{"id":"c2","name":"read","args":{"n":2}}}`,
			[2]string{`"id":"c1",`, `"id":"c2",`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			returned := func(i int, text string) string {
				return `{"functionResponse":{` + test.ids[i] + `"name":"read","response":{"output":"` + text + `"}}}`
			}
			step := `{"role":"model","parts":[` + test.want + `]},{"role":"user","parts":[` + returned(0, "1") + `,` + returned(1, "2") + `]}`
			messages := []provider.Message{user(text("Q")), said(test.blocks...), results(result("c1", "read", "1"), result("c2", "read", "2"))}
			requireContents(t, test.model, `[`+askedQ+`,`+step+`]`, messages...)
			requireContents(t, test.model, `[`+askedQ+`,`+step+`,`+askedAgain+`]`, append(messages, user(text("Q2")))...)
		})
	}
}

func TestFiles(t *testing.T) {
	const data = `"iVBORw0KGgo="`
	const called = `{"role":"model","parts":[{"functionCall":{"id":"c1","name":"look","args":{}}}]}`
	asked := user(text("Q"))
	look := said(call("c1", "look", `{}`))
	seen := func(files ...provider.Block) provider.Message {
		return results(append([]provider.Block{result("c1", "look", "seen")}, files...)...)
	}
	for _, test := range []struct {
		name, model string
		messages    []provider.Message
		want        string
	}{
		{
			"the user's", "gemini-2.5-pro",
			[]provider.Message{user(file("", "a.png", "image/png", png), file("", "b.go", "text/x-go", "package b"), file("", "c.gif", "image/gif", "GIF89a"), file("", "d.png", "image/png", "no"), text("Q"))},
			`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":` + data + `}},{"text":"File \"b.go\":\npackage b"},
			{"text":"[file \"c.gif\" (image/gif), 6 bytes, cannot be shown to this model]"},
			{"text":"[file \"d.png\" (image/png), 2 bytes, cannot be shown to this model]"},{"text":"Q"}]}`,
		},
		{
			"of a result", "gemini-2.0-flash",
			[]provider.Message{asked, look, seen(file("c1", "a.png", "", png)), user(text("Q2"))},
			askedQ + `,` + called + `,{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"look","response":{"output":"seen"}}}]},
			{"role":"user","parts":[{"text":"Image from look, result of c1:"},{"inlineData":{"mimeType":"image/png","data":` + data + `}},{"text":"Q2"}]}`,
		},
		{
			"of a result, last", "gemini-2.0-flash",
			[]provider.Message{asked, look, seen(file("c1", "a.png", "image/png", png))},
			askedQ + `,` + called + `,{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"look","response":{"output":"seen"}}}]},
			{"role":"user","parts":[{"text":"Image from look, result of c1:"},{"inlineData":{"mimeType":"image/png","data":` + data + `}}]}`,
		},
		{
			"in a result", "gemini-3-flash",
			[]provider.Message{asked, said(with(look.Blocks[0], `{"functionCall":{"id":"c1","name":"look","args":{}},"thoughtSignature":"c2ln"}`)), seen(file("c1", "a.png", "image/png", png))},
			askedQ + `,{"role":"model","parts":[{"functionCall":{"id":"c1","name":"look","args":{}},"thoughtSignature":"c2ln"}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"look","response":{"output":"seen"},"parts":[{"inlineData":{"mimeType":"image/png","data":` + data + `}}]}}]}`,
		},
		{
			"that no model reads, of a result", "gemini-2.5-pro",
			[]provider.Message{asked, look, seen(file("c1", "a.bin", "", "\x00\x01"))},
			askedQ + `,` + called + `,{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"look","response":
			{"output":"seen\n[file \"a.bin\" (application/octet-stream), 2 bytes, cannot be shown to this model]"}}}]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			requireContents(t, test.model, `[`+test.want+`]`, test.messages...)
		})
	}
}
