package chat

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jp/agent"
	"jp/agent/contextfiles"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/console"
	"jp/cmd/jp/internal/ui"
	"jp/internal/safetext"
)

// Offers are the completions for the words in the line. Skills, prompts and tracked files are read
// when the person first types a word that may be one, and again after each entry.
type offers struct {
	env  *ui.Env
	jp   []command // jp's own
	mu   sync.Mutex
	more []command     // the skills, and the prompts of MCP servers
	read bool          // they were read
	list []string      // tracked files, from the folder of the command line
	done chan struct{} // closed when the files are read; nil: no caller asked for them
}

func (f *offers) open(env *ui.Env, commands []command) { f.env, f.jp = env, commands }

// forget reads skills and files again the next time.
func (f *offers) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read, f.more, f.done, f.list = false, nil, nil, nil
}

// all are the commands, and a command for each skill and each prompt of an MCP server.
func (f *offers) all() []command {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.read {
		f.read, f.more = true, f.questions()
	}
	return slices.Concat(f.jp, f.more)
}

// questions are commands that ask with a skill, or with a prompt that an MCP server listed when it ran last.
func (f *offers) questions() (found []command) {
	r, err := f.env.FindSettings(context.Background())
	if err != nil {
		return nil // the next turn reports the error
	}
	defer r.Close()
	set := contextfiles.OpenSkills(r, f.env.Host)
	defer set.Close()
	for _, k := range set.All {
		if k.Unusable == "" && slash().MatchString("/"+k.Name) {
			found = append(found, command{name: k.Name, args: "TEXT", help: safetext.Bound(safetext.Clean(problem.OneLine(k.Description)), 60), skill: true})
		}
	}
	for _, p := range toolset.Prompts(r, f.env.Host) {
		if slash().MatchString("/" + p.Name()) {
			found = append(found, command{
				name: p.Name(), args: p.Prompt.Usage(), help: safetext.Fit(safetext.Clean(problem.OneLine(p.Prompt.Description)), 60),
				prompt: &agent.ServerPrompt{Server: p.Server, Name: p.Prompt.Name},
			})
		}
	}
	return found
}

// files are the tracked files. They are read in the background, and wait waits for that.
func (f *offers) files(wait bool) []string {
	f.mu.Lock()
	done := f.done
	if done == nil {
		done = make(chan struct{})
		f.done = done
		go func() {
			defer close(done)
			list := tracked(f.env)
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.done == done {
				f.list = list
			}
		}()
	}
	f.mu.Unlock()
	if wait {
		<-done
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list
}

func tracked(env *ui.Env) (list []string) {
	ctx := context.Background()
	r, err := env.FindSettings(ctx)
	if err != nil {
		return nil
	}
	defer r.Close()
	return trackedFrom(ctx, r, env.Dir)
}

func trackedFrom(ctx context.Context, r *repo.Repo, dir string) (list []string) {
	if r.Git == nil || r.At.TopLevel == "" {
		return nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	out, err := r.Git.Run(ctx, "ls-files", "-z")
	if err != nil {
		return nil
	}
	top := r.At.TopLevel
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if path == "" || strings.ContainsAny(path, unnameable) {
			continue
		}
		if dir != top {
			if path, err = filepath.Rel(dir, filepath.Join(top, path)); err != nil {
				continue
			}
		}
		list = append(list, path)
	}
	return list
}

// candidates are the completions for the word at the cursor: commands, or files behind @. If no name
// begins like the word they are files with a similar path, the best first. wait waits for the list of
// files.
func (f *offers) candidates(e console.Entry, at int, wait bool) (from int, all []string, alike bool) {
	begun := e.Text[:at]
	if slash().MatchString(begun) && !e.Pasted(0) {
		for _, o := range f.all() {
			if name := "/" + o.name; strings.HasPrefix(name, begun) {
				all = append(all, name)
			}
		}
		return 0, all, false
	}
	from = strings.LastIndexAny(begun, " \n\t(") + 1
	path, is := strings.CutPrefix(begun[from:], "@")
	if open := strings.LastIndex(begun, `@"`); open >= 0 && !strings.Contains(begun[open+2:], `"`) {
		from, path, is = open, begun[open+2:], true
	}
	if !is || e.Pasted(from) {
		return 0, nil, false
	}
	if all = beginning(f.env.Dir, path); len(all) > 0 || path == "" {
		return from, all, false
	}
	for _, path := range alikes(f.files(wait), path) {
		all = append(all, mention(path))
	}
	return from, all, true
}

// beginning are the entries of a folder that begin like a path.
func beginning(dir, path string) (all []string) {
	folder, name := filepath.Split(path)
	read := folder
	if !filepath.IsAbs(folder) {
		read = filepath.Join(dir, folder)
	}
	entries, err := os.ReadDir(read)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		n := entry.Name()
		if !strings.HasPrefix(n, name) || n == ".git" || strings.HasPrefix(n, ".") && !strings.HasPrefix(name, ".") || strings.ContainsAny(n, unnameable) {
			continue
		}
		word := mention(folder + n)
		if info, err := os.Stat(filepath.Join(read, n)); err == nil && info.IsDir() {
			word = strings.TrimSuffix(word, `"`) + "/" // the quote closes behind a file
		}
		all = append(all, word)
	}
	return all
}

// unnameable are the characters that a path behind @ cannot have.
const unnameable = "\t\n\""

// mention is how a text names a file.
func mention(path string) string {
	if strings.Contains(path, " ") {
		return `@"` + path + `"`
	}
	return "@" + path
}

// alikes are the paths that have the characters of a word in their order, the best first: those
// whose name begins with it, has it, whose path has it, and then the shorter ones.
func alikes(paths []string, word string) []string {
	type match struct {
		path string
		rank int
	}
	var found []match
	word = strings.ToLower(word)
	for _, path := range paths {
		lower := strings.ToLower(path)
		name := lower[strings.LastIndexByte(lower, '/')+1:]
		m := match{path: path}
		switch {
		case strings.HasPrefix(name, word):
		case strings.Contains(name, word):
			m.rank = 1
		case strings.Contains(lower, word):
			m.rank = 2
		case inOrder(name, word):
			m.rank = 3
		case inOrder(lower, word):
			m.rank = 4
		default:
			continue
		}
		found = append(found, m)
	}
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path))
	})
	best := make([]string, 0, mostCandidates)
	for _, m := range found[:min(len(found), mostCandidates)] {
		best = append(best, m.path)
	}
	return best
}

// inOrder reports whether a text has the characters of a word in their order.
func inOrder(text, word string) bool {
	for _, r := range word {
		at := strings.IndexRune(text, r)
		if at < 0 {
			return false
		}
		text = text[at+len(string(r)):]
	}
	return true
}
