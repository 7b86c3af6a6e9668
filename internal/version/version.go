// Package version says which jp this is.
package version

import "runtime/debug"

// A release sets these with -ldflags -X; see tools/release. Other builds leave them empty.
var (
	version string // 0.3.0
	commit  string // in full
	date    string // of the commit, RFC 3339 in UTC
)

// An Info is a version and its source. Unknown fields are empty.
type Info struct {
	Version string
	Commit  string
	Date    string // of the commit, RFC 3339 in UTC
}

// Get returns the release's data, else Go's notes in the binary.
func Get() Info {
	info := Info{Version: version, Commit: commit, Date: date}
	if version != "" {
		return info
	}
	info.Version = "0.1.0-dev"
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	if v := build.Main.Version; v != "" && v != "(devel)" {
		info.Version = v
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Commit = s.Value
		case "vcs.time":
			info.Date = s.Value
		}
	}
	return info
}
