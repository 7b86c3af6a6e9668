package agentsmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"jp/instructions"
	"jp/internal/safefile"
)

// Answers of the user, as they are kept: one small file for each content of each file in each
// working tree.
const (
	answerUse  = "use\n"
	answerHead = "head\n"
)

// decided is what the user has said about a file as it is.
func (s *Source) decided(f instructions.File) (use, decided bool) {
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

// Decide keeps what the user says about a file as it is.
func (s *Source) Decide(f instructions.File, use bool) error {
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

func (s *Source) answerFile(f instructions.File) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{s.repo.TopLevel, f.Path, f.Real, f.OID}, "\x00")))
	return filepath.Join(s.repo.Paths.StateDir, "instructions", hex.EncodeToString(sum[:]))
}
