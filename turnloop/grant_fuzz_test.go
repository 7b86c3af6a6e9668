package turnloop

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
)

// wordsOf parses the argv in a call's arguments apart from the code of the loop, nil if it is not one list of
// strings.
func wordsOf(arguments string) (words []string) {
	in := json.NewDecoder(strings.NewReader(arguments))
	var all map[string]json.RawMessage
	if in.Decode(&all) != nil || json.Unmarshal(all["argv"], &words) != nil {
		return nil
	}
	if _, err := in.Token(); err != io.EOF { // more behind the object
		return nil
	}
	return words
}

// A rule allows a call exactly if the words of the rule are the first words of the call, and only if the tool
// declares that it names a command.
func FuzzGrant(f *testing.F) {
	f.Add("go\ntest", `{"argv":["go","test","./..."]}`)
	f.Add("go\ntest", `{"argv":["go","testing"]}`)
	f.Add("go", `{"argv":["go\u0000","x"]}`)
	f.Add("go", `{"argv":["rm"],"argv":["go"]}`)
	f.Add("go", `{"ARGV":["go"],"argv":["rm"]}`)
	f.Add("go", `{"argv":"go"}`)
	f.Add("", `{"argv":[""]}`)
	f.Add("a\n\nb", `{"argv":["a","","b",null]}`)
	f.Fuzz(func(t *testing.T, rule, arguments string) {
		prefix := strings.Split(rule, "\n")
		g := Grant{prefix}
		words := wordsOf(arguments)
		want := len(words) >= len(prefix) && slices.Equal(words[:len(prefix)], prefix)
		verdict, settled := g.Settle(&tool.Definition{Name: "shell_run", Argv: true}, json.RawMessage(arguments), conversation.NewLedger())
		require.Equal(t, want, settled, "%q for %s", prefix, arguments)
		require.Equal(t, want, verdict.Choice == conversation.AnswerRun)

		require.Nil(t, Grant{nil}.rule(json.RawMessage(arguments)), "an empty rule allows nothing")
		require.Nil(t, Grant{append(slices.Clone(words), "more")}.rule(json.RawMessage(arguments)), "the words of a rule are all needed")
		for name, def := range map[string]*tool.Definition{
			"names no command": {Name: "fs_create_file"}, "exclusive": {Name: "shell_run", Argv: true, Exclusive: true},
		} {
			_, settled := g.Settle(def, json.RawMessage(arguments), conversation.NewLedger())
			require.False(t, settled, name)
		}
		verdict, settled = g.Settle(&tool.Definition{Name: "shell_run", Argv: true, Run: tool.Skip}, json.RawMessage(arguments), conversation.NewLedger())
		require.True(t, settled && verdict.Choice == conversation.AnswerSkip, "what is switched off never runs")
	})
}
