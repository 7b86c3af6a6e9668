package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"jp/internal/testing/gitenv"
)

// scriptCommands are the commands of the scripts besides testscript's own.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"repo":  scriptRepo,
	"tick":  scriptTick,
	"exits": scriptExits,
	"json":  scriptJSON,
	"keys":  scriptKeys,
	"scrub": scriptScrub,
	"save":  scriptSave,
	"helps": scriptHelps,
}

// repo DIR makes a repository with a commit of README.md, and of the files that the script put into
// DIR, and goes there. FIRST is the beginning of its id.
func scriptRepo(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs("repo")
	if len(args) == 1 {
		dir = ts.MkAbs(args[0])
	}
	ts.Check(os.MkdirAll(filepath.Join(dir, ".git", "jp"), 0o777))
	ts.Check(ts.Chdir(dir))
	readme := filepath.Join(dir, "README.md")
	if _, err := os.Stat(readme); errors.Is(err, os.ErrNotExist) {
		ts.Check(os.WriteFile(readme, []byte("# A repository\n"), 0o666))
	}
	for _, words := range []string{"init -q", "add .", "commit -q -m first"} {
		ts.Check(ts.Exec("git", strings.Fields(words)...))
	}
	id := "workspac"
	if base := filepath.Base(dir); base != "repo" { // each is a repository of its own
		sum := sha256.Sum256([]byte(base))
		id = hex.EncodeToString(sum[:4])
	}
	ts.Check(os.WriteFile(filepath.Join(dir, ".git", "jp", "workspace-id"), []byte(id+"\n"), 0o666))
	ts.Check(ts.Exec("git", "rev-parse", "--short=7", "HEAD"))
	ts.Setenv("FIRST", strings.TrimSpace(ts.ReadFile("stdout")))
}

// tick DURATION moves the clock of the commands that follow.
func scriptTick(ts *testscript.TestScript, _ bool, args []string) {
	by, err := time.ParseDuration(args[0])
	ts.Check(err)
	at, err := time.Parse(time.RFC3339, ts.Getenv(clockVariable))
	ts.Check(err)
	ts.Setenv(clockVariable, at.Add(by).Format(time.RFC3339))
}

// exits CODE COMMAND… runs a command that must end with this exit code.
func scriptExits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, not %d", got, want)
	}
	if args[1] == "jp" {
		ts.Check(pasteable(ts.ReadFile("stderr")))
	}
}

// [!] json FILE PATH [VALUE] looks at one place in JSON: in the value of a file
// that has one line, or in the array of the lines. PATH is names, indices (from
// the end if negative) and type=NAME (the first with this type), joined with
// dots. VALUE is JSON, or a string as JSON has it, without its quotes.
func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	value, found := walk(document(ts, args[0]), strings.Split(args[1], "."))
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	ts.Check(encoder.Encode(value))
	got := strings.TrimSpace(out.String())
	matches := found
	if len(args) > 2 {
		matches = found && (got == args[2] || got == `"`+args[2]+`"`)
	}
	if matches == neg {
		ts.Fatalf("%s: %s", args[1], got)
	}
}

// keys FILE PATH NAME… checks that an object has exactly these keys.
func scriptKeys(ts *testscript.TestScript, _ bool, args []string) {
	value, found := walk(document(ts, args[0]), strings.Split(args[1], "."))
	object, ok := value.(map[string]any)
	if !found || !ok {
		ts.Fatalf("%s: no object: %v", args[1], value)
	}
	got := slices.Sorted(maps.Keys(object))
	want := slices.Sorted(slices.Values(args[2:]))
	if !slices.Equal(got, want) {
		ts.Fatalf("%s:\nhas  %v\nwant %v", args[1], got, want)
	}
}

func document(ts *testscript.TestScript, file string) any {
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	decoder.UseNumber()
	values := []any{}
	for {
		var v any
		err := decoder.Decode(&v)
		if errors.Is(err, io.EOF) {
			break
		}
		ts.Check(err)
		values = append(values, v)
	}
	if len(values) == 1 {
		return values[0]
	}
	return values
}

func walk(value any, path []string) (any, bool) {
	for _, step := range path {
		next, ok := descend(value, step)
		if !ok {
			return nil, false
		}
		value = next
	}
	return value, true
}

func descend(value any, step string) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		if step == "" {
			return v, true
		}
		inner, ok := v[step]
		return inner, ok
	case []any:
		if step == "length" {
			return len(v), true
		}
		if name, ok := strings.CutPrefix(step, "type="); ok {
			i := slices.IndexFunc(v, func(e any) bool { o, _ := e.(map[string]any); return o["type"] == name })
			if i < 0 {
				return nil, false
			}
			return v[i], true
		}
		i, err := strconv.Atoi(step)
		if i < 0 {
			i += len(v)
		}
		if err != nil || i < 0 || i >= len(v) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

var (
	backupBytes = regexp.MustCompile(`("backup_bytes": ?)\d+`)
	objectID    = regexp.MustCompile(`\b[0-9a-f]{` + map[string]string{"sha1": "40", "sha256": "64"}[gitenv.ObjectFormat()] + `}\b`)
	shortOID    = regexp.MustCompile(`(main )[0-9a-f]{7}\b|(at commit )[0-9a-f]{10}\b`)
	digest      = regexp.MustCompile(`("sha256": "|sha256 )[0-9a-f]{64}\b`)
	instant     = regexp.MustCompile(`(T\d\d:\d\d:\d\d)\.\d+Z`)
	tokens      = regexp.MustCompile(`("(?:input|output)": )\d+`)
	promptSize  = regexp.MustCompile(`prompt: \d+ words, \d+ tools`)
	system      = regexp.MustCompile(`(The system is )\w+`)
	inOut       = regexp.MustCompile(`[\d.]+k? in, [\d.]+k? out`)
)

// scrub stdout
//
// stderr writes it to "scrubbed", JSON indented, without the parts that depend on the version of jp,
// on the machine or on the object format.
func scriptScrub(ts *testscript.TestScript, _ bool, args []string) {
	text := scrubbed(ts.ReadFile(args[0]), ts.Getenv("WORK"))
	ts.Check(os.WriteFile(ts.MkAbs("../scrubbed"), []byte(text), 0o666))
}

// scrubbed is a text without the parts that depend on the version of jp or on the machine, JSON
// indented.
func scrubbed(text, work string) string {
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(text), "", "  ") == nil {
		text = indented.String()
	}
	text = digest.ReplaceAllString(text, "$1<sha256>")
	text = objectID.ReplaceAllString(text, "<oid>")
	text = backupBytes.ReplaceAllString(text, "${1}1") // it depends on inodes
	text = shortOID.ReplaceAllString(text, "$1$2<short>")
	text = instant.ReplaceAllString(text, "${1}Z")
	text = tokens.ReplaceAllString(text, "${1}0")
	text = system.ReplaceAllString(text, "${1}linux")
	text = inOut.ReplaceAllString(text, "0 in, 0 out")
	text = promptSize.ReplaceAllString(text, "prompt: 0 words, 0 tools")
	return strings.ReplaceAll(text, work, "$WORK")
}

// save NAME keeps the stdout of the last command in a variable.
func scriptSave(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
	fmt.Fprintf(ts.Stdout(), "%s\n", ts.Getenv(args[0]))
}
