package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// On a full or read-only disk the agent works. Its output and exit code are as without jp, and jp tells once what it could not record.
// With space again, an import adds the rest.
func TestRecordOnABadDisk(t *testing.T) {
	onDisk := func(t *testing.T, p *workspace) (disk string) {
		disk = small(t, "4m")
		p.git("clone", "-q", "--no-hardlinks", ".", filepath.Join(disk, "repo"))
		p.dir = filepath.Join(disk, "repo")
		return disk
	}
	const nothing = `^jp records nothing here: .*no space left on device.*\n$`
	const notAll = `^jp could not record all of it: .*(no space left on device|read-only file system)\n$`
	for name, row := range map[string]struct {
		prepare func(t *testing.T, p *workspace)
		told    string
	}{
		"full repository": {func(t *testing.T, p *workspace) { fillUp(t, onDisk(t, p), 0) }, notAll},
		"repository that gets full": {func(t *testing.T, p *workspace) { onDisk(t, p) }, `^jp recorded 1 tool call as .*
jp could not record the files at \d+ moments: .*no space left on device\.
jp could not record all of it: .*no space left on device\n$`},
		"full state": {func(t *testing.T, p *workspace) {
			disk := small(t, "1m")
			p.environ = append(p.environ, "XDG_STATE_HOME="+disk)
			fillUp(t, disk, 0)
		}, nothing},
		"read-only repository": {func(t *testing.T, p *workspace) { readOnly(t, p.dir) }, notAll},
		"read-only state": {func(t *testing.T, p *workspace) {
			p.environ = append(p.environ, "XDG_STATE_HOME="+p.beside("state"))
			require.NoError(t, os.Mkdir(p.beside("state"), 0o700))
			readOnly(t, p.beside("state"))
		}, notAll},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			p := newPlace(t)
			claude := p.fakesClaude()
			row.prepare(t, p)
			args := []string{"Words", "echo out >out; false", "echo new >new; head -c 9000000 /dev/zero >../late; echo more", "true"}
			late := filepath.Join(filepath.Dir(p.dir), "late")
			plain := exec.Command(claude, args...)
			plain.Dir, plain.Env = p.dir, p.environ
			printed, err := plain.Output()
			require.NoError(t, os.Remove(late))
			out := p.jp(append([]string{"record", "claude"}, args...)...)
			require.Equal(t, exitOf(t, err), out.exit)
			require.Equal(t, string(printed), out.stdout)
			require.Regexp(t, regexp.MustCompile(row.told), out.stderr)
			require.NoError(t, os.Remove(late))
			if name == "repository that gets full" {
				require.Zero(t, p.jp("import", "claude", p.fakeFile()).exit)
				require.Zero(t, p.jp("verify", "--all").exit)
			}
		})
	}
}
