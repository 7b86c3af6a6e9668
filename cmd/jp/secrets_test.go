package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/redact"
)

// A planter makes secrets, each another one, and remembers what of them nobody
// may find. They are put together here: this file holds none.
type planter struct {
	random *rand.Rand
	n      int
	marks  []string
}

func (p *planter) letters(alphabet string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[p.random.IntN(len(alphabet))])
	}
	return b.String()
}

const (
	hexes  = "0123456789abcdef"
	base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base64 = base62 + "+/"
)

// token is a secret that says by itself what it is, and can stand in a name.
func (p *planter) token() string {
	p.n++
	token := [...]func() string{
		func() string { return "gh" + "p_" + p.letters(base62, 36) },
		func() string { return "AK" + "IA" + p.letters(base32, 16) },
		func() string { return "glp" + "at-" + p.letters(base62, 20) },
		func() string { return "np" + "m_" + p.letters(hexes, 36) },
		func() string { return "sk_" + "live_" + p.letters(base62, 30) },
		func() string { return "AI" + "za" + p.letters(base62, 35) },
	}[p.n%6]()
	p.marks = append(p.marks, token)
	return token
}

// text is a secret with what makes it one.
func (p *planter) text() string {
	p.n++
	secret, around := "", "%s"
	switch p.n % 8 {
	case 0:
		secret, around = p.letters(base62, 32), "api_key = \"%s\" "
	case 1:
		secret, around = "pw"+p.letters(base62, 14)+"7", "https://bob:%s@host.example/x "
	case 2:
		secret, around = p.letters(base62, 40)+"9", "Authorization: Bearer %s \n"
	case 3:
		secret, around = p.letters(base64, 64)+"\n"+p.letters(base64, 64), "-----BEGIN RSA "+"PRIVATE KEY-----\n%s\n-----END RSA "+"PRIVATE KEY----- "
	case 4:
		secret, around = "Pa55"+p.letters(base62, 12), "Server=db;User Id=sa;Password=%s; "
	case 5:
		secret = "ey" + "J" + p.letters(base62, 33) + ".ey" + "J" + p.letters(base62, 60) + "." + p.letters(base62, 43)
		around = "cookie %s "
	default:
		return "use " + p.token() + " "
	}
	p.marks = append(p.marks, strings.Split(secret, "\n")...)
	return fmt.Sprintf(around, secret)
}

func (p *planter) texts(n int) string {
	var all string
	for range n {
		all += p.text()
	}
	return all
}

// plant brings secrets into every place of a conversation that somebody can put
// them into, through the program itself.
func (p *place) plant(secrets *planter, flags ...string) {
	for i := range 4 {
		p.write(fmt.Sprintf("../out%d.txt", i), secrets.texts(12))
	}
	p.write("../attached.md", secrets.texts(10))
	named := "old-" + secrets.token() + ".txt"
	p.write(named, "x\n")
	tool := func(name, arguments string) string {
		return fmt.Sprintf("[[reply.tool_call]]\nid = %q\nname = %q\n%s\n", secrets.token(), name, arguments)
	}
	arguments := func(pairs ...string) string {
		out := "arguments = { "
		for i := 0; i < len(pairs); i += 2 {
			out += fmt.Sprintf("%s = %q, ", pairs[i], pairs[i+1])
		}
		return strings.TrimSuffix(out, ", ") + " }"
	}
	argv := func(words ...string) string {
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, fmt.Sprintf("%q", w))
		}
		return "arguments = { argv = [" + strings.Join(quoted, ", ") + "] }"
	}
	script := "[[reply]]\n" + fmt.Sprintf("reasoning = %q\nmessage = %q\n", secrets.texts(10), secrets.texts(10))
	for i := range 4 {
		script += tool("shell_run", argv("cat", fmt.Sprintf("../out%d.txt", i), "--token", secrets.token()))
		script += tool("shell_run", argv("cat", fmt.Sprintf("../out%d.txt", i)))
	}
	password := "Zq" + secrets.letters(base62, 20) + "3"
	secrets.marks = append(secrets.marks, password)
	script += tool("fs_create_file", arguments("path", "new.txt", "content", secrets.texts(10))) +
		tool("fs_create_file", arguments("path", "new-"+secrets.token()+".txt", "content", "x")) +
		tool("fs_read_file", arguments("path", "absent-"+secrets.token())) + // the error names it
		tool("tool-"+secrets.token(), arguments("api_password", password, "any", secrets.texts(6))) +
		tool("fs_read_file", fmt.Sprintf("malformed = %q", "{\"path\": \""+secrets.texts(8))) +
		"[[reply]]\nreasoning = " + fmt.Sprintf("%q\nmessage = %q\n", secrets.texts(6), secrets.texts(30)) + // longer than its subject
		"[[reply]]\n" + tool("shell_run", argv("echo", secrets.token())) + tool("fs_create_file", arguments("path", named, "content", "y")) +
		"[[reply]]\nmessage = \"Over.\"\n"
	p.write("../plant.toml", script)

	jp := func(exit int, args ...string) {
		p.t.Helper()
		r := p.jp(append(flags, args...)...)
		require.Equal(p.t, exit, r.exit, "%s", r.stderr)
	}
	cmd := p.command(append(flags, "query", "-n", "-y", "-m", "script/../plant.toml", "--title", "t "+secrets.token(), "-a", "../attached.md", secrets.texts(14))...)
	cmd.Stdin = strings.NewReader(secrets.texts(14))
	out, err := cmd.CombinedOutput()
	require.NoError(p.t, err, "%s", out)
	jp(3, "query", secrets.texts(10))
	jp(0, "answer", "n", "because "+secrets.texts(4))
	jp(3, "continue")
	jp(0, "answer", "--value", fmt.Sprintf(`{"answer":"edit","arguments":{"path":%q,"content":%q}}`, named, secrets.text()))
	jp(3, "continue") // may it overwrite the file whose name is one?
	jp(0, "answer", "y")
	jp(0, "continue")
	jp(0, "edit", "--title=it is "+secrets.token(), "--label", "k="+secrets.token(), "--label", secrets.token()+"=v")
	jp(0, "fork", "-a", "--title", "f "+secrets.token(), "--last", "1")
}

// traces are the marks that stand in what the repository holds: objects, refs and
// what jp keeps beside them, but for texts that stream.
func (p *place) traces(marks []string) (found []string) {
	cmd := exec.Command("git", "cat-file", "--batch-all-objects", "--batch", "--unordered")
	cmd.Dir, cmd.Env = p.dir, p.environ
	held, err := cmd.Output()
	require.NoError(p.t, err)
	err = filepath.WalkDir(filepath.Join(p.dir, ".git", "jp"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "drafts" {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		held = append(append(held, path...), text...)
		return err
	})
	require.NoError(p.t, err)
	for _, mark := range marks {
		// Half of one is too much, such as where a line was cut off.
		if bytes.Contains(held, []byte(mark)) || bytes.Contains(held, []byte(mark[:min(len(mark), 12)])) {
			found = append(found, mark)
		}
	}
	return found
}

func TestNoSecretIsRecorded(t *testing.T) {
	t.Parallel()
	p, secrets := newPlace(t), &planter{random: rand.New(rand.NewPCG(1, 2))}
	p.plant(secrets)
	require.Greater(t, len(slices.Compact(slices.Sorted(slices.Values(secrets.marks)))), 200)
	require.Empty(t, p.traces(secrets.marks))
	require.Equal(t, 0, p.jp("verify").exit)
}

// The same is found where the user wants no replacing: the places are real.
func TestSecretsAreRecordedWhereTheUserWants(t *testing.T) {
	t.Parallel()
	p, secrets := newPlace(t), &planter{random: rand.New(rand.NewPCG(1, 2))}
	p.plant(secrets, "--cfg", "secrets.redact=false")
	found := p.traces(secrets.marks)
	for _, mark := range secrets.marks {
		require.Contains(t, found, mark)
	}
}

func newSecrets(dir string) *secrets {
	return &secrets{
		redactor: redact.New([]byte("k")), dir: dir, log: slog.New(slog.DiscardHandler),
		vaults: map[conversation.ID]*redact.Vault{}, found: map[string]string{},
	}
}

func TestWhatIsFoundLaterKeepsIdsTogether(t *testing.T) {
	s, id := newSecrets(t.TempDir()), conversation.ID("jp-c17528832001-k3f9")
	call := (&planter{random: rand.New(rand.NewPCG(5, 6))}).letters(base62, 24)
	asked := &conversation.Event{Body: &conversation.ToolCallRequest{ID: call, Name: "x", Arguments: []byte("{}")}}
	s.rewrite(id, []*conversation.Event{asked})
	s.rewrite(id, []*conversation.Event{{Body: &conversation.Note{Content: "api_key = \"" + call + "\""}}})
	answered := &conversation.Event{Body: &conversation.ToolCallResponse{ID: asked.Body.(*conversation.ToolCallRequest).ID, Content: "of " + call}}
	s.rewrite(id, []*conversation.Event{answered})
	require.Equal(t, call, answered.Body.(*conversation.ToolCallResponse).ID)
	require.Contains(t, answered.Body.(*conversation.ToolCallResponse).Content, "[secret:generic-api-key:")
}

// A line that is cut off within a secret, and stands before it.
func TestCutLinesKeepNoBeginning(t *testing.T) {
	secrets := &planter{random: rand.New(rand.NewPCG(3, 4))}
	token := secrets.token()
	title := "Look at " + token[:14] + "…"
	events := []*conversation.Event{
		{Body: &conversation.Metadata{Title: &title}, Subject: "title: Look at " + token[:15] + "…"},
		{Body: &conversation.ChatRequest{Content: "Look at " + token}},
	}
	newSecrets(t.TempDir()).rewrite("jp-c17528832001-k3f9", events)
	require.Equal(t, "title: Look at [secret:…", events[0].Subject)
	require.Equal(t, "Look at [secret:…", *events[0].Body.(*conversation.Metadata).Title)
}

// BenchmarkSecretsOfAnEvent is what an event of 1.4 KB costs on its way into the store.
func BenchmarkSecretsOfAnEvent(b *testing.B) {
	text, err := os.ReadFile("secrets.go")
	require.NoError(b, err)
	s := newSecrets(b.TempDir())
	for b.Loop() {
		e := &conversation.Event{Body: &conversation.ToolCallResponse{ID: "call_1", Name: "fs_read_file", Content: string(text[:1400])}, Subject: "fs_read_file secrets.go: 50 lines"}
		s.rewrite("jp-c17528832001-k3f9", []*conversation.Event{e})
	}
}
