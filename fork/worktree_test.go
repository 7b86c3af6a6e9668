package fork_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/fork"
	"jp/internal/testing/front"
)

// pointer is a file of git-lfs in the place of content with an id.
func pointer(oid string) string {
	return "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 8\n"
}

// lfs makes a filter of the user's own that acts like git-lfs: it leaves pointers if its environment says so.
func lfs(s *front.Scratch) {
	s.Git("config", "filter.lfs.clean", "cat")
	s.WriteOwn("lfs.sh", "#!/bin/sh\nif [ -n \"$GIT_LFS_SKIP_SMUDGE\" ]; then cat; else cat >/dev/null; echo content; fi\n")
	must(os.Chmod(filepath.Join(s.Home, "lfs.sh"), 0o700))
	s.Git("config", "filter.lfs.smudge", filepath.Join(s.Home, "lfs.sh"))
	s.Write(".gitattributes", "*.lfs filter=lfs\n")
	s.Write("a.lfs", pointer(oid))
	s.Commit()
	own(s)
}

// own makes the filters of the repository the user's own, too.
func own(s *front.Scratch) {
	lines := strings.Split(s.Git("config", "--local", "--get-regexp", `^filter\.`), "\n")
	for i, line := range lines {
		key, value, _ := strings.Cut(line, " ")
		s.Environ = append(s.Environ, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	s.Environ = append(s.Environ, fmt.Sprint("GIT_CONFIG_COUNT=", len(lines)))
}

const oid = "1111111111111111111111111111111111111111111111111111111111111111"

// crypt makes files with a filter that turns letters by 13.
func crypt(names ...string) func(*front.Scratch) {
	return func(s *front.Scratch) {
		for _, name := range []string{"clean", "smudge"} {
			s.Git("config", "filter.crypt."+name, "tr a-z n-za-m")
		}
		s.Write(".gitattributes", "*.key filter=crypt\n")
		for _, name := range names {
			s.Write(name, "secret\n")
		}
		s.Commit()
	}
}

func keys(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("k%02d.key", i))
	}
	return names
}

// TestWorktreeFiles varies the files of the repository, and checks the content of a new working tree. A turn
// changes a.txt first.
func TestWorktreeFiles(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		make    func(s *front.Scratch)
		argv    string                 // of the tool, as TOML; "": it makes made.txt
		writes  string                 // output of the tool for files in place of a program
		then    func(s *front.Scratch) // after the turn
		backups bool
		there   map[string]string
		absent  []string
		filters []string // PATH FILTER of each file without its filter's conversion
		told    []string
		silent  []string
		files   []string // PATH of each of the user's own files, with ! if it has no copy
		skipped []string
		sparse  int
	}{
		{name: "plain", there: map[string]string{"made.txt": "made\n", "README.md": "# A repository\n"}},
		{
			name: "a filter that is not approved", make: crypt("a.key", "b c.key"), absent: []string{"a.key", "b c.key"}, filters: []string{"a.key crypt", "b c.key crypt"},
			told: []string{"Not written, since jp does not run their filter: a.key, b c.key. The newest ", " checkout -- a.key 'b c.key'   writes them"}, silent: []string{"more", "Pointers"},
		},
		{
			name: "as many as are named", make: crypt(keys(20)...), told: []string{"k18.key, k19.key. ", "k18.key k19.key   writes them"}, silent: []string{"more"},
		},
		{
			name: "more than are named", make: crypt(keys(22)...), absent: keys(22), told: []string{"k18.key, k19.key and 2 files more. ", " checkout -- .   writes them"}, silent: []string{"k20"},
		},
		{name: "a filter of the user's own", make: func(s *front.Scratch) { crypt("a.key")(s); own(s) }, there: map[string]string{"a.key": "secret\n"}},
		{
			name: "an approved filter that runs a file of the working tree", make: func(s *front.Scratch) {
				s.Write("turn.sh", "#!/bin/sh\nexec tr a-z n-za-m\n")
				must(os.Chmod(filepath.Join(s.Dir, "turn.sh"), 0o700))
				s.Git("config", "filter.crypt.clean", "./turn.sh")
				s.Git("config", "filter.crypt.smudge", "./turn.sh")
				s.Write(".gitattributes", "*.key filter=crypt\n")
				s.Write("a.key", "secret\n")
				s.Commit()
				own(s)
			}, absent: []string{"a.key"}, filters: []string{"a.key crypt"},
		},
		{
			name: "content that LFS lacks here", make: lfs, there: map[string]string{"a.lfs": pointer(oid)}, filters: []string{"a.lfs lfs"},
			told: []string{"Pointers without their content: a.lfs.   git -C ", " lfs pull   brings what the server has"}, silent: []string{"Not written"},
		},
		{
			name: "content that LFS has", make: func(s *front.Scratch) {
				lfs(s)
				s.Write(".git/lfs/objects/11/11/"+oid, "content\n")
			}, there: map[string]string{"a.lfs": "content\n"},
		},
		{
			name: "a user who wants pointers", make: func(s *front.Scratch) {
				lfs(s)
				s.Environ = append(s.Environ, "GIT_LFS_SKIP_SMUDGE=1")
			}, there: map[string]string{"a.lfs": pointer(oid)},
		},
		{
			name: "no pointer behind the filter of LFS", make: func(s *front.Scratch) {
				lfs(s)
				s.Git("config", "filter.lfs.smudge", "cat")
				own(s)
				s.Write("a.lfs", "no pointer\n")
				s.Write("b.lfs", strings.Repeat("long\n", 1000))
				s.Commit()
			}, there: map[string]string{"a.lfs": "no pointer\n"},
		},
		{name: "a link among filtered files", make: func(s *front.Scratch) {
			crypt("a.key")(s)
			must(os.Symlink("README.md", filepath.Join(s.Dir, "link.key")))
			s.Commit()
		}, there: map[string]string{"link.key": "# A repository\n"}, filters: []string{"a.key crypt"}},
		{
			name: "a sparse checkout", make: func(s *front.Scratch) {
				for _, name := range []string{"in/a", "out/b", "out/c"} {
					s.Write(name, "text\n")
				}
				s.Commit()
				s.Git("sparse-checkout", "set", "in")
			}, there: map[string]string{"in/a": "text\n"}, absent: []string{"out/b"}, sparse: 2,
		},
		{
			name: "a file that was changed and not committed", make: func(s *front.Scratch) { s.Write("README.md", "mine\n") },
			there: map[string]string{"README.md": "mine\n"},
		},
		{
			name: "a file that snapshots skip", make: func(s *front.Scratch) { s.Write(".gitignore", ".env\n"); s.Commit() },
			writes: ".env", absent: []string{".env"}, skipped: []string{".env"},
		},
		{
			name: "the user's own files", backups: true, make: func(s *front.Scratch) {
				s.Write(".gitignore", ".env\nbuild/\n")
				s.Commit()
				s.Write(".env", "secret\n")
				s.Write("notes.txt", "mine\n")
				s.Write("build/out", "x\n")
			}, argv: `["sh", "-c", "rm .env notes.txt; echo tool >notes.txt"]`, there: map[string]string{".env": "secret\n", "notes.txt": "tool\n"}, absent: []string{"build/out"}, files: []string{".env", "!build/"},
		},
		{
			name: "the user's own files, unasked", make: func(s *front.Scratch) {
				s.Write(".gitignore", ".env\n")
				s.Commit()
				s.Write(".env", "secret\n")
			}, argv: `["sh", "-c", "rm .env"]`, absent: []string{".env"},
		},
		{name: "no files of the user's own", backups: true, there: map[string]string{"made.txt": "made\n"}},
		{name: "no backups", backups: true, make: func(s *front.Scratch) {
			s.Configure("[backup]\nenable = false\n")
			s.Write(".gitignore", ".env\n")
			s.Commit()
			s.Write(".env", "secret\n")
		}, argv: `["sh", "-c", "rm .env"]`, absent: []string{".env"}},
		{
			name: "core.worktree leads elsewhere", then: func(s *front.Scratch) {
				s.Git("config", "extensions.worktreeConfig", "true")
				s.Git("config", "core.worktree", s.Dir)
			}, there: map[string]string{"made.txt": "made\n"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			if row.make != nil {
				row.make(s)
			}
			if row.argv == "" {
				row.argv = `["sh", "-c", "echo made >made.txt"]`
			}
			call := "name = \"shell_run\"\narguments = { argv = " + row.argv + " }\n"
			if row.writes != "" {
				call = "name = \"fs_create_file\"\narguments = { path = \"" + row.writes + "\", content = \"x\" }\n"
			}
			request := s.Request("[[reply]]\n[[reply.tool_call]]\n"+call+"[[reply]]\nmessage = \"Done.\"\n", "Work")
			request.Turn.Yes = true
			require.NoError(t, s.Ask(f, request))
			if row.then != nil {
				row.then(s)
			}
			r := s.Open()
			defer r.Close()
			v, err := fork.ForkCut{}.View(t.Context(), r, string(f.Last().ID))
			require.NoError(t, err)
			made, err := fork.New(v, fork.ForkCut{})
			require.NoError(t, err)
			dir := filepath.Join(s.Home, "try")
			done, err := made.WithWorktree(t.Context(), dir, "", row.backups)
			require.NoError(t, err)
			for path, text := range row.there {
				found, err := os.ReadFile(filepath.Join(dir, path))
				require.NoError(t, err)
				require.Equal(t, text, string(found), path)
			}
			for _, path := range row.absent {
				require.NoFileExists(t, filepath.Join(dir, path))
			}
			var filters, files []string
			for _, u := range done.Unconverted {
				filters = append(filters, u.Path+" "+u.Filter)
				require.NotEmpty(t, u.Why)
			}
			if len(row.told) == 0 || row.filters != nil {
				require.Equal(t, row.filters, filters)
			}
			for _, f := range done.Files {
				files = append(files, strings.Repeat("!", boolean(!f.Done))+f.Path)
			}
			require.Equal(t, row.files, files)
			require.Equal(t, row.skipped, done.LeftOut.Paths())
			require.False(t, done.LeftOut.More)
			require.Equal(t, row.sparse, done.Sparse)
			var out strings.Builder
			fork.TellUnconverted(&out, dir, done.Unconverted)
			for _, words := range row.told {
				require.Contains(t, out.String(), words)
			}
			for _, words := range row.silent {
				require.NotContains(t, out.String(), words)
			}
			require.Equal(t, len(done.Unconverted) > 0, out.Len() > 0)
			s.Dir = dir
			require.Equal(t, dir, s.Git("rev-parse", "--show-toplevel"))
		})
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestWorktreeRefused varies the conversations and repositories that cannot have a working tree. A refusal
// leaves no files behind.
func TestWorktreeRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		make  func(s *front.Scratch)
		then  func(s *front.Scratch)
		wrong string
	}{
		{name: "no commit yet", make: func(s *front.Scratch) { s.Git("checkout", "-q", "--orphan", "unborn") }, wrong: "the branch had none yet."},
		{name: "its commit is not here", make: func(s *front.Scratch) { s.Configure("[snapshot]\nbase = \"none\"\n") }, then: func(s *front.Scratch) {
			s.Git("commit", "-q", "--amend", "-m", "other")
			s.Git("reflog", "expire", "--expire=all", "--all")
			s.Git("gc", "-q", "--prune=all")
		}, wrong: "is not in this repository."},
		{name: "a bare repository", then: func(s *front.Scratch) {
			bare := filepath.Join(s.Home, "bare")
			s.Git("clone", "-q", "--bare", s.Dir, bare)
			s.Git("push", "-q", bare, "refs/jp/*:refs/jp/*")
			s.Dir = bare
		}, wrong: "a bare repository has no files to put into a worktree."},
		{name: "git cannot write there", then: func(s *front.Scratch) { s.WriteOwn("sub", "a file") }, wrong: "cannot be a worktree"},
		{name: "core.worktree without an own configuration", then: func(s *front.Scratch) {
			s.Git("config", "core.bare", "true")
			s.Git("config", "extensions.worktreeConfig", "true")
		}, wrong: "a bare repository"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			if row.make != nil {
				row.make(s)
			}
			require.NoError(t, s.Ask(f, s.Request("[[reply]]\nmessage = \"Done.\"\n", "Talk")))
			if row.then != nil {
				row.then(s)
			}
			r := s.Open()
			defer r.Close()
			before := s.Git("for-each-ref") + s.Git("worktree", "list")
			v, err := fork.ForkCut{}.View(t.Context(), r, string(f.Last().ID))
			require.NoError(t, err)
			made, err := fork.New(v, fork.ForkCut{})
			require.NoError(t, err)
			_, err = made.WithWorktree(t.Context(), filepath.Join(s.Home, "sub/try"), "", false)
			require.ErrorContains(t, err, row.wrong)
			require.Equal(t, before, s.Git("for-each-ref")+s.Git("worktree", "list"))
			require.NoDirExists(t, filepath.Join(s.Home, "sub/try"))
		})
	}
}

// TestForkRecords varies the repository between a conversation and its fork. The fork's first own event names
// its place.
func TestForkRecords(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		cut   fork.ForkCut
		do    func(s *front.Scratch, id conversation.ID)
		word  string // names the source; "": its id
		was   bool   // the origin has the former HEAD
		base  bool   // its first event branches off a commit of the user's
		files string // that the events which are cut away changed
	}{
		{name: "all of it", base: true},
		{name: "the user has committed", do: func(s *front.Scratch, _ conversation.ID) { s.Commit() }, was: true, base: true},
		{name: "a copy", cut: fork.ForkCut{First: 1, Last: 1}, base: true, files: "b.txt"},
		{name: "a copy after a commit", cut: fork.ForkCut{Last: 1}, do: func(s *front.Scratch, _ conversation.ID) { s.Commit() }, was: true, base: true},
		{name: "a copy without a base", cut: fork.ForkCut{Last: 1}, do: func(s *front.Scratch, _ conversation.ID) {
			s.Configure("[snapshot]\nbase = \"none\"\n")
		}},
		{name: "a fetched one", word: "origin/", do: func(s *front.Scratch, id conversation.ID) {
			s.Git("update-ref", "refs/jp/remotes/origin/"+string(id), "refs/jp/conversations/"+string(id))
			s.Git("update-ref", "-d", "refs/jp/conversations/"+string(id))
		}, base: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, id, _ := source(t)
			start := s.Git("rev-parse", "HEAD")
			if row.do != nil {
				row.do(s, id)
			}
			f, err := forked(t, s, row.word+string(id), row.cut, nil)
			require.NoError(t, err)
			events := s.Load(f.ID)
			var origin *conversation.Event
			cut := ""
			for _, e := range events {
				switch b := e.Body.(type) {
				case *conversation.ForkOrigin:
					require.Nil(t, origin)
					origin = e
				case *conversation.Workspace:
					for _, p := range b.Paths {
						cut = strings.TrimSpace(cut + " " + p.Path)
					}
				}
			}
			require.Equal(t, s.Git("rev-parse", "HEAD"), origin.Git.Head)
			require.Equal(t, row.was, origin.Git.HeadWas != "")
			require.Equal(t, row.files, cut)
			parents := strings.Fields(s.Git("rev-list", "--parents", "-n", "1", events[0].Commit))[1:]
			if row.base {
				require.Equal(t, []string{start}, parents)
			} else {
				require.Empty(t, parents)
			}
			request := front.Next(f.ID, "Go on")
			request.Turn.Model = s.Model("[[reply]]\nmessage = \"Over.\"\ntimes = 9\n")
			require.NoError(t, s.Ask(&front.Front{}, request), "it is the user's own")
		})
	}
}

// TestForkOfWaiting: a fork waits with the question of its source, unless the user adopts a question to
// someone else.
func TestForkOfWaiting(t *testing.T) {
	t.Parallel()
	for _, adopt := range []bool{false, true} {
		s, f := front.New(t), &front.Front{}
		request := s.Request(three(), "Make a file")
		request.Turn.Policy = "defer"
		require.Error(t, s.Ask(f, request))
		if adopt {
			require.NoError(t, os.Remove(filepath.Join(s.Home, ".local/state/jp/key")))
		}
		made, err := forked(t, s, string(f.Last().ID), fork.ForkCut{}, func(f *fork.Fork) { f.Adopts = adopt })
		require.NoError(t, err)
		events := s.Load(made.ID)
		waiting := 0
		for _, e := range events {
			switch e.Type() {
			case conversation.TypeInquiryRequest:
				waiting++
			case conversation.TypeInquiryResponse:
				waiting--
			}
		}
		require.Equal(t, adopt, waiting == 0)
		require.Equal(t, adopt, len(events) > made.At.Seq+2)
	}
}

// TestForkIDs: a taken id is not used again.
func TestForkIDs(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, s.Ask(f, s.Request("[[reply]]\nmessage = \"Over.\"\n", "Talk")))
	r := s.Open()
	defer r.Close()
	made := map[conversation.ID]bool{f.Last().ID: true}
	for range 3 {
		r.Env.Random = &again{}
		v, err := fork.ForkCut{}.View(t.Context(), r, string(f.Last().ID))
		require.NoError(t, err)
		fresh, err := fork.New(v, fork.ForkCut{})
		require.NoError(t, err)
		require.NoError(t, fresh.Create(t.Context(), nil))
		require.False(t, made[fresh.ID])
		made[fresh.ID] = true
		events := s.Load(fresh.ID)
		require.Nil(t, events[len(events)-1].Git)
	}
}

// again gives the same bytes to each fork that begins with it.
type again struct{ n byte }

// Read implements [io.Reader].
func (a *again) Read(p []byte) (int, error) {
	for i := range p {
		p[i], a.n = a.n*37, a.n+1
	}
	return len(p), nil
}
