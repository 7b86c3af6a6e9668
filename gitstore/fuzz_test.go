package gitstore

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
)

// seeds gives the golden commits to a fuzz target.
func seeds(f *testing.F) [][]byte {
	files, err := filepath.Glob("testdata/*.commit")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	var commits [][]byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		commits = append(commits, data)
	}
	return commits
}

// Every accepted commit is encoded again to the same fields.
func FuzzParseCommit(f *testing.F) {
	for _, commit := range seeds(f) {
		f.Add(commit)
		f.Add(bytes.Replace(commit, []byte("\nauthor"), []byte("\nparent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor"), 1))
		f.Add(bytes.Replace(commit, []byte("\n\n"), []byte("\ngpgsig x\n y\n\n"), 1))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		c, err := parseCommit(object)
		if err != nil {
			return
		}
		again, err := parseCommit(c.encode())
		require.NoError(t, err)
		require.Equal(t, c.parents, again.parents)
		require.Equal(t, string(c.message), string(again.message))
		require.Equal(t, string(c.data), string(again.data))
		require.Equal(t, string(c.provider), string(again.provider))
		require.Equal(t, again.encode(), c.encode())
	})
}

// Every accepted event is stored again as the same event, and to the byte if its form is this package's.
func FuzzDecode(f *testing.F) {
	for _, commit := range seeds(f) {
		f.Add(commit)
	}
	key := []byte("0123456789abcdef0123456789abcdef")
	s := &commitReader{mac: &signer{key: key}}
	f.Fuzz(func(t *testing.T, object []byte) {
		l, err := s.decode(odb.HashObject(testFormat, "commit", object), object)
		if err != nil {
			require.Nil(t, l.event)
			return
		}
		first := encodeAgain(t, l)
		if first == nil {
			return
		}
		again, err := s.decode(odb.HashObject(testFormat, "commit", first), first)
		require.NoError(t, err, "%s", first)
		require.Equal(t, l.event.Type(), again.event.Type())
		require.Equal(t, l.event.Seq, again.event.Seq)
		text, _ := l.event.Text()
		sameText, _ := again.event.Text()
		require.Equal(t, text, sameText)
		require.Equal(t, first, encodeAgain(t, again))
		if l.event.Signed {
			c, _ := parseCommit(object)
			d, _ := parseCommit(first)
			require.Equal(t, string(c.data), string(d.data))
			require.Equal(t, string(c.message), string(d.message))
		}
	})
}

// testFormat is the format of the repositories of these tests.
var testFormat = gitcmd.ObjectFormat(gitenv.ObjectFormat())

// encodeAgain stores a decoded event once more. It returns nil if the event is too large now.
func encodeAgain(t *testing.T, l *parsedCommit) []byte {
	e := *l.event
	e.Payloads = append([]conversation.Payload(nil), e.Payloads...)
	user := Person{Name: "Ada Lovelace", Email: "ada@example.com"}
	enc := &encoder{format: testFormat, user: user, mac: &signer{key: []byte("0123456789abcdef0123456789abcdef")}, zone: time.UTC}
	object, _, err := enc.encode(&e, basis{parent: l.parent, tree: odb.OID(e.Tree)})
	if err != nil {
		require.ErrorIs(t, err, conversation.ErrTooLarge)
		return nil
	}
	return object.Data
}

// Any message is either to the byte what the header says, or refused.
func FuzzReadText(f *testing.F) {
	for _, commit := range seeds(f) {
		c, err := parseCommit(commit)
		require.NoError(f, err)
		_, span, err := conversation.DecodeHeader(c.data)
		require.NoError(f, err)
		f.Add(c.data, c.message, span.At, span.Len)
	}
	f.Fuzz(func(t *testing.T, data, msg []byte, at, length int) {
		e, _, err := conversation.DecodeHeader(data)
		if err != nil || at < -1 || length < 0 {
			return
		}
		subject, text, err := readText(msg, e, conversation.Span{At: at, Len: length})
		if err != nil {
			require.ErrorIs(t, err, conversation.ErrDamaged)
			return
		}
		require.True(t, bytes.HasPrefix(msg, []byte(subject+"\n")))
		if at >= 0 {
			require.Equal(t, string(msg[at:at+length]), text)
		}
		require.Contains(t, string(msg), "\n\nJp-Event: ")
	})
}

// parsePerson is the inverse of appendPerson, for any line that it accepts.
func FuzzPerson(f *testing.F) {
	f.Add([]byte("Ada Lovelace <ada@example.com> 1752933600 +0000"))
	f.Add([]byte("a> <b <c> 1 -0330"))
	f.Fuzz(func(t *testing.T, line []byte) {
		p, at, err := parsePerson(line)
		if err != nil {
			return
		}
		clean := p.clean()
		again, at2, err := parsePerson(appendPerson(nil, clean, at.UTC()))
		require.NoError(t, err)
		require.Equal(t, clean, again)
		require.Equal(t, max(0, at.Unix()), at2.Unix())
	})
}
