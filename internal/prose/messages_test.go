package prose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// riddle is what an error or a help text says in a roundabout way.
var riddle = regexp.MustCompile(`(?is)\bnone of\b|\bnobody\b|\bwhoever\b|\bneither\b.*\bnor\b`)

// unread are folders whose messages are still to be written anew: cmd/jp, and what
// moves out of it.
var unread = []string{"cmd/jp", "agent", "fork", "undo", "blame", "doctor"}

// helpers are functions of cmd/jp that make an error or a hint, by their first
// argument of text.
var helpers = map[string]bool{"New": true, "Errorf": true, "fail": true, "failf": true, "hint": true, "usage": true, "usagef": true}

// fields are those of a command's help, and of a configuration key's.
var fields = map[string]bool{"Use": true, "Short": true, "Long": true, "Example": true, "Doc": true}

// messages are the string literals of errors and help in a file, by line.
func messages(t *testing.T, path string) map[int]string {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, nil, 0)
	require.NoError(t, err)
	found := map[int]string{}
	take := func(root ast.Expr) {
		line := files.Position(root.Pos()).Line
		ast.Inspect(root, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				found[line] += text
			}
			return true
		})
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch of := n.Fun.(type) {
			case *ast.SelectorExpr:
				name = of.Sel.Name
			case *ast.Ident:
				name = of.Name
			}
			if helpers[name] {
				for _, argument := range n.Args {
					take(argument)
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && fields[key.Name] {
				take(n.Value)
			}
		case *ast.Field: // a configuration key
			if n.Tag != nil {
				take(n.Tag)
			}
		case *ast.FuncDecl:
			if n.Name.Name == "Error" && n.Recv != nil && n.Body != nil { // the text of an error type
				for _, statement := range n.Body.List {
					ast.Inspect(statement, func(n ast.Node) bool {
						if value, ok := n.(ast.Expr); ok {
							take(value)
							return false
						}
						return true
					})
				}
			}
		}
		return true
	})
	return found
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
			for _, folder := range unread {
				if filepath.ToSlash(name) == folder {
					return fs.SkipDir
				}
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
	require.Greater(t, read, 300)
}

func TestMessages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(file, []byte(`package a
var e = errors.New("a is none of b")
var f = fmt.Errorf("x: %w", "neither " +
	"a nor b")
var c = cobra.Command{Short: "whoever", RunE: g("nobody")}
func (e *E) Error() string { return "nobody" }
`), 0o600))
	require.Equal(t, map[int]string{2: "a is none of b", 3: "x: %wneither a nor b", 5: "whoever", 6: "nobody"}, messages(t, file))
	for _, text := range []string{"a is none of b", "Nobody asked", "whoever", "neither a\nnor b"} {
		require.Regexp(t, riddle, text)
	}
	for _, text := range []string{"want one of a", "either a or b", "nor"} {
		require.NotRegexp(t, riddle, text)
	}
}
