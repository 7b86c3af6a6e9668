package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"jp/internal/testing/mcptest"
	"jp/tool"
)

func TestConvert(t *testing.T) {
	text := func(s string) sdk.Content { return &sdk.TextContent{Text: s} }
	large := append(append([]byte{}, mcptest.PNG...), make([]byte, maxImage)...)
	for name, tc := range map[string]struct {
		in    sdk.CallToolResult
		text  string
		files []string // media types
	}{
		"nothing":               {sdk.CallToolResult{}, "", nil},
		"a silent failure":      {sdk.CallToolResult{IsError: true}, "The tool failed, and did not say why.", nil},
		"two texts":             {sdk.CallToolResult{Content: []sdk.Content{text("a"), text("b\n"), text("c")}}, "a\nb\nc", nil},
		"NUL and sequences":     {sdk.CallToolResult{Content: []sdk.Content{text("a\x00\x1b[31mb")}}, "a\x00\x1b[31mb", nil},
		"what is structured":    {sdk.CallToolResult{StructuredContent: map[string]any{"b": 1.0, "a": "<"}}, `{"a":"<","b":1}`, nil},
		"said twice":            {sdk.CallToolResult{Content: []sdk.Content{text(`{ "a": 1 }`)}, StructuredContent: map[string]any{"a": 1.0}}, `{ "a": 1 }`, nil},
		"text and other values": {sdk.CallToolResult{Content: []sdk.Content{text(`one`)}, StructuredContent: []any{1.0}}, "one", nil},
		"text within an object": {sdk.CallToolResult{Content: []sdk.Content{text("a\nb")}, StructuredContent: map[string]any{"content": "a\nb"}}, "a\nb", nil},
		"text in a failure":     {sdk.CallToolResult{Content: []sdk.Content{text("no such file")}, StructuredContent: map[string]any{"code": 2.0}, IsError: true}, "no such file", nil},
		"a failure as values":   {sdk.CallToolResult{StructuredContent: map[string]any{"code": 2.0}, IsError: true}, `{"code":2}`, nil},
		"empty text and values": {sdk.CallToolResult{Content: []sdk.Content{text(" \n")}, StructuredContent: map[string]any{"a": 1.0}}, " \n{\"a\":1}", nil},
		"a picture and values": {sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: mcptest.PNG}}, StructuredContent: map[string]any{"a": 1.0}},
			"[image-1.png: image/png, 67 bytes]\n{\"a\":1}", []string{"image/png"}},
		"a resource's text and values": {sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x:1", Text: "inside"}}}, StructuredContent: map[string]any{"a": 1.0}},
			"[resource x:1]\ninside", nil},
		"a picture of another kind": {sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: mcptest.PNG, MIMEType: "image/jpeg"}}},
			"[image-1.png: image/png, 67 bytes]", []string{"image/png"}},
		"no picture": {sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: []byte("<svg/>"), MIMEType: "image/svg+xml\n"}}},
			"[image left out, image/svg+xml, 6 bytes: it is not a PNG, JPEG, GIF or WebP]", nil},
		"no bytes": {sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{}, &sdk.AudioContent{}}},
			"[image left out, , 0 bytes: it is not a PNG, JPEG, GIF or WebP]\n[audio left out, , 0 bytes: it is empty]", nil},
		"a large picture": {sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: large, MIMEType: "image/png"}}},
			"[image left out, image/png, 5242947 bytes: it has more than 5 MiB]", nil},
		"sound": {sdk.CallToolResult{Content: []sdk.Content{&sdk.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"}}},
			"[audio-1.bin: audio/wav, 4 bytes]", []string{"audio/wav"}},
		"a link": {sdk.CallToolResult{Content: []sdk.Content{&sdk.ResourceLink{URI: "file:///a\x1b[2J", Name: "a\nb", MIMEType: "text/plain"}}},
			"[link file:///a, a b, text/plain]", nil},
		"a resource": {sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x:1", Text: "inside"}}}},
			"[resource x:1]\ninside", nil},
		"a resource with bytes": {sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x:1", Blob: []byte{1}, MIMEType: "a/b"}}}},
			"[resource x:1, a/b]\n[resource-1.bin: a/b, 1 bytes]", []string{"a/b"}},
		"a resource that is a picture": {sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x:1", Blob: mcptest.PNG}}}},
			"[resource x:1]\n[image-1.png: image/png, 67 bytes]", []string{"image/png"}},
		"an empty resource": {sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{}}}, "[left out: an empty resource]", nil},
		"what is unknown":   {sdk.CallToolResult{Content: []sdk.Content{nil}}, "[left out: a part of a kind that jp does not know]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			result := convert(&tc.in)
			require.Equal(t, tc.text, string(result.Content))
			require.Equal(t, tc.in.IsError, result.IsError)
			var files []string
			for _, a := range result.Attachments {
				files = append(files, a.MediaType)
			}
			require.Equal(t, tc.files, files)
		})
	}
}

func TestConvertBoundsWhatIsAttached(t *testing.T) {
	var many sdk.CallToolResult
	for range maxFiles + 2 {
		many.Content = append(many.Content, &sdk.ImageContent{Data: mcptest.PNG})
	}
	result := convert(&many)
	require.Len(t, result.Attachments, maxFiles)
	require.Equal(t, 2, strings.Count(string(result.Content), "left out"))

	var heavy sdk.CallToolResult
	for range 5 {
		heavy.Content = append(heavy.Content, &sdk.AudioContent{Data: make([]byte, maxFile)})
	}
	require.Len(t, convert(&heavy).Attachments, maxAttached/maxFile)

	large := sdk.CallToolResult{Content: []sdk.Content{&sdk.AudioContent{Data: make([]byte, maxFile+1)}}}
	result = convert(&large)
	require.Empty(t, result.Attachments)
	require.Contains(t, string(result.Content), "it has more than 5 MiB")
}

func FuzzConvert(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"a\u0000\u001b[2J"}],"isError":true}`,
		`{"content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"},{"type":"audio","data":"AA==","mimeType":"audio/wav"}]}`,
		`{"content":[{"type":"resource","resource":{"uri":"a","blob":"AA=="}},{"type":"resource_link","uri":"b","name":"c"}],"structuredContent":{"a":[1,null]}}`,
		`{"content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"in"}]}]}`,
		`{"content":[],"inputRequests":{"1":{"method":"elicitation/create","params":{"message":"?"}}},"resultType":"input_required"}`,
		`{"content":[{"type":"image","data":"%%%"}]}`, `{"content":null}`, `[]`, `{"content":[null]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var in sdk.CallToolResult
		if json.Unmarshal(data, &in) != nil {
			return
		}
		result := convert(&in)
		require.LessOrEqual(t, len(result.Content), tool.Limit)
		require.LessOrEqual(t, len(result.Attachments), maxFiles)
		require.True(t, utf8.Valid(result.Content))
		for _, a := range result.Attachments {
			require.NotEmpty(t, a.Data)
			require.Regexp(t, `^(image|audio|resource)-[0-9]+\.[a-z]+$`, a.Name)
			require.NotContains(t, a.MediaType, "\n")
		}
		if in.IsError {
			require.True(t, result.IsError)
			require.NotEmpty(t, result.Content)
		}
	})
}

func TestCleanSchema(t *testing.T) {
	decoded := func(text string) (value any) {
		require.NoError(t, json.Unmarshal([]byte(text), &value))
		return value
	}
	got, err := cleanSchema(decoded(`{"type":"object","properties":{"b":{"description":"x\u202ey"},"description":{"type":"string"},"a":{"enum":["p","q"]}}}`))
	require.NoError(t, err)
	require.Equal(t, `{"properties":{"a":{"enum":["p","q"]},"b":{"description":"xy"},"description":{"type":"string"}},"type":"object"}`, string(got))
	for _, bad := range []string{`{"properties":{"a\u202e":{}}}`, `{"properties":{"a":{"enum":["\u200b"]}}}`, `{"default":{"deep":["\u0007"]}}`} {
		_, err := cleanSchema(decoded(bad))
		require.ErrorIs(t, err, errHidden, bad)
	}
}
