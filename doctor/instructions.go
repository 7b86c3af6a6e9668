package doctor

import (
	"context"
	"os"
	"strings"

	"jp/agent/contextfiles"
	"jp/agent/snapshot"
)

// instructions looks at the files that a model would get for work in the folder.
func (c *checkup) instructions(ctx context.Context) (all []Finding) {
	if c.repo.At.TopLevel == "" {
		return nil
	}
	files, err := snapshot.UnwatchedFiles(ctx, c.repo)
	if err == nil {
		files.Root, err = os.OpenRoot(c.repo.At.TopLevel)
	}
	if err != nil {
		return []Finding{found(Warn, "instructions", "jp cannot look at them: %v", err)}
	}
	defer files.Root.Close()
	for _, problem := range contextfiles.OpenInstructions(c.repo, files, c.dir, false).Problems(ctx) {
		all = append(all, found(Note, "instructions", "%s", strings.TrimPrefix(strings.TrimSuffix(problem, "."), "Instructions: ")))
	}
	return all
}
