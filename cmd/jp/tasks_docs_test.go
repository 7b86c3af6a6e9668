package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/vendortest"
	"jp/sandbox"
)

// A taskPage is a page of docs/tasks while a test follows it, in order: it writes each block of a
// file, and runs each command of a "console" block, which must print the output behind it.
type taskPage struct {
	t        *testing.T
	home     string            // the parent of all folders
	clock    time.Time         // of the next command
	settings string            // of the user, before the page
	actual   map[string]string // the test's words in the place of the page's
	at       map[string]string // by prompt: the folder
	environ  map[string][]string
}

// taskSetups prepare the repository that each page begins with.
var taskSetups = map[string]func(*taskPage){
	"lost-session": func(p *taskPage) {
		p.model("main", `
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "auth/retry.go", content = "package auth\n\nconst MaxRetries = 3\n" }
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["./deploy-docs"] }
[[reply]]
message = "Login now retries three times."
`)
		p.write("deploy-docs", "#!/bin/sh\n[ -e ../died ] || { touch ../died; kill -KILL $PPID; }\n")
		p.commit("A tool that ends jp.")
		p.run("$", unconfined+` jp query -y "Cap the retries, then publish the docs."`)
	},
	"what-it-did": func(p *taskPage) { p.capsRetries() },
	"two-answers": func(p *taskPage) {
		p.capsRetries()
		p.model("other", `
[[reply]]
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "auth/retry.go", edits = [{ old = "MaxRetries = 10", new = "MaxRetries = 5" }] }
[[reply]]
message = "Five retries, as the server's timeout is one minute."
`)
	},
	"overnight": func(p *taskPage) {
		p.model("main", `
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "auth/retry_test.go", content = "package auth\n" }
[[reply]]
message = "The tests are ported."
`)
		p.program("ssh", "#!/bin/sh\n# ssh HOST COMMAND…: another session on the same machine, in the folder above the repository\nshift\ncd \""+p.home+"\" && unset JP_SESSION\n# whoever comes back later finds that the turn waits\nwhile jp -C login ls --status running 2>/dev/null | grep -q jp-; do sleep 0.02; done\nexec sh -c \"$*\"\n")
	},
	"share": func(p *taskPage) {
		p.capsRetries()
		p.run("$", "git init -q --bare ../origin.git && git remote add origin ../origin.git && git push -q origin main")
		p.colleague()
	},
	"other-machine": func(p *taskPage) {
		if _, err := exec.LookPath("ssh-keygen"); err != nil {
			p.t.Skip("ssh-keygen is missing; it comes with OpenSSH")
		}
		p.capsRetries()
		p.run("$", "git init -q --bare ../origin.git && git remote add origin ../origin.git && git push -q origin main")
		p.run("$", "mkdir -p ~/.ssh && ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519")
		p.colleague()
		p.at["laptop$"], p.environ["laptop$"] = p.at["colleague$"], p.environ["colleague$"]
		p.run("laptop$", "cp -r "+p.home+"/home/.ssh ~ && git config --global gpg.format ssh && git config --global user.signingKey ~/.ssh/id_ed25519.pub")
	},
	"pull-request": func(p *taskPage) {
		p.write("auth/retry.go", "package auth\n\nconst MaxRetries = 10\n")
		p.write("test.sh", "#!/bin/sh\ngrep -q 'MaxRetries = 3' auth/retry.go\n")
		p.commit("The retries.")
		p.run("$", "git branch -M main && git checkout -q -b topic")
		p.model("main", `
[[reply]]
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "auth/retry.go", edits = [{ old = "MaxRetries = 10", new = "MaxRetries = 3" }] }
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "test.sh"] }
[[reply]]
message = "Login now retries three times."
`)
	},
	"export": func(p *taskPage) {
		p.capsRetries()
		p.write("~/.claude/settings.json", "{}\n")
	},
	"record": func(p *taskPage) {
		p.write("notes.txt", "mine\n")
		p.program("claude", `#!/bin/sh
# claude --settings JSON -p TEXT: one turn of Claude Code with one call
file=$HOME/.claude/projects/login/5e551000-0000-4000-8000-000000000001.jsonl
mkdir -p "${file%/*}"
n=0
line() {
	n=$((n+1))
	printf '{"type":"%s","uuid":"u%d","parentUuid":"u%d","sessionId":"5e551000-0000-4000-8000-000000000001","cwd":"%s","timestamp":"2026-11-02T09:00:0%dZ","message":{"id":"m1","model":"claude-x","content":%s}}\n' "$1" $n $((n-1)) "$PWD" $n "$2" >>"$file"
}
hook() {
	printf '{"session_id":"5e551000-0000-4000-8000-000000000001","transcript_path":"%s","cwd":"%s","tool_use_id":"t1","permission_mode":"acceptEdits"}' "$file" "$PWD" |
		jp record hook --agent claude --run "$JP_RECORD_RUN" "$1"
}
hook SessionStart
line user "\"$4\""
hook UserPromptSubmit
line assistant '[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make retries"}}]'
hook PreToolUse
mkdir -p auth
printf 'package auth\n\nconst MaxRetries = 3\n' >auth/retry.go
rm notes.txt
hook PostToolUse
line user '[{"type":"tool_result","tool_use_id":"t1","content":"done"}]'
line assistant '[{"type":"text","text":"Done."}]'
hook Stop
hook SessionEnd
echo Done.
`)
	},
	"import": func(p *taskPage) {
		tree, err := filepath.EvalSymlinks(p.at["$"])
		require.NoError(p.t, err)
		record := `{"type":"%s","uuid":"%d","parentUuid":"%d","sessionId":"5e55","cwd":` + strconv.Quote(tree) + `,"timestamp":"2026-11-02T09:00:0%[2]dZ","message":{"id":"m%[2]d","model":"claude-x","content":%[4]s}}` + "\n"
		session := ""
		for i, message := range [][2]string{
			{"user", `"Cap the retries"`},
			{"assistant", `[{"type":"text","text":"I look."},{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"auth/retry.go"}}]`},
			{"user", `[{"type":"tool_result","tool_use_id":"t","content":"package auth"}]`},
			{"assistant", `[{"type":"text","text":"Login now retries three times."}]`},
		} {
			session += fmt.Sprintf(record, message[0], i, i-1, message[1])
		}
		p.write("~/.claude/projects/"+regexp.MustCompile("[^A-Za-z0-9]").ReplaceAllString(tree, "-")+"/5e55.jsonl", session)
		database, err := os.ReadFile("../../importer/testdata/opencode.db")
		require.NoError(p.t, err)
		p.write("~/.local/share/opencode/opencode.db", string(database))
		p.model("main", `
[[reply]]
message = "In the place of the first imported answer"
[[reply]]
message = "and of the second"
[[reply]]
message = "Because the server's timeout is one minute."
`)
	},
	"chat": func(p *taskPage) { p.t.Skip("it has no commands; the tests of the chat have its screens") },
	"uninstall": func(p *taskPage) {
		p.model("main", "[[reply]]\nmessage = \"Three retries.\"\n")
		p.run("$", `jp query "How many retries?"`)
	},
	"cost":       func(p *taskPage) { p.capsRetries() },
	"ci":         func(p *taskPage) { p.model("main", "[[reply]]\nmessage = \"It passes.\"\n") },
	"gateway":    (*taskPage).gateway,
	"keys":       (*taskPage).keys,
	"cloud":      func(p *taskPage) { p.t.Skip("it has no commands; TestMyCloudsModels reads its tables") },
	"allow-test": (*taskPage).allows,
	"extend":     (*taskPage).extends,
	"profiles": func(p *taskPage) {
		p.write("auth/retry.go", "package auth\n\nconst MaxRetries = 3\n")
		p.commit("The retries.")
		p.model("main", `
[[reply]]
message = "auth/retry.go:3: three retries, without a pause."
[[reply]]
message = "One step: wait between retries."
`)
	},
	"long-work": func(p *taskPage) {
		var notes strings.Builder
		for i := range 400 {
			fmt.Fprintf(&notes, "task %d is to be done in its order\n", i)
		}
		p.write("notes.txt", notes.String())
		p.commit("The tasks.")
		p.model("main", `
[[reply]]
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "notes.txt" }
[[reply]]
message = "Task 399 is the last one."
[[summary]]
message = '{"items":[{"text":"The tasks keep their order.","cites":[2]},{"text":"notes.txt has 400 tasks, 0 to 399.","cites":[4]}]}'
`)
	},
	"skills": func(p *taskPage) {
		p.model("main", `
[[reply]]
[[reply.tool_call]]
name = "skill"
arguments = { name = "release-notes" }
[[reply]]
message = "Login now retries three times."
[[reply]]
message = "Three retries."
`)
	},
	"project-rules": func(p *taskPage) {
		p.write("auth/retry.go", "package auth\n\nconst MaxRetries = 3\n")
		p.commit("The retries.")
		p.model("main", `
[[reply]]
message = "I look first."
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "auth/retry.go" }
[[reply]]
message = "I would add a table test."
`)
	},
}

func TestTaskPages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/tasks/*.md")
	require.NoError(t, err)
	require.Len(t, files, len(taskSetups))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page, err := os.ReadFile(file)
			require.NoError(t, err)
			setup := taskSetups[name]
			require.NotNil(t, setup, "the page has no repository to begin with")
			p := newTaskPage(t)
			setup(p)
			p.follow(string(page))
		})
	}
}

func newTaskPage(t *testing.T) *taskPage {
	t.Helper()
	place := newPlace(t)
	start, err := time.Parse(time.RFC3339, epoch)
	require.NoError(t, err)
	p := &taskPage{
		t: t, home: filepath.Dir(place.dir), clock: start, actual: map[string]string{},
		at: map[string]string{"$": filepath.Join(filepath.Dir(place.dir), "login")}, environ: map[string][]string{"$": place.environ},
	}
	require.NoError(t, os.Rename(place.dir, p.at["$"]))
	require.NoError(t, os.MkdirAll(filepath.Join(p.home, "bin"), 0o755))
	p.setenv("$", "PATH", filepath.Join(p.home, "bin")+":"+os.Getenv("PATH"))
	p.actual["~/"] = filepath.Join(p.home, "home") + "/"
	return p
}

func (p *taskPage) setenv(prompt, name, value string) {
	p.environ[prompt] = append(p.environ[prompt], name+"="+value)
}

// model makes the script the answers of anthropic/claude-sonnet-5-5 ("main"), or of
// openai/gpt-6.1-sol.
func (p *taskPage) model(name, script string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.home, name+".toml"), []byte(script), 0o600))
	documented := map[string]string{"main": "anthropic/claude-sonnet-5-5", "other": "openai/gpt-6.1-sol"}[name]
	p.actual[documented] = "script/../" + name + ".toml"
	if name == "main" {
		p.setenv("$", "JP_CFG_MODEL", p.actual[documented])
	}
}

func (p *taskPage) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.at["$"], name)
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		path = filepath.Join(p.home, "home", rest)
	}
	if path == filepath.Join(p.home, "home/.config/jp/config.toml") {
		if p.settings == "" {
			p.settings = string(must(os.ReadFile(path)))
		}
		text += p.settings // of all tests; keys without a table come first
	}
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(p.t, os.WriteFile(path, []byte(text), 0o755))
}

// program puts a program into the PATH.
func (p *taskPage) program(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.home, "bin", name), []byte(text), 0o755))
}

func (p *taskPage) commit(message string) { p.run("$", "git add . && git commit -qm '"+message+"'") }

// capsRetries is a model that edits one file and creates another.
func (p *taskPage) capsRetries() {
	p.t.Helper()
	p.write("auth/retry.go", "package auth\n\nconst MaxRetries = 10\n")
	p.commit("The retries.")
	p.model("main", `
[[reply]]
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "auth/retry.go", edits = [{ old = "MaxRetries = 10", new = "MaxRetries = 3" }] }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "auth/retry_test.go", content = "package auth\n" }
[[reply]]
message = "Login now retries three times."
[[reply]]
message = "Because the server's timeout is one minute."
`)
}

// colleague is another user with a clone.
func (p *taskPage) colleague() {
	p.t.Helper()
	home := filepath.Join(p.home, "colleague")
	p.environ["colleague$"] = append(childEnviron(home), "JP_CFG_MODEL="+p.actual["anthropic/claude-sonnet-5-5"])
	require.NoError(p.t, fastStore(home))
	require.NoError(p.t, os.WriteFile(filepath.Join(home, ".local/state/jp/key"), bytes.Repeat([]byte("cd"), 32), 0o600))
	p.at["colleague$"] = filepath.Join(home, "login")
	require.NoError(p.t, os.MkdirAll(p.at["colleague$"], 0o755))
	p.run("colleague$", "git clone -q "+p.home+"/origin.git .")
	require.NoError(p.t, os.WriteFile(filepath.Join(home, "main.toml"), must(os.ReadFile(filepath.Join(p.home, "main.toml"))), 0o600))
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// gateway is a server that wants a header, and speaks Chat Completions over TLS.
func (p *taskPage) gateway() {
	v := vendortest.VendorNamed("work")
	s := vendortest.New(p.t, vendortest.Reply{Text: "Hello."})
	base := ""
	for _, variable := range s.Env() {
		if address, ok := strings.CutPrefix(variable, "JP_CFG_PROVIDERS__WORK__BASE_URL="+s.URL); ok {
			base = address
		}
	}
	tls := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Team") != "search" {
			http.Error(w, `{"error":{"message":"no team"}}`, http.StatusUnauthorized)
			return
		}
		r.URL.Path = base + strings.TrimPrefix(r.URL.Path, "/v1")
		s.ServeHTTP(w, r)
	}))
	p.t.Cleanup(tls.Close)
	p.actual["~/company-ca.pem"] = filepath.Join(p.home, "home/company-ca.pem")
	p.write("~/company-ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw})))
	p.program("vault", "#!/bin/sh\necho "+v.Key()+"\n")
	p.actual["https://llm.example.com"] = tls.URL
	p.actual["gpt-6.1-sol"] = v.Model
}

// keys is a provider that wants a key, and a program that prints it.
func (p *taskPage) keys() {
	v := vendortest.VendorNamed("anthropic")
	s := vendortest.New(p.t, vendortest.Reply{Text: "Hello."})
	p.environ["$"] = append(p.environ["$"], keyGate(p.t, s, v))
	p.program("pass", "#!/bin/sh\necho "+v.Key()+"\n")
}

// allows is a Go module, and a model that tests it and tries more.
func (p *taskPage) allows() {
	if !sandbox.Supported().Enforced() {
		p.t.Skip("the page says what a confined program may do, and none can be confined here")
	}
	p.write("go.mod", "module login\n\ngo 1.21\n")
	p.write("retry_test.go", "package login\n\nimport \"testing\"\n\nfunc TestRetry(t *testing.T) {}\n")
	p.commit("A module.")
	p.model("main", `
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["go", "test", "./..."] }
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["git", "push"] }
[[reply]]
message = "The tests pass. I may not push."
`)
	if cache, err := os.UserCacheDir(); err == nil {
		p.setenv("$", "GOCACHE", filepath.Join(cache, "go-build"))
	}
}

// extends is a model that calls a tool, and is denied another one by a hook.
func (p *taskPage) extends() {
	if _, err := exec.LookPath("jq"); err != nil {
		p.t.Skip("the tool of the page needs jq, and jp itself does not")
	}
	p.model("main", `
[[reply]]
[[reply.tool_call]]
name = "count_lines"
arguments = { path = "README.md" }
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["git", "push"] }
[[reply.tool_call]]
name = "mcp__docs__echo"
arguments = { text = "retries" }
[[reply]]
message = "One line, and no push."
`)
	p.actual["/home/ada"] = filepath.Join(p.home, "home")
	fake, err := exec.LookPath("mcp-fake")
	require.NoError(p.t, err)
	p.program("docs-server", "#!/bin/sh\nexec "+fake+" plain\n")
}

var (
	pageBlock = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	fileName  = regexp.MustCompile(`\A(?:#!.*\n)?# (~?[\w./-]*/[\w./-]+)\n`)
	promptAt  = regexp.MustCompile(`^((?:colleague|laptop)?\$) (.*)$`)
	exitCode  = regexp.MustCompile(`# exit code (\d+)`)
)

// follow runs the steps of a page.
func (p *taskPage) follow(page string) {
	p.t.Helper()
	commands := 0
	for _, block := range pageBlock.FindAllStringSubmatch(page, -1) {
		if name := fileName.FindStringSubmatch(block[2]); name != nil {
			p.write(name[1], p.really(block[2]))
			continue
		}
		require.Equal(p.t, "console", block[1], "neither a file nor commands: %s", block[2])
		lines := strings.Split(strings.TrimSuffix(block[2], "\n"), "\n")
		for len(lines) > 0 {
			asked := promptAt.FindStringSubmatch(lines[0])
			require.NotNil(p.t, asked, "output without a command: %s", lines[0])
			n := 1
			for n < len(lines) && promptAt.FindString(lines[n]) == "" {
				n++
			}
			p.check(asked[1], asked[2], lines[1:n])
			lines, commands = lines[n:], commands+1
		}
	}
	require.NotZero(p.t, commands)
}

// really is a text of the page with the test's words in the place of its own.
func (p *taskPage) really(text string) string {
	for documented, actual := range p.actual {
		text = strings.ReplaceAll(text, documented, actual)
	}
	return text
}

// check runs a command and compares its output. A line of three dots stands for any number of lines,
// and three dots in a line for any text.
func (p *taskPage) check(who, command string, want []string) {
	p.t.Helper()
	out, exit := p.run(who, p.really(command))
	p.t.Logf("%s %s\n%s", who, command, out)
	expected := "0"
	if said := exitCode.FindStringSubmatch(command); said != nil {
		expected = said[1]
	}
	if got := strconv.Itoa(exit); got != expected {
		p.t.Errorf("%s: exit code %s, not %s", command, got, expected)
	}
	if len(want) == 0 {
		return
	}
	var pattern strings.Builder
	for _, line := range want {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(linePattern(p.really(line)) + `\n`)
	}
	if !regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(evened(out)) {
		p.t.Errorf("%s should print\n%s", command, strings.Join(want, "\n"))
	}
}

var (
	blanks    = regexp.MustCompile(`[ \t]+`)
	ofMachine = regexp.MustCompile(`…|\b\d\d:\d\d\b|\bnow\b|\b[0-9.]+k? in, [0-9.]+k? out\b|\b[0-9.]+ (?:ms|s|min|h|d)\b|\b[0-9a-f]{40}\b|\bpid \d+\b|\b(?:main|Index|index) [0-9a-f]{7}\b|\bblob [0-9a-f]{12}\b|(?m:^)[0-9a-f]{7}\b`)
)

// evened is a text with one blank for each gap, and none at the ends of lines.
func evened(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(blanks.ReplaceAllString(line, " "))
	}
	return strings.Join(lines, "\n")
}

// linePattern matches a line of the page with any time, machine and names of commits.
func linePattern(line string) string {
	line = evened(line)
	var pattern strings.Builder
	rest := 0
	for _, at := range ofMachine.FindAllStringIndex(line, -1) {
		pattern.WriteString(regexp.QuoteMeta(line[rest:at[0]]))
		word := line[at[0]:at[1]]
		switch {
		case word == "…":
			pattern.WriteString(`.*`)
		case strings.HasPrefix(word, "main ") || strings.HasPrefix(strings.ToLower(word), "index "):
			pattern.WriteString(word[:strings.IndexByte(word, ' ')] + ` [0-9a-f]{7}`)
		case strings.HasPrefix(word, "blob "):
			pattern.WriteString(`blob [0-9a-f]{12}`)
		case strings.HasPrefix(word, "pid "):
			pattern.WriteString(`pid \d+`)
		case strings.HasSuffix(word, " out"):
			pattern.WriteString(`[0-9.]+k? in, [0-9.]+k? out`)
		case len(word) == 40:
			pattern.WriteString(`[0-9a-f]{40,64}`)
		case len(word) == 7 && !strings.ContainsAny(word, " :"):
			pattern.WriteString(`[0-9a-f]{7}`)
		case strings.Contains(word, ":"):
			pattern.WriteString(`\d\d:\d\d`)
		default:
			pattern.WriteString(`(?:now|[0-9.]+ (?:ms|s|min|h|d))`)
		}
		rest = at[1]
	}
	return pattern.String() + regexp.QuoteMeta(line[rest:])
}

// run runs one command line in a person's shell, which keeps its folder and its
// exported variables.
func (p *taskPage) run(who, command string) (output string, exit int) {
	p.t.Helper()
	p.clock = p.clock.Add(time.Minute)
	state := filepath.Join(p.home, "shell-"+strings.TrimSuffix(who, "$"))
	cmd := exec.Command("sh", "-c", `if [ -f "$1" ]; then . "$1"; fi; export `+clockVariable+"="+p.clock.Format(time.RFC3339)+"\n"+
		command+"\n"+`code=$?; export -p >"$1"; pwd >"$1.dir"; exit $code`, "sh", state)
	cmd.Dir, cmd.Env = p.at[who], p.environ[who]
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	exit = exitOf(p.t, cmd.Run())
	if dir, err := os.ReadFile(state + ".dir"); err == nil {
		p.at[who] = strings.TrimSpace(string(dir))
	}
	return out.String(), exit
}
