package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/turnloop"
)

// shell is a model that runs one shell command.
func shell(command string) string {
	return oneCall("shell_run", fmt.Sprintf(`{ argv = ["sh", "-c", %q] }`, command))
}

func approved(request agent.Request) agent.Request {
	request.Turn.Yes = true
	return request
}

// details are the lines below the message of an error.
func details(err error) string {
	var f *problem.Error
	if !errors.As(err, &f) {
		return ""
	}
	return strings.Join(f.Details, "\n")
}

// hooked is a shell command that gives git commands to run.
const hooked = "mkdir -p .git/hooks .git/info; echo true >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo x >>.git/info/exclude; git config alias.x '!true'"

// TestFilesThatGitObeys varies the changed file that git obeys. The turn stops, and names the file.
func TestFilesThatGitObeys(t *testing.T) {
	t.Parallel()
	rebase := func(s *front.Scratch) {
		s.Git("switch", "-q", "-c", "side")
		s.Write("a.txt", "side\n")
		s.Commit()
		s.Write("b.txt", "more\n")
		s.Commit()
		s.Git("switch", "-q", "main")
		s.Write("a.txt", "main\n")
		s.Commit()
		s.Git("switch", "-q", "side")
		require.NoError(t, s.Ask(&front.Front{}, approved(s.Request(shell("git rebase main || true"), "Go"))), "a tool may start one")
		require.True(t, s.Exists(".git/rebase-merge/git-rebase-todo"))
	}
	merge := func(s *front.Scratch) {
		s.Git("switch", "-q", "-c", "side")
		s.Write("a.txt", "side\n")
		s.Commit()
		s.Git("switch", "-q", "main")
		s.Write("a.txt", "main\n")
		s.Commit()
		require.NoError(t, s.Ask(&front.Front{}, approved(s.Request(shell("git merge side || true"), "Go"))), "a tool may start one")
		require.True(t, s.Exists(".git/MERGE_MSG"))
	}
	others := func(s *front.Scratch) {
		s.Git("init", "-q", filepath.Join(s.Home, "lib"))
		s.Git("-C", filepath.Join(s.Home, "lib"), "commit", "-q", "--allow-empty", "-m", "lib")
		s.Git("submodule", "--quiet", "add", filepath.Join(s.Home, "lib"), "sub")
		s.Commit()
		s.Git("config", "extensions.worktreeConfig", "true")
		s.Git("worktree", "add", "-q", filepath.Join(s.Home, "other"))
		s.Git("config", "include.path", "inc")
		s.Git("config", "core.hooksPath", ".git/own")
		s.Write(".git/inc", "")
		s.Write(".git/own/keep", "")
	}
	for _, row := range []struct {
		name    string
		before  func(s *front.Scratch)
		command string
		config  string
		want    string // a pattern of the files, "": the turn goes on
		absent  string // a file that is gone afterwards
	}{
		{name: "hooks, excludes and aliases", command: hooked, want: `\.git/config \.git/hooks/pre-commit \.git/info/exclude`},
		{name: "without snapshots", command: hooked, config: "[snapshot]\nmode = \"off\"\n", want: `\.git/config \.git/hooks/pre-commit \.git/info/exclude`},
		{name: "a commit, and the same again", before: func(s *front.Scratch) { s.Git("config", "alias.x", "!true") }, command: "git config alias.x '!true'; echo x >x && git add x && git commit -qm x"},
		{name: "a step of a rebase", before: rebase, command: "echo 'exec touch OWNED' >>.git/rebase-merge/git-rebase-todo", want: `\.git/rebase-merge/git-rebase-todo`},
		{name: "the end of a rebase", before: rebase, command: "echo both >a.txt; git add a.txt; GIT_EDITOR=true git rebase --continue; test -e b.txt && rm b.txt", absent: ".git/rebase-merge"},
		{name: "the author, and a branch of a rebase", before: rebase, command: "sed -i \"s/^GIT_AUTHOR_NAME=.*/GIT_AUTHOR_NAME='Eve'/\" .git/rebase-merge/author-script; printf 'refs/heads/main\\n%040d\\n%040d\\n' 0 0 >.git/rebase-merge/update-refs", want: `\.git/rebase-merge/author-script \.git/rebase-merge/update-refs`},
		{name: "the message of a merge", before: merge, command: "echo Evil >.git/MERGE_MSG", want: `\.git/MERGE_MSG`},
		{name: "another merge, and picks", before: merge, command: "git merge --abort; git merge -m Other side; git reset -q --hard; git merge --squash side; git reset -q --hard; git cherry-pick side; git cherry-pick --abort; git merge side; test -e .git/MERGE_MSG"},
		{name: "a merge's end", before: merge, command: "echo both >a.txt; git commit -qam both", absent: ".git/MERGE_MSG"},
		{name: "a replacement", before: func(s *front.Scratch) { s.Git("commit", "-q", "--allow-empty", "-m", "second") }, command: "git replace HEAD HEAD~1", want: `\.git/refs/replace/[0-9a-f]{40,64}`},
		{name: "of a submodule", before: others, command: "git -C sub config core.fsmonitor true; mkdir -p .git/modules/sub/hooks; echo true >.git/modules/sub/hooks/post-checkout", want: `\.git/modules/sub/config \.git/modules/sub/hooks/post-checkout`},
		{name: "another repository in place of a submodule's", before: others, command: "cp -r .git/modules/sub .sg; git config --file .sg/config core.worktree ../sub; echo 'gitdir: ../.sg' >sub/.git", want: `sub/\.git`},
		{name: "of another working tree", before: others, command: "git config --file .git/worktrees/other/config.worktree core.fsmonitor true", want: `\.git/worktrees/other/config\.worktree`},
		{name: "of an include and another folder of hooks", before: others, command: "git config --file .git/inc core.fsmonitor true; echo true >.git/own/post-checkout", want: `\.git/inc \.git/own/post-checkout`},
		{name: "another common folder", before: others, command: "cp -r .git .c; echo ../.c >.git/commondir", want: `\.git/commondir`},
		{name: "a file in place of git's folder", command: "mv .git gx; echo 'gitdir: gx' >.git", want: `\.git`},
		{name: "a link in its place", command: "mv .git gx; ln -s gx .git", want: `\.git`},
		{name: "a new working tree, and commits", before: others, command: "git worktree add -q $PWD/wt2 -b wt2; echo x >x; git add x; git -C sub commit -q --allow-empty -m y"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			if row.before != nil {
				row.before(s)
			}
			s.Configure(row.config)
			err := s.Ask(f, approved(s.Request(shell(row.command), "Go")))
			if row.absent != "" {
				require.False(t, s.Exists(row.absent))
			}
			result := bodies[*conversation.ToolCallResponse](f.Events())[0]
			var left []string
			for _, skipped := range result.LeftOut {
				if skipped.Why == "git obeys it" {
					left = append(left, skipped.Path)
				}
			}
			if row.want == "" {
				require.NoError(t, err)
				require.Equal(t, "Over.", f.Last().Outcome.Message)
				require.Empty(t, left)
				return
			}
			require.ErrorContains(t, err, "the turn stopped: shell_run changed files that git obeys.")
			require.Regexp(t, "^"+row.want+"$", strings.ReplaceAll(strings.Join(left, " "), s.Dir+"/", ""))
			for _, path := range left {
				require.Contains(t, details(err), strings.TrimPrefix(path, s.Dir+"/"))
			}
			require.Contains(t, hints(err), "jp continue "+f.Last().ID.Short())
			require.Contains(t, hints(err), "jp continue --discard "+f.Last().ID.Short())
			require.Equal(t, turnloop.Incomplete, f.Last().Outcome.Status)
			if s.Exists(".git/commondir") {
				return // the conversation is in the other one
			}
			require.NoError(t, s.Ask(f, front.Resume(f.Last().ID)))
			require.Equal(t, "Over.", f.Last().Outcome.Message)
		})
	}
}

// TestCopyInPlaceOfGit: the result stays unrecorded, since the store went with git's folder. The turn stops,
// and names it.
func TestCopyInPlaceOfGit(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	err := s.Ask(&front.Front{}, approved(s.Request(shell("cp -r .git gx; rm -rf .git; ln -s gx .git"), "Go")))
	require.ErrorContains(t, err, "files that git obeys changed since shell_run started.")
	require.Contains(t, details(err), ".git\n")
}

// TestControlFilesOnResume: jp died while a tool changed files that git obeys. A resume stops before any tool
// runs, and the next one goes on.
func TestControlFilesOnResume(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		back    bool // the user takes it back by hand
		discard bool
	}{{name: "resumed"}, {name: "taken back by hand", back: true}, {name: "discarded", discard: true}} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			config := s.Read(".git/config")
			script := strings.Replace(shell("mkdir -p .git/hooks; echo true >.git/hooks/pre-commit; git config alias.x '!true'"), "[[reply]]\nmessage", "[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"touch\", \"after\"] }\n[[reply]]\nmessage", 1)
			require.Error(t, s.Ask(f, approved(s.Request(script, "Go"))))
			started := -1
			for _, e := range s.Load(f.Last().ID) {
				if e.Type() == conversation.TypeToolStarted && started < 0 {
					started = e.Seq
				}
			}
			id := s.Fork(f.Last().ID, started)
			if row.discard {
				require.NoError(t, s.Ask(f, front.Discard(id)))
				require.Contains(t, strings.Join(s.Notes(), "\n"), "Files that git obeys changed since shell_run started. Look at them before you use git here:\n  .git/config\n  .git/hooks/pre-commit\n")
				return
			}
			if row.back {
				s.Write(".git/config", config)
				require.NoError(t, os.Remove(filepath.Join(s.Dir, ".git/hooks/pre-commit")))
			}
			err := s.Ask(f, approved(front.Resume(id)))
			if !row.back {
				require.ErrorContains(t, err, "the turn stopped: files that git obeys changed since shell_run started.")
				require.Equal(t, ".git/config\n.git/hooks/pre-commit\nLook at these files before you use git here.", details(err))
				require.False(t, s.Exists("after"))
				require.Equal(t, "jp continue "+id.Short(), strings.Split(hints(err), "\n")[0])
				events := s.Load(id)
				require.True(t, events[len(events)-1].Body.(*conversation.TurnInterrupted).ControlShown)
				err = s.Ask(f, approved(front.Resume(id)))
			}
			require.NoError(t, err)
			require.Equal(t, "Over.", f.Last().Outcome.Message)
			require.True(t, s.Exists("after"))
		})
	}
}
