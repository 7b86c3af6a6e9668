package odb_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/gitstore/odb"
)

// sharedEnv makes this binary a writer under a umask, which is one of the process:
// "ours" or "git", the umask and the repository.
const sharedEnv = "ODB_TEST_SHARED"

func sharedProcess(spec string) int {
	who, rest, _ := strings.Cut(spec, "|")
	umask, repo, _ := strings.Cut(rest, "|")
	mask, _ := strconv.ParseInt(umask, 8, 32)
	syscall.Umask(int(mask))
	write := writeAsGit
	if who == "ours" {
		write = writeAsJP
	}
	if err := write(repo); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func writeAsJP(repo string) error {
	s, err := odb.Open(filepath.Join(repo, ".git"), withGit(repo))
	if err != nil {
		return err
	}
	c := commit("", "one")
	err = s.Write(bg, odb.Batch{Objects: []odb.Object{emptyTree, c}, Updates: []odb.RefUpdate{{Ref: ref, New: c.OID}}})
	return errors.Join(err, s.Close())
}

func writeAsGit(repo string) error {
	c := commit("", "one")
	for _, o := range []odb.Object{emptyTree, c} {
		if _, err := tryGit(repo, string(o.Data), "hash-object", "-w", "-t", o.Kind, "--stdin"); err != nil {
			return err
		}
	}
	_, err := tryGit(repo, "", "update-ref", ref, string(c.OID))
	return err
}

// modes are those of all that is in a repository's objects and refs.
func modes(t *testing.T, repo string) string {
	var b strings.Builder
	for _, top := range []string{"objects", "refs"} {
		root := filepath.Join(repo, ".git")
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := os.Lstat(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			fmt.Fprintf(&b, "%v %s\n", info.Mode(), rel)
			return err
		})
		require.NoError(t, err)
	}
	return b.String()
}

func TestWhatIsSharedHasTheModesThatGitGives(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "umask", "false", "0", "group", "true", "1", "all", "world", "everybody", "2", "0640", "0600", "0664", "0666", "0770", "3"} {
		for _, umask := range []string{"022", "077", "002"} {
			t.Run(value+" "+umask, func(t *testing.T) {
				t.Parallel()
				got, gotErr := sharedModes(t, "ours", value, umask)
				want, wantErr := sharedModes(t, "git", value, umask)
				require.Equal(t, wantErr != nil, gotErr != nil, "%v, and git %v", gotErr, wantErr)
				if gotErr == nil {
					require.Equal(t, want, got)
					require.Contains(t, got, ref)
				}
			})
		}
	}
}

// sharedModes makes a repository that is shared as value says, and lets somebody
// write to it.
func sharedModes(t *testing.T, who, value, umask string) (string, error) {
	repo := newRepo(t)
	git(t, repo, "config", "core.sharedRepository", value)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sharedEnv+"="+who+"|"+umask+"|"+repo)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return modes(t, repo), fmt.Errorf("%w: %s", err, out)
	}
	return modes(t, repo), nil
}

func TestAValueThatGitRefusesIsSaid(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	git(t, repo, "config", "core.sharedRepository", "0440")
	s := open(t, repo, withGit(repo))
	err := s.Write(bg, odb.Batch{Objects: []odb.Object{emptyTree}})
	require.ErrorIs(t, err, gitcmd.ErrSharing)
	require.ErrorContains(t, err, "0440")
}

func TestALockThatCannotBeSharedIsNotLeft(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	head := tip(create(t, open(t, repo, odb.Options{Format: testFormat}), ref, 1))
	git(t, repo, "config", "core.sharedRepository", "0440")
	require.ErrorIs(t, open(t, repo, withGit(repo)).Write(bg, move(ref, head, head)), gitcmd.ErrSharing)
	require.NoFileExists(t, filepath.Join(repo, ".git", ref+".lock"))
}
