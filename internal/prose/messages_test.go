package prose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// riddle is what an error or a help text says in a roundabout way.
var riddle = regexp.MustCompile(`(?is)\bnone of\b|\bnobody\b|\bwhoever\b|\bneither\b.*\bnor\b`)

// messages are the string literals of a file, by the line where they begin: joined
// ones are one.
func messages(t *testing.T, path string) map[int]string {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, nil, 0)
	require.NoError(t, err)
	found := map[int]string{}
	add := func(at token.Pos, text string) {
		if line := files.Position(at).Line; found[line] == "" {
			found[line] = text
		} else {
			found[line] += "\n" + text
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field: // of a tag only the text of a configuration key
			if n.Tag != nil {
				tag, err := strconv.Unquote(n.Tag.Value)
				require.NoError(t, err)
				add(n.Tag.Pos(), reflect.StructTag(tag).Get("doc"))
			}
			return n.Tag == nil
		case *ast.BinaryExpr:
			if text, ok := joined(n); ok {
				add(n.Pos(), text)
				return false
			}
		case *ast.BasicLit:
			if text, ok := joined(n); ok {
				add(n.Pos(), text)
			}
		}
		return true
	})
	return found
}

// joined is the text of a literal, or of literals with a + between them.
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, isText := joined(e.X)
		right, too := joined(e.Y)
		return left + right, isText && too && e.Op == token.ADD
	}
	return "", false
}

func TestMessagesAreInPlainEnglish(t *testing.T) {
	read := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			switch {
			case name == ".":
			case err == nil, strings.HasPrefix(d.Name(), "."), d.Name() == "testdata", d.Name() == "bin":
				return fs.SkipDir
			}
			if name == filepath.Join("internal", "prose") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "test"+string(filepath.Separator)) {
			return nil
		}
		for line, text := range messages(t, path) {
			read++
			if at := riddle.FindString(text); at != "" {
				t.Errorf("%s:%d: %q in %q: name the actor, say what is (\"want one of %%s\")", name, line, at, text)
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, read, 5000)
}

func TestMessages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(file, []byte(`package a
import "none of"
var e = f("a is none of b")
var g = fmt.Errorf("x: %w", "neither " +
	"a nor b" + h("c"))
var c = cobra.Command{Short: "whoever", RunE: g("nobody")}
func (e *E) Error() string { return "nobody" }
type config struct{ A string `+"`doc:\"one of\" toml:\"none of\"`"+` }
`), 0o600))
	require.Equal(t, map[int]string{3: "a is none of b", 4: "x: %w\nneither a nor b", 6: "whoever\nnobody", 7: "nobody", 8: "one of", 5: "c"}, messages(t, file))
	for _, text := range []string{"a is none of b", "Nobody asked", "whoever", "neither a\nnor b"} {
		require.Regexp(t, riddle, text)
	}
	for _, text := range []string{"want one of a", "either a or b", "nor"} {
		require.NotRegexp(t, riddle, text)
	}
}
