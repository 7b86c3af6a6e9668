package gittool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/lazy"
	"jp/tool"
)

func (r *repository) commit() tool.Tool {
	return &gitTool{run: r.runCommit, def: &tool.Definition{
		Name: "git_commit",
		Description: "Commit to the current branch with the user's identity. With paths, exactly these files as they are now, new ones too; " +
			"without, the files that this conversation's tools changed. What else is staged stays staged, unless staged " +
			"is true: then exactly that is committed. Hooks are not run, and the commit is not signed. Files whose filter is not run are never committed.",
		Parameters: json.RawMessage(`{"type":"object","required":["message"],"additionalProperties":false,"properties":{
			"message":{"type":"string","minLength":1,"description":"A subject line; a blank line and a body where needed."},
			"paths":{"type":"array","items":{"type":"string"},"description":"Files and folders."},
			"staged":{"type":"boolean","default":false}}}`),
		Effect: tool.Changes, Run: tool.Ask, Result: tool.Unattended, Subject: commitSubject, About: r.taken,
	}}
}

type commitArguments struct {
	Message string   `json:"message"`
	Paths   []string `json:"paths"`
	Staged  bool     `json:"staged"`
}

// commitSubject is the first line of the message, with a note if the call commits the user's staging.
func commitSubject(arguments json.RawMessage) string {
	var args commitArguments
	if json.Unmarshal(arguments, &args) != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(args.Message), "\n")
	if !args.Staged {
		return fmt.Sprintf("%q", conversation.Shorten(line, conversation.SubjectColumns))
	}
	return fmt.Sprintf("what you staged: %q", conversation.Shorten(line, conversation.SubjectColumns))
}

var (
	errNothing   = errors.New("nothing to commit: name the files in paths, or set staged for what the user has staged")
	errNoMessage = errors.New("the message is empty")
	errBoth      = errors.New("staged commits what the user has staged, and paths names other files: give one of them")
	errMerging   = errors.New("a merge is in progress, and is committed as a whole: resolve and stage it, then set staged")
)

func (r *repository) runCommit(ctx context.Context, call tool.Call) (tool.Result, error) {
	var args commitArguments
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("read the arguments: %w", err)
	}
	switch {
	case strings.TrimSpace(args.Message) == "":
		return tool.Result{}, errNoMessage
	case args.Staged && len(args.Paths) > 0:
		return tool.Result{}, errBoth
	}
	if r.opts.Model != nil && call.Conversation != "" {
		args.Message = withTrailers(args.Message, call, r.opts.Model(ctx, call.Conversation))
	}
	if args.Staged {
		return r.commitStaged(ctx, args.Message)
	}
	if _, err := r.git.Run(ctx, "rev-parse", "--quiet", "--verify", "MERGE_HEAD"); err == nil {
		return tool.Result{}, errMerging
	}
	paths, err := r.paths(args.Paths)
	if err != nil {
		return tool.Result{}, err
	}
	s, err := r.choose(ctx, paths, call.Conversation)
	if err != nil {
		return tool.Result{}, err
	}
	if err := r.update(ctx, "--add", s.fresh, s.filters); err != nil {
		return tool.Result{}, err
	}
	if err := r.record(ctx, args.Message, s); err != nil {
		// Files added for this commit alone must leave the user's index.
		undo := r.update(context.WithoutCancel(ctx), "--force-remove", s.fresh, nil)
		return tool.Result{}, errors.Join(err, undo)
	}
	return r.committed(ctx, s), nil
}

var (
	trailer   = lazy.Regexp(`^[A-Za-z0-9-]+: \S`)
	modelName = lazy.Regexp(`^[A-Za-z0-9_./:@+-]{1,128}$`)
)

// withTrailers adds the event that commits, and its model, to the trailers of a message.
func withTrailers(message string, call tool.Call, model string) string {
	trailers := fmt.Sprintf("Jp-Conversation: %s@%d\n", call.Conversation, call.Seq)
	if modelName().MatchString(model) {
		trailers += "Assisted-by: jp:" + model + "\n"
	}
	return AddTrailers(message, trailers)
}

// AddTrailers adds lines to the trailers of a message.
func AddTrailers(message, trailers string) string {
	message = strings.TrimSpace(message)
	between := "\n"
	if at := strings.LastIndex(message, "\n\n"); at >= 0 {
		for line := range strings.Lines(message[at+2:]) {
			if !trailer().MatchString(line) {
				between = "\n\n"
			}
		}
	} else {
		between = "\n\n"
	}
	return message + between + trailers
}

// commitStaged commits the index as it is.
func (r *repository) commitStaged(ctx context.Context, message string) (tool.Result, error) {
	out, err := r.git.RunWith(ctx, gitcmd.Command{Args: []string{"diff", "--name-only", "-z", "--cached"}, Content: true})
	if err == nil && len(out) == 0 {
		if _, err := r.git.Run(ctx, "rev-parse", "--quiet", "--verify", "MERGE_HEAD"); err != nil { // a merge counts without changes, too
			return tool.Result{}, errNothing
		}
	}
	if err := r.converted(ctx); err != nil {
		return tool.Result{}, err
	}
	err = r.gitCommit(ctx, gitcmd.Command{Stdin: strings.NewReader(message), Content: true})
	if err != nil {
		return tool.Result{}, err
	}
	return r.committed(ctx, selection{}), nil
}

// converted refuses an index with a file for a filter, unless jp knows that the staged content is converted,
// since the person who staged it may have bypassed the filter.
func (r *repository) converted(ctx context.Context) error {
	entries := map[string]string{}
	for _, file := range r.staged(ctx) {
		if facts := strings.Fields(file.State); len(facts) == 3 && strings.HasPrefix(facts[1], "100") {
			entries[file.Path] = facts[2]
		}
	}
	head, err := r.head(ctx)
	if err != nil {
		return err
	}
	staged, err := r.checker.Staged(ctx, entries, head)
	if err != nil {
		return err
	}
	var refused []left
	for _, name := range slices.Sorted(maps.Keys(staged.Gaps)) {
		refused = append(refused, left{name, staged.Gaps[name].Why()})
	}
	for _, name := range slices.Sorted(maps.Keys(staged.Unsure)) {
		filter := staged.Unsure[name]
		out, err := r.git.RunWith(ctx, gitcmd.Command{Args: []string{"hash-object", "--", name}, Content: true, Required: []string{filter}})
		if err != nil || strings.TrimSpace(string(out)) != entries[name] {
			refused = append(refused, left{name, "is staged otherwise than the filter " + filter + " makes it: name it in paths"})
		}
	}
	if len(refused) > 0 {
		return fmt.Errorf("what is staged of %s may lack its filter, and does not belong into a commit\n\n%s", few(namesOf(refused)), leftText("Nothing was committed:", refused))
	}
	return nil
}

// update changes the index for the named files.
func (r *repository) update(ctx context.Context, how string, names, filters []string) error {
	if len(names) == 0 {
		return nil
	}
	_, err := r.git.RunWith(ctx, gitcmd.Command{
		Args:  []string{"update-index", how, "-z", "--stdin"},
		Stdin: strings.NewReader(strings.Join(names, "\x00") + "\x00"), Content: true, Required: filters,
	})
	return err
}

func (r *repository) record(ctx context.Context, message string, s selection) error {
	list, done, err := temporary("paths", strings.Join(s.files(), "\x00")+"\x00")
	if err != nil {
		return err
	}
	defer done()
	return r.gitCommit(ctx, gitcmd.Command{Stdin: strings.NewReader(message), Content: true, Required: s.filters},
		"--only", "--pathspec-from-file="+list, "--pathspec-file-nul")
}

func (r *repository) gitCommit(ctx context.Context, c gitcmd.Command, what ...string) error {
	c.Args = append([]string{"commit", "--no-gpg-sign", "--no-verify", "--cleanup=whitespace", "--file=-"}, what...)
	out, err := r.git.RunWith(ctx, c)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 && exit.Stderr == "" {
		return fmt.Errorf("%w\n\n%s", errNothing, out)
	}
	return err
}

// committed describes the newest commit. It leaves out details that it cannot read, since the commit is made
// already.
func (r *repository) committed(ctx context.Context, s selection) tool.Result {
	head, _ := r.git.Run(ctx, "log", "-1", "--no-color", "--format=%h%n%s")
	id, subject, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	out, _ := r.git.Run(ctx, "diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "-z", "HEAD")
	files := split(out)
	text := fmt.Sprintf("Committed %s %s\n", id, subject)
	if len(files) > 0 {
		text += "\n" + strings.Join(files, "\n") + "\n"
	}
	notes := leftText("Not committed:", s.left)
	out, _ = r.git.RunWith(ctx, gitcmd.Command{Args: []string{"diff", "--name-only", "-z", "--cached"}, Content: true})
	if staged := split(out); len(staged) > 0 {
		notes += "Still staged, and not committed: " + few(staged) + ".\n"
	}
	if notes += r.leftOut(ctx); notes != "" {
		text += "\n" + notes
	}
	content, whole := tool.Truncate([]byte(text), tool.Limit)
	effect := id + ", " + count(len(files), "file")
	if len(s.left) > 0 {
		effect += fmt.Sprintf(", %d left out", len(s.left))
	}
	return tool.Result{Content: content, Truncated: whole, Effect: effect}
}

// split reads a list of names that end in NUL.
func split(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
