package repo

import (
	"jp/conversation"
)

// ToolsLeft are the open calls of a conversation whose tools live.
func (r States) ToolsLeft(i conversation.Info) (seqs []int) {
	for _, call := range i.Summary.Open {
		if r.repo.Locks.ToolAlive(i.ID, call.Seq) {
			seqs = append(seqs, call.Seq)
		}
	}
	return seqs
}
