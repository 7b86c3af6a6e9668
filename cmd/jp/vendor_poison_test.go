package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/internal/testing/vendortest"
)

// called is a reply that asks for tools.
func called(text string, calls ...vendortest.Call) vendortest.Reply {
	return vendortest.Reply{Reasoning: "Hm.", Text: text, Calls: calls}
}

// TestNothingThatAModelOrAToolSaysSpoilsAConversation lets each vendor's model give the same odd
// answers, one after the other in one conversation. The server judges each request that has them in
// its history.
func TestNothingThatAModelOrAToolSaysSpoilsAConversation(t *testing.T) {
	t.Parallel()
	const gif = "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
	call := func(name, arguments string) vendortest.Call {
		return vendortest.Call{ID: "call_1", Name: name, Arguments: arguments}
	}
	for name, reply := range map[string]vendortest.Reply{
		"a long name":         called("I look.", call(strings.Repeat("name_", 60), `{}`)),
		"an odd name":         called("I look.", call("no such tool: é\u0000", `{}`)),
		"no name":             called("I look.", call("", `{}`)),
		"a repeated id":       called("I look.", call("fs_read_file", `{"path":"README.md"}`), call("git_status", `{}`)),
		"an odd id":           called("I look.", vendortest.Call{ID: strings.Repeat("é id\x00 ", 30), Name: "git_status", Arguments: `{}`}),
		"broken arguments":    called("I look.", call("fs_read_file", `{"path": `)),
		"arguments of a type": called("I look.", call("fs_read_file", `["README.md"]`)),
		"NUL":                 called("a\x00b", call("fs_read_file", `{"path":"a\u0000b"}`)),
		"a lone surrogate":    called("I look.", call("fs_read_file", `{"path":"\ud800"}`)),
		"blanks":              called(" \n\t ", call("git_status", `{}`)),
		"an empty answer":     {Text: " "},
		"a long result":       called("I look.", call("shell_run", `{"argv":["sh","-c","yes | head -c 12000000"]}`)),
		"no UTF-8":            called("I look.", call("shell_run", `{"argv":["sh","-c","printf 'a\\377\\000b'"]}`)),
		"no result":           called("I look.", call("shell_run", `{"argv":["true"]}`)),
		"an image":            called("I look.", call("fs_read_file", `{"path":"image.gif"}`)),
		"no image":            called("I look.", call("fs_read_file", `{"path":"image.png"}`)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			s.Loose() // ids that occur twice are changed, and with them the received text
			p.write("image.gif", gif)
			p.write("image.png", gif)
			for _, v := range vendortest.Vendors() {
				s.Say(reply)
				if len(reply.Calls) == 0 {
					s.Say(reply) // it is asked for again
					require.Equal(t, problem.ExitFailed, p.jp("query", "-m", v.Asked(), "Look").exit)
					continue
				}
				s.Say(vendortest.Reply{Reasoning: "Seen.", Text: greeting})
				out := p.asks(v, "Look")
				require.Equal(t, greeting+"\n", out.stdout)
				require.Zero(t, s.Left())
			}
			require.Zero(t, p.jp("verify").exit)
		})
	}
}

// TestAStreamThatIsCutAnywhere ends jp at each event of a stream, by a kill or by
// Ctrl+C; any vendor's model can go on. All events are tried with JP_CRASH=full.
func TestAStreamThatIsCutAnywhere(t *testing.T) {
	t.Parallel()
	step := 6
	if os.Getenv("JP_CRASH") == "full" {
		step = 1
	}
	all := vendortest.Vendors()
	for i, v := range all {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			s.Loose()
			reply := working()[0]
			for at := i % step; at <= v.Events(reply); at += step {
				reply.Cut = &vendortest.Cut{After: at, How: vendortest.Silent}
				s.Say(reply, vendortest.Reply{Reasoning: "Seen.", Text: greeting})
				before := tenth() // ids of one tenth of a second have no order
				require.Eventually(t, func() bool { return tenth() > before }, time.Minute, time.Millisecond)
				cmd := p.command("query", "--new", "-y", "-m", v.Asked(), "Look")
				require.NoError(t, cmd.Start())
				<-s.FellSilent()
				signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGINT}[at/step%2]
				require.NoError(t, cmd.Process.Signal(signal))
				require.Error(t, cmd.Wait())
				out := p.jp("continue", "newest", "-y", "-m", all[(i+at)%len(all)].Asked())
				require.Zero(t, out.exit, "cut at %d: %s", at, out.stderr)
				require.Equal(t, greeting+"\n", out.stdout)
			}
			require.Zero(t, s.Left())
			require.Zero(t, p.jp("verify", "--all").exit)
		})
	}
}

// askerProgram is a tool that asks once.
const askerProgram = `case "$(cat)" in
*'"sure":true'*) echo "It is sure." ;;
*) echo '{"type":"needs_input","question":{"id":"sure","text":"Sure?","answer_type":{"type":"boolean"}}}' ;;
esac
`

// TestAToolsQuestionToEachModel lets the model answer a tool's question, beside
// the conversation and in the form that the question asks for.
func TestAToolsQuestionToEachModel(t *testing.T) {
	t.Parallel()
	models := []string{"google/gemini-2.5-flash"}
	for _, v := range vendortest.Vendors() {
		models = append(models, v.Asked())
	}
	for _, model := range models {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			held := model != "google/gemini-2.5-flash" // that takes no schema beside tools
			answer := map[bool]string{true: `{"answer": true}`, false: "```json\n{\"answer\": true}\n```"}[held]
			p, s := vendorPlace(t, called("I ask.", vendortest.Call{ID: "call_1", Name: "asker", Arguments: `{}`}),
				vendortest.Reply{Reasoning: "Yes.", Data: answer}, vendortest.Reply{Reasoning: "Done.", Text: greeting})
			p.write("asker", askerProgram)
			p.environ = append(p.environ, `JP_CFG_TOOLS__ASKER__COMMAND=["sh", "asker"]`, "JP_CFG_TOOLS__ASKER__DESCRIPTION=Asks.",
				"JP_CFG_TOOLS__ASKER__QUESTIONS__SURE__TARGET=assistant")
			out := p.jp("query", "-y", "-m", model, "Ask")
			require.Equal(t, greeting+"\n", out.stdout, out.stderr)
			require.Equal(t, "It is sure.\n", p.result(0))
			answers := p.ofType("inquiry_response")
			given := answers[len(answers)-1]
			require.Equal(t, "model", given["by"])
			require.Equal(t, true, given["answer"])
			side := string(s.Requests()[1].Body)
			require.Equal(t, held, strings.Contains(side, `"additionalProperties":false,"properties":{"answer":{"type":"boolean"}}`), side)
			s.AppendOnly()
		})
	}
}

// tenth is the time as ids have it.
func tenth() int64 { return time.Now().UnixMilli() / 100 }
