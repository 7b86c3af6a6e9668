package snapshot

import (
	"fmt"

	"jp/internal/safetext"
)

// crowd is the number of untracked files in a folder at which jp tells the user: it looks at each after every
// tool that may write to any file.
const crowd = 10_000

// tellCrowded tells the user once of a folder with very many untracked files.
func (f *Files) tellCrowded(folder string, files int, is bool) {
	f.state.Lock()
	tell := is && !f.state.crowded
	f.state.crowded = f.state.crowded || is
	f.state.Unlock()
	if tell {
		const columns = 100
		f.Tell(fmt.Sprintf("%s has %d untracked files. jp looks at each of them after every tool that may write files. "+
			"If they are not sources, name the folder in .gitignore.", safetext.Bound(safetext.Show(folder), columns), files))
	}
}
