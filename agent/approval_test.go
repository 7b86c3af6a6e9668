package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/front"
	"jp/turnloop"
)

// oneCall is a model that makes one call, and then answers.
func oneCall(name, arguments string) string {
	return fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = %q\narguments = %s\n[[reply]]\nmessage = \"Over.\"\n", name, arguments)
}

// TestApprovalOfFiles varies the change between an approval and the run. An approval is for the files that
// the call names, as they were at the question.
func TestApprovalOfFiles(t *testing.T) {
	t.Parallel()
	shell := func(argv string) string { return oneCall("shell_run", "{ argv = ["+argv+"] }") }
	remove := oneCall("fs_delete_file", `{ path = "doomed.txt" }`)
	run := shell(`"sh", "-c", "sh deploy.sh; sh tracked.sh"`)
	tidy := shell(`"rm", "-r", "d"`)
	ignored := shell(`"sh", "-c", "rm -r 'ign'"`)
	pattern := shell(`"sh", "-c", "cd ign && rm *"`)
	outside := shell(`"rm", "../out/x"`)
	commit := oneCall("git_commit", `{ message = "Add dir", paths = ["dir"] }`)
	staged := oneCall("git_commit", `{ message = "Staged", staged = true }`)
	scripts := map[string]string{"deploy.sh": "echo one >>out\n"}
	const two = "echo two >>out\n"
	for _, row := range []struct {
		name      string
		files     map[string]string // untracked, besides those of the first commit
		script    string
		change    map[string]string // "" removes a file
		do        func(s *front.Scratch)
		advance   bool   // the resume approves all calls
		subject   string // of the call, if it is asked again; "": the approval holds
		then      string // the answer when it is asked again
		want      map[string]string
		committed string // by the last commit
	}{
		{name: "nothing", script: remove, want: map[string]string{"doomed.txt": ""}},
		{name: "a tracked file", script: remove, change: map[string]string{"doomed.txt": "by hand\n"}, subject: "fs_delete_file doomed.txt", then: "run", want: map[string]string{"doomed.txt": ""}},
		{name: "a tracked file, and then a no", script: remove, change: map[string]string{"doomed.txt": "by hand\n"}, subject: "fs_delete_file doomed.txt", then: "skip", want: map[string]string{"doomed.txt": "by hand\n"}},
		{name: "another file", script: remove, change: map[string]string{"tracked.sh": two}, want: map[string]string{"doomed.txt": "", "tracked.sh": two}},
		{name: "a tracked file, approved in advance", script: remove, change: map[string]string{"doomed.txt": "by hand\n"}, advance: true, want: map[string]string{"doomed.txt": ""}},
		{
			name: "an untracked file that is recorded first when the tool runs", files: map[string]string{"mine.txt": "mine\n"},
			script: oneCall("fs_delete_file", `{ path = "mine.txt" }`), want: map[string]string{"mine.txt": ""},
		},
		{
			name: "an untracked file", files: map[string]string{"mine.txt": "one\n"}, script: oneCall("fs_delete_file", `{ path = "mine.txt" }`),
			change: map[string]string{"mine.txt": "two\n"}, subject: "fs_delete_file mine.txt", then: "run", want: map[string]string{"mine.txt": ""},
		},
		{
			name: "an ignored file", files: map[string]string{"ign/mine.txt": "one\n"}, script: oneCall("fs_delete_file", `{ path = "ign/mine.txt" }`),
			change: map[string]string{"ign/mine.txt": "two\n"}, subject: "fs_delete_file ign/mine.txt", then: "skip", want: map[string]string{"ign/mine.txt": "two\n"},
		},
		{name: "a file, of a tool that names none", script: shell(`"touch", "made.txt"`), change: map[string]string{"doomed.txt": "by hand\n"}, want: map[string]string{"doomed.txt": "by hand\n"}},

		{name: "an untracked script", files: scripts, script: run, change: map[string]string{"deploy.sh": two}, subject: "shell_run sh -c 'sh deploy.sh; sh tracked.sh'", then: "run", want: map[string]string{"out": "two\none\n"}},
		{name: "a tracked script", files: scripts, script: run, change: map[string]string{"tracked.sh": two}, subject: "shell_run sh -c 'sh deploy.sh; sh tracked.sh'", then: "skip", want: map[string]string{"out": ""}},
		{name: "a script that was not there", script: run, change: map[string]string{"deploy.sh": two}, subject: "shell_run sh -c 'sh deploy.sh; sh tracked.sh'", then: "skip", want: map[string]string{"out": ""}},

		{name: "a file of a folder", files: map[string]string{"d/x": "1\n"}, script: tidy, change: map[string]string{"d/x": "2\n"}, subject: "shell_run rm -r d", then: "skip", want: map[string]string{"d/x": "2\n"}},
		{name: "a new file of a folder", files: map[string]string{"d/x": "1\n"}, script: tidy, change: map[string]string{"d/new": "2\n"}, subject: "shell_run rm -r d", then: "run", want: map[string]string{"d/x": "", "d/new": ""}},
		{name: "a file of an ignored folder, in the text of a shell", files: map[string]string{"ign/x": "1\n"}, script: ignored, change: map[string]string{"ign/x": "2\n"}, subject: "shell_run sh -c 'rm -r '\\''ign'\\'''", then: "skip", want: map[string]string{"ign/x": "2\n"}},
		{name: "a file of a pattern", files: map[string]string{"ign/x": "1\n"}, script: pattern, change: map[string]string{"ign/y": "2\n"}, subject: "shell_run sh -c 'cd ign && rm *'", then: "skip", want: map[string]string{"ign/y": "2\n"}},
		{name: "nothing of a pattern", files: map[string]string{"ign/x": "1\n"}, script: pattern, want: map[string]string{"ign/x": ""}},
		{name: "a file outside", files: map[string]string{"../out/x": "1\n"}, script: outside, change: map[string]string{"../out/x": "2\n"}, subject: "shell_run rm ../out/x", then: "skip", want: map[string]string{"../out/x": "2\n"}},

		{name: "a file of a commit", files: map[string]string{"dir/a.sh": "1\n"}, script: commit, change: map[string]string{"dir/a.sh": "2\n"}, subject: `git_commit "Add dir"`, then: "run", committed: "dir/a.sh"},
		{name: "a new file of a commit", files: map[string]string{"dir/a.sh": "1\n"}, script: commit, change: map[string]string{"dir/b.sh": "2\n"}, subject: `git_commit "Add dir"`, then: "run", committed: "dir/a.sh\ndir/b.sh"},
		{name: "a file beside a commit", files: map[string]string{"dir/a.sh": "1\n"}, script: commit, change: map[string]string{"elsewhere.sh": "2\n"}, committed: "dir/a.sh"},
		{
			name: "what is staged", files: map[string]string{"one": "1\n", "two": "2\n"}, script: staged,
			do: func(s *front.Scratch) { s.Git("add", "two") }, subject: `git_commit what you staged: "Staged"`, then: "run", committed: "one\ntwo",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Dir = filepath.Join(s.Dir, "repo") // a folder of its own has files beside it
			require.NoError(t, os.Mkdir(s.Dir, 0o700))
			s.Git("init", "-q")
			s.Write(".gitignore", "ign\n")
			s.Write("doomed.txt", "first\n")
			s.Write("tracked.sh", "echo one >>out\n")
			s.Commit()
			for path, text := range row.files {
				s.Write(path, text)
			}
			if row.script == staged {
				s.Git("add", "one")
			}
			request := s.Request(row.script, "Work")
			request.Turn.Policy = "defer"
			require.Error(t, s.Ask(f, request))
			id := f.Last().ID
			require.Equal(t, turnloop.Waiting, f.Last().Outcome.Status)
			if row.subject != "" {
				require.NotEmpty(t, f.Last().Outcome.Waiting.Request.Files, "the question names its files")
			}
			require.NoError(t, s.Answer(id, conversation.AnswerRun))
			for path, text := range row.change {
				s.Write(path, text)
			}
			if row.do != nil {
				row.do(s)
			}

			request = front.Resume(id)
			request.Turn.Policy, request.Turn.Yes = "defer", row.advance
			err := s.Ask(f, request)
			if row.subject != "" {
				require.Error(t, err)
				require.Equal(t, turnloop.Waiting, f.Last().Outcome.Status)
				require.Equal(t, "Run "+row.subject+"? Its files have changed since you allowed it.", f.Last().Outcome.Waiting.Request.Question.Text)
				for path, text := range row.change {
					require.Equal(t, text, s.Read(path), "nothing runs before the answer")
				}
				require.NoError(t, s.Answer(id, row.then))
				err = s.Ask(f, request)
			}
			require.NoError(t, err)
			require.Equal(t, turnloop.Complete, f.Last().Outcome.Status)
			require.Equal(t, "Over.", f.Last().Outcome.Message)
			for path, text := range row.want {
				require.Equal(t, text, s.Read(path), path)
			}
			if row.committed != "" {
				require.Equal(t, row.committed, s.Git("show", "--format=", "--name-only", "HEAD"))
			}
		})
	}
}
