package layers

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A checked package is one of the module, with its types.
type checked struct {
	name  string // below the module
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
	types *types.Package
}

// base is the file that a position is in.
func (c *checked) base(p token.Pos) string { return filepath.Base(c.fset.Position(p).Filename) }

// module type-checks the packages of the module, without their tests, from the compiler's data about their
// imports.
var module = sync.OnceValues(func() (all []*checked, err error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,Module", "./...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, err
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
		Module                  *struct{ Main bool }
	}
	exports, own := map[string]string{}, []listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main {
			own = append(own, p)
		}
	}
	for _, p := range own {
		c := &checked{fset: token.NewFileSet(), info: &types.Info{
			Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		}}
		c.name = strings.TrimPrefix(p.ImportPath, Module+"/")
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			c.files = append(c.files, file)
		}
		open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
		conf := types.Config{Importer: importer.ForCompiler(c.fset, "gc", open)}
		if c.types, err = conf.Check(p.ImportPath, c.fset, c.files, c.info); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
})

// uses are the files of a package that each of its files needs.
func (c *checked) uses() map[string]map[string]bool {
	uses := map[string]map[string]bool{}
	for _, f := range c.files {
		uses[c.base(f.Pos())] = map[string]bool{}
	}
	for id, o := range c.info.Uses {
		if o.Pkg() != c.types || !o.Pos().IsValid() || o.Parent() != nil && o.Parent() != c.types.Scope() {
			continue
		}
		if from, to := c.base(id.Pos()), c.base(o.Pos()); from != to {
			uses[from][to] = true
		}
	}
	return uses
}

// cycle is the largest set of files that need each other.
func cycle(uses map[string]map[string]bool) (largest []string) {
	index, low, on := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	var visit func(f string)
	visit = func(f string) {
		index[f] = len(index) + 1
		low[f], on[f] = index[f], true
		stack = append(stack, f)
		for _, to := range slices.Sorted(maps.Keys(uses[f])) {
			if index[to] == 0 {
				visit(to)
				low[f] = min(low[f], low[to])
			} else if on[to] {
				low[f] = min(low[f], index[to])
			}
		}
		if low[f] != index[f] {
			return
		}
		at := slices.Index(stack, f)
		knot := slices.Clone(stack[at:])
		stack = stack[:at]
		for _, k := range knot {
			on[k] = false
		}
		if len(knot) > 1 && len(knot) > len(largest) {
			largest = knot
		}
	}
	for _, f := range slices.Sorted(maps.Keys(uses)) {
		if index[f] == 0 {
			visit(f)
		}
	}
	slices.Sort(largest)
	return largest
}

// methods are how many methods each type has. A function that takes the type first, or
// behind a context, counts as one.
func (c *checked) methods() map[string]int {
	count := map[string]int{}
	named := func(t types.Type) string {
		if p, is := types.Unalias(t).(*types.Pointer); is {
			t = p.Elem()
		}
		if n, is := types.Unalias(t).(*types.Named); is && n.Obj().Pkg() == c.types {
			return n.Obj().Name()
		}
		return ""
	}
	for _, f := range c.files {
		for _, d := range f.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is {
				continue
			}
			sig := c.info.Defs[fn.Name].Type().(*types.Signature)
			of := ""
			switch params := sig.Params(); {
			case sig.Recv() != nil:
				of = named(sig.Recv().Type())
			case params.Len() > 0 && params.At(0).Type().String() != "context.Context":
				of = named(params.At(0).Type())
			case params.Len() > 1:
				of = named(params.At(1).Type())
			}
			if of != "" {
				count[of]++
			}
		}
	}
	return count
}

func TestKnots(t *testing.T) {
	packages, err := module()
	require.NoError(t, err)
	for _, c := range packages {
		ceiling, known := Ceilings[c.name]
		if !known {
			ceiling = Usual
		}
		knot := cycle(c.uses())
		most, name := 0, ""
		for of, n := range c.methods() {
			if n > most || n == most && of < name {
				most, name = n, of
			}
		}
		if known || len(knot) > ceiling.Cycle/2 || most > ceiling.Methods/2 {
			t.Logf("%-28s %3d of %3d files in one cycle (at most %d), %3d methods of %s (at most %d)", c.name, len(knot), len(c.files), ceiling.Cycle, most, name, ceiling.Methods)
		}
		if len(knot) > ceiling.Cycle {
			t.Errorf("%s: %d files are one cycle, at most %d may be: %v", c.name, len(knot), ceiling.Cycle, knot)
		}
		if most > ceiling.Methods {
			t.Errorf("%s: %s has %d methods, at most %d are allowed", c.name, name, most, ceiling.Methods)
		}
	}
}

// shipped are the packages of jp's program, each with how many of them import it.
func shipped(t *testing.T) map[string]int {
	packages, err := module()
	require.NoError(t, err)
	imports := map[string][]string{}
	for _, c := range packages {
		for _, i := range c.types.Imports() {
			if name, is := strings.CutPrefix(i.Path(), Module+"/"); is {
				imports[c.name] = append(imports[c.name], name)
			}
		}
	}
	importers := map[string]int{"cmd/jp": 0}
	for waiting := []string{"cmd/jp"}; len(waiting) > 0; {
		from := waiting[0]
		waiting = waiting[1:]
		for _, name := range imports[from] {
			if _, seen := importers[name]; !seen {
				waiting = append(waiting, name)
			}
			importers[name]++
		}
	}
	return importers
}

func TestShipped(t *testing.T) {
	importers := shipped(t)
	require.LessOrEqual(t, len(importers), Shipped, "packages in the program: %v", slices.Sorted(maps.Keys(importers)))
	packages, err := module()
	require.NoError(t, err)
	for _, c := range packages {
		if _, ships := importers[c.name]; !ships {
			require.True(t, within(c.name, Unshipped), "%s is outside of the program: test support is below internal/testing", c.name)
			continue
		}
		lines := 0
		for _, f := range c.files {
			lines += c.fset.File(f.Pos()).LineCount()
		}
		if _, alone := Alone[c.name]; !alone && importers[c.name] < Importers && lines < Lines {
			t.Errorf("%s has %d lines and %d importers: merge it into another package", c.name, lines, importers[c.name])
		}
	}
}

// TestCommands counts the commands of a group: jp --help lists those.
func TestCommands(t *testing.T) {
	packages, err := module()
	require.NoError(t, err)
	count := 0
	for _, c := range packages {
		if c.name != "cmd/jp" {
			continue
		}
		for _, f := range c.files {
			ast.Inspect(f, func(n ast.Node) bool {
				if pair, is := n.(*ast.KeyValueExpr); is {
					if key, is := pair.Key.(*ast.Ident); is && key.Name == "GroupID" {
						count++
					}
				}
				return true
			})
		}
	}
	require.LessOrEqual(t, count, Commands, "commands in jp --help: make the new one a flag of another, unless it is a feature of its own")
	require.Positive(t, count)
}

// TestReach keeps values apart: in the application, its features and the front ends a struct cannot embed
// another of the project's, and few methods and fields are in reach of each method.
func TestReach(t *testing.T) {
	packages, err := module()
	require.NoError(t, err)
	looked := 0
	for _, c := range packages {
		if !within(c.name, Apart) {
			continue
		}
		scope := c.types.Scope()
		for _, name := range scope.Names() {
			declared, is := scope.Lookup(name).(*types.TypeName)
			if !is || declared.IsAlias() {
				continue
			}
			named, is := declared.Type().(*types.Named)
			if !is {
				continue
			}
			fields, is := named.Underlying().(*types.Struct)
			if !is {
				continue
			}
			looked++
			for f := range fields.Fields() {
				if f.Embedded() && acts(f.Type()) && !slices.Contains(Bases, strings.TrimPrefix(f.Type().String(), Module+"/")) {
					t.Errorf("%s.%s embeds %s", c.name, name, f.Type())
				}
			}
			methods, reach := types.NewMethodSet(types.NewPointer(named)).Len(), fields.NumFields()
			if methods == 0 {
				continue
			}
			most := Reach
			if known, is := Reaches[c.name+"."+name]; is {
				most = known
			}
			if methods > most.Methods || reach > most.Fields {
				t.Errorf("%s.%s has %d methods and %d fields, at most %d and %d are allowed", c.name, name, methods, reach, most.Methods, most.Fields)
			}
		}
	}
	require.Greater(t, looked, 30)
}

// acts reports whether a type, or its target, is a struct of the module with methods. One without methods
// only shares its fields, as the objects of JSON do.
func acts(of types.Type) bool {
	if p, is := types.Unalias(of).(*types.Pointer); is {
		of = p.Elem()
	}
	named, is := types.Unalias(of).(*types.Named)
	if !is || named.Obj().Pkg() == nil || !strings.HasPrefix(named.Obj().Pkg().Path(), Module+"/") {
		return false
	}
	_, is = named.Underlying().(*types.Struct)
	return is && types.NewMethodSet(types.NewPointer(named)).Len() > 0
}

// TestCommandsAreNoDrawers keeps files that are named after a command free of code that many others need.
func TestCommandsAreNoDrawers(t *testing.T) {
	packages, err := module()
	require.NoError(t, err)
	for _, c := range packages {
		if c.name != "cmd/jp" {
			continue
		}
		users := map[string]int{}
		for _, needs := range c.uses() {
			for f := range needs {
				users[f]++
			}
		}
		for _, f := range c.files {
			base := c.base(f.Pos())
			text, err := os.ReadFile(filepath.Join("../..", c.name, base))
			require.NoError(t, err)
			if strings.Contains(string(text), "cobra.Command{") {
				require.LessOrEqual(t, users[base], CommandUsers, "%s/%s is named after a command, and %d files use it", c.name, base, users[base])
			}
		}
	}
}

// TestTerminals keeps the terminal at the edge.
func TestTerminals(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || within(s.pkg, FrontEnds) || strings.HasSuffix(s.pkg, "test") {
			continue
		}
		for _, i := range s.imports {
			for _, module := range Terminal {
				require.False(t, strings.HasPrefix(i, module), "%s imports %s, and is no front end", s.file, i)
			}
		}
		if within(s.pkg, []string{"internal", "sandbox"}) {
			continue // test tools, and the sandbox's child, which becomes another program
		}
		text, err := os.ReadFile(filepath.Join("../..", s.file))
		require.NoError(t, err)
		parsed, err := parser.ParseFile(token.NewFileSet(), s.file, text, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if sel, is := n.(*ast.SelectorExpr); is {
				if x, is := sel.X.(*ast.Ident); is {
					require.NotContains(t, TerminalNames, x.Name+"."+sel.Sel.Name, "%s is no front end", s.file)
				}
			}
			return true
		})
		require.NotContains(t, string(text), `"/dev/tty"`, "%s is no front end", s.file)
	}
}

func TestForbidden(t *testing.T) {
	for _, s := range sources(t) {
		for pkg, imports := range Forbidden {
			if s.test || s.pkg != pkg && !(pkg == "agent" && within(s.pkg, []string{pkg})) {
				continue
			}
			for _, i := range s.imports {
				ours, is := strings.CutPrefix(i, Module+"/")
				if is && within(ours, imports) && !slices.Contains(Excepted[pkg], ours) {
					t.Errorf("%s: package %s must not import %s", s.file, pkg, ours)
				}
			}
		}
	}
}
