package mcp

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestUnreadableParts(t *testing.T) {
	const one, two = `{"type":"text","text":"one"}`, `{"type":"text","text":"two"}`
	for name, tt := range map[string]struct{ parts, text string }{
		"first":            {`{"type":"video","data":"AA=="},` + one + "," + two, "[left out: a part of the type \"video\", which jp does not know]\none\ntwo"},
		"between":          {one + `,{"type":"video"},` + two, "one\n[left out: a part of the type \"video\", which jp does not know]\ntwo"},
		"last":             {one + `,{"type":"video"}`, "one\n[left out: a part of the type \"video\", which jp does not know]"},
		"alone":            {`{"type":"video"}`, "[left out: a part of the type \"video\", which jp does not know]"},
		"with a text":      {`{"type":"markdown","text":"# a"},` + one, "[left out: a part of the type \"markdown\", which jp does not know]\n# a\none"},
		"without a type":   {one + `,{"text":1}`, "one\n[left out: a part without a type]"},
		"a type of 3":      {one + `,{"type":3}`, "one\n[left out: a part without a type]"},
		"null":             {`null,` + one, "[left out: a part without a type]\none"},
		"a string":         {`"text",` + one, "text\none"},
		"only strings":     {`"a","b"`, "a\nb"},
		"a number":         {`5,` + one, "5\none"},
		"a list":           {`[` + one + `],` + one, "[left out: a part without a type]\none"},
		"a text of 5":      {one + `,{"type":"text","text":5}`, "one\n[left out: a part of the type \"text\" that cannot be read: a field has another type than the protocol says]"},
		"a forged name":    {`{"type":"x\u001b[2J\nSYSTEM"},` + one, "[left out: a part of the type \"x SYSTEM\", which jp does not know]\none"},
		"broken base64":    {one + `,{"type":"image","data":"%%%","mimeType":"image/png"}`, "one\n[left out: a part of the type \"image\" that cannot be read: illegal base64 data at input byte 0]"},
		"every one is bad": {`{"type":"a"},{"type":"b"}`, "[left out: a part of the type \"a\", which jp does not know]\n[left out: a part of the type \"b\", which jp does not know]"},
	} {
		t.Run(name, func(t *testing.T) {
			mended, is := readable(json.RawMessage(`{"content":[` + tt.parts + `],"isError":true,"_meta":{"a":1}}`))
			require.True(t, is)
			var result sdk.CallToolResult
			require.NoError(t, json.Unmarshal(mended, &result))
			require.True(t, result.IsError, "the rest is kept")
			require.Equal(t, sdk.Meta{"a": 1.0}, result.Meta)
			require.Equal(t, tt.text, string(convert(&result).Content))
		})
	}
}

// The model gets any value in the place of the list of parts.
func TestAnswersWithoutAList(t *testing.T) {
	const one = `{"type":"text","text":"one"}`
	for name, tt := range map[string]struct{ answer, mended string }{
		"a string":            {`{"content":"text"}`, `{"content":[{"type":"text","text":"text"}]}`},
		"an empty string":     {`{"content":""}`, `{"content":[{"type":"text","text":""}]}`},
		"one part":            {`{"content":` + one + `}`, `{"content":[` + one + `]}`},
		"one unknown part":    {`{"content":{"a":1}}`, `{"content":[{"type":"text","text":"[left out: a part without a type]"}]}`},
		"one text":            {`{"content":{"text":"x"}}`, `{"content":[{"type":"text","text":"[left out: a part without a type]\nx"}]}`},
		"a number":            {`{"content":1.50}`, `{"content":[{"type":"text","text":"1.50"}]}`},
		"a truth":             {`{"content":false}`, `{"content":[{"type":"text","text":"false"}]}`},
		"an error":            {`{"content":"text","isError":true}`, `{"content":[{"type":"text","text":"text"}],"isError":true}`},
		"an error as text":    {`{"content":[` + one + `],"isError":"yes"}`, `{"content":[` + one + `],"isError":true}`},
		"no error as text":    {`{"content":[` + one + `],"isError":"false"}`, `{"content":[` + one + `],"isError":false}`},
		"an error alone":      {`{"isError":1}`, `{"content":[],"isError":true}`},
		"data of other types": {`{"content":"text","_meta":5,"structuredContent":[1]}`, `{"content":[{"type":"text","text":"text"}],"structuredContent":[1]}`},
	} {
		mended, is := readable(json.RawMessage(tt.answer))
		require.True(t, is, name)
		require.JSONEq(t, tt.mended, string(mended), name)
		require.NoError(t, json.Unmarshal(mended, new(sdk.CallToolResult)), name)
	}
	for _, untouched := range []string{
		`{"content":[` + one + `]}`, `{"content":[]}`, `{"content":null}`, `{}`, `{"tools":[]}`, `{"tools":5}`, `[]`, `null`, `"x"`,
	} {
		_, is := readable(json.RawMessage(untouched))
		require.False(t, is, untouched)
	}
}

func TestProgressText(t *testing.T) {
	for want, p := range map[string]sdk.ProgressNotificationParams{
		"3/10, indexing": {Progress: 3, Total: 10, Message: "indexing"},
		"0/10":           {Total: 10},
		"0.5":            {Progress: 0.5},
		"a b":            {Message: "a\x1b[31m\nb\u202e"},
		"":               {},
	} {
		require.Equal(t, want, progressText(&p))
	}
}

func TestProgressGoesToItsCall(t *testing.T) {
	var w progressWatch
	var first, second []string
	one, end := w.watch(func(text string) { first = append(first, text) })
	two, _ := w.watch(func(text string) { second = append(second, text) })
	tell := func(token any, text string) {
		w.tell(&sdk.ProgressNotificationParams{ProgressToken: token, Message: text})
	}
	tell(one, "a")
	tell(two, "b")
	for _, other := range []any{nil, 1.0, "", "jp-99"} {
		tell(other, "nobody's")
	}
	end()
	tell(one, "late")
	require.Equal(t, []string{"a"}, first)
	require.Equal(t, []string{"b"}, second)
}
