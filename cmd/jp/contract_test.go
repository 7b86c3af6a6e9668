package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process"
)

// golden holds the JSON output of every command.
const golden = "testdata/golden"

// An utterance is a command whose JSON stands in golden/NAME.json: its stdout, or of
// one whose name begins with "error" its stderr. The first word of a name says
// which section of docs/json.md describes it.
type utterance struct {
	name   string // "": only its effect counts
	exit   int
	args   []string
	before func(*workspace)
}

const contractScript = `
[[reply]]
reasoning = "Look first."
message = "I make a file."
chunk_size = 8
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply.tool_call]]
name = "no_such_tool"
malformed = "{\"path\": "
[[reply]]
message = "Over."
usage = { input = 100, output = 20, cache_read = 5, cache_write = 7, cost_usd = "0.0021" }
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "other.txt", content = "other\n" }
[[reply]]
message = "Made another."
[[reply]]
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "made.txt" }
`

const askingScript = `
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "asked.txt", content = "asked\n" }
[[reply]]
message = "Over."
`

func words(line string) []string { return strings.Fields(line) }

// contract are commands that run one after the other, a minute apart.
var contract = []utterance{
	{"version", 0, words("version --json"), nil},
	{"init", 0, words("config init --json"), nil},
	{"query_turn", 0, words("query --json --partial -y -m script/../work.toml --title Work Make_a_file"), nil},
	{"query_waits", 3, words("query --json --new -m script/../ask.toml Ask_first"), nil},
	{"show_waits", 0, words("show --json"), nil},
	{"error_usage", 2, words("ls --json --sort size"), nil},
	{"error_incomplete_turn", 3, words("query --json And_now"), nil},
	{"error_not_found", 5, words("show --json 4711"), nil},
	{"query_continued", 0, words("continue --json --policy auto -m script/../work.toml"), nil},
	{"", 0, words("use Work"), nil},
	{"show_event", 0, words("show --json @-3"), nil},
	{"status", 0, words("status --json"), nil},
	{"edit", 0, words("edit --json --title=Worked --pin --expires 2026-12-31 --label team=auth"), nil},
	{"use", 0, words("use --json ask"), nil},
	{"fork", 0, words("fork --json Worked@4 --title Fork"), nil},
	{"", 0, words("use Fork"), nil},
	{"grep", 0, words("grep --json -i made"), nil},
	{"grep_context", 0, words("grep --json -C 1 over"), nil},
	{"grep_list", 0, words("grep --json -l made"), nil},
	{"grep_count", 0, words("grep --json -c made"), nil},
	{"discard", 0, words("continue --discard --json"), nil},
	{"error_ambiguous", 5, words("show --json o"), nil},
	{"", 0, words("use Worked"), nil},
	{"blame_file", 0, words("blame --json made.txt"), nil},
	{"blame_line", 0, words("blame --json made.txt:1"), nil},
	{"blame_older", 0, words("blame --json README.md:1"), nil},
	{"diff", 0, words("diff --json --turn all"), nil},
	{"undo_dry", 0, words("undo --json --dry-run"), nil},
	{"undo", 0, words("undo --json -y"), nil},
	{"restore", 0, words("restore --json -y @-2"), nil},
	{"print", 0, words("print --json"), nil},
	{"print_internal", 0, words("print --internal --format jsonl"), nil},
	{"query_told", 0, words("query --json -y Make_another"), func(p *workspace) { p.write("README.md", "# Another\n") }},
	{"query_limited", 1, words("query --json -y --cfg limits.model_calls=1 Read_it"), nil},
	{"print_discarded", 0, words("print --internal --json Fork"), nil},
	{"log", 0, words("log --json -n 3"), nil},
	{"ref", 0, words("show --ref --json"), nil},
	{"ref_event", 0, words("show --ref --json @3"), nil},
	{"verify", 0, words("verify --all --json"), nil},
	{"ls", 0, words("ls --json"), nil},
	{"ls_lines", 0, words("ls --format jsonl --sort created -n 1"), nil},
	{"ls_remote", 0, words("ls --json --remote"), func(p *workspace) {
		head := p.git("for-each-ref", "--format=%(refname)", "--count=1", "refs/jp/conversations")
		p.git("update-ref", "refs/jp/remotes/origin/"+filepath.Base(head), head)
	}},
	{"archive", 0, words("archive --json Worked"), nil},
	{"ls_archived", 0, words("ls --json --archived"), nil},
	{"unarchive", 0, words("archive --undo --json Worked"), nil},
	{"error_provider", 7, words("query --json --new -m script/../fail.toml Fail"), nil},
	{"error_auth", 7, words("query --json --new -m script/../auth.toml Fail"), nil},
	{"query_failed", 7, words("query --json --new -m script/../fail.toml Fail"), nil},
	{"query_data", 0, words("query --json --new -m script/../data.toml Answer"), nil},
	{"error_config", 2, words("query --json -m nosuch"), nil},
	{"fork_restored", 0, words("fork --json --restore -y Worked@0"), nil},
	{"fork_worktree", 0, words("fork --json --worktree ../beside Worked@10"), nil},
	{"query_forked", 0, words("query --json --fork=12 -i Worked -m script/../data.toml Or_so"), nil},
	{"rm", 0, words("rm --json -y 031f"), nil},
	{"query_detached", 0, words("query --json --detach --new -m script/../ask.toml Ask_behind"), nil},
	{"wait", 3, words("attach --wait --json"), nil},
	{"answer", 0, words("answer --json n not_now"), nil},
	{"", 0, words("attach --wait"), nil},
	{"", 0, words("query --detach --new -m script/../ask.toml Ask_again"), nil},
	{"", 3, words("attach --wait"), nil},
	{"kill", 0, words("kill --json newest"), nil},
	{"ls_unreadable", 0, words("ls --json -n 9 --sort title"), func(p *workspace) {
		p.git("update-ref", "refs/jp/conversations/jp-c17952500000-zzzz", "HEAD")
	}},
	{"verify_damaged", 6, words("verify --json zzzz"), nil},
	{"error_damaged", 6, words("show --json zzzz"), nil},
	{"models", 0, words("models --json"), nil},
	{"config_show", 0, words("config show --json store"), nil},
	{"config_set", 0, words("config set --json --workspace policy.detached deny"), nil},
	{"config_path", 0, words("config path --json"), nil},
	{"trust_show", 1, words("trust --show --json"), nil},
	{"trust", 0, words("trust --json -y"), nil},
	{"trust_revoke", 0, words("trust --json --revoke"), nil},
	{"pack", 0, words("pack --json"), nil},
	{"trust_instructions", 1, words("trust --instructions --show --json"), func(p *workspace) { p.write("AGENTS.md", "Be brief.\n") }},
	{"", 0, words("trust --instructions -y"), nil},
	{"", 0, words("query --new -m script/../data.toml Answer"), nil},
	{"show_instructions", 0, words("show --instructions --json"), nil},
	{"", 0, words("query --new -m script/../long.toml How_long?"), nil},
	{"compact_dry_run", 0, words("compact --dry-run --keep 0 --json"), nil},
	{"compact", 0, words("compact --keep 0 --json --focus The_answer"), nil},
	{"compact_show", 0, words("compact --show --json"), nil},
	{"", 0, words("query Again"), nil},
	{"compact_undo", 0, words("compact --undo --json"), nil},
	{"query_dry_run", 0, words("query --dry-run --json --new -T -m script/../cached.toml First"), nil},
	{"", 0, words("query --new -m script/../cached.toml First"), nil},
	{"", 0, words("query Second"), nil},
	{"usage", 0, words("usage --json --by model"), nil},
	{"usage_misses", 0, words("usage --json --misses"), nil},
	{"skills", 0, words("skills --json"), func(p *workspace) {
		p.write(".agents/skills/notes/SKILL.md", "---\nname: notes\ndescription: Writes release notes.\nhooks: none\n---\nBe brief.\n")
		p.write(".agents/skills/broken/SKILL.md", "No front matter.\n")
	}},
	{"bisect_testing", 0, words("bisect --json Worked"), nil},
	{"", 0, words("bisect reset"), nil},
	{"bisect", 0, []string{"bisect", "--json", "Worked", "--run", "test ! -e made.txt"}, nil},
	{"why", 0, words("blame --commit --json HEAD"), func(p *workspace) {
		p.environ = append(p.environ, "GIT_COMMITTER_DATE=2026-11-22T10:00:00Z")
		p.write("own.txt", "a line of one's own\n")
		p.write("made.txt", "made\n")
		p.git("add", "own.txt", "made.txt")
		p.git("commit", "-q", "-m", "Made", "-m", "Jp-Conversation: jp-c17952553200-7ker@10\nJp-Conversation: jp-c17952553200-none@4")
	}},
	{"uninstall_dry_run", 0, words("uninstall --json --dry-run"), nil},
	{"uninstall", 0, words("uninstall --json -y"), nil},
}

func TestJSONContract(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../work.toml", contractScript)
	p.write("../ask.toml", askingScript)
	p.write("../fail.toml", "[[reply]]\nfail = \"context\"\n")
	p.write("../auth.toml", "[[reply]]\nfail = \"auth\"\n")
	p.write("../data.toml", strings.Repeat("[[reply]]\ndata = { answer = true }\n", 3))
	p.write("../cached.toml", "[[reply]]\nmessage = 'One.'\nusage = { input = 5000, output = 10, cache_write = 4000, cost_usd = '0.02' }\n"+
		"[[reply]]\nmessage = 'Two.'\nusage = { input = 6000, output = 10, cache_write = 4000, cost_usd = '0.03' }\n")
	p.write("../long.toml", "[[reply]]\nmessage = '"+strings.Repeat("It is long. ", 500)+"'\n[[reply]]\nmessage = 'Again.'\n"+
		"[[summary]]\nmessage = '{\"items\":[{\"text\":\"The answer is long.\",\"cites\":[3, 4]}]}'\n")
	p.write(".git/jp/workspace-id", "workspac\n")
	p.environ = append(p.environ, "GIT_AUTHOR_DATE="+epoch, "GIT_COMMITTER_DATE="+epoch)
	p.git("commit", "-q", "--amend", "--no-edit", "--date="+epoch)
	start, err := time.Parse(time.RFC3339, epoch)
	require.NoError(t, err)
	named := map[string]bool{}
	for i, c := range contract {
		there := *p
		there.environ = append(p.environ[:len(p.environ):len(p.environ)], clockVariable+"="+start.Add(time.Duration(i)*time.Minute).Format(time.RFC3339))
		if c.before != nil {
			c.before(p)
		}
		out := there.jp(c.args...)
		require.Equal(t, c.exit, out.exit, "%s: %s%s", c.args, out.stdout, out.stderr)
		if c.name != "" {
			named[c.name+".json"] = true
			said := out.stdout
			if strings.HasPrefix(c.name, "error") {
				said = out.stderr
			}
			holds(t, c.name, said, filepath.Dir(p.dir))
		}
	}
	files, err := os.ReadDir(golden)
	require.NoError(t, err)
	for _, f := range files {
		others := []string{"show_held.json", "error_locked.json", "attach.json", "send.json", "send_detached.json", "watch.json"}
		require.True(t, named[f.Name()] || slices.Contains(others, f.Name()), "%s is what no command writes", f.Name())
	}
}

// The JSON of a conversation in use has other fields.
func TestJSONContractOfOneInUse(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", talkScript)
	p.clocked(epoch, words("query -m script/../talk.toml Hello")...)
	id := conversation.ID(p.jp("show", "--json").field(t, "id"))
	held, err := process.LocksIn(filepath.Join(p.dir, ".git")).Take(id, process.Holder{PID: 4711})
	require.NoError(t, err)
	defer held.Release()
	holds(t, "show_held", p.jp("show", "--json").stdout, filepath.Dir(p.dir))
	locked := p.jp("query", "--json", "More")
	require.Equal(t, 4, locked.exit)
	holds(t, "error_locked", locked.stderr, filepath.Dir(p.dir))
}

// The output about a turn in another process ends when that does.
func TestJSONContractOfAttach(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../ask.toml", "[[reply]]\nmessage = \"I make a file.\"\n"+strings.TrimPrefix(askingScript, "\n[[reply]]\n"))
	p.environ = append(p.environ, "GIT_AUTHOR_DATE="+epoch, "GIT_COMMITTER_DATE="+epoch)
	p.write(".git/jp/workspace-id", "workspac\n")
	p.clocked(epoch, words("query --detach -m script/../ask.toml Ask")...)
	p.waits()
	cmd := p.command("attach", "--json", "--partial")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var said strings.Builder
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"type":"inquiry"`) {
			p.clocked(epoch, "answer", "n")
		}
	}
	require.NoError(t, cmd.Wait())
	holds(t, "attach", said.String(), filepath.Dir(p.dir))
}

// A message to a conversation that waits, and then to one that has ended. jp watch reports both.
func TestJSONContractOfWatch(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../ask.toml", askingScript+"[[reply]]\nmessage = \"Again.\"\n")
	p.environ = append(p.environ, "GIT_AUTHOR_DATE="+epoch, "GIT_COMMITTER_DATE="+epoch)
	p.write(".git/jp/workspace-id", "workspac\n")
	p.clocked(epoch, words("query --detach -m script/../ask.toml Ask")...)
	p.waits()
	there := *p
	there.environ = append(p.environ[:len(p.environ):len(p.environ)], clockVariable+"="+epoch)
	cmd := there.command("watch", "--json")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	var said strings.Builder
	until := func(parts ...string) {
		t.Helper()
		for lines.Scan() {
			if line := lines.Text(); !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
				said.WriteString(line + "\n")
				return
			}
		}
		require.Fail(t, "no more lines", parts)
	}
	until(`"type":"watching"`)
	until(`"group":"needs_you"`, `"question":{`)
	holds(t, "send", p.clocked(epoch, "send", "--json", "ask", "Be brief.").stdout, filepath.Dir(p.dir))
	p.clocked(epoch, "answer", "n")
	until(`"group":"ready"`, `"last":"Over."`)
	holds(t, "send_detached", p.clocked(epoch, "send", "--json", "ask", "Again").stdout, filepath.Dir(p.dir))
	until(`"group":"ready"`, `"last":"Again."`)
	require.Zero(t, p.jp("archive", "ask").exit)
	until(`"type":"gone"`)
	require.NoError(t, stdout.Close())
	require.NoError(t, cmd.Wait())
	holds(t, "watch", said.String(), filepath.Dir(p.dir))
}

var (
	softwareVersion = regexp.MustCompile(`"(jp|version|go|git|commit)": "[^"]*"`)
	prefixHash      = regexp.MustCompile(`"prefix": "[^"]*"`)
	processNumber   = regexp.MustCompile(`("p(?:g?i)d"): \d+`)
	bisectFolder    = regexp.MustCompile(`"folder": "[^"]*/jp-bisect-\d+"`)
	contextTokens   = regexp.MustCompile(`("tokens"): \d+`) // of the prompt, which names the system
	folderSize      = regexp.MustCompile(`("bytes"): \d+`)
	milliseconds    = regexp.MustCompile(`("\w+_ms"): \d+`)
)

// holds compares JSON with a golden file, one value per line of it.
func holds(t *testing.T, name, said, work string) {
	t.Helper()
	var values []string
	decoder := json.NewDecoder(strings.NewReader(said))
	for decoder.More() {
		var value json.RawMessage
		require.NoError(t, decoder.Decode(&value), "%s: %s", name, said)
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, value, "", "  "))
		values = append(values, scrubbed(indented.String(), work))
	}
	text := strings.Join(values, "\n") + "\n"
	if name == "version" {
		text = softwareVersion.ReplaceAllString(text, `"$1": "<$1>"`)
	}
	text = regexp.MustCompile(`"jp": "[^"]*"`).ReplaceAllString(text, `"jp": "<version>"`)
	text = prefixHash.ReplaceAllString(text, `"prefix": "<hash>"`)
	text = bisectFolder.ReplaceAllString(text, `"folder": "<folder>"`)
	text = processNumber.ReplaceAllString(text, "$1: 1")
	if name == "watch" {
		text = contextTokens.ReplaceAllString(text, "$1: 1")
	}
	if strings.HasPrefix(name, "uninstall") {
		text = folderSize.ReplaceAllString(text, "$1: 1")
	}
	text = milliseconds.ReplaceAllString(text, "$1: 1")
	file := filepath.Join(golden, name+".json")
	if *update {
		require.NoError(t, os.MkdirAll(golden, 0o777))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "%s; go test -update writes it anew", file)
}
