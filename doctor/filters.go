package doctor

import (
	"strings"

	"jp/agent/action"
	"jp/conversation"
)

// Filters are the filters that files of the working tree need, and what LFS lacks.
type Filters struct {
	Unapproved []string // of the repository's own: those that jp does not run
	Undefined  []string // that attributes name, and nothing configures
	Files      int      // that need one of those
	Missing    []string // files whose content of LFS is not here, and that only snapshots name
	Err        error    // why they could not be looked at
}

// Findings judges them.
func (f Filters) Findings() (all []Finding) {
	if f.Err != nil {
		return []Finding{found(Note, "filters", "the filters of files could not be looked at: %v", f.Err).advise("%s looks longer", action.DoctorLong)}
	}
	const left = "; jp leaves %s out of snapshots and commits"
	files := conversation.Count(f.Files, "file")
	if len(f.Unapproved) > 0 {
		all = append(all, found(Warn, "filters", "this repository configures filters that are not approved (%s)"+left, strings.Join(f.Unapproved, ", "), files).advise("%s", action.TrustFilters))
	}
	if len(f.Undefined) > 0 {
		advice := "configure it for git"
		if len(f.Undefined) == 1 && f.Undefined[0] == "lfs" {
			advice = action.InstallLFS.String()
		}
		all = append(all, found(Warn, "filters", "files need filters that are not configured here (%s)"+left, strings.Join(f.Undefined, ", "), files).advise("%s", advice))
	}
	if n := len(f.Missing); n > 0 {
		some := strings.Join(f.Missing[:min(n, 3)], ", ")
		all = append(all, found(Warn, "lfs", "LFS content that only snapshots name is not here (%s, such as %s): undo and restore cannot write it; git lfs prune removes such content", conversation.Count(n, "version"), some).
			advise("%s brings what a server has", action.FetchLFS))
	}
	if len(all) == 0 {
		return []Finding{found(OK, "filters", "jp runs all filters that files of this working tree need")}
	}
	return all
}
