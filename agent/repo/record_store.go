package repo

import (
	"path/filepath"
	"time"

	"jp/gitstore"
	"jp/gitstore/odb"
)

// RecordStore is the store for a record of what others did. Its events are unsigned, so
// that the conversation may not act, and their author and committer is jp, in UTC. Secrets
// are replaced as in any event. Close closes it.
func (r Standings) RecordStore() (*gitstore.Store, error) {
	if r.records != nil {
		return r.records, nil
	}
	durability := odb.Full
	if r.Config.Store.Durability == "off" {
		durability = odb.Off
	}
	var err error
	r.records, err = gitstore.Open(r.Repository, gitstore.Options{
		Rewrite: r.Values.rewriter(), Durability: durability, Log: r.Env.logger(), Git: r.Git, Zone: time.UTC,
		User:       func() gitstore.Person { return gitstore.Person{Name: "jp", Email: "jp@jp.invalid"} },
		Repository: r.Standings().Name, HeadsDir: filepath.Join(r.Paths.StateDir, "heads"),
	})
	return r.records, err
}
