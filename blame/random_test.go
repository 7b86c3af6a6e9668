package blame

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// An ownedLine is a line of a random file and whether the agent wrote it.
type ownedLine struct {
	text  string
	agent bool
}

// A randomHistory is a history whose steps and lines come from a seed.
type randomHistory struct {
	*history
	rng   *rand.Rand
	files map[string][]ownedLine
	next  int // number of the next line
	// pulled are the files of the colleague's branch.
	pulled map[string][]ownedLine
}

var (
	commonLines = []string{"\tif err != nil {", "\t\treturn err", "\t}", "}", "", "\treturn nil", "\tdefer f.Close()"}
	// license begins files of either writer. Its writer is that of the file's first version.
	license = []string{
		"// Copyright 2026 The Authors of the Program. All rights reserved.", "//",
		"// Use of this source code is governed by a license that stands", "// in the file LICENSE. There is no warranty of any kind.", "",
	}
)

func isCommon(text string) bool {
	return slices.Contains(commonLines, text) || slices.Contains(license, text) || !strings.Contains(text, "_value_")
}

// newFile are the lines of a new file, perhaps below the license.
func (h *randomHistory) newFile(agent bool, blocks int, licensed bool) (lines []ownedLine) {
	if licensed || h.rng.IntN(2) == 0 {
		for _, text := range license {
			lines = append(lines, ownedLine{text, agent})
		}
	}
	for range blocks {
		lines = append(lines, h.block(agent)...)
	}
	return lines
}

func (h *randomHistory) newPath() string {
	h.next++
	return fmt.Sprintf("n%d.go", h.next)
}

// part is the beginning, the end, the middle of a file, or its lines with some word.
func (h *randomHistory) part() []ownedLine {
	lines := h.files[h.anyPath()]
	n := min(len(lines), 2+h.rng.IntN(12))
	switch h.rng.IntN(4) {
	case 0:
		return slices.Clone(lines[:n])
	case 1:
		return slices.Clone(lines[len(lines)-n:])
	case 2:
		at := h.rng.IntN(len(lines) - n + 1)
		return slices.Clone(lines[at : at+n])
	}
	return slices.DeleteFunc(slices.Clone(lines), func(l ownedLine) bool { return !strings.Contains(l.text, "call3(") })
}

// copyParts does one thing that copies lines: head or grep into a new file or to the end of another, cat of two, split.
func (h *randomHistory) copyParts() {
	switch h.rng.IntN(5) {
	case 0:
		path := h.anyPath()
		h.put(path, slices.Concat(h.files[path], h.part()))
	case 1:
		h.concat()
	case 2:
		h.split()
	default:
		h.put(h.newPath(), h.part())
	}
}

func (h *randomHistory) concat() {
	h.put(h.newPath(), slices.Concat(h.files[h.anyPath()], h.files[h.anyPath()]))
}

// split cuts a file in two. The first part may stay in place.
func (h *randomHistory) split() {
	path := h.anyPath()
	lines := h.files[path]
	at := h.rng.IntN(len(lines) + 1)
	h.put(h.newPath(), lines[at:])
	if h.rng.IntN(2) == 0 {
		h.put(path, lines[:at])
		return
	}
	h.put(h.newPath(), lines[:at])
	delete(h.files, path)
	require.NoError(h.t, os.Remove(filepath.Join(h.dir, path)))
}

// format changes the white space of a file as a formatter does.
func (h *randomHistory) format() {
	path := h.anyPath()
	lines := slices.Clone(h.files[path])
	for i, l := range lines {
		lines[i].text = strings.ReplaceAll(strings.ReplaceAll(l.text, "\t", "    "), " := ", "  :=  ")
	}
	h.put(path, lines)
}

// block is a few new lines of one writer, common ones among them.
func (h *randomHistory) block(agent bool) (lines []ownedLine) {
	who := map[bool]string{true: "agent", false: "person"}[agent]
	for range 1 + h.rng.IntN(9) {
		h.next++
		text := fmt.Sprintf("\t%s_value_%d := call%d(%d)", who, h.next, h.rng.IntN(9), h.rng.IntN(99))
		if h.rng.IntN(3) == 0 {
			text = commonLines[h.rng.IntN(len(commonLines))]
		}
		lines = append(lines, ownedLine{text, agent})
	}
	return lines
}

func (h *randomHistory) paths() []string {
	return slices.Sorted(maps.Keys(h.files))
}

func (h *randomHistory) anyPath() string {
	paths := h.paths()
	return paths[h.rng.IntN(len(paths))]
}

// edit lets one writer change a file: insert lines, delete some, change a word, indent, or move some elsewhere.
func (h *randomHistory) edit(agent bool) {
	path := h.anyPath()
	lines := h.files[path]
	at := h.rng.IntN(len(lines) + 1)
	end := min(len(lines), at+h.rng.IntN(6))
	switch h.rng.IntN(7) {
	case 0:
		lines = slices.Delete(slices.Clone(lines), at, end)
	case 1:
		for i := at; i < end; i++ {
			h.next++
			if _, rest, found := strings.Cut(lines[i].text, "_value_"); found {
				_, rest, _ = strings.Cut(rest, " ")
				who := map[bool]string{true: "\tagent", false: "\tperson"}[agent]
				lines = slices.Clone(lines)
				lines[i] = ownedLine{fmt.Sprintf("%s_value_%d %s", who, h.next, rest), agent}
			}
		}
	case 2:
		lines = slices.Clone(lines)
		for i := at; i < end; i++ {
			if lines[i].text != "" {
				lines[i].text = "\t" + lines[i].text
			}
		}
	case 3:
		moved := slices.Clone(lines[at:end])
		h.put(path, slices.Delete(slices.Clone(lines), at, end))
		path = h.anyPath()
		at = h.rng.IntN(len(h.files[path]) + 1)
		lines = slices.Insert(slices.Clone(h.files[path]), at, moved...)
	default:
		lines = slices.Insert(slices.Clone(lines), at, h.block(agent)...)
	}
	h.put(path, lines)
}

func (h *randomHistory) put(path string, lines []ownedLine) {
	h.files[path] = lines
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	h.write(path, b.String())
}

func (h *randomHistory) move(from, to string) {
	h.files[to] = h.files[from]
	delete(h.files, from)
	require.NoError(h.t, os.MkdirAll(filepath.Join(h.dir, filepath.Dir(to)), 0o755))
	h.run("mv", from, to)
}

// side runs work on a branch of its own, and comes back to main.
func (h *randomHistory) side(work func()) {
	h.run("checkout", "-q", "-B", "side")
	work()
	h.commit("side")
	h.run("checkout", "-q", "main")
}

// colleague adds lines and a file on another branch, which the working tree lacks meanwhile.
func (h *randomHistory) colleague() {
	h.commit("before the colleague")
	was := maps.Clone(h.files)
	h.side(func() {
		h.next++
		h.put(fmt.Sprintf("colleague%d.go", h.next), slices.Concat(h.block(false), h.block(false)))
		for range 3 {
			h.edit(false)
		}
	})
	h.files, h.pulled = was, h.files
}

// TestRandomHistories lets an agent and people write in turns, ends each history with one operation, and
// prints how many of the agent's lines jp finds, and how many of those it calls the agent's are. JP_SEED is
// the first seed, JP_SEEDS how many each operation gets.
func TestRandomHistories(t *testing.T) {
	number := func(name, otherwise string) uint64 {
		n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), otherwise), 10, 64)
		require.NoError(t, err)
		return n
	}
	first, seeds := number("JP_SEED", "1000"), number("JP_SEEDS", "1")
	operations := []struct {
		name string
		do   func(h *randomHistory)
	}{
		{"not committed", func(*randomHistory) {}},
		{"commit", func(h *randomHistory) { h.commit("all") }},
		{"git mv", func(h *randomHistory) { h.commit("all"); h.move(h.anyPath(), "moved/new.go"); h.commit("move") }},
		{"git mv, not committed", func(h *randomHistory) { h.commit("all"); h.move(h.anyPath(), "moved/new.go") }},
		{"git mv and change", func(h *randomHistory) {
			h.commit("all")
			h.move(h.anyPath(), "moved/new.go")
			h.edit(false)
			h.commit("move")
		}},
		{"copy", func(h *randomHistory) {
			h.commit("all")
			h.put("copy.go", h.files[h.anyPath()])
			h.commit("copy")
		}},
		{"copy of a part", func(h *randomHistory) { h.commit("all"); h.put("copy.go", h.part()); h.commit("copy") }},
		{"split", func(h *randomHistory) { h.commit("all"); h.split(); h.commit("split") }},
		{"concat", func(h *randomHistory) { h.commit("all"); h.concat(); h.commit("concat") }},
		{"parts by the agent", func(h *randomHistory) { h.tool("shell_run", h.copyParts); h.tool("shell_run", h.copyParts) }},
		{"parts by the agent, git mv", func(h *randomHistory) {
			h.tool("shell_run", h.copyParts)
			h.commit("all")
			h.move(h.anyPath(), "moved/new.go")
			h.commit("move")
		}},
		{"new files of a person", func(h *randomHistory) {
			h.commit("all")
			h.put(h.newPath(), h.newFile(false, 2, false))
			h.put(h.newPath(), h.newFile(false, 4, false))
			h.commit("new")
		}},
		{"format", func(h *randomHistory) { h.commit("all"); h.format(); h.commit("format") }},
		{"squash", func(h *randomHistory) {
			h.side(func() { h.commit("one"); h.edit(false); h.commit("two"); h.edit(false) })
			h.run("merge", "-q", "--squash", "side")
			h.commit("squashed")
		}},
		{"rebase", func(h *randomHistory) {
			h.side(func() { h.commit("one"); h.edit(false) })
			h.write("other.txt", "a person's other file\n")
			h.commit("two")
			h.run("checkout", "-q", "side")
			h.run("rebase", "-q", "--exec", "true", "main")
		}},
		{"amend", func(h *randomHistory) {
			h.commit("one")
			h.edit(false)
			h.run("add", "-A")
			h.run("commit", "-q", "--amend", "--allow-empty", "-m", "amended")
		}},
		{"cherry-pick", func(h *randomHistory) {
			h.side(func() {})
			h.write("other.txt", "a person's other file\n")
			h.commit("two")
			h.run("cherry-pick", "--allow-empty", "side")
		}},
		{"merge", func(h *randomHistory) {
			h.side(func() { h.commit("one"); h.edit(false) })
			h.write("other.txt", "a person's other file\n")
			h.commit("two")
			h.run("merge", "-q", "--no-ff", "-m", "merged", "side")
		}},
		{"pull of a colleague", func(h *randomHistory) {
			h.colleague()
			h.run("merge", "-q", "side")
			h.files = h.pulled
			h.tool("fs_modify_file", func() { h.edit(true) })
			h.commit("after")
		}},
		{"checkout by the agent", func(h *randomHistory) {
			h.colleague()
			h.tool("shell_run", func() { h.run("checkout", "-q", "side") })
			h.files = h.pulled
			h.tool("fs_modify_file", func() { h.edit(true) })
		}},
		{"checkout by a person", func(h *randomHistory) {
			h.colleague()
			h.run("checkout", "-q", "side")
			h.files = h.pulled
			h.tool("fs_modify_file", func() { h.edit(true) })
			h.commit("after")
		}},
	}
	var all score
	t.Logf("%-28s %9s %9s %12s %9s %9s %12s %6s", "operation", "recall", "precision", "wrong", "common", "precision", "wrong", "beside")
	for n, o := range operations {
		var s score
		for seed := first; seed < first+seeds; seed++ {
			h := &randomHistory{history: newHistory(t), rng: rand.New(rand.NewPCG(seed, uint64(n))), files: map[string][]ownedLine{}}
			for i := range 3 + h.rng.IntN(3) {
				h.put(fmt.Sprintf("f%d.go", i), h.newFile(false, 6, i == 0))
			}
			h.commit("base")
			h.event(&conversation.TurnStart{Model: "script/x"})
			for range 8 + h.rng.IntN(8) {
				switch h.rng.IntN(11) {
				case 8:
					h.tool("shell_run", h.copyParts)
				case 9:
					h.tool("fs_create_file", func() { h.put(h.newPath(), h.newFile(true, 2, false)) })
				case 10:
					h.put(h.newPath(), h.newFile(false, 2, false))
					h.commit("person")
				case 0, 1, 2, 3:
					h.tool("fs_modify_file", func() { h.edit(true) })
				case 4:
					h.tool("shell_run", func() { h.edit(true); h.edit(true) })
				case 5:
					h.edit(false)
					h.commit("person")
				case 6:
					h.tool("shell_run", func() { h.next++; h.commit("all"); h.move(h.anyPath(), fmt.Sprintf("d/m%d.go", h.next)) })
				default:
					h.edit(false)
				}
			}
			o.do(h)
			for _, path := range h.paths() {
				lines := h.files[path]
				got := h.blamed(path)
				require.Len(t, got, len(lines), "%s, seed %d: %s", o.name, seed, path)
				s.count(lines, got, func(i int) {
					t.Logf("%s, seed %d: %s:%d is of the agent: %t, jp says %t: %q", o.name, seed, path, i+1, lines[i].agent, got[i], lines[i].text)
				})
			}
		}
		t.Logf("%-28s %s", o.name, s)
		all.add(s)
	}
	t.Logf("%-28s %s", "all", all)
	require.Zero(t, all.wrong+all.trivialWrong, "lines of others are called the agent's")
	require.Equal(t, all.agent, all.found, "lines of the agent are missed")
}

// count compares a file with the truth. A common line beside the agent's lines may be either's: the files
// leave open which of two equal lines was inserted.
func (s *score) count(lines []ownedLine, got []bool, differs func(i int)) {
	beside := make([]bool, len(lines))
	for range 2 {
		near := false
		for i, l := range lines {
			near = l.agent || near && isCommon(l.text)
			beside[i] = beside[i] || near
		}
		slices.Reverse(lines)
		slices.Reverse(beside)
	}
	for i, l := range lines {
		common := isCommon(l.text)
		switch {
		case common && l.agent:
			s.trivial, s.trivialFound = s.trivial+1, s.trivialFound+bit(got[i])
		case common && beside[i]:
			s.beside += bit(got[i])
		case common:
			s.trivialOthers, s.trivialWrong = s.trivialOthers+1, s.trivialWrong+bit(got[i])
		case l.agent:
			s.agent, s.found = s.agent+1, s.found+bit(got[i])
		default:
			s.others, s.wrong = s.others+1, s.wrong+bit(got[i])
		}
		if got[i] != l.agent && !(common && (l.agent || beside[i])) {
			differs(i)
		}
	}
}

func (s *score) add(o score) {
	s.agent, s.found, s.others, s.wrong = s.agent+o.agent, s.found+o.found, s.others+o.others, s.wrong+o.wrong
	s.trivial, s.trivialFound = s.trivial+o.trivial, s.trivialFound+o.trivialFound
	s.trivialOthers, s.trivialWrong, s.beside = s.trivialOthers+o.trivialOthers, s.trivialWrong+o.trivialWrong, s.beside+o.beside
}

// String has recall, precision and the lines of others that are wrong: distinct lines first, then common
// ones.
func (s score) String() string {
	part := func(n, of int) string {
		if of == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f %%", 100*float64(n)/float64(of))
	}
	return fmt.Sprintf("%9s %9s %5d/%-6d %9s %9s %5d/%-6d %6d",
		part(s.found, s.agent), part(s.found, s.found+s.wrong), s.wrong, s.others,
		part(s.trivialFound, s.trivial), part(s.trivialFound, s.trivialFound+s.trivialWrong), s.trivialWrong, s.trivialOthers, s.beside)
}
