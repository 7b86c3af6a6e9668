package main

import (
	"encoding/binary"
	"fmt"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

// An undo of a new or changed file and an undo of that give its bytes back, with any conversion of
// line ends by git.
func TestUndoKeepsBytes(t *testing.T) {
	t.Parallel()
	wide := func(text string) string {
		b := []byte("\xff\xfe")
		for _, unit := range utf16.Encode([]rune(text)) {
			b = binary.LittleEndian.AppendUint16(b, unit)
		}
		return string(b)
	}
	same := func(text string) string { return text }
	plain := []string{"a\nb\n", "a\r\nb\r\n", "a", "a\n\n\nb", "\r\n", "a\r\nb\n", "a\nb\nc\r\n\r\nd\n\r\ne", "\n\r\n\n\r"}
	for name, set := range map[string]struct {
		autocrlf, attributes string
		bytes                []string
		encoded              func(string) string
	}{
		"nothing":            {"false", "", plain, same},
		"autocrlf":           {"true", "", plain, same},
		"autocrlf=input":     {"input", "", plain, same},
		"eol=crlf":           {"false", "new.txt text eol=crlf\n", plain, same},
		"eol=lf":             {"false", "new.txt text eol=lf\n", plain, same},
		"text=auto":          {"false", "* text=auto\n", plain, same},
		"text=auto, true":    {"true", "* text=auto\n", plain, same},
		"text=auto eol=crlf": {"input", "* text=auto eol=crlf\n", plain, same},
		"no text":            {"true", "* -text\n", append(plain, "a\x00\r\n\n"), same},
		"UTF-16":             {"false", "new.txt text working-tree-encoding=UTF-16LE-BOM\n", []string{wide("a\nb\n"), wide("a\r\nb\r\n")}, wide},
		"UTF-16, true":       {"true", "new.txt text working-tree-encoding=UTF-16LE-BOM\n", []string{wide("a\nb\n"), wide("a\r\nb\r\n")}, wide},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.git("config", "core.autocrlf", set.autocrlf)
			if set.attributes != "" {
				p.write(".gitattributes", set.attributes)
				p.git("add", ".gitattributes")
				p.git("commit", "-qm", "rules")
			}
			p.write("../make.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"cp\", \"../bytes\", \"new.txt\"] }\n[[reply]]\nmessage = \"Made.\"\n")
			for i, want := range set.bytes {
				for _, first := range []string{"", set.encoded("first\r\n")}[:1+i%2] { // the content before
					p.write("../bytes", want)
					if first != "" {
						p.write("new.txt", first)
						p.git("add", "new.txt")
						p.git("commit", "-qm", "first")
					}
					out := p.jp("query", "-y", "--new", "--title", fmt.Sprint(i), "-m", "script/../make.toml", "Make it")
					require.Zero(t, out.exit, out.stderr)
					require.Equal(t, want, p.read("new.txt"))
					for _, now := range []string{first, want, first, want, first} {
						args := []string{"undo", "-y"}
						if done := p.ofType("restored"); len(done) > 0 {
							args = append(args, fmt.Sprintf("@%v", done[len(done)-1]["seq"]))
						}
						out := p.jp(args...)
						require.Zero(t, out.exit, out.stderr)
						require.Equal(t, now, p.read("new.txt"), "%q, %v: %s", want, args, out.stdout)
					}
					if first != "" {
						p.git("rm", "-qf", "new.txt")
						p.git("commit", "-qm", "none")
					}
				}
			}
			require.Zero(t, p.jp("verify", "--all").exit)
		})
	}
}
