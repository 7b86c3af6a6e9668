package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/redacttest"
	"jp/internal/testing/vendortest"
)

// plant brings secrets into every place of a conversation that can have them, through the program
// itself.
func (p *workspace) plant(secrets *redacttest.Planter, flags ...string) {
	for i := range 4 {
		p.write(fmt.Sprintf("../out%d.txt", i), secrets.Texts(12))
	}
	p.write("../attached.md", secrets.Texts(10))
	named := "old-" + secrets.Token() + ".txt"
	p.write(named, "x\n")
	tool := func(name, arguments string) string {
		return fmt.Sprintf("[[reply.tool_call]]\nid = %q\nname = %q\n%s\n", secrets.Token(), name, arguments)
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
	script := "[[reply]]\n" + fmt.Sprintf("reasoning = %q\nmessage = %q\n", secrets.Texts(10), secrets.Texts(10))
	for i := range 4 {
		script += tool("shell_run", argv("cat", fmt.Sprintf("../out%d.txt", i), "--token", secrets.Token()))
		script += tool("shell_run", argv("cat", fmt.Sprintf("../out%d.txt", i)))
	}
	password := "Zq" + secrets.Letters(redacttest.Base62, 20) + "3"
	secrets.Marks = append(secrets.Marks, password)
	script += tool("fs_create_file", arguments("path", "new.txt", "content", secrets.Texts(10))) +
		tool("fs_create_file", arguments("path", "new-"+secrets.Token()+".txt", "content", "x")) +
		tool("fs_read_file", arguments("path", "absent-"+secrets.Token())) + // the error names it
		tool("tool-"+secrets.Token(), arguments("api_password", password, "any", secrets.Texts(6))) +
		tool("fs_read_file", fmt.Sprintf("malformed = %q", "{\"path\": \""+secrets.Texts(8))) +
		"[[reply]]\nreasoning = " + fmt.Sprintf("%q\nmessage = %q\n", secrets.Texts(6), secrets.Texts(30)) + // longer than its subject
		"[[reply]]\n" + tool("shell_run", argv("echo", secrets.Token())) + tool("fs_create_file", arguments("path", named, "content", "y")) +
		"[[reply]]\nmessage = \"Over.\"\n"
	p.write("../plant.toml", script)

	jp := func(exit int, args ...string) {
		p.t.Helper()
		r := p.jp(append(flags, args...)...)
		require.Equal(p.t, exit, r.exit, "%s", r.stderr)
	}
	cmd := p.command(append(flags, "query", "-n", "-y", "-m", "script/../plant.toml", "--title", "t "+secrets.Token(), "-a", "../attached.md", secrets.Texts(14))...)
	cmd.Stdin = strings.NewReader(secrets.Texts(14))
	out, err := cmd.CombinedOutput()
	require.NoError(p.t, err, "%s", out)
	jp(3, "query", secrets.Texts(10))
	jp(0, "answer", "n", "because "+secrets.Texts(4))
	jp(3, "continue")
	jp(0, "answer", "--value", fmt.Sprintf(`{"answer":"edit","arguments":{"path":%q,"content":%q}}`, named, secrets.Text()))
	if r := p.jp(append(flags, "continue")...); r.exit != 0 { // a name that is a secret is not known to be the one that was shown
		jp(0, "answer", "y")
		jp(0, "continue")
	}
	jp(0, "edit", "--title=it is "+secrets.Token(), "--label", "k="+secrets.Token(), "--label", secrets.Token()+"=v")
	jp(0, "fork", "-a", "--title", "f "+secrets.Token(), "--last", "1")
}

// traces are the marks in the data of the repository: objects, refs and jp's own files, except for
// texts that stream.
func (p *workspace) traces(marks []string) (found []string) {
	held := append(p.objects(), p.ownFiles("drafts")...)
	for _, mark := range marks {
		// Half of one is too much, such as at the end of a cut line.
		if bytes.Contains(held, []byte(mark)) || bytes.Contains(held, []byte(mark[:min(len(mark), 12)])) {
			found = append(found, mark)
		}
	}
	return found
}

// objects is the content of all objects.
func (p *workspace) objects() []byte {
	cmd := exec.Command("git", "cat-file", "--batch-all-objects", "--batch", "--unordered")
	cmd.Dir, cmd.Env = p.dir, p.environ
	held, err := cmd.Output()
	require.NoError(p.t, err)
	return held
}

// ownFiles are the names and the content of the files in jp's folder, but for those in one.
func (p *workspace) ownFiles(except string) (held []byte) {
	root := filepath.Join(p.dir, ".git", "jp")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == except {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		held = append(append(held, path...), text...)
		return err
	})
	require.NoError(p.t, err)
	return held
}

func TestNoSecretIsRecorded(t *testing.T) {
	t.Parallel()
	p, secrets := newPlace(t), &redacttest.Planter{Random: rand.New(rand.NewPCG(1, 2))}
	p.plant(secrets)
	require.Greater(t, len(slices.Compact(slices.Sorted(slices.Values(secrets.Marks)))), 200)
	require.Empty(t, p.traces(secrets.Marks))
	require.Equal(t, 0, p.jp("verify").exit)
}

// The same is found if the user wants no replacing: the places are real.
func TestSecretsAreRecordedWhereTheUserWants(t *testing.T) {
	t.Parallel()
	p, secrets := newPlace(t), &redacttest.Planter{Random: rand.New(rand.NewPCG(1, 2))}
	p.plant(secrets, "--cfg", "secrets.redact=false")
	found := p.traces(secrets.Marks)
	for _, mark := range secrets.Marks {
		require.Contains(t, found, mark)
	}
}

// TestWhereNoKeyPasses makes keys of each form, brings them to jp on each way, and looks for them at
// each place to which jp writes or sends.
func TestWhereNoKeyPasses(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t)
	planter := &redacttest.Planter{Random: rand.New(rand.NewPCG(5, 8))}
	var keys []string
	text := func() string {
		var all strings.Builder
		for _, form := range redacttest.Forms() {
			key := form.Make(planter.Letters)
			keys = append(keys, key)
			fmt.Fprintf(&all, "%s=%s\n", map[bool]string{true: "it", false: "THE_API_KEY"}[form.Bare], key)
		}
		return all.String()
	}
	p.write("../attached.txt", text())
	p.write("../read.txt", text())
	p.write("../chunks.txt", text())
	v := vendortest.VendorNamed("anthropic")
	quoted, err := json.Marshal(text())
	require.NoError(t, err)
	s.Loose()
	s.Say(
		vendortest.Reply{Text: text(), Calls: []vendortest.Call{
			{ID: "call_1", Name: "fs_create_file", Arguments: `{"path":"made.txt","content":` + string(quoted) + `}`},
			{ID: "call_2", Name: "shell_run", Arguments: `{"argv":["dd","if=../chunks.txt","bs=7","status=none"]}`},
			{ID: "call_3", Name: "shell_run", Arguments: `{"argv":["cat","../read.txt"]}`},
		}},
		vendortest.Reply{Text: text()}, vendortest.Reply{Text: "Yes."},
	)
	p.asks(v, "-a", "../attached.txt", text())
	p.asks(v, "Again: "+text())
	require.Zero(t, s.Left())
	requests := ""
	for _, r := range s.Requests() {
		requests += string(r.Body)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	require.Zero(t, p.jp("export", "--to", "html", "-o", page).exit)
	exported, err := os.ReadFile(page)
	require.NoError(t, err)
	for name, held := range map[string]string{
		"objects and events": string(p.objects()), "drafts, caches and lists": string(p.ownFiles("")), "requests": requests,
		"an exported page": string(exported), "what print shows": p.jp("print").stdout,
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, name == "drafts, caches and lists" || strings.Count(held, "[secret:") > 100, held)
			for _, key := range keys {
				require.False(t, strings.Contains(held, key[len(key)/2:]), key)
			}
		})
	}
}
