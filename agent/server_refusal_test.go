package agent_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/problem"
	"jp/internal/testing/front"
)

// refuses is a server that answers each request with a status, and the configuration of a provider at it.
func refuses(t *testing.T, status int, header, text string, models ...string) (config string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			var list []string
			for _, name := range models {
				list = append(list, fmt.Sprintf(`{"id": %q, "object": "model"}`, name))
			}
			fmt.Fprintf(w, `{"object": "list", "data": [%s]}`, strings.Join(list, ","))
			return
		}
		if name, value, is := strings.Cut(header, ": "); is {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error": {"message": %q}}`, text)
	}))
	t.Cleanup(server.Close)
	return fmt.Sprintf("[providers.t]\nbase_url = \"%s/v1\"\nkey_command = [\"echo\", \"key\"]\n", server.URL)
}

const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"

// TestRefusedByServer varies why a server refuses a request, and its content. The error of the turn names the
// commands that help.
func TestRefusedByServer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Write plain words. ", 4000)
	for _, row := range []struct {
		name    string
		status  int
		header  string
		text    string // of the server
		config  string
		before  int // complete turns before
		image   int // the turn whose request has an image, or 0
		rules   string
		request string
		none    bool     // without tools
		hints   []string // the commands, with ID for the conversation's
		details string
		after   string // the words beside the first command
	}{
		{name: "a key that is wrong", status: 401, text: "bad key", details: "The key is ", hints: []string{"jp continue ID", "jp continue ID -m PROVIDER/NAME"}},
		{name: "no money", status: 402, text: "no credit", details: "The key is ", hints: []string{"jp continue ID", "jp continue ID -m PROVIDER/NAME"}},
		{name: "no key", status: 401, text: "no key", config: "none", details: "No key was sent.", hints: []string{"jp config set providers.t.api_key_env NAME", "jp continue ID", "jp continue ID -m PROVIDER/NAME"}},
		{name: "nothing there", status: 404, text: "", hints: []string{"jp config set providers.t.base_url URL", "jp continue ID"}},
		{name: "another request than it takes", status: 400, text: "messages: wrong", hints: []string{"jp continue --discard ID", "jp continue ID -m PROVIDER/NAME"}},
		{name: "tools", status: 400, text: "this model has no tools", hints: []string{"jp continue --discard ID", "jp continue ID -T", "jp continue ID -m PROVIDER/NAME"}},
		{name: "functions", status: 400, text: "functions are not supported", hints: []string{"jp continue --discard ID", "jp continue ID -T", "jp continue ID -m PROVIDER/NAME"}},
		{name: "one tool", status: 400, text: "tools: fs_read_file has a wrong schema", hints: []string{"jp continue --discard ID", "jp continue ID --no-tool fs_read_file", "jp continue ID -T", "jp continue ID -m PROVIDER/NAME"}},
		{name: "a tool whose name is a part", status: 400, text: "tools: my_fs_read_file has a wrong schema", hints: []string{"jp continue --discard ID", "jp continue ID -T", "jp continue ID -m PROVIDER/NAME"}},
		{name: "tools, without any", status: 400, text: "this model has no tools", none: true, hints: []string{"jp continue --discard ID", "jp continue ID -m PROVIDER/NAME"}},
		{name: "a word with tool in it", status: 400, text: "toolshed", hints: []string{"jp continue --discard ID", "jp continue ID -m PROVIDER/NAME"}},
		{name: "an image in the first turn", status: 400, text: "image_url is not supported", image: 1, hints: []string{"jp continue --discard ID", "jp query --new \"…\"", "jp continue ID -m PROVIDER/NAME"}},
		{name: "an image in a later turn", status: 400, text: "no vision", before: 2, image: 3, hints: []string{"jp continue --discard ID", "jp fork ID@9 -a", "jp continue ID -m PROVIDER/NAME"}},
		{name: "an image that the server does not name", status: 400, text: "no", image: 1, hints: []string{"jp continue --discard ID", "jp continue ID -m PROVIDER/NAME"}},
		{name: "images, without any", status: 400, text: "no vision", before: 1, hints: []string{"jp continue --discard ID", "jp continue ID -m PROVIDER/NAME"}},
		{name: "too many requests", status: 429, header: "Retry-After: 3600", text: "slow down", hints: []string{"jp continue ID", "jp continue ID --detach --wait", "jp continue ID -m PROVIDER/NAME"}, after: `^try again, after \d\d:\d\d$`},
		{name: "too many requests until tomorrow", status: 429, header: "Retry-After: 100000", text: "slow down", hints: []string{"jp continue ID", "jp continue ID --detach --wait", "jp continue ID -m PROVIDER/NAME"}, after: `^try again, after 2026-11-2\d \d\d:\d\d$`},
		{name: "out of order", status: 500, text: "broken", hints: []string{"jp continue ID", "jp continue ID -m PROVIDER/NAME"}},
		{name: "too long a question", status: 400, text: "prompt is too long: 100000 tokens > 9000 maximum", request: long, hints: []string{"jp continue --discard ID", "jp continue ID -m PROVIDER/NAME"}},
		{name: "too long after many turns", status: 400, text: "prompt is too long: 100000 tokens > 9000 maximum", before: 5, request: "Short", hints: []string{"jp fork ID --last 3 -a", "jp query --new \"…\"", "jp continue ID -m PROVIDER/NAME"}},
		{name: "too long after two turns", status: 400, text: "prompt is too long: 100000 tokens > 9000 maximum", before: 2, hints: []string{"jp fork ID --last 2 -a", "jp query --new \"…\"", "jp continue ID -m PROVIDER/NAME"}},
		{name: "too long instructions", status: 400, text: "prompt is too long: 100000 tokens > 9000 maximum", rules: long, details: "tokens are instructions (AGENTS.md).", hints: []string{"jp query --discard-turn -E --id ID --no-instructions", "jp query --discard-turn -E --id ID --cfg instructions.max_bytes=20480", "jp continue ID -m PROVIDER/NAME"}},
		{name: "too long, without compaction", status: 400, text: "prompt is too long: 100000 tokens > 9000 maximum", config: "[compaction]\nauto = false\n", before: 3, hints: []string{"jp compact ID", "jp fork ID --last 3 -a", "jp query --new \"…\"", "jp continue ID -m PROVIDER/NAME"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			config := refuses(t, row.status, row.header, row.text)
			if row.config == "none" {
				config = strings.Replace(config, "key_command = [\"echo\", \"key\"]\n", "", 1)
			} else {
				config += row.config
			}
			s.Configure(config)
			s.Write("image.png", pixel)
			if row.rules != "" {
				s.Write("AGENTS.md", row.rules)
				s.Commit()
			}
			target := agent.Target{New: true}
			for i := range row.before + 1 {
				request := agent.Request{Target: target, Input: agent.Input{Text: []string{"Turn"}}, Turn: agent.TurnOptions{Model: s.Model(says), Policy: "deny"}}
				if row.image == i+1 {
					request.Input.Attachments = []string{"image.png"}
				}
				if i < row.before {
					require.NoError(t, s.Ask(f, request))
					target = agent.Target{ID: string(f.Last().ID)}
					continue
				}
				request.Turn.Model, request.Tools.None = "t/one", row.none
				if row.request != "" {
					request.Input.Text = []string{row.request}
				}
				err := s.Ask(f, request)
				var refused *problem.Error
				require.ErrorAs(t, err, &refused)
				require.Equal(t, strings.Join(row.hints, "\n"), strings.ReplaceAll(hints(err), f.Last().ID.Short(), "ID"))
				require.Contains(t, strings.Join(refused.Details, "\n"), row.details)
				require.Regexp(t, row.after, refused.Hints[0].Text)
			}
		})
	}
}
