package skills

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/instructions"
)

const good = "---\nname: pdf\ndescription: Work with PDF files.\n---\nUse pdftotext.\n"

// TestParse varies the front matter. The skill's folder is "pdf".
func TestParse(t *testing.T) {
	long := strings.Repeat("x", 1025)
	tests := []struct {
		name, text  string
		description string
		body        string
		warnings    []string
	}{
		{"good", good, "Work with PDF files.", "Use pdftotext.\n", nil},
		{"all fields", "---\nname: pdf\ndescription: >-\n  Two\n  lines.\nlicense: MIT\ncompatibility: any\nmetadata:\n  a: b\nallowed-tools: Bash(rm:*)\n---\n", "Two lines.", "", nil},
		{"a colon in a description", "---\nname: pdf\ndescription: Use when: the user asks.\n---\nB", "Use when: the user asks.", "B", []string{"its front matter is not valid YAML"}},
		{"no front matter", "# PDF\n", "", "# PDF\n", []string{"no front matter"}},
		{"a front matter without an end", "---\nname: pdf\ndescription: D.\n", "", "---\nname: pdf\ndescription: D.\n", []string{"no front matter"}},
		{"no table", "---\n- a\n- b\n---\n", "", "", []string{"not valid YAML", "no name", "no description"}},
		{"empty", "", "", "", []string{"no front matter"}},
		{"an empty front matter", "---\n---\nB", "", "B", []string{"no name", "no description"}},
		{"another name", "---\nname: word\ndescription: D.\n---\n", "D.", "", []string{`its name is "word", and its folder "pdf"`}},
		{"a name with capitals", "---\nname: PDF\ndescription: D.\n---\n", "D.", "", []string{"and its folder", "lower-case"}},
		{"a name that is a list", "---\nname: [pdf]\ndescription: D.\n---\n", "D.", "", []string{"no name"}},
		{"a description that is a number", "---\nname: pdf\ndescription: 12\n---\n", "", "", []string{"no description"}},
		{"a long description", "---\nname: pdf\ndescription: " + long + "\n---\n", long, "", []string{"1025 characters"}},
		{"the longest description", "---\nname: pdf\ndescription: " + long[1:] + "\n---\n", long[1:], "", nil},
		{"unknown fields", "---\nname: pdf\ndescription: D.\nhooks: {a: [b]}\n---\n", "D.", "", []string{`unknown field "hooks"`}},
		{"metadata of other kinds", "---\nname: pdf\ndescription: D.\nmetadata: {a: [b]}\n---\n", "D.", "", []string{"metadata must be a table of texts"}},
		{"a huge front matter", "---\nname: pdf\nlicense: " + strings.Repeat("x", 65<<10) + "\n---\n", "", "", []string{"larger than 64 KiB"}},
		{"a bomb of aliases", "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nname: pdf\ndescription: D.\n---\n", "D.", "", []string{`unknown field "a"`, `unknown field "b"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := parse("pdf", test.text)
			require.Equal(t, test.description, m.description)
			require.Equal(t, test.body, m.body)
			require.Len(t, m.warnings, len(test.warnings), "%q", m.warnings)
			for i, w := range test.warnings {
				require.Contains(t, m.warnings[i], w)
			}
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
}

func skillText(name string) string {
	return "---\nname: " + name + "\ndescription: About " + name + ".\n---\nText of " + name + "\n"
}

func place(t *testing.T, root, path string, user bool) Place {
	t.Helper()
	dir, err := os.OpenRoot(root)
	require.NoError(t, err)
	t.Cleanup(func() { dir.Close() })
	return Place{Dir: instructions.Dir{Root: dir}, Path: path, Shown: path, User: user}
}

func names(all []Skill) (found []string) {
	for _, s := range all {
		found = append(found, s.Name+" "+s.Path+" "+s.Unusable)
	}
	return found
}

func TestPrecedence(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	write(t, home+"/jp/skills/a/SKILL.md", skillText("a"))
	write(t, home+"/.agents/skills/a/SKILL.md", skillText("a"))
	write(t, home+"/.agents/skills/b/SKILL.md", skillText("b"))
	write(t, root+"/.agents/skills/b/SKILL.md", skillText("b"))
	write(t, root+"/.agents/skills/c/SKILL.md", skillText("c"))
	write(t, root+"/.claude/skills/c/SKILL.md", skillText("c"))
	write(t, root+"/.claude/skills/d/SKILL.md", skillText("d"))
	write(t, root+"/.claude/skills/undo/SKILL.md", skillText("undo"))
	write(t, root+"/.claude/skills/none/README.md", "x")
	write(t, root+"/.claude/skills/README.md", "x")
	write(t, root+"/.claude/skills/.hidden/SKILL.md", skillText("hidden"))
	all := Find([]Place{
		place(t, home, "jp/skills", true), place(t, home, ".agents/skills", true),
		place(t, root, ".agents/skills", false), place(t, root, ".claude/skills", false), place(t, root, "nowhere", false),
	}, []string{"undo"})
	require.Equal(t, []string{
		"a jp/skills/a ", "b .agents/skills/b ", "project:b .agents/skills/b ", "c .agents/skills/c ", "d .claude/skills/d ", "project:undo .claude/skills/undo ",
	}, names(all))
	require.Equal(t, "c: About c.\n", all[3].Entry())
}

// TestHostileFolders varies the entry in the place of a skill, or of a file of one.
func TestHostileFolders(t *testing.T) {
	above := t.TempDir()
	root := above + "/tree"
	at := root + "/.agents/skills/"
	write(t, above+"/out/SKILL.md", skillText("out"))
	write(t, above+"/secret", "secret")
	write(t, root+"/.git/SKILL.md", skillText("git"))
	write(t, root+"/elsewhere/SKILL.md", skillText("elsewhere"))
	write(t, root+"/own.md", "own")
	write(t, at+"good/SKILL.md", skillText("good"))
	write(t, at+"good/references/a.md", "A\n")
	write(t, at+"good/bin", "\x00\x01")
	write(t, at+"good/.env", "TOKEN=x")
	require.NoError(t, os.Truncate(at+"good/bin", 10))
	require.NoError(t, os.Symlink("../../../../secret", at+"good/out"))
	require.NoError(t, os.Symlink("../../../own.md", at+"good/beside"))
	require.NoError(t, os.Symlink("references/a.md", at+"good/inside"))
	require.NoError(t, syscall.Mkfifo(at+"good/pipe", 0o666))
	write(t, at+"good/huge", "")
	require.NoError(t, os.Truncate(at+"good/huge", 1<<40))
	require.NoError(t, os.Symlink("../../../out", at+"linked-out"))
	require.NoError(t, os.Symlink("../../.git", at+"linked-git"))
	require.NoError(t, os.Symlink("../../elsewhere", at+"linked-in"))
	require.NoError(t, os.Symlink("loop", at+"loop"))
	require.NoError(t, os.MkdirAll(at+"piped", 0o777))
	require.NoError(t, syscall.Mkfifo(at+"piped/SKILL.md", 0o666))
	write(t, at+"large/SKILL.md", strings.Repeat("x", 1<<20+1))
	require.NoError(t, os.MkdirAll(at+"folder/SKILL.md", 0o777))
	write(t, at+"bad:name/SKILL.md", skillText("bad:name"))

	all := Find([]Place{place(t, root, ".agents/skills", false)}, nil)
	why := map[string]string{}
	for _, s := range all {
		why[s.Name] = s.Unusable
	}
	require.Equal(t, map[string]string{
		"good": "", "linked-in": "", "bad:name": "its folder's name cannot be used",
		"linked-out": "its link leads out of the working tree", "linked-git": "its link leads into a git directory", "loop": "its links lead in a circle",
		"piped": "it is no ordinary file", "large": "its SKILL.md is larger than 1 MiB", "folder": "it is no ordinary file",
	}, why)
	var s Skill
	for _, found := range all {
		if found.Name == "good" {
			s = found
		}
	}
	require.Equal(t, "[skill good of this repository, in .agents/skills/good]\n[its files, read with the argument file: \"bin\", \"huge\", \"references/a.md\"]\nText of good\n", s.Body())
	for file, want := range map[string]string{
		"references/a.md": "A\n", "./references/../references/a.md": "A\n", "inside": "A\n",
	} {
		text, err := s.Read(file)
		require.NoError(t, err, file)
		require.Equal(t, want, text)
	}
	for file, want := range map[string]string{
		"out": "leads out of the working tree", "beside": "leads out of the skill's folder", "../linked-in/SKILL.md": "not a path in the skill's folder",
		"/etc/passwd": "not a path", "": "not a path", "references": "is no file", ".": "is no file", "missing": "has no file", "pipe": "is no file",
		"huge": "larger than 8 MiB", "bin": "it is a binary file",
	} {
		_, err := s.Read(file)
		require.ErrorContains(t, err, want, file)
	}
}

// TestEncodings varies the bytes of a skill.
func TestEncodings(t *testing.T) {
	const text = "---\r\nname: pdf\r\ndescription: D.\r\n---\r\nBody\r\n"
	wide := "\xff\xfe"
	for _, b := range []byte(text) {
		wide += string([]byte{b, 0})
	}
	for name, test := range map[string]struct{ bytes, body, unusable string }{
		"line ends of Windows": {text, "Body\n", ""},
		"a byte order mark":    {"\uFEFF" + text, "Body\n", ""},
		"UTF-16":               {wide, "Body\n", ""},
		"tags":                 {text + "a\U000E0062b", "Body\nab", ""},
		"Latin-1":              {text + "Gr\xfcn", "", "it is not UTF-8, and jp reads UTF-8, and UTF-16 with a byte order mark"},
		"NUL":                  {text + "\x00", "", "it is a binary file"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root+"/skills/pdf/SKILL.md", test.bytes)
			write(t, root+"/skills/pdf/more.md", test.bytes)
			s := Find([]Place{place(t, root, "skills", true)}, nil)[0]
			require.Equal(t, test.unusable, s.Unusable)
			require.Equal(t, test.body, s.body)
			more, err := s.Read("more.md")
			require.Equal(t, test.unusable != "", err != nil)
			require.True(t, strings.HasSuffix(more, test.body))
			require.NotContains(t, more, "\r")
		})
	}
}

func TestTheCatalogueIsBounded(t *testing.T) {
	root := t.TempDir()
	for n := range 70 {
		name := fmt.Sprintf("s%02d", n)
		write(t, root+"/skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: "+strings.Repeat("é", 1000)+"\n---\n")
	}
	all := Find([]Place{place(t, root, "skills", true)}, nil)
	require.Len(t, all, 70)
	require.Empty(t, all[63].Unusable)
	require.Equal(t, "it is beyond the first 64", all[64].Unusable)
	require.Len(t, []rune(all[0].Entry()), len("s00: ")+256+1)
}
