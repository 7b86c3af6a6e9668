package sandbox

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Places are the input of the rules for programs in a working tree. Paths are absolute.
type Places struct {
	Workspace string   // the working tree
	GitDir    string   // of this working tree
	CommonDir string   // the git directory that all working trees share
	Environ   []string // names the user's home, caches and temporary files
	Hidden    []string // jp's own
	// Write are further places that programs may write to. "~/" is the user's home; a relative path is in
	// the working tree.
	Write []string
	// Caches are those of the user that programs may write to: names below the cache folder, absolute, or
	// below "~/". Their content must never be run, or read as commands.
	Caches  []string
	Network bool
}

// Rules are the rules for these places in the file system with this root: a
// program may write to the working tree, its git directories, and the user's
// temporary files and caches. It sees neither jp's own files nor the user's private keys.
func (p Places) Rules(tree fs.FS) Rules {
	r := Rules{Hidden: p.Hidden, Private: p.keys(tree), Network: p.Network, Writable: append([]string{p.Workspace}, p.gitDirs(tree)...)}
	r.Writable = append(r.Writable, p.Temporary()...)
	r.Writable = append(r.Writable, p.WritableCaches()...)
	for _, name := range p.Write {
		r.Writable = append(r.Writable, p.absolute(name))
	}
	return r
}

// system are folders of programs and their needs, and files without secrets in /etc.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/etc/alternatives", "/etc/debian_version", "/etc/gitattributes",
	"/etc/gitconfig", "/etc/group", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/locale.alias", "/etc/localtime",
	"/etc/magic", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/timezone",
}

// ReaderRules are the rules for a program that only reads: the working tree, its git directories and the system's
// folders. ok is false if the user's home is among them.
func (p Places) ReaderRules(tree fs.FS) (r Rules, ok bool) {
	own := append([]string{p.Workspace}, p.gitDirs(tree)...)
	home := follow(tree, p.home("")).path
	for _, name := range own {
		if p.home("") == "" || within(home, follow(tree, name).path) {
			return Rules{}, false
		}
	}
	for _, name := range system {
		if !within(home, follow(tree, name).path) {
			own = append(own, name)
		}
	}
	return Rules{Hidden: p.Hidden, Private: p.keys(tree), OnlyRead: own}, true
}

// Reads reports whether a reader may read a path, which is followed.
func (r Rules) Reads(tree fs.FS, name string) bool {
	s := newSurvey(tree, append(r.Hidden[:len(r.Hidden):len(r.Hidden)], r.Private...))
	at := follow(tree, name).path
	return !s.isHidden(at) && slices.ContainsFunc(s.writable(r.OnlyRead), func(folder string) bool { return within(at, folder) })
}

// Runs finds the program of a name for a reader: in the system's folders and outside of all that other programs may write.
func (p Places) Runs(tree fs.FS, name string) (program string, ok bool) {
	writable := p.Rules(tree).Writable
	for _, dir := range filepath.SplitList(p.variable("PATH")) {
		file := path.Join(dir, name)
		at := follow(tree, file)
		info, err := fs.Stat(tree, inTree(at.path))
		if !path.IsAbs(dir) || err != nil || !at.exists || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		in := func(folder string) bool { return within(at.path, follow(tree, folder).path) }
		return file, slices.ContainsFunc(system, in) && !slices.ContainsFunc(writable, in)
	}
	return "", false
}

// Temporary are the folders of temporary files.
func (p Places) Temporary() []string {
	return given("/tmp", "/var/tmp", p.variable("TMPDIR"), p.variable("GOTMPDIR"))
}

// TemporaryVariables are the variables by which programs find a folder for temporary
// files, with the folders that these name.
func (p Places) TemporaryVariables() map[string]string {
	variables := map[string]string{"TMPDIR": "/tmp"}
	for _, name := range []string{"TMPDIR", "GOTMPDIR"} {
		if dir := p.variable(name); path.IsAbs(dir) {
			variables[name] = dir
		}
	}
	return variables
}

// WritableCaches are the folders in which programs may keep files that they can fetch or make again: jp's
// own one first, then that of Go's build results, and the user's listed ones.
func (p Places) WritableCaches() []string {
	caches := given(p.ToolCache(), p.variable("GOCACHE"))
	for _, name := range p.Caches {
		if strings.HasPrefix(name, "~/") || path.IsAbs(name) {
			caches = append(caches, given(p.absolute(name))...)
		} else {
			caches = append(caches, given(p.inCache(name))...)
		}
	}
	return caches
}

// installed are programs in the user's cache folder that tests start. They can be read.
var installed = []string{"ms-playwright", "puppeteer", "Cypress"}

const npmCache = "_cacache" // npm's downloads, by their content

// CacheLinks are links in jp's own cache folder to the user's caches, by which programs find
// these under the variables of [Places.CacheVariables].
func (p Places) CacheLinks() map[string]string {
	links := map[string]string{}
	for _, name := range append(installed, p.Caches...) {
		if to := p.inCache(name); to != "" && !strings.HasPrefix(name, "~/") && !strings.Contains(name, "/") {
			links[name] = to
		}
	}
	if to := p.home(".npm/" + npmCache); to != "" {
		links["npm/"+npmCache] = to
	}
	return links
}

// CacheVariables lead programs to jp's own cache folder.
func (p Places) CacheVariables() []string {
	own := p.ToolCache()
	if own == "" {
		return nil
	}
	return []string{"XDG_CACHE_HOME=" + own, "npm_config_cache=" + path.Join(own, "npm")}
}

// ToolCache is jp's own cache folder for programs, "" without a home.
func (p Places) ToolCache() string { return p.inCache("jp-tools") }

func (p Places) inCache(name string) string {
	if cache := p.Cache(); cache != "" {
		return path.Join(cache, name)
	}
	return ""
}

// Cache is the user's cache folder, "" without a home.
func (p Places) Cache() string {
	if dir := p.variable("XDG_CACHE_HOME"); path.IsAbs(dir) {
		return dir
	}
	return p.home(".cache")
}

// gitDirs are the git directories that can be granted. One outside of the working tree counts only if it
// names this working tree itself: an earlier program may have written the working tree's own link.
func (p Places) gitDirs(tree fs.FS) []string {
	own := within(p.GitDir, p.Workspace)
	switch {
	case own && p.CommonDir == p.GitDir, p.GitDir == "":
		return given(p.GitDir)
	case p.linked(tree):
		return []string{p.CommonDir}
	case p.CommonDir == p.GitDir && p.claimed(tree):
		return []string{p.GitDir}
	}
	return nil
}

// linked reports whether the shared git directory knows this as one of its linked
// working trees.
func (p Places) linked(tree fs.FS) bool {
	if path.Dir(p.GitDir) != path.Join(p.CommonDir, "worktrees") {
		return false
	}
	text, err := fs.ReadFile(tree, inTree(path.Join(p.GitDir, "gitdir")))
	back := strings.TrimSuffix(string(text), "\n")
	if !path.IsAbs(back) {
		back = path.Join(p.GitDir, back)
	}
	return err == nil && follow(tree, path.Dir(back)).path == follow(tree, p.Workspace).path
}

// claimed reports whether the configuration of a git directory names this working
// tree, as that of a submodule does.
func (p Places) claimed(tree fs.FS) bool {
	text, err := fs.ReadFile(tree, inTree(path.Join(p.GitDir, "config")))
	if err != nil {
		return false
	}
	core := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			core = line == "[core]"
		}
		name, value, _ := strings.Cut(line, "=")
		if !core || !strings.EqualFold(strings.TrimSpace(name), "worktree") {
			continue
		}
		if value = strings.Trim(strings.TrimSpace(value), `"`); !path.IsAbs(value) {
			value = path.Join(p.GitDir, value)
		}
		return follow(tree, value).path == follow(tree, p.Workspace).path
	}
	return false
}

func (p Places) absolute(name string) string {
	if rest, below := strings.CutPrefix(name, "~/"); below && p.home(rest) != "" {
		return p.home(rest)
	}
	if path.IsAbs(name) {
		return name
	}
	return path.Join(p.Workspace, name)
}

// home is a place in the user's home, "" without one.
func (p Places) home(name string) string {
	if home := p.variable("HOME"); path.IsAbs(home) {
		return path.Join(home, name)
	}
	return ""
}

// variable is the last value of a variable of the environment.
func (p Places) variable(name string) (value string) {
	for _, pair := range p.Environ {
		if v, ok := strings.CutPrefix(pair, name+"="); ok {
			value = v
		}
	}
	return value
}

// given are those that are absolute paths.
func given(names ...string) (absolute []string) {
	for _, name := range names {
		if path.IsAbs(name) {
			absolute = append(absolute, name)
		}
	}
	return absolute
}
