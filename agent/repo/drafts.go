package repo

// DraftsFolder has texts before they become events, in jp's folder.
const DraftsFolder = "drafts"

// LinesFile, in LinesFolder of jp's folder, says which lines the conversations wrote; see package
// blame.
const (
	LinesFolder = "blame"
	LinesFile   = "lines"
)
