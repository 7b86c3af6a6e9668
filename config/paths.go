package config

import (
	"errors"
	"path/filepath"
	"strings"
)

// Paths are the user's own places, all absolute.
type Paths struct {
	UserFile string // $XDG_CONFIG_HOME/jp/config.toml
	StateDir string // $XDG_STATE_HOME/jp: files that must outlive a restart, approvals among them
	DataDir  string // $XDG_DATA_HOME/jp
	CacheDir string // $XDG_CACHE_HOME/jp: may be deleted at any time
}

// FindPaths follows the XDG rules: a variable that is empty or not an absolute path
// counts as unset, and its place is then below $HOME. It is an error if that is
// needed and missing.
func FindPaths(environ []string) (Paths, error) {
	home := variable(environ, "HOME")
	var missing bool
	place := func(name, below string) string {
		if dir := variable(environ, name); filepath.IsAbs(dir) {
			return filepath.Join(dir, "jp")
		}
		missing = missing || !filepath.IsAbs(home)
		return filepath.Join(home, below, "jp")
	}
	p := Paths{
		UserFile: filepath.Join(place("XDG_CONFIG_HOME", ".config"), "config.toml"),
		StateDir: place("XDG_STATE_HOME", ".local/state"),
		DataDir:  place("XDG_DATA_HOME", ".local/share"),
		CacheDir: place("XDG_CACHE_HOME", ".cache"),
	}
	switch {
	case missing && home == "":
		return Paths{}, errors.New("find the user's configuration: $HOME is not set, and has to be the path of your home folder")
	case missing:
		return Paths{}, errors.New("find the user's configuration: $HOME is not an absolute path")
	}
	return p, nil
}

// OwnFile is the user's file for one repository, by its name; "" for one without a name.
func (p Paths) OwnFile(repository string) string {
	if repository == "" {
		return ""
	}
	return filepath.Join(p.OwnFiles(), repository+".toml")
}

// OwnFiles is the folder of these files.
func (p Paths) OwnFiles() string { return filepath.Join(filepath.Dir(p.UserFile), "repositories") }

// variable gives the last value of name in environ.
func variable(environ []string, name string) string {
	value := ""
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// FromHome replaces ~ in a path by the user's home folder, if that is known.
func FromHome(path, home string) string {
	if rest, below := strings.CutPrefix(path, "~/"); below {
		return filepath.Join("/"+home, rest)
	}
	return path
}
