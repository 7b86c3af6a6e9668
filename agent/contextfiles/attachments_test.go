package contextfiles_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/contextfiles"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/internal/testing/mcptest"
	"jp/turnloop"
)

// source attaches to a new conversation, started in a folder of the working tree.
func source(t *testing.T, s *front.Scratch, dir string) (contextfiles.AttachmentSource, *[]string) {
	t.Helper()
	r := s.Open()
	t.Cleanup(func() { r.Close() })
	host, notes := s.Host(), &[]string{}
	host.Dir = filepath.Join(s.Dir, dir)
	host.Notify = func(line string) { *notes = append(*notes, line) }
	return contextfiles.AttachmentSource{
		Repo: r, Env: host, Fresh: true, Input: strings.NewReader("from a pipe\n"),
		Resource: func(_ context.Context, server, uri string) ([]byte, error) {
			if server != "fake" {
				return nil, errors.New("there is no such server")
			}
			return []byte("of " + uri), nil
		},
	}, notes
}

// TestAttachments varies the words of -a.
func TestAttachments(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, s.Ask(f, s.Request(talk, "What was said?")))
	id := string(f.Last().ID)
	for path, text := range map[string]string{
		"a.txt": "a\n", "pkg/b.txt": "b\n", "pkg/c.txt": "c\n", "pkg/empty": "", "picture": string(mcptest.PNG), "zero": "a\x00b", "latin": "Gr\xfcn\n",
		"long.txt": strings.Repeat("x", 4<<20+1), "text": "reserved\n", "mcp:fake:it": "a file\n", "[1].txt": "one\n", id[len(id)-4:]: "a file of that name\n",
		"photo": string(mcptest.PNG) + strings.Repeat("x", 5<<20), "huge": strings.Repeat("x", 20<<20+1),
	} {
		s.Write(path, text)
	}
	for i := range 201 {
		s.Write("many/"+strings.Repeat("x", i+1), "x\n")
	}
	for i := range 6 {
		s.Write("large/"+strings.Repeat("x", i+1), strings.Repeat("x", 4<<20))
	}
	s.WriteOwn("mine.txt", "mine\n")
	require.NoError(t, syscall.Mkfifo(filepath.Join(s.Dir, "pipe"), 0o600))
	for _, row := range []struct {
		name  string
		dir   string
		words []string
		want  string // NAME TYPE, NAME TYPE
		wrong string
		note  string
	}{
		{name: "a file", words: []string{"a.txt"}, want: "a.txt text/plain a.txt"},
		{name: "a file twice", words: []string{"a.txt", filepath.Join(s.Dir, "a.txt")}, want: "a.txt text/plain a.txt"},
		{name: "a file above", dir: "pkg", words: []string{"../a.txt"}, want: "a.txt text/plain a.txt"},
		{name: "a file outside", words: []string{filepath.Join(s.Home, "mine.txt")}, want: filepath.Join(s.Home, "mine.txt") + " text/plain " + filepath.Join(s.Home, "mine.txt")},
		{name: "a picture", words: []string{"picture"}, want: "picture image/png picture"},
		{name: "no file", words: []string{"a.txt", "!x"}, wrong: "there is no file !x to attach, and no conversation that ends so."},
		{name: "a pattern with what cannot be sent", words: []string{"pkg/*"}, want: "pkg/b.txt text/plain pkg/b.txt, pkg/c.txt text/plain pkg/c.txt", note: "Not attached: pkg/empty is empty."},
		{name: "a pattern of git's own", words: []string{".git/**"}, wrong: `no file fits the pattern ".git/**".`},
		{name: "no pattern", words: []string{"a[.txt"}, wrong: `invalid file pattern "a[.txt".`},
		{name: "a file that looks like a pattern", words: []string{"[1].txt"}, want: "[1].txt text/plain [1].txt"},
		{name: "a folder", words: []string{"pkg/"}, wrong: "pkg/ is a folder."},
		{name: "nothing", words: []string{""}, wrong: "-a is empty; it names nothing."},
		{name: "a pipe", words: []string{"pipe"}, wrong: "pipe is not a regular file."},
		{name: "an empty file", words: []string{"pkg/empty"}, wrong: "pkg/empty is empty."},
		{name: "a binary file", words: []string{"zero"}, wrong: "jp cannot attach zero: want a text, a picture (PNG, JPEG, GIF, WebP) or a PDF."},
		{name: "another encoding", words: []string{"latin"}, wrong: "jp cannot attach latin: want a text"},
		{name: "a long text", words: []string{"long.txt"}, wrong: "the text long.txt has 4.0 MiB; 4.0 MiB are allowed."},
		{name: "a large picture", words: []string{"photo"}, wrong: "the picture photo has 5.0 MiB; 5.0 MiB are allowed."},
		{name: "a huge file", words: []string{"huge"}, wrong: "huge has more than 20.0 MiB."},
		{name: "more than one request takes", words: []string{"large/*"}, wrong: "what -a names has more than 20.0 MiB; that is too much for one request."},
		{name: "too many files", words: []string{"many/*"}, wrong: "-a names 201 files; 200 are allowed."},
		{name: "a name that means something else", words: []string{"text"}, want: "./text text/plain text"},
		{name: "standard input", words: []string{"-"}, want: "stdin text/plain "},

		{name: "a resource", words: []string{"mcp:fake:file:///x"}, want: "mcp:fake:file:///x text/plain "},
		{name: "a file that is named like a resource", words: []string{"mcp:fake:it"}, want: "mcp:fake:it text/plain mcp:fake:it"},
		{name: "a resource of another server", words: []string{"mcp:other:x"}, wrong: "jp cannot attach mcp:other:x: there is no such server."},
		{name: "no resource", words: []string{"mcp:fake"}, wrong: "mcp:fake names no resource (want mcp:SERVER:URI)."},
		{name: "no server", words: []string{"mcp::x"}, wrong: "mcp::x names no resource"},
		{name: "no address", words: []string{"mcp:fake:"}, wrong: "mcp:fake: names no resource"},

		{name: "a conversation", words: []string{id}, want: id + " text/plain "},
		{name: "the newest conversation", words: []string{"newest"}, want: id + " text/plain "},
		{name: "a turn of a conversation", words: []string{id + "@1"}, want: id + "@1 text/plain "},
		{name: "a turn that is not there", words: []string{id + "@99"}, wrong: "99"},
		{name: "a file that is named like a conversation", words: []string{id[len(id)-4:]}, want: id[len(id)-4:] + " text/plain " + id[len(id)-4:]},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			source, notes := source(t, s, row.dir)
			files, err := source.Read(t.Context(), row.words)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				return
			}
			require.NoError(t, err)
			var request turnloop.Request
			contextfiles.AddAttachments(&request, files)
			var all []string
			for i, a := range request.Chat.Attachments {
				all = append(all, a.Name+" "+a.MediaType+" "+a.Path)
				require.Equal(t, a.Name, request.Attachments[i].Name)
				require.NotEmpty(t, request.Attachments[i].Data)
			}
			require.Equal(t, row.want, strings.Join(all, ", "))
			require.Equal(t, row.note, strings.Join(*notes, "\n"))
		})
	}
}

// TestAttachedConversation: a conversation cannot be attached to itself, and a repeated request has the same
// attachments.
func TestAttachedConversation(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Write("a.txt", "a\n")
	request := s.Request(talk, "See it")
	request.Input.Attachments = []string{"a.txt"}
	require.NoError(t, s.Ask(f, request))
	id := f.Last().ID
	files, _ := source(t, s, "")
	files.ID, files.Fresh = id, false
	_, err := files.Read(t.Context(), []string{string(id)})
	require.ErrorContains(t, err, "it is the conversation that you ask in")

	asked := func() (all []*conversation.Event) {
		for _, e := range s.Load(id) {
			if e.Type() == conversation.TypeChatRequest {
				all = append(all, e)
			}
		}
		return all
	}
	require.NoError(t, os.Remove(filepath.Join(s.Dir, "a.txt")))
	require.NoError(t, s.Ask(f, agent.Request{Target: agent.Target{ID: string(id)}, Input: agent.Input{NoEdit: true, NoStdin: true}}))
	all := asked()
	require.Len(t, all, 2)
	require.Equal(t, all[0].Body, all[1].Body)
	require.Equal(t, all[0].Payloads[0].OID, all[1].Payloads[0].OID)
}

// TestMentions varies how a text names a file, and which one.
func TestMentions(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	for _, path := range []string{"a.txt", "with space.txt", "pkg/b.txt", ".env", "ignored.txt", "id_rsa"} {
		s.Write(path, "x\n")
	}
	s.Write(".gitignore", "ignored.txt\n")
	s.WriteOwn("mine.txt", "mine\n")
	require.NoError(t, os.Symlink(filepath.Join(s.Home, "mine.txt"), filepath.Join(s.Dir, "link")))
	for _, row := range []struct {
		text, want, missing string
		skip                func(int) bool
	}{
		{text: "no file"},
		{text: "see @a.txt", want: "a.txt"},
		{text: "@a.txt, (@pkg/b.txt)!", want: "a.txt, pkg/b.txt"},
		{text: "@a.txt and @a.txt", want: "a.txt"},
		{text: `@"with space.txt" is one`, want: "with space.txt"},
		{text: `@"with space.txt`, missing: `"with`},
		{text: "mail@a.txt"},
		{text: "@nobody, and @1", missing: "nobody,"},
		{text: "@pkg", missing: "pkg"},
		{text: "see @a.txt", skip: func(at int) bool { return at == 4 }},
		{text: "@ignored.txt", want: "ignored.txt: ignored by git"},
		{text: "@link", want: "link: outside of the working tree"},
		{text: "@.git/config", want: ".git/config: git's own"},
		{text: "@.env", want: ".env: named like a secret"},
		{text: "@id_rsa", want: "id_rsa: named like a secret"},
	} {
		t.Run(row.text, func(t *testing.T) {
			t.Parallel()
			source, _ := source(t, s, "")
			found, missing, err := source.Mentions(t.Context(), row.text, row.skip)
			require.NoError(t, err)
			var all []string
			for _, m := range found {
				word := m.Word
				if len(m.Doubts) > 0 {
					word += ": " + strings.Join(m.Doubts, "; ")
				}
				all = append(all, word)
			}
			require.Equal(t, row.want, strings.Join(all, ", "))
			if row.missing == "" {
				require.Empty(t, missing)
			} else {
				require.Equal(t, row.missing, missing[0])
			}
		})
	}
}
