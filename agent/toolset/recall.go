package toolset

import (
	"context"
	"io"

	"jp/agent/repo"
	"jp/internal/version"
	"jp/tool"
	"jp/tool/mcp"
	"jp/tool/recall"
)

// SpelledOut puts the names of the recall tools in the place of the one that
// stands for them.
func SpelledOut(names []string) []string {
	var all []string
	for _, name := range names {
		if name == recall.Group {
			all = append(all, recall.Names()...)
			continue
		}
		all = append(all, name)
	}
	return all
}

// IsRecall reports whether a tool is one of those that read conversations.
var IsRecall = recall.Is

// ServeRecall offers those alone over the Model Context Protocol, until the input or ctx ends.
func ServeRecall(ctx context.Context, r *repo.Repo, in io.ReadCloser, out io.WriteCloser, instructions string) error {
	tools, err := tool.NewRegistry(recall.Tools(r.Store)...)
	if err != nil {
		return err
	}
	return mcp.Serve(ctx, tools, in, out, mcp.ServeOptions{Name: "jp", Version: version.Get().Version, Instructions: instructions})
}
