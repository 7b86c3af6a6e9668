package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
)

// actedOn is the first sign of a command, outside quotes, that a shell would act
// on, 0 where it has none.
func actedOn(command string) rune {
	var quote rune
	skip := false
	for _, r := range command {
		switch {
		case skip:
			skip = false
		case r == '\\' && quote != '\'':
			skip = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case strings.ContainsRune("|&;<>()`*?[]{}!#~\n", r):
			return r
		}
	}
	return quote
}

// pasteable says which command, of those that an error on stderr advises, a shell
// would take apart.
func pasteable(stderr string) error {
	for _, command := range advised(stderr) {
		if r := actedOn(command); r != 0 {
			return fmt.Errorf("the advice %s has %q outside quotes", command, r)
		}
	}
	return nil
}

// advised are the commands beside an error, as it is printed for people or as
// JSON.
func advised(stderr string) (commands []string) {
	said := false
	for line := range strings.Lines(stderr) {
		var object struct {
			Error struct{ Hints []problem.Hint }
		}
		if json.Unmarshal([]byte(line), &object) == nil {
			for _, h := range object.Error.Hints {
				commands = append(commands, h.Command)
			}
		}
		said = said || strings.HasPrefix(line, "Error: ")
		if command, ok := strings.CutPrefix(line, "    "); ok && said {
			command, _, _ = strings.Cut(strings.TrimSuffix(command, "\n"), "   ")
			commands = append(commands, command)
		}
	}
	return commands
}

func TestActedOn(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]rune{
		"jp answer 2lte@4":                         0,
		"jp answer 2lte@4 y|n|a":                   '|',
		"jp continue && jp ls":                     '&',
		"jp query </dev/null":                      '<',
		`jp query "what | is; it?"`:                0,
		`jp query 'it'\''s'`:                       0,
		`jp query 'open`:                           '\'',
		`rm "$(git rev-parse --git-common-dir)/x"`: 0,
		"git fetch R 'refs/*:refs/*'":              0,
		"git fetch R refs/*:refs/*":                '*',
	} {
		require.Equal(t, want, actedOn(command), command)
	}
	require.Equal(t, []string{"jp ls", `jp query "…"`}, advised("Error: no.\n  More:\n\n    jp ls          all\n    jp query \"…\"   ask\n"))
	require.Equal(t, []string{"jp ls"}, advised(`{"error":{"hints":[{"command":"jp ls","text":"all | of them"}]}}`))
}

// What a hint's command is put together from in the source has no sign that a
// shell would act on, also where no test provokes the error.
func TestHintsInTheSource(t *testing.T) {
	t.Parallel()
	var files []string
	for _, dir := range []string{".", "internal/ui", "../../agent", "../../agent/*", "../../fork", "../../undo", "../../blame", "../../doctor"} {
		found, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		files = append(files, found...)
	}
	set, hints := token.NewFileSet(), 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			if named, ok := call.Fun.(*ast.SelectorExpr); ok && strings.EqualFold(named.Sel.Name, "hint") {
				hints++
				require.Zero(t, actedOn(literals(call.Args[0])), "%s", set.Position(call.Pos()))
			}
			return true
		})
	}
	require.Greater(t, hints, 100)
}

// literals are the texts in an expression, with a word for all else that is
// joined to them.
func literals(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
	case *ast.BinaryExpr:
		return literals(e.X) + literals(e.Y)
	case *ast.CallExpr:
		if named, ok := e.Fun.(*ast.SelectorExpr); ok && named.Sel.Name == "Sprintf" {
			return literals(e.Args[0])
		}
	}
	return "word"
}
