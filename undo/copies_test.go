package undo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/front"
	"jp/undo"
)

// state is the entry at a path: absent, a folder, a link, or a file with its mode and its first line.
func state(s *front.Scratch, path string) string {
	name := filepath.Join(s.Dir, path)
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return "nothing"
	case info.IsDir():
		return "folder"
	case info.Mode()&os.ModeSymlink != 0:
		to, _ := os.Readlink(name)
		return "link " + to
	}
	text, _ := os.ReadFile(name)
	line, _, _ := strings.Cut(string(text), "\n")
	return fmt.Sprintf("%o %s", info.Mode().Perm(), line[:min(len(line), 20)])
}

func chmod(s *front.Scratch, path string, mode os.FileMode) {
	if err := os.Chmod(filepath.Join(s.Dir, path), mode); err != nil {
		panic(err)
	}
}

// TestUndoOfUntracked varies files outside of trees and the tools' changes to them. The undo brings back
// files with a copy, names the rest, and an undo of the undo takes it back. Before the tools there are,
// besides u.txt and d/v.txt, a.log and build/out, which git ignores, run.sh of mode 0755, link, and README.md
// of git.
func TestUndoOfUntracked(t *testing.T) {
	t.Parallel()
	all := []string{"README.md", "u.txt", "d", "d/v.txt", "a.log", "build/out", "run.sh", "link", "empty", "new", "new/in"}
	for _, row := range []struct {
		name   string
		config string
		turns  []string
		after  func(s *front.Scratch) // the user's later change
		event  string                 // of the undo; "": the last turn
		want   map[string]string
		stays  map[string]string // paths that the undo does not bring back, with their state
	}{
		{name: "all go", turns: []string{"rm -r README.md u.txt d a.log run.sh link"}, want: map[string]string{"README.md": "A", "a.log": "A", "d/v.txt": "A", "link": "A", "run.sh": "A", "u.txt": "A"}},
		{name: "all change", turns: []string{"for f in README.md u.txt d/v.txt a.log run.sh; do echo tool >$f; done; ln -sf u.txt link"}, want: map[string]string{"README.md": "M", "a.log": "M", "d/v.txt": "M", "link": "M", "run.sh": "M", "u.txt": "M"}},
		{name: "modes change", turns: []string{"chmod 600 README.md run.sh; chmod 755 u.txt a.log"}, want: map[string]string{"README.md": "M, mode 0644", "a.log": "M", "run.sh": "M", "u.txt": "M"}},
		{name: "modes and contents change", turns: []string{"for f in README.md u.txt a.log run.sh; do echo tool >$f; done; chmod 755 README.md u.txt a.log; chmod 644 run.sh"}, want: map[string]string{"README.md": "M", "a.log": "M", "run.sh": "M", "u.txt": "M"}},
		{name: "a folder in place of a file", turns: []string{"rm u.txt; mkdir u.txt; echo x >u.txt/in"}, want: map[string]string{"u.txt": "M", "u.txt/in": "D"}},
		{name: "a link in place of a file", turns: []string{"ln -sf README.md u.txt; ln -sf README.md a.log"}, want: map[string]string{"a.log": "M", "u.txt": "M"}},
		{name: "files move", turns: []string{"mv u.txt new; mv d/v.txt v.txt; mv a.log b.log"}, want: map[string]string{"a.log": "A", "b.log": "D", "d": "D", "d/v.txt": "A", "new": "D", "u.txt": "A", "v.txt": "D"}},
		{name: "folders come and go", turns: []string{"rmdir empty; mkdir -p new/in"}, want: map[string]string{"empty": "A", "new/in": "D"}},
		{name: "in two calls", turns: []string{"echo 1 >u.txt; echo 1 >a.log", "rm u.txt a.log"}, event: "0", want: map[string]string{"a.log": "A", "u.txt": "A"}},
		{name: "there and back", turns: []string{"cp u.txt b.txt; rm u.txt; mv b.txt u.txt; rm a.log; echo mine >a.log"}},
		{name: "came and went", turns: []string{"echo x >n.log; mkdir new; rm n.log; rmdir new"}},
		{name: "new ignored files", turns: []string{"echo x >n.log; mkdir -p build/new; echo x >build/new/file"}, want: map[string]string{"n.log": "D"}},
		{name: "a folder that git ignores goes", turns: []string{"rm -r build"}, want: map[string]string{"build/": "jp has no copy of it: jp does not look into folders that git ignores, nor into other repositories"}, stays: map[string]string{"build/out": "nothing"}},
		{name: "a large file goes", config: "[backup]\nfile_size = 5\n", turns: []string{"echo 0123456789 >a.log"}, want: map[string]string{"a.log": "what it is now is not recorded: 11 B, too large"}, stays: map[string]string{"a.log": "644 0123456789"}},
		{name: "the user wrote since", turns: []string{"rm u.txt a.log"}, after: func(s *front.Scratch) { s.Write("u.txt", "the user's\n"); s.Write("a.log", "the user's\n") }, want: map[string]string{"a.log": "others changed it after @5", "u.txt": "others changed it after @5"}, stays: map[string]string{"a.log": "600 the user's", "u.txt": "600 the user's"}},
		{name: "the user changed modes since", turns: []string{"chmod 755 u.txt; chmod 600 run.sh"}, after: func(s *front.Scratch) { chmod(s, "run.sh", 0o640); chmod(s, "u.txt", 0o640) }, want: map[string]string{"run.sh": "M"}, stays: map[string]string{"u.txt": "640 mine"}},
		{name: "the user brought it back", turns: []string{"rm u.txt; chmod 600 run.sh"}, after: func(s *front.Scratch) {
			s.Write("u.txt", "mine\n")
			chmod(s, "u.txt", 0o644)
			chmod(s, "run.sh", 0o755)
		}},
		{name: "without backups", config: "[backup]\nenable = false\n", turns: []string{"rm README.md u.txt a.log; echo tool >run.sh"}, want: map[string]string{"README.md": "A", "run.sh": "it was there before @5, under this name or another, and what it held then is not recorded", "u.txt": "was not recorded: deleted, or moved away"}, stays: map[string]string{"a.log": "nothing", "run.sh": "755 tool", "u.txt": "nothing"}},
		{name: "a kept file of an earlier turn", turns: []string{"rm u.txt a.log", "echo x >n.txt"}, event: "0", want: map[string]string{"a.log": "A", "n.txt": "D", "u.txt": "A"}},
		{name: "one of two turns", turns: []string{"rm u.txt", "rm a.log"}, want: map[string]string{"a.log": "A"}, stays: map[string]string{"u.txt": "nothing"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Configure("[sandbox]\nenable = false\n" + row.config)
			s.Write(".gitignore", "*.log\nbuild/\n")
			s.Commit()
			for _, path := range []string{"u.txt", "d/v.txt", "a.log", "build/out", "run.sh"} {
				s.Write(path, "mine\n")
				chmod(s, path, 0o644)
			}
			chmod(s, "README.md", 0o644)
			chmod(s, "run.sh", 0o755)
			chmod(s, "d", 0o755)
			require.NoError(t, os.Mkdir(filepath.Join(s.Dir, "empty"), 0o755))
			require.NoError(t, os.Symlink("README.md", filepath.Join(s.Dir, "link")))
			before := map[string]string{}
			for _, path := range all {
				before[path] = state(s, path)
			}
			id := ask(t, s, "", shells(row.turns...))
			for range row.turns[1:] {
				ask(t, s, id, "")
			}
			if row.after != nil {
				row.after(s)
			}
			then := map[string]string{}
			for _, path := range all {
				then[path] = state(s, path)
			}
			would, err := undoes(t, s, id, row.event, true)
			require.NoError(t, err)
			for _, path := range all {
				require.Equal(t, then[path], state(s, path), "a dry run changes nothing: %s", path)
			}
			done, err := undoes(t, s, id, row.event, false)
			require.NoError(t, err)
			stays := map[string]string{}
			for _, path := range all {
				if is := state(s, path); is != before[path] {
					stays[path] = is
				}
			}
			require.Len(t, stays, len(row.stays))
			require.Subset(t, stays, row.stays)
			require.Len(t, done, len(row.want))
			require.Subset(t, done, row.want)
			require.Equal(t, done, would)
			events := s.Load(id)
			if restored := events[len(events)-1]; restored.Type() == conversation.TypeRestored {
				_, err = undoes(t, s, id, fmt.Sprint(restored.Seq), false)
				require.NoError(t, err)
				for _, path := range all {
					require.Equal(t, then[path], state(s, path), "an undo is undone: %s", path)
				}
			}
		})
	}
}

// TestOutlook varies a turn's changes to files outside of trees, and the outlook for the user.
func TestOutlook(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		config  string
		command string
		after   func(s *front.Scratch)
		unknown bool
		want    *undo.Outlook
	}{
		{name: "trees have all of it", command: "echo x >>README.md; echo x >a.txt"},
		{name: "trees have all of it, and an author is unknown", command: "echo x >a.txt", unknown: true, want: &undo.Outlook{}},
		{name: "a text goes", command: "rm u.txt", want: &undo.Outlook{Files: []string{"u.txt"}, Known: []string{"u.txt"}, Lines: 2}},
		{name: "a text changes", command: "echo x >a.log", want: &undo.Outlook{Files: []string{"a.log"}, Known: []string{"a.log"}}},
		{name: "bytes go", command: "rm bytes.log", want: &undo.Outlook{Files: []string{"bytes.log"}, Known: []string{"bytes.log"}}},
		{name: "a link goes", command: "rm link", want: &undo.Outlook{Files: []string{"link"}, Known: []string{"link"}}},
		{name: "came and went", command: "echo x >n.log; rm n.log"},
		{name: "a folder without a copy", command: "rm -r build; rm u.txt", want: &undo.Outlook{Files: []string{"build/", "u.txt"}, Known: []string{"build/", "u.txt"}, Lines: 2, NoCopy: []string{"build/"}}},
		{name: "a file without a copy", config: "[backup]\nfile_size = 5\n", command: "rm a.log", want: &undo.Outlook{Files: []string{"a.log"}, Known: []string{"a.log"}, NoCopy: []string{"a.log (8 B)"}}},
		{name: "the user wrote since", command: "rm u.txt a.log", after: func(s *front.Scratch) { s.Write("u.txt", "the user's\n") }, want: &undo.Outlook{Files: []string{"a.log", "u.txt"}, Known: []string{"a.log", "u.txt"}, Lines: 4, Left: []string{"u.txt"}}},
		{name: "staged", command: "rm a.log; git add u.txt", want: &undo.Outlook{Files: []string{"a.log"}, Known: []string{"a.log", "u.txt"}, Lines: 2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Configure("[sandbox]\nenable = false\n" + row.config)
			s.Write(".gitignore", "*.log\nbuild/\n")
			s.Commit()
			s.Write("u.txt", "one\ntwo\n")
			s.Write("a.log", "one\ntwo\n")
			s.Write("bytes.log", "\x00\n\n")
			s.Write("build/out", "x\n")
			require.NoError(t, os.Symlink("README.md", filepath.Join(s.Dir, "link")))
			id := ask(t, s, "", shells("true", row.command))
			ask(t, s, id, "")
			if row.after != nil {
				row.after(s)
			}
			r := s.Open()
			defer r.Close()
			for turn, want := range map[int]*undo.Outlook{1: nil, 2: row.want} {
				o, err := undo.OutlookOf(t.Context(), r, r.Standings().Backups(), id, turn, row.unknown && turn == 2)
				require.NoError(t, err)
				if o != nil {
					o.Restore = undo.Outlook{}.Restore
				}
				require.Equal(t, want, o)
			}
			o, err := undo.OutlookOf(t.Context(), r, nil, id, 2, false)
			require.NoError(t, err)
			require.Nil(t, o, "without backups there is nothing to tell")
		})
	}
}

// TestCopyTo varies the backup that is written to a folder, and the folder's entries.
func TestCopyTo(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	s.Configure("[sandbox]\nenable = false\n")
	s.Write(".gitignore", "*.log\nbuild/\n")
	s.Commit()
	r := s.Open()
	_, err := undo.CopyTo(t.Context(), r, "", filepath.Join(s.Home, "none"))
	require.ErrorContains(t, err, "There is no backup of "+s.Dir)
	r.Close()
	s.Write("a.log", "one\n")
	s.Write("build/out", "x\n")
	id := ask(t, s, "", shells("echo two >a.log; rm -r build", "rm a.log"))
	first := len(s.Load(id)) - 1
	s.Tick(time.Hour)
	ask(t, s, id, "")
	s.WriteOwn("full/file", "x")
	for _, row := range []struct {
		name, word, dir, text, wrong string
	}{
		{name: "the newest one", dir: "newest", text: "two\n"},
		{name: "before the first turn's end", word: fmt.Sprintf("%s@%d", id, first), dir: "sub/first", text: "one\n"},
		{name: "before any", word: string(id) + "@0", dir: "zero", wrong: "jp made no backup before " + string(id) + "@0."},
		{name: "a conversation", word: string(id), dir: "conversation", wrong: "--to needs an event"},
		{name: "no such event", word: string(id) + "@999", dir: "event", wrong: "no event 999"},
		{name: "a folder with a file", dir: "full", wrong: "is not empty: --to needs a new or empty folder."},
		{name: "below a file", dir: "full/file/below", wrong: "not a directory"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := s.Open()
			defer r.Close()
			dir := filepath.Join(s.Home, row.dir)
			result, err := undo.CopyTo(t.Context(), r, row.word, dir)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.NoFileExists(t, filepath.Join(dir, "a.log"))
				return
			}
			require.NoError(t, err)
			require.Equal(t, id, result.Conversation)
			require.Len(t, result.Puts, 1)
			require.Equal(t, "a.log", result.Puts[0].Path)
			text, err := os.ReadFile(filepath.Join(dir, "a.log"))
			require.NoError(t, err)
			require.Equal(t, row.text, string(text))
		})
	}
}

// TestAgain: while the user decides about an undo, others can go on. Then jp plans anew.
func TestAgain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		between func(s *front.Scratch, id conversation.ID)
		same    bool
		puts    []string
	}{
		{name: "nothing", between: func(*front.Scratch, conversation.ID) {}, same: true, puts: []string{"a.txt", "b.txt"}},
		{name: "a turn that changes nothing", between: func(s *front.Scratch, id conversation.ID) { ask(t, s, id, "") }, same: true, puts: []string{"a.txt", "b.txt"}},
		{name: "a turn that changes files", between: func(s *front.Scratch, id conversation.ID) {
			ask(t, s, id, "")
			ask(t, s, id, "")
		}, puts: []string{"a.txt", "b.txt", "c.txt"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			id := ask(t, s, "", shells("echo a >a.txt; echo b >b.txt", "true", "echo c >c.txt"))
			r := s.Open()
			defer r.Close()
			u, of, err := undo.New(t.Context(), r, undo.Options{Action: "undo", Word: string(id) + "@0"})
			require.NoError(t, err)
			u.Before(of)
			_, agreed, err := u.Propose(t.Context())
			require.NoError(t, err)
			u.Close()
			row.between(s, id)
			s.Await(r, id)
			now, same, err := u.Again(t.Context(), agreed)
			require.NoError(t, err)
			defer u.Close()
			require.Equal(t, row.same, same)
			require.NoError(t, u.Do(t.Context(), now, u.Record))
			var puts []string
			for _, p := range now.Puts {
				puts = append(puts, p.Path)
				require.False(t, s.Exists(p.Path))
			}
			require.Equal(t, row.puts, puts)
		})
	}
}
