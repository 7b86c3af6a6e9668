package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"jp/agent/repo"
	"jp/internal/safefile"
)

// EditText lets the user edit a text in a file of its own.
func EditText(ctx context.Context, r *repo.Repo, front Frontend, initial []byte, ext string) ([]byte, error) {
	drafts, err := r.StateDir().Open(repo.DraftsFolder)
	if err != nil {
		return nil, err
	}
	defer drafts.Close()
	f, err := os.CreateTemp(filepath.Join(r.At.CommonDir, safefile.StateDirName, repo.DraftsFolder), "edit-*"+ext)
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(initial)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := front.Edit(ctx, r.Place(), f.Name()); err != nil {
		return nil, err
	}
	return os.ReadFile(f.Name())
}

// EditApart lets the user edit a text in a temporary file. With an error it returns the text written so far.
func EditApart(ctx context.Context, front Frontend, r *repo.Repo, initial []byte, ext string) ([]byte, error) {
	f, err := os.CreateTemp("", "jp-*"+ext)
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(initial)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	fault := front.Edit(ctx, r.Place(), f.Name())
	written, err := os.ReadFile(f.Name())
	return written, errors.Join(fault, err)
}
