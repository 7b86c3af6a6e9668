package process

import (
	"os"
	"slices"
	"strings"
	"time"

	"jp/conversation"
)

// Recent are the conversations that jp held here, at most n of them, those that it took last
// first. It reads the names and times of lock files only.
func (l Locks) Recent(n int) []conversation.ID {
	entries, err := os.ReadDir(l.Dir)
	if err != nil {
		return nil // nothing was ever held
	}
	type held struct {
		id conversation.ID
		at time.Time
	}
	var all []held
	for _, e := range entries {
		name, isLock := strings.CutSuffix(e.Name(), lockSuffix)
		id, err := conversation.ParseID(name)
		if !isLock || err != nil {
			continue
		}
		if info, err := e.Info(); err == nil {
			all = append(all, held{id, info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b held) int { return b.at.Compare(a.at) })
	var ids []conversation.ID
	for _, h := range all[:min(n, len(all))] {
		ids = append(ids, h.id)
	}
	return ids
}
