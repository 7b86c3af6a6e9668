package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A source is one file with its imports.
type source struct {
	pkg     string
	file    string
	test    bool
	imports []string
}

// sources reads the imports of every Go file of the module.
func sources(t *testing.T) []source {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(root, "go.mod"))
	var found []source
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path == root {
				return nil
			}
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if err == nil || strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" {
				return fs.SkipDir // a module of its own, or outside of this one
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		s := source{pkg: filepath.ToSlash(filepath.Dir(rel)), file: rel, test: strings.HasSuffix(name, "_test.go")}
		for _, i := range parsed.Imports {
			imported, _ := strconv.Unquote(i.Path.Value)
			s.imports = append(s.imports, imported)
		}
		found = append(found, s)
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

// within reports whether a package is one of those named, or below one.
func within(pkg string, names []string) bool {
	for _, n := range names {
		if n == everything || pkg == n || strings.HasPrefix(pkg, strings.TrimSuffix(n, "/")+"/") {
			return true
		}
	}
	return false
}

func TestImportsPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		allowed, known := Allowed[s.pkg]
		require.True(t, known, "%s: package %s is not in the table of package layers", s.file, s.pkg)
		if s.test {
			continue // tests may build on anything
		}
		for _, i := range s.imports {
			ours, is := strings.CutPrefix(i, Module+"/")
			if is {
				require.True(t, permits(allowed, ours), "%s: package %s may not import %s", s.file, s.pkg, ours)
			}
		}
	}
}

// TestTestSupportStaysInTests keeps test support out of all that ships.
func TestTestSupportStaysInTests(t *testing.T) {
	support := Module + "/internal/testing/"
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(Module+"/"+s.pkg, support) {
			continue
		}
		for _, i := range s.imports {
			require.False(t, strings.HasPrefix(i, support), "%s imports %s, and only tests may", s.file, i)
		}
	}
}

// permits reports whether a package is in a list of allowed ones.
func permits(allowed []string, pkg string) bool {
	return slices.Contains(allowed, pkg) || slices.Contains(allowed, everything)
}

func TestOwners(t *testing.T) {
	for _, s := range sources(t) {
		for _, i := range s.imports {
			for module, owner := range Owners {
				if strings.HasPrefix(i, module) {
					require.True(t, within(s.pkg, owner.Packages), "%s: only %v may import %s: %s", s.file, owner.Packages, i, owner.Why)
				}
			}
		}
	}
}

func TestStandardLibraryOnly(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !slices.Contains(StandardOnly, s.pkg) {
			continue
		}
		for _, i := range s.imports {
			first, _, _ := strings.Cut(i, "/")
			require.False(t, strings.Contains(first, ".") || first == Module, "%s imports %s", s.file, i)
		}
	}
}

// TestSystemCallsOnly keeps the packages small that act in their initialisation: any import
// more makes them wait for it.
func TestSystemCallsOnly(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !slices.Contains(SystemCallsOnly, s.pkg) {
			continue
		}
		for _, i := range s.imports {
			require.Contains(t, []string{"syscall", "unsafe"}, i, "%s imports %s", s.file, i)
		}
	}
}

// TestInitialisers keeps all other packages from acting before main.
func TestInitialisers(t *testing.T) {
	for _, s := range sources(t) {
		if _, may := Initialisers[s.pkg]; s.test || may {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", s.file))
		require.NoError(t, err)
		require.NotContains(t, string(text), "\nfunc init()", "%s acts before main", s.file)
	}
}

// TestOneStarterOfGit keeps every other package from starting git by itself.
func TestOneStarterOfGit(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || within(s.pkg, []string{"gitcmd", "internal"}) {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", s.file))
		require.NoError(t, err)
		for _, call := range []string{`exec.Command("git"`, `exec.CommandContext(ctx, "git"`} {
			require.NotContains(t, string(text), call, "%s starts git; gitcmd does that", s.file)
		}
	}
}

// modelID is the id of a model, which ages. A family's name and a moving alias do not.
var modelID = regexp.MustCompile(`\b(claude-[a-z0-9]|gpt-[0-9]|gemini-[0-9]|o[1-9]-|grok-[0-9]|kimi-k[0-9]|glm-[0-9]|deepseek-v[0-9]|qwen-?[0-9]|MiniMax-M[0-9]|(mistral|codestral|magistral|devstral|ministral)(-[a-z]+)?-[0-9])`)

// TestNoModelInTheCode: the table of models, the defaults and the families of each protocol are files of data.
func TestNoModelInTheCode(t *testing.T) {
	for _, id := range []string{"claude-sonnet-5-5", "openai/gpt-6", "gemini-2.5", "o3-mini", "mistral-large-2512", "glm-5.3"} {
		require.True(t, modelID.MatchString(id), id)
	}
	for _, other := range []string{"claude-", "gemini-", "mistral-large-latest", "claude_code"} {
		require.False(t, modelID.MatchString(other), other)
	}
	for _, s := range sources(t) {
		if s.test || within(s.pkg, []string{"internal/testing/vendortest", "internal/testing/wirecheck", "internal/testing/peertest"}) {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join("../..", s.file), nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if text, is := n.(*ast.BasicLit); is && text.Kind == token.STRING && modelID.MatchString(text.Value) {
				t.Errorf("%s names a model: %s", set.Position(text.Pos()), modelID.FindString(text.Value))
			}
			return true
		})
	}
}
