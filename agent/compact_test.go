package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/internal/testing/front"
)

// reading is a model that reads three long files and says so.
func reading(more string) string {
	script := ""
	for i := range 3 {
		script += fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"f%d.txt\" }\n", i)
	}
	return script + "[[reply]]\nmessage = \"Read.\"\n[[reply]]\nmessage = \"Still 3000.\"\ntimes = 9\n" + more
}

const summary = "[[summary]]\nmessage = '''{\"items\":[{\"text\":\"f0.txt has 3000 lines.\",\"cites\":[4]}]}'''\nusage = { input = 700, output = 7 }\ntimes = 9\n"

func read(t *testing.T, script, config string) (*front.Scratch, *front.Front, conversation.ID) {
	t.Helper()
	s, f := front.New(t), &front.Front{}
	for i := range 3 {
		s.Write(fmt.Sprintf("f%d.txt", i), strings.Repeat("a line of a long file\n", 1500))
	}
	s.Commit()
	s.Configure(config)
	request := s.Request(script, "Read the files.")
	require.NoError(t, s.Ask(f, request))
	return s, f, f.Last().ID
}

// TestCompact varies the user's request for a compaction, and the answer of the model that writes the
// summary.
func TestCompact(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		script  string
		writer  string // of summaries, in place of the conversation's model
		request agent.CompactRequest
		kind    conversation.CompactionKind // "": no compaction
		wrong   string
		hint    string
	}{
		{name: "a summary", script: reading(summary), request: agent.CompactRequest{Keep: 1, Focus: "the numbers"}, kind: conversation.CompactSummary},
		{name: "a summary up to an event", script: reading(summary), request: agent.CompactRequest{Keep: -1, To: "@8"}, kind: conversation.CompactSummary},
		{name: "a summary of another model", script: reading(""), writer: summary, request: agent.CompactRequest{Keep: 1}, kind: conversation.CompactSummary},
		{name: "all that stays", script: reading(summary), request: agent.CompactRequest{Keep: 9}},
		{name: "long results", script: reading(""), request: agent.CompactRequest{Keep: 1, TrimOnly: true}, kind: conversation.CompactTrim},
		{name: "no long results", script: reading(""), request: agent.CompactRequest{Keep: 0, To: "@3", TrimOnly: true}},
		{name: "no such event", script: reading(summary), request: agent.CompactRequest{Keep: -1, To: "999"}, wrong: "no event"},
		{name: "nothing to undo", script: reading(summary), request: agent.CompactRequest{Undo: true}, wrong: "has no compaction to undo"},
		{name: "no words", script: reading("[[summary]]\nmessage = \"I have nothing to say.\"\n"), request: agent.CompactRequest{Keep: 1}, wrong: "the model summarised nothing. Nothing was changed.", hint: "--trim-only"},
		{name: "no events", script: reading("[[summary]]\nmessage = '''{\"items\":[{\"text\":\"There were files.\",\"cites\":[]}]}'''\n"), request: agent.CompactRequest{Keep: 1}, wrong: "the model's summary cites no events, and jp keeps only what does. Nothing was changed.", hint: "--trim-only"},
		{name: "a refused key", script: reading("[[summary]]\nfail = \"auth\"\n"), request: agent.CompactRequest{Keep: 1}, wrong: "Nothing was changed.", hint: "--trim-only"},
		{name: "no such model", script: reading(""), writer: "nosuch", request: agent.CompactRequest{Keep: 1}, wrong: "nosuch"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f, id := read(t, row.script, "")
			writer := s.Model(row.writer)
			if row.writer != "" {
				if row.writer == "nosuch" {
					writer = "nosuch/model"
				}
				s.Configure(fmt.Sprintf("[compaction]\nmodel = %q\n", writer))
			}
			before := s.Load(id)
			row.request.ID = string(id)
			dry := row.request
			dry.DryRun = true
			would, dryWrong := s.Compact(f, dry)
			done, err := s.Compact(f, row.request)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.Contains(t, hints(err), row.hint)
				require.Len(t, s.Load(id), len(before), "nothing is recorded")
				return
			}
			require.NoError(t, err)
			require.NoError(t, dryWrong)
			if row.kind == "" {
				require.Nil(t, done.Event)
				require.Nil(t, would.Plan)
				require.Len(t, s.Load(id), len(before))
				return
			}
			require.Equal(t, row.kind, done.Plan.Kind)
			require.Equal(t, row.kind, would.Plan.Kind)
			require.Equal(t, would.Plan.ToSeq, done.Plan.ToSeq)
			require.Less(t, done.Plan.After, done.Plan.Before)
			require.Len(t, s.Load(id), len(before)+1)
			if row.kind == conversation.CompactSummary {
				require.Contains(t, done.Plan.Content, "f0.txt has 3000 lines.")
				require.Equal(t, row.writer != "", done.Plan.Model == writer)
			}
			undone, err := s.Compact(f, agent.CompactRequest{ID: string(id), Undo: true})
			require.NoError(t, err)
			require.Equal(t, done.Event.Seq, undone.Undone.Seq)
			_, err = s.Compact(f, agent.CompactRequest{ID: string(id), Undo: true})
			require.ErrorContains(t, err, "has no compaction to undo")
			require.NoError(t, s.Ask(f, front.Next(id, "And now?")))
			require.Equal(t, "Still 3000.", f.Last().Outcome.Message)
		})
	}
}

// TestRoom varies the end of a conversation that fills the model's context.
func TestRoom(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, config string
		compacted    bool
		wrong        string
		hint         string
	}{
		{name: "jp compacts it", compacted: true},
		{name: "jp is not to", config: "[compaction]\nauto = false\n", wrong: "prompt is too long", hint: "jp compact"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			for i := range 3 {
				s.Write(fmt.Sprintf("f%d.txt", i), strings.Repeat("a line of a long file\n", 1500))
			}
			s.Commit()
			s.Configure(row.config)
			err := s.Ask(f, s.Request("context = 22000\n"+reading(summary), "Read the files."))
			compactions := bodies[*conversation.Compaction](f.Events())
			require.Equal(t, row.compacted, len(compactions) > 0)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.Contains(t, hints(err), row.hint)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "Read.", f.Last().Outcome.Message)
			require.Equal(t, conversation.ByLimit, compactions[0].By)
			require.Equal(t, 22000, compactions[0].Window)
		})
	}
}
