package gittool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitcmd"
	"jp/tool"
)

// taken are the files that the commit of a call would have now, each with its content. If git fails, it
// returns the named files.
func (r *repository) taken(raw json.RawMessage, id conversation.ID) (files []tool.NamedFile) {
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	var args commitArguments
	if json.Unmarshal(raw, &args) != nil {
		return nil
	}
	if args.Staged {
		return r.staged(ctx)
	}
	paths, err := r.paths(args.Paths)
	if err == nil && len(paths) == 0 {
		paths, _, err = r.changed(ctx, id)
	}
	if err != nil || len(paths) == 0 {
		return nil
	}
	head, err := r.head(ctx)
	if err != nil {
		return r.named(paths)
	}
	known, err := r.differing(ctx, paths, head)
	if err != nil {
		return r.named(paths)
	}
	fresh, err := r.untracked(ctx, paths)
	if err != nil {
		return r.named(paths)
	}
	return r.named(slices.Concat(known, fresh))
}

// named gives each symbolic link its target, since that is its content in a commit.
func (r *repository) named(paths []string) (files []tool.NamedFile) {
	for _, path := range paths {
		file := tool.NamedFile{Path: path}
		if to, err := os.Readlink(filepath.Join(r.git.Dir(), filepath.FromSlash(path))); err == nil {
			file.State = "link to " + to
		}
		files = append(files, file)
	}
	return files
}

// staged is the index, as far as it differs from HEAD.
func (r *repository) staged(ctx context.Context) (files []tool.NamedFile) {
	out, err := r.git.RunWith(ctx, gitcmd.Command{Args: []string{"diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames"}, Content: true})
	if err != nil {
		return nil
	}
	fields := split(out)
	for i := 0; i+1 < len(fields); i += 2 { // ":100644 100644 OID OID M", and the path
		if facts := strings.Fields(fields[i]); len(facts) == 5 {
			files = append(files, tool.NamedFile{Path: fields[i+1], State: "staged " + facts[1] + " " + facts[3]})
		}
	}
	return files
}
