package agent_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/turnloop"
)

func subjects(s *front.Scratch, id conversation.ID) string {
	return s.Git("log", "--format=%s", "refs/jp/conversations/"+string(id))
}

// TestRecordedApproval varies how a call is approved. git's log of the conversation says it.
func TestRecordedApproval(t *testing.T) {
	t.Parallel()
	const turn, status = `(?m)^turn 1 on main [0-9a-f]{7}( with \S+)?`, `{ argv = ["git", "status", "--short"] }`
	for _, row := range []struct {
		name   string
		script string
		config string
		change func(*agent.Request)
		resume bool   // with -y
		want   string // a pattern
		lacks  string
	}{
		{name: "-y", change: func(r *agent.Request) { r.Turn.Yes = true }, want: turn + `, approved in advance: all tools \(-y\)$`},
		{name: "a denial", change: func(r *agent.Request) { r.Turn.Policy = "deny" }, want: "(?m)^answer: failed", lacks: "approved in advance"},
		{name: "-y on a resume", change: func(r *agent.Request) { r.Turn.Policy = "defer" }, resume: true, want: `(?m)^resumed .*, approved in advance: all tools \(-y\)$`, lacks: turn + ".*approved"},
		{name: "a policy", change: func(r *agent.Request) { r.Turn.Policy = "auto" }, want: `(?m)^answer: yes, "policy auto" \(policy\)$`},
		{
			name: "an allow rule", script: oneCall("shell_run", status), config: "[policy]\nreaders = false\nallow = [[\"git\", \"status\"]]\n",
			change: func(r *agent.Request) { r.Turn.Policy = "deny" }, want: `(?m)^answer: yes, "allow rule: git status" \(config\)$`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Configure(row.config)
			if row.script == "" {
				row.script = makeFile
			}
			request := s.Request(row.script, "Work")
			row.change(&request)
			err := s.Ask(f, request)
			id := f.Last().ID
			if row.resume {
				require.Error(t, err)
				err = s.Ask(f, approved(front.Resume(id)))
			}
			require.NoError(t, err)
			require.Regexp(t, row.want, subjects(s, id))
			if row.lacks != "" {
				require.NotRegexp(t, row.lacks, subjects(s, id))
			}
			require.Equal(t, row.name == "-y", bodies[*conversation.TurnStart](s.Load(id))[0].Approved.Allows("fs_create_file"))
		})
	}
}

// TestAllowRuleInRoot: calls that a rule allows run unasked in the root of the working tree, and elsewhere by
// the user's answer alone.
func TestAllowRuleInRoot(t *testing.T) {
	t.Parallel()
	for where, allowed := range map[string]bool{"": true, `, cwd = "."`: true, `, cwd = "evil"`: false} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			for _, dir := range []string{".", "evil"} {
				s.Write(dir+"/test.sh", "#!/bin/sh\ntouch ran\n")
				require.NoError(t, os.Chmod(filepath.Join(s.Dir, dir, "test.sh"), 0o700))
			}
			s.Commit()
			s.Configure("[policy]\nallow = [[\"./test.sh\"]]\n")
			request := s.Request(oneCall("shell_run", `{ argv = ["./test.sh"]`+where+` }`), "Test")
			request.Turn.Policy = "defer"
			err := s.Ask(f, request)
			require.Equal(t, allowed, err == nil)
			require.Equal(t, allowed, s.Exists("ran"))
			if !allowed {
				require.Contains(t, f.Last().Outcome.Waiting.Request.Question.Text, "./test.sh")
				require.False(t, s.Exists("evil/ran"))
				require.NoError(t, s.Answer(f.Last().ID, "run"))
				require.NoError(t, s.Ask(f, front.Resume(f.Last().ID)))
				require.True(t, s.Exists("evil/ran"))
			}
		})
	}
}

// TestOverwrite varies who answers whether a file that is there is overwritten: a person, or the user's own configuration.
func TestOverwrite(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, config, theirs string
		written              bool
	}{
		{name: "the policy"},
		{name: "a repository", theirs: "[tools.fs_create_file.questions.overwrite]\nexclusive = false\n"},
		{name: "the model", config: "[tools.fs_create_file.questions.overwrite]\ntarget = \"assistant\"\n"},
		{name: "the configuration", config: "[tools.fs_create_file.questions.overwrite]\nanswer = true\n", written: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Configure(row.config)
			s.Write("made.txt", "mine\n")
			if row.theirs != "" {
				s.Write(".jp/config.toml", row.theirs)
				r := s.Open()
				require.NoError(t, r.Approvals().Approve([]byte(row.theirs)))
				require.NoError(t, r.Close())
			}
			request := approved(s.Request(makeFile, "Go"))
			request.Turn.Policy = "auto"
			require.NoError(t, s.Ask(f, request))
			require.Equal(t, row.written, s.Read("made.txt") == "made\n")
			asked := bodies[*conversation.InquiryRequest](f.Events())
			require.Equal(t, !row.written, asked[len(asked)-1].Exclusive)
		})
	}
}

// TestOverwriteIsAskedOnce: one question says that the file is there, and one yes is enough, for the file that was seen.
func TestOverwriteIsAskedOnce(t *testing.T) {
	t.Parallel()
	const run = "Run fs_create_file made.txt?"
	for _, row := range []struct {
		name, before, meanwhile, answer string
		asks                            string // at first
		again                           string // on the resume, "": the yes holds
	}{
		{name: "the file that was seen", before: "old\n", answer: "run", asks: run + " The file exists and will be overwritten."},
		{name: "another file", before: "old\n", meanwhile: "mine\n", answer: "run", asks: run + " The file exists and will be overwritten.", again: run + " Its files have changed since you allowed it. The file exists and will be overwritten."},
		{name: "no file", meanwhile: "mine\n", answer: "run_turn", asks: run, again: "Overwrite existing file?"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			if row.before != "" {
				s.Write("made.txt", row.before)
				s.Commit()
			}
			request := s.Request(makeFile, "Write it")
			request.Turn.Policy = "defer"
			require.Error(t, s.Ask(f, request))
			id := f.Last().ID
			require.Equal(t, row.asks, f.Last().Outcome.Waiting.Request.Question.Text)
			require.NoError(t, s.Answer(id, row.answer))
			if row.meanwhile != "" {
				s.Write("made.txt", row.meanwhile)
			}
			request = front.Resume(id)
			request.Turn.Policy = "defer"
			err := s.Ask(f, request)
			require.Equal(t, row.again == "", err == nil, "%v", err)
			if row.again != "" {
				require.Equal(t, turnloop.Waiting, f.Last().Outcome.Status)
				require.Equal(t, row.again, f.Last().Outcome.Waiting.Request.Question.Text)
				require.Equal(t, row.meanwhile, s.Read("made.txt"))
				return
			}
			require.Equal(t, "made\n", s.Read("made.txt"))
			require.Len(t, bodies[*conversation.InquiryRequest](s.Load(id)), 1)
		})
	}
}

// TestQuestionThatWaits: a tool runs only after its question, so that changes meanwhile are the user's.
func TestQuestionThatWaits(t *testing.T) {
	t.Parallel()
	for _, discard := range []bool{false, true} {
		s, f := front.New(t), &front.Front{}
		s.Write("made.txt", "old\n")
		s.Commit()
		request := approved(s.Request(makeFile, "Write it"))
		request.Turn.Policy = "defer"
		require.Error(t, s.Ask(f, request))
		id := f.Last().ID
		require.Equal(t, "Overwrite existing file?", f.Last().Outcome.Waiting.Request.Question.Text)
		for _, path := range []string{"own.txt", "README.md", "made.txt"} {
			s.Write(path, "mine\n")
		}
		if discard {
			require.NoError(t, s.Ask(f, front.Discard(id)))
			request = front.Next(id, "And now?")
			request.Turn.Model = s.Model(says)
			require.NoError(t, s.Ask(f, request))
			require.Empty(t, bodies[*conversation.Note](s.Load(id)), "the tools changed nothing")
			continue
		}
		require.NoError(t, s.Answer(id, true))
		require.NoError(t, s.Ask(f, approved(front.Resume(id))))
		require.Contains(t, f.Resumed()[0], "fs_create_file runs again with the answer")
		require.NotContains(t, f.Resumed()[0], "unknown")
		events := s.Load(id)
		require.Equal(t, "made\n", s.Read("made.txt"))
		outside := regexp.MustCompile(`(?m)^outside: 2 files changed$`)
		require.Regexp(t, outside, subjects(s, id))
		require.Equal(t, []string{"README.md", "made.txt"}, func() (paths []string) {
			for _, c := range bodies[*conversation.Workspace](events)[0].Paths {
				paths = append(paths, c.Path)
			}
			return paths
		}())
		require.NotContains(t, strings.Fields(s.Git("ls-tree", "-r", "--name-only", "refs/jp/conversations/"+string(id))), "own.txt")
	}
}
