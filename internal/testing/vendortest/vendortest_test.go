package vendortest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/vendortest"
	"jp/provider"
	"jp/provider/catalog"
)

const (
	thought = "Ich denke 思考 🤔 nach."
	spoken  = "Grüße, Welt! 你好 🎉\nZweite Zeile <&> \"q\"."
)

var reply = vendortest.Reply{
	Reasoning: thought, Text: spoken,
	Calls: []vendortest.Call{{"call_1", "look", `{"path":"größe.txt","n":1}`}, {"call_2", "list", `{"all":true}`}},
	Usage: vendortest.Usage{Input: 100, Output: 20, Cached: 60, Cost: "0.25"},
}

func roughness() map[string]vendortest.Rough {
	return map[string]vendortest.Rough{
		"plain": {}, "one byte at a time": {Bytes: 1}, "odd bytes": {Bytes: 7}, "CRLF": {CRLF: true}, "comments": {Comments: true},
		"pings": {Pings: true}, "unknown": {Unknown: true}, "empty": {Empty: true}, "letters": {Letters: true}, "interleaved": {Interleave: true},
		"split data": {SplitData: true}, "no space": {NoSpace: true}, "byte order mark": {Mark: true}, "a bare type": {Type: "text/event-stream"},
		"all at once": {Bytes: 3, CRLF: true, Comments: true, Pings: true, Unknown: true, Empty: true, Letters: true, Interleave: true, NoSpace: true},
	}
}

// open is a vendor's provider, asking the server.
func open(t *testing.T, s *vendortest.Server, v vendortest.Vendor) *catalog.Provider {
	t.Helper()
	settings := catalog.Settings{}
	for _, pair := range s.Env() {
		name, value, _ := strings.Cut(pair, "=")
		switch strings.TrimPrefix(name, "JP_CFG_PROVIDERS__"+strings.ToUpper(v.Name)+"__") {
		case "BASE_URL":
			settings.BaseURL = value
		case "DIALECT":
			settings.Dialect = value
		}
	}
	found, err := catalog.Find(v.Name, settings)
	require.NoError(t, err)
	return found.Open(v.Key(), catalog.Options{Client: s.Client()})
}

func question(v vendortest.Vendor) *provider.Request {
	schema := json.RawMessage(`{"type":"object","properties":{}}`)
	return &provider.Request{
		Model: v.Model, System: "Be brief.",
		Tools:    []provider.Tool{{Name: "look", Description: "Looks.", Parameters: schema}, {Name: "list", Description: "Lists.", Parameters: schema}},
		Messages: []provider.Message{{Role: conversation.RoleUser, Blocks: []provider.Block{{Kind: provider.BlockText, Text: "Why?"}}}},
	}
}

// said is the outcome of an answer.
func said(t *testing.T, p provider.Provider, r *provider.Request) ([]string, provider.Chunk, error) {
	t.Helper()
	var parts provider.Assembler
	var all []string
	for c, err := range p.Stream(t.Context(), r) {
		if err != nil {
			return all, provider.Chunk{}, err
		}
		whole, err := parts.Add(c)
		require.NoError(t, err)
		for _, part := range whole {
			var arguments bytes.Buffer // without the layout in which they are kept
			_ = json.Compact(&arguments, part.Arguments)
			all = append(all, fmt.Sprintf("%d %s %s %s", part.Kind, part.Text, part.Tool, &arguments))
		}
		if c.Kind == provider.ChunkFinish {
			return all, c, nil
		}
	}
	return all, provider.Chunk{}, io.ErrUnexpectedEOF
}

// TestEveryVendorSaysWhatTheScriptSays compares the server's answer, in every format and as rough as
// possible, with a client's reading of it.
func TestEveryVendorSaysWhatTheScriptSays(t *testing.T) {
	want := []string{
		fmt.Sprintf("%d %s  ", provider.ChunkReasoning, thought), fmt.Sprintf("%d %s  ", provider.ChunkMessage, spoken),
		fmt.Sprintf(`%d  look {"path":"größe.txt","n":1}`, provider.ChunkToolCall), fmt.Sprintf(`%d  list {"all":true}`, provider.ChunkToolCall),
	}
	for _, v := range vendortest.Vendors() {
		for name, rough := range roughness() {
			t.Run(v.Name+", "+name, func(t *testing.T) {
				s := vendortest.New(t, reply)
				s.Be(rough)
				parts, end, err := said(t, open(t, s, v), question(v))
				require.NoError(t, err)
				require.Equal(t, want, parts)
				require.Equal(t, conversation.FinishToolCalls, end.Finish)
				require.Equal(t, [3]int{100, 20, 60}, [3]int{end.Usage.Input, end.Usage.Output, end.Usage.CacheRead})
				require.Equal(t, v.Name == "openrouter", end.Usage.CostUSD == "0.25")
				require.Equal(t, v.Stores, len(s.Items(v.Name)) > 0)
				require.Zero(t, s.Left())
			})
		}
	}
}

func TestFailuresInTheVendorsWords(t *testing.T) {
	classes := map[vendortest.FailureKind]provider.Class{
		vendortest.RateLimit: provider.ClassRateLimit, vendortest.Overloaded: provider.ClassOverloaded, vendortest.Broken: provider.ClassOverloaded,
		vendortest.BadKey: provider.ClassAuth, vendortest.NoMoney: provider.ClassQuota, vendortest.NoModel: provider.ClassModel,
		vendortest.TooLong: provider.ClassContext, vendortest.BadRequest: provider.ClassInvalid,
	}
	for _, v := range vendortest.Vendors() {
		for kind, class := range classes {
			t.Run(fmt.Sprintf("%s, %s", v.Name, kind), func(t *testing.T) {
				s := vendortest.New(t, vendortest.Reply{Fail: &vendortest.Failure{Kind: kind}})
				_, _, err := said(t, open(t, s, v), question(v))
				var failed *provider.Error
				require.ErrorAs(t, err, &failed)
				require.Equal(t, class, failed.Class, failed)
				require.NotEmpty(t, failed.Message)
			})
		}
	}
}

func TestCuts(t *testing.T) {
	for _, v := range vendortest.Vendors() {
		for name, cut := range map[string]vendortest.Cut{
			"at once": {}, "behind the text": {Behind: vendortest.MarkText}, "as if whole": {Behind: vendortest.MarkText, How: vendortest.End},
			"with an error": {Behind: vendortest.MarkText, How: vendortest.Fail},
		} {
			t.Run(v.Name+", "+name, func(t *testing.T) {
				broken := reply
				broken.Cut = &cut
				s := vendortest.New(t, broken)
				_, _, err := said(t, open(t, s, v), question(v))
				var failed *provider.Error
				require.ErrorAs(t, err, &failed)
				require.True(t, failed.Class.Transient(), failed)
				require.Empty(t, s.Items(v.Name))
			})
		}
	}
}

func TestModelsAreListed(t *testing.T) {
	for _, v := range vendortest.Vendors() {
		s := vendortest.New(t)
		names, err := open(t, s, v).Models(t.Context())
		require.NoError(t, err, v.Name)
		require.Equal(t, []string{v.Model}, names, v.Name)
	}
}

// A complainer keeps the failures of a test.
type complainer struct {
	testing.TB
	mu    sync.Mutex
	words string
}

func (c *complainer) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.words += fmt.Sprintf(format, args...) + "\n"
}

// TestWhatIsWrongFailsTheTest sends forbidden requests.
func TestWhatIsWrongFailsTheTest(t *testing.T) {
	anthropic, openai := vendortest.VendorNamed("anthropic"), vendortest.VendorNamed("openai")
	good := `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`
	for name, tc := range map[string]struct {
		path, body string
		header     map[string]string
		says       string
	}{
		"nothing":             {"/anthropic/v1/messages", good, map[string]string{"X-Api-Key": anthropic.Key()}, ""},
		"a broken rule":       {"/anthropic/v1/messages", strings.Replace(good, "user", "assistant", 1), map[string]string{"X-Api-Key": anthropic.Key()}, "A1: "},
		"no key":              {"/anthropic/v1/messages", good, nil, "the header X-Api-Key is "},
		"another's key":       {"/anthropic/v1/messages", good, map[string]string{"X-Api-Key": anthropic.Key(), "X-Else": openai.Key()}, "the key of openai stands"},
		"another's header":    {"/anthropic/v1/messages", good, map[string]string{"X-Api-Key": anthropic.Key(), "Authorization": "Bearer x"}, "is not this vendor's"},
		"a key in the body":   {"/anthropic/v1/messages", strings.Replace(good, "Hi", anthropic.Key(), 1), map[string]string{"X-Api-Key": anthropic.Key()}, "the key of anthropic stands"},
		"another content":     {"/anthropic/v1/messages", good, map[string]string{"X-Api-Key": anthropic.Key(), "Content-Type": "text/plain"}, "the content type is text/plain"},
		"nobody":              {"/nowhere", good, nil, "nobody speaks at"},
		"a second request":    {"/anthropic/v1/messages", good, map[string]string{"X-Api-Key": anthropic.Key(), "X-Twice": "yes"}, "is not in the script"},
		"a key without cause": {"/ollama/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`, map[string]string{"Authorization": "Bearer x"}, "is not this vendor's"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &complainer{TB: t}
			s := vendortest.New(c, vendortest.Reply{Text: "Hello."})
			for range 1 + len(tc.header["X-Twice"])/3 {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+tc.path, strings.NewReader(tc.body))
				require.NoError(t, err)
				request.Header.Set("Content-Type", "application/json")
				for name, value := range tc.header {
					request.Header.Set(name, value)
				}
				response, err := s.Client().Do(request)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			require.Contains(t, c.words, tc.says)
			require.Equal(t, tc.says == "", c.words == "", c.words)
		})
	}
}

// TestARequestOnlyGrows finds the lost parts of an earlier request.
func TestARequestOnlyGrows(t *testing.T) {
	v := vendortest.VendorNamed("work")
	for want, next := range map[string]string{"": "Why?", "V1": "Why not?"} {
		c := &complainer{TB: t}
		s := vendortest.New(c, vendortest.Reply{Text: "So."}, vendortest.Reply{Text: "So be it."})
		p := open(t, s, v)
		request := question(v)
		_, _, err := said(t, p, request)
		require.NoError(t, err)
		request.Messages = []provider.Message{
			{Role: conversation.RoleUser, Blocks: []provider.Block{{Kind: provider.BlockText, Text: next}}},
			{Role: conversation.RoleAssistant, Blocks: []provider.Block{{Kind: provider.BlockText, Text: "So."}}},
			{Role: conversation.RoleUser, Blocks: []provider.Block{{Kind: provider.BlockText, Text: "And?"}}},
		}
		_, _, err = said(t, p, request)
		require.NoError(t, err)
		s.AppendOnly()
		require.Contains(t, c.words, want)
		require.Equal(t, want == "", c.words == "", c.words)
	}
}
