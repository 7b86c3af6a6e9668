package gittool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/gitcmd"
	"jp/tool"
)

func (r *repository) commit() tool.Tool {
	return &gitTool{run: r.runCommit, def: &tool.Definition{
		Name: "git_commit",
		Description: "Commit to the current branch with the user's identity. With paths, exactly these files as they are now, new ones too, " +
			"and nothing else that is staged; without, what is staged. Hooks are not run and the commit is not signed.",
		Parameters: json.RawMessage(`{"type":"object","required":["message"],"additionalProperties":false,"properties":{
			"message":{"type":"string","minLength":1,"description":"The whole message: a subject line, then a blank line and the body if one is needed."},
			"paths":{"type":"array","items":{"type":"string"},"description":"The files and folders to commit, relative to the workspace. Default: what is staged."}}}`),
		Effect: tool.Changes, Run: tool.Ask, Result: tool.Unattended, Subject: commitSubject,
	}}
}

type commitArguments struct {
	Message string   `json:"message"`
	Paths   []string `json:"paths"`
}

// commitSubject is the first line of the message.
func commitSubject(arguments json.RawMessage) string {
	var args commitArguments
	if json.Unmarshal(arguments, &args) != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(args.Message), "\n")
	return fmt.Sprintf("%q", conversation.Shorten(line, conversation.SubjectColumns))
}

var (
	errNothing   = errors.New("nothing to commit: stage changes, or name the files in paths")
	errNoMessage = errors.New("the message is empty")
)

func (r *repository) runCommit(ctx context.Context, arguments json.RawMessage) (tool.Result, error) {
	var args commitArguments
	if err := json.Unmarshal(arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("read the arguments: %w", err)
	}
	if strings.TrimSpace(args.Message) == "" {
		return tool.Result{}, errNoMessage
	}
	paths, err := r.paths(args.Paths)
	if err != nil {
		return tool.Result{}, err
	}
	fresh, err := r.addNew(ctx, paths)
	if err != nil {
		return tool.Result{}, err
	}
	if err := r.record(ctx, args.Message, paths); err != nil {
		// What was added for this commit only must not stay in the user's index.
		undo := r.update(context.WithoutCancel(ctx), "--force-remove", fresh)
		return tool.Result{}, errors.Join(err, undo)
	}
	return r.committed(ctx), nil
}

// addNew puts the files that are not tracked yet into the index, where a commit
// of named paths looks for them, and returns them.
func (r *repository) addNew(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	args := append([]string{"ls-files", "-z", "--others", "--exclude-standard", "--"}, paths...)
	out, err := r.git.Run(ctx, args...)
	if err != nil {
		return nil, err
	}
	fresh := split(out)
	for _, name := range fresh {
		if strings.HasSuffix(name, "/") {
			return nil, fmt.Errorf("%s is a repository of its own", name)
		}
	}
	return fresh, r.update(ctx, "--add", fresh)
}

// update changes the index for the named files.
func (r *repository) update(ctx context.Context, how string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, err := r.git.RunWith(ctx, gitcmd.Command{
		Args:  []string{"update-index", how, "-z", "--stdin"},
		Stdin: strings.NewReader(strings.Join(names, "\x00") + "\x00"), Content: true,
	})
	return err
}

// record makes the commit.
func (r *repository) record(ctx context.Context, message string, paths []string) error {
	if r.nothing(ctx, paths) {
		return errNothing
	}
	args := []string{"commit", "--no-gpg-sign", "--no-verify", "--cleanup=whitespace", "--file=-"}
	if len(paths) > 0 {
		args = append(append(args, "--only", "--"), paths...)
	}
	out, err := r.git.RunWith(ctx, gitcmd.Command{Args: args, Stdin: strings.NewReader(message), Content: true})
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 && exit.Stderr == "" {
		return fmt.Errorf("%w\n\n%s", errNothing, out)
	}
	return err
}

// nothing reports whether there is nothing to commit. It is found out before,
// since git commit would then look for changes inside of submodules, and start
// there what their configuration names.
func (r *repository) nothing(ctx context.Context, paths []string) bool {
	args := []string{"diff", "--name-only", "-z", "--cached"}
	if len(paths) > 0 {
		args = append([]string{"diff", "--name-only", "-z", "HEAD", "--"}, paths...)
	}
	out, err := r.git.RunWith(ctx, gitcmd.Command{Args: args, Content: true})
	if err == nil && len(paths) > 0 {
		_, err = r.git.Run(ctx, append([]string{"ls-files", "--error-unmatch", "--"}, paths...)...)
	}
	if err != nil || len(out) > 0 {
		return false // git commit says what is wrong
	}
	_, err = r.git.Run(ctx, "rev-parse", "--quiet", "--verify", "MERGE_HEAD")
	return err != nil // a merge that changes nothing is something
}

// committed describes the newest commit. It was made: what cannot be found out
// about it is left out.
func (r *repository) committed(ctx context.Context) tool.Result {
	head, _ := r.git.Run(ctx, "log", "-1", "--no-color", "--format=%h%n%s")
	id, subject, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	out, _ := r.git.Run(ctx, "diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "-z", "HEAD")
	files := split(out)
	text := fmt.Sprintf("Committed %s %s\n", id, subject)
	if len(files) > 0 {
		text += "\n" + strings.Join(files, "\n") + "\n"
	}
	if left := r.leftOut(ctx); left != "" {
		text += "\n" + left
	}
	content, whole := tool.Cut([]byte(text), tool.Limit)
	return tool.Result{Content: content, Truncated: whole, Effect: id + ", " + count(len(files), "file")}
}

// split reads a list of names that end in NUL.
func split(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
