package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// A watch notices the effects of an attack.
type watch struct {
	place  *hostileRepo
	before map[string][sha256.Size]byte // of each file that must stay as it is
}

func newWatch(p *hostileRepo) *watch {
	w := &watch{place: p}
	w.renew()
	return w
}

// renew takes the present files for those that have to be there.
func (w *watch) renew() { w.before = w.guarded() }

// signs are the marks of an attack since the last time, and those in a command's output.
func (w *watch) signs(out []byte, onTerminal bool) []string {
	var found []string
	ran := w.place.path("marks/ran")
	if text, err := os.ReadFile(ran); err == nil {
		found = append(found, "a program ran: "+firstLine(text))
		_ = os.Remove(ran)
	}
	lured, received := w.place.server.take()
	for _, request := range lured {
		found = append(found, "the attacker was reached: "+request)
	}
	for _, body := range append(received, w.naive()...) {
		found = append(found, forged(body)...)
	}
	for _, text := range append(received, string(out)) {
		found = append(found, leaks(text)...)
	}
	if w.place.peak > enormous {
		found = append(found, fmt.Sprintf("a process took %d MiB", w.place.peak>>20))
	}
	w.place.peak = 0
	if sign := control(out, onTerminal); sign != "" {
		found = append(found, sign)
	}
	now := w.guarded()
	for _, name := range changedNames(w.before, now) {
		found = append(found, "changed: "+name)
	}
	w.before = now
	return found
}

// enormous is more memory than looking at a few objects may take.
const enormous = 192 << 20

// naive are the requests that a control would have sent.
func (w *watch) naive() (bodies []string) {
	files, _ := filepath.Glob(w.place.path("requests/*"))
	for _, file := range files {
		if body, err := os.ReadFile(file); err == nil {
			bodies = append(bodies, string(body))
		}
	}
	return bodies
}

// leaks are the secrets in a text.
func leaks(text string) (found []string) {
	if strings.Contains(text, canary) {
		found = append(found, "a file outside was read")
	}
	if strings.Contains(text, userKey) {
		found = append(found, "the user's key was shown")
	}
	return found
}

// control is the first character of an output that would command a terminal, or hide or reorder text, ""
// for none. On a terminal jp's own colours, moves and line ends are no sign.
func control(out []byte, onTerminal bool) string {
	for i := 0; i < len(out); {
		r, size := utf8.DecodeRune(out[i:])
		if onTerminal && (r == '\r' || r == 0x1b && own(out[i:])) {
			i += size
			continue
		}
		if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0) || hides(r) || r == utf8.RuneError && size == 1 {
			return fmt.Sprintf("the output has %q in %q", out[i:i+size], out[max(0, i-24):min(len(out), i+24)])
		}
		i += size
	}
	return ""
}

// own reports whether jp may send a sequence to a terminal: a colour, a move of the cursor, a line or the
// screen below erased, keys and cursor switched. The attacks use none of these.
func own(sequence []byte) bool {
	end := bytes.IndexFunc(sequence[min(2, len(sequence)):], func(r rune) bool { return r >= 0x40 && r < 0x7f }) + 2
	if end < 2 || !bytes.HasPrefix(sequence, []byte("\x1b[")) {
		return false
	}
	parameters := string(sequence[2:end])
	if parameters != "" && strings.ContainsAny(parameters[:1], "<=>?") {
		return true // a question about, or a setting of, the keyboard and the cursor
	}
	switch final := sequence[end]; final {
	case 'm':
		return parameters != "8" && parameters != "31;42"
	case 'A', 'B', 'C', 'D', 'G', 'H', 'I', 'Z': // Z: back by tabs, of the lists
		return true
	case 'J', 'K':
		return parameters != "2"
	}
	return false
}

// hides reports whether a character reorders or hides text: direction marks,
// overrides, tags, invisible separators.
func hides(r rune) bool {
	return r >= 0x200e && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r == 0x200b || r == 0x2060 || r == 0xfeff || r == 0x061c || r >= 0xe0000 && r <= 0xe007f
}

// guarded hashes the files that neither jp nor its file tools may change: those outside, the user's
// settings, the repository's, and jp's own in it.
func (w *watch) guarded() map[string][sha256.Size]byte {
	hashes := map[string][sha256.Size]byte{}
	git := filepath.Join(w.place.repo, ".git")
	for _, root := range []string{
		w.place.path("outside"), filepath.Join(w.place.home, ".config"), filepath.Join(w.place.home, ".gitconfig"),
		filepath.Join(w.place.repo, ".jp"), filepath.Join(git, "config"), filepath.Join(git, "config.worktree"),
		filepath.Join(git, "hooks"), filepath.Join(git, "info"), filepath.Join(git, "modules"), filepath.Join(git, "commondir"),
	} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // it is missing
			}
			content, err := os.ReadFile(path)
			if err == nil {
				name, _ := filepath.Rel(w.place.dir, path)
				hashes[name] = sha256.Sum256(content)
			}
			return nil
		})
	}
	return hashes
}

func changedNames(before, after map[string][sha256.Size]byte) []string {
	changed := map[string]bool{}
	for name, hash := range before {
		if now, there := after[name]; !there || now != hash {
			changed[name] = true
		}
	}
	for name := range after {
		if _, was := before[name]; !was {
			changed[name] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	return line[:min(len(line), 120)]
}
