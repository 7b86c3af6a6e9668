package undo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/front"
	"jp/process"
	"jp/undo"
)

// TestUndoRecord varies the store of copies and the user's later changes. The record of an undo names each
// file, with the part of it that git does not keep, and the user learns whether another undo takes it back.
func TestUndoRecord(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		config string
		change func(s *front.Scratch) // before the undo
		after  func(s *front.Scratch)
		files  []conversation.RestoredFile
		back   bool
	}{
		{name: "with copies", files: []conversation.RestoredFile{{Path: "README.md", Done: true, Size: 5}, {Path: "new.txt", Done: true, Size: 7}}, back: true},
		{name: "without copies", config: "[backup]\nenable = false\n", files: []conversation.RestoredFile{{Path: "README.md", Done: true, Size: 5}, {Path: "new.txt", Done: true, Size: 7}}, back: true},
		{
			name: "a file of the user's", change: func(s *front.Scratch) { s.Write("new.txt", "the user's\n") },
			files: []conversation.RestoredFile{{Path: "README.md", Done: true, Size: 5}, {Path: "new.txt", Reason: "others changed it after @5"}}, back: true,
		},
		{
			name: "without copies, a file of the user's", config: "[backup]\nenable = false\n", change: func(s *front.Scratch) { s.Write("new.txt", "the user's\n") },
			files: []conversation.RestoredFile{{Path: "README.md", Done: true, Size: 5}, {Path: "new.txt", Reason: "others changed it after @5"}}, back: true,
		},
		{name: "nothing of it is left", change: func(s *front.Scratch) {
			s.Write("new.txt", "the user's\n")
			s.Write("README.md", "the user's\n")
		}},
		{name: "without copies, nothing of it is left", config: "[backup]\nenable = false\n", change: func(s *front.Scratch) {
			s.Write("new.txt", "the user's\n")
			s.Write("README.md", "the user's\n")
		}},
		{
			name: "the user writes since", after: func(s *front.Scratch) { s.Write("README.md", "the user's\n") },
			files: []conversation.RestoredFile{{Path: "README.md", Done: true, Size: 5}, {Path: "new.txt", Done: true, Size: 7}},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Configure("[sandbox]\nenable = false\n" + row.config)
			id := ask(t, s, "", shells("echo tool >README.md; echo a tool >new.txt"))
			if row.change != nil {
				row.change(s)
			}
			events := len(s.Load(id))
			r := s.Open()
			defer r.Close()
			s.Await(r, id)
			u, of, err := undo.New(t.Context(), r, undo.Options{Action: "undo", Word: string(id) + "@0"})
			require.NoError(t, err)
			_, err = r.Locks.Take(id, process.Holder{})
			require.ErrorIs(t, err, process.ErrLocked, "no turn goes on meanwhile")
			look, event, err := undo.New(t.Context(), r, undo.Options{Action: "undo", Word: string(id) + "@0", DryRun: true})
			require.NoError(t, err, "a dry run needs no lock")
			look.Before(event)
			_, would, err := look.Propose(t.Context())
			require.NoError(t, err)
			look.Close()
			u.Before(of)
			_, result, err := u.Propose(t.Context())
			require.NoError(t, err)
			require.NoError(t, u.Do(t.Context(), result, u.Record))
			require.Len(t, would.Files, len(result.Files))
			for i, f := range would.Files {
				require.False(t, f.Done)
				require.Equal(t, result.Files[i].Done, f.Reason == "dry run")
			}
			if len(result.Puts) == 0 {
				require.Nil(t, result.Event)
				require.Len(t, s.Load(id), events, "nothing is recorded")
				u.Close()
				return
			}
			all := s.Load(id)
			last := all[len(all)-1]
			require.Equal(t, last.Seq, *result.Event)
			require.Equal(t, row.files, last.Body.(*conversation.Restored).Files)
			if row.after != nil {
				row.after(s)
			}
			require.Equal(t, row.back, u.TakenBack(t.Context(), result))
			u.Close()
		})
	}
}
