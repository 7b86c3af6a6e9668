package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/crashtest"
	crash "jp/internal/testing/crashtest/row"
	"jp/internal/testing/gitenv"
)

// counted is a turn of six tool calls; three of them count how often they ran.
const counted = `
[[reply]]
message = "First a file."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "a.txt", content = "a\n" }
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo x >> count-1"] }
[[reply]]
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "README.md", edits = [{ old = "A repository", new = "A changed one" }] }
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo x >> count-2"] }
[[reply]]
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "README.md" }
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo x >> count-3; echo x >> ../count-outside"] }
[[reply]]
message = "Over."
`

// leaves has the files of each call of counted that changes something, after one run.
var leaves = map[string]map[string]string{
	"call_1_1": {"a.txt": "a\n"},
	"call_1_2": {"count-1": "x\n"},
	"call_2_1": {"README.md": "# A changed one\n"},
	"call_2_2": {"count-2": "x\n"},
	"call_3_2": {"count-3": "x\n", "../count-outside": "x\n"},
}

// users are the files of git that jp never writes.
var users = []string{".git/HEAD", ".git/index", ".git/config"}

// branches are the user's refs, as git lists them for the repository below a folder.
func (s *scene) branches(root string) string {
	return s.git("-C", filepath.Join(root, filepath.Base(s.dir)), "for-each-ref", "refs/heads")
}

// A scene is a place for the turn of counted, always at the same path.
type scene struct {
	*workspace
	story
	tally *tally
	root  string // of the repository, the home and the counter outside

	begun, kept string // copies of root: at the beginning, and at the last save
	keptStory   story
}

// A story is the history of a scene since its beginning.
type story struct {
	moments []moment
	killed  []crashtest.Point
	chain   chain
	unknown map[int]bool // calls that a kill left started and without response
}

func (s story) clone() story {
	s.moments, s.killed, s.unknown = slices.Clone(s.moments), slices.Clone(s.killed), maps.Clone(s.unknown)
	return s
}

// newScene makes a scene in which jp has never run and events survive a power cut.
func newScene(t *testing.T, c *tally) *scene {
	t.Helper()
	p := newPlace(t)
	p.environ = append(p.environ, unconfined)
	p.write("../counted.toml", counted)
	s := &scene{workspace: p, tally: c, root: filepath.Dir(p.dir), begun: t.TempDir(), kept: t.TempDir()}
	s.must(os.Remove(filepath.Join(s.root, "home/.config/jp/config.toml")))
	s.must(os.Remove(filepath.Join(s.root, "home/.local/state/jp/key")))
	s.copy(s.root, s.begun)
	return s
}

// copy makes one tree the same as another, with all times and modes.
func (s *scene) copy(from, to string) {
	s.t.Helper()
	s.must(os.RemoveAll(to))
	out, err := exec.Command("cp", "-a", from, to).CombinedOutput()
	require.NoError(s.t, err, string(out))
}

// reset brings back the beginning.
func (s *scene) reset() {
	s.copy(s.begun, s.root)
	s.story = story{unknown: map[int]bool{}}
}

// save keeps the present for restore.
func (s *scene) save() {
	s.copy(s.root, s.kept)
	s.keptStory = s.story.clone()
}

func (s *scene) restore() {
	s.copy(s.kept, s.root)
	s.story = s.keptStory.clone()
}

// args is the command line that begins the turn, or goes on with it.
func (s *scene) args() []string {
	if s.chain.id == "" {
		return []string{"query", "--model", "script/../counted.toml", "--policy", "auto", "--non-interactive", "--format", "jsonl", "Go"}
	}
	return []string{"continue", "--policy", "auto", "--non-interactive", "--format", "jsonl"}
}

// whole runs the turn without a kill, and returns its points.
func (s *scene) whole() []crashtest.Point {
	s.t.Helper()
	s.reset()
	points := s.finishTraced()
	require.False(s.t, s.t.Failed())
	require.True(s.t, len(refMoves(points)) > 0 || gitenv.RefsThroughGit())
	return points
}

// begin kills a new turn. It reports whether it was killed, and that went as
// promised.
func (s *scene) begin(m moment) bool {
	s.reset()
	return s.resume(m)
}

// resume goes on with the turn, kills it, and checks the result. It reports whether it was killed, and
// that went as promised.
func (s *scene) resume(m moment) bool {
	s.moments = append(s.moments, m)
	out, traced := s.trace(m)
	if traced.Killed == nil {
		s.tally.unreached.Add(1) // it had fewer points than the run before it
		s.keep(s.over(out))
		return false
	}
	s.killed = append(s.killed, *traced.Killed)
	if os.Getenv(killVariable) != "" {
		s.t.Logf("killed at %v", traced.Killed)
	}
	return s.keep(s.broken(out))
}

// finish goes on with the turn until it is complete.
func (s *scene) finish() bool { return s.keep(s.over(s.jp(s.args()...))) }

// finishTraced is finish, and returns the points.
func (s *scene) finishTraced() []crashtest.Point {
	out, traced := s.trace(moment{})
	s.keep(s.over(out))
	return traced.Points
}

// keep records a broken promise, and reports whether there is none.
func (s *scene) keep(err error) bool {
	if err != nil {
		s.violate(err)
	}
	return err == nil
}

// trace runs jp under the tracer, and kills it at a moment.
func (s *scene) trace(m moment) (result, crashtest.Result) {
	s.t.Helper()
	cmd := s.command(s.args()...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	traced, err := crashtest.Run(s.t.Context(), cmd, m.kill())
	if errors.Is(err, crashtest.ErrUnsupported) {
		// Without tracing the test cannot choose the system call at which it kills jp.
		crash.Skip(s.t, "b", "kills at file system calls", err.Error())
	}
	s.must(err)
	return result{stdout: stdout.String(), stderr: stderr.String(), exit: traced.Exit}, traced
}

// passTime makes the locks of refs that a killed jp left old enough to be taken
// over. For a young one, which can be that of a living git, jp would wait.
func (p *workspace) passTime() {
	p.t.Helper()
	long := time.Now().Add(-time.Minute)
	require.NoError(p.t, filepath.WalkDir(filepath.Join(p.dir, ".git/refs/jp"), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err == nil && strings.HasSuffix(path, ".lock"):
			return os.Chtimes(path, long, long)
		}
		return err
	}))
}

// read is a file, named from the repository, "" if there is none.
func (s *scene) read(name string) string { return s.readBelow(s.root, name) }

// readBegun is the same file at the beginning.
func (s *scene) readBegun(name string) string { return s.readBelow(s.begun, name) }

func (s *scene) readBelow(root, name string) string {
	text, err := os.ReadFile(filepath.Join(root, filepath.Base(s.dir), name))
	if !errors.Is(err, fs.ErrNotExist) {
		s.must(err)
	}
	return string(text)
}

// ok runs a jp that must succeed.
func (s *scene) ok(args ...string) (stdout string, err error) {
	out := s.jp(args...)
	if out.exit != 0 {
		return "", fmt.Errorf("jp %s: exit %d: %s", strings.Join(args, " "), out.exit, out.stderr)
	}
	return out.stdout, nil
}
