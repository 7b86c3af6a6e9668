package web_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool/web"
)

func events(bodies ...conversation.Body) (all []*conversation.Event) {
	for i, b := range bodies {
		all = append(all, &conversation.Event{Seq: i, Body: b})
	}
	return all
}

// TestRules varies the address of a call after a conversation in which the user, instructions
// and a page named some.
func TestRules(t *testing.T) {
	said := events(
		&conversation.ChatRequest{Content: "Read https://docs.example.com/a?b=c, and (https://example.com/wiki)."},
		&conversation.Note{Content: "https://example.com/note"},
		&conversation.ChatResponse{Text: "https://example.com/model"},
		&conversation.ToolCallResponse{Name: "shell_run", Content: "[x](https://example.com/tool)"},
		&conversation.ToolCallResponse{Name: web.Name, Content: "https://example.com/page (text/html):\n\n[next](https://example.com/next#part) https://example.com/text <https://example.com/auto>"},
		&conversation.ToolCallResponse{Name: web.Name, Content: "https://example.com/old redirects to https://example.com/new\nIt was not followed"},
		&conversation.ToolCallResponse{Name: web.Name, IsError: true, Content: "[x](https://example.com/error)"},
		&conversation.ChatRequest{Content: "https://other.org/ and https://example.com.evil.org/x and http://example.com/plain and https://example.com:8443/p"},
	)
	rules := web.Options{Allow: []string{"Example.com"}, Composed: []string{"pkg.go.dev", "local:8443"}}
	for address, want := range map[string]string{
		"https://docs.example.com/a?b=c":   "web.allow: Example.com",
		"https://DOCS.example.com/a?b=c":   "", // it stands there in another spelling
		"https://docs.example.com/a?b=c#d": "web.allow: Example.com",
		"https://docs.example.com/a?b=cd":  "", // it is longer
		"https://docs.example.com/a":       "", // and shorter
		"https://example.com/wiki":         "web.allow: Example.com",
		"https://example.com/next":         "web.allow: Example.com",
		"https://example.com/auto":         "web.allow: Example.com",
		"https://example.com/new":          "web.allow: Example.com",
		"https://example.com/text":         "", // the page has it, but not as a link
		"https://example.com/note":         "",
		"https://example.com/model":        "",
		"https://example.com/tool":         "",
		"https://example.com/error":        "",
		"https://other.org/":               "",
		"https://example.com.evil.org/x":   "",
		"http://example.com/plain":         "",
		"https://example.com:8443/p":       "",
		"https://pkg.go.dev/anything?q=1":  "web.allow_composed: pkg.go.dev",
		"https://a.pkg.go.dev/":            "web.allow_composed: pkg.go.dev",
		"http://pkg.go.dev/":               "",
		"https://local:8443/":              "web.allow_composed: local:8443",
		"https://local/":                   "",
		"https://xpkg.go.dev/":             "",
		"https://u:p@pkg.go.dev/":          "",
		"":                                 "",
	} {
		arguments, err := json.Marshal(map[string]string{"url": address})
		require.NoError(t, err)
		require.Equal(t, want, web.Tool(rules).Definition().Rule(arguments, said), address)
	}
}

// The task of a delegate is a model's words, and other people's words are not the user's.
func TestWhoseWordsCount(t *testing.T) {
	def := web.Tool(web.Options{Allow: []string{"example.com"}}).Definition()
	request := &conversation.ChatRequest{Content: "https://example.com/a"}
	arguments := json.RawMessage(`{"url":"https://example.com/a"}`)
	require.NotEmpty(t, def.Rule(arguments, events(request)))
	require.Empty(t, def.Rule(arguments, events(&conversation.Metadata{Parent: "jp-c17528832001-k3f9"}, request)))
	require.Empty(t, def.Rule(arguments, events(request, &conversation.ForkOrigin{Adopted: true})))
	require.Empty(t, web.Tool(web.Options{}).Definition().Rule(arguments, events(request)))
}
