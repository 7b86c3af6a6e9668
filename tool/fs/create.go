package fs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"jp/conversation"
	"jp/tool"
)

// detailLimit is how many bytes of a diff a question shows.
const detailLimit = 64 << 10

func (w *workspace) createFile() tool.Tool {
	return &fileTool{run: w.runCreate, def: &tool.Definition{
		Name: "fs_create_file",
		Description: "Create a text file; missing folders are made. If the file exists, the user is asked whether to overwrite it: " +
			"to change a part of a file, use fs_modify_file.",
		Parameters: json.RawMessage(`{"type":"object","required":["path","content"],"additionalProperties":false,"properties":{
			"path":{"type":"string","minLength":1},
			"content":{"type":"string","description":"The whole text."}}}`),
		Effect: tool.Changes, Run: tool.Ask, Result: tool.Unattended,
		Questions: map[string]tool.QuestionTo{overwriteID: {Exclusive: true}},
		Subject:   argument("path"), Paths: w.paths(true, "path"), Foresee: w.foreseeOverwrite, Fault: w.createFault,
	}}
}

const overwriteID = "overwrite"

// foreseeOverwrite reports whether a call would overwrite a file now.
func (w *workspace) foreseeOverwrite(arguments json.RawMessage) (tool.Foreseen, bool) {
	var args createArguments
	if json.Unmarshal(arguments, &args) != nil {
		return tool.Foreseen{}, false
	}
	p, err := w.find(args.Path, access{write: true, follow: true})
	if err != nil {
		return tool.Foreseen{}, false
	}
	defer p.Close()
	if p.info == nil || !p.info.Mode().IsRegular() {
		return tool.Foreseen{}, false
	}
	return tool.Foreseen{ID: overwriteID, Words: "The file exists and will be overwritten."}, true
}

// createFault is the reason why a call must fail regardless of a person's answer.
func (w *workspace) createFault(arguments json.RawMessage) error {
	name := argument("path")(arguments)
	if namesFolder(name) {
		return fmt.Errorf("%s: %w", name, errFolderName)
	}
	p, err := w.find(name, access{write: true, follow: true, absent: true})
	if err != nil {
		return err
	}
	defer p.Close()
	if p.info != nil && p.info.IsDir() {
		return fmt.Errorf("%s: %w", name, ErrDirectory)
	}
	return nil
}

type createArguments struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (w *workspace) runCreate(_ context.Context, call tool.Call) (tool.Result, error) {
	args, err := read[createArguments](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	if namesFolder(args.Path) {
		return tool.Result{}, fmt.Errorf("%s: %w", args.Path, errFolderName)
	}
	p, err := w.find(args.Path, access{write: true, follow: true, make: true})
	if err != nil {
		return tool.Result{}, err
	}
	defer p.Close()
	c, content := change{added: lines([]byte(args.Content))}, []byte(args.Content)
	if p.info != nil {
		if content, err = encodedLike(p, args.Content); err != nil {
			return tool.Result{}, fmt.Errorf("%s: %w", args.Path, err)
		}
		var question *tool.Question
		c, question, err = overwrite(p, args.Content, call.Answers)
		if errors.Is(err, errDeclined) { // only a person may answer this question
			declined := failure(err)
			declined.Effect = "declined by " + string(conversation.ByUser)
			return declined, nil
		}
		if err != nil || question != nil {
			return tool.Result{Question: question}, err
		}
	}
	if err := p.replace(content); err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", args.Path, err)
	}
	if c.diff == "" {
		c.diff = fmt.Sprintf("%s %s, %s.\n", map[bool]string{true: "Created", false: "Overwrote"}[p.info == nil], p.path, count(lines([]byte(args.Content)), "line"))
	}
	return wrote(c.diff+p.linked(), c.effect(), p.path), nil
}

// encodedLike is a text in the encoding of the file that it replaces.
func encodedLike(p *openedName, text string) ([]byte, error) {
	_, encoding, err := p.decoded()
	switch {
	case errors.Is(err, ErrBinary), errors.Is(err, ErrTooLarge):
		return []byte(text), nil
	case err != nil:
		return nil, err
	}
	return encoding.Bytes(text, text)
}

var errDeclined = errors.New("declined: the file exists and is not to be overwritten")

// overwrite decides about an existing file from the answers. It returns the change, or the question that is
// still open.
func overwrite(p *openedName, content string, answers map[string]json.RawMessage) (change, *tool.Question, error) {
	if p.info.IsDir() {
		return change{}, nil, fmt.Errorf("%s: %w", p.path, ErrDirectory)
	}
	c, detail, err := preview(p, content)
	if err != nil {
		return change{}, nil, fmt.Errorf("%s: %w", p.path, err)
	}
	answer, answered := answers[overwriteID]
	if !answered {
		return c, &tool.Question{
			ID: overwriteID, Detail: detail,
			Question: conversation.Question{
				Text: "Overwrite existing file?", AnswerType: conversation.AnswerType{Type: "boolean"},
			},
		}, nil
	}
	var yes bool
	if err := json.Unmarshal(answer, &yes); err != nil {
		return change{}, nil, fmt.Errorf("read the answer to %q: %w", overwriteID, err)
	}
	if !yes {
		return change{}, nil, fmt.Errorf("%s: %w", p.path, errDeclined)
	}
	return c, nil, nil
}

// preview compares the file with its new content.
func preview(p *openedName, content string) (change, string, error) {
	text, _, err := p.decoded()
	old := []byte(text)
	if errors.Is(err, ErrBinary) || errors.Is(err, ErrTooLarge) {
		c := change{added: lines([]byte(content))}
		return c, fmt.Sprintf("%s has %d bytes that are not text; the new text has %d bytes.", p.path, p.info.Size(), len(content)), nil
	}
	if err != nil {
		return change{}, "", err
	}
	c := compare(p.path, old, []byte(content))
	detail, _ := tool.Truncate([]byte(c.diff), detailLimit)
	if c.diff == "" {
		detail = fmt.Appendf(nil, "%s has %d bytes; the new text has %d bytes.", p.path, len(old), len(content))
	}
	return c, string(detail), nil
}
