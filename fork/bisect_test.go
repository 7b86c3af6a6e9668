package fork_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/conversation"
	"jp/fork"
	"jp/internal/testing/front"
	"jp/internal/testing/gitenv"
)

// counted is a conversation whose tool calls write 1 to n into f.txt, and the numbers of the events that have each.
func counted(t *testing.T, n int) (s *front.Scratch, id conversation.ID, at []int) {
	t.Helper()
	script := "[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"f.txt\", content = \"1\\n\" }\n"
	for i := 2; i <= n; i++ {
		script += fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"fs_modify_file\"\narguments = { path = \"f.txt\", edits = [{ old = \"%d\", new = \"%d\" }] }\n", i-1, i)
	}
	s = front.New(t)
	f, request := &front.Front{}, s.Request(script+"[[reply]]\nmessage = \"Done.\"\n", "Count")
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request))
	id = f.Last().ID
	for _, e := range s.Load(id) {
		if b, is := e.Body.(*conversation.ToolCallResponse); is && len(b.Changed) > 0 {
			at = append(at, e.Seq)
		}
	}
	require.Len(t, at, n)
	return s, id, at
}

// bisection opens the bisection as each command does. Programs that other tests start have its lock until they are executed.
func bisection(t *testing.T, s *front.Scratch, then func(r *repo.Repo, b *fork.Bisection)) {
	t.Helper()
	r := s.Open()
	defer r.Close()
	if lock, err := os.Open(filepath.Join(s.Dir, ".git/jp/bisect/lock")); err == nil {
		syscall.ForkLock.RLock()
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
		syscall.ForkLock.RUnlock()
		require.NoError(t, err)
		require.NoError(t, lock.Close())
	}
	b, err := fork.OpenBisection(t.Context(), s.Host(), r)
	require.NoError(t, err)
	defer b.Close()
	then(r, b)
}

func suspects(b *fork.Bisection) (all []int) {
	for _, e := range b.Suspects() {
		all = append(all, e.Seq)
	}
	return all
}

// TestBisectByCommand varies the command that judges and the ends between which it looks.
func TestBisectByCommand(t *testing.T) {
	t.Parallel()
	const n = 7
	s, id, at := counted(t, n)
	first := s.First
	event := func(i int) string { return fmt.Sprintf("@%d", at[i-1]) }
	for _, row := range []struct {
		name      string
		command   string
		good, bad string
		want      []int  // content of f.txt at the suspects
		wrong     string // of the command, or of the ends
		start     bool   // the ends are refused
	}{
		{name: "the first one", command: "test ! -e f.txt", want: []int{1}},
		{name: "the second one", command: "! grep -q '[2-7]' f.txt", want: []int{2}},
		{name: "in the middle", command: "! grep -q '[4-7]' f.txt", want: []int{4}},
		{name: "behind the middle", command: "! grep -q '[5-7]' f.txt", want: []int{5}},
		{name: "the newest one", command: "! grep -q 7 f.txt", want: []int{7}},
		{name: "between two ends", command: "! grep -q '[4-6]' f.txt", good: event(2), bad: event(6), want: []int{4}},
		{name: "ends beside each other", command: "! grep -q '[4-7]' f.txt", good: event(3), bad: event(4), want: []int{4}},
		{name: "from an end without a change", command: "! grep -q '[4-7]' f.txt", good: fmt.Sprintf("@%d", at[1]+1), want: []int{4}},
		{name: "some are skipped", command: "grep -q '[34]' f.txt && exit 125; ! grep -q '[5-7]' f.txt", want: []int{3, 4, 5}},
		{name: "all are skipped", command: "grep -q '[1-6]' f.txt && exit 125; ! grep -q 7 f.txt", want: []int{1, 2, 3, 4, 5, 6, 7}},
		{name: "a skipped one that does not matter", command: "grep -q 4 f.txt && exit 125; ! grep -q '[2-7]' f.txt", want: []int{2}},
		{name: "the least code for bad", command: "grep -q '[3-7]' f.txt && exit 1; true", want: []int{3}},
		{name: "the largest code for bad", command: "grep -q '[3-7]' f.txt && exit 127; true", want: []int{3}},
		{name: "a code that is no verdict", command: "exit 128", wrong: "gives no verdict on " + event(n) + " (exit 128)"},
		{name: "a signal", command: "kill -9 $$", wrong: "gives no verdict on " + event(n) + " (ended by SIGKILL)"},
		{name: "good where it should be bad", command: "true", wrong: "says good of " + event(n) + ", which should be bad"},
		{name: "bad where it should be good", command: "false", wrong: "says bad of the state before @0, which should be good"},
		{name: "a skipped end", command: "exit 125", wrong: "says skip of " + event(n) + ", which should be bad"},
		{name: "ends that are one", good: event(3), bad: event(3), start: true, wrong: "changed files between"},
		{name: "ends the wrong way round", good: event(5), bad: event(2), start: true, wrong: "changed files between"},
		{name: "no such bad end", bad: "@999", start: true, wrong: "no event 999"},
		{name: "no such good end", good: "@999", start: true, wrong: "no event 999"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s.Write("own.txt", "mine\n")
			before := s.Git("status", "--porcelain") + s.Git("worktree", "list")
			bisection(t, s, func(_ *repo.Repo, b *fork.Bisection) {
				defer func() { require.NoError(t, b.End(t.Context())) }()
				require.Nil(t, b.View)
				err := b.Start(t.Context(), s.Host(), string(id), row.good, row.bad)
				if row.start {
					require.ErrorContains(t, err, row.wrong)
					return
				}
				require.NoError(t, err)
				told := map[string]fork.Verdict{}
				err = b.Run(t.Context(), `test -z "$GIT_DIR$GIT_WORK_TREE" || exit 200; test "$PWD" = "$(pwd)" || exit 201; test ! -e own.txt || exit 202; `+row.command, io.Discard, func(step fork.Step, v fork.Verdict) {
					require.NotContains(t, told, step.Name(), "each step is judged once")
					told[step.Name()] = v
				})
				if row.wrong != "" {
					require.ErrorContains(t, err, row.wrong)
					return
				}
				require.NoError(t, err)
				var want []int
				for _, i := range row.want {
					want = append(want, at[i-1])
				}
				require.Equal(t, want, suspects(b))
				require.Zero(t, b.Left())
				if len(want) > 1 {
					require.ErrorContains(t, b.Undecided(), fmt.Sprintf("one of @%d, @%d", want[0], want[1]))
				} else {
					require.LessOrEqual(t, len(told), 2+3, "it halves what is left")
				}
			})
			require.Equal(t, before, s.Git("status", "--porcelain")+s.Git("worktree", "list"), "the user's files stay")
			require.Equal(t, first, s.Dir)
		})
	}
}

// TestBisectByHand varies the changes of the folder between two commands. Each step's files come there all
// the same.
func TestBisectByHand(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		between func(s *front.Scratch, dir string)
		same    bool // the folder stays the same one
		known   bool // git still knows the earlier ones at the end
	}{
		{name: "nothing", between: func(*front.Scratch, string) {}, same: true},
		{name: "changes", between: func(_ *front.Scratch, dir string) {
			must(os.WriteFile(filepath.Join(dir, "f.txt"), []byte("changed\n"), 0o600))
		}, same: true},
		{name: "it is gone", between: func(_ *front.Scratch, dir string) { must(os.RemoveAll(dir)) }},
		{name: "its link to the repository is gone", between: func(_ *front.Scratch, dir string) { must(os.Remove(filepath.Join(dir, ".git"))) }, known: true},
		{name: "another repository is there", between: func(s *front.Scratch, dir string) {
			must(os.RemoveAll(dir))
			cmd := exec.Command("git", "init", "-q", dir)
			cmd.Env = gitenv.Env(s.Home)
			must(cmd.Run())
		}, known: true},
		{name: "git forgot it", between: func(s *front.Scratch, dir string) { s.Git("worktree", "remove", "--force", dir) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, id, at := counted(t, 6)
			before := s.Git("worktree", "list")
			bisection(t, s, func(_ *repo.Repo, b *fork.Bisection) {
				require.ErrorContains(t, b.Judge(fork.Good), "there is nothing to judge")
				require.NoError(t, b.Start(t.Context(), s.Host(), string(id), "", ""))
			})
			left, last, more := 5, "", true
			for more {
				bisection(t, s, func(_ *repo.Repo, b *fork.Bisection) {
					require.ErrorContains(t, b.Start(t.Context(), s.Host(), string(id), "", ""), "is under way")
					require.Equal(t, left, b.Left())
					var err error
					more, err = b.Advance(t.Context())
					require.NoError(t, err)
					step, dir := b.Testing()
					if !more {
						require.Nil(t, step)
						return
					}
					require.True(t, last == "" || !row.same || dir == last)
					last = dir
					row.between(s, dir)
				})
				if !more {
					break
				}
				bisection(t, s, func(_ *repo.Repo, b *fork.Bisection) { // shows the place
					again, err := b.Advance(t.Context())
					require.NoError(t, err)
					require.True(t, again)
					step, dir := b.Testing()
					text, err := os.ReadFile(filepath.Join(dir, "f.txt"))
					require.NoError(t, err)
					require.Equal(t, fmt.Sprintf("%d\n", 1+index(at, step.Event.Seq)), string(text))
					verdict := fork.Good
					if step.Event.Seq >= at[3] {
						verdict = fork.Bad
					}
					require.NoError(t, b.Judge(verdict))
					require.ErrorContains(t, b.Judge(verdict), "there is nothing to judge")
					require.Less(t, b.Left(), left)
					left, last = b.Left(), dir
				})
			}
			bisection(t, s, func(_ *repo.Repo, b *fork.Bisection) {
				require.Equal(t, []int{at[3]}, suspects(b))
				require.NoError(t, b.End(t.Context()))
				require.NoError(t, b.End(t.Context()), "it has ended")
			})
			require.Equal(t, row.known, before != s.Git("worktree", "list"))
			require.NoDirExists(t, last)
		})
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func index(all []int, n int) int {
	for i, a := range all {
		if a == n {
			return i
		}
	}
	return -1
}

// TestBisectGoesOn: a bisection that was interrupted goes on, and one whose events are gone can only end.
func TestBisectGoesOn(t *testing.T) {
	t.Parallel()
	s, id, at := counted(t, 6)
	const command = "! grep -q '[3-6]' f.txt"
	judged := 0
	bisection(t, s, func(r *repo.Repo, b *fork.Bisection) {
		_, err := fork.OpenBisection(t.Context(), s.Host(), r)
		require.ErrorContains(t, err, "another jp bisect works in this repository.")
		require.NoError(t, b.Start(t.Context(), s.Host(), string(id), "", ""))
		ctx, cancel := context.WithCancel(t.Context())
		err = b.Run(ctx, command, io.Discard, func(fork.Step, fork.Verdict) {
			if judged++; judged == 3 {
				cancel()
			}
		})
		require.ErrorIs(t, err, context.Canceled)
		_, err = fork.OpenBisection(ctx, s.Host(), r)
		require.Error(t, err)
	})
	r := s.Open()
	defer r.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := fork.OpenBisection(ended, s.Host(), r)
	require.ErrorIs(t, err, context.Canceled, "what an interrupt keeps it from reading is not lost")
	var output strings.Builder
	bisection(t, s, func(_ *repo.Repo, b *fork.Bisection) {
		require.NoError(t, b.Lost)
		require.Equal(t, id, b.View.ID)
		require.NoError(t, b.Run(t.Context(), "echo looked; "+command, &output, func(fork.Step, fork.Verdict) { judged++ }))
		require.Equal(t, []int{at[2]}, suspects(b))
		require.LessOrEqual(t, judged, 2+3)
		require.Contains(t, output.String(), "looked\n", "the user sees what the command prints")
		_, dir := b.Testing()
		require.DirExists(t, dir)
	})
	s.Git("update-ref", "-d", "refs/jp/conversations/"+string(id))
	bisection(t, s, func(_ *repo.Repo, b *fork.Bisection) {
		require.ErrorContains(t, b.Lost, "jp bisect reset ends it")
		_, dir := b.Testing()
		require.NoError(t, b.End(t.Context()))
		require.NoDirExists(t, dir)
	})
	bisection(t, s, func(_ *repo.Repo, b *fork.Bisection) { require.NoError(t, b.Lost) })
}

// TestBisectStateOfOthers: jp believes only a state that it wrote itself.
func TestBisectStateOfOthers(t *testing.T) {
	t.Parallel()
	s, id, _ := counted(t, 3)
	bisection(t, s, func(_ *repo.Repo, b *fork.Bisection) {
		require.NoError(t, b.Start(t.Context(), s.Host(), string(id), "", ""))
	})
	path := filepath.Join(s.Dir, ".git/jp/bisect/state")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(text, ' '), 0o600))
	bisection(t, s, func(_ *repo.Repo, b *fork.Bisection) {
		require.Nil(t, b.View)
		require.NoError(t, b.Start(t.Context(), s.Host(), string(id), "", ""), "none is under way")
	})
	require.NoError(t, os.WriteFile(path, text, 0o600))
	bisection(t, s, func(_ *repo.Repo, b *fork.Bisection) { require.NotNil(t, b.View) })
}
