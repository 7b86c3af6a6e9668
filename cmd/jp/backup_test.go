package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/safetext"
	"jp/internal/testing/gitenv"
)

// manyPrograms is how many random programs the test runs with the variable that asks for all; few without it.
const (
	manyPrograms = 300
	fewPrograms  = 30
)

// TestUndoAfterRandomPrograms runs random programs over random trees. After jp undo each path is as before, unless jp
// has named it.
func TestUndoAfterRandomPrograms(t *testing.T) {
	t.Parallel()
	n := fewPrograms
	if text := os.Getenv("JP_PROGRAMS"); text != "" {
		n = manyPrograms
		if asked, err := strconv.Atoi(text); err == nil && asked > 1 {
			n = asked
		}
	}
	only := os.Getenv("JP_PROGRAM")
	for i := range n {
		if only != "" && only != strconv.Itoa(i) {
			continue
		}
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			randomProgram(t, uint64(i))
		})
	}
}

func randomProgram(t *testing.T, seed uint64) {
	p := newPlace(t)
	g := &grove{p: p, Rand: rand.New(rand.NewPCG(seed, 1))}
	g.plant()
	before := g.sight()
	var script []string
	for range 1 + g.IntN(3) {
		script = append(script, g.step())
	}
	text := strings.Join(script, "\n")
	model := filepath.Join(filepath.Dir(p.dir), "model.toml")
	argv, err := json.Marshal([]string{"sh", "-c", text})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(model, fmt.Appendf(nil, "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = %s }\n[[reply]]\nmessage = \"Done.\"\n", argv), 0o600))
	out := p.jp("query", "-y", "-m", "script/"+model, "Go")
	require.Zero(t, out.exit, "%s\n%s", text, out.stderr)
	after := g.sight()
	undo := p.jp("undo", "-y")
	told := named(out.stderr, undo.stdout)
	now := g.sight()
	var wrong []string
	for _, path := range union(before, now) {
		if before[path] != now[path] && !names(told, path) {
			wrong = append(wrong, fmt.Sprintf("%q was %s, the program left %s, and after undo it is %s", path, before[path], after[path], now[path]))
		}
	}
	if len(wrong) > 0 || undo.exit != 0 {
		t.Errorf("seed %d, exit %d:\n%s\n--- program\n%s\n--- said\n%s%s%s", seed, undo.exit, strings.Join(wrong, "\n"), text, out.stderr, undo.stdout, undo.stderr)
	}
}

// named are the files that jp does not bring back, by its output: those without a copy in the turn's,
// those left alone in the undo's.
func named(turn, undo string) (lines []string) {
	for line := range strings.Lines(turn) {
		if _, after, is := strings.Cut(line, "jp has no copy of "); is {
			lines = append(lines, strings.Split(strings.TrimSpace(after), ", ")...)
		}
	}
	_, after, _ := strings.Cut(undo, "Left alone:\n")
	for line := range strings.Lines(after) {
		if rest, is := strings.CutPrefix(line, "  "); is {
			lines = append(lines, rest)
		}
	}
	return lines
}

// names reports whether a line begins with a path, or with a folder above it.
func names(lines []string, file string) bool {
	for at := file; at != "."; at = path.Dir(at) {
		if slices.ContainsFunc(lines, func(line string) bool {
			rest, is := strings.CutPrefix(line, shownName(at))
			return is && (rest == "" || strings.ContainsAny(rest[:1], "/ \n"))
		}) {
			return true
		}
	}
	return false
}

// shownName is a path as jp shows it.
func shownName(name string) string { return safetext.Show(name) }

func union(a, b map[string]string) (paths []string) {
	for path := range a {
		paths = append(paths, path)
	}
	for path := range b {
		if _, has := a[path]; !has {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// A grove is a repository with random files, for random programs.
type grove struct {
	*rand.Rand
	p     *workspace
	files []string
}

func pick[T any](g *grove, of ...T) T { return of[g.IntN(len(of))] }

// plant makes the files: tracked, untracked and ignored, some with other modes, links, and odd names.
func (g *grove) plant() {
	p := g.p
	objects := pick(g, "sha1", "sha256")
	refs := "files"
	if gitenv.KnowsReftable() && g.IntN(3) == 0 {
		refs = "reftable"
	}
	p.environ = append(p.environ, "GIT_DEFAULT_HASH="+objects, "GIT_DEFAULT_REF_FORMAT="+refs)
	require.NoError(p.t, os.RemoveAll(p.dir))
	require.NoError(p.t, os.Mkdir(p.dir, 0o777))
	p.git("init", "-q", "-b", "main")
	p.write(".gitignore", "*.log\n.env\nbig/\n")
	tracked := []string{"t1", "t2.txt", "d/t3", "d/e/t4"}
	for _, name := range tracked {
		p.write(name, g.text())
	}
	p.git("add", ".")
	p.git("commit", "-qm", "one")
	p.git("switch", "-qc", "other")
	p.write("t1", "other\n")
	p.git("commit", "-qam", "two")
	p.git("switch", "-q", "main")
	if g.IntN(4) == 0 {
		p.git("worktree", "add", "-q", "../linked", "-b", "linked")
		p.dir = filepath.Join(filepath.Dir(p.dir), "linked")
	}
	others := []string{"u1", "u2.txt", "d/u3", "new/u4", "new/deep/u5", "Grün.txt", "with\nnewline", "with space", "a.log", "d/b.log", ".env", "x\"q"}
	for _, name := range others {
		if g.IntN(4) > 0 {
			p.write(name, g.text())
			g.files = append(g.files, name)
		}
	}
	g.files = append(g.files, tracked...)
	p.write("big/inside", "x\n")
	for _, name := range g.files {
		if mode := pick(g, 0, 0, 0o600, 0o755, 0o640); mode != 0 {
			require.NoError(p.t, os.Chmod(filepath.Join(p.dir, name), fs.FileMode(mode)))
		} else {
			require.NoError(p.t, os.Chmod(filepath.Join(p.dir, name), 0o644))
		}
	}
	if g.IntN(2) == 0 {
		require.NoError(p.t, os.Symlink("u1", filepath.Join(p.dir, "link")))
		g.files = append(g.files, "link")
	}
	if g.IntN(2) == 0 {
		require.NoError(p.t, os.MkdirAll(filepath.Join(p.dir, "empty/inner"), 0o777))
		g.files = append(g.files, "empty")
	}
	if g.IntN(4) == 0 {
		p.write("t1", "changed\n")
	}
}

func (g *grove) text() string {
	return strings.Repeat(fmt.Sprintf("line %d\n", g.IntN(1000)), g.IntN(5))
}

// step is one command of a program.
func (g *grove) step() string {
	file := func() string { return "'" + pick(g, g.files...) + "'" }
	a, b := file(), file()
	return pick(g,
		"rm -rf "+a,
		"rm -rf "+a+" "+b,
		"mv -f "+a+" "+b,
		"mv "+a+" moved",
		"sed -i s/line/LINE/ "+a,
		"truncate -s 3 "+a,
		"echo more | tee -a "+a+" >/dev/null",
		"echo over > "+a,
		"git clean -fdxq",
		"git clean -fdq",
		"git stash -u -q",
		"git checkout -q other",
		"git checkout -q -- .",
		"mkdir -p arch/d && echo tar > arch/d/u3 && echo tar > arch/u1 && tar -C arch -cf arch.tar . && rm -r arch && tar xf arch.tar && rm arch.tar",
		"ln -sf /nowhere "+a,
		"chmod "+pick(g, "600", "755", "640", "744")+" "+a,
		"chmod 700 "+a+" "+b,
		"touch "+a,
		"rm -rf "+a+" && mkdir "+a,
		"rm -rf "+a+" && mkdir "+a+" && echo in > "+a+"/in",
		"rm -rf "+a+" && mkfifo "+a,
		"mv u1 U1",
		"find . -name 'u*' -not -path './.git/*' -delete",
		"echo made > made.txt; echo log > made.log; mkdir -p made/empty",
		"rm -rf big",
		"mkdir -p made/empty",
		"rm -rf d new",
		"mv d elsewhere",
		"cp "+a+" copied",
		"ln "+a+" hard",
		"dd if=/dev/zero of="+a+" bs=1 count=5 2>/dev/null",
	) + " 2>/dev/null"
}

// sight has for every path kind, mode, and content or target. Of folders it has those without entries.
func (g *grove) sight() map[string]string {
	all := map[string]string{}
	top := g.p.dir
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(top, file)
		if name == ".git" {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			entries, err := os.ReadDir(file)
			if err != nil {
				return err
			}
			if len(entries) == 0 {
				all[name] = "an empty folder"
			}
		case info.Mode().IsRegular():
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			all[name] = fmt.Sprintf("%v %q", info.Mode(), text)
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(file)
			all[name] = "link to " + target
		default:
			all[name] = info.Mode().Type().String()
		}
		return nil
	})
	require.NoError(g.p.t, err)
	return all
}
