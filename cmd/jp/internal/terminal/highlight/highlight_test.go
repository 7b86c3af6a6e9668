package highlight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// written is parts with the letter of their kind around each that is not plain.
func written(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		if letter := ".ksnc@+-#"[p.Kind]; letter != '.' && strings.TrimSpace(p.Text) != "" {
			fmt.Fprintf(&b, "%c<%s>", letter, p.Text)
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestLanguages(t *testing.T) {
	for name, tt := range map[string]struct{ code, want string }{
		"go":         {`func main() { return "a\"b" // c`, `k<func> @<main>() { k<return> s<"a\"b"> c<// c>`},
		"golang":     {"x := `raw` + 7", "x := s<`raw`> + n<7>"},
		"json":       {`{"key": "value", "n": [-1.5e3, true, null]}`, `{@<"key">: s<"value">, @<"n">: [n<-1.5e3>, k<true>, k<null>]}`},
		"jsonc":      {`// c`, `c<// c>`},
		"python":     {`def f(x): return "s"  # c`, `k<def> @<f>(x): k<return> s<"s">  c<# c>`},
		"js":         {`const x = 'a'; // c`, `k<const> x = s<'a'>; c<// c>`},
		"ts":         {`let x: string = "a"`, `k<let> x: @<string> = s<"a">`},
		"rust":       {`fn main() {}`, `k<fn> @<main>() {}`},
		"sh":         {`if true; then echo "a"; fi # c`, `k<if> true; k<then> @<echo> s<"a">; k<fi> c<# c>`},
		"sql":        {`SELECT 1 -- c`, `k<SELECT> n<1> c<-- c>`},
		"yaml":       {`key: 1 # c`, `@<key>: n<1> c<# c>`},
		"toml":       {`key = "v" # c`, `key = s<"v"> c<# c>`},
		"html":       {`<b class="x">`, `@<<b> @<class=>s<"x">@<>>`},
		"c":          {`int x = 1; /* c */`, `@<int> x = n<1>; c</* c */>`},
		"diff":       {`+added`, `+<+added>`},
		"patch":      {`-removed`, `-<-removed>`},
		"udiff":      {`@@ -1 +1 @@`, `#<@@ -1 +1 @@>`},
		"Diff":       {`+++ b/file`, `#<+++ b/file>`},
		"PATCH":      {`--- old`, `-<--- old>`},
		"dockerfile": {`FROM alpine`, `k<FROM> s<alpine>`},
		"make":       {`all: build # c`, `@<all>: build c<# c>`},
	} {
		t.Run(name, func(t *testing.T) {
			require.NotNil(t, Of(name))
			require.Equal(t, tt.want, written(New(Of(name), endless()).Next([]string{tt.code})[0]))
			require.Equal(t, tt.want, written(New(Of(name), endless()).Peek(tt.code)))
		})
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"go", "Go", "go:main.go", "go,linenos", "{.go #id}", "go{1,3}", "go title=x", "golang"} {
		require.Same(t, Of("go"), Of(name), name)
	}
	for other := range languages {
		require.NotNil(t, Of(other), other)
	}
	for _, name := range []string{"", "nonsense", "../lexers/go", "text", "c--", "README", "COPYING"} {
		require.Nil(t, Of(name), name)
	}
	require.NotContains(t, loaded, "nonsense", "only lexers that there are take memory")
}

func TestAllLexersWork(t *testing.T) {
	entries, err := files.ReadDir("lexers")
	require.NoError(t, err)
	for _, e := range entries {
		name, _ := strings.CutSuffix(e.Name(), ".xml")
		l := Of(name)
		require.NotNil(t, l, name)
		lines := strings.Split(strings.Repeat("if (x) { y = \"a\"; } # é\n\t// `word`\n\n", 9), "\n")
		c := New(l, endless())
		parts := c.Next(lines)
		require.Equal(t, lines, texts(parts), name)
		require.True(t, c.Known(), name)
	}
}

func texts(parts [][]Part) (lines []string) {
	for _, line := range parts {
		text := ""
		for _, p := range line {
			text += p.Text
		}
		lines = append(lines, text)
	}
	return lines
}

func TestGuess(t *testing.T) {
	for _, first := range []string{"diff --git a/x b/x", "--- a/x", "--- /dev/null", "@@ -1 +1 @@"} {
		require.Same(t, Of("diff"), Guess(first), first)
	}
	for _, first := range []string{"", "--- ", "---", "- item", "+1", "different"} {
		require.Nil(t, Guess(first), first)
	}
}

// TestCodeLineByLine reads code line by line, longer than any context: it has the same parts as the
// whole.
func TestCodeLineByLine(t *testing.T) {
	for name, unit := range map[string]string{
		"go":         "/* a comment\n   of two lines */\nfunc f%d(x int) string {\n\treturn `raw\n%d` + \"s\"\n}\n",
		"json":       "  {\n    \"key\": [ %d, \"value %d\" ]\n  },\n",
		"python":     "def f%d(x):\n    \"\"\"A text\n    of two lines %d.\"\"\"\n    return 'a'\n\n",
		"javascript": "function f%d() { /* a\n  comment */ return `a ${x%d}`;\n}\n",
		"bash":       "f%d() {\n  echo \"a\n%d\" # c\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := 0; b.Len() < 5<<10; i++ {
				fmt.Fprintf(&b, unit, i, i)
			}
			text := b.String()
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			want, _, ok := New(Of(name), endless()).parts(text)
			require.True(t, ok)
			c := New(Of(name), endless())
			c.time.spent = -time.Hour // on any machine
			unlike := 0
			for i, line := range lines {
				got := c.Next([]string{line})
				require.Equal(t, []string{line}, texts(got))
				if fmt.Sprint(got[0]) != fmt.Sprint(want[i]) {
					unlike++ // the lexer cannot know yet that a comment or a string ends
				}
				require.LessOrEqual(t, len(c.context), longestContext+len(line)+1)
			}
			require.True(t, c.Known(), "to the end")
			require.LessOrEqual(t, unlike, len(lines)/3)
			require.Less(t, len(c.context), 3*enoughContext)
		})
	}
}

func TestCodeInAnySteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"go", "json", "python", "javascript", "bash", "diff", "css", "html", "docker", "makefile", "nonsense"}).Draw(t, "language")
		c := New(Of(name), NewTime())
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			lines := rapid.SliceOfN(rapid.OneOf(rapid.StringMatching(`[^\n\r]{0,20}`), rapid.SampledFrom([]string{"\"", "'", "`", "/*", "*/", "}", "{", "\"\"\"", "$(", "<<EOF", "\\"})), 1, 6).Draw(t, "lines")
			for i := range lines {
				lines[i] = strings.ToValidUTF8(lines[i], "")
			}
			require.Equal(t, lines, texts(c.Next(lines)))
			line := rapid.StringMatching(`[^\n\r]{0,20}`).Draw(t, "line")
			require.Equal(t, []string{line}, texts([][]Part{c.Peek(line)}))
		}
	})
}

// TestHostileCode reads code for which lexers take long. It comes to an end, and loses no text.
func TestHostileCode(t *testing.T) {
	for name, tt := range map[string]struct{ language, text string }{
		"backslashes": {"json", strings.Repeat("\""+strings.Repeat("\\", 60)+"\n", 99)},
		"quotes":      {"javascript", strings.Repeat("\"'`", 20_000)},
		"brackets":    {"python", strings.Repeat(strings.Repeat("{[(", 300)+"\n", 20)},
		"open":        {"javascript", strings.Repeat("${\"", 300) + "\n" + strings.Repeat("/*\n", 5000)},
		"one name":    {"makefile", strings.Repeat(strings.Repeat("a", 1999)+"\n", 20)},
	} {
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(tt.text, "\n")
			began := time.Now()
			require.Equal(t, lines, texts(New(Of(tt.language), NewTime()).Next(lines)))
			require.Less(t, time.Since(began), time.Minute)
		})
	}
}

// TestTimeIsLimited uses up the time of a screen. The rest of its code is plain, until time has
// passed.
func TestTimeIsLimited(t *testing.T) {
	lines := []string{"func main() {", "}"}
	allPlain := [][]Part{plain(lines[0]), plain(lines[1])}
	limit := NewTime()
	c := New(Of("go"), limit)
	require.Len(t, c.Next(lines)[0], 4)
	require.Positive(t, limit.spent)
	limit.spent = time.Hour
	require.Equal(t, plain(lines[0]), c.Peek(lines[0]))
	require.Equal(t, allPlain, c.Next(lines))
	require.False(t, c.Known())
	require.False(t, New(Of("go"), limit).Known())
	require.Equal(t, allPlain, New(Of("go"), limit).Next(lines))
	limit.began = limit.began.Add(-8 * time.Hour)
	require.Equal(t, allPlain, c.Next(lines), "code does not begin to be highlighted in its middle")
	require.Len(t, New(Of("go"), limit).Next(lines)[0], 4)
}

// TestLongCode has lines and comments that are too long to be looked at.
func TestLongCode(t *testing.T) {
	c := New(Of("go"), endless())
	require.Len(t, c.Next([]string{"x := " + strings.Repeat("1", longestLine-5)})[0], 2)
	require.Len(t, c.Peek("x := "+strings.Repeat("1", longestLine-4)), 1)
	require.True(t, c.Known())
	require.Len(t, c.Next([]string{"x := " + strings.Repeat("1", longestLine-4)})[0], 1)
	require.False(t, c.Known())

	c = New(Of("go"), endless())
	comment := []string{"/*"}
	for range 400 {
		comment = append(comment, "a comment of many lines")
	}
	for i, line := range comment[:200] {
		require.Equal(t, []Part{{line, Comment}}, c.Next([]string{line})[0], i)
		require.Equal(t, []Part{{"func", Comment}}, c.Peek("func"))
	}
	c.Next(comment[200:])
	require.False(t, c.Known())
}

// endless is more time than any machine takes.
func endless() *Time { return &Time{began: time.Now().Add(-240 * time.Hour)} }
