package agent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/fork"
	"jp/internal/testing/front"
)

// TestRewind varies the state before a fork in place. The fork brings back the old files, becomes the
// session's conversation, and has one undo of it.
// has one undo of it.
func TestRewind(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		until int // the turn
		do    func(s *front.Scratch, id conversation.ID)
		then  func(s *front.Scratch, id conversation.ID) // between the plan and the user's word
		puts  []string
		there map[string]string
		moved bool
		wrong string
	}{
		{name: "the first turn", until: 1, puts: []string{"b.txt", "c.txt"}, there: map[string]string{"a.txt": "a\n", "b.txt": "", "c.txt": ""}},
		{name: "the second turn", until: 2, puts: []string{"c.txt"}, there: map[string]string{"b.txt": "b\n", "c.txt": ""}},
		{name: "the last turn", until: 3, there: map[string]string{"b.txt": "b\n", "c.txt": "c\n"}},
		{name: "the user changed a file", until: 1, do: func(s *front.Scratch, _ conversation.ID) { s.Write("a.txt", "mine\n") }, puts: []string{"b.txt", "c.txt"}, there: map[string]string{"a.txt": "mine\n", "b.txt": ""}},
		{name: "another turn meanwhile", until: 1, then: func(s *front.Scratch, id conversation.ID) {
			request := front.Next(id, "More")
			request.Turn.Model = s.Model(says)
			if err := s.Ask(&front.Front{}, request); err != nil {
				panic(err)
			}
		}, puts: []string{"b.txt", "c.txt"}, moved: true},
		{name: "an incomplete turn", until: 2, do: func(s *front.Scratch, id conversation.ID) {
			request := front.Next(id, "More")
			request.Turn.Model, request.Turn.Policy = s.Model(makeFile), "defer"
			if s.Ask(&front.Front{}, request) == nil {
				panic("it waits")
			}
		}, puts: []string{"c.txt"}, there: map[string]string{"b.txt": "b\n", "c.txt": ""}},
		{name: "someone else's", until: 1, do: func(s *front.Scratch, _ conversation.ID) {
			if err := os.Remove(filepath.Join(s.Home, ".local/state/jp/key")); err != nil {
				panic(err)
			}
		}, wrong: "its files are not brought back over yours."},
		{name: "no snapshots", until: 1, do: func(s *front.Scratch, _ conversation.ID) { s.Configure("[snapshot]\nmode = \"off\"\n") }, wrong: "keeps no snapshots"},
		{name: "another working tree", until: 1, do: func(s *front.Scratch, _ conversation.ID) {
			s.Git("worktree", "add", "-q", "--detach", filepath.Join(s.Home, "beside"))
			s.Dir = filepath.Join(s.Home, "beside")
		}, wrong: "these are not its files."},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			script, ends := "", []int{}
			for _, name := range []string{"a", "b", "c"} {
				script += fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"%[1]s.txt\", content = \"%[1]s\\n\" }\n[[reply]]\nmessage = \"Made.\"\n", name)
			}
			request := s.Request(script, "Turn 1")
			for i := range 3 {
				if i > 0 {
					request = front.Next(f.Last().ID, fmt.Sprint("Turn ", i+1))
				}
				request.Turn.Yes = true
				require.NoError(t, s.Ask(f, request))
				ends = append(ends, len(s.Load(f.Last().ID))-1)
			}
			id := f.Last().ID
			if row.do != nil {
				row.do(s, id)
			}
			r := s.Open()
			defer r.Close()
			s.Await(r, id)
			cut := fork.ForkCut{Until: strconv.Itoa(ends[row.until-1])}
			v, err := r.Find().View(t.Context(), r.Env, string(id))
			require.NoError(t, err)
			made, err := fork.New(v, cut)
			require.NoError(t, err)
			w, err := agent.NewRewind(t.Context(), made, string(id)+"@"+cut.Until, true)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				s.Await(r, id)
				return
			}
			require.NoError(t, err)
			var puts []string
			for _, p := range w.Result.Puts {
				puts = append(puts, p.Path)
			}
			require.Equal(t, row.puts, puts)
			w.Close()
			if row.then != nil {
				row.then(s, id)
			}
			s.Await(r, id)
			same, err := w.Again(t.Context())
			require.NoError(t, err)
			require.Equal(t, !row.moved, same)
			if row.moved {
				w.Close()
				return
			}
			before := len(requests(s.Load(id)))
			require.NoError(t, w.Do(t.Context()))
			w.Close()
			for path, text := range row.there {
				require.Equal(t, text, s.Read(path), path)
			}
			events := s.Load(made.ID)
			require.Len(t, requests(events), row.until)
			require.Len(t, requests(s.Load(id)), before)
			require.Equal(t, len(puts) > 0, events[len(events)-1].Type() == conversation.TypeRestored)
			visited, err := r.Find().Visited(context.Background(), s.Host(), 0)
			require.NoError(t, err)
			require.Equal(t, made.ID, visited)
		})
	}
}
