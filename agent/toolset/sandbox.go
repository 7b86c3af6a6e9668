package toolset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/repo"
	"jp/internal/safetext"
	"jp/sandbox"
	"jp/tool"
	"jp/tool/command"
	"jp/tool/shell"
)

// Sandbox is the confinement of tools' programs in this repository.
type Sandbox struct {
	places  sandbox.Places
	support sandbox.Support
	on      bool // the configuration wants them
}

func SandboxOf(r *repo.Repo, e *repo.Host) Sandbox {
	wanted := r.Config.Sandbox
	return Sandbox{on: wanted.Enable && r.At.TopLevel != "", support: sandbox.Supported(), places: sandbox.Places{
		Workspace: r.At.TopLevel, GitDir: r.At.GitDir, CommonDir: r.At.CommonDir, Environ: e.Environ,
		Hidden: []string{r.KeyFile(), r.Paths.StateDir, r.Paths.DataDir, filepath.Dir(r.Paths.UserFile)},
		Write:  wanted.Write, Caches: wanted.Caches, Network: wanted.Network,
	}}
}

func (w Sandbox) stand() bool { return w.on && w.support.Enforced() }

// Offline reports whether programs are confined, and without network.
func (w Sandbox) Offline() bool { return w.stand() && !w.places.Network }

// launcher starts programs behind the walls. It is nil if they run unconfined.
func (w Sandbox) launcher() command.Launcher {
	if !w.stand() {
		return nil
	}
	return func(argv []string, dir string) (command.Launch, error) {
		caches := w.makeCache()
		walls := w.places.Rules(os.DirFS("/"))
		environ, _ := w.temporary(walls, true)
		environ = append(environ, caches...)
		launch, err := confined(walls, argv, dir)
		launch.Drop, launch.Env = sandbox.AgentVariables(), environ
		return launch, err
	}
}

func confined(rules sandbox.Rules, argv []string, dir string) (command.Launch, error) {
	start, err := sandbox.Prepare(rules, argv, dir)
	if err != nil {
		return command.Launch{}, err
	}
	return command.Launch{Path: start.Path, Argv: start.Argv, Attr: start.Attr, Files: start.Files, Close: start.Close}, nil
}

// online starts confined programs with the network. It is nil if they have it already, or run unconfined.
func (w Sandbox) online() command.Launcher {
	if !w.Offline() {
		return nil
	}
	w.places.Network = true
	return w.launcher()
}

// makeCache makes the cache folder of programs, with links to the user's caches that are there, and gives the
// variables that lead to it. A program may have changed anything in it. If a part cannot be made, programs
// lack it.
func (w Sandbox) makeCache() (environ []string) {
	own := w.places.ToolCache()
	if own == "" || os.MkdirAll(own, 0o700) != nil {
		return w.places.CacheVariables()
	}
	root, err := os.OpenRoot(own)
	if err != nil {
		return w.places.CacheVariables()
	}
	defer root.Close()
	for link, to := range w.places.CacheLinks() {
		if _, err := os.Stat(to); err == nil {
			_ = root.MkdirAll(filepath.Dir(link), 0o700)
			_ = root.Symlink(to, link)
		}
	}
	return append(w.places.CacheVariables(), w.sources(root)...)
}

// sources gives the variables of jp's own folders of downloaded sources, if programs may need them: with the
// network, and for the downloads made with it. Otherwise programs use the user's, and their builds.
func (w Sandbox) sources(cache *os.Root) (environ []string) {
	for _, s := range w.places.Sources() {
		user := os.DirFS(s.Folder)
		if w.places.Network {
			_ = cache.MkdirAll(s.Own, 0o700)
		}
		own, err := cache.OpenRoot(s.Own)
		if err != nil {
			continue
		}
		if w.places.Network || s.Needed(user, own.FS()) {
			for _, name := range s.Links(user, own.FS()) {
				_ = own.MkdirAll(filepath.Dir(name), 0o700)
				_ = own.Symlink(filepath.Join(s.Folder, name), name)
			}
			environ = append(environ, s.Variables...)
		}
		own.Close()
	}
	return environ
}

// temporaryFolder is the place of temporary files in the programs' cache folder, if their usual place is
// read-only: a home below /tmp has jp's own folders there.
const temporaryFolder = "tmp"

// temporary gives the variables that lead programs to a folder in which they can make temporary files. It
// gives none if the present ones do. ok is false without such a folder. make lets it be made.
func (w Sandbox) temporary(rules sandbox.Rules, make bool) (environ []string, ok bool) {
	tree := os.DirFS("/")
	for name, dir := range w.places.TemporaryVariables() {
		if rules.CanMake(tree, dir) {
			continue
		}
		cache := w.places.ToolCache()
		folder := filepath.Join(cache, temporaryFolder)
		if cache == "" {
			return nil, false
		}
		if make {
			_ = os.Mkdir(folder, 0o700) // if it fails, programs report the missing folder
		}
		if !rules.CanMake(tree, cache) {
			return nil, false
		}
		environ = append(environ, name+"="+folder)
	}
	return environ, true
}

// note tells the model about a program that failed behind the walls.
func (w Sandbox) note() string {
	switch {
	case !w.stand():
		return ""
	case w.places.Network:
		return "[confined: writes outside the workspace are off" + w.temporaryNote() + "; see sandbox.write]"
	}
	return "[confined: writes outside the workspace and the network are off" + w.temporaryNote() + "; see sandbox.write, sandbox.network]"
}

// temporaryNote names the place of temporary files, if it is an unusual one.
func (w Sandbox) temporaryNote() string {
	switch environ, ok := w.temporary(w.places.Rules(os.DirFS("/")), false); {
	case !ok:
		return ", also temporary files"
	case len(environ) > 0:
		return "; temporary files go to $TMPDIR"
	}
	return ""
}

// Words describe the walls to the person who is asked, or are "".
func (w Sandbox) Words() string {
	switch {
	case !w.stand():
		return ""
	case w.places.Network:
		return "confined: writes " + w.writable() + " only · network"
	}
	return "confined: writes " + w.writable() + " only · no network"
}

// writable names the places that a confined program may write.
func (w Sandbox) writable() string {
	where := []string{"here", "temporary files", "caches"}
	if _, ok := w.temporary(w.places.Rules(os.DirFS("/")), false); !ok {
		where = slices.Delete(where, 1, 2)
	}
	if more := w.places.Write; len(more) > 0 {
		return strings.Join(where, ", ") + ", " + safetext.Bound(strings.Join(more, ", "), 100)
	}
	last := len(where) - 1
	return strings.Join(where[:last], ", ") + " and " + where[last]
}

// ErrFromTool means that the caller is the model instead of the user.
var ErrFromTool = errors.New("a program that a tool started may not take part in conversations")

// FromTool reports whether a tool started this jp, by [process.Locks.FromTool], or by the files that it may
// not read.
func FromTool(r *repo.Repo, variable string) bool {
	return r.Locks.FromTool(os.Getpid(), variable) || sandbox.Confined(r.KeyFile())
}

// StartsPrograms reports whether one of the tools starts programs.
func StartsPrograms(r *repo.Repo, tools *tool.Registry) bool {
	return slices.ContainsFunc(tools.Definitions(), func(def *tool.Definition) bool {
		return def.Name == shell.Name || len(r.Config.Tools[def.Name].Command) > 0
	})
}

// Missing are the warnings that wanted walls are missing, or have gaps, if programs need them.
func (w Sandbox) Missing(needed bool) []string {
	if !needed || !w.on {
		return nil
	}
	if !w.support.Enforced() {
		return []string{fmt.Sprintf("programs of tools are not confined here: %s", w.support.Reason)}
	}
	if gaps := w.support.Gaps(w.places.Network); len(gaps) > 0 {
		return []string{"programs of tools are confined, but on this kernel they can " + strings.Join(gaps, ", ")}
	}
	return nil
}

// SupportWords describe the confinement by this system, and whether programs have a loopback interface of
// their own.
func SupportWords(s sandbox.Support, loopback bool) string {
	if !s.Enforced() {
		return "sandbox: none: " + s.Reason
	}
	words := "sandbox: " + LandlockWords(s, loopback)
	if gaps := s.Gaps(false); len(gaps) > 0 {
		words += "; programs can still " + strings.Join(gaps, ", ")
	}
	return words
}

// LandlockWords name the means of confinement.
func LandlockWords(s sandbox.Support, loopback bool) string {
	words := fmt.Sprintf("landlock %d", s.ABI)
	if s.Calls {
		words += ", seccomp"
	}
	if loopback {
		words += ", own loopback"
	}
	return words
}

// FromProgram reports whether a program of a tool started this jp.
func FromProgram(r *repo.Repo) bool { return FromTool(r, command.Marker) }
