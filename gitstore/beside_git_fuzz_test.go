package gitstore

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
)

// gitReader asks one git, which stays, how it reads commits.
type gitReader struct {
	db  *odb.Store
	dir string
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

const (
	// format is the text that git prints of a commit: tree, parents, author and committer with their times
	// in lines of their own, then the message.
	format = "%T%n%P%n%an%n%ae%n%at%n%cn%n%ce%n%ct%n%B%n--end of commit--"
	ending = "--end of commit--\n"
)

func newGitReader(t testing.TB) *gitReader {
	t.Helper()
	gitenv.Isolate(t)
	dir := t.TempDir()
	gitenv.Git(t, dir, "init", "-q")
	db, err := odb.Open(filepath.Join(dir, ".git"), odb.Options{Format: testFormat, Durability: odb.Off})
	require.NoError(t, err)
	r := &gitReader{db: db, dir: dir}
	require.NoError(t, db.Write(t.Context(), odb.Batch{Objects: []odb.Object{{Kind: "tree", OID: odb.OID(testFormat.EmptyTree())}}}))
	t.Cleanup(func() {
		r.stop()
		require.NoError(t, db.Close())
	})
	return r
}

func (r *gitReader) start(t testing.TB) {
	t.Helper()
	r.cmd = exec.Command("git", "-c", "i18n.logOutputEncoding=none", "diff-tree", "--stdin", "--always", "--root", "-s", "--no-renames", "--format="+format)
	r.cmd.Dir, r.cmd.Env = r.dir, os.Environ()
	var err error
	r.in, err = r.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := r.cmd.StdoutPipe()
	require.NoError(t, err)
	r.out = bufio.NewReader(out)
	require.NoError(t, r.cmd.Start())
}

func (r *gitReader) stop() {
	if r.cmd != nil {
		r.in.Close()
		_ = r.cmd.Wait()
		r.cmd = nil
	}
}

// read returns the text that git prints of a commit; ok is false if git ends over it.
func (r *gitReader) read(t testing.TB, object []byte) (text string, ok bool) {
	t.Helper()
	oid := odb.HashObject(testFormat, "commit", object)
	require.NoError(t, r.db.Write(t.Context(), odb.Batch{Objects: []odb.Object{{Kind: "commit", OID: oid, Data: object}}}))
	if r.cmd == nil {
		r.start(t)
	}
	_, err := io.WriteString(r.in, string(oid)+"\n")
	require.NoError(t, err)
	var all strings.Builder
	for !strings.HasSuffix(all.String(), ending) {
		line, err := r.out.ReadString('\n')
		all.WriteString(line)
		if err != nil {
			r.stop()
			return "", false
		}
	}
	return strings.TrimSuffix(all.String(), ending), true
}

// git reads each event of this package as the same commit: the same tree, author, time and message.
func FuzzBesideGit(f *testing.F) {
	for _, object := range seeds(f) {
		f.Add(rooted(object))
	}
	f.Add(rooted([]byte("tree x\nauthor A <a@b> 1 +0000\ncommitter  <> 2 -0130\njp-data {}\n\nm\n")))
	s := &commitReader{mac: &signer{}}
	git := newGitReader(f)
	f.Fuzz(func(t *testing.T, object []byte) {
		object = rooted(object)
		l, err := s.decode(odb.HashObject(testFormat, "commit", object), object)
		if err != nil || bytes.Contains(object, []byte(ending)) {
			return
		}
		c, err := parseCommit(object)
		require.NoError(t, err)
		said, ok := git.read(t, object)
		require.True(t, ok, "git does not read what is an event here: %q", object)
		want := []string{
			l.event.Tree, "", c.author.Name, c.author.Email, fmt.Sprint(c.authored.Unix()),
			c.committer.Name, c.committer.Email, fmt.Sprint(c.committed.Unix()),
		}
		lines := strings.SplitN(said, "\n", len(want)+1)
		require.Equal(t, want, lines[:len(want)], "%q", object)
		require.Equal(t, strings.TrimRight(string(c.message), "\n"), strings.TrimRight(lines[len(want)], "\n"))
	})
}

// rooted is the object as a root commit on the empty tree, so that git looks for no other object.
func rooted(object []byte) []byte {
	var out bytes.Buffer
	out.WriteString("tree " + string(odb.OID(testFormat.EmptyTree())) + "\n")
	_, rest, _ := bytes.Cut(object, []byte("\n"))
	for bytes.HasPrefix(rest, []byte("parent ")) {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	out.Write(rest)
	return out.Bytes()
}
