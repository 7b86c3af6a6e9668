package gitcmd

import (
	"os"
	"path/filepath"
)

// RefFormat is how a repository stores its refs. The empty RefFormat is RefFiles.
type RefFormat string

// The ref formats of git.
const (
	RefFiles RefFormat = ""         // a file for each ref, and packed-refs
	Reftable RefFormat = "reftable" // tables in the folder of this name
)

// String is the format as git calls it.
func (f RefFormat) String() string {
	if f == RefFiles {
		return "files"
	}
	return string(f)
}

// RefsThroughGit lets jp keep refs in files through git, too. Tests set it.
var RefsThroughGit bool

// ThroughGit reports whether git reads and moves the refs for jp.
func (f RefFormat) ThroughGit() bool { return f != RefFiles || RefsThroughGit }

// refFormatIn reads the output of rev-parse --show-ref-format. A git without that flag repeats it, and knows
// files only.
func refFormatIn(line string) RefFormat {
	if line == "files" || line == "--show-ref-format" {
		return RefFiles
	}
	return RefFormat(line)
}

// TablesDir is the folder of the tables that all working trees share.
func (r Repository) TablesDir() string { return filepath.Join(r.CommonDir, string(Reftable)) }

// refsAsExpected reports whether jp can make moves of refs durable: it knows the format, and
// the refs are in the git directory.
func (r Repository) refsAsExpected() bool {
	if r.RefFormat == RefFiles {
		return true
	}
	info, err := os.Stat(r.TablesDir())
	return r.RefFormat == Reftable && err == nil && info.IsDir()
}
