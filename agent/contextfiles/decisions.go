package contextfiles

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jp/instructions"
	"jp/internal/safefile"
)

// Answers of the user, as they are kept: one small file for each content of each instruction file or
// skill in each working tree.
const (
	answerUse  = "use\n"
	answerHead = "head\n"
)

// decided is the user's answer about a file's present content.
func (s *Instructions) decided(f instructions.File) (use, decided bool) {
	text, err := safefile.ReadRegular(s.answerFile(f))
	if err != nil {
		return false, false
	}
	switch string(text) {
	case answerUse:
		return true, true
	case answerHead:
		return false, true
	}
	return false, false
}

// Decide keeps the user's answer about a file's present content.
func (s *Instructions) Decide(f instructions.File, use bool) error {
	answer := answerHead
	if use {
		answer = answerUse
	}
	err := safefile.Replace(s.answerFile(f), []byte(answer), safefile.Options{Mode: 0o600, FolderMode: 0o700})
	if err != nil {
		return fmt.Errorf("keep the answer about %s: %w", f.Path, err)
	}
	return nil
}

func (s *Instructions) answers() string { return filepath.Join(s.repo.Paths.StateDir, "instructions") }

// answerFile is named after the working tree first, so that its answers are found.
func (s *Instructions) answerFile(f instructions.File) string {
	return filepath.Join(s.answers(), s.answersHere()+digest(f.Path, f.Real, f.OID))
}

func (s *Instructions) answersHere() string { return digest(s.repo.At.TopLevel)[:32] + "-" }

func digest(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:])
}

// Forget takes back all the user's answers about files of this working tree, also about earlier content. It
// reports whether there were any.
func (s *Instructions) Forget() (done bool, err error) {
	entries, err := os.ReadDir(s.answers())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), s.answersHere()) {
			err = errors.Join(err, os.Remove(filepath.Join(s.answers(), e.Name())))
			done = true
		}
	}
	return done, err
}

// A Decision is the user's answer about a difference.
type Decision string

// The states.
const (
	StateNew      Decision = "new"
	StateApproved Decision = "approved" // the model gets the file as it is
	StateDeclined Decision = "declined" // the model gets the file of HEAD
)

// State is the user's answer.
func (s *Instructions) State(d Difference) Decision {
	switch use, decided := s.decided(d.File); {
	case use:
		return StateApproved
	case decided:
		return StateDeclined
	}
	return StateNew
}

// Differences are the files for work in the folder that differ from HEAD.
func (s *Instructions) Differences(ctx context.Context) ([]Difference, error) {
	var all []Difference
	disk, _ := s.find(ctx, instructions.Chain(s.start))
	if len(disk) == 0 {
		return nil, nil
	}
	head, err := s.head(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range disk {
		d, same, err := s.compare(head, f)
		if err != nil {
			return nil, err
		}
		if !same {
			all = append(all, d)
		}
	}
	return all, nil
}
